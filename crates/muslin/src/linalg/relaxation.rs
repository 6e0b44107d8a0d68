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
    /// index first, ascending, then the later ones, descending. So in either direction the one that
    /// was changed last can be summed last, and the rest of the sum need not wait for it.
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
            let earlier = row.partition_point(|n| n.particle < i as u32);
            row[earlier..].reverse();
            rows.earlier.push(earlier as u32);
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

    /// One forward sweep from zero of a system without elements: x = (D + L)⁻¹ b.
    pub fn forward_from_zero(&mut self, system: &System, topology: &Topology, b: &[Vec3]) {
        widest(LinkSweep { rows: self, system, topology, b, backward: false });
    }

    /// b − A x after [`GaussSeidel::forward_from_zero`]: −U x, the rows' later neighbours only.
    pub fn left_by_forward(&self, system: &System, r: &mut [Vec3]) {
        widest(Left { rows: self, system, r });
    }

    /// One backward sweep of a system without elements, from the current values.
    pub fn backward(&mut self, system: &System, topology: &Topology, b: &[Vec3]) {
        widest(LinkSweep { rows: self, system, topology, b, backward: true });
    }

    /// The values being relaxed.
    pub fn values(&self) -> &[Vec3A] {
        &self.x
    }

    /// The same, to change them.
    pub fn values_mut(&mut self) -> &mut [Vec3A] {
        &mut self.x
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
                        let [earlier, later] = rows.row(i);
                        *new = rows.relaxed(shared, topology, b[i], i, [later, earlier]);
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
    ) -> Vec3A {
        let mut products = ProductSum::default();
        for part in neighbours {
            for &Neighbour { particle, link } in part {
                products.add(&system.link_blocks[link as usize], self.x[particle as usize]);
            }
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
        for i in 0..n {
            let [earlier, later] = rows.row(i);
            let later = if earlier_only { &[] } else { later };
            let new = rows.relaxed(system, topology, b[i], i, [later, earlier]);
            rows.move_to(system, topology, i, new);
        }
    }
}

/// Half a symmetric sweep of a system without elements: forward from zero, or backward.
struct LinkSweep<'a> {
    rows: &'a mut GaussSeidel,
    system: &'a System,
    topology: &'a Topology,
    b: &'a [Vec3],
    backward: bool,
}

impl pulp::NullaryFnOnce for LinkSweep<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { rows, system, topology, b, backward } = self;
        let n = rows.x.len();
        let b = &b[..n];
        if backward {
            for i in (0..n).rev() {
                rows.x[i] = rows.relaxed(system, topology, b[i], i, rows.row(i));
            }
        } else {
            for i in 0..n {
                let [earlier, _] = rows.row(i);
                rows.x[i] = rows.relaxed(system, topology, b[i], i, [&[], earlier]);
            }
        }
    }
}

/// Σ B x over the later neighbours of each row.
struct Left<'a> {
    rows: &'a GaussSeidel,
    system: &'a System,
    r: &'a mut [Vec3],
}

impl pulp::NullaryFnOnce for Left<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { rows, system, r } = self;
        for (i, r) in r.iter_mut().enumerate() {
            let [_, later] = rows.row(i);
            let mut products = ProductSum::default();
            for &Neighbour { particle, link } in later {
                products.add(&system.link_blocks[link as usize], rows.x[particle as usize]);
            }
            *r = products.get().into();
        }
    }
}
