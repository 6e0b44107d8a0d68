//! Hulls and meshes, ready to be asked for distances: parry's triangle mesh with its tree of boxes.
//!
//! Whether a point is inside a closed mesh is told by the angle-weighted normals of its faces, edges and
//! corners (Bærentzen & Aanæs 2005). An open mesh has no inside: each of its points is outside, on the
//! side where it is.

use glam::DVec3;
use parry3d_f64::math::Vector;
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::{TriMesh, TriMeshFlags};
use parry3d_f64::transformation::try_convex_hull;
use std::collections::HashSet;
use std::sync::Arc;

/// Closer than this the direction is the face's own. [m]
const ON_IT: f64 = 1e-9;

/// A surface that knows its distances; empty in a scene that is not compiled.
#[derive(Clone, Default)]
pub struct Solid(Option<Arc<Prepared>>);

struct Prepared {
    mesh: TriMesh,
    closed: bool,
}

/// Made from the shape, which is compared.
impl PartialEq for Solid {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Solid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let triangles = self.0.as_ref().map_or(0, |p| p.mesh.indices().len());
        write!(f, "Solid({triangles} triangles)")
    }
}

fn to_parry(p: DVec3) -> Vector {
    Vector::from_array(p.to_array())
}

fn from_parry(p: Vector) -> DVec3 {
    DVec3::from_array(p.to_array())
}

/// Corners and outward triangles of the convex hull of points; `None` if they lie in a plane.
pub fn hull(points: &[DVec3]) -> Option<(Vec<DVec3>, Vec<[u32; 3]>)> {
    let points: Vec<Vector> = points.iter().map(|p| to_parry(*p)).collect();
    let (corners, triangles) = try_convex_hull(&points).ok()?;
    let corners: Vec<DVec3> = corners.into_iter().map(from_parry).collect();
    // Points in a plane have a hull of two sides and no room between.
    let size = corners.iter().map(|p| p.distance(corners[0])).fold(0.0, f64::max);
    (volume(&corners, &triangles) > 1e-9 * size.powi(3)).then_some((corners, triangles))
}

/// Volume within a closed surface, negative if its triangles face inward. [m³]
pub(super) fn volume(vertices: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let part = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|i| vertices[i as usize]);
        a.dot(b.cross(c)) / 6.0
    };
    triangles.iter().map(part).sum()
}

/// Whether every edge has a triangle on each side, all turning the same way.
pub(super) fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let edges = || triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let all: HashSet<[u32; 2]> = edges().collect();
    all.len() == 3 * triangles.len() && edges().all(|[a, b]| all.contains(&[b, a]))
}

impl Solid {
    /// Prepares triangles; `None` if none of them has an area.
    pub fn new(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Option<Self> {
        let area = |corners: &&[u32; 3]| {
            let [a, b, c] = corners.map(|i| vertices[i as usize]);
            (b - a).cross(c - a) != DVec3::ZERO
        };
        let mut triangles: Vec<[u32; 3]> = triangles.iter().filter(area).copied().collect();
        let closed = is_closed(&triangles);
        if closed && volume(vertices, &triangles) < 0.0 {
            triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
        }
        let flags = if closed { TriMeshFlags::ORIENTED } else { TriMeshFlags::empty() };
        let points = vertices.iter().map(|p| to_parry(*p)).collect();
        let mesh = TriMesh::with_flags(points, triangles, flags).ok()?;
        Some(Self(Some(Arc::new(Prepared { mesh, closed }))))
    }

    /// Whether it has no inside.
    pub fn is_open(&self) -> bool {
        self.0.as_ref().is_some_and(|prepared| !prepared.closed)
    }

    /// Distance to the surface, negative inside, and the unit direction away from it. [m]
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        let Some(Prepared { mesh, .. }) = self.0.as_deref() else {
            return (f64::INFINITY, DVec3::Y);
        };
        let found = mesh.project_local_point(to_parry(p), false);
        let away = p - from_parry(found.point);
        let d = away.length();
        let sign = if found.is_inside { -1.0 } else { 1.0 };
        if d > ON_IT {
            return (sign * d, sign * away / d);
        }
        let face = mesh.triangle(found.subshape).normal();
        (sign * d, face.map_or(DVec3::Y, from_parry))
    }
}
