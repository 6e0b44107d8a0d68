//! The quincunx pyramid of a grid (Moustakas et al. §4.1) and prediction from level to level.
//!
//! ```text
//!   S_{l+1}[n] = S_l[M n],   M = [ 1 1; −1 1]                         Eq. 9, 10
//!
//!   level 0  ● ● ● ● ●     level 1  ●   ●   ●     level 2  ●   ●   ●
//!            ● ● ● ● ●                ●   ●
//!            ● ● ● ● ●              ●   ●   ●              ●   ●   ●
//! ```
//!
//! Each level keeps every other node; two levels halve both directions. A node of level l that level
//! l+1 lacks is predicted from the 16 nodes of level l+1 around it, at distances 1 (four), √5
//! (eight) and 3 (four) in steps of level l, with the weights of a [`Filter`].
//!
//! The minimum-variance weights g solve Eq. 21 with the correlation R_0[k] = λ^|k| (Eq. 22 corrected):
//!
//! ```text
//!   Σ_k g_k R_l(t_j − t_k) = R_l(t_j)   for every tap t_j,     R_l(d) = λ_l^|d|,  λ_l = λ^(2^(l/2))
//! ```
//!
//! Taps outside the grid are left out and the others scaled to sum 1: a constant is predicted exactly
//! everywhere. (Eq. 23 as printed sums to 1.022 and does not solve Eq. 21.)

use std::collections::HashMap;

/// Offsets of the taps from the predicted node, in steps of its level, grouped by distance.
pub const TAPS: [&[(isize, isize)]; 3] = [
    &[(0, 1), (0, -1), (1, 0), (-1, 0)],
    &[(1, 2), (1, -2), (-1, 2), (-1, -2), (2, 1), (2, -1), (-2, 1), (-2, -1)],
    &[(0, 3), (0, -3), (3, 0), (-3, 0)],
];

/// Weights of the taps at distance 1, √5 and 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter(pub [f64; 3]);

impl Filter {
    /// The mean of the four nearest nodes.
    pub const MEAN: Self = Self([0.25, 0.0, 0.0]);
    /// Moustakas Eq. 23 as printed.
    pub const PRINTED: Self = Self([0.2992, -0.0245, 0.00527]);

    /// The minimum-variance filter of a level for the correlation λ between neighbours of level 0.
    pub fn minimum_variance(lambda: f64, level: usize) -> Self {
        let lambda = lambda.powf(2f64.powf(0.5 * level as f64));
        let r = |(a, b): (isize, isize), (c, d): (isize, isize)| {
            lambda.powf(((a - c) as f64).hypot((b - d) as f64))
        };
        // Eight symmetries leave three unknowns: one equation for one tap of each distance.
        let mut rows = [[0.0; 4]; 3];
        for (row, taps) in rows.iter_mut().zip(TAPS) {
            for (k, group) in TAPS.iter().enumerate() {
                row[k] = group.iter().map(|&tap| r(taps[0], tap)).sum();
            }
            row[3] = r(taps[0], (0, 0));
        }
        for i in 0..3 {
            for j in i + 1..3 {
                let factor = rows[j][i] / rows[i][i];
                let pivot = rows[i];
                rows[j].iter_mut().zip(pivot).for_each(|(a, b)| *a -= factor * b);
            }
        }
        let mut g = [0.0; 3];
        for i in (0..3).rev() {
            let known: f64 = (i + 1..3).map(|k| rows[i][k] * g[k]).sum();
            g[i] = (rows[i][3] - known) / rows[i][i];
        }
        Self(g)
    }
}

/// Mˡ applied to an offset.
pub fn carried(level: usize, offset: (isize, isize)) -> (isize, isize) {
    (0..level).fold(offset, |(a, b), _| (a + b, b - a))
}

/// Whether M⁻ˡ takes a node of the grid to integers.
pub fn in_lattice(level: usize, (row, column): (isize, isize)) -> bool {
    let step = 1 << (level / 2);
    let coarse = row % step == 0 && column % step == 0;
    coarse && (level.is_multiple_of(2) || (row / step + column / step) % 2 == 0)
}

/// One level: which nodes of level 0 it keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// Index of each node on level 0, ascending.
    pub nodes: Vec<u32>,
    /// Where each node is: grid, row, column.
    pub places: Vec<(u32, u32, u32)>,
}

/// Columns and rows of a grid, and the index of its first particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Particles in a row.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
    /// First particle.
    pub first: usize,
}

/// The pyramid over all grids of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pyramid {
    /// Finest first.
    pub levels: Vec<Level>,
    /// Index within each level by place.
    index: Vec<HashMap<(u32, u32, u32), u32>>,
}

impl Pyramid {
    /// At most `most` levels, stopping when a level has no more than `enough` nodes.
    pub fn new(grids: &[Grid], most: usize, enough: usize) -> Self {
        let mut pyramid = Self::default();
        for level in 0..most {
            let mut kept = Level::default();
            for (g, grid) in grids.iter().enumerate() {
                let all = (0..grid.rows).flat_map(|row| (0..grid.columns).map(move |c| (row, c)));
                for (row, column) in all {
                    if in_lattice(level, (row as isize, column as isize)) {
                        kept.nodes.push((grid.first + row * grid.columns + column) as u32);
                        kept.places.push((g as u32, row as u32, column as u32));
                    }
                }
            }
            if pyramid.levels.last().is_some_and(|l| l.nodes.len() == kept.nodes.len()) {
                break;
            }
            let places = kept.places.iter().enumerate().map(|(i, place)| (*place, i as u32));
            pyramid.index.push(places.collect());
            pyramid.levels.push(kept);
            if pyramid.levels[level].nodes.len() <= enough {
                break;
            }
        }
        pyramid
    }

    /// The node of `level` at `offset`, in steps of `step_level`, from a node of `level` or finer.
    pub fn neighbour(
        &self,
        level: usize,
        from: (u32, u32, u32),
        step_level: usize,
        offset: (isize, isize),
    ) -> Option<u32> {
        let (down, right) = carried(step_level, offset);
        let row = u32::try_from(from.1 as isize + down).ok()?;
        let column = u32::try_from(from.2 as isize + right).ok()?;
        self.index[level].get(&(from.0, row, column)).copied()
    }

    /// How a node of `level` follows from those of `level + 1`: (node, weight). A kept node is
    /// itself; one all of whose neighbours are outside the grid has nothing to follow.
    fn taps(&self, level: usize, place: (u32, u32, u32), filter: Filter) -> Vec<(u32, f64)> {
        if let Some(kept) = self.index[level + 1].get(&place) {
            return vec![(*kept, 1.0)];
        }
        let mut taps = Vec::new();
        for (group, weight) in TAPS.iter().zip(filter.0).filter(|(_, weight)| *weight != 0.0) {
            let nodes =
                group.iter().filter_map(|&offset| self.neighbour(level + 1, place, level, offset));
            taps.extend(nodes.map(|node| (node, weight)));
        }
        let sum: f64 = taps.iter().map(|tap| tap.1).sum();
        taps.iter_mut().for_each(|tap| tap.1 /= sum);
        taps
    }

    /// How the nodes of `level` follow from those of `level + 1`: kept nodes as they are, the others
    /// by the filter.
    pub fn prediction(&self, level: usize, filter: Filter) -> Interpolation {
        let mut rows = Interpolation::default();
        for &place in &self.levels[level].places {
            let taps = self.taps(level, place, filter);
            rows.push(taps.iter().map(|&(node, weight)| (node, weight as f32)));
        }
        rows
    }
}

/// Sparse rows: value i is Σ weight · coarse value.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpolation {
    offsets: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

impl Default for Interpolation {
    fn default() -> Self {
        Self { offsets: vec![0], entries: Vec::new() }
    }
}

impl Interpolation {
    /// Appends a row.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (u32, f32)>) {
        self.entries.extend(entries);
        self.offsets.push(self.entries.len() as u32);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries of row `i`: (column, weight).
    #[inline]
    pub fn row(&self, i: usize) -> &[(u32, f32)] {
        &self.entries[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// This interpolation applied to the result of a coarser one.
    pub fn after(&self, coarser: &Self) -> Self {
        let mut out = Self::default();
        for i in 0..self.len() {
            let mut row: Vec<(u32, f32)> = Vec::new();
            for &(k, weight) in self.row(i) {
                for &(column, inner) in coarser.row(k as usize) {
                    match row.iter_mut().find(|entry| entry.0 == column) {
                        Some(entry) => entry.1 += weight * inner,
                        None => row.push((column, weight * inner)),
                    }
                }
            }
            out.push(row);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(n: usize) -> Vec<Grid> {
        vec![Grid { columns: n, rows: n, first: 0 }]
    }

    #[test]
    fn every_level_keeps_half() {
        let pyramid = Pyramid::new(&square(20), 5, 1);
        let sizes: Vec<_> = pyramid.levels.iter().map(|l| l.nodes.len()).collect();
        assert_eq!(sizes, [400, 200, 100, 50, 25]);
    }

    #[test]
    fn the_lattice_is_where_the_inverse_matrix_gives_integers() {
        for level in 0..7 {
            for row in 0..16 {
                for column in 0..16 {
                    // M⁻¹ = ½ [1 −1; 1 1]: whole iff both halves are, l times over.
                    let mut point = Some((row, column));
                    for _ in 0..level {
                        point = point.and_then(|(a, b): (isize, isize)| {
                            ((a + b) % 2 == 0).then_some(((a - b) / 2, (a + b) / 2))
                        });
                    }
                    assert_eq!(in_lattice(level, (row, column)), point.is_some());
                    if point.is_some() {
                        for step in [(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (2, 0)] {
                            let (down, right) = carried(level, step);
                            assert!(in_lattice(level, (row + down, column + right)));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_filter_solves_equation_21() {
        let lambda: f64 = 0.95;
        let Filter(g) = Filter::minimum_variance(lambda, 0);
        for (found, expected) in g.iter().zip([0.2816, -0.0098, -0.0118]) {
            assert!((found - expected).abs() < 2e-4, "{g:?}");
        }
        // All 16 equations, not only the three solved.
        let residual = |g: [f64; 3]| {
            let r = |a: (isize, isize), b: (isize, isize)| {
                lambda.powf(((a.0 - b.0) as f64).hypot((a.1 - b.1) as f64))
            };
            let taps =
                || TAPS.iter().zip(g).flat_map(|(group, g)| group.iter().map(move |t| (*t, g)));
            taps()
                .map(|(at, _)| {
                    let sum: f64 = taps().map(|(tap, g)| g * r(at, tap)).sum();
                    (sum - r(at, (0, 0))).abs()
                })
                .fold(0.0, f64::max)
        };
        assert!(residual(g) < 1e-10);
        // The printed filter does not: its gain is 2 % too high.
        assert!(residual(Filter::PRINTED.0) > 0.015);
        // Levels hardly differ.
        let Filter(coarse) = Filter::minimum_variance(lambda, 5);
        for (found, expected) in coarse.iter().zip([0.2768, -0.0083, -0.0098]) {
            assert!((found - expected).abs() < 2e-4, "{coarse:?}");
        }
    }

    #[test]
    fn constants_are_predicted_exactly() {
        for filter in [Filter::MEAN, Filter::PRINTED, Filter::minimum_variance(0.95, 0)] {
            let pyramid = Pyramid::new(&square(9), 4, 1);
            for level in 0..3 {
                for &place in &pyramid.levels[level].places {
                    let taps = pyramid.taps(level, place, filter);
                    let sum: f64 = taps.iter().map(|tap| tap.1).sum();
                    assert!((sum - 1.0).abs() < 1e-14, "{place:?} of level {level} sums to {sum}");
                }
            }
        }
    }
}
