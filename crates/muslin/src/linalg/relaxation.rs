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
use glam::{Vec3, Vec4, Vec4Swizzles};
use std::ops::Range;

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

/// Rows of the matrix as a sweep reads them, and its vectors as [`ProductSum`] takes them.
#[derive(Clone, Debug, Default)]
pub struct GaussSeidel {
    /// Neighbours of particle i: `neighbours[offsets[i]..offsets[i + 1]]`, the `earlier[i]` of lower
    /// index first, ascending, then the later ones.
    offsets: Vec<u32>,
    earlier: Vec<u32>,
    neighbours: Vec<Neighbour>,
    /// How far the index of a neighbour is away, at most.
    reach: usize,
    x: Vec<Vec4>,
    /// New values of one colour.
    new: Vec<Vec4>,
}

/// From the lowest to the highest of the particles.
fn distance(particles: &[u32]) -> usize {
    let ends = particles.iter().min().zip(particles.iter().max());
    ends.map_or(0, |(low, high)| (high - low) as usize)
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
            let earlier = row.partition_point(|n| n.particle < i as u32);
            rows.earlier.push(earlier as u32);
            rows.offsets.push(rows.neighbours.len() as u32);
        }
        let links = topology.links.ends().iter().map(|ends| ends.as_slice());
        let elements = topology.elements.iter().map(|particles| particles.as_slice());
        rows.reach = links.chain(elements).map(distance).max().unwrap_or(0);
        rows.x = vec![Vec4::ZERO; n];
        rows.new = vec![Vec4::ZERO; n];
        rows
    }

    /// `sweeps` sweeps in particle order, on one thread.
    ///
    /// A sweep may start on rows whose neighbours the sweep before it has left behind. So they go
    /// over the rows together, each a chunk behind the one before it, and a row that does not stay in
    /// the cache is read from memory once, not once a sweep. The result is that of one after another.
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
        let chunk = self.reach.max(1);
        let chunks = x.len().div_ceil(chunk);
        for front in 0..chunks + sweeps.max(1) as usize - 1 {
            for sweep in 0..sweeps {
                let Some(at) = front.checked_sub(sweep as usize).filter(|&at| at < chunks) else {
                    continue;
                };
                let range = at * chunk..((at + 1) * chunk).min(x.len());
                let earlier_only = sweep == 0 && from_zero;
                let rows = &mut *self;
                let range_swept = range.clone();
                widest(RowSweep { rows, system, topology, b, range: range_swept, earlier_only });
                self.flush(sweep, range);
            }
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
        for sweep in 0..sweeps {
            for group in topology.colours.groups() {
                let mut new = std::mem::take(&mut self.new);
                let (rows, shared) = (&*self, &*system);
                par.blocks(&mut new[..group.len()], |block, new| {
                    for (new, &i) in new.iter_mut().zip(&group[block * BLOCK..]) {
                        let i = i as usize;
                        let [earlier, later] = rows.row(i);
                        *new = rows.relaxed(shared, topology, b[i], i, [later, earlier]);
                    }
                });
                for (&i, &new) in group.iter().zip(&new) {
                    self.move_to(system, topology, i as usize, new);
                }
                self.new = new;
            }
            self.flush(sweep, 0..x.len());
        }
        self.finish(x);
    }

    /// Takes x in, and makes `system.dots` the g · x of every element.
    fn start(&mut self, system: &mut System, topology: &Topology, x: &[Vec3]) {
        self.x.iter_mut().zip(x).for_each(|(padded, x)| *padded = x.extend(x.x));
        for (term, dot) in system.dots.iter_mut().enumerate() {
            *dot = system.elements[term].dot(&topology.elements[term / system.parts], x);
        }
    }

    fn finish(&self, x: &mut [Vec3]) {
        x.iter_mut().zip(&self.x).for_each(|(x, padded)| *x = padded.truncate());
    }

    /// The earlier and the later neighbours of row i.
    #[inline(always)]
    fn row(&self, i: usize) -> [&[Neighbour]; 2] {
        let row = &self.neighbours[self.offsets[i] as usize..self.offsets[i + 1] as usize];
        row.split_at(self.earlier[i] as usize).into()
    }

    /// The value of x_i that solves row i with the given neighbours as they are.
    #[inline(always)]
    fn relaxed(
        &self,
        system: &System,
        topology: &Topology,
        b: Vec3,
        i: usize,
        neighbours: [&[Neighbour]; 2],
    ) -> Vec4 {
        let [others, latest] = neighbours;
        // The last one is the newest: all other work is done by the time it is known.
        let (newest, latest) = latest.split_last().map_or((None, latest), |(n, l)| (Some(n), l));
        let mut sum = b.extend(0.0);
        // Two sums, so that neither waits for the other.
        for part in [others, latest] {
            let mut products = ProductSum::default();
            for &Neighbour { particle, link } in part {
                products.add(&system.link_blocks[link as usize], self.x[particle as usize]);
            }
            sum = products.plus(sum);
        }
        if let Some(&Neighbour { particle, link }) = newest {
            sum = system.link_blocks[link as usize].times_plus(self.x[particle as usize], sum);
        }
        if !system.elements.is_empty() {
            for member in topology.element_members.of(i) {
                let first = member.item as usize * system.parts;
                for term in first..first + system.parts {
                    let element = &system.elements[term];
                    let g = element.g[member.slot as usize].extend(0.0);
                    sum -= (element.scale * (system.dots[term] - g.dot(self.x[i]))) * g;
                }
            }
        }
        system.inverse[i].times_plus(sum.xyzx(), Vec4::ZERO).xyzx()
    }

    /// Ends a sweep. What fades out over many of them ends in subnormal numbers, which cost a hundred
    /// times more: now and then it is set to zero.
    fn flush(&mut self, sweep: u32, rows: Range<usize>) {
        if sweep.is_multiple_of(8) {
            for x in &mut self.x[rows] {
                *x = Vec4::select(x.abs().cmplt(Vec4::splat(1e-25)), Vec4::ZERO, *x);
            }
        }
    }

    /// Sets x_i and keeps the element products up to date.
    #[inline(always)]
    fn move_to(&mut self, system: &mut System, topology: &Topology, i: usize, new: Vec4) {
        let change = new - self.x[i];
        self.x[i] = new;
        if !system.elements.is_empty() {
            for member in topology.element_members.of(i) {
                let first = member.item as usize * system.parts;
                for term in first..first + system.parts {
                    let g = system.elements[term].g[member.slot as usize].extend(0.0);
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
    range: Range<usize>,
    earlier_only: bool,
}

impl pulp::NullaryFnOnce for RowSweep<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { rows, system, topology, b, range, earlier_only } = self;
        let n = rows.x.len();
        // Equal lengths, said once, spare the check of every row.
        let b = &b[..n];
        for i in range {
            let [earlier, later] = rows.row(i);
            let later = if earlier_only { &[] } else { later };
            let new = rows.relaxed(system, topology, b[i], i, [later, earlier]);
            rows.move_to(system, topology, i, new);
        }
    }
}
