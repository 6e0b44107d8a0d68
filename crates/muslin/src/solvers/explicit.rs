//! Explicit integrators. Held particles move with their given velocity in every stage.

use super::{Integrator, Method, Solved, Solver, Step};
use crate::forces::{Forces, turning};
use crate::linalg::vectors::{add_scaled, set_sum, update};
use crate::model::Model;
use crate::state::{Motion, State};
use glam::{Quat, Vec3};

/// Explicit Euler, symplectic Euler, midpoint and Runge–Kutta 4.
pub struct Explicit {
    integrator: Integrator,
    floors: Vec<f32>,
    forces: Forces,
    /// A stage: positions, velocities, orientations and angular velocities.
    stage: Stage,
    /// Weighted sums of the stages' slopes.
    sum: Stage,
}

/// A state without its time; orientations are quaternions of any length.
#[derive(Clone, Default)]
struct Stage {
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    orientation: Vec<Quat>,
    spin: Vec<Vec3>,
}

impl Stage {
    fn motion(&self) -> Motion<'_> {
        Motion { x: &self.x, v: &self.v, orientation: &self.orientation, spin: &self.spin }
    }
}

impl Explicit {
    /// Storage for a model.
    pub fn new(method: &Method, model: &Model) -> Self {
        let zeros = vec![Vec3::ZERO; model.particle_count()];
        let oriented = model.turning.inertia.len();
        let stage = Stage {
            x: zeros.clone(),
            v: zeros,
            orientation: vec![Quat::IDENTITY; oriented],
            spin: vec![Vec3::ZERO; oriented],
        };
        Self {
            integrator: method.integrator,
            floors: method.spring_floors(model),
            forces: Forces::new(model),
            sum: stage.clone(),
            stage,
        }
    }

    /// Leaves the accelerations in `forces.total`, zero for held particles, and the angular ones in
    /// `forces.torques`.
    fn accelerate(&mut self, step: &Step<'_>, at: Motion<'_>) {
        let Step { model, inputs, held, par, .. } = *step;
        self.forces.evaluate_all(model, inputs, &self.floors, par, at);
        update(par, &mut self.forces.total, |i, f| (held.free[i] / model.mass[i]) * f);
        update(par, &mut self.forces.torques, |i, t| {
            (held.turns[i] / model.turning.inertia[i]) * t
        });
    }

    /// Runge–Kutta with a diagonal tableau: stage i is evaluated at `nodes[i]`·h along the slope of
    /// the stage before it and enters the result with weight `weights[i]`.
    fn runge_kutta(&mut self, step: &Step<'_>, state: &mut State, nodes: &[f32], weights: &[f32]) {
        let (h, par) = (step.h, step.par);
        self.stage.x.copy_from_slice(&state.x);
        self.stage.v.copy_from_slice(&state.v);
        self.stage.orientation.copy_from_slice(&state.orientation);
        self.stage.spin.copy_from_slice(&state.spin);
        self.sum.x.fill(Vec3::ZERO);
        self.sum.v.fill(Vec3::ZERO);
        self.sum.orientation.fill(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
        self.sum.spin.fill(Vec3::ZERO);
        for (i, weight) in weights.iter().enumerate() {
            let mut stage = std::mem::take(&mut self.stage);
            self.accelerate(step, stage.motion());
            let (slope, turn) = (&self.forces.total, &self.forces.torques);
            add_scaled(par, &mut self.sum.x, *weight, &stage.v);
            add_scaled(par, &mut self.sum.v, *weight, slope);
            add_scaled(par, &mut self.sum.spin, *weight, turn);
            for (i, sum) in self.sum.orientation.iter_mut().enumerate() {
                *sum += turning::rate(stage.orientation[i], stage.spin[i]) * *weight;
            }
            if let Some(node) = nodes.get(i + 1) {
                set_sum(par, &mut stage.x, &state.x, node * h, &stage.v);
                set_sum(par, &mut stage.v, &state.v, node * h, slope);
                for (i, q) in stage.orientation.iter_mut().enumerate() {
                    *q = state.orientation[i] + turning::rate(*q, stage.spin[i]) * (node * h);
                }
                set_sum(par, &mut stage.spin, &state.spin, node * h, turn);
            }
            self.stage = stage;
        }
        add_scaled(par, &mut state.x, h, &self.sum.x);
        add_scaled(par, &mut state.v, h, &self.sum.v);
        add_scaled(par, &mut state.spin, h, &self.sum.spin);
        for (q, sum) in state.orientation.iter_mut().zip(&self.sum.orientation) {
            *q = (*q + *sum * h).normalize();
        }
    }
}

impl Solver for Explicit {
    fn step(&mut self, step: &Step<'_>, state: &mut State) -> Solved {
        let Step { held, h, par, .. } = *step;
        update(par, &mut state.v, |i, v| held.free[i] * v + held.velocity[i]);
        update(par, &mut state.spin, |i, spin| held.turns[i] * spin);
        match self.integrator {
            Integrator::Midpoint => self.runge_kutta(step, state, &[0.0, 0.5], &[0.0, 1.0]),
            Integrator::Rk4 => {
                let sixth = 1.0 / 6.0;
                let weights = [sixth, 2.0 * sixth, 2.0 * sixth, sixth];
                self.runge_kutta(step, state, &[0.0, 0.5, 0.5, 1.0], &weights);
            }
            Integrator::ExplicitEuler => self.runge_kutta(step, state, &[0.0], &[1.0]),
            _ => {
                self.accelerate(step, state.motion());
                add_scaled(par, &mut state.v, h, &self.forces.total);
                add_scaled(par, &mut state.x, h, &state.v);
                add_scaled(par, &mut state.spin, h, &self.forces.torques);
                turning::advance(&mut state.orientation, h, &state.spin);
            }
        }
        Solved::EXPLICIT
    }
}
