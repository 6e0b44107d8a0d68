//! Which triangles pass through each other, decided by the signs of exact determinants.
//!
//! Two triangles cross if an edge of one pierces the other or touches it: its ends not on the same side of
//! the plane, and the line passing no two sides of the triangle in opposite ways. Edges with an end in
//! common with the triangle, and triangles in one plane, do not cross.

use glam::Vec3;
use robust::{Coord3D, orient3d};

fn side(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    let exact = |v: Vec3| Coord3D { x: v.x, y: v.y, z: v.z };
    orient3d(exact(a), exact(b), exact(c), exact(d))
}

/// Whether the segment from p to q passes through a triangle.
fn pierces(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    let [above, below] = [side(p, a, b, c), side(q, a, b, c)];
    if (above > 0.0) == (below > 0.0) && (above < 0.0) == (below < 0.0) {
        return false;
    }
    let around = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    around.iter().all(|s| *s >= 0.0) || around.iter().all(|s| *s <= 0.0)
}

/// Whether two triangles, given by their corners, cross.
pub(super) fn cross(first: [u32; 3], second: [u32; 3], x: &[Vec3]) -> bool {
    let one_way = |edges: [u32; 3], triangle: [u32; 3]| {
        (0..3).any(|k| {
            let ends = [edges[k], edges[(k + 1) % 3]];
            let [p, q] = ends.map(|end| x[end as usize]);
            !ends.iter().any(|end| triangle.contains(end))
                && pierces(p, q, triangle.map(|corner| x[corner as usize]))
        })
    };
    one_way(first, second) || one_way(second, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::vec3;

    #[test]
    fn triangles_cross_where_an_edge_pierces() {
        let floor = [vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0)];
        let needle = [vec3(0.2, -1.0, 0.2), vec3(0.2, 1.0, 0.2), vec3(0.3, 1.0, 0.3)];
        let x = |shift: f32| -> Vec<Vec3> {
            floor.into_iter().chain(needle.map(|p| p + shift * Vec3::X)).collect()
        };
        assert!(cross([0, 1, 2], [3, 4, 5], &x(0.0)));
        assert!(cross([3, 4, 5], [2, 0, 1], &x(0.5)));
        assert!(!cross([0, 1, 2], [3, 4, 5], &x(0.9)));
        // One unit in the last place decides.
        let above = |y: f32| -> Vec<Vec3> {
            floor
                .into_iter()
                .chain([vec3(0.2, y, 0.2), vec3(0.2, 1.0, 0.2), vec3(0.3, 1.0, 0.3)])
                .collect()
        };
        assert!(!cross([0, 1, 2], [3, 4, 5], &above(f32::MIN_POSITIVE)));
        assert!(cross([0, 1, 2], [3, 4, 5], &above(-f32::MIN_POSITIVE)));
    }
}
