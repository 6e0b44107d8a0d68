//! Checks one body.

use super::check::Check;
use crate::error::Error;
use crate::model;
use crate::scene::{Collider, Shape};

/// Sizes of bodies lie between these. [m]
const SIZES: (f64, f64) = (1e-6, 1e6);

pub fn compile(body: &Collider, check: &Check) -> Result<model::Collider, Error> {
    check.vector("position", body.position, 1e6)?;
    check.vector("rotation", body.rotation, 1e6)?;
    check.range("friction", body.friction, 0.0, 100.0)?;
    check.range("thickness", body.thickness, 1e-6, 1e3)?;
    compile_shape(&body.shape, check)?;
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
        shape: body.shape.clone(),
        start: body.pose(),
        path,
        friction: body.friction,
        thickness: body.thickness,
    })
}

fn compile_shape(shape: &Shape, check: &Check) -> Result<(), Error> {
    let (low, high) = SIZES;
    match *shape {
        Shape::Plane => Ok(()),
        Shape::Sphere { radius } => check.range("shape.radius", radius, low, high),
        Shape::Box { size } => {
            let names = ["shape.size.0", "shape.size.1", "shape.size.2"];
            let mut edges = names.iter().zip(size.to_array());
            edges.try_for_each(|(name, edge)| check.range(name, edge, low, high))
        }
        Shape::Capsule { radius, height } => {
            check.range("shape.radius", radius, low, high)?;
            check.range("shape.height", height, 0.0, high)
        }
        Shape::Cylinder { radius, height } | Shape::Cone { radius, height } => {
            check.range("shape.radius", radius, low, high)?;
            check.range("shape.height", height, low, high)
        }
    }
}
