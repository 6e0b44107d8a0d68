//! Block Jacobi and block Gauss–Seidel sweeps.
//!
//! ```text
//!   x_i ← A_ii⁻¹ ( b_i − Σ_{j≠i} A_ij x_j )        Kang & Cho 2002 Eq. 19, Kim 2006 Eq. 8
//! ```
//!
//! Jacobi uses the x of the sweep before, Gauss–Seidel what is newest, in row order (particle
//! index) or colour by colour. Held particles have a zero inverse block ([`hold`]) and stay at zero.

use super::conjugate_gradient::residual;
use super::vectors::update;
use super::{ProductSum, Sym3, System, Topology};
use crate::par::{BLOCK, Par, widest};
use glam::{Vec3, Vec3A};

/// `sweeps` block Jacobi sweeps; `r` is scratch.
#[allow(clippy::too_many_arguments)]
pub fn jacobi(
    system: &mut System,
    topology: &Topology,
    par: Par,
    b: &[Vec3],
    free: &[f32],
    sweeps: u32,
    x: &mut [Vec3],
    r: &mut [Vec3],
) {
    for _ in 0..sweeps {
        residual(system, topology, par, b, free, x, r);
        let inverse = &system.inverse;
        update(par, x, |i, x| x + inverse[i] * r[i]);
    }
}

/// Zeroes the inverse blocks of held particles, so that sweeps leave them alone.
pub fn hold(inverse: &mut [Sym3], free: &[f32]) {
    for (inverse, &free) in inverse.iter_mut().zip(free) {
        if free == 0.0 {
            *inverse = Sym3::ZERO;
        }
    }
}

/// Rows of the matrix as a sweep reads them, and its vectors padded to four floats.
#[derive(Clone, Debug, Default)]
pub struct GaussSeidel {
    /// Neighbours of particle i: `neighbours[offsets[i]..offsets[i + 1]]`, the `earlier[i]` of lower
    /// index first.
    offsets: Vec<u32>,
    earlier: Vec<u32>,
    neighbours: Vec<Neighbour>,
    x: Vec<Vec3A>,
    /// New values of one colour.
    new: Vec<Vec3A>,
}

#[derive(Clone, Copy, Debug)]
struct Neighbour {
    particle: u32,
    link: u32,
}

impl GaussSeidel {
    /// Rows for `n` particles.
    pub fn new(n: usize, topology: &Topology) -> Self {
        let mut rows = Self { offsets: vec![0], ..Self::default() };
        for i in 0..n {
            let first = rows.neighbours.len();
            for member in topology.link_members.of(i) {
                let ends = topology.links.ends()[member.item as usize];
                let particle = ends[1 - member.slot as usize];
                rows.neighbours.push(Neighbour { particle, link: member.item });
            }
            let row = &mut rows.neighbours[first..];
            row.sort_by_key(|n| (n.particle, n.link));
            rows.earlier.push(row.partition_point(|n| n.particle < i as u32) as u32);
            rows.offsets.push(rows.neighbours.len() as u32);
        }
        rows.x = vec![Vec3A::ZERO; n];
        rows.new = vec![Vec3A::ZERO; n];
        rows
    }

    /// `sweeps` sweeps in particle order, on one thread.
    pub fn by_rows(
        &mut self,
        system: &mut System,
        topology: &Topology,
        b: &[Vec3],
        sweeps: u32,
        x: &mut [Vec3],
    ) {
        self.start(system, topology, x);
        // Started from zero, a row of the first sweep meets zeros at all particles after it.
        let from_zero = x.iter().all(|x| *x == Vec3::ZERO);
        for sweep in 0..sweeps {
            let earlier_only = sweep == 0 && from_zero;
            widest(RowSweep { rows: self, system, topology, b, earlier_only });
        }
        self.finish(x);
    }

    /// `sweeps` sweeps colour by colour; particles of one colour are computed together.
    #[allow(clippy::too_many_arguments)]
    pub fn by_colours(
        &mut self,
        system: &mut System,
        topology: &Topology,
        par: Par,
        b: &[Vec3],
        sweeps: u32,
        x: &mut [Vec3],
    ) {
        self.start(system, topology, x);
        for _ in 0..sweeps {
            for group in topology.colours.groups() {
                let mut new = std::mem::take(&mut self.new);
                let (rows, shared) = (&*self, &*system);
                par.blocks(&mut new[..group.len()], |block, new| {
                    for (new, &i) in new.iter_mut().zip(&group[block * BLOCK..]) {
                        let i = i as usize;
                        let row = rows.offsets[i] as usize..rows.offsets[i + 1] as usize;
                        *new = rows.relaxed(shared, topology, b[i], i, row);
                    }
                });
                for (&i, &new) in group.iter().zip(&new) {
                    self.move_to(system, topology, i as usize, new);
                }
                self.new = new;
            }
        }
        self.finish(x);
    }

    /// Takes x in, and makes `system.dots` the g · x of every element.
    fn start(&mut self, system: &mut System, topology: &Topology, x: &[Vec3]) {
        self.x.iter_mut().zip(x).for_each(|(padded, x)| *padded = (*x).into());
        for (term, dot) in system.dots.iter_mut().enumerate() {
            *dot = system.elements[term].dot(&topology.elements[term / system.parts], x);
        }
    }

    fn finish(&self, x: &mut [Vec3]) {
        x.iter_mut().zip(&self.x).for_each(|(x, padded)| *x = (*padded).into());
    }

    /// The value of x_i that solves row i with its neighbours as they are.
    #[inline(always)]
    fn relaxed(
        &self,
        system: &System,
        topology: &Topology,
        b: Vec3,
        i: usize,
        row: std::ops::Range<usize>,
    ) -> Vec3A {
        let mut products = ProductSum::default();
        for &Neighbour { particle, link } in &self.neighbours[row] {
            products.add(&system.link_blocks[link as usize], self.x[particle as usize]);
        }
        let mut sum = Vec3A::from(b) + products.get();
        if !system.elements.is_empty() {
            for member in topology.element_members.of(i) {
                let first = member.item as usize * system.parts;
                for term in first..first + system.parts {
                    let element = &system.elements[term];
                    let g = Vec3A::from(element.g[member.slot as usize]);
                    sum -= (element.scale * (system.dots[term] - g.dot(self.x[i]))) * g;
                }
            }
        }
        let mut solved = ProductSum::default();
        solved.add(&system.inverse[i], sum);
        // What fades out over many sweeps ends in subnormal numbers, which cost a hundred times more.
        let new = solved.get();
        Vec3A::select(new.abs().cmplt(Vec3A::splat(1e-25)), Vec3A::ZERO, new)
    }

    /// Sets x_i and keeps the element products up to date.
    #[inline(always)]
    fn move_to(&mut self, system: &mut System, topology: &Topology, i: usize, new: Vec3A) {
        let change = new - self.x[i];
        self.x[i] = new;
        if !system.elements.is_empty() {
            for member in topology.element_members.of(i) {
                let first = member.item as usize * system.parts;
                for term in first..first + system.parts {
                    let g = Vec3A::from(system.elements[term].g[member.slot as usize]);
                    system.dots[term] += g.dot(change);
                }
            }
        }
    }
}

struct RowSweep<'a> {
    rows: &'a mut GaussSeidel,
    system: &'a mut System,
    topology: &'a Topology,
    b: &'a [Vec3],
    earlier_only: bool,
}

impl pulp::NullaryFnOnce for RowSweep<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { rows, system, topology, b, earlier_only } = self;
        let n = rows.x.len();
        // Equal lengths, said once, spare the check of every row.
        let b = &b[..n];
        let mut first = 0;
        for i in 0..n {
            let end = rows.offsets[i + 1] as usize;
            let last = if earlier_only { first + rows.earlier[i] as usize } else { end };
            let new = rows.relaxed(system, topology, b[i], i, first..last);
            rows.move_to(system, topology, i, new);
            first = end;
        }
    }
}
