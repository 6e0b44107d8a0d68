//! Damping forces.
//!
//! ```text
//!   absolute        f_i = −C v_i                        Kang & Cho Eq. 21–23 corrected
//!   relative        f_i = −C Σ_j (v_i − v_j)            Kang & Cho Eq. 24 corrected
//!   along a spring  f_a = kd n nᵀ (v_b − v_a)           Rubin Eq. 1; keeps angular momentum too
//! ```
//!
//! The last two never change the total momentum. Their velocity derivatives are the constants in
//! front, with reversed sign, and enter the implicit system through [`super::spring::fill_blocks`].

use crate::mesh::Links;
use crate::mesh::links::PairKernel;
use crate::model::{Model, Springs};
use crate::par::{BLOCK, Par};
use glam::Vec3;

/// Force on the first end of a damper between two particles.
#[inline(always)]
pub fn between(along: f32, relative: f32, d: Vec3, dv: Vec3) -> Vec3 {
    let squared = d.length_squared();
    let s = if squared > 0.0 { along * d.dot(dv) / squared } else { 0.0 };
    s * d + relative * dv
}

/// Adds −C v of every particle.
pub fn add_absolute(total: &mut [Vec3], model: &Model, par: Par, v: &[Vec3]) {
    if model.absolute_damping.iter().all(|&c| c == 0.0) {
        return;
    }
    par.blocks(total, |block, total| {
        let first = block * BLOCK;
        for (k, f) in total.iter_mut().enumerate() {
            *f -= model.absolute_damping[first + k] * v[first + k];
        }
    });
}

/// Adds the dampers between particles.
pub fn add_between(total: &mut [Vec3], model: &Model, par: Par, x: &[Vec3], v: &[Vec3]) {
    if model.springs.is_damped {
        add_links(total, &model.topology.links, &model.springs, par, x, v);
    }
}

/// Adds the dampers of some springs.
pub fn add_links(
    total: &mut [Vec3],
    links: &Links,
    springs: &Springs,
    par: Par,
    x: &[Vec3],
    v: &[Vec3],
) {
    links.accumulate(par, total, &Dampers { springs, x, v });
}

struct Dampers<'a> {
    springs: &'a Springs,
    x: &'a [Vec3],
    v: &'a [Vec3],
}

impl PairKernel for Dampers<'_> {
    #[inline(always)]
    fn eval(&self, a: usize, b: usize, link: usize, out: &mut [f32]) {
        let springs = self.springs;
        for (t, out) in out.chunks_exact_mut(3).enumerate() {
            let (a, b, s) = (a + t, b + t, link + t);
            let f = between(
                springs.damping[s],
                springs.relative_damping[s],
                self.x[b] - self.x[a],
                self.v[b] - self.v[a],
            );
            out.copy_from_slice(&f.to_array());
        }
    }
}
