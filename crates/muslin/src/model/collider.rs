//! Bodies that cloth meets: what they are, where they are when.

use super::character::Character;
use super::solid::Solid;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Shapes of bodies, in their own coordinates: centred at the origin, the axis of round ones along y.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// Everything below y = 0.
    Plane,
    /// A ball.
    Sphere {
        /// Radius. [m]
        radius: f64,
    },
    /// A box.
    Box {
        /// Lengths of its edges. [m]
        size: DVec3,
    },
    /// A cylinder with half balls at its ends.
    Capsule {
        /// Radius. [m]
        radius: f64,
        /// Length of the cylinder between the half balls. [m]
        height: f64,
    },
    /// A cylinder.
    Cylinder {
        /// Radius. [m]
        radius: f64,
        /// Length. [m]
        height: f64,
    },
    /// A cone with its tip up; its middle is half-way between base and tip.
    Cone {
        /// Radius of the base. [m]
        radius: f64,
        /// Length from base to tip. [m]
        height: f64,
    },
    /// The convex hull of points.
    Hull {
        /// The points, in any order; those inside do not matter. [m]
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        points: Vec<DVec3>,
        /// OBJ, glTF or GLB file whose vertices are the points, relative to the scene file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Made when the scene is compiled.
        #[serde(skip)]
        solid: Solid,
    },
    /// A triangle mesh: a solid if it is closed, else a sheet that cloth does not pass from either side.
    Mesh {
        /// Vertices. [m]
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        vertices: Vec<DVec3>,
        /// Corners of each triangle.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        triangles: Vec<[u32; 3]>,
        /// OBJ, glTF or GLB file that holds them, relative to the scene file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Made when the scene is compiled.
        #[serde(skip)]
        solid: Solid,
    },
    /// A triangle mesh that bones bend.
    Character(Box<Character>),
}

/// Where a body is: x = position + rotation · (own coordinates).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Place of the body's origin. [m]
    pub position: DVec3,
    /// Orientation.
    pub rotation: DQuat,
}

impl Pose {
    /// A point of the body in the world.
    pub fn to_world(self, own: DVec3) -> DVec3 {
        self.position + self.rotation * own
    }

    /// A point of the world in the body's own coordinates.
    pub fn to_own(self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * (world - self.position)
    }

    /// Whether every number is finite and the rotation is one.
    pub fn is_valid(self) -> bool {
        self.position.is_finite() && (self.rotation.length_squared() - 1.0).abs() < 1e-3
    }

    /// Part of the way to another pose.
    pub fn toward(self, end: Self, share: f64) -> Self {
        Self {
            position: self.position.lerp(end.position, share),
            rotation: nlerp(self.rotation, end.rotation, share),
        }
    }
}

/// Where a body on a path is at a time, relative to its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Key {
    /// Time. [s]
    pub time: f64,
    /// Offset. [m]
    pub offset: DVec3,
    /// Axis times angle. [rad]
    pub turn: DVec3,
}

/// A body.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Its name in the scene.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// Where it starts.
    pub start: Pose,
    /// Ascending in time; linear in between.
    pub path: Vec<Key>,
    /// Coulomb's μ.
    pub friction: f64,
    /// Distance at which the cloth's middle surface is stopped. [m]
    pub thickness: f64,
}

impl Collider {
    /// Where the path has the body at a time.
    pub fn pose(&self, time: f64) -> Pose {
        let after = self.path.partition_point(|key| key.time <= time);
        let (offset, turn) = match (self.path.get(after.wrapping_sub(1)), self.path.get(after)) {
            (Some(from), Some(to)) => {
                let share = (time - from.time) / (to.time - from.time);
                (from.offset.lerp(to.offset, share), from.turn.lerp(to.turn, share))
            }
            (Some(only), None) | (None, Some(only)) => (only.offset, only.turn),
            (None, None) => return self.start,
        };
        Pose {
            position: self.start.position + offset,
            rotation: (rotation(turn) * self.start.rotation).normalize(),
        }
    }
}

/// The rotation by |v| about v, with the same bits on every machine.
pub fn rotation(v: DVec3) -> DQuat {
    let angle = v.length();
    if angle == 0.0 {
        return DQuat::IDENTITY;
    }
    let (sin, cos) = libm::sincos(0.5 * angle);
    let axis = v * (sin / angle);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cos)
}

/// Part of the way from one rotation to another, the short way.
fn nlerp(from: DQuat, to: DQuat, share: f64) -> DQuat {
    let to = if from.dot(to) < 0.0 { -to } else { to };
    (from * (1.0 - share) + to * share).normalize()
}
