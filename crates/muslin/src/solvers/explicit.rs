//! Explicit integrators. Held particles move with their given velocity in every stage.

use super::{Integrator, Method, Solved, Solver, Step};
use crate::forces::Forces;
use crate::linalg::conjugate_gradient::update;
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
        let Step {
            model,
            inputs,
            held,
            par,
            ..
        } = *step;
        self.forces
            .evaluate_all(model, inputs, &self.floors, par, x, v);
        update(par, &mut self.forces.total, |i, f| {
            (held.free[i] / model.mass[i]) * f
        });
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
            let (x, v) = (
                std::mem::take(&mut self.stage_x),
                std::mem::take(&mut self.stage_v),
            );
            self.accelerate(step, &x, &v);
            (self.stage_x, self.stage_v) = (x, v);
            let slope = &self.forces.total;
            let stage_v = &self.stage_v;
            update(par, &mut self.sum_x, |i, sum| sum + *weight * stage_v[i]);
            update(par, &mut self.sum_v, |i, sum| sum + *weight * slope[i]);
            if let Some(node) = nodes.get(i + 1) {
                update(par, &mut self.stage_x, |i, _| {
                    state.x[i] + node * h * stage_v[i]
                });
                update(par, &mut self.stage_v, |i, _| {
                    state.v[i] + node * h * slope[i]
                });
            }
        }
        let (sum_x, sum_v) = (&self.sum_x, &self.sum_v);
        update(par, &mut state.x, |i, x| x + h * sum_x[i]);
        update(par, &mut state.v, |i, v| v + h * sum_v[i]);
    }
}

impl Solver for Explicit {
    fn step(&mut self, step: &Step<'_>, state: &mut State) -> Solved {
        let Step { held, h, par, .. } = *step;
        update(par, &mut state.v, |i, v| {
            held.free[i] * v + held.velocity[i]
        });
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
                let a = &self.forces.total;
                update(par, &mut state.v, |i, v| v + h * a[i]);
                let v = &state.v;
                update(par, &mut state.x, |i, x| x + h * v[i]);
            }
        }
        Solved::EXPLICIT
    }
}
