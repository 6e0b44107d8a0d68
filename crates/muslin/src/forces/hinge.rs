//! Bending at the edge between two triangles.
//!
//! ```text
//!         x2
//!        ╱  ╲        E = ½ K (θ − θ0)²,  θ the angle between the normals, 0 when flat
//!      x0 ── x1      n2 = e × (x2 − x0),  n3 = (x3 − x0) × e,  e = x1 − x0
//!        ╲  ╱        ∇2 θ = −|e| n2/|n2|²   ∇3 θ = −|e| n3/|n3|²
//!         x3         ∇0 θ = −(1 − s2) ∇2 θ − (1 − s3) ∇3 θ   ∇1 θ = −s2 ∇2 θ − s3 ∇3 θ
//!                    s2 = (x2 − x0)·e/|e|²,  s3 likewise
//! ```
//!
//! The Jacobian is the Gauss–Newton part −K ∇θ ∇θᵀ: dropping (θ − θ0) ∇²θ leaves a matrix that is
//! never indefinite. Under the scalar Jacobian ∇θ is replaced by its flat-rest coefficients times
//! the identity, which makes the matrix constant.

use super::spring::Jacobian;
use crate::lanes::{LANES, Lanes, Vectors};
use crate::linalg::{RankOne, System};
use crate::model::Model;
use crate::par::{BLOCK, Par, widest};
use glam::{DVec3, Mat4, Vec3, Vec4, Vec4Swizzles};

/// One hinge at the current positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bend {
    /// ∇θ of each corner [1/m], and its moment K (θ − θ0) [N·m], four times: one load for a corner's force.
    corners: [Vec4; 4],
}

/// Angle between the two triangles in (−π, π], 0 when flat or degenerate.
pub fn angle(x: [Vec3; 4]) -> f32 {
    Corners::new(x).angle()
}

/// Gradient of [`angle`]; zero for a triangle without area.
pub fn gradient(x: [Vec3; 4]) -> [Vec3; 4] {
    Corners::new(x).gradient()
}

/// Both, without branches.
#[inline(always)]
pub fn angle_and_gradient(x: [Vec3; 4]) -> (f32, [Vec3; 4]) {
    let corners = Corners::new(x);
    (corners.angle(), corners.gradient())
}

/// The angles of eight hinges, whose corners are `x`.
pub fn angles(x: &[Vectors; 4]) -> Lanes {
    widest(Angles(x))
}

struct Angles<'a>(&'a [Vectors; 4]);

impl pulp::NullaryFnOnce for Angles<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn call(self) -> Lanes {
        let [a, b, c, d] = self.0;
        let mut angles = [0.0; LANES];
        for lane in 0..LANES {
            angles[lane] = Corners::new([a.at(lane), b.at(lane), c.at(lane), d.at(lane)]).angle();
        }
        angles
    }
}

/// What angle and gradient share.
struct Corners {
    e: Vec3,
    length: f32,
    d2: Vec3,
    d3: Vec3,
    n2: Vec3,
    n3: Vec3,
}

impl Corners {
    #[inline(always)]
    fn new(x: [Vec3; 4]) -> Self {
        let (e, d2, d3) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        Self { e, length: e.length(), d2, d3, n2: e.cross(d2), n3: d3.cross(e) }
    }

    #[inline(always)]
    fn angle(&self) -> f32 {
        let sine = self.n2.cross(self.n3).dot(self.e) / self.length;
        // Corners in one place, or flung so far apart that their normals overflow, have no angle.
        let usable = self.length != 0.0 && sine.abs() < f32::INFINITY;
        let angle = atan2(sine, self.n2.dot(self.n3));
        if usable { angle } else { 0.0 }
    }

    #[inline(always)]
    fn gradient(&self) -> [Vec3; 4] {
        let squared = self.length * self.length;
        let (q2, q3) = (self.n2.length_squared(), self.n3.length_squared());
        // A triangle thinner than a millionth of its edge has no usable normal.
        let smallest = (1e-6 * squared) * (1e-6 * squared);
        let usable = q2 > smallest && q3 > smallest;
        let over = |q: f32| if usable { -(self.length / q) } else { 0.0 };
        let normal = |n: Vec3| if usable { n } else { Vec3::ZERO };
        let (g2, g3) = (over(q2) * normal(self.n2), over(q3) * normal(self.n3));
        let squared = if usable { squared } else { 1.0 };
        let (s2, s3) = (self.d2.dot(self.e) / squared, self.d3.dot(self.e) / squared);
        [-(1.0 - s2) * g2 - (1.0 - s3) * g3, -s2 * g2 - s3 * g3, g2, g3]
    }
}

/// Coefficients c with ∇θ = c n for the flat rest shape: lengths only, so any rest shape will do.
pub fn flat_coefficients(x: [DVec3; 4]) -> [f32; 4] {
    let e = x[1] - x[0];
    let length = e.length().max(f64::MIN_POSITIVE);
    let side = |p: DVec3| {
        let d = p - x[0];
        let along = d.dot(e) / (length * length);
        let height = e.cross(d).length() / length;
        (along, if height > 0.0 { -1.0 / height } else { 0.0 })
    };
    let ((s2, c2), (s3, c3)) = (side(x[2]), side(x[3]));
    [-(1.0 - s2) * c2 - (1.0 - s3) * c3, -s2 * c2 - s3 * c3, c2, c3].map(|c| c as f32)
}

/// Evaluates every hinge of a model and adds −K (θ − θ0) ∇θ of each.
pub fn evaluate_and_add(
    bends: &mut [Bend],
    total: &mut [Vec3],
    model: &Model,
    par: Par,
    x: &[Vec3],
) {
    if bends.is_empty() {
        return;
    }
    let members = &model.topology.element_members;
    let evaluate = |first: usize, bends: &mut [Bend]| {
        let corners = &model.topology.elements[first..][..bends.len()];
        let rest_angles = &model.hinges.rest_angle[first..][..bends.len()];
        let stiffness = &model.hinges.stiffness[first..][..bends.len()];
        widest(Evaluate { corners, rest_angles, stiffness, x, bends });
    };
    members.gather(par, 1, bends, total, evaluate, |first, total, bends| {
        for (k, f) in total.iter_mut().enumerate() {
            let mut sum = f.extend(0.0);
            for member in members.of(first + k) {
                // Elements after the hinges are 3D springs.
                let Some(bend) = bends.get(member.item as usize) else { break };
                let corner = bend.corners[member.slot as usize];
                sum -= corner.wwww() * corner;
            }
            *f = sum.truncate();
        }
    });
}

/// Hinges at a time. More than lanes: numbers that are written one or four at a time are not yet where a vector load
/// could find them.
const STRETCH: usize = 64;

/// One number for each hinge of a stretch.
type Plane = [f32; STRETCH];

/// Hinges one after the other.
struct Evaluate<'a> {
    corners: &'a [[u32; 4]],
    rest_angles: &'a [f32],
    stiffness: &'a [f32],
    x: &'a [Vec3],
    bends: &'a mut [Bend],
}

impl pulp::NullaryFnOnce for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { corners, rest_angles, stiffness, x, bends } = self;
        let mut at = [[[0.0; STRETCH]; 3]; 4];
        let mut gradients = [[[0.0; STRETCH]; 3]; 4];
        let mut moments = [0.0; STRETCH];
        for (stretch, bends) in bends.chunks_mut(STRETCH).enumerate() {
            let range = STRETCH * stretch..STRETCH * stretch + bends.len();
            fetch(x, &corners[range.clone()], &mut at);
            for k in 0..STRETCH {
                let corner = |c: usize| Vec3::new(at[c][0][k], at[c][1][k], at[c][2][k]);
                let (angle, gradient) =
                    angle_and_gradient([corner(0), corner(1), corner(2), corner(3)]);
                moments[k] = angle;
                for c in 0..4 {
                    gradients[c][0][k] = gradient[c].x;
                    gradients[c][1][k] = gradient[c].y;
                    gradients[c][2][k] = gradient[c].z;
                }
            }
            let constants = rest_angles[range.clone()].iter().zip(&stiffness[range]);
            for (moment, (rest, k)) in moments.iter_mut().zip(constants) {
                *moment = k * wrapped(*moment - rest);
            }
            for (four, bends) in bends.chunks_mut(4).enumerate() {
                let take = |plane: &Plane| Vec4::from_slice(&plane[4 * four..][..4]);
                let moments = take(&moments);
                for (corner, [x, y, z]) in gradients.iter().enumerate() {
                    let rows = Mat4::from_cols(take(x), take(y), take(z), moments).transpose();
                    let rows = [rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis];
                    for (bend, row) in bends.iter_mut().zip(rows) {
                        bend.corners[corner] = row;
                    }
                }
            }
        }
    }
}

/// The positions of the corners of up to [`STRETCH`] hinges, by component.
#[inline(always)]
fn fetch(x: &[Vec3], corners: &[[u32; 4]], at: &mut [[Plane; 3]; 4]) {
    let flat: &[f32] = bytemuck::cast_slice(x);
    // One load that takes a number too many, where there is one.
    let position = |particle: u32| {
        let first = 3 * particle as usize;
        flat.get(first..first + 4)
            .map_or_else(|| x[particle as usize].extend(0.0), Vec4::from_slice)
    };
    for (four, corners) in corners.chunks(4).enumerate() {
        // Lanes without a hinge repeat the last one.
        let of = |lane: usize| corners[lane.min(corners.len() - 1)];
        let corners = [of(0), of(1), of(2), of(3)];
        for (c, planes) in at.iter_mut().enumerate() {
            let [a, b, c, d] = corners.map(|corners| position(corners[c]));
            let rows = Mat4::from_cols(a, b, c, d).transpose();
            for (plane, row) in planes.iter_mut().zip([rows.x_axis, rows.y_axis, rows.z_axis]) {
                row.write_to_slice(&mut plane[4 * four..][..4]);
            }
        }
    }
}

/// The angle of (x, y), to 4e-7 of itself, by selections only so that eight at a time are as easy, and
/// not by the platform's: every machine and WebAssembly are to get the same bits. Zero for (0, 0).
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    use std::f32::consts::{FRAC_PI_2, PI};
    let (high, low) = (y.abs().max(x.abs()), y.abs().min(x.abs()));
    let a = low / if high > 0.0 { high } else { 1.0 };
    // atan a for a ≤ 1, fitted in a².
    let t = a * a;
    let mut u = 0.002_823_639;
    for c in COEFFICIENTS {
        u = u * t + c;
    }
    let r = a + a * (t * u);
    let r = if y.abs() > x.abs() { FRAC_PI_2 - r } else { r };
    let r = if x < 0.0 { PI - r } else { r };
    r.copysign(y)
}

/// Of t⁶ … t⁰ in (atan a − a)/(a t); that of t⁷ is the start.
const COEFFICIENTS: [f32; 7] = [
    -0.015_956_903,
    0.042_504_99,
    -0.074_890_09,
    0.106_347_93,
    -0.142_027_36,
    0.199_926_96,
    -0.333_331_02,
];

/// Brings a difference of two angles back to (−π, π].
pub fn wrapped(angle: f32) -> f32 {
    use std::f32::consts::{PI, TAU};
    if angle > PI {
        angle - TAU
    } else if angle <= -PI {
        angle + TAU
    } else {
        angle
    }
}

/// Fills the rank-one terms h² K ∇θ ∇θᵀ of the implicit system.
pub fn fill_elements(
    system: &mut System,
    model: &Model,
    bends: &[Bend],
    par: Par,
    jacobian: Jacobian,
    h: f32,
) {
    let (hinges, parts) = (&model.hinges, system.parts);
    par.blocks(&mut system.elements[..parts * bends.len()], |block, terms| {
        for (k, term) in terms.iter_mut().enumerate() {
            let (hinge, part) = ((block * BLOCK + k) / parts, (block * BLOCK + k) % parts);
            let scale = h * h * hinges.stiffness[hinge];
            let g = match (jacobian, part) {
                (Jacobian::Scalar, 0..3) => hinges.flat[hinge].map(|c| c * Vec3::AXES[part]),
                (Jacobian::Scalar, _) => continue,
                (_, 0) => bends[hinge].corners.map(Vec4::truncate),
                // 3D springs have more terms than a hinge.
                _ => continue,
            };
            *term = RankOne { g, scale };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_angle_is_right_all_around_and_for_the_smallest() {
        for k in -2000..=2000 {
            let angle = f64::from(k) * std::f64::consts::PI / 2000.0;
            for size in [1e-12, 1.0, 3e7] {
                let (y, x) = ((size * angle.sin()) as f32, (size * angle.cos()) as f32);
                let expected = f64::from(y).atan2(f64::from(x));
                let found = f64::from(atan2(y, x));
                assert!((found - expected).abs() <= 4e-7 * expected.abs(), "{found} {expected}");
            }
        }
        assert_eq!(atan2(0.0, 0.0), 0.0);
        assert_eq!(atan2(1e-30, 1.0), 1e-30);
    }
}
