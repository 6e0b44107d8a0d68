//! Distances along a surface.
//!
//! Fast marching (Kimmel & Sethian 1998) in order of distance: a vertex is reached along an edge, or
//! across a triangle A B C from two known distances. With A at the origin and B at (c, 0) they put the
//! source at
//!
//! ```text
//!   s = ((a² − b² + c²)/2c,  −√(a² − s_x²)),        d = |C − s|  if the line crosses A B
//! ```
//!
//! which is exact on a flat piece that the line does not leave.

use glam::{DVec3, Vec3};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A surface at rest: its edges and triangles by vertex.
pub struct Surface<'a> {
    x: &'a [Vec3],
    neighbours: Vec<Vec<u32>>,
    triangles: Vec<Vec<[u32; 2]>>,
}

/// How far a vertex is from the nearest source, and which that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// Along the surface; infinite where no way leads. [m]
    pub distance: f64,
    /// The source.
    pub source: u32,
}

impl<'a> Surface<'a> {
    /// Vertices at `x`, joined by edges and triangles.
    pub fn new(
        x: &'a [Vec3],
        edges: impl Iterator<Item = [u32; 2]>,
        triangles: &[[u32; 3]],
    ) -> Self {
        let mut neighbours = vec![Vec::new(); x.len()];
        let mut of_vertex = vec![Vec::new(); x.len()];
        let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        for [a, b] in edges.chain(sides) {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        for &[a, b, c] in triangles {
            for (vertex, others) in [(a, [b, c]), (b, [c, a]), (c, [a, b])] {
                of_vertex[vertex as usize].push(others);
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Self { x, neighbours, triangles: of_vertex }
    }

    /// Vertices next to one.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.neighbours[vertex as usize]
    }

    fn at(&self, vertex: u32) -> DVec3 {
        self.x[vertex as usize].as_dvec3()
    }

    /// Distances of all vertices from the nearest of the sources.
    pub fn distances(&self, sources: &[u32]) -> Vec<Reached> {
        let far = Reached { distance: f64::INFINITY, source: u32::MAX };
        let mut reached = vec![far; self.x.len()];
        let mut settled = vec![false; self.x.len()];
        let (mut heap, mut candidates) = (BinaryHeap::new(), Vec::new());
        for &source in sources {
            reached[source as usize] = Reached { distance: 0.0, source };
            heap.push(Next { distance: 0.0, vertex: source });
        }
        while let Some(Next { vertex, .. }) = heap.pop() {
            if std::mem::replace(&mut settled[vertex as usize], true) {
                continue;
            }
            let here = reached[vertex as usize];
            let step = |to: u32| here.distance + self.at(vertex).distance(self.at(to));
            candidates.clear();
            candidates.extend(self.neighbours(vertex).iter().map(|&to| (to, step(to))));
            let sides = self.triangles[vertex as usize].iter().flat_map(|&[a, b]| [[a, b], [b, a]]);
            for [other, to] in sides {
                let there = reached[other as usize];
                // From two sources the line would come from between them.
                if settled[other as usize] && there.source == here.source {
                    let known = [(vertex, here.distance), (other, there.distance)];
                    candidates.extend(self.across(known, to).map(|distance| (to, distance)));
                }
            }
            for &(vertex, distance) in &candidates {
                if !settled[vertex as usize] && distance < reached[vertex as usize].distance {
                    reached[vertex as usize] = Reached { distance, source: here.source };
                    heap.push(Next { distance, vertex });
                }
            }
        }
        reached
    }

    /// The distance of `to` by a straight line across the edge between two vertices of known distance.
    fn across(&self, [(from, a), (other, b)]: [(u32, f64); 2], to: u32) -> Option<f64> {
        let origin = self.at(from);
        let (edge, corner) = (self.at(other) - origin, self.at(to) - origin);
        let c = edge.length();
        if c == 0.0 {
            return None;
        }
        let along = corner.dot(edge) / c;
        let height = (corner.length_squared() - along * along).max(0.0).sqrt();
        let sx = (a * a - b * b + c * c) / (2.0 * c);
        let sy = (a * a - sx * sx).max(0.0).sqrt();
        let crossing = sx + (along - sx) * sy / (sy + height);
        // A source on the edge's own line is seen through its nearer end.
        let slack = 1e-9 * c;
        (crossing >= -slack && crossing <= c + slack).then(|| (along - sx).hypot(height + sy))
    }
}

/// A vertex to look at, nearest first.
struct Next {
    distance: f64,
    vertex: u32,
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(other.vertex.cmp(&self.vertex))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::vec3;

    /// A strip of n × m squares, rolled up around the y axis with radius `r` (flat if infinite).
    fn strip(n: usize, m: usize, r: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let place = |i: usize| {
            let (s, y) = ((i % n) as f32 * 0.1, (i / n) as f32 * 0.1);
            if r.is_finite() {
                vec3(r * (s / r).sin(), y, r * (s / r).cos())
            } else {
                vec3(s, y, 0.0)
            }
        };
        let mut triangles = Vec::new();
        for i in (0..n * m - n).filter(|i| i % n + 1 < n) {
            let [a, b, c, d] = [i, i + 1, i + n, i + n + 1].map(|v| v as u32);
            triangles.extend([[a, b, c], [b, d, c]]);
        }
        ((0..n * m).map(place).collect(), triangles)
    }

    #[test]
    fn distances_are_straight_on_a_flat_sheet_and_follow_a_rolled_one() {
        for r in [f32::INFINITY, 0.7] {
            let (x, triangles) = strip(20, 17, r);
            let (flat, _) = strip(20, 17, f32::INFINITY);
            let surface = Surface::new(&x, std::iter::empty(), &triangles);
            for source in [0u32, 47, 339] {
                for (i, reached) in surface.distances(&[source]).iter().enumerate() {
                    let expected = f64::from(flat[i].distance(flat[source as usize]));
                    let off = (reached.distance - expected).abs();
                    assert!(off <= 0.012 * expected + 1e-6, "{source} {i}: {reached:?} {expected}");
                    assert_eq!(reached.source, source);
                }
            }
        }
    }

    #[test]
    fn a_hole_is_gone_around_and_what_is_apart_is_not_reached() {
        let (x, mut triangles) = strip(20, 17, f32::INFINITY);
        // Cut between rows 8 and 9 but for the last square.
        triangles.retain(|t| {
            let rows = t.map(|v| v as usize / 20);
            let crosses = rows.contains(&8) && rows.contains(&9);
            !crosses || t.iter().any(|v| v % 20 == 19)
        });
        let surface = Surface::new(&x, std::iter::empty(), &triangles);
        let around = surface.distances(&[0])[9 * 20].distance;
        assert!(around > 3.5, "{around}");
        triangles.retain(|t| {
            let rows = t.map(|v| v as usize / 20);
            !(rows.contains(&8) && rows.contains(&9))
        });
        let surface = Surface::new(&x, std::iter::empty(), &triangles);
        assert!(surface.distances(&[0])[9 * 20].distance.is_infinite());
    }

    #[test]
    fn the_nearest_source_is_named() {
        let (x, triangles) = strip(20, 3, f32::INFINITY);
        let surface = Surface::new(&x, std::iter::empty(), &triangles);
        let reached = surface.distances(&[0, 19]);
        assert_eq!((reached[3].source, reached[16].source), (0, 19));
    }
}
