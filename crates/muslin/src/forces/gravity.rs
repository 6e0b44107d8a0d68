//! Gravity: f = m g, E = −m g · x.

use crate::par::{BLOCK, Par};
use glam::Vec3;

/// Starts a force vector with the weight of each particle.
pub fn set(total: &mut [Vec3], mass: &[f32], gravity: Vec3, par: Par) {
    par.blocks(total, |block, total| {
        let mass = &mass[block * BLOCK..];
        total.iter_mut().zip(mass).for_each(|(f, m)| *f = *m * gravity);
    });
}

/// Potential energy of one particle. [J]
pub fn energy(mass: f32, gravity: Vec3, x: Vec3) -> f64 {
    -f64::from(mass) * gravity.as_dvec3().dot(x.as_dvec3())
}
