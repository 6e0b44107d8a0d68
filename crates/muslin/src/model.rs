//! A scene compiled to arrays. Never changes afterwards.

mod character;
mod collider;
mod skin;
mod solid;

pub use character::{Bone, Channel, Character, Interpolation, Property};
pub use collider::{Collider, Key, Pose, Shape, rotation};
pub use skin::{Facets, Skin};
pub use solid::{Solid, hull};

use crate::linalg::Topology;
use crate::mesh::Incidence;
use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Constants of every spring; spring `s` joins `topology.links.ends()[s]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Springs {
    /// Stiffness. [N/m]
    pub stiffness: Vec<f32>,
    /// Rest length. [m]
    pub rest_length: Vec<f32>,
    /// Damping along the spring. [N·s/m]
    pub damping: Vec<f32>,
    /// Relative damping in all directions (Kang & Cho Eq. 24). [N·s/m]
    pub relative_damping: Vec<f32>,
    /// Carries the cloth's stretch (structural, shear, type 1) rather than its bending.
    pub strong: Vec<bool>,
    /// Counted in the strain figures.
    pub structural: Vec<bool>,
    /// Has no force in compression by the scene's own wish.
    pub tension_only: Vec<bool>,
    /// Whether any spring has any damping.
    pub is_damped: bool,
}

/// Constants of every hinge; hinge `i` bends `topology.elements[i]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hinges {
    /// K of E = ½ K (θ − θ0)². [J]
    pub stiffness: Vec<f32>,
    /// Angle of the rest shape. [rad]
    pub rest_angle: Vec<f32>,
    /// ∇θ coefficients of the flat shape. [1/m]
    pub flat: Vec<[f32; 4]>,
}

impl Hinges {
    /// Number of hinges.
    pub fn len(&self) -> usize {
        self.stiffness.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.stiffness.is_empty()
    }
}

/// How the torque of a 3D spring grows with the angle θ between a particle's own direction and the
/// spring; formulas in `forces/turning.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurningLaw {
    /// K θ sin θ, as Jeong & Lee print it: no stiffness at rest.
    Printed,
    /// K θ.
    Linear,
    /// K sin θ: no trigonometry needed.
    #[default]
    Sine,
}

/// Constants of the turning part of every 3D spring; 3D spring `t` couples
/// `topology.elements[hinges.len() + t]`. All empty where there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turning {
    /// The two particles.
    pub ends: Vec<[u32; 2]>,
    /// K at each end. [N·m]
    pub stiffness: Vec<f32>,
    /// Torsional damping. [N·m·s]
    pub damping: Vec<f32>,
    /// Unit direction to the other end in the rest shape, by end.
    pub directions: Vec<[Vec3; 2]>,
    /// Rest length. [m]
    pub rest_length: Vec<f32>,
    /// The law.
    pub law: Vec<TurningLaw>,
    /// 3D springs of each particle.
    pub members: Incidence,
    /// Moment of inertia of every particle. [kg·m²]
    pub inertia: Vec<f32>,
    /// Angular velocities at the start. [rad/s]
    pub start_spin: Vec<Vec3>,
    /// Whether any has damping.
    pub is_damped: bool,
}

impl Turning {
    /// Number of 3D springs.
    pub fn len(&self) -> usize {
        self.stiffness.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.stiffness.is_empty()
    }
}

/// The air around the cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Air {
    /// Density. [kg/m³]
    pub density: f32,
    /// C_d of a triangle.
    pub drag_coefficient: f32,
    /// C_l of a triangle.
    pub lift_coefficient: f32,
    /// Linear drag per mass. [1/s]
    pub drag: f32,
    /// Amplitude added to the wind as a sine of time. [m/s]
    pub gust: Vec3,
    /// Period of the gusts. [s]
    pub gust_period: f32,
}

impl Air {
    /// Whether triangles feel the air.
    pub fn acts_on_triangles(&self) -> bool {
        self.density * (self.drag_coefficient + self.lift_coefficient) != 0.0
    }

    /// What the gusts add to the wind at a time.
    pub fn gust_at(&self, time: f64) -> Vec3 {
        let phase = std::f64::consts::TAU * time / f64::from(self.gust_period);
        self.gust * libm::sin(phase) as f32
    }
}

/// A particle the scene holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The particle.
    pub particle: u32,
    /// Where it starts, in the coordinates of its body if it has one, of a triangle if that is a
    /// character. [m]
    pub start: Vec3,
    /// The body that carries it.
    pub body: Option<usize>,
    /// The triangle of a character that carries it.
    pub triangle: u32,
    /// (time, offset from the start), ascending in time; linear in between.
    pub path: Vec<(f64, Vec3)>,
    /// Let go from this time on. [s]
    pub release: f64,
    /// Holds the orientation as well.
    pub clamp: bool,
}

impl Pin {
    /// Where the pin is at `time`, or `None` once released. `carried` says where a body has a point of
    /// its own, and an offset from there.
    pub fn target(
        &self,
        time: f64,
        carried: impl Fn(usize, DVec3, DVec3) -> Option<DVec3>,
    ) -> Option<Vec3> {
        if time > self.release {
            return None;
        }
        let after = self.path.partition_point(|&(t, _)| t <= time);
        let offset = match (self.path.get(after.wrapping_sub(1)), self.path.get(after)) {
            (Some(&(t0, from)), Some(&(t1, to))) => {
                from + ((time - t0) / (t1 - t0)) as f32 * (to - from)
            }
            (Some(&(_, only)), None) | (None, Some(&(_, only))) => only,
            (None, None) => Vec3::ZERO,
        };
        let on = |body| carried(body, self.start.as_dvec3(), offset.as_dvec3());
        Some(self.body.and_then(on).map_or(self.start + offset, |place| place.as_vec3()))
    }
}

/// Contact of cloth with cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfContact {
    /// Distance at which the middle surfaces of two layers are stopped. [m]
    pub thickness: f64,
    /// Coulomb's μ between layers.
    pub friction: f64,
}

/// One cloth of the scene and where its parts are.
#[derive(Clone, Debug, PartialEq)]
pub struct ClothPart {
    /// Its name in the scene.
    pub name: String,
    /// Its particles.
    pub particles: Range<usize>,
    /// Its triangles.
    pub triangles: Range<usize>,
    /// Columns and rows if it is a grid.
    pub grid: Option<(usize, usize)>,
    /// Whether some of its edges are cut.
    pub is_cut: bool,
}

/// Everything constant about a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Name of the scene.
    pub name: String,
    /// Seconds of one frame. [s]
    pub dt: f64,
    /// Steps per frame.
    pub substeps: u32,
    /// Suggested length of a run. [s]
    pub seconds: f64,
    /// Positions of the rest shape. [m]
    pub rest_x: Vec<Vec3>,
    /// Positions at the start. [m]
    pub start_x: Vec<Vec3>,
    /// Velocities at the start. [m/s]
    pub start_v: Vec<Vec3>,
    /// Particle masses. [kg]
    pub mass: Vec<f32>,
    /// −C v on each particle. [N·s/m]
    pub absolute_damping: Vec<f32>,
    /// Which rows of the implicit system springs, hinges and 3D springs join: particle `i` is row `i`,
    /// its orientation row `particle_count + i`.
    pub topology: Topology,
    /// Constants of the springs.
    pub springs: Springs,
    /// max k/m over all springs, m the lighter end, and K/I over all 3D springs. [1/s²]
    pub stiffest: f32,
    /// max kd/m over all springs, m the lighter end. [1/s]
    pub most_damped: f32,
    /// min kd/k over all springs, kd with its share of absolute damping. [s]
    pub damping_time: f32,
    /// Constants of the hinges.
    pub hinges: Hinges,
    /// Turning part of the 3D springs.
    pub turning: Turning,
    /// Corners of every triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Triangles of each particle.
    pub triangle_members: Incidence,
    /// Particles the scene holds.
    pub pins: Vec<Pin>,
    /// Bodies.
    pub colliders: Vec<Collider>,
    /// Contact of cloth with cloth, where the scene has it.
    pub self_contact: Option<SelfContact>,
    /// The piece (connected by springs and hinges) each particle belongs to.
    pub piece: Vec<u32>,
    /// Number of pieces.
    pub piece_count: usize,
    /// Cloths in scene order.
    pub cloths: Vec<ClothPart>,
    /// The air.
    pub air: Air,
    /// Gravity of the scene. [m/s²]
    pub gravity: Vec3,
    /// Wind of the scene. [m/s]
    pub wind: Vec3,
}

impl Model {
    /// Number of particles.
    pub fn particle_count(&self) -> usize {
        self.mass.len()
    }

    /// Rows of the implicit system: particles, then orientations if there are any.
    pub fn row_count(&self) -> usize {
        self.mass.len() + self.turning.inertia.len()
    }

    /// Number of springs.
    pub fn spring_count(&self) -> usize {
        self.springs.stiffness.len()
    }

    /// The stiffness number κ = max k h²/m over all springs, m the lighter end.
    pub fn stiffness_number(&self, h: f32) -> f32 {
        self.stiffest * h * h
    }
}
