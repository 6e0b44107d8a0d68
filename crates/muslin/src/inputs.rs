//! Everything the outside may change between steps.

use crate::model::Pose;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Gravity, wind, held and pulled particles; read at the start of every step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Acceleration of gravity. [m/s²]
    pub gravity: Vec3,
    /// Wind velocity, to which the scene adds its gusts. [m/s]
    pub wind: Vec3,
    /// Particles held in addition to the scene's pins: hands, drags, attachments.
    pub held: Vec<Hold>,
    /// Particles that the scene's pins let go of.
    pub released: Vec<usize>,
    /// Particles pulled towards a point by a spring: drags that give way.
    pub pulls: Vec<Pull>,
    /// Bodies placed from outside; they leave their paths as long as they are named here.
    pub colliders: Vec<Placement>,
    /// What the solver may spend on each step, where the method has no budget of its own.
    pub effort: Effort,
}

/// One body placed from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Index in scene order; others are ignored.
    pub collider: usize,
    /// Where it is to be at the end of the frame, reached evenly; ignored unless finite and with a
    /// rotation of unit length.
    pub pose: Pose,
}

/// One held particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// Index in scene order.
    pub particle: usize,
    /// Where it is to be at the end of the step. [m]
    pub target: Vec3,
}

/// One pulled particle. Several pulls on one particle add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Index in scene order; others are ignored.
    pub particle: usize,
    /// Where it is pulled to; ignored unless finite. [m]
    pub target: Vec3,
    /// k of f = k (target − x); ignored unless finite and positive. Methods that are not implicit
    /// use at most what they stand. [N/m]
    pub stiffness: f32,
}

/// What a solver may spend on a step at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effort {
    /// Linearisations.
    pub linearisations: u32,
    /// Iterations or sweeps of each.
    pub iterations: u32,
}

impl Default for Effort {
    /// No limit of its own.
    fn default() -> Self {
        Self { linearisations: u32::MAX, iterations: u32::MAX }
    }
}
