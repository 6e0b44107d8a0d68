//! Linear air drag: f = −c m (v − wind), so that free fall ends at g / c. c in 1/s.

use crate::model::Model;
use crate::par::{BLOCK, Par};
use glam::Vec3;

/// Force on one particle; its velocity derivative is −c m I.
#[inline]
pub fn force(c: f32, mass: f32, v: Vec3, wind: Vec3) -> Vec3 {
    (-c * mass) * (v - wind)
}

/// Adds the drag of every particle.
pub fn add(total: &mut [Vec3], model: &Model, wind: Vec3, par: Par, v: &[Vec3]) {
    let c = model.air.drag;
    if c == 0.0 {
        return;
    }
    par.blocks(total, |block, total| {
        let first = block * BLOCK;
        for (k, f) in total.iter_mut().enumerate() {
            *f += force(c, model.mass[first + k], v[first + k], wind);
        }
    });
}
