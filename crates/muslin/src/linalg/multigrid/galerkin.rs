//! A' = Pᵀ A P as lists: which blocks of A enter which block of A', with which weight.
//!
//! Springs with masses and elements are summed apart. Elements join nodes twice as far from each other, which makes
//! their lists long, and coarse matrices of springs alone have half the blocks: levels too coarse to feel elements have
//! none of them.

use crate::linalg::{Sym3, WeightedSum};
use crate::mesh::{Incidence, Interpolation};
use crate::par::{BLOCK, Par, widest};
use std::collections::HashMap;

/// Weights whose difference is less than this are equal.
const ROUNDING: f32 = 1e-6;

/// What nodes have of their own and the blocks of links: of springs and masses, or of elements.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub own: Vec<Sym3>,
    pub links: Vec<Sym3>,
}

impl Terms {
    /// Zeros.
    pub fn new(nodes: usize, links: usize) -> Self {
        Self { own: vec![Sym3::ZERO; nodes], links: vec![Sym3::ZERO; links] }
    }

    /// Takes held nodes out: no coupling to others, no change of their own.
    pub fn hold(&mut self, nodes: &[u32], members: &Incidence, ends: &[[u32; 2]], free: &[f32]) {
        for i in (0..self.own.len()).filter(|i| free[nodes[*i] as usize] == 0.0) {
            for link in members.of(i).iter().map(|member| member.item as usize) {
                let Some(block) = self.links.get_mut(link) else { continue };
                let held = std::mem::replace(block, Sym3::ZERO);
                let [a, b] = ends[link];
                self.own[(a + b) as usize - i] += held;
            }
            self.own[i] = Sym3::ZERO;
        }
    }
}

/// The links of a level.
#[derive(Clone, Debug)]
pub struct LevelLinks {
    /// Those of springs come first.
    pub ends: Vec<[u32; 2]>,
    /// How many these are.
    pub springs: usize,
    /// Whether colours must respect them.
    pub strong: Vec<bool>,
}

/// Lists of fine blocks for what coarse nodes have of their own, then for the coarse link blocks.
#[derive(Clone, Debug)]
pub struct Sums {
    from_own: Lists,
    from_springs: Lists,
    /// None where the next level has no elements.
    from_elements: Lists,
}

/// A list of fine blocks with weights for each coarse block. Lists that differ only in where they begin, as where a mesh
/// repeats, are there once: every new matrix reads them all.
#[derive(Clone, Debug, Default)]
struct Lists {
    lists: Vec<List>,
    /// (block after the first, weight).
    entries: Vec<(u32, f32)>,
}

#[derive(Clone, Copy, Debug)]
struct List {
    first_block: u32,
    first_entry: u32,
    end: u32,
}

impl Lists {
    /// Of (coarse block, fine block, weight), sorted, for so many coarse blocks.
    fn new(all: &[(u32, u32, f32)], targets: usize) -> Self {
        let mut known: HashMap<Vec<(u32, u32)>, [u32; 2]> = HashMap::new();
        let mut lists = Self::default();
        let mut rest = all;
        for target in 0..targets as u32 {
            let (row, after) = rest.split_at(rest.partition_point(|c| c.0 <= target));
            rest = after;
            let first_block = row.first().map_or(0, |c| c.1);
            let key: Vec<_> = row.iter().map(|c| (c.1 - first_block, c.2.to_bits())).collect();
            let [first_entry, end] = *known.entry(key).or_insert_with_key(|key| {
                let first = lists.entries.len();
                lists.entries.extend(key.iter().map(|(after, w)| (*after, f32::from_bits(*w))));
                [first as u32, lists.entries.len() as u32]
            });
            lists.lists.push(List { first_block, first_entry, end });
        }
        lists
    }

    /// The list of a coarse block: what it is to be taken from, and (index there, weight).
    #[inline(always)]
    fn of<'a, T>(&self, target: usize, blocks: &'a [T]) -> (&'a [T], &[(u32, f32)]) {
        let List { first_block, first_entry, end } = self.lists[target];
        (&blocks[first_block as usize..], &self.entries[first_entry as usize..end as usize])
    }
}

impl Sums {
    /// Pᵀ A P of springs and masses.
    pub fn of_springs(&self, par: Par, fine: &Terms, coarse: &mut Terms) {
        self.sum(par, &self.from_springs, fine, coarse);
    }

    /// Pᵀ A P of elements.
    pub fn of_elements(&self, par: Par, fine: &Terms, coarse: &mut Terms) {
        self.sum(par, &self.from_elements, fine, coarse);
    }

    fn sum(&self, par: Par, from_links: &Lists, fine: &Terms, coarse: &mut Terms) {
        let from_own = &self.from_own;
        let n = coarse.own.len();
        let sum = |first: usize, out: &mut [Sym3]| {
            widest(WeightedSums { from_own, from_links, fine, first, out });
        };
        par.blocks(&mut coarse.own, |block, out| sum(block * BLOCK, out));
        par.blocks(&mut coarse.links, |block, out| sum(n + block * BLOCK, out));
    }
}

/// Coarse blocks from fine ones: those of nodes, then those of links.
struct WeightedSums<'a> {
    from_own: &'a Lists,
    from_links: &'a Lists,
    fine: &'a Terms,
    /// The first of the targets.
    first: usize,
    out: &'a mut [Sym3],
}

impl pulp::NullaryFnOnce for WeightedSums<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Terms { own, links } = self.fine;
        for (k, out) in self.out.iter_mut().enumerate() {
            // Two sums, so that one need not wait for the other.
            let (mut sum, mut odd) = (WeightedSum::default(), WeightedSum::default());
            let (links, entries) = self.from_links.of(self.first + k, links);
            let mut pairs = entries.chunks_exact(2);
            for pair in &mut pairs {
                let [(first, a), (second, b)] = [pair[0], pair[1]];
                sum.add(a, &links[first as usize]);
                odd.add(b, &links[second as usize]);
            }
            for &(source, weight) in pairs.remainder() {
                sum.add(weight, &links[source as usize]);
            }
            sum += odd;
            let (own, entries) = self.from_own.of(self.first + k, own);
            for &(source, weight) in entries {
                sum.add(weight, &own[source as usize]);
            }
            *out = sum.into();
        }
    }
}

/// The coarse links of Pᵀ A P and which fine blocks each coarse block is the weighted sum of; with elements or without.
///
/// A matrix is wᵀ A w = Σ w_k·M_k w_k + Σ (w_k − w_l)·B_kl (w_k − w_l): what nodes have of their own, and
/// links. With w = P w' and rows of P that sum to one it is of that form again,
///
/// ```text
///   M'_i = Σ P_ki M_k      B'_ij = −Σ P_ki P_kj M_k − Σ (P_ki − P_li)(P_kj − P_lj) B_kl
/// ```
///
/// Diagonal blocks Σ P_ki² D_k − … would be the small differences of large numbers: stiffness beyond 1e7
/// masses leaves nothing of the masses in single precision.
pub fn galerkin(
    fine: &LevelLinks,
    prolong: &Interpolation,
    coarse_count: usize,
    with_elements: bool,
) -> (LevelLinks, Sums) {
    // All contributions as (coarse pair, fine block, weight); i = j for a diagonal block.
    type Contribution = (u32, u32, u32, f32);
    let mut from_own: Vec<Contribution> = Vec::new();
    let mut from_links: Vec<Contribution> = Vec::new();
    for k in 0..prolong.len() {
        let row = prolong.row(k);
        for (position, &(i, p)) in row.iter().enumerate() {
            from_own.push((i, i, k as u32, p));
            for &(j, q) in &row[position + 1..] {
                from_own.push((i.min(j), i.max(j), k as u32, -p * q));
            }
        }
    }
    let known = if with_elements { fine.ends.len() } else { fine.springs };
    let mut between: Vec<(u32, f32)> = Vec::new();
    for (link, &[a, b]) in fine.ends[..known].iter().enumerate() {
        between.clear();
        between.extend_from_slice(prolong.row(a as usize));
        for &(j, q) in prolong.row(b as usize) {
            match between.iter_mut().find(|(i, _)| *i == j) {
                Some((_, p)) => *p -= q,
                None => between.push((j, -q)),
            }
        }
        between.retain(|(_, p)| p.abs() > ROUNDING);
        for (position, &(i, p)) in between.iter().enumerate() {
            for &(j, q) in &between[position + 1..] {
                from_links.push((i.min(j), i.max(j), link as u32, -p * q));
            }
        }
    }
    let of_springs = |c: &Contribution| (c.2 as usize) < fine.springs;
    let from_springs: Vec<Contribution> = from_links.iter().copied().filter(of_springs).collect();
    // Coarse links ordered so that those of one direction are neighbours: by offset within stretches
    // of nodes, which keeps the runs of a grid.
    const STRETCH: u32 = 256;
    let ordered = |contributions: &mut dyn Iterator<Item = &Contribution>| {
        let mut pairs: Vec<[u32; 2]> =
            contributions.filter(|c| c.0 != c.1).map(|&(i, j, ..)| [i, j]).collect();
        pairs.sort_unstable_by_key(|&[i, j]| (i / STRETCH, j - i, i));
        pairs.dedup();
        pairs
    };
    let mut index: HashMap<[u32; 2], u32> = HashMap::new();
    let mut ends = ordered(&mut from_own.iter().chain(&from_springs));
    let springs = ends.len();
    index.extend((0..).zip(&ends).map(|(link, pair)| (*pair, link)));
    let more = ordered(&mut from_links.iter());
    ends.extend(more.into_iter().filter(|pair| !index.contains_key(pair)));
    index.extend((0..).zip(&ends).map(|(link, pair)| (*pair, link)));
    // A coarse link is strong if anything but weak links makes it.
    let mut strong = vec![false; ends.len()];
    let strong_links = from_links.iter().filter(|c| fine.strong[c.2 as usize]);
    for &(i, j, ..) in from_own.iter().chain(strong_links).filter(|c| c.0 != c.1) {
        strong[index[&[i, j]] as usize] = true;
    }
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
        Lists::new(&all, coarse_count + ends.len())
    };
    let sums = Sums {
        from_own: lists(from_own),
        from_springs: lists(from_springs),
        from_elements: if with_elements { lists(from_links) } else { Lists::default() },
    };
    (LevelLinks { ends, springs, strong }, sums)
}
