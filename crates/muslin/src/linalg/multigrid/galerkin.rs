//! A' = Pᵀ A P as lists: which blocks of A enter which block of A', with which weight.

use crate::mesh::Interpolation;
use std::collections::HashMap;

/// Weights whose difference is less than this are equal.
const ROUNDING: f32 = 1e-6;

/// What [`galerkin_lists`] finds.
pub struct Lists {
    /// Coarse links.
    pub ends: Vec<[u32; 2]>,
    /// Whether colours must respect them.
    pub strong: Vec<bool>,
    /// What fine nodes have of their own in the same of coarse ones, then in the coarse link blocks.
    pub from_own: Interpolation,
    /// Fine link blocks in the coarse link blocks.
    pub from_links: Interpolation,
}

/// The coarse links of Pᵀ A P and which fine blocks each coarse block is the weighted sum of.
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
pub fn galerkin_lists(
    links: &[[u32; 2]],
    strong: &[bool],
    prolong: &Interpolation,
    coarse_count: usize,
) -> Lists {
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
    let mut between: Vec<(u32, f32)> = Vec::new();
    for (link, &[a, b]) in links.iter().enumerate() {
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
    // Coarse links ordered so that those of one direction are neighbours: by offset within stretches
    // of nodes, which keeps the runs of a grid.
    let mut pairs: Vec<[u32; 2]> = from_own
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
    // A coarse link is strong if anything but weak links makes it.
    let mut joined = vec![false; pairs.len()];
    let strong_links = from_links.iter().filter(|c| strong[c.2 as usize]);
    for &(i, j, ..) in from_own.iter().chain(strong_links).filter(|c| c.0 != c.1) {
        joined[index[&[i, j]] as usize] = true;
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
        let mut rows = Interpolation::default();
        let mut rest = &all[..];
        for target in 0..(coarse_count + pairs.len()) as u32 {
            let (row, after) = rest.split_at(rest.partition_point(|c| c.0 <= target));
            rows.push(row.iter().map(|c| (c.1, c.2)));
            rest = after;
        }
        rows
    };
    let (from_own, from_links) = (lists(from_own), lists(from_links));
    Lists { ends: pairs, strong: joined, from_own, from_links }
}
