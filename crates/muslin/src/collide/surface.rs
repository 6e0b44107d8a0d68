//! Triangles to draw a body with.

use crate::model::{Shape, hull};
use glam::{Vec2, Vec3, vec2, vec3};

/// Segments around a round body.
const AROUND: usize = 64;
/// Segments of a quarter circle.
const QUARTER: usize = 16;
/// Half the side of the square drawn for a plane. [m]
const PLANE: f32 = 4.0;

/// A triangle mesh, outside counter-clockwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// In the body's own coordinates. [m]
    pub vertices: Vec<Vec3>,
    /// Corners of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// The surface of a shape at the start of the scene; of a plane, a square around its point.
pub fn of(shape: &Shape) -> Surface {
    at(shape, 0.0)
}

/// The surface of a shape at a time: those of characters move.
pub fn at(shape: &Shape, time: f64) -> Surface {
    match *shape {
        Shape::Character(ref character) => Surface {
            vertices: character.vertices_at(time).iter().map(|v| v.as_vec3()).collect(),
            triangles: character.triangles.clone(),
        },
        Shape::Plane => Surface {
            vertices: [[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]]
                .map(|[x, z]| PLANE * vec3(x, 0.0, z))
                .to_vec(),
            triangles: vec![[0, 1, 2], [0, 2, 3]],
        },
        Shape::Sphere { radius } => turned(&rounded(radius as f32, 0.0)),
        Shape::Capsule { radius, height } => turned(&rounded(radius as f32, 0.5 * height as f32)),
        Shape::Cylinder { radius, height } => {
            let (r, y) = (radius as f32, 0.5 * height as f32);
            turned(&[vec2(0.0, -y), vec2(r, -y), vec2(r, y), vec2(0.0, y)])
        }
        Shape::Cone { radius, height } => {
            let (r, y) = (radius as f32, 0.5 * height as f32);
            turned(&[vec2(0.0, -y), vec2(r, -y), vec2(0.0, y)])
        }
        Shape::Hull { ref points, .. } => {
            let (corners, triangles) = hull(points).unwrap_or_default();
            Surface { vertices: corners.iter().map(|v| v.as_vec3()).collect(), triangles }
        }
        Shape::Mesh { ref vertices, ref triangles, .. } => Surface {
            vertices: vertices.iter().map(|v| v.as_vec3()).collect(),
            triangles: triangles.clone(),
        },
        Shape::Box { size } => {
            let half = 0.5 * size.as_vec3();
            let corner = |i: u32| {
                let sign = |bit: u32| if i & bit == 0 { -1.0 } else { 1.0 };
                half * vec3(sign(1), sign(2), sign(4))
            };
            let faces = [
                [0, 4, 6, 2],
                [1, 3, 7, 5],
                [0, 1, 5, 4],
                [2, 6, 7, 3],
                [0, 2, 3, 1],
                [4, 5, 7, 6],
            ];
            let halves = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
            Surface { vertices: (0..8).map(corner).collect(), triangles: halves.collect() }
        }
    }
}

/// Profile of a capsule from pole to pole; a ball if it has no height.
fn rounded(radius: f32, half_height: f32) -> Vec<Vec2> {
    let quarter = |from: f32, y: f32| {
        (0..=QUARTER).map(move |k| {
            let angle = (from + k as f32 / QUARTER as f32) * std::f32::consts::FRAC_PI_2;
            vec2(radius * libm::cosf(angle).max(0.0), y + radius * libm::sinf(angle))
        })
    };
    let upper = quarter(0.0, half_height).skip(usize::from(half_height == 0.0));
    let mut profile: Vec<Vec2> = quarter(-1.0, -half_height).chain(upper).collect();
    // The poles exactly on the axis.
    for end in [0, profile.len() - 1] {
        profile[end].x = 0.0;
    }
    profile
}

/// Turns a profile in (distance from the axis, y), from bottom to top, about y.
fn turned(profile: &[Vec2]) -> Surface {
    let mut surface = Surface::default();
    let mut rings: Vec<Vec<u32>> = Vec::new();
    for point in profile {
        let count = if point.x == 0.0 { 1 } else { AROUND };
        let first = surface.vertices.len() as u32;
        for k in 0..count {
            let angle = std::f32::consts::TAU * k as f32 / AROUND as f32;
            let around = vec2(libm::cosf(angle), libm::sinf(angle)) * point.x;
            surface.vertices.push(vec3(around.x, point.y, around.y));
        }
        rings.push((0..AROUND as u32).map(|k| first + k % count as u32).collect());
    }
    for pair in rings.windows(2) {
        for k in 0..AROUND {
            let next = (k + 1) % AROUND;
            let [a, b] = [pair[0][k], pair[0][next]];
            let [c, d] = [pair[1][next], pair[1][k]];
            // At a pole one of the two has no area.
            surface.triangles.extend(
                [[a, c, b], [a, d, c]].iter().filter(|[x, y, z]| x != y && y != z && z != x),
            );
        }
    }
    surface
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::shape::distance;
    use glam::dvec3;

    #[test]
    fn vertices_lie_on_the_body_and_triangles_face_outward() {
        let shapes = [
            Shape::Plane,
            Shape::Sphere { radius: 0.4 },
            Shape::Box { size: dvec3(0.6, 0.3, 0.9) },
            Shape::Capsule { radius: 0.2, height: 0.5 },
            Shape::Cylinder { radius: 0.3, height: 0.5 },
            Shape::Cone { radius: 0.3, height: 0.6 },
        ];
        for shape in shapes {
            let Surface { vertices, triangles } = of(&shape);
            for v in &vertices {
                let (d, _) = distance(&shape, v.as_dvec3());
                assert!(d.abs() < 1e-6, "{shape:?}: {v} is {d} off");
            }
            for corners in &triangles {
                let [a, b, c] = corners.map(|i| vertices[i as usize].as_dvec3());
                let normal = (b - a).cross(c - a);
                let above = (a + b + c) / 3.0 + 0.01 * normal.normalize();
                assert!(distance(&shape, above).0 > 0.0, "{shape:?}: {corners:?} faces inward");
            }
        }
    }
}
