//! Checks one body, and attaches to it what it carries.

use super::character;
use super::check::Check;
use crate::collide::Skinned;
use crate::error::Error;
use crate::model::{self, Pose, Solid};
use crate::scene::{Collider, Shape};
use glam::DVec3;

/// Sizes of bodies lie between these. [m]
const SIZES: (f64, f64) = (1e-6, 1e6);

pub fn compile(body: &Collider, check: &Check) -> Result<model::Collider, Error> {
    check.vector("position", body.position, 1e6)?;
    check.vector("rotation", body.rotation, 1e6)?;
    check.range("friction", body.friction, 0.0, 100.0)?;
    check.range("thickness", body.thickness, 1e-6, 1e3)?;
    let shape = compile_shape(&body.shape, check)?;
    let mut path: Vec<model::Key> = Vec::new();
    for (index, key) in body.path.iter().enumerate() {
        let name = |field: &str| format!("path.{index}.{field}");
        check.range(&name("time"), key.time, 0.0, 1e9)?;
        check.vector(&name("offset"), key.offset, 1e6)?;
        check.vector(&name("turn"), key.turn, 1e6)?;
        if path.last().is_some_and(|before| before.time >= key.time) {
            return Err(check.error(&name("time"), key.time, "times must ascend"));
        }
        path.push(model::Key { time: key.time, offset: key.offset, turn: key.turn });
    }
    Ok(model::Collider {
        name: body.name.clone(),
        shape,
        start: body.pose(),
        path,
        friction: body.friction,
        thickness: body.thickness,
    })
}

/// Checks a shape's lengths; of hulls and meshes makes what answers for their distances.
fn compile_shape(shape: &Shape, check: &Check) -> Result<Shape, Error> {
    let (low, high) = SIZES;
    match shape {
        Shape::Plane => {}
        Shape::Sphere { radius } => check.range("shape.radius", *radius, low, high)?,
        Shape::Box { size } => {
            let names = ["shape.size.0", "shape.size.1", "shape.size.2"];
            let mut edges = names.iter().zip(size.to_array());
            edges.try_for_each(|(name, edge)| check.range(name, edge, low, high))?;
        }
        Shape::Capsule { radius, height } => {
            check.range("shape.radius", *radius, low, high)?;
            check.range("shape.height", *height, 0.0, high)?;
        }
        Shape::Cylinder { radius, height } | Shape::Cone { radius, height } => {
            check.range("shape.radius", *radius, low, high)?;
            check.range("shape.height", *height, low, high)?;
        }
        Shape::Hull { points, file, .. } => {
            no_file(file.as_deref(), check)?;
            return compile_hull(points, check);
        }
        Shape::Mesh { vertices, triangles, file, .. } => {
            no_file(file.as_deref(), check)?;
            return compile_mesh(vertices, triangles, check);
        }
        Shape::Character(character) => {
            no_file(character.file.as_deref(), check)?;
            return character::compile(character, check);
        }
    }
    Ok(shape.clone())
}

/// A body as it starts, to attach particles to.
pub struct Carrier {
    pose: Pose,
    skin: Option<Skinned>,
}

impl Carrier {
    pub fn new(body: &model::Collider) -> Self {
        let skin = match &body.shape {
            Shape::Character(character) => Skinned::new(character, 0.0),
            _ => None,
        };
        Self { pose: body.pose(0.0), skin }
    }

    /// A point of the world in the body's coordinates; of a character, the nearest triangle and the point
    /// in the triangle's.
    pub fn attach(&self, x: DVec3) -> (u32, DVec3) {
        let own = self.pose.to_own(x);
        self.skin.as_ref().map_or((0, own), |skin| skin.attach(own))
    }
}

/// Files are read by the front end.
fn no_file(file: Option<&str>, check: &Check) -> Result<(), Error> {
    match file {
        Some(file) => {
            Err(check.error("shape.file", file, "was not read; give the points in the scene"))
        }
        None => Ok(()),
    }
}

fn compile_hull(points: &[DVec3], check: &Check) -> Result<Shape, Error> {
    for (i, point) in points.iter().enumerate() {
        check.vector(&format!("shape.points.{i}"), *point, SIZES.1)?;
    }
    let made = model::hull(points).and_then(|(corners, faces)| Solid::new(&corners, &faces));
    let Some(solid) = made else {
        let remedy = "a hull needs four or more points that do not lie in a plane";
        return Err(check.error("shape.points", format!("{} points", points.len()), remedy));
    };
    Ok(Shape::Hull { points: points.to_vec(), file: None, solid })
}

fn compile_mesh(vertices: &[DVec3], triangles: &[[u32; 3]], check: &Check) -> Result<Shape, Error> {
    for (i, vertex) in vertices.iter().enumerate() {
        check.vector(&format!("shape.vertices.{i}"), *vertex, SIZES.1)?;
    }
    for (i, corners) in triangles.iter().enumerate() {
        if let Some(corner) = corners.iter().find(|c| **c as usize >= vertices.len()) {
            let remedy = format!("the mesh has only {} vertices", vertices.len());
            return Err(check.error(&format!("shape.triangles.{i}"), corner, &remedy));
        }
    }
    let Some(solid) = Solid::new(vertices, triangles) else {
        let remedy = "a mesh needs at least one triangle with an area";
        return Err(check.error("shape.triangles", format!("{} of them", triangles.len()), remedy));
    };
    Ok(Shape::Mesh {
        vertices: vertices.to_vec(),
        triangles: triangles.to_vec(),
        file: None,
        solid,
    })
}
