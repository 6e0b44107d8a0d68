//! What is constant about the surface of a character: how its triangles hang together, and a tree over
//! them. Where they are changes with every step; `collide/skinned.rs` keeps that.

use super::solid::{is_closed, volume};
use crate::mesh::Incidence;
use glam::DVec3;
use std::collections::HashMap;
use std::sync::Arc;

/// Triangles of a leaf of the tree at most.
const LEAF: usize = 4;

/// The surface of a character; empty in a scene that is not compiled.
#[derive(Clone, Default)]
pub struct Skin(Option<Arc<Facets>>);

/// Triangles and their tree.
#[derive(Debug)]
pub struct Facets {
    /// Corners, outward if it is closed.
    pub triangles: Vec<[u32; 3]>,
    /// The triangle across the edge from each corner to the next; itself where there is none.
    pub across: Vec<[u32; 3]>,
    /// Triangles of each vertex.
    pub members: Incidence,
    /// Whether it has an inside.
    pub closed: bool,
    /// Triangles as the leaves of the tree have them.
    pub order: Vec<u32>,
    /// Nodes, each before its children.
    pub nodes: Vec<Node>,
}

/// A node of the tree. The left child of an inner node is the next one.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The right child; 0 for a leaf.
    pub right: u32,
    /// A leaf's triangles in `order`.
    pub first: u32,
    /// How many; 0 for an inner node.
    pub count: u32,
}

/// Made from the character, which is compared.
impl PartialEq for Skin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Skin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Skin({} triangles)", self.0.as_ref().map_or(0, |s| s.triangles.len()))
    }
}

impl Skin {
    /// The surface of triangles whose vertices start at these places; `None` if none of them has an area.
    pub fn new(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Option<Self> {
        let area = |corners: &&[u32; 3]| {
            let [a, b, c] = corners.map(|i| vertices[i as usize]);
            (b - a).cross(c - a) != DVec3::ZERO
        };
        triangles.iter().find(area)?;
        // Those without an area now may have one later.
        let distinct = |&&[a, b, c]: &&[u32; 3]| a != b && b != c && c != a;
        let mut triangles: Vec<[u32; 3]> = triangles.iter().filter(distinct).copied().collect();
        let closed = is_closed(&triangles);
        if closed && volume(vertices, &triangles) < 0.0 {
            triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
        }
        let middle = |t: u32| triangles[t as usize].iter().map(|i| vertices[*i as usize]).sum();
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut nodes = Vec::new();
        split(&mut order, 0, &middle, &mut nodes);
        Some(Self(Some(Arc::new(Facets {
            across: neighbours(&triangles),
            members: Incidence::new(&triangles, vertices.len()),
            closed,
            order,
            nodes,
            triangles,
        }))))
    }

    /// The surface of a compiled character.
    pub fn facets(&self) -> Option<&Arc<Facets>> {
        self.0.as_ref()
    }
}

fn neighbours(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let edges = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
    let mut of_edge = HashMap::new();
    for (t, corners) in triangles.iter().enumerate() {
        for edge in edges(corners) {
            of_edge.insert(edge, t as u32);
        }
    }
    let across = |t: usize, [a, b]: [u32; 2]| of_edge.get(&[b, a]).copied().unwrap_or(t as u32);
    (triangles.iter().enumerate())
        .map(|(t, corners)| edges(corners).map(|edge| across(t, edge)))
        .collect()
}

/// Halves triangles by the middle one along the widest axis, until few are left.
fn split(order: &mut [u32], first: u32, middle: &impl Fn(u32) -> DVec3, nodes: &mut Vec<Node>) {
    let own = nodes.len();
    nodes.push(Node { right: 0, first, count: order.len() as u32 });
    if order.len() <= LEAF {
        return;
    }
    let low = order.iter().map(|t| middle(*t)).fold(DVec3::INFINITY, DVec3::min);
    let high = order.iter().map(|t| middle(*t)).fold(DVec3::NEG_INFINITY, DVec3::max);
    let axis = (high - low).max_position();
    let half = order.len() / 2;
    // Ties by number, so that the tree is the same everywhere.
    order.select_nth_unstable_by(half, |a, b| {
        middle(*a)[axis].total_cmp(&middle(*b)[axis]).then(a.cmp(b))
    });
    let (left, right) = order.split_at_mut(half);
    split(left, first, middle, nodes);
    nodes[own] = Node { right: nodes.len() as u32, first, count: 0 };
    split(right, first + half as u32, middle, nodes);
}
