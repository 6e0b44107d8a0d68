//! The parts of a body that fit between the particles of a cloth: small balls, rods, corners and tips.
//!
//! Each is the line between two points, or one point, with a radius. A corner of half-angle α goes into a
//! triangle whose corners rest on its sides by ρ cot α, ρ = L/√3 for edges of length L; one that goes in by
//! less than the thickness, as the corners of a finely meshed ball do, needs no attention.

use crate::model::{Collider, Shape, hull};
use glam::{DVec3, dvec3};
use std::collections::BTreeMap;

/// Balls are small below this many longest edges.
const SMALL: f64 = 2.0;

/// Rods are thin below this many longest edges across.
const THIN: f64 = 1.0;

/// Edges of a thin body count where its sides turn by more than this; its cosine.
const SHARP: f64 = 0.87;

/// A point or a line of a body, and what is around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Feature {
    /// In the body's coordinates; twice the same for a point. [m]
    pub ends: [DVec3; 2],
    /// [m]
    pub radius: f64,
    /// Away from the body; zero where it has no other side.
    pub outward: DVec3,
}

impl Feature {
    fn ball(at: DVec3, radius: f64) -> Self {
        Self::rod([at; 2], radius)
    }

    fn rod(ends: [DVec3; 2], radius: f64) -> Self {
        Self { ends, radius, outward: DVec3::ZERO }
    }

    fn corner(at: DVec3, outward: DVec3) -> Self {
        Self { ends: [at; 2], radius: 0.0, outward }
    }

    /// Whether it is a point without a radius.
    pub fn is_corner(&self) -> bool {
        self.radius == 0.0 && self.ends[0] == self.ends[1]
    }
}

/// The features of a body that are finer than a cloth with edges up to `longest`.
pub(super) fn of(body: &Collider, longest: f64) -> Vec<Feature> {
    let along = |y: f64| [dvec3(0.0, y, 0.0), dvec3(0.0, -y, 0.0)];
    match &body.shape {
        Shape::Sphere { radius } if *radius <= SMALL * longest => {
            vec![Feature::ball(DVec3::ZERO, *radius)]
        }
        Shape::Capsule { radius, height } if 2.0 * radius <= THIN * longest => {
            vec![Feature::rod(along(0.5 * height), *radius)]
        }
        Shape::Capsule { radius, height } if *radius <= SMALL * longest => {
            along(0.5 * height).map(|end| Feature::ball(end, *radius)).to_vec()
        }
        Shape::Cylinder { radius, height } if 2.0 * radius <= THIN * longest => {
            let inner = radius.min(0.5 * height);
            vec![Feature::rod(along(0.5 * height - inner), inner)]
        }
        Shape::Cone { radius, height } => {
            let [tip, base] = along(0.5 * height);
            if 2.0 * radius <= THIN * longest {
                return vec![Feature::rod([tip, base], 0.0)];
            }
            let goes_in = longest / 3.0f64.sqrt() * height / radius;
            let is_sharp = goes_in > body.thickness;
            Vec::from_iter(is_sharp.then_some(Feature::corner(tip, DVec3::Y)))
        }
        Shape::Box { size } => {
            let half = 0.5 * *size;
            let corner = |i: u32| {
                let sign = |bit: u32| if i & bit == 0 { -1.0 } else { 1.0 };
                half * dvec3(sign(1), sign(2), sign(4))
            };
            let corners: Vec<DVec3> = (0..8).map(corner).collect();
            match hull(&corners) {
                Some((corners, triangles)) => of_mesh(&corners, &triangles, body, longest),
                None => Vec::new(),
            }
        }
        Shape::Hull { points, .. } => match hull(points) {
            Some((corners, triangles)) => of_mesh(&corners, &triangles, body, longest),
            None => Vec::new(),
        },
        Shape::Mesh { vertices, triangles, solid, .. } if !solid.is_open() => {
            of_mesh(vertices, triangles, body, longest)
        }
        _ => Vec::new(),
    }
}

/// Sharp corners of a closed mesh; if it is thin its sharp edges as well.
fn of_mesh(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    body: &Collider,
    longest: f64,
) -> Vec<Feature> {
    let at = |i: u32| vertices[i as usize];
    let volume: f64 = triangles.iter().map(|&[a, b, c]| at(a).dot(at(b).cross(at(c)))).sum();
    let normal = |&[a, b, c]: &[u32; 3]| {
        volume.signum() * (at(b) - at(a)).cross(at(c) - at(a)).normalize_or_zero()
    };
    let mut outward = vec![DVec3::ZERO; vertices.len()];
    let mut edges: BTreeMap<[u32; 2], Vec<DVec3>> = BTreeMap::new();
    for corners in triangles {
        let n = normal(corners);
        for k in 0..3 {
            let [a, b, c] = [corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]];
            let (ab, ac) = (at(b) - at(a), at(c) - at(a));
            outward[a as usize] += libm::atan2(ab.cross(ac).length(), ab.dot(ac)) * n;
            edges.entry([a.min(b), a.max(b)]).or_default().push(n);
        }
    }
    // How steeply the flattest edge at a vertex goes down.
    let mut slope = vec![f64::INFINITY; vertices.len()];
    for &[a, b] in edges.keys() {
        for [from, to] in [[a, b], [b, a]] {
            let axis = outward[from as usize].normalize_or_zero();
            let edge = at(to) - at(from);
            let down = -edge.dot(axis);
            let across = (edge + down * axis).length().max(f64::MIN_POSITIVE);
            slope[from as usize] = slope[from as usize].min(down / across);
        }
    }
    let goes_in =
        |i: usize| slope[i].is_finite() && slope[i] * longest / 3.0f64.sqrt() > body.thickness;
    let corners = (0..vertices.len()).filter(|i| goes_in(*i));
    let corners = corners.map(|i| Feature::corner(vertices[i], outward[i].normalize_or_zero()));
    let mut all: Vec<Feature> = corners.collect();
    if is_thin(vertices, longest) {
        let sharp = edges.iter().filter(|(_, n)| n.len() == 2 && n[0].dot(n[1]) < SHARP);
        all.extend(sharp.map(|(&[a, b], n)| Feature {
            ends: [at(a), at(b)],
            radius: 0.0,
            outward: (n[0] + n[1]).normalize_or_zero(),
        }));
    }
    all
}

/// Whether points lie within a rod: two of their three extents are small.
fn is_thin(points: &[DVec3], longest: f64) -> bool {
    let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let mut extents = (high - low).to_array();
    extents.sort_unstable_by(f64::total_cmp);
    extents[1] <= THIN * longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pose, Solid};

    fn body(shape: Shape) -> Collider {
        let (name, start) = (String::new(), Pose::default());
        Collider { name, shape, start, path: Vec::new(), friction: 0.0, thickness: 0.005 }
    }

    #[test]
    fn corners_that_fit_between_particles_are_found() {
        let count = |shape: Shape| of(&body(shape), 0.1).len();
        assert_eq!(count(Shape::Box { size: dvec3(1.0, 2.0, 3.0) }), 8);
        // Thin: its twelve edges too.
        assert_eq!(count(Shape::Box { size: dvec3(0.02, 2.0, 0.02) }), 20);
        assert_eq!(count(Shape::Cone { radius: 0.3, height: 0.5 }), 1);
        assert_eq!(count(Shape::Cone { radius: 0.3, height: 0.01 }), 0);
        assert_eq!(count(Shape::Capsule { radius: 0.01, height: 1.0 }), 1);
        assert_eq!(count(Shape::Capsule { radius: 0.15, height: 1.0 }), 2);
        assert_eq!(count(Shape::Cylinder { radius: 0.5, height: 1.0 }), 0);
        let mesh = |shape: &Shape| {
            let drawn = crate::collide::surface::of(shape);
            let vertices: Vec<DVec3> = drawn.vertices.iter().map(|v| v.as_dvec3()).collect();
            let solid = Solid::new(&vertices, &drawn.triangles).unwrap();
            Shape::Mesh { vertices, triangles: drawn.triangles, file: None, solid }
        };
        // A ball of triangles has no corner that matters; a box has eight, however it is turned out.
        assert_eq!(count(mesh(&Shape::Sphere { radius: 0.3 })), 0);
        assert_eq!(count(mesh(&Shape::Box { size: DVec3::ONE })), 8);
        for corner in of(&body(mesh(&Shape::Box { size: DVec3::ONE })), 0.1) {
            assert!(corner.outward.dot(corner.ends[0].normalize()) > 0.999, "{corner:?}");
        }
    }
}
