//! Cuts: which springs, hinges and triangles a cloth has lost. Particles and masses stay.
//!
//! A cut edge takes along what lies on it and what runs across it:
//!
//! ```text
//!   a ── b     triangles and hinges with a cut edge
//!   │  ╳ │     a diagonal spring a–d, if both ways around its cell (a–b–d, a–c–d) are cut
//!   c ── d     a spring over two cells, if one of its halves is lost
//! ```
//!
//! What remains keeps the constants it had in the whole cloth.

use super::check::Check;
use crate::error::Error;
use crate::mesh::triangles::{self, Edge};
use std::collections::HashSet;

/// The cut edges of one cloth.
#[derive(Default)]
pub struct Cuts {
    edges: HashSet<[u32; 2]>,
    /// Columns of a grid.
    columns: Option<usize>,
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Rows and columns between two particles of a grid.
fn apart(columns: usize, [a, b]: [u32; 2]) -> [usize; 2] {
    let [a, b] = [a, b].map(|i| (i as usize / columns, i as usize % columns));
    [a.0.abs_diff(b.0), a.1.abs_diff(b.1)]
}

impl Cuts {
    /// Checks that every pair is an edge: neighbours on a grid, ends of an edge of a mesh.
    pub fn new(
        pairs: &[[usize; 2]],
        columns: Option<usize>,
        particles: usize,
        faces: &[[u32; 3]],
        springs: &[Edge],
        check: &Check,
    ) -> Result<Self, Error> {
        if pairs.is_empty() {
            return Ok(Self::default());
        }
        let known: HashSet<[u32; 2]> = match columns {
            Some(_) => HashSet::new(),
            None => triangles::edges(faces).iter().chain(springs).map(|edge| edge.ends).collect(),
        };
        let mut edges = HashSet::new();
        for (i, pair) in pairs.iter().enumerate() {
            let inside = pair.iter().all(|end| *end < particles);
            let ends = sorted(pair.map(|end| end as u32));
            let is_edge = inside
                && match columns {
                    Some(columns) => apart(columns, ends).iter().max() == Some(&1),
                    None => known.contains(&ends),
                };
            if !is_edge {
                let remedy = "is no edge of this cloth; name two neighbouring particles";
                return Err(check.error(&format!("cuts.{i}"), format!("{pair:?}"), remedy));
            }
            edges.insert(ends);
        }
        Ok(Self { edges, columns })
    }

    /// Whether nothing is cut.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    fn has(&self, a: u32, b: u32) -> bool {
        self.edges.contains(&sorted([a, b]))
    }

    /// Whether the spring between two particles is lost.
    pub fn sever(&self, [a, b]: [u32; 2]) -> bool {
        if self.is_empty() || self.has(a, b) {
            return !self.is_empty();
        }
        let Some(columns) = self.columns else { return false };
        match apart(columns, [a, b]) {
            [1, 1] => {
                let [row, other] = [a, b].map(|i| i - i % columns as u32);
                let [column, beside] = [a, b].map(|i| i % columns as u32);
                let cut_by = |corner: u32| self.has(a, corner) || self.has(corner, b);
                cut_by(row + beside) && cut_by(other + column)
            }
            [down, right] if down.max(right) == 2 => {
                let middle = u32::midpoint(a, b);
                self.sever([a, middle]) || self.sever([middle, b])
            }
            _ => false,
        }
    }

    /// Whether a triangle is lost.
    pub fn open(&self, [a, b, c]: [u32; 3]) -> bool {
        self.has(a, b) || self.has(b, c) || self.has(c, a)
    }

    /// Whether a hinge is lost: one of its two triangles is.
    pub fn unhinge(&self, [a, b, left, right]: [u32; 4]) -> bool {
        self.open([a, b, left]) || self.open([a, b, right])
    }
}
