//! Bodies as a user describes them.

use crate::collide::surface;
use crate::model::{Character, Pose, Shape, Solid, rotation};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A body that cloth does not pass. It stands still, follows its path, or is set from outside
/// ([`crate::Inputs::colliders`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Collider {
    /// Name.
    pub name: String,
    /// Shape and its lengths.
    pub shape: Shape,
    /// Where its middle starts; for a plane any point of it. [m]
    pub position: DVec3,
    /// Orientation at the start: axis times angle. [rad]
    pub rotation: DVec3,
    /// Waypoints; the body moves and turns evenly from one to the next and stays at the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Key>,
    /// Coulomb's coefficient of friction μ between body and cloth.
    pub friction: f64,
    /// Distance from the body at which cloth is stopped. [m]
    pub thickness: f64,
}

/// Where a body on its path is at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Key {
    /// Time. [s]
    pub time: f64,
    /// Offset from its start. [m]
    pub offset: DVec3,
    /// Rotation from its start about its own middle: axis times angle, which may exceed a turn. [rad]
    pub turn: DVec3,
}

impl Default for Collider {
    fn default() -> Self {
        Self {
            name: "body".into(),
            shape: Shape::Sphere { radius: 0.5 },
            position: DVec3::ZERO,
            rotation: DVec3::ZERO,
            path: Vec::new(),
            friction: 0.3,
            thickness: 0.005,
        }
    }
}

impl Collider {
    fn of(shape: Shape, position: DVec3) -> Self {
        Self { shape, position, ..Self::default() }
    }

    /// The half space below a plane through `point` with the given normal.
    pub fn plane(point: DVec3, normal: DVec3) -> Self {
        let (axis, cosine) = (DVec3::Y.cross(normal), normal.y);
        let angle = libm::atan2(axis.length(), cosine);
        let rotation = angle * axis.normalize_or(DVec3::X);
        Self { rotation, ..Self::of(Shape::Plane, point) }
    }

    /// A ball.
    pub fn sphere(centre: DVec3, radius: f64) -> Self {
        Self::of(Shape::Sphere { radius }, centre)
    }

    /// A box with edges of the given lengths.
    pub fn cuboid(centre: DVec3, size: DVec3) -> Self {
        Self::of(Shape::Box { size }, centre)
    }

    /// An upright capsule; `height` is that of its cylinder.
    pub fn capsule(centre: DVec3, radius: f64, height: f64) -> Self {
        Self::of(Shape::Capsule { radius, height }, centre)
    }

    /// An upright cylinder.
    pub fn cylinder(centre: DVec3, radius: f64, height: f64) -> Self {
        Self::of(Shape::Cylinder { radius, height }, centre)
    }

    /// A cone with its tip up.
    pub fn cone(centre: DVec3, radius: f64, height: f64) -> Self {
        Self::of(Shape::Cone { radius, height }, centre)
    }

    /// The convex hull of points, given about `centre`.
    pub fn hull(centre: DVec3, points: Vec<DVec3>) -> Self {
        Self::of(Shape::Hull { points, file: None, solid: Solid::default() }, centre)
    }

    /// A triangle mesh, given about `centre`: closed or open.
    pub fn mesh(centre: DVec3, vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Self {
        let solid = Solid::default();
        Self::of(Shape::Mesh { vertices, triangles, file: None, solid }, centre)
    }

    /// A mesh that bones bend, given about `origin`.
    pub fn character(origin: DVec3, character: Character) -> Self {
        Self::of(Shape::Character(Box::new(character)), origin)
    }

    /// With this coefficient of friction.
    pub fn friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    /// Stopping cloth at this distance. [m]
    pub fn thickness(self, thickness: f64) -> Self {
        Self { thickness, ..self }
    }

    /// Turned by `rotation`: axis times angle. [rad]
    pub fn rotated(self, rotation: DVec3) -> Self {
        Self { rotation, ..self }
    }

    /// Moving along waypoints.
    pub fn path(self, path: Vec<Key>) -> Self {
        Self { path, ..self }
    }

    /// Where it starts.
    pub fn pose(&self) -> Pose {
        Pose { position: self.position, rotation: rotation(self.rotation) }
    }

    /// Triangles to draw it with at the start, in its own coordinates; [`Self::pose`] places them.
    pub fn surface(&self) -> surface::Surface {
        surface::of(&self.shape)
    }
}
