//! The incremental potential, whose minimum over v is the backward Euler step:
//!
//! ```text
//!   Φ(v) = ½ Σ m |v − v_n|² + E(x_n + h v) − h Σ f_e · (v − v_k) + ½ Σ (w − m) |v − v_k|² + ½ h vᵀ D v
//!          + ½ Σ (v − v_n)ᵀ W (v − v_n) + ½ Σ s (wanted − g · v)²
//! ```
//!
//! with f_e the external forces, those of bodies included, at the velocity v_k of the linearisation, w = m + h c the scalar
//! diagonal, D the dampers of springs and 3D springs in the directions of x_k, W the
//! weights of contacts with bodies, and s, g those of cloth with cloth. Its gradient at v_k
//! is minus the right-hand side of Newton's equation, so a step that lowers Φ makes progress, however
//! far from the minimum. Positions are never rounded to f32 here: a stretch of a millionth would drown in it.

use super::Step;
use crate::forces::{elastic_energy, turning};
use crate::linalg::RankOne;
use crate::state::State;
use glam::{DVec3, Vec3};

/// What Φ is made of.
pub struct Potential<'a> {
    pub step: &'a Step<'a>,
    pub floors: &'a [f32],
    pub external: &'a [Vec3],
    pub lumped: &'a [f32],
    /// x_n and v_n.
    pub start: &'a State,
    /// x_k and v_k.
    pub x: &'a [Vec3],
    pub v: &'a [Vec3],
    /// v_k − v_n.
    pub drift: &'a [Vec3],
    /// Scratch: where particles get.
    pub places: &'a mut [DVec3],
}

impl Potential<'_> {
    /// Φ(v_k + share · change). [J]
    pub fn at(&mut self, change: &[Vec3], share: f32) -> f64 {
        let (model, h) = (self.step.model, self.step.h);
        let v_k = self.v;
        let velocity = |i: usize| v_k[i] + share * change[i];
        let mut sum = 0.0;
        let n = self.x.len();
        for i in 0..n {
            let (v, moved) = (velocity(i), (share * change[i]).as_dvec3());
            self.places[i] = self.start.x[i].as_dvec3() + f64::from(h) * v.as_dvec3();
            let mass = f64::from(model.mass[i]);
            sum += 0.5 * mass * (v - self.start.v[i]).as_dvec3().length_squared();
            sum += 0.5 * (f64::from(self.lumped[i]) - mass) * moved.length_squared();
            sum -= f64::from(h) * self.external[i].as_dvec3().dot(moved);
        }
        let contact = self.step.contact;
        for (i, weight) in contact.weight.iter().enumerate() {
            let change = self.drift[i] + share * change[i];
            sum += 0.5 * f64::from(change.dot(*weight * change));
        }
        for (i, force) in contact.force.iter().enumerate() {
            sum -= f64::from(h) * force.as_dvec3().dot((share * change[i]).as_dvec3());
        }
        for contact in &contact.couplings {
            let RankOne { g, scale } = contact.term;
            let at = g.iter().zip(contact.particles);
            let rate: f32 = at.map(|(g, i)| g.dot(velocity(i as usize))).sum();
            sum += 0.5 * f64::from(scale) * f64::from(rate - contact.wanted).powi(2);
        }
        for (i, inertia) in model.turning.inertia.iter().enumerate() {
            let turned = (velocity(n + i) - self.start.spin[i]).as_dvec3();
            sum += 0.5 * f64::from(*inertia) * turned.length_squared();
        }
        let springs = &model.springs;
        if springs.is_damped {
            for (s, &[a, b]) in model.topology.links.ends().iter().enumerate() {
                let (a, b) = (a as usize, b as usize);
                let n = (self.x[b] - self.x[a]).normalize_or_zero();
                let apart = velocity(b) - velocity(a);
                let rate = springs.damping[s] * n.dot(apart).powi(2)
                    + springs.relative_damping[s] * apart.length_squared();
                sum += f64::from(0.5 * h * rate);
            }
        }
        let turning = &model.turning;
        if turning.is_damped {
            for (t, ends) in turning.ends.iter().enumerate() {
                let [a, b] = ends.map(|e| e as usize);
                let (apart, spins) =
                    (velocity(b) - velocity(a), [velocity(n + a), velocity(n + b)]);
                let rate = turning::dissipation(turning, t, self.x, apart, spins);
                sum += f64::from(0.5 * h * rate);
            }
        }
        let places = &*self.places;
        let at = |p: u32| places[p as usize];
        let orientation = |p: u32| {
            let q = self.start.orientation[p as usize];
            let spin = velocity(n + p as usize);
            (q + turning::rate(q, spin) * h).as_dquat()
        };
        sum + elastic_energy(model, self.floors, at, orientation)
    }
}
