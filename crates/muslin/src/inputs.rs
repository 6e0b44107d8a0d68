//! Everything the outside may change between steps.

use glam::Vec3;

/// Gravity, wind and held particles; read at the start of every step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Acceleration of gravity. [m/s²]
    pub gravity: Vec3,
    /// Wind velocity, to which the scene adds its gusts. [m/s]
    pub wind: Vec3,
    /// Particles held in addition to the scene's pins: hands, drags, attachments.
    pub held: Vec<Hold>,
}

/// One held particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// Index in scene order.
    pub particle: usize,
    /// Where it is to be at the end of the step. [m]
    pub target: Vec3,
}
