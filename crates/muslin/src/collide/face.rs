//! Triangles of cloth against balls that would fit between its particles.
//!
//! In the ball's coordinates the corners of a triangle go from where they are to where they will be in
//! straight lines, and no point of it moves faster than the fastest corner. So with d the distance of the
//! triangle from the ball, d/(fastest corner) of the step is free: conservative advancement as in
//! `sweep.rs`. Where they meet, the plane between them holds for every corner that carries the point
//! that is met.

use super::bodies::{Bodies, Meeting};
use super::skinned::Spot;
use crate::model::{Model, Shape};
use glam::{DVec3, Vec3};

/// Balls are small below this many longest edges.
const SMALL: f64 = 2.0;

/// Advances at most; a triangle that still has not decided then counts as met.
const ADVANCES: usize = 100;

/// Corners that carry less than this share of a point are not held by it.
const SHARE: f64 = 1e-3;

/// The plane that holds for a particle because a triangle of its meets a body.
pub(super) struct Corner {
    pub particle: u32,
    pub collider: u32,
    pub meeting: Meeting,
    /// n · v that ends the step on the plane: of several planes the one with the largest counts. [m/s]
    approach: f64,
}

/// The longest edge of a model's triangles at rest. [m]
pub(super) fn longest_edge(model: &Model) -> f64 {
    let at = |i: u32| model.rest_x[i as usize];
    let edges = model.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    f64::from(edges.map(|[a, b]| at(a).distance(at(b))).fold(0.0, f32::max))
}

/// Corners of all triangles for each small ball.
pub(super) fn most_corners(model: &Model) -> usize {
    let longest = longest_edge(model);
    let small = |shape: &Shape| match shape {
        Shape::Sphere { radius } => *radius <= SMALL * longest,
        _ => false,
    };
    let balls = model.colliders.iter().filter(|body| small(&body.shape)).count();
    3 * balls * model.triangles.len()
}

/// Finds the planes of all triangles whose way from `x` to `end` meets a small ball.
pub(super) fn find(
    bodies: &Bodies<'_>,
    model: &Model,
    longest_edge: f64,
    x: &[Vec3],
    end: &impl Fn(usize) -> Vec3,
    out: &mut Vec<Corner>,
) {
    for (c, body) in bodies.colliders.iter().enumerate() {
        let Shape::Sphere { radius } = body.shape else { continue };
        if radius > SMALL * longest_edge {
            continue;
        }
        let reach = radius + body.thickness;
        for corners in &model.triangles {
            let indices = corners.map(|i| i as usize);
            let own0 = indices.map(|i| bodies.from[c].to_own(x[i].as_dvec3()));
            let own1 = indices.map(|i| bodies.to[c].to_own(end(i).as_dvec3()));
            let Some((n, shares)) =
                first_hit(reach, bodies.close(c, x[indices[0]].as_dvec3()), own0, own1)
            else {
                continue;
            };
            for (k, &particle) in corners.iter().enumerate() {
                if shares[k] < SHARE {
                    continue;
                }
                let own = own0[k] + n * (reach - n.dot(own0[k]));
                let place = bodies.to[c].to_world(own);
                let normal = bodies.to[c].rotation * n;
                let carry = (place - bodies.from[c].to_world(own)) / bodies.h;
                let approach = normal.dot(place - x[particle as usize].as_dvec3()) / bodies.h;
                let own = Spot { at: own, triangle: 0 };
                let meeting = Meeting { normal, place, carry, own, depth: 0.0 };
                out.push(Corner { particle, collider: c as u32, meeting, approach });
            }
        }
    }
    out.sort_unstable_by(|a, b| {
        let keys = (a.particle, a.collider).cmp(&(b.particle, b.collider));
        keys.then(b.approach.total_cmp(&a.approach))
    });
    out.dedup_by_key(|corner| (corner.particle, corner.collider));
}

/// The direction from the ball to the point of the triangle that first comes within `reach` of its
/// centre, and the corners' shares of that point.
fn first_hit(
    reach: f64,
    close: f64,
    from: [DVec3; 3],
    to: [DVec3; 3],
) -> Option<(DVec3, [f64; 3])> {
    let fastest = (0..3).map(|k| from[k].distance(to[k])).fold(0.0, f64::max);
    let mut time = 0.0;
    let mut met = None;
    for _ in 0..ADVANCES {
        let at: [DVec3; 3] = std::array::from_fn(|k| from[k].lerp(to[k], time));
        let shares = nearest_to_origin(at);
        let nearest = shares[0] * at[0] + shares[1] * at[1] + shares[2] * at[2];
        let distance = nearest.length();
        let gap = distance - reach;
        met = Some((nearest / distance.max(f64::MIN_POSITIVE), shares));
        if gap <= close {
            // One that leaves is not met.
            let ahead = (0..3).map(|k| shares[k] * (to[k] - from[k])).sum::<DVec3>();
            return met.filter(|(n, _)| time > 0.0 || n.dot(ahead) < 0.0);
        }
        time += gap / fastest;
        if time.is_nan() || time >= 1.0 {
            return None;
        }
    }
    met
}

/// The shares of the corners in the point of a triangle nearest to the origin (Ericson, Real-Time
/// Collision Detection §5.1.5).
pub(super) fn nearest_to_origin([a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(a), -ac.dot(a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (-ab.dot(b), -ac.dot(b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = d1 / (d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let (d5, d6) = (-ab.dot(c), -ac.dot(c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::dvec3;

    #[test]
    fn no_point_of_the_triangle_is_nearer() {
        for k in 0..2000 {
            let at = |s: f64| (f64::from(k) * s).sin() * 2.0;
            let corners = [
                dvec3(at(0.13), at(0.37), at(0.71)),
                dvec3(at(1.13), at(1.37), at(0.91)),
                dvec3(at(2.13), at(0.47), at(1.71)),
            ];
            let [u, v, w] = nearest_to_origin(corners);
            assert!((u + v + w - 1.0).abs() < 1e-9 && u.min(v).min(w) >= -1e-12);
            let distance = (u * corners[0] + v * corners[1] + w * corners[2]).length();
            for i in 0..=20 {
                for j in 0..=20 - i {
                    let (u, v) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                    let p = u * corners[0] + v * corners[1] + (1.0 - u - v) * corners[2];
                    assert!(distance <= p.length() + 1e-9);
                }
            }
        }
    }

    #[test]
    fn a_triangle_is_met_in_its_middle_however_fast() {
        let corners = [dvec3(-1.0, -1.0, 0.0), dvec3(1.0, -1.0, 0.0), dvec3(0.0, 1.0, 0.0)];
        let from = corners.map(|c| c + 50.0 * DVec3::Z);
        let to = corners.map(|c| c - 50.0 * DVec3::Z);
        let (n, shares) = first_hit(0.1, 1e-9, from, to).unwrap();
        assert!(n.distance(DVec3::Z) < 1e-6 && shares.iter().all(|s| *s > 0.2), "{n} {shares:?}");
        assert!(first_hit(0.1, 1e-9, to.map(|c| c - DVec3::Z), to).is_none());
    }
}
