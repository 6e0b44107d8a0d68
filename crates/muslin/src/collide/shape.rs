//! Signed distance to a body and its direction, in the body's own coordinates.
//!
//! The distance is exact everywhere outside, so a ball of that radius around the point is free: that
//! is what makes the sweep of `sweep.rs` conservative.

use crate::model::Shape;
use glam::{DVec2, DVec3, dvec2};

/// Distance to the surface, negative inside, and the unit direction away from the body. [m]
pub fn distance(shape: &Shape, p: DVec3) -> (f64, DVec3) {
    match *shape {
        Shape::Plane => (p.y, DVec3::Y),
        Shape::Sphere { radius } => ball(p, radius),
        Shape::Box { size } => cuboid(p, 0.5 * size),
        Shape::Capsule { radius, height } => {
            let on_axis = DVec3::Y * p.y.clamp(-0.5 * height, 0.5 * height);
            ball(p - on_axis, radius)
        }
        Shape::Cylinder { radius, height } => turned(p, |q| {
            let corner = dvec2(radius, 0.5 * height);
            let (d, n) = cuboid(q.extend(0.0), corner.extend(f64::INFINITY));
            (d, n.truncate())
        }),
        Shape::Cone { radius, height } => turned(p, |q| cone_profile(q, radius, height)),
        Shape::Hull { ref solid, .. } | Shape::Mesh { ref solid, .. } => solid.distance(p),
        // Where its surface is changes with time: `Skinned` knows.
        Shape::Character(_) => (f64::INFINITY, DVec3::Y),
    }
}

/// Whether a body is a sheet without an inside.
pub fn is_open(shape: &Shape) -> bool {
    matches!(shape, Shape::Mesh { solid, .. } if solid.is_open())
}

fn ball(p: DVec3, radius: f64) -> (f64, DVec3) {
    let r = p.length();
    (r - radius, if r > 0.0 { p / r } else { DVec3::Y })
}

fn cuboid(p: DVec3, half: DVec3) -> (f64, DVec3) {
    let beyond = p - p.clamp(-half, half);
    if beyond != DVec3::ZERO {
        let d = beyond.length();
        return (d, beyond / d);
    }
    // Inside, the nearest face.
    let depth = half - p.abs();
    let axis = (0..3).fold(0, |best, axis| if depth[axis] < depth[best] { axis } else { best });
    (-depth[axis], DVec3::AXES[axis] * if p[axis] < 0.0 { -1.0 } else { 1.0 })
}

/// A solid of revolution about y from its profile in (distance from the axis, y).
fn turned(p: DVec3, profile: impl Fn(DVec2) -> (f64, DVec2)) -> (f64, DVec3) {
    let outward = DVec3::new(p.x, 0.0, p.z);
    let r = outward.length();
    let outward = if r > 0.0 { outward / r } else { DVec3::X };
    let (d, n) = profile(dvec2(r, p.y));
    (d, n.x * outward + n.y * DVec3::Y)
}

fn cone_profile(q: DVec2, radius: f64, height: f64) -> (f64, DVec2) {
    let (rim, tip) = (dvec2(radius, -0.5 * height), dvec2(0.0, 0.5 * height));
    let side = dvec2(height, radius).normalize();
    let along = tip - rim;
    let share = ((q - rim).dot(along) / along.length_squared()).clamp(0.0, 1.0);
    let on_side = rim + share * along;
    let on_base = dvec2(q.x.min(radius), -0.5 * height);
    let inside = (q - rim).dot(side) <= 0.0 && q.y >= -0.5 * height;
    let nearest =
        if q.distance_squared(on_side) < q.distance_squared(on_base) { on_side } else { on_base };
    let away = q - nearest;
    let d = away.length();
    if inside {
        let normal = if nearest == on_base { DVec2::NEG_Y } else { side };
        return (-d, normal);
    }
    (d, if d > 0.0 { away / d } else { side })
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::dvec3;

    fn shapes() -> Vec<Shape> {
        vec![
            Shape::Plane,
            Shape::Sphere { radius: 0.4 },
            Shape::Box { size: dvec3(0.6, 0.3, 0.9) },
            Shape::Capsule { radius: 0.2, height: 0.5 },
            Shape::Cylinder { radius: 0.3, height: 0.5 },
            Shape::Cone { radius: 0.3, height: 0.6 },
        ]
    }

    /// Points of a lattice around the bodies, off their planes of symmetry.
    fn points() -> impl Iterator<Item = DVec3> {
        let at = |i: i32| 0.0137 + 0.11 * f64::from(i);
        let grid = (-8..8).flat_map(|i| (-8..8).map(move |j| (i, j)));
        grid.flat_map(move |(i, j)| (-8..8).map(move |k| dvec3(at(i), at(j), at(k))))
    }

    #[test]
    fn one_distance_along_the_direction_lies_the_surface() {
        for shape in shapes() {
            for p in points() {
                let (d, n) = distance(&shape, p);
                assert!((n.length() - 1.0).abs() < 1e-12);
                let (left, _) = distance(&shape, p - d * n);
                assert!(left.abs() < 1e-9, "{shape:?} at {p}: {d} then {left}");
            }
        }
    }

    #[test]
    fn the_direction_is_the_gradient() {
        for shape in shapes() {
            for p in points() {
                let (d, n) = distance(&shape, p);
                let step = 1e-7;
                let gradient = dvec3(
                    distance(&shape, p + step * DVec3::X).0 - d,
                    distance(&shape, p + step * DVec3::Y).0 - d,
                    distance(&shape, p + step * DVec3::Z).0 - d,
                ) / step;
                // Half-way between two faces there is none.
                if (gradient.length() - 1.0).abs() < 1e-3 {
                    assert!(gradient.distance(n) < 1e-2, "{shape:?} at {p}: {gradient} and {n}");
                }
            }
        }
    }

    #[test]
    fn degenerate_places_have_a_direction() {
        for shape in shapes() {
            for p in [DVec3::ZERO, dvec3(0.0, 0.3, 0.0), dvec3(0.0, -0.3, 0.0)] {
                let (d, n) = distance(&shape, p);
                assert!(d.is_finite() && (n.length() - 1.0).abs() < 1e-12, "{shape:?} at {p}");
            }
        }
    }
}
