//! Irregular triangle meshes with given numbers of vertices, edges and triangles.
//!
//! A triangulated disc with V vertices, B of them on its border, has F = 2 V − 2 − B triangles and E = V + F − 1 edges, whatever
//! the triangulation. So V and F give B, and any triangulation of V − B points inside a circle and B on it has the
//! counts asked for. The points inside lie on a sunflower spiral, which fills a disc evenly for any number and is regular nowhere.

use glam::{DVec2, dvec3};
use muslin::{Cloth, Sheet};

/// A turn by the golden angle. [rad]
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// A round cloth of radius 1 m in the x–z plane, with these numbers of vertices and triangles.
pub fn disc(vertices: usize, triangles: usize) -> Cloth {
    let border = 2 * vertices - 2 - triangles;
    let inside = vertices - border;
    // The spiral ends half a cell inside the border.
    let reach = 1.0 - 0.5 * (std::f64::consts::PI / vertices as f64).sqrt();
    let spiral = (0..inside).map(|i| {
        let radius = reach * ((i as f64 + 0.5) / inside as f64).sqrt();
        radius * DVec2::from_angle(GOLDEN_ANGLE * i as f64)
    });
    let rim =
        (0..border).map(|i| DVec2::from_angle(std::f64::consts::TAU * i as f64 / border as f64));
    let points: Vec<DVec2> = spiral.chain(rim).collect();
    let places: Vec<_> = points.iter().map(|p| delaunator::Point { x: p.x, y: p.y }).collect();
    let corners = delaunator::triangulate(&places).triangles;
    let faces = corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    Sheet::mesh(points.iter().map(|p: &DVec2| dvec3(p.x, 0.0, p.y)).collect(), faces)
}

/// Triangles of a disc of evenly spaced vertices: as many on the border as the spacing inside asks for.
pub fn triangles_of(vertices: usize) -> usize {
    // The border of length 2π at the spacing √(π/V).
    let border = (2.0 * (std::f64::consts::PI * vertices as f64).sqrt()).round() as usize;
    2 * vertices - 2 - border
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_asked_for() {
        for (vertices, edges, triangles) in
            [(148, 404, 257), (405, 1161, 757), (1566, 4590, 3025), (2128, 6231, 4104)]
        {
            let mesh = disc(vertices, triangles).mesh.unwrap();
            assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (vertices, triangles));
            let mut pairs: Vec<_> = (mesh.triangles.iter())
                .flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]].map(|[p, q]| (p.min(q), p.max(q))))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), edges);
        }
    }
}
