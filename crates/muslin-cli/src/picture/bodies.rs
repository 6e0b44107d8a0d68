//! Bodies in pictures: the points of a picture are the particles, then the vertices of the bodies.
//!
//! A plane has no end to draw; the ground stands for it.

use glam::Vec3;
use muslin::collide::surface;
use muslin::scene::Shape;
use muslin::{Model, State};

/// The particles, then the vertices of the bodies.
pub fn points(model: &Model, state: &State) -> Vec<Vec3> {
    let mut points = state.x.clone();
    for (body, pose) in model.colliders.iter().zip(&state.colliders) {
        if body.shape != Shape::Plane {
            let vertices = surface::at(&body.shape, state.time).vertices;
            points.extend(vertices.iter().map(|v| pose.to_world(v.as_dvec3()).as_vec3()));
        }
    }
    points
}

/// The triangles of the bodies among these points.
pub fn triangles(model: &Model) -> Vec<[u32; 3]> {
    let mut first = model.particle_count() as u32;
    let mut all = Vec::new();
    for body in model.colliders.iter().filter(|body| body.shape != Shape::Plane) {
        let surface = surface::of(&body.shape);
        all.extend(surface.triangles.iter().map(|corners| corners.map(|i| first + i)));
        first += surface.vertices.len() as u32;
    }
    all
}
