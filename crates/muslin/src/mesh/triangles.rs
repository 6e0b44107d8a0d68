//! Edges and hinges of a triangle mesh.

use std::collections::BTreeMap;

/// An edge with the triangles on it: the vertices opposite to it, one or two for a manifold mesh.
pub struct Edge {
    /// The ends, lower index first.
    pub ends: [u32; 2],
    /// `(opposite vertex, triangle)` of each triangle on the edge.
    pub sides: Vec<(u32, u32)>,
}

/// All edges, ordered by their ends.
pub fn edges(triangles: &[[u32; 3]]) -> Vec<Edge> {
    let mut map: BTreeMap<[u32; 2], Vec<(u32, u32)>> = BTreeMap::new();
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        for (i, j, opposite) in [(a, b, c), (b, c, a), (c, a, b)] {
            map.entry([i.min(j), i.max(j)]).or_default().push((opposite, t as u32));
        }
    }
    map.into_iter().map(|(ends, sides)| Edge { ends, sides }).collect()
}
