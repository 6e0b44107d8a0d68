//! Explicit integrators. Held particles move with their given velocity in every stage.

use super::{Integrator, Method, Solved, Solver, Step};
use crate::forces::Forces;
use crate::linalg::vectors::{add_scaled, set_sum, update};
use crate::model::Model;
use crate::state::State;
use glam::Vec3;

/// Explicit Euler, symplectic Euler, midpoint and Runge–Kutta 4.
pub struct Explicit {
    integrator: Integrator,
    floors: Vec<f32>,
    forces: Forces,
    /// Positions and velocities of a stage.
    stage_x: Vec<Vec3>,
    stage_v: Vec<Vec3>,
    /// Weighted sums of the stages' slopes.
    sum_x: Vec<Vec3>,
    sum_v: Vec<Vec3>,
}

impl Explicit {
    /// Storage for a model.
    pub fn new(method: &Method, model: &Model) -> Self {
        let zeros = vec![Vec3::ZERO; model.particle_count()];
        Self {
            integrator: method.integrator,
            floors: method.spring_floors(model),
            forces: Forces::new(model),
            stage_x: zeros.clone(),
            stage_v: zeros.clone(),
            sum_x: zeros.clone(),
            sum_v: zeros,
        }
    }

    /// Leaves the accelerations at (x, v) in `forces.total`; zero for held particles.
    fn accelerate(&mut self, step: &Step<'_>, x: &[Vec3], v: &[Vec3]) {
        let Step { model, inputs, held, par, .. } = *step;
        self.forces.evaluate_all(model, inputs, &self.floors, par, x, v);
        update(par, &mut self.forces.total, |i, f| (held.free[i] / model.mass[i]) * f);
    }

    /// Runge–Kutta with a diagonal tableau: stage i is evaluated at `nodes[i]`·h along the slope of
    /// the stage before it and enters the result with weight `weights[i]`.
    fn runge_kutta(&mut self, step: &Step<'_>, state: &mut State, nodes: &[f32], weights: &[f32]) {
        let (h, par) = (step.h, step.par);
        self.stage_x.copy_from_slice(&state.x);
        self.stage_v.copy_from_slice(&state.v);
        self.sum_x.fill(Vec3::ZERO);
        self.sum_v.fill(Vec3::ZERO);
        for (i, weight) in weights.iter().enumerate() {
            let (x, v) = (std::mem::take(&mut self.stage_x), std::mem::take(&mut self.stage_v));
            self.accelerate(step, &x, &v);
            (self.stage_x, self.stage_v) = (x, v);
            let slope = &self.forces.total;
            add_scaled(par, &mut self.sum_x, *weight, &self.stage_v);
            add_scaled(par, &mut self.sum_v, *weight, slope);
            if let Some(node) = nodes.get(i + 1) {
                set_sum(par, &mut self.stage_x, &state.x, node * h, &self.stage_v);
                set_sum(par, &mut self.stage_v, &state.v, node * h, slope);
            }
        }
        add_scaled(par, &mut state.x, h, &self.sum_x);
        add_scaled(par, &mut state.v, h, &self.sum_v);
    }
}

impl Solver for Explicit {
    fn step(&mut self, step: &Step<'_>, state: &mut State) -> Solved {
        let Step { held, h, par, .. } = *step;
        update(par, &mut state.v, |i, v| held.free[i] * v + held.velocity[i]);
        match self.integrator {
            Integrator::Midpoint => self.runge_kutta(step, state, &[0.0, 0.5], &[0.0, 1.0]),
            Integrator::Rk4 => {
                let sixth = 1.0 / 6.0;
                let weights = [sixth, 2.0 * sixth, 2.0 * sixth, sixth];
                self.runge_kutta(step, state, &[0.0, 0.5, 0.5, 1.0], &weights);
            }
            Integrator::ExplicitEuler => self.runge_kutta(step, state, &[0.0], &[1.0]),
            _ => {
                self.accelerate(step, &state.x, &state.v);
                add_scaled(par, &mut state.v, h, &self.forces.total);
                add_scaled(par, &mut state.x, h, &state.v);
            }
        }
        Solved::EXPLICIT
    }
}
