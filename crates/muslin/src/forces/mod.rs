//! Forces, one file per family: pure functions for energy, force and Jacobian, and the loops that
//! apply them to a model.

pub mod air_drag;
pub mod damping;
pub mod gravity;
pub mod hinge;
pub mod pull;
pub mod spring;
pub mod turning;
pub mod wind;

use crate::inputs::Inputs;
use crate::lanes::{LANES, Vectors};
use crate::model::Model;
use crate::par::Par;
use crate::state::Motion;
use glam::{DQuat, DVec3, Vec3};

/// Force vectors and the intermediate values they are gathered from; allocated once.
#[derive(Clone, Debug, Default)]
pub struct Forces {
    /// Force on each particle. [N]
    pub total: Vec<Vec3>,
    /// Hinges at the positions of the last evaluation.
    pub hinges: Vec<hinge::Bend>,
    /// Wind on each triangle at the last evaluation.
    pub wind: Vec<wind::Gust>,
    /// Torque on each oriented particle. [N·m]
    pub torques: Vec<Vec3>,
    /// 3D springs at the last evaluation.
    pub turns: Vec<turning::Turn>,
}

impl Forces {
    /// Storage for a model.
    pub fn new(model: &Model) -> Self {
        Self {
            total: vec![Vec3::ZERO; model.particle_count()],
            hinges: vec![hinge::Bend::default(); model.hinges.len()],
            wind: vec![wind::Gust::default(); model.triangles.len()],
            torques: vec![Vec3::ZERO; model.turning.inertia.len()],
            turns: vec![turning::Turn::default(); model.turning.len()],
        }
    }

    /// Gravity, wind, drag, absolute damping and pulls at (x, v), which need no neighbours' stiffness;
    /// no torques.
    pub fn evaluate_external(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        par: Par,
        x: &[Vec3],
        v: &[Vec3],
    ) {
        self.evaluate_surroundings(model, inputs, par, x, v);
        pull::add(&mut self.total, &inputs.pulls, x);
    }

    /// The external forces without the pulls.
    pub fn evaluate_surroundings(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        par: Par,
        x: &[Vec3],
        v: &[Vec3],
    ) {
        self.torques.fill(Vec3::ZERO);
        gravity::set(&mut self.total, &model.mass, inputs.gravity, par);
        damping::add_absolute(&mut self.total, model, par, v);
        air_drag::add(&mut self.total, model, inputs.wind, par, v);
        wind::evaluate(&mut self.wind, model, inputs.wind, par, x, v);
        wind::add(&mut self.total, model, &self.wind, par);
    }

    /// Adds springs, hinges and the turning part of 3D springs.
    pub fn add_elastic(&mut self, model: &Model, floors: &[f32], par: Par, at: Motion<'_>) {
        spring::add(&mut self.total, &model.topology.links, &model.springs, floors, par, at.x);
        hinge::evaluate_and_add(&mut self.hinges, &mut self.total, model, par, at.x);
        turning::evaluate(&mut self.turns, model, par, at.x, at.orientation);
        turning::add(&mut self.total, &mut self.torques, model, &self.turns, par);
    }

    /// Adds the dampers between particles.
    pub fn add_dampers(&mut self, model: &Model, par: Par, at: Motion<'_>) {
        damping::add_between(&mut self.total, model, par, at.x, at.v);
        if model.turning.is_damped {
            self.turns.fill(turning::Turn::default());
            turning::add_damping(&mut self.turns, model, par, at);
            turning::add(&mut self.total, &mut self.torques, model, &self.turns, par);
        }
    }

    /// Everything.
    pub fn evaluate_all(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        floors: &[f32],
        par: Par,
        at: Motion<'_>,
    ) {
        self.evaluate_external(model, inputs, par, at.x, at.v);
        self.add_elastic(model, floors, par, at);
        self.add_dampers(model, par, at);
    }
}

/// Energy of all springs, hinges and 3D springs with particles at the positions `at` and in the
/// orientations `orientation` gives. [J]
pub fn elastic_energy(
    model: &Model,
    floors: &[f32],
    at: impl Fn(u32) -> DVec3,
    orientation: impl Fn(u32) -> DQuat,
) -> f64 {
    let springs = &model.springs;
    let mut sum = 0.0;
    for (s, &[a, b]) in model.topology.links.ends().iter().enumerate() {
        let r = at(a).distance(at(b));
        sum += spring::energy(springs.stiffness[s], springs.rest_length[s], r, floors[s]);
    }
    let hinges = &model.topology.elements[..model.hinges.len()];
    for (eight, hinges) in hinges.chunks(LANES).enumerate() {
        // Where each hinge is does not matter, and single precision has the digits for its angle.
        let mut x = [Vectors::ZERO; 4];
        for (lane, corners) in hinges.iter().enumerate() {
            let first = at(corners[0]);
            let corners = corners.iter().map(|p| (at(*p) - first).as_vec3());
            x.iter_mut().zip(corners).for_each(|(x, corner)| x.set(lane, corner));
        }
        for (h, angle) in (LANES * eight..).zip(&hinge::angles(&x)[..hinges.len()]) {
            let bend = f64::from(hinge::wrapped(angle - model.hinges.rest_angle[h]));
            sum += 0.5 * f64::from(model.hinges.stiffness[h]) * bend * bend;
        }
    }
    sum + turning::total_energy(model, at, orientation)
}
