//! Contacts in the finest level's matrix: C = Σ s g gᵀ, one term for every four particles that press.
//!
//! Which particles they are changes from step to step, so C is in no block and on no coarser level. Products of the
//! conjugate gradients have it; sweeps have twice its diagonal, C₂, and take the rest from before the sweep:
//!
//! ```text
//!   forward from zero:  x = (D + C₂ + L)⁻¹ b        leaves  b − (A + C) x = −U x + (C₂ − C) x
//!   backward:           x += (D + C₂ + U)⁻¹ (b − (A + C) x),   a sweep with D + C₂ on b + (C₂ − C) x
//! ```
//!
//! The second mirrors the first, and (D + C₂ + L) + (D + C₂ + U) − (A + C) = D + 2 C₂ − C is positive, because C is at
//! most four times its diagonal: the cycle stays symmetric and positive.

use crate::linalg::sliced::Sliced;
use crate::linalg::{Coupling, RankOne, Sym3, System};
use glam::Vec3;

/// The terms, their particles by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Pressing {
    terms: Vec<Coupling>,
    stride: usize,
}

impl Pressing {
    /// Takes over the contacts of a system.
    pub fn fill(&mut self, system: &System, matrix: &Sliced) {
        self.terms.clone_from(&system.contacts);
        self.stride = matrix.stride();
        for term in &mut self.terms {
            term.particles = term.particles.map(|i| matrix.places()[i as usize]);
        }
    }

    /// Adds C₂.
    pub fn add_to_diagonal(system: &System, matrix: &mut Sliced) {
        for Coupling { particles, term, .. } in &system.contacts {
            for (g, i) in term.g.iter().zip(particles.map(|i| i as usize)) {
                matrix.add_to_diagonal(i, Sym3::outer(2.0 * term.scale, *g));
            }
        }
    }

    /// `out += C p`.
    pub fn add_product(&self, p: &[f32], out: &mut [f32]) {
        self.each(p, out, |s, _, all| s * all);
    }

    /// `out += (C₂ − C) x`.
    pub fn add_rest(&self, x: &[f32], out: &mut [f32]) {
        self.each(x, out, |s, own, all| s * (2.0 * own - all));
    }

    /// Adds `along(s, g_i · x_i, Σ g · x)` times g_i for each particle i of each term.
    fn each(&self, x: &[f32], out: &mut [f32], along: impl Fn(f32, f32, f32) -> f32) {
        let stride = self.stride;
        for Coupling { particles, term: RankOne { g, scale }, .. } in &self.terms {
            let at = particles.map(|i| i as usize);
            let value = |i: usize| Vec3::new(x[i], x[stride + i], x[2 * stride + i]);
            let dots: [f32; 4] = std::array::from_fn(|k| g[k].dot(value(at[k])));
            let all = dots.iter().sum();
            for ((g, i), dot) in g.iter().zip(at).zip(dots) {
                let add = along(*scale, dot, all) * *g;
                out[i] += add.x;
                out[stride + i] += add.y;
                out[2 * stride + i] += add.z;
            }
        }
    }
}
