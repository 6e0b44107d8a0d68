//! The turning part of a 3D spring (Jeong & Lee Eq. 1, Listing 1, corrected).
//!
//! ```text
//!           D_a                     u = (x_b − x_a)/r,  D_a = R_a d_a, d_a the rest direction
//!            ↗ θ_a                  θ_a = ∠(D_a, u),  θ_b = ∠(D_b, −u)
//!       A ●────────────● B
//!                   ↙               T_a = φ_a D_a × u                 torque on A, T_b likewise
//!                 D_b               F_b = (φ_a P D_a − φ_b P D_b)/r,  F_a = −F_b,  P = I − u uᵀ
//!
//!   law       torque      φ             energy
//!   printed   K θ sin θ   K θ           K (sin θ − θ cos θ)     no stiffness at rest
//!   linear    K θ         K θ/sin θ     K θ²/2
//!   sine      K sin θ     K             K (1 − cos θ) = ½ K |D − u|²
//! ```
//!
//! F and T are −∂U/∂x and −∂U/∂(rotation): linear and angular momentum are kept. The stretching part and its
//! damping along the spring are an ordinary [`super::spring`]. Torsional damping acts on the rotation of
//! each end against the spring's own, w = u × (v_b − v_a)/r, and on the twist between the ends, so that a
//! rigid rotation is not braked (as printed, it is):
//!
//! ```text
//!   S_a = −C P (W_a − w),  T_a += S_a,  F_b += u × S_a / r,  F_a −= …;   T_a += C ((W_b − W_a)·u) u,  T_b −= …
//! ```
//!
//! Implicitly, orientations are further rows of the one system (row n + i for particle i, inertia in place of mass).
//! The energy grows with e, the turn of an end against the spring: ∂e = δθ × u − P (δx_b − δx_a)/r, and
//! φ ∂eᵀ ∂e is never indefinite: three rank-one terms per end. It is zero for every rigid rotation, also of a
//! bent spring (with D for u it would brake one by φ |ω × (D − u)|²). Damping adds C ∂eᵀ ∂e to it, and one
//! term for the twist.

use crate::linalg::{RankOne, System};
use crate::model::{Model, Turning, TurningLaw};
use crate::par::{BLOCK, Par};
use crate::state::Motion;
use glam::{DQuat, DVec3, Quat, Vec3};

/// Rank-one terms per 3D spring: three per end.
pub const PARTS: usize = 6;
/// With damping, one more for the twist.
pub const DAMPED_PARTS: usize = 7;

/// One 3D spring at the current positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// Force on the second end; the first gets the opposite. [N]
    pub force: Vec3,
    /// Torque on each end. [N·m]
    pub torque: [Vec3; 2],
}

/// A direction turned by an orientation that need not have unit length.
#[inline]
pub fn turned(orientation: Quat, direction: Vec3) -> Vec3 {
    (orientation * direction) / orientation.length_squared()
}

/// Time derivative of an orientation: q' = ½ ω q.
#[inline]
pub fn rate(orientation: Quat, spin: Vec3) -> Quat {
    let half = 0.5 * spin;
    Quat::from_xyzw(half.x, half.y, half.z, 0.0) * orientation
}

/// Turns every orientation with its angular velocity for a time `h`, by 2 atan(h|ω|/2): q + h q',
/// brought back to unit length.
pub fn advance(orientation: &mut [Quat], h: f32, spin: &[Vec3]) {
    for (q, spin) in orientation.iter_mut().zip(spin) {
        *q = (*q + rate(*q, *spin) * h).normalize();
    }
}

/// φ of a law for the angle between `own` and `u`.
fn factor(law: TurningLaw, k: f32, own: Vec3, u: Vec3) -> f32 {
    let sine = own.cross(u).length();
    let angle = || libm::atan2f(sine, own.dot(u));
    match law {
        TurningLaw::Sine => k,
        TurningLaw::Printed => k * angle(),
        // Opposite directions leave the axis open: there the torque fades out.
        TurningLaw::Linear if sine < 1e-4 => {
            if own.dot(u) > 0.0 {
                k
            } else {
                k * 3e4
            }
        }
        TurningLaw::Linear => k * angle() / sine,
    }
}

/// φ as the matrix takes it: the largest curvature of the law, bounded.
fn curvature(law: TurningLaw, k: f32, own: Vec3, u: Vec3) -> f32 {
    match law {
        TurningLaw::Sine => k,
        TurningLaw::Linear => factor(law, k, own, u).min(2.0 * k),
        TurningLaw::Printed => 2.0 * factor(law, k, own, u),
    }
}

/// Energy of one end at angle `angle`. [J]
pub fn energy(law: TurningLaw, k: f64, angle: f64) -> f64 {
    match law {
        TurningLaw::Printed => k * (libm::sin(angle) - angle * libm::cos(angle)),
        TurningLaw::Linear => 0.5 * k * angle * angle,
        TurningLaw::Sine => k * (1.0 - libm::cos(angle)),
    }
}

/// A 3D spring's geometry: unit vector, 1/length, own directions.
struct Frame {
    u: Vec3,
    inverse: f32,
    own: [Vec3; 2],
}

/// Unit vector and 1/length of a 3D spring. Ends closer than a thousandth of the rest length have no
/// direction and exert no torque.
#[inline]
fn direction(turning: &Turning, t: usize, d: Vec3) -> (Vec3, f32) {
    let r = d.length();
    let usable = r > 1e-3 * turning.rest_length[t] && r.is_finite();
    let inverse = if usable { 1.0 / r } else { 0.0 };
    (inverse * d, inverse)
}

impl Frame {
    #[inline]
    fn new(turning: &Turning, t: usize, x: &[Vec3], orientation: &[Quat]) -> Self {
        let [a, b] = turning.ends[t].map(|e| e as usize);
        let (u, inverse) = direction(turning, t, x[b] - x[a]);
        let [da, db] = turning.directions[t];
        Self { u, inverse, own: [turned(orientation[a], da), turned(orientation[b], db)] }
    }

    /// `v` without its part along the spring.
    #[inline]
    fn across(&self, v: Vec3) -> Vec3 {
        v - self.u.dot(v) * self.u
    }
}

/// Evaluates the turning part of every 3D spring.
pub fn evaluate(turns: &mut [Turn], model: &Model, par: Par, x: &[Vec3], orientation: &[Quat]) {
    let turning = &model.turning;
    par.blocks(turns, |block, turns| {
        for (k, turn) in turns.iter_mut().enumerate() {
            let t = block * BLOCK + k;
            let frame = Frame::new(turning, t, x, orientation);
            let [own_a, own_b] = frame.own;
            let (law, k) = (turning.law[t], turning.stiffness[t]);
            let (phi_a, phi_b) = (factor(law, k, own_a, frame.u), factor(law, k, own_b, -frame.u));
            turn.torque = [phi_a * own_a.cross(frame.u), -phi_b * own_b.cross(frame.u)];
            turn.force = frame.inverse * frame.across(phi_a * own_a - phi_b * own_b);
        }
    });
}

/// Adds the torsional damping of every 3D spring to its turn.
pub fn add_damping(turns: &mut [Turn], model: &Model, par: Par, at: Motion<'_>) {
    let Motion { x, v, orientation, spin } = at;
    let turning = &model.turning;
    par.blocks(turns, |block, turns| {
        for (k, turn) in turns.iter_mut().enumerate() {
            let t = block * BLOCK + k;
            let [a, b] = turning.ends[t].map(|e| e as usize);
            let frame = Frame::new(turning, t, x, orientation);
            let u = frame.u;
            let c = if frame.inverse > 0.0 { turning.damping[t] } else { 0.0 };
            let own = frame.inverse * u.cross(v[b] - v[a]);
            let slows = [a, b].map(|end| -c * frame.across(spin[end] - own));
            let twist = c * (spin[b] - spin[a]).dot(u) * u;
            turn.force += frame.inverse * u.cross(slows[0] + slows[1]);
            turn.torque[0] += slows[0] + twist;
            turn.torque[1] += slows[1] - twist;
        }
    });
}

/// Power that the torsional damper of 3D spring `t` takes with its ends moving apart with velocity `apart` and
/// turning with `spins`. [W]
pub fn dissipation(turning: &Turning, t: usize, x: &[Vec3], apart: Vec3, spins: [Vec3; 2]) -> f32 {
    let [a, b] = turning.ends[t].map(|e| e as usize);
    let (u, inverse) = direction(turning, t, x[b] - x[a]);
    let against = |spin: Vec3| (spin - inverse * u.cross(apart)).reject_from_normalized(u);
    let twist = (spins[1] - spins[0]).dot(u);
    let slides = spins.map(|spin| against(spin).length_squared());
    let c = if inverse > 0.0 { turning.damping[t] } else { 0.0 };
    c * (slides[0] + slides[1] + twist * twist)
}

/// Adds all turns to forces and torques.
pub fn add(total: &mut [Vec3], torques: &mut [Vec3], model: &Model, turns: &[Turn], par: Par) {
    if turns.is_empty() {
        return;
    }
    let members = &model.turning.members;
    par.blocks2(total, torques, |block, total, torques| {
        for (k, (force, torque)) in total.iter_mut().zip(torques).enumerate() {
            for member in members.of(block * BLOCK + k) {
                let turn = &turns[member.item as usize];
                let (slot, sign) =
                    (member.slot as usize, if member.slot == 0 { -1.0 } else { 1.0 });
                *force += sign * turn.force;
                *torque += turn.torque[slot];
            }
        }
    });
}

/// Fills the rank-one terms of the implicit system: h² φ ∂eᵀ∂e, and h C of the dampers.
pub fn fill_elements(system: &mut System, model: &Model, h: f32, x: &[Vec3], orientation: &[Quat]) {
    let (turning, parts) = (&model.turning, system.parts);
    let first = model.hinges.len() * parts;
    for (t, terms) in system.elements[first..].chunks_exact_mut(parts).enumerate() {
        let frame = Frame::new(turning, t, x, orientation);
        let (law, k, c) = (turning.law[t], turning.stiffness[t], turning.damping[t]);
        terms.fill(RankOne::default());
        for end in 0..2 {
            let (toward, u) = if end == 0 { (1.0, frame.u) } else { (-1.0, -frame.u) };
            let scale = h * (h * curvature(law, k, frame.own[end], u) + c);
            for (i, axis) in Vec3::AXES.into_iter().enumerate() {
                let reach = toward * frame.inverse * frame.across(axis);
                let mut g = [reach, -reach, Vec3::ZERO, Vec3::ZERO];
                g[2 + end] = u.cross(axis);
                terms[3 * end + i] = RankOne { g, scale };
            }
        }
        if turning.is_damped {
            let g = [Vec3::ZERO, Vec3::ZERO, frame.u, -frame.u];
            terms[DAMPED_PARTS - 1] = RankOne { g, scale: h * c };
        }
    }
}

/// Energy of the turning part of all 3D springs. [J]
pub fn total_energy(
    model: &Model,
    at: impl Fn(u32) -> DVec3,
    orientation: impl Fn(u32) -> DQuat,
) -> f64 {
    let turning = &model.turning;
    let mut sum = 0.0;
    for (t, &[a, b]) in turning.ends.iter().enumerate() {
        let u = (at(b) - at(a)).normalize_or_zero();
        for (end, particle, toward) in [(0, a, u), (1, b, -u)] {
            let q = orientation(particle);
            let own = (q * turning.directions[t][end].as_dvec3()) / q.length_squared();
            let angle = libm::atan2(own.cross(toward).length(), own.dot(toward));
            sum += energy(turning.law[t], f64::from(turning.stiffness[t]), angle);
        }
    }
    sum
}
