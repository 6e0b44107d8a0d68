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

use super::relaxation::GaussSeidel;
use super::{RankOne, Sym3, System, Topology};
use crate::mesh::{Interpolation, Links};
use crate::par::Par;
use glam::{Vec3, Vec3A};
use std::collections::HashMap;

/// The levels, finest first, and the dense factor of the last.
#[derive(Clone, Debug)]
pub struct Multigrid {
    levels: Vec<Level>,
    bottom: Dense,
    /// Links of the finest level between the six pairs of each element's particles.
    element_links: Vec<[u32; 6]>,
    /// Cost of a cycle in products with the finest matrix.
    cycle_work: f64,
}

/// One level's matrix, in the form of a [`System`] without elements, and its vectors.
#[derive(Clone, Debug)]
struct Level {
    topology: Topology,
    system: System,
    smoother: GaussSeidel,
    b: Vec<Vec3>,
    /// Residual.
    r: Vec<Vec3>,
    /// Index of each node on the finest level.
    nodes: Vec<u32>,
    /// From the next level; `None` on the last.
    coarse: Option<Transfer>,
}

/// The way between a level and the next, and the making of the next level's matrix.
#[derive(Clone, Debug)]
struct Transfer {
    prolong: Interpolation,
    restrict: Interpolation,
    /// Lists of fine blocks for the coarse diagonal blocks, then for the coarse link blocks.
    from_diagonal: Interpolation,
    from_links: Interpolation,
}

/// The pairs of an element's four particles.
const PAIRS: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

impl Multigrid {
    /// A hierarchy for matrices of `topology`. Level l+1 consists of the nodes `nodes[l + 1]` (by index
    /// on the finest level) and interpolates to level l by `interpolations[l]`.
    pub fn new(
        topology: &Topology,
        nodes: Vec<Vec<u32>>,
        interpolations: Vec<Interpolation>,
    ) -> Self {
        let mut ends = topology.links.ends().to_vec();
        let mut known: HashMap<[u32; 2], u32> = HashMap::new();
        for (link, &[a, b]) in ends.iter().enumerate() {
            known.entry([a.min(b), a.max(b)]).or_insert(link as u32);
        }
        let element_links = topology.elements.iter().map(|particles| {
            PAIRS.map(|(i, j)| {
                let pair = [particles[i].min(particles[j]), particles[i].max(particles[j])];
                *known.entry(pair).or_insert_with(|| {
                    ends.push(pair);
                    ends.len() as u32 - 1
                })
            })
        });
        let element_links = element_links.collect();
        let mut levels = vec![Level::new(nodes[0].clone(), ends)];
        for (nodes, prolong) in nodes.into_iter().skip(1).zip(interpolations) {
            let fine = levels.len() - 1;
            let (coarse_ends, transfer) =
                galerkin_lists(&levels[fine].topology.links, prolong, nodes.len());
            levels[fine].coarse = Some(transfer);
            levels.push(Level::new(nodes, coarse_ends));
        }
        let size = |level: &Level| (level.nodes.len() + 2 * level.topology.links.len()) as f64;
        let smoothed = &levels[..levels.len() - 1];
        let cycle_work = 2.0 * smoothed.iter().map(size).sum::<f64>() / size(&levels[0]);
        let bottom = Dense::new(3 * levels[levels.len() - 1].nodes.len());
        Self { levels, bottom, element_links, cycle_work }
    }

    /// Cost of a cycle in products with the finest matrix, without restriction and prolongation.
    pub fn cycle_work(&self) -> f64 {
        self.cycle_work
    }

    /// Takes over a new matrix. `free` is 1 or 0 per particle.
    pub fn rebuild(&mut self, system: &System, topology: &Topology, par: Par, free: &[f32]) {
        let links = topology.links.len();
        let finest = &mut self.levels[0].system;
        finest.lumped.copy_from_slice(&system.lumped);
        finest.link_blocks[..links].copy_from_slice(&system.link_blocks);
        finest.link_blocks[links..].fill(Sym3::ZERO);
        for (term, element) in system.elements.iter().enumerate() {
            let pairs = self.element_links[term / system.parts];
            add_with_one_direction(&mut finest.link_blocks, &pairs, element);
        }
        let Level { system, topology, .. } = &mut self.levels[0];
        system.build_diagonal(topology, par);
        for l in 0..self.levels.len() {
            self.levels[l].hold(free);
            if let (finer, [coarser, ..]) = self.levels.split_at_mut(l + 1) {
                finer[l].coarsen_into(coarser, par);
            }
        }
        let last = &self.levels[self.levels.len() - 1];
        self.bottom.factor(&last.system, last.topology.links.ends());
    }

    /// `z ≈ A⁻¹ r` by one cycle.
    pub fn cycle(&mut self, r: &[Vec3], z: &mut [Vec3]) {
        self.levels[0].b.copy_from_slice(r);
        let last = self.levels.len() - 1;
        for l in 0..last {
            if let (finer, [coarser, ..]) = self.levels.split_at_mut(l + 1) {
                finer[l].descend(&mut coarser.b);
            }
        }
        let bottom = &mut self.levels[last];
        self.bottom.solve(&bottom.b, bottom.smoother.values_mut());
        for l in (0..last).rev() {
            if let (finer, [coarser, ..]) = self.levels.split_at_mut(l + 1) {
                finer[l].ascend(coarser.smoother.values());
            }
        }
        z.iter_mut().zip(self.levels[0].smoother.values()).for_each(|(z, x)| *z = (*x).into());
    }
}

impl Level {
    fn new(nodes: Vec<u32>, ends: Vec<[u32; 2]>) -> Self {
        let n = nodes.len();
        let topology = Topology::new(n, ends, Vec::new());
        let zeros = vec![Vec3::ZERO; n];
        Self {
            system: System::new(n, &topology, 1),
            smoother: GaussSeidel::new(n, &topology),
            topology,
            b: zeros.clone(),
            r: zeros,
            nodes,
            coarse: None,
        }
    }

    /// Takes held nodes out: no coupling to others, no change of their own.
    fn hold(&mut self, free: &[f32]) {
        for (i, &node) in self.nodes.iter().enumerate() {
            if free[node as usize] == 0.0 {
                self.system.diagonal[i] = Sym3::ZERO;
                self.system.inverse[i] = Sym3::ZERO;
                for member in self.topology.link_members.of(i) {
                    self.system.link_blocks[member.item as usize] = Sym3::ZERO;
                }
            }
        }
    }

    /// A' = Pᵀ A P.
    fn coarsen_into(&self, coarse: &mut Level, par: Par) {
        let Some(Transfer { from_diagonal, from_links, .. }) = &self.coarse else { return };
        let fine = &self.system;
        let n = coarse.nodes.len();
        let block = |target: usize| {
            let mut sum = Sym3::ZERO;
            for &(source, weight) in from_diagonal.row(target) {
                sum.add_scaled(weight, &fine.diagonal[source as usize]);
            }
            for &(source, weight) in from_links.row(target) {
                sum.add_scaled(weight, &fine.link_blocks[source as usize]);
            }
            sum
        };
        let Level { system, .. } = coarse;
        par.blocks2(&mut system.diagonal, &mut system.inverse, |first, diagonal, inverse| {
            for (k, (d, inverse)) in diagonal.iter_mut().zip(inverse).enumerate() {
                *d = block(first * crate::par::BLOCK + k);
                *inverse = d.inverse();
            }
        });
        par.blocks(&mut system.link_blocks, |first, blocks| {
            for (k, b) in blocks.iter_mut().enumerate() {
                *b = block(n + first * crate::par::BLOCK + k);
            }
        });
    }

    /// Smooths from zero and hands what is left to the next level.
    fn descend(&mut self, coarse_b: &mut [Vec3]) {
        let Some(Transfer { restrict, .. }) = &self.coarse else { return };
        self.smoother.forward_from_zero(&self.system, &self.topology, &self.b);
        self.smoother.left_by_forward(&self.system, &mut self.r);
        for (i, b) in coarse_b.iter_mut().enumerate() {
            let mut sum = Vec3::ZERO;
            for &(k, weight) in restrict.row(i) {
                sum += weight * self.r[k as usize];
            }
            *b = sum;
        }
    }

    /// Adds the next level's correction and smooths.
    fn ascend(&mut self, correction: &[Vec3A]) {
        let Some(Transfer { prolong, .. }) = &self.coarse else { return };
        for (i, x) in self.smoother.values_mut().iter_mut().enumerate() {
            for &(k, weight) in prolong.row(i) {
                *x += weight * correction[k as usize];
            }
        }
        self.smoother.backward(&self.system, &self.topology, &self.b);
    }
}

/// Adds the Laplacian form of s g gᵀ with every g projected on one direction:
/// −s c_i c_j n̄ n̄ᵀ between particles i and j, c_i = g_i · n̄. It acts on no translation because Σ g = 0.
fn add_with_one_direction(blocks: &mut [Sym3], pairs: &[u32; 6], term: &RankOne) {
    let g = term.g;
    let largest = g.iter().copied().fold(Vec3::ZERO, |best, g| {
        if g.length_squared() > best.length_squared() { g } else { best }
    });
    // One step of the power method from the largest towards the common direction.
    let direction: Vec3 = g.iter().map(|g| g.dot(largest) * *g).sum();
    let Some(n) = direction.try_normalize() else { return };
    let c = g.map(|g| g.dot(n));
    for (&link, (i, j)) in pairs.iter().zip(PAIRS) {
        blocks[link as usize] += Sym3::outer(-term.scale * c[i] * c[j], n);
    }
}

/// The coarse links of Pᵀ A P and which fine blocks each coarse block is the weighted sum of.
///
/// With A_kl = −B_kl between the ends of a link, and D_k on the diagonal,
/// D'_i = Σ P_ki² D_k − 2 Σ P_ki P_li B_kl and B'_ij = −Σ P_ki P_kj D_k + Σ (P_ki P_lj + P_kj P_li) B_kl.
fn galerkin_lists(
    links: &Links,
    prolong: Interpolation,
    coarse_count: usize,
) -> (Vec<[u32; 2]>, Transfer) {
    // All contributions as (coarse pair, fine block, weight); i = j for a diagonal block.
    type Contribution = (u32, u32, u32, f32);
    let mut from_diagonal: Vec<Contribution> = Vec::new();
    let mut from_links: Vec<Contribution> = Vec::new();
    for k in 0..prolong.len() {
        let row = prolong.row(k);
        for (position, &(i, p)) in row.iter().enumerate() {
            from_diagonal.push((i, i, k as u32, p * p));
            for &(j, q) in &row[position + 1..] {
                from_diagonal.push((i.min(j), i.max(j), k as u32, -p * q));
            }
        }
    }
    for (link, &[a, b]) in links.ends().iter().enumerate() {
        for &(i, p) in prolong.row(a as usize) {
            for &(j, q) in prolong.row(b as usize) {
                let weight = if i == j { -2.0 * p * q } else { p * q };
                from_links.push((i.min(j), i.max(j), link as u32, weight));
            }
        }
    }
    // Coarse links ordered so that those of one direction are neighbours: by offset within stretches
    // of nodes, which keeps the runs of a grid.
    let mut pairs: Vec<[u32; 2]> = from_diagonal
        .iter()
        .chain(&from_links)
        .filter(|c| c.0 != c.1)
        .map(|&(i, j, ..)| [i, j])
        .collect();
    const STRETCH: u32 = 256;
    pairs.sort_unstable_by_key(|&[i, j]| (i / STRETCH, j - i, i));
    pairs.dedup();
    let index: HashMap<[u32; 2], u32> =
        pairs.iter().enumerate().map(|(link, pair)| (*pair, link as u32)).collect();
    let lists = |contributions: Vec<Contribution>| {
        let target = |&(i, j, ..): &Contribution| {
            if i == j { i } else { coarse_count as u32 + index[&[i, j]] }
        };
        let mut all: Vec<(u32, u32, f32)> =
            contributions.iter().map(|c| (target(c), c.2, c.3)).collect();
        all.sort_unstable_by_key(|c| (c.0, c.1));
        // The same fine block may enter one coarse block by several ways.
        all.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut rows = Interpolation::default();
        let mut rest = &all[..];
        for target in 0..(coarse_count + pairs.len()) as u32 {
            let (row, after) = rest.split_at(rest.partition_point(|c| c.0 <= target));
            rows.push(row.iter().map(|c| (c.1, c.2)));
            rest = after;
        }
        rows
    };
    let (from_diagonal, from_links) = (lists(from_diagonal), lists(from_links));
    let restrict = prolong.transposed(coarse_count);
    (pairs, Transfer { prolong, restrict, from_diagonal, from_links })
}

/// Dense Cholesky factor in f64.
#[derive(Clone, Debug)]
struct Dense {
    size: usize,
    /// Lower triangle, row by row.
    l: Vec<f64>,
    y: Vec<f64>,
}

impl Dense {
    fn new(size: usize) -> Self {
        Self { size, l: vec![0.0; size * size], y: vec![0.0; size] }
    }

    fn factor(&mut self, system: &System, ends: &[[u32; 2]]) {
        let (n, l) = (self.size, &mut self.l);
        l.fill(0.0);
        let full = |m: &Sym3, row: usize, column: usize| {
            let [xx, yy, zz, xy, yz, xz] = m.0;
            f64::from([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]][row][column])
        };
        for (i, d) in system.diagonal.iter().enumerate() {
            for (row, column) in (0..3).flat_map(|r| (0..=r).map(move |c| (r, c))) {
                l[(3 * i + row) * n + 3 * i + column] = full(d, row, column);
            }
        }
        for (&[a, b], block) in ends.iter().zip(&system.link_blocks) {
            let (low, high) = (a.min(b) as usize, a.max(b) as usize);
            for (row, column) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
                l[(3 * high + row) * n + 3 * low + column] -= full(block, row, column);
            }
        }
        for j in 0..n {
            let (above, from_row) = l.split_at_mut(j * n);
            let row = &mut from_row[..n];
            for k in 0..j {
                let other = &above[k * n..][..n];
                row[k] = (row[k] - dot(&row[..k], &other[..k])) * other[k];
            }
            let pivot = row[j] - dot(&row[..j], &row[..j]);
            // The diagonal holds inverses; a direction without stiffness of its own is left alone.
            let usable = pivot > 1e-12 * row[j].abs() && pivot.is_finite();
            row[j] = if usable { 1.0 / pivot.sqrt() } else { 0.0 };
        }
    }

    fn solve(&mut self, b: &[Vec3], x: &mut [Vec3A]) {
        let (n, l, y) = (self.size, &self.l, &mut self.y);
        let flat: &[f32] = bytemuck::cast_slice(b);
        for i in 0..n {
            let row = &l[i * n..][..n];
            y[i] = (f64::from(flat[i]) - dot(&row[..i], &y[..i])) * row[i];
        }
        for i in (0..n).rev() {
            let row = &l[i * n..][..n];
            let value = y[i] * row[i];
            y[i] = value;
            y[..i].iter_mut().zip(&row[..i]).for_each(|(y, l)| *y -= l * value);
        }
        for (x, y) in x.iter_mut().zip(y.chunks_exact(3)) {
            *x = Vec3A::new(y[0] as f32, y[1] as f32, y[2] as f32);
        }
    }
}

/// Σ a b; eight running sums keep the adder busy.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Pyramid;
    use crate::mesh::pyramid::{Filter, Grid};

    /// A net of springs in one plane with hinges' rank-one terms, one corner held.
    fn example(n: usize) -> (Topology, System, Vec<f32>) {
        let mut ends = Vec::new();
        let mut elements = Vec::new();
        for i in 0..n * n {
            let (row, column) = (i / n, i % n);
            let at = |r: usize, c: usize| (r * n + c) as u32;
            if column + 1 < n {
                ends.push([i as u32, at(row, column + 1)]);
            }
            if row + 1 < n {
                ends.push([i as u32, at(row + 1, column)]);
            }
            if row + 1 < n && column + 2 < n {
                elements.push([
                    at(row, column + 1),
                    at(row + 1, column + 1),
                    i as u32,
                    at(row, column + 2),
                ]);
            }
        }
        let topology = Topology::new(n * n, ends, elements);
        let mut system = System::new(n * n, &topology, 1);
        system.lumped.fill(1.0);
        for (block, &[a, b]) in system.link_blocks.iter_mut().zip(topology.links.ends()) {
            let direction = if b == a + 1 { Vec3::X } else { Vec3::new(0.0, 0.8, 0.6) };
            *block = Sym3::outer(300.0, direction);
            *block += Sym3::scalar(2.0);
        }
        for element in &mut system.elements {
            let n = Vec3::new(0.1, -0.6, 0.8);
            *element = RankOne { g: [-n, -n, n, n], scale: 5.0 };
        }
        system.build_diagonal(&topology, Par::Serial);
        let mut free = vec![1.0; n * n];
        free[0] = 0.0;
        (topology, system, free)
    }

    fn hierarchy(topology: &Topology, n: usize) -> Multigrid {
        let pyramid = Pyramid::new(&[Grid { columns: n, rows: n, first: 0 }], 40, 16);
        let last = pyramid.levels.len() - 1;
        let steps = (0..last).map(|l| pyramid.prediction(l, Filter::MEAN)).collect();
        Multigrid::new(topology, pyramid.levels.into_iter().map(|l| l.nodes).collect(), steps)
    }

    fn random(seed: u32, free: &[f32]) -> Vec<Vec3> {
        let value = |i: u32| {
            let bits = (i + 1).wrapping_mul(seed).wrapping_mul(2_654_435_761);
            (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        let vector = |i: u32| Vec3::new(value(3 * i), value(3 * i + 1), value(3 * i + 2));
        (0..).zip(free).map(|(i, free)| *free * vector(i)).collect()
    }

    fn dot3(a: &[Vec3], b: &[Vec3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a.as_dvec3().dot(b.as_dvec3())).sum()
    }

    #[test]
    fn coarse_matrices_are_galerkin_products() {
        let n = 9;
        let (topology, system, free) = example(n);
        let mut multigrid = hierarchy(&topology, n);
        multigrid.rebuild(&system, &topology, Par::Serial, &free);
        // w'ᵀ A' w' = (P w')ᵀ A (P w') with held rows of P w' and w' zero, on every level.
        for l in 0..multigrid.levels.len() - 1 {
            let (fine, coarse) = (&multigrid.levels[l], &multigrid.levels[l + 1]);
            let coarse_free: Vec<f32> = coarse.nodes.iter().map(|i| free[*i as usize]).collect();
            let w = random(7, &coarse_free);
            let prolong = &fine.coarse.as_ref().unwrap().prolong;
            let up = |i: usize| -> Vec3 {
                let held = free[fine.nodes[i] as usize] == 0.0;
                let sum = prolong.row(i).iter().map(|&(k, p)| p * w[k as usize]).sum();
                if held { Vec3::ZERO } else { sum }
            };
            let up: Vec<Vec3> = (0..fine.nodes.len()).map(up).collect();
            let energy = |level: &Level, w: &[Vec3]| {
                let own: f64 = w
                    .iter()
                    .zip(&level.system.diagonal)
                    .map(|(w, d)| f64::from(w.dot(*d * *w)))
                    .sum();
                let links = level.topology.links.ends().iter().zip(&level.system.link_blocks);
                let pairs: f64 = links
                    .map(|(&[a, b], m)| f64::from(w[a as usize].dot(*m * w[b as usize])))
                    .sum();
                own - 2.0 * pairs
            };
            let (found, expected) = (energy(coarse, &w), energy(fine, &up));
            assert!((found / expected - 1.0).abs() < 1e-4, "level {l}: {found} {expected}");
        }
    }

    #[test]
    fn a_cycle_is_symmetric_positive_and_close_to_the_inverse() {
        let n = 17;
        let (topology, mut system, free) = example(n);
        let mut multigrid = hierarchy(&topology, n);
        multigrid.rebuild(&system, &topology, Par::Serial, &free);
        let (a, b) = (random(3, &free), random(11, &free));
        let (mut za, mut zb) = (a.clone(), b.clone());
        multigrid.cycle(&a, &mut za);
        multigrid.cycle(&b, &mut zb);
        let (ab, ba) = (dot3(&za, &b), dot3(&a, &zb));
        let size = dot3(&za, &a);
        assert!(size > 0.0 && (ab - ba).abs() < 1e-4 * size, "{ab} {ba} {size}");
        // Iterating x += cycle(b − A x) converges.
        let mut x = vec![Vec3::ZERO; n * n];
        let mut product = x.clone();
        let mut norms = Vec::new();
        for _ in 0..13 {
            system.apply(&topology, Par::Serial, &x, &mut product);
            let left: Vec<Vec3> = (0..n * n).map(|i| free[i] * (b[i] - product[i])).collect();
            norms.push(dot3(&left, &left).sqrt());
            multigrid.cycle(&left, &mut za);
            x.iter_mut().zip(&za).for_each(|(x, z)| *x += *z);
        }
        assert!(norms[12] < 0.1 * norms[0], "{norms:?}");
    }
}
