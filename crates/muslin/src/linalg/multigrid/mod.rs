//! A V-cycle over a hierarchy of levels, as preconditioner of conjugate gradients.
//!
//! ```text
//!   level l:  x = (D + L)⁻¹ b            one forward block Gauss–Seidel sweep from zero
//!             b' = Pᵀ (b − A x)          what is left, to the next level: there solve A' x' = b'
//!             x += P x'                  its correction, back
//!             x += (D + U)⁻¹ (b − A x)   one backward sweep: the forward one's mirror, so that the cycle is symmetric
//!   bottom:   dense Cholesky in f64
//! ```
//!
//! Coarse matrices are A' = Pᵀ A P (Galerkin). Which block of A enters which block of A' with which
//! weight is known once and for all, so a new A only runs through those lists. P has one weight per
//! pair of nodes, and blocks stay symmetric: an element's rank-one term, whose blocks are not, is
//! replaced by the nearest one with a single direction n̄, s (g_i·n̄)(g_j·n̄) n̄ n̄ᵀ. The cycle is then
//! one of a matrix close to A, which is all a preconditioner needs.
//!
//! Held particles are left out on every level that has them.

mod dense;
mod elements;
mod galerkin;
mod pressing;
#[cfg(test)]
mod tests;
mod transfer;

use super::conjugate_gradient::{Outcome, Stop};
use super::sliced::Sliced;
use super::{Sym3, System, Topology};
use crate::mesh::{Incidence, Interpolation};
use crate::par::{BLOCK, Par, block_count, widest};
use dense::Dense;
use elements::{Elements, PAIRS};
use galerkin::{LevelLinks, Sums, Terms, galerkin};
use glam::Vec3;
use pressing::Pressing;
use std::collections::HashMap;
use transfer::Transfer;

/// The levels, finest first, and the dense factor of the last.
#[derive(Clone, Debug)]
pub struct Multigrid {
    levels: Vec<Level>,
    bottom: Dense,
    elements: Elements,
    /// Cost of a cycle in products with the finest matrix.
    cycle_work: f64,
    cg: Vectors,
    pressing: Pressing,
}

/// Vectors of the conjugate gradients, in the order of the finest level.
#[derive(Clone, Debug, Default)]
struct Vectors {
    x: Vec<f32>,
    p: Vec<f32>,
    q: Vec<f32>,
    partial: Vec<f64>,
}

/// One level's matrix and its vectors, in the order of the sliced matrix.
#[derive(Clone, Debug)]
struct Level {
    links: LevelLinks,
    /// What the next level's are summed from. No elements where it is too coarse to feel them.
    springs: Terms,
    elements: Terms,
    matrix: Sliced,
    b: Vec<f32>,
    x: Vec<f32>,
    /// What sweeps leave.
    r: Vec<f32>,
    /// Index of each node on the finest level.
    nodes: Vec<u32>,
    /// Links of each node.
    members: Incidence,
    /// From the next level; `None` on the last.
    coarse: Option<Coarse>,
}

/// The way to the next level, and the making of its matrix.
#[derive(Clone, Debug)]
struct Coarse {
    transfer: Transfer,
    sums: Sums,
}

impl Multigrid {
    /// A hierarchy for matrices of `topology`. Level l+1 consists of the nodes `nodes[l + 1]` (by index
    /// on the finest level) and interpolates to level l by `interpolations[l]`. The first `with_elements` of the
    /// coarser levels feel elements.
    pub fn new(
        topology: &Topology,
        nodes: Vec<Vec<u32>>,
        interpolations: Vec<Interpolation>,
        with_elements: usize,
    ) -> Self {
        let mut ends = topology.links.ends().to_vec();
        let mut known: HashMap<[u32; 2], u32> = HashMap::new();
        for (link, &[a, b]) in ends.iter().enumerate() {
            known.entry([a.min(b), a.max(b)]).or_insert(link as u32);
        }
        let mut strong = vec![true; ends.len()];
        let mut element_links = Vec::new();
        for particles in &topology.elements {
            element_links.push(PAIRS.map(|(i, j)| {
                let pair = [particles[i].min(particles[j]), particles[i].max(particles[j])];
                let link = *known.entry(pair).or_insert_with(|| {
                    ends.push(pair);
                    strong.push(false);
                    ends.len() as u32 - 1
                });
                // Of the pairs of a hinge only its far corners are coupled weakly enough to be lagged.
                strong[link as usize] |= (i, j) != (2, 3);
                link
            }));
        }
        let elements = Elements::new(&element_links, ends.len());
        let links = LevelLinks { ends, springs: topology.links.len(), strong };
        let feels = !topology.elements.is_empty();
        let mut levels = vec![Level::new(nodes[0].clone(), links, feels)];
        for (nodes, prolong) in nodes.into_iter().skip(1).zip(interpolations) {
            let fine = levels.len() - 1;
            let feels = feels && fine < with_elements;
            let (links, sums) = galerkin(&levels[fine].links, &prolong, nodes.len(), feels);
            let coarse = Level::new(nodes, links, feels);
            let transfer = Transfer::new(&prolong, &levels[fine].matrix, &coarse.matrix);
            levels[fine].coarse = Some(Coarse { transfer, sums });
            levels.push(coarse);
        }
        let smoothed = &levels[..levels.len() - 1];
        let cycle_work =
            2.0 * smoothed.iter().map(|l| l.matrix.work()).sum::<f64>() / levels[0].matrix.work();
        let bottom = Dense::new(3 * levels[levels.len() - 1].nodes.len());
        let size = levels[0].matrix.vector_len();
        let zeros = vec![0.0; size];
        let cg = Vectors {
            x: zeros.clone(),
            p: zeros.clone(),
            q: zeros,
            partial: vec![0.0; block_count(size)],
        };
        Self { levels, bottom, elements, cycle_work, cg, pressing: Pressing::default() }
    }

    /// Cost of a cycle in products with the finest matrix, without restriction and prolongation.
    pub fn cycle_work(&self) -> f64 {
        self.cycle_work
    }

    /// Takes over the elements of a new matrix, for [`Multigrid::rebuild`]. `free` is 1 or 0 per particle.
    pub fn take_elements(&mut self, system: &System, par: Par, free: &[f32]) {
        let finest = &mut self.levels[0];
        finest.elements.own.fill(Sym3::ZERO);
        self.elements.fill(par, &system.elements, system.parts, &mut finest.elements.links);
        finest.hold_elements(free);
        for l in 1..self.levels.len() {
            let (finer, coarser) = self.levels.split_at_mut(l);
            let (finer, coarser) = (&finer[l - 1], &mut coarser[0]);
            if let (Some(Coarse { sums, .. }), false) =
                (&finer.coarse, coarser.elements.own.is_empty())
            {
                sums.of_elements(par, &finer.elements, &mut coarser.elements);
                coarser.hold_elements(free);
            }
        }
    }

    /// Takes over a new matrix, its elements as they were last taken over.
    pub fn rebuild(&mut self, system: &System, par: Par, free: &[f32]) {
        self.refine(system, par, free);
        for l in 1..self.levels.len() {
            let (finer, coarser) = self.levels.split_at_mut(l);
            let (finer, coarser) = (&finer[l - 1], &mut coarser[0]);
            let Some(Coarse { sums, .. }) = &finer.coarse else { continue };
            sums.of_springs(par, &finer.springs, &mut coarser.springs);
            coarser.hold_springs(free);
            coarser.fill_matrix(par);
            coarser.matrix.invert(par);
        }
        let Level { springs, elements, links, .. } = &self.levels[self.levels.len() - 1];
        self.bottom.factor([springs, elements], &links.ends);
    }

    /// Takes over a new matrix on the finest level; coarser ones stay as they are.
    pub fn refine(&mut self, system: &System, par: Par, free: &[f32]) {
        let finest = &mut self.levels[0];
        par.blocks(&mut finest.springs.links, |block, links| {
            let blocks = &system.link_blocks[block * BLOCK..];
            links.copy_from_slice(&blocks[..links.len()]);
        });
        par.blocks(&mut finest.springs.own, |block, own| {
            let lumped = &system.lumped[block * BLOCK..];
            own.iter_mut().zip(lumped).for_each(|(d, m)| *d = Sym3::scalar(*m));
            let extra = system.extra.get(block * BLOCK..).unwrap_or_default();
            own.iter_mut().zip(extra).for_each(|(d, extra)| *d += *extra);
        });
        finest.hold_springs(free);
        finest.fill_matrix(par);
        Pressing::add_to_diagonal(system, &mut finest.matrix);
        finest.matrix.invert(par);
        self.pressing.fill(system, &finest.matrix);
    }

    /// `z ≈ A⁻¹ r` by one cycle.
    pub fn cycle(&mut self, par: Par, r: &[Vec3], z: &mut [Vec3]) {
        let finest = &mut self.levels[0];
        finest.matrix.set(par, &mut finest.b, |i| r[i].to_array());
        self.cycle_here(par);
        self.levels[0].matrix.give_out(par, &self.levels[0].x, z);
        if !z.iter().all(|z| z.is_finite()) {
            self.forget();
        }
    }

    /// Empties all vectors of a cycle that was not finite: lanes without a link multiply whatever is there by zero.
    fn forget(&mut self) {
        for Level { b, x, r, .. } in &mut self.levels {
            [b, x, r].into_iter().for_each(|vector| vector.fill(0.0));
        }
    }

    /// The cycle from the finest level's b to its x.
    fn cycle_here(&mut self, par: Par) {
        let last = self.levels.len() - 1;
        for l in 0..last {
            let (finer, coarser) = self.levels.split_at_mut(l + 1);
            let pressing = (l == 0).then_some(&self.pressing);
            finer[l].descend(par, pressing, &mut coarser[0]);
        }
        let Level { matrix, b, x, .. } = &mut self.levels[last];
        self.bottom.solve(matrix, b, x);
        for l in (0..last).rev() {
            let (finer, coarser) = self.levels.split_at_mut(l + 1);
            let pressing = (l == 0).then_some(&self.pressing);
            finer[l].ascend(par, pressing, &coarser[0]);
        }
    }

    /// Improves x = 0 towards A⁻¹ b by conjugate gradients on the finest level's own matrix, with cycles
    /// as preconditioner. Stops when √(rᵀ A⁻¹ r), which the cycle gives, is below the tolerance; returns
    /// that number as it was before the last step, which it can only have lowered. `one_more` step is that
    /// of the cycle that shows that it is enough: what a step leaves is there in the next, and cloth at
    /// rest would go on at the tolerance.
    pub fn solve(
        &mut self,
        par: Par,
        b: &[Vec3],
        stop: Stop,
        one_more: bool,
        x: &mut [Vec3],
    ) -> (Outcome, f64) {
        let mut cg = std::mem::take(&mut self.cg);
        let Vectors { x: cx, p, q, partial } = &mut cg;
        // Nothing of a solve that went wrong may stay, in padding rows neither.
        cx.fill(0.0);
        p.fill(0.0);
        let Level { matrix, b: r, .. } = &mut self.levels[0];
        r.fill(0.0);
        matrix.set(par, r, |i| b[i].to_array());
        let mut done = Outcome::default();
        let mut rho = 0.0f64;
        let mut left = f64::INFINITY;
        while done.iterations < stop.max_iterations {
            self.cycle_here(par);
            // b of the finest level is what is left: a cycle does not change it.
            let Level { matrix, b: r, x: z, .. } = &mut self.levels[0];
            let rho_old = rho;
            rho = dot(par, partial, r, z);
            left = rho.max(0.0).sqrt();
            let enough = left <= stop.tolerance;
            if !rho.is_finite() {
                self.forget();
                break;
            }
            if enough && !one_more {
                break;
            }
            let beta = if done.iterations == 0 { 0.0 } else { (rho / rho_old) as f32 };
            par.blocks(p, |block, p| {
                let z = &z[block * BLOCK..][..p.len()];
                p.iter_mut().zip(z).for_each(|(p, z)| *p = z + beta * *p);
            });
            matrix.apply(par, p, q);
            self.pressing.add_product(p, q);
            let curvature = dot(par, partial, p, q);
            if curvature.is_nan() || curvature == 0.0 {
                break;
            }
            let alpha = (rho / curvature) as f32;
            par.blocks2(cx, r, |block, x, r| {
                let (p, q) = (&p[block * BLOCK..][..x.len()], &q[block * BLOCK..][..x.len()]);
                x.iter_mut().zip(p).for_each(|(x, p)| *x += alpha * p);
                r.iter_mut().zip(q).for_each(|(r, q)| *r -= alpha * q);
            });
            done.iterations += 1;
            done.work += 1.0 + self.cycle_work;
            if enough {
                break;
            }
        }
        done.converged = left <= stop.tolerance;
        self.levels[0].matrix.give_out(par, cx, x);
        self.cg = cg;
        (done, left)
    }
}

/// Σ a b in f64, added in a fixed order.
fn dot(par: Par, partial: &mut [f64], a: &[f32], b: &[f32]) -> f64 {
    par.sum(a.len(), partial, |range| widest(Dot { a: &a[range.clone()], b: &b[range] }))
}

struct Dot<'a> {
    a: &'a [f32],
    b: &'a [f32],
}

impl pulp::NullaryFnOnce for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        // The length of a vector is a multiple of eight.
        let mut sums = [0.0f64; 8];
        for (a, b) in self.a.chunks_exact(8).zip(self.b.chunks_exact(8)) {
            for k in 0..8 {
                sums[k] += f64::from(a[k]) * f64::from(b[k]);
            }
        }
        sums.iter().sum()
    }
}

impl Level {
    fn new(nodes: Vec<u32>, links: LevelLinks, with_elements: bool) -> Self {
        let n = nodes.len();
        let matrix = Sliced::new(n, &links.ends, &links.strong);
        let zeros = vec![0.0; matrix.vector_len()];
        let elements =
            if with_elements { Terms::new(n, links.ends.len()) } else { Terms::default() };
        Self {
            springs: Terms::new(n, links.springs),
            elements,
            members: Incidence::new(&links.ends, n),
            links,
            matrix,
            b: zeros.clone(),
            x: zeros.clone(),
            r: zeros,
            nodes,
            coarse: None,
        }
    }

    /// Adds up springs and elements.
    fn fill_matrix(&mut self, par: Par) {
        let Self { springs, elements, matrix, .. } = self;
        matrix.fill(par, [&springs.own, &elements.own], [&springs.links, &elements.links]);
    }

    fn hold_springs(&mut self, free: &[f32]) {
        let Self { springs, nodes, members, links, .. } = self;
        springs.hold(nodes, members, &links.ends, free);
    }

    fn hold_elements(&mut self, free: &[f32]) {
        let Self { elements, nodes, members, links, .. } = self;
        elements.hold(nodes, members, &links.ends, free);
    }

    /// Smooths from zero and hands what is left to the next level.
    fn descend(&mut self, par: Par, pressing: Option<&Pressing>, coarser: &mut Self) {
        let Self { coarse: Some(Coarse { transfer, .. }), matrix, b, x, r, .. } = self else {
            return;
        };
        matrix.forward_from_zero(par, b, x, r);
        if let Some(pressing) = pressing {
            pressing.add_rest(x, r);
        }
        transfer.restrict(par, matrix, r, &coarser.matrix, &mut coarser.b);
    }

    /// Adds the next level's correction and smooths.
    fn ascend(&mut self, par: Par, pressing: Option<&Pressing>, coarser: &Self) {
        let Self { coarse: Some(Coarse { transfer, .. }), matrix, b, x, r, .. } = self else {
            return;
        };
        transfer.add_prolonged(par, &coarser.matrix, &coarser.x, matrix, x);
        matrix.before_backward(par, b, x, r);
        if let Some(pressing) = pressing {
            pressing.add_rest(x, r);
        }
        matrix.backward(par, r, x);
    }
}
