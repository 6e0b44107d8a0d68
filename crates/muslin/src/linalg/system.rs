//! The matrix of one implicit step, stored by its parts (Kang & Cho 2002 §4.1: by springs):
//!
//! ```text
//!   A w = (lumped + extra) ∘ w  +  Σ links  B (w_a − w_b)  +  Σ elements, contacts  s g (g · w)
//! ```
//!
//! B is a symmetric 3×3 block per pair of particles; an element couples four particles by one
//! vector g per particle (the positive semi-definite Gauss–Newton form of a hinge). So does a contact of cloth with
//! cloth, but which particles meet changes from step to step; sweeps and direct solvers go without them.

use super::Sym3;
use crate::mesh::{Colouring, Incidence, Links, links::PairKernel};
use crate::par::{BLOCK, Par};
use glam::Vec3;

/// Which particles the blocks and elements of a [`System`] couple. Fixed for a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Pairs with a 3×3 block.
    pub links: Links,
    /// Links of each particle.
    pub link_members: Incidence,
    /// Particles of each element.
    pub elements: Vec<[u32; 4]>,
    /// Elements of each particle.
    pub element_members: Incidence,
    /// Groups a Gauss–Seidel sweep may update together.
    pub colours: Colouring,
}

impl Topology {
    /// Derives incidence and colours.
    pub fn new(particle_count: usize, ends: Vec<[u32; 2]>, elements: Vec<[u32; 4]>) -> Self {
        let link_members = Incidence::new(&ends, particle_count);
        let element_members = Incidence::new(&elements, particle_count);
        let links = Links::new(ends, particle_count);
        let colours =
            Colouring::new(particle_count, &links, &link_members, &elements, &element_members);
        Self { links, link_members, elements, element_members, colours }
    }
}

/// `scale · g gᵀ` over four particles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankOne {
    /// One vector per particle of the element.
    pub g: [Vec3; 4],
    /// Non-negative factor.
    pub scale: f32,
}

/// A contact of four particles, `scale · g gᵀ`, which draws g · v to `wanted`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// Who presses on whom.
    pub particles: [u32; 4],
    /// What the matrix has of it.
    pub term: RankOne,
    /// [m/s]
    pub wanted: f32,
}

/// Adds to the right side `b` of free particles the impulses that contacts miss at velocities v.
pub fn add_missing(contacts: &[Coupling], v: &[Vec3], free: &[f32], b: &mut [Vec3]) {
    for Coupling { particles, term, wanted } in contacts {
        let missing = term.scale * (wanted - term.dot(particles, v));
        for (g, i) in term.g.iter().zip(particles.map(|i| i as usize)) {
            b[i] += free[i] * missing * *g;
        }
    }
}

/// The system matrix and what every solver needs of it.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Scalar diagonal: mass plus h times absolute damping. [kg]
    pub lumped: Vec<f32>,
    /// More on the diagonal of the first rows; none if empty. [kg]
    pub extra: Vec<Sym3>,
    /// B of each link: h² J + h D. [kg]
    pub link_blocks: Vec<Sym3>,
    /// `parts` consecutive rank-one terms per element of the topology.
    pub elements: Vec<RankOne>,
    /// Rank-one terms per element: 1, or 3 where an element acts equally in x, y and z.
    pub parts: usize,
    /// Who presses on whom; held particles have no part in it.
    pub contacts: Vec<Coupling>,
    /// Diagonal blocks of A.
    pub diagonal: Vec<Sym3>,
    /// Their inverses.
    pub inverse: Vec<Sym3>,
    /// g · w of each rank-one term: scratch of the products.
    pub dots: Vec<f32>,
}

impl System {
    /// Zeroed storage for a topology, `parts` rank-one terms per element.
    pub fn new(particle_count: usize, topology: &Topology, parts: usize) -> Self {
        let terms = topology.elements.len() * parts;
        Self {
            lumped: vec![0.0; particle_count],
            extra: Vec::new(),
            link_blocks: vec![Sym3::ZERO; topology.links.len()],
            elements: vec![RankOne::default(); terms],
            parts,
            contacts: Vec::new(),
            diagonal: vec![Sym3::ZERO; particle_count],
            inverse: vec![Sym3::ZERO; particle_count],
            dots: vec![0.0; terms],
        }
    }

    /// Takes over contacts, of which held particles are no unknowns.
    pub fn take_contacts(&mut self, contacts: &[Coupling], free: &[f32]) {
        self.contacts.clear();
        self.contacts.extend_from_slice(contacts);
        for Coupling { particles, term, .. } in &mut self.contacts {
            for (g, i) in term.g.iter_mut().zip(particles) {
                *g *= free[*i as usize];
            }
        }
    }

    /// Sums the diagonal blocks from the parts and inverts them.
    pub fn build_diagonal(&mut self, topology: &Topology, par: Par) {
        let Self {
            lumped, extra, link_blocks, elements, parts, contacts, diagonal, inverse, ..
        } = self;
        par.blocks(diagonal, |block, out| {
            let first = block * BLOCK;
            let lumped = &lumped[first..];
            out.iter_mut().zip(lumped).for_each(|(d, m)| *d = Sym3::scalar(*m));
            let extra = extra.get(first..).unwrap_or_default();
            out.iter_mut().zip(extra).for_each(|(d, extra)| *d += *extra);
        });
        topology.links.add_to_both_ends(par, diagonal, link_blocks);
        for Coupling { particles, term, .. } in &*contacts {
            for (g, i) in term.g.iter().zip(particles) {
                diagonal[*i as usize] += Sym3::outer(term.scale, *g);
            }
        }
        par.blocks2(diagonal, inverse, |block, diagonal, inverse| {
            for (k, (d, inverse)) in diagonal.iter_mut().zip(inverse).enumerate() {
                for member in topology.element_members.of(block * BLOCK + k) {
                    for term in &elements[member.item as usize * *parts..][..*parts] {
                        *d += Sym3::outer(term.scale, term.g[member.slot as usize]);
                    }
                }
                *inverse = d.inverse();
            }
        });
    }

    /// `out = A w`.
    pub fn apply(&mut self, topology: &Topology, par: Par, w: &[Vec3], out: &mut [Vec3]) {
        par.blocks(out, |block, out| {
            let first = block * BLOCK;
            let (lumped, w) = (&self.lumped[first..], &w[first..]);
            out.iter_mut().zip(lumped.iter().zip(w)).for_each(|(o, (m, w))| *o = *m * *w);
            let extra = self.extra.get(first..).unwrap_or_default();
            out.iter_mut().zip(extra.iter().zip(w)).for_each(|(o, (m, w))| *o += *m * *w);
        });
        self.subtract_coupling(topology, par, w, out, -1.0);
        for contact in &self.contacts {
            let along = contact.term.scale * contact.term.dot(&contact.particles, w);
            for (g, &i) in contact.term.g.iter().zip(&contact.particles) {
                out[i as usize] += along * *g;
            }
        }
    }

    /// `out += sign · ((lumped + extra) ∘ w − A w)`: the coupling part of A, zero for a rigid translation.
    pub fn subtract_coupling(
        &mut self,
        topology: &Topology,
        par: Par,
        w: &[Vec3],
        out: &mut [Vec3],
        sign: f32,
    ) {
        let kernel = BlockProduct { blocks: &self.link_blocks, w: bytemuck::cast_slice(w), sign };
        topology.links.accumulate(par, out, &kernel);
        if self.elements.is_empty() {
            return;
        }
        let (parts, elements) = (self.parts, &self.elements);
        par.blocks(&mut self.dots, |block, dots| {
            for (k, dot) in dots.iter_mut().enumerate() {
                let term = block * BLOCK + k;
                let particles = &topology.elements[term / parts];
                *dot = elements[term].dot(particles, w);
            }
        });
        let dots = &self.dots;
        par.blocks(out, |block, out| {
            for (k, out) in out.iter_mut().enumerate() {
                for member in topology.element_members.of(block * BLOCK + k) {
                    for term in member.item as usize * parts..(member.item as usize + 1) * parts {
                        let e = &elements[term];
                        *out -= (sign * e.scale * dots[term]) * e.g[member.slot as usize];
                    }
                }
            }
        });
    }
}

impl RankOne {
    /// g · w over the element's particles.
    #[inline]
    pub fn dot(&self, particles: &[u32; 4], w: &[Vec3]) -> f32 {
        let mut sum = 0.0;
        for (g, &p) in self.g.iter().zip(particles) {
            sum += g.dot(w[p as usize]);
        }
        sum
    }
}

/// `sign · B (w_b − w_a)` per link.
struct BlockProduct<'a> {
    blocks: &'a [Sym3],
    w: &'a [f32],
    sign: f32,
}

impl PairKernel for BlockProduct<'_> {
    #[inline(always)]
    fn eval(&self, a: usize, b: usize, link: usize, out: &mut [f32]) {
        let len = out.len() / 3;
        let (wa, wb) = (&self.w[3 * a..][..3 * len], &self.w[3 * b..][..3 * len]);
        let blocks = &self.blocks[link..][..len];
        let ends = wa.chunks_exact(3).zip(wb.chunks_exact(3));
        for ((out, (wa, wb)), m) in out.chunks_exact_mut(3).zip(ends).zip(blocks) {
            let (x, y, z) = (
                self.sign * (wb[0] - wa[0]),
                self.sign * (wb[1] - wa[1]),
                self.sign * (wb[2] - wa[2]),
            );
            let [xx, yy, zz, xy, yz, xz] = m.0;
            out[0] = xx * x + xy * y + xz * z;
            out[1] = xy * x + yy * y + yz * z;
            out[2] = xz * x + yz * y + zz * z;
        }
    }
}
