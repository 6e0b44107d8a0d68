//! Triangles of cloth against parts of bodies that would fit between its particles.
//!
//! In the body's coordinates the corners of a triangle go from where they are to where they will be in
//! straight lines, and no point of it moves faster than the fastest corner. So with d the distance of the
//! triangle from the part, d/(fastest corner) of the step is free: conservative advancement as in
//! `sweep.rs`. Where they meet, the plane between them holds for every corner that carries the point
//! that is met.

use super::bodies::{Bodies, Meeting};
use super::feature::Feature;
use super::skinned::Spot;
use crate::model::Model;
use glam::{DVec3, Vec3};

/// Advances at most; a triangle that still has not decided then counts as met.
const ADVANCES: usize = 100;

/// Corners that carry less than this share of a point are not held by it.
const SHARE: f64 = 1e-3;

/// Only triangles ahead of a corner, by this cosine at least, are stopped by it; others by the sides.
const AHEAD: f64 = 0.3;

/// Corners stop triangles at this share of the thickness. At all of it they would act beside the
/// sides, which stop particles there, and pull cloth that is squeezed by them to and fro.
const SHARP_SHARE: f64 = 0.2;

/// The plane that holds for a particle because a triangle of its meets a body.
pub(super) struct Corner {
    pub particle: u32,
    pub collider: u32,
    pub meeting: Meeting,
    /// Whether a corner is met, or an edge: then the sides, which the particle meets later, do not count.
    pub sharp: bool,
    /// Whether a rod is met.
    pub along: bool,
    /// n · v that ends the step on the plane: of several planes the one with the largest counts. [m/s]
    approach: f64,
}

/// The longest edge of a model's triangles at rest. [m]
pub(super) fn longest_edge(model: &Model) -> f64 {
    let at = |i: u32| model.rest_x[i as usize];
    let edges = model.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    f64::from(edges.map(|[a, b]| at(a).distance(at(b))).fold(0.0, f32::max))
}

/// Finds the planes of all triangles whose way from `x` to `end` meets a feature, for each body.
pub(super) fn find(
    bodies: &Bodies<'_>,
    model: &Model,
    features: &[Vec<Feature>],
    x: &[Vec3],
    end: &impl Fn(usize) -> Vec3,
    out: &mut Vec<Corner>,
) {
    for (c, body) in bodies.colliders.iter().enumerate().filter(|(c, _)| !features[*c].is_empty()) {
        let [low, high] = bounds(&features[c], body.thickness);
        let [world_low, world_high] = swept(bodies, c, [low, high]);
        for corners in &model.triangles {
            let indices = corners.map(|i| i as usize);
            let places = || indices.into_iter().flat_map(|i| [x[i], end(i)]);
            let lowest = places().fold(Vec3::INFINITY, Vec3::min).as_dvec3();
            let highest = places().fold(Vec3::NEG_INFINITY, Vec3::max).as_dvec3();
            if !(lowest.cmple(world_high) & highest.cmpge(world_low)).all() {
                continue;
            }
            let own0 = indices.map(|i| bodies.from[c].to_own(x[i].as_dvec3()));
            let own1 = indices.map(|i| bodies.to[c].to_own(end(i).as_dvec3()));
            let close = bodies.close(c, x[indices[0]].as_dvec3());
            let places = || own0.iter().chain(&own1).copied();
            let lowest = places().fold(DVec3::INFINITY, DVec3::min) - close;
            let highest = places().fold(DVec3::NEG_INFINITY, DVec3::max) + close;
            if !(lowest.cmple(high) & highest.cmpge(low)).all() {
                continue;
            }
            let hits = features[c].iter().filter_map(|feature| {
                let share = if feature.is_corner() { SHARP_SHARE } else { 1.0 };
                let reach = feature.radius + share * body.thickness;
                let [p, q] = feature.ends;
                let beside = highest.cmplt(p.min(q) - reach) | lowest.cmpgt(p.max(q) + reach);
                if beside.any() {
                    return None;
                }
                first_hit(feature, reach, close, own0, own1)
            });
            let Some(Hit { n, shares, plane, sharp, along, .. }) =
                hits.min_by(|a, b| a.time.total_cmp(&b.time))
            else {
                continue;
            };
            for (k, &particle) in corners.iter().enumerate() {
                if shares[k] < SHARE && !along {
                    continue;
                }
                let own = own0[k] + n * (plane - n.dot(own0[k]));
                let place = bodies.to[c].to_world(own);
                let normal = bodies.to[c].rotation * n;
                let carry = (place - bodies.from[c].to_world(own)) / bodies.h;
                let approach = normal.dot(place - x[particle as usize].as_dvec3()) / bodies.h;
                let own = Spot { at: own, triangle: 0 };
                let meeting = Meeting { normal, place, carry, own, depth: 0.0 };
                out.push(Corner { particle, collider: c as u32, meeting, sharp, along, approach });
            }
        }
    }
    out.sort_unstable_by(|a, b| {
        let keys = (a.particle, a.collider).cmp(&(b.particle, b.collider));
        keys.then(b.approach.total_cmp(&a.approach))
    });
    out.dedup_by_key(|corner| (corner.particle, corner.collider));
}

/// The box around features, grown by a thickness.
fn bounds(features: &[Feature], thickness: f64) -> [DVec3; 2] {
    let ends = || features.iter().flat_map(|f| f.ends.map(|end| (end, f.radius + thickness)));
    [
        ends().map(|(end, r)| end - r).fold(DVec3::INFINITY, DVec3::min),
        ends().map(|(end, r)| end + r).fold(DVec3::NEG_INFINITY, DVec3::max),
    ]
}

/// The box around a box of body `c` during the step, in the world: around both ends, and as much larger as
/// its corners move, for it may turn.
fn swept(bodies: &Bodies<'_>, c: usize, [low, high]: [DVec3; 2]) -> [DVec3; 2] {
    let corner = |i: u32| {
        let pick = |bit: u32, axis: usize| if i & bit == 0 { low[axis] } else { high[axis] };
        DVec3::new(pick(1, 0), pick(2, 1), pick(4, 2))
    };
    let ways =
        (0..8).map(corner).map(|own| [bodies.from[c].to_world(own), bodies.to[c].to_world(own)]);
    let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY, 0.0f64);
    let (low, high, way) = ways.fold(empty, |(low, high, way), [from, to]| {
        (low.min(from).min(to), high.max(from).max(to), way.max(from.distance(to)))
    });
    let margin = way + bodies.close(c, low).max(bodies.close(c, high));
    [low - margin, high + margin]
}

/// Where a triangle meets a feature.
struct Hit {
    /// Share of the step that is over.
    time: f64,
    /// From the feature to the point of the triangle.
    n: DVec3,
    /// The corners' shares of that point.
    shares: [f64; 3],
    /// n · x of the plane. [m]
    plane: f64,
    sharp: bool,
    /// Whether it is a line, which the whole triangle may lie along.
    along: bool,
}

/// Where a triangle first comes within `reach` of a feature's axis.
fn first_hit(
    feature: &Feature,
    reach: f64,
    close: f64,
    from: [DVec3; 3],
    to: [DVec3; 3],
) -> Option<Hit> {
    let fastest = (0..3).map(|k| from[k].distance(to[k])).fold(0.0, f64::max);
    let mut time = 0.0;
    let mut met = None;
    for _ in 0..ADVANCES {
        let at: [DVec3; 3] = std::array::from_fn(|k| from[k].lerp(to[k], time));
        let (q, shares) = nearest(feature.ends, at);
        let away = shares[0] * at[0] + shares[1] * at[1] + shares[2] * at[2] - q;
        let distance = away.length();
        let gap = distance - reach;
        let n = away / distance.max(f64::MIN_POSITIVE);
        let is_ahead = feature.outward == DVec3::ZERO || n.dot(feature.outward) > AHEAD;
        let (sharp, along) = (feature.radius == 0.0, feature.ends[0] != feature.ends[1]);
        met = Some(Hit { time, n, shares, plane: reach + n.dot(q), sharp, along });
        if gap <= close {
            // One that leaves is not met.
            let ahead = (0..3).map(|k| shares[k] * (to[k] - from[k])).sum::<DVec3>();
            return met.filter(|hit| is_ahead && (time > 0.0 || hit.n.dot(ahead) < 0.0));
        }
        time += gap / fastest;
        if time.is_nan() || time >= 1.0 {
            return None;
        }
    }
    met
}

/// The point of a line nearest to a triangle, and the corners' shares of the triangle's point nearest to
/// it. It is that of an end and the triangle or of the line and an edge, unless the line goes through.
fn nearest([p, q]: [DVec3; 2], at: [DVec3; 3]) -> (DVec3, [f64; 3]) {
    let of_end = |end: DVec3| (end, nearest_to_origin(at.map(|corner| corner - end)));
    if p == q {
        return of_end(p);
    }
    let of_edge = |k: usize| {
        let next = (k + 1) % 3;
        let (s, t) = nearest_of_lines([p, q], [at[k], at[next]]);
        let mut shares = [0.0; 3];
        (shares[k], shares[next]) = (1.0 - t, t);
        (p.lerp(q, s), shares)
    };
    let off = |(place, shares): &(DVec3, [f64; 3])| {
        place.distance_squared((0..3).map(|k| shares[k] * at[k]).sum())
    };
    let all = [of_end(p), of_end(q), of_edge(0), of_edge(1), of_edge(2)];
    let first =
        |best: (DVec3, [f64; 3]), other| if off(&other) < off(&best) { other } else { best };
    all[1..].iter().copied().fold(all[0], first)
}

/// Where two lines are nearest to each other, as shares of their lengths (Ericson §5.1.9).
fn nearest_of_lines([p1, q1]: [DVec3; 2], [p2, q2]: [DVec3; 2]) -> (f64, f64) {
    let (d1, d2, r) = (q1 - p1, q2 - p2, p1 - p2);
    let (a, e, f) = (d1.length_squared(), d2.length_squared(), d2.dot(r));
    if a == 0.0 || e == 0.0 {
        let onto =
            |along: DVec3, off: DVec3| (off.dot(along) / along.length_squared()).clamp(0.0, 1.0);
        return (if a > 0.0 { onto(d1, -r) } else { 0.0 }, if e > 0.0 { onto(d2, r) } else { 0.0 });
    }
    let (c, b) = (d1.dot(r), d1.dot(d2));
    let denominator = a * e - b * b;
    let s = if denominator > 0.0 { ((b * f - c * e) / denominator).clamp(0.0, 1.0) } else { 0.0 };
    let t = (b * s + f) / e;
    if t < 0.0 {
        ((-c / a).clamp(0.0, 1.0), 0.0)
    } else if t > 1.0 {
        (((b - c) / a).clamp(0.0, 1.0), 1.0)
    } else {
        (s, t)
    }
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
        let ball = Feature { ends: [DVec3::ZERO; 2], radius: 0.1, outward: DVec3::ZERO };
        let Hit { n, shares, .. } = first_hit(&ball, 0.1, 1e-9, from, to).unwrap();
        assert!(n.distance(DVec3::Z) < 1e-6 && shares.iter().all(|s| *s > 0.2), "{n} {shares:?}");
        assert!(first_hit(&ball, 0.1, 1e-9, to.map(|c| c - DVec3::Z), to).is_none());
    }

    #[test]
    fn no_points_of_a_line_and_a_triangle_are_nearer() {
        for k in 0..500 {
            let at = |s: f64| (f64::from(k) * s).sin() * 2.0;
            let corners = [
                dvec3(at(0.13), at(0.37), at(0.71)),
                dvec3(at(1.13), at(1.37), at(0.91)),
                dvec3(at(2.13), at(0.47), at(1.71)),
            ];
            // Above the triangles, so that it never goes through one.
            let line =
                [dvec3(at(0.53), at(1.9), 2.5), dvec3(at(0.83), at(0.29), 2.5 + at(1.3).abs())];
            let (q, [u, v, w]) = nearest(line, corners);
            let distance = q.distance(u * corners[0] + v * corners[1] + w * corners[2]);
            for i in 0..=12 {
                for j in 0..=12 - i {
                    let (u, v) = (f64::from(i) / 12.0, f64::from(j) / 12.0);
                    let p = u * corners[0] + v * corners[1] + (1.0 - u - v) * corners[2];
                    for s in 0..=12 {
                        let q = line[0].lerp(line[1], f64::from(s) / 12.0);
                        assert!(distance <= p.distance(q) + 1e-9);
                    }
                }
            }
        }
    }
}
