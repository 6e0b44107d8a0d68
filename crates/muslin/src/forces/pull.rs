//! Pulls: a spring of rest length zero from a particle to a point, f = k (target − x), Rubin Eq. 7, whose
//! "k" is the compliance 1/k.
//!
//! An explicit step is stable for h² k/m < 4. In the implicit system the Jacobian −k I is h² k on
//! the scalar diagonal and −h² k v on the right-hand side.

use crate::inputs::Pull;
use glam::Vec3;

/// Force on a particle at `x`. [N]
#[inline]
pub fn force(pull: &Pull, x: Vec3) -> Vec3 {
    pull.stiffness * (pull.target - x)
}

/// Adds every pull.
pub fn add(total: &mut [Vec3], pulls: &[Pull], x: &[Vec3]) {
    for pull in pulls {
        total[pull.particle] += force(pull, x[pull.particle]);
    }
}

/// Adds h² k to the scalar diagonal.
pub fn add_to_diagonal(lumped: &mut [f32], pulls: &[Pull], h: f32) {
    for pull in pulls {
        lumped[pull.particle] += h * h * pull.stiffness;
    }
}

/// Subtracts h² k v from the right-hand side.
pub fn subtract_from_right_side(b: &mut [Vec3], pulls: &[Pull], h: f32, v: &[Vec3]) {
    for pull in pulls {
        b[pull.particle] -= h * h * pull.stiffness * v[pull.particle];
    }
}
