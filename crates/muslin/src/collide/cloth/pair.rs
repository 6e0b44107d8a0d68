//! Two primitives: a vertex and a triangle, or two edges. Their distance, and whether they meet on the way.
//!
//! The four corners come as [v, t0, t1, t2] or [a0, a1, b0, b1]. The vector between the nearest points is
//! Σ w_i x_i, with weights that are 1 in sum over the first primitive and −1 over the second.
//!
//! Continuous detection is additive conservative advancement (Li et al. 2021, "Codimensional incremental
//! potential contact", Algorithm 1): with l a bound of the relative motion over the step and d the distance
//! at t, nothing can meet before t + (d − ξ)/l.

use glam::DVec3;

/// What the four corners are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first corner against the triangle of the others.
    VertexTriangle,
    /// The edge of the first two against that of the others.
    EdgeEdge,
}

impl Kind {
    /// The kind whose first primitive has `corners` corners.
    pub fn of(corners: u8) -> Self {
        if corners == 1 { Self::VertexTriangle } else { Self::EdgeEdge }
    }

    /// How many corners the first primitive has.
    pub fn split(self) -> usize {
        match self {
            Self::VertexTriangle => 1,
            Self::EdgeEdge => 2,
        }
    }
}

/// The nearest points of two primitives.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    /// Σ w_i x_i leads from the second primitive to the first.
    pub weights: [f64; 4],
    /// Its length. [m]
    pub gap: f64,
    /// Its direction; any where the gap is zero.
    pub direction: DVec3,
}

/// Steps of advancement at most: what needs more is taken to meet.
const MOST_STEPS: u32 = 200;

/// A path that comes nearer than this share of the first distance is taken to meet.
const SHARE: f64 = 0.1;

/// Rounding of a distance, as a share of the coordinates it is made of.
const ROUNDING: f64 = 1e-14;

/// The nearest points.
pub fn nearest(kind: Kind, x: [DVec3; 4]) -> Nearest {
    let weights = match kind {
        Kind::VertexTriangle => vertex_triangle(x),
        Kind::EdgeEdge => edge_edge(x),
    };
    let between = apply(weights, x);
    let gap = between.length();
    let direction = if gap > 0.0 { between / gap } else { DVec3::Y };
    Nearest { weights, gap, direction }
}

/// Σ w_i x_i.
pub fn apply(weights: [f64; 4], x: [DVec3; 4]) -> DVec3 {
    weights[0] * x[0] + weights[1] * x[1] + weights[2] * x[2] + weights[3] * x[3]
}

/// The share of the way from `p` to `q` at which the segment is nearest to `x`.
fn share_of_segment(x: DVec3, p: DVec3, q: DVec3) -> f64 {
    let (along, length) = ((x - p).dot(q - p), (q - p).length_squared());
    if length > 0.0 { (along / length).clamp(0.0, 1.0) } else { 0.0 }
}

/// The nearest of several candidates, the first of equals.
fn best<const N: usize>(candidates: [[f64; 4]; N], x: [DVec3; 4]) -> ([f64; 4], f64) {
    let mut best = (candidates[0], f64::INFINITY);
    for weights in candidates {
        let square = apply(weights, x).length_squared();
        if square < best.1 {
            best = (weights, square);
        }
    }
    best
}

fn vertex_triangle(x: [DVec3; 4]) -> [f64; 4] {
    let [v, a, b, c] = x;
    let (ab, ac, av) = (b - a, c - a, v - a);
    let normal = ab.cross(ac);
    let area = normal.length_squared();
    if area > 0.0 {
        let (s, t) = (av.cross(ac).dot(normal) / area, ab.cross(av).dot(normal) / area);
        if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
            return [1.0, s + t - 1.0, -s, -t];
        }
    }
    let (ab, bc, ca) =
        (share_of_segment(v, a, b), share_of_segment(v, b, c), share_of_segment(v, c, a));
    let sides = [[1.0, ab - 1.0, -ab, 0.0], [1.0, 0.0, bc - 1.0, -bc], [1.0, -ca, 0.0, ca - 1.0]];
    best(sides, x).0
}

fn edge_edge(x: [DVec3; 4]) -> [f64; 4] {
    let [a0, a1, b0, b1] = x;
    // The ends against the other edge: always right where the nearest point is an end, and for parallels.
    let (s0, s1) = (share_of_segment(b0, a0, a1), share_of_segment(b1, a0, a1));
    let (t0, t1) = (share_of_segment(a0, b0, b1), share_of_segment(a1, b0, b1));
    let ends = [
        [1.0, 0.0, t0 - 1.0, -t0],
        [0.0, 1.0, t1 - 1.0, -t1],
        [1.0 - s0, s0, -1.0, 0.0],
        [1.0 - s1, s1, 0.0, -1.0],
    ];
    let (end, square) = best(ends, x);
    // The common perpendicular, where it meets both.
    let (u, v, r) = (a1 - a0, b1 - b0, a0 - b0);
    let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
    let determinant = uu * vv - uv * uv;
    if determinant > 0.0 {
        let (ur, vr) = (u.dot(r), v.dot(r));
        let (s, t) = ((uv * vr - vv * ur) / determinant, (uu * vr - uv * ur) / determinant);
        let inner = [1.0 - s, s, t - 1.0, -t];
        let inside = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
        if inside && apply(inner, x).length_squared() < square {
            return inner;
        }
    }
    end
}

/// A bound of the relative motion of any two points of the primitives: the longest difference of two
/// corners' motions. [m]
pub fn relative_motion(kind: Kind, d: [DVec3; 4]) -> f64 {
    let (first, second) = d.split_at(kind.split());
    let differences = first.iter().flat_map(|a| second.iter().map(|b| a.distance_squared(*b)));
    differences.fold(0.0, f64::max).sqrt()
}

/// The time, as a share of the step, until which corners that move evenly from `x` by `d` certainly stay
/// further than `least` apart; `None` if they do so all the way. Never late.
pub fn first_meeting(kind: Kind, x: [DVec3; 4], d: [DVec3; 4], least: f64) -> Option<f64> {
    let mean = 0.25 * (d[0] + d[1] + d[2] + d[3]);
    let d = d.map(|d| d - mean);
    let longest = |d: &[DVec3]| d.iter().map(|d| d.length()).fold(0.0, f64::max);
    let (first, second) = d.split_at(kind.split());
    let motion = longest(first) + longest(second);
    let size = x.iter().chain(&d).map(|x| x.abs().max_element()).fold(0.0, f64::max);
    let room = |at: [DVec3; 4]| nearest(kind, at).gap - least - ROUNDING * size;
    let begin = room(x);
    if begin <= 0.0 {
        return Some(0.0);
    }
    if motion == 0.0 {
        return None;
    }
    let mut time = 0.0;
    let mut left = begin;
    for _ in 0..MOST_STEPS {
        // Not all of the way, or it would creep on where nothing moves nearer.
        let next = time + (1.0 - SHARE) * left / motion;
        if next >= 1.0 {
            return None;
        }
        left = room(std::array::from_fn(|i| x[i] + next * d[i]));
        if left <= 0.0 {
            return Some(time);
        }
        time = next;
        if left <= SHARE * begin {
            return Some(time);
        }
    }
    Some(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::dvec3;

    /// Pseudo-random points, the same in every run.
    fn points(seed: &mut u64) -> [DVec3; 4] {
        let mut number = || {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) as f64 / f64::from(1u32 << 30) - 1.0
        };
        std::array::from_fn(|_| dvec3(number(), number(), number()))
    }

    #[test]
    fn no_points_of_a_lattice_are_nearer_than_the_nearest() {
        let mut seed = 7;
        for _ in 0..300 {
            let x = points(&mut seed);
            for kind in [Kind::VertexTriangle, Kind::EdgeEdge] {
                let found = nearest(kind, x);
                let steps = 40;
                let mut least = f64::INFINITY;
                for i in 0..=steps {
                    for j in 0..=steps {
                        let (s, t) =
                            (f64::from(i) / f64::from(steps), f64::from(j) / f64::from(steps));
                        let weights = match kind {
                            Kind::VertexTriangle if s + t > 1.0 => continue,
                            Kind::VertexTriangle => [1.0, s + t - 1.0, -s, -t],
                            Kind::EdgeEdge => [1.0 - s, s, t - 1.0, -t],
                        };
                        least = least.min(apply(weights, x).length());
                    }
                }
                assert!(found.gap <= least + 1e-12, "{kind:?}: {} but {least}", found.gap);
                assert!(least - found.gap < 0.1, "{kind:?}: {} but {least}", found.gap);
            }
        }
    }

    #[test]
    fn parallel_and_degenerate_primitives_have_their_distance() {
        let edges = [
            dvec3(0.0, 0.0, 0.0),
            dvec3(1.0, 0.0, 0.0),
            dvec3(2.0, 1.0, 0.0),
            dvec3(3.0, 1.0, 0.0),
        ];
        assert!((nearest(Kind::EdgeEdge, edges).gap - 2f64.sqrt()).abs() < 1e-15);
        let needle = [dvec3(0.5, 0.3, 0.0), DVec3::ZERO, DVec3::X, 2.0 * DVec3::X];
        assert!((nearest(Kind::VertexTriangle, needle).gap - 0.3).abs() < 1e-15);
        let point = [dvec3(0.0, 0.3, 0.0), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
        assert!((nearest(Kind::VertexTriangle, point).gap - 0.3).abs() < 1e-15);
    }

    #[test]
    fn paths_stay_apart_until_the_time_given() {
        let mut seed = 3;
        let mut met = 0;
        for _ in 0..2000 {
            let (x, to) = (points(&mut seed), points(&mut seed));
            let d: [DVec3; 4] = std::array::from_fn(|i| 3.0 * to[i]);
            for kind in [Kind::VertexTriangle, Kind::EdgeEdge] {
                let time = first_meeting(kind, x, d, 0.0);
                met += u32::from(time.is_some());
                for k in 0..=200 {
                    let t = time.unwrap_or(1.0) * f64::from(k) / 200.0;
                    let at = std::array::from_fn(|i| x[i] + t * d[i]);
                    assert!(nearest(kind, at).gap > 0.0);
                }
            }
        }
        assert!(met > 100);
    }
}
