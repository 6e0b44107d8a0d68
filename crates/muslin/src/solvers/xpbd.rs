//! Extended position-based dynamics (Macklin, Müller & Chentanez 2016), in particle order.
//!
//! ```text
//!   x ← x + h (v + h f_ext/m)
//!   per constraint, `sweeps` times:
//!     Δλ = −(C + α̃ λ + γ ∇C·(x − x_old)) / ((1 + γ) Σ w |∇C|² + α̃),   x ← x + w ∇C Δλ
//!   v = (x − x_old)/h
//!   spring: C = r − L, α̃ = 1/(k h²), γ = kd/(k h);   hinge: C = θ − θ0, α̃ = 1/(K h²)
//! ```
//!
//! The unknown is the move x − x_old, not x: a move of a millimetre keeps its seven digits, a
//! position would not, and v = move/h shows it. w is the inverse mass, 0 for held particles. Relative damping acts along the spring only.
//! A tension-only spring is an inequality: its λ never pushes. As sweeps → ∞ the springs approach
//! backward Euler up to the turning of their directions; with few the cloth is softer than its k.

use super::{Method, Solved, Solver, Step};
use crate::clock;
use crate::forces::{Forces, hinge};
use crate::linalg::vectors::{add_scaled, update};
use crate::model::Model;
use crate::state::State;
use glam::Vec3;

/// Storage and choices.
pub struct Xpbd {
    sweeps: u32,
    floors: Vec<f32>,
    forces: Forces,
    inverse_mass: Vec<f32>,
    moves: Vec<Vec3>,
    spring_multipliers: Vec<f32>,
    hinge_multipliers: Vec<f32>,
}

impl Xpbd {
    /// Storage for a model.
    pub fn new(method: &Method, model: &Model) -> Self {
        Self {
            sweeps: method.sweeps,
            floors: method.spring_floors(model),
            forces: Forces::new(model),
            inverse_mass: vec![0.0; model.particle_count()],
            moves: vec![Vec3::ZERO; model.particle_count()],
            spring_multipliers: vec![0.0; model.spring_count()],
            hinge_multipliers: vec![0.0; model.hinges.len()],
        }
    }

    fn project_springs(&mut self, model: &Model, h: f32, old: &[Vec3]) {
        let moves = &mut self.moves;
        let springs = &model.springs;
        for (s, &[a, b]) in model.topology.links.ends().iter().enumerate() {
            let (a, b) = (a as usize, b as usize);
            let (k, rest) = (springs.stiffness[s], springs.rest_length[s]);
            let (wa, wb) = (self.inverse_mass[a], self.inverse_mass[b]);
            let moved = moves[b] - moves[a];
            let d = (old[b] - old[a]) + moved;
            let r = d.length();
            if k == 0.0 || wa + wb == 0.0 || r == 0.0 {
                continue;
            }
            let n = d / r;
            let compliance = 1.0 / (k * h * h);
            let gamma = (springs.damping[s] + springs.relative_damping[s]) / (k * h);
            let multiplier = &mut self.spring_multipliers[s];
            let delta = -(r - rest + compliance * *multiplier + gamma * n.dot(moved))
                / ((1.0 + gamma) * (wa + wb) + compliance);
            // λ < 0 pulls the ends together.
            let tension_only = self.floors[s] == 0.0;
            let delta = if tension_only { delta.min(-*multiplier) } else { delta };
            *multiplier += delta;
            moves[a] -= wa * delta * n;
            moves[b] += wb * delta * n;
        }
    }

    fn project_hinges(&mut self, model: &Model, h: f32, old: &[Vec3]) {
        let hinges = &model.topology.elements[..model.hinges.len()];
        for (i, corners) in hinges.iter().enumerate() {
            let stiffness = model.hinges.stiffness[i];
            let corners = corners.map(|p| p as usize);
            let at = corners.map(|p| old[p] + self.moves[p]);
            let gradient = hinge::gradient(at);
            let weight: f32 = (gradient.iter().zip(corners))
                .map(|(g, p)| self.inverse_mass[p] * g.length_squared())
                .sum();
            if stiffness == 0.0 || weight == 0.0 {
                continue;
            }
            let bend = hinge::wrapped(hinge::angle(at) - model.hinges.rest_angle[i]);
            let compliance = 1.0 / (stiffness * h * h);
            let multiplier = &mut self.hinge_multipliers[i];
            let delta = -(bend + compliance * *multiplier) / (weight + compliance);
            *multiplier += delta;
            for (g, p) in gradient.into_iter().zip(corners) {
                self.moves[p] += self.inverse_mass[p] * delta * g;
            }
        }
    }
}

impl Solver for Xpbd {
    fn step(&mut self, step: &Step<'_>, state: &mut State) -> Solved {
        let Step { model, inputs, held, h, par, effort, .. } = *step;
        // Predict, with held particles going to their targets.
        update(par, &mut state.v, |i, v| held.free[i] * v + held.velocity[i]);
        self.forces.evaluate_external(model, inputs, par, &state.x, &state.v);
        for (i, w) in self.inverse_mass.iter_mut().enumerate() {
            *w = held.free[i] / model.mass[i];
        }
        let (f, w) = (&self.forces.total, &self.inverse_mass);
        update(par, &mut state.v, |i, v| v + h * w[i] * f[i]);
        let v = &state.v;
        update(par, &mut self.moves, |i, _| h * v[i]);
        // Project.
        let begun = clock::now();
        self.spring_multipliers.fill(0.0);
        self.hinge_multipliers.fill(0.0);
        let sweeps = self.sweeps.min(effort.iterations);
        for _ in 0..sweeps {
            self.project_springs(model, h, &state.x);
            self.project_hinges(model, h, &state.x);
        }
        let solving = clock::now() - begun;
        // Positions and velocities follow.
        let moves = &self.moves;
        update(par, &mut state.v, |i, v| if held.free[i] == 0.0 { v } else { moves[i] / h });
        add_scaled(par, &mut state.x, 1.0, moves);
        Solved { iterations: sweeps, solves: 1, solving, iterating: solving, ..Solved::EXPLICIT }
    }
}
