//! Everything needed to continue a simulation.

use crate::model::Pose;
use glam::{DVec3, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// Positions, velocities and time. Restoring a saved state continues bit for bit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Simulated time. [s]
    pub time: f64,
    /// Positions in scene order. [m]
    pub x: Vec<Vec3>,
    /// Velocities. [m/s]
    pub v: Vec<Vec3>,
    /// Orientations; empty where there are no 3D springs.
    pub orientation: Vec<Quat>,
    /// Angular velocities; empty where there are no 3D springs. [rad/s]
    pub spin: Vec<Vec3>,
    /// Velocity change of the last step, the start of a warm-started solve; zero under methods that
    /// start otherwise. [m/s]
    pub last_change: Vec<Vec3>,
    /// Positions of the step before, for methods that look back; else empty. [m]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub previous_x: Vec<Vec3>,
    /// Velocities of the step before. [m/s]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub previous_v: Vec<Vec3>,
    /// Length of the step before; 0 if it must not be looked back on. [s]
    #[serde(default)]
    pub previous_h: f32,
    /// Who was held in the step before, as a checksum: others held are a discontinuity.
    #[serde(default)]
    pub previous_held: u32,
    /// Positions of the hidden interface particles of meshless methods that have them, else
    /// empty. [m]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interface_x: Vec<Vec3>,
    /// Velocities of the interface particles. [m/s]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interface_v: Vec<Vec3>,
    /// Where the bodies are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colliders: Vec<Pose>,
    /// Which particles touch which bodies, in the order of particles, then bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<Touch>,
    /// Where cloth presses on cloth, in the order of corners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub presses: Vec<Press>,
}

/// Cloth on cloth: a vertex on a triangle, or an edge on an edge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Press {
    /// The particles: those of the first primitive (`first` of them), then those of the second.
    pub corners: [u32; 4],
    /// 1 for a vertex on a triangle, 2 for an edge on an edge.
    pub first: u8,
    /// How much of the impulse each particle takes, with its sign.
    pub weights: [f32; 4],
    /// Impulse of the last step on the first primitive, friction included. [N·s]
    pub impulse: Vec3,
}

fn is_zero(triangle: &u32) -> bool {
    *triangle == 0
}

/// A particle on a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Touch {
    /// The particle.
    pub particle: u32,
    /// The body.
    pub collider: u32,
    /// Where on the body it sticks, in the body's coordinates; `None` while it slides. [m]
    pub anchor: Option<DVec3>,
    /// Of a character, the triangle that carries the anchor, which is then in its coordinates.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub triangle: u32,
    /// Normal impulse of the last step. [N·s]
    pub impulse: f32,
    /// All of that impulse, friction included, in the body's coordinates. [N·s]
    #[serde(default)]
    pub reaction: Vec3,
}

/// What forces depend on. `orientation` and `spin` are empty where there are no 3D springs.
#[derive(Clone, Copy)]
pub struct Motion<'a> {
    /// Positions. [m]
    pub x: &'a [Vec3],
    /// Velocities. [m/s]
    pub v: &'a [Vec3],
    /// Orientations, not necessarily of unit length.
    pub orientation: &'a [Quat],
    /// Angular velocities. [rad/s]
    pub spin: &'a [Vec3],
}

impl<'a> Motion<'a> {
    /// Particles without orientation.
    pub fn of_points(x: &'a [Vec3], v: &'a [Vec3]) -> Self {
        Self { x, v, orientation: &[], spin: &[] }
    }
}

impl State {
    /// Copies without allocating when the sizes match.
    pub fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.x.clone_from(&other.x);
        self.v.clone_from(&other.v);
        self.orientation.clone_from(&other.orientation);
        self.spin.clone_from(&other.spin);
        self.last_change.clone_from(&other.last_change);
        self.previous_x.clone_from(&other.previous_x);
        self.previous_v.clone_from(&other.previous_v);
        self.previous_h = other.previous_h;
        self.previous_held = other.previous_held;
        self.interface_x.clone_from(&other.interface_x);
        self.interface_v.clone_from(&other.interface_v);
        self.colliders.clone_from(&other.colliders);
        self.touches.clone_from(&other.touches);
        self.presses.clone_from(&other.presses);
    }

    /// What forces depend on.
    pub fn motion(&self) -> Motion<'_> {
        Motion { x: &self.x, v: &self.v, orientation: &self.orientation, spin: &self.spin }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        // One more than the exponent of infinity and NaN is the sign; integers vectorise.
        let finite = |values: &[Vec3]| {
            let over = |bits: &u32| (bits & 0x7fff_ffff) + 0x0080_0000;
            let bits = bytemuck::cast_slice::<_, u32>(values);
            bits.iter().fold(0, |all, b| all | over(b)) >> 31 == 0
        };
        let vectors = [&self.x, &self.v, &self.spin, &self.last_change];
        let hidden = [&self.previous_x, &self.previous_v, &self.interface_x, &self.interface_v];
        vectors.iter().chain(&hidden).all(|values| finite(values))
            && self.orientation.iter().all(|q| q.is_finite())
            && self.colliders.iter().all(|pose| pose.is_valid())
    }
}
