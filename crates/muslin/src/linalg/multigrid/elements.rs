//! Elements as links: what the sweeps of the finest level see of them.

use crate::lanes::{LANES, Lanes, Vectors};
use crate::linalg::{RankOne, Sym3, Wide};
use crate::mesh::{Incidence, Made};
use crate::par::{Par, widest};
use glam::Vec3;

/// The pairs of an element's four particles.
pub const PAIRS: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// Elements whose vectors have one direction each, and the links they act through.
///
/// s g gᵀ with every g projected on n̄ is −s c_i c_j n̄ n̄ᵀ between particles i and j, c_i = g_i · n̄, in
/// Laplacian form. It acts on no translation because Σ g = 0.
#[derive(Clone, Debug)]
pub struct Elements {
    /// Elements of each link, and which of [`PAIRS`] it is.
    of_links: Incidence,
    projected: Vec<Projected>,
}

/// A rank-one term with one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Projected {
    /// n̄ n̄ᵀ.
    outer: Wide,
    /// −s c_i c_j of each of [`PAIRS`], and two that fill up a line of memory.
    pairs: Lanes,
}

impl Elements {
    /// For elements given by the links of their pairs.
    pub fn new(pairs: &[[u32; 6]], links: usize) -> Self {
        Self { of_links: Incidence::new(pairs, links), projected: Vec::new() }
    }

    /// Sets the blocks of links to the share that `parts` terms per element have in them.
    pub fn fill(&mut self, par: Par, terms: &[RankOne], parts: usize, blocks: &mut [Sym3]) {
        self.projected.resize(terms.len(), Projected::default());
        let Self { of_links, projected } = self;
        let project = |first: usize, out: &mut [Projected]| {
            widest(Project { terms: &terms[first..][..out.len()], out });
        };
        of_links.gather(par, parts, projected, blocks, project, |first, blocks, projected| {
            widest(Gather { of_links, projected, parts, first, blocks });
        });
    }
}

/// Sums for a stretch of links.
struct Gather<'a> {
    of_links: &'a Incidence,
    projected: Made<'a, Projected>,
    parts: usize,
    first: usize,
    blocks: &'a mut [Sym3],
}

impl pulp::NullaryFnOnce for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { of_links, projected, .. } = self;
        for (k, out) in self.blocks.iter_mut().enumerate() {
            let mut sum = Wide::ZERO;
            for member in of_links.of(self.first + k) {
                let first = member.item as usize * self.parts;
                for term in (first..first + self.parts).filter_map(|term| projected.get(term)) {
                    sum.add_scaled(term.pairs[member.slot as usize], &term.outer);
                }
            }
            *out = sum.into();
        }
    }
}

/// A stretch of terms, eight at a time.
struct Project<'a> {
    terms: &'a [RankOne],
    out: &'a mut [Projected],
}

impl pulp::NullaryFnOnce for Project<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (terms, out) in self.terms.chunks(LANES).zip(self.out.chunks_mut(LANES)) {
            let mut g = [Vectors::ZERO; 4];
            for (lane, term) in terms.iter().enumerate() {
                for (g, from) in g.iter_mut().zip(term.g) {
                    g.set(lane, from);
                }
            }
            let mut direction = Vectors::ZERO;
            let mut along = [[0.0; LANES]; 4];
            for lane in 0..LANES {
                let g = [g[0].at(lane), g[1].at(lane), g[2].at(lane), g[3].at(lane)];
                let n = common_direction(g);
                direction.set(lane, n);
                for (along, g) in along.iter_mut().zip(g) {
                    along[lane] = g.dot(n);
                }
            }
            for (lane, (out, term)) in out.iter_mut().zip(terms).enumerate() {
                let outer = Sym3::outer(1.0, direction.at(lane)).into();
                let mut pairs = [0.0; LANES];
                for (pair, (i, j)) in pairs.iter_mut().zip(PAIRS) {
                    *pair = -term.scale * (along[i][lane] * along[j][lane]);
                }
                *out = Projected { outer, pairs };
            }
        }
    }
}

/// One step of the power method from the largest of four vectors; zero if they are.
#[inline(always)]
fn common_direction(g: [Vec3; 4]) -> Vec3 {
    let mut largest = g[0];
    for g in g {
        // Selections, not branches: eight lanes go the same way.
        let longer = g.length_squared() > largest.length_squared();
        largest.x = if longer { g.x } else { largest.x };
        largest.y = if longer { g.y } else { largest.y };
        largest.z = if longer { g.z } else { largest.z };
    }
    let direction = g[0].dot(largest) * g[0]
        + g[1].dot(largest) * g[1]
        + g[2].dot(largest) * g[2]
        + g[3].dot(largest) * g[3];
    let length = direction.length();
    direction * if length > 0.0 && length < f32::INFINITY { 1.0 / length } else { 0.0 }
}
