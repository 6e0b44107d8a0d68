//! One cloth: particles, masses, springs, hinges and pins.
//!
//! Fabrics become springs so that the sheet is isotropic with membrane stiffness Eh and ν = 1/3:
//!
//! ```text
//!   grid, cell dx × dy, both diagonals (length ℓ):
//!     C11 = C22 = 9/8 Eh, C12 = C66 = 3/8 Eh        plane stress, ν = 1/3
//!     diagonal  kd = 3/16 Eh ℓ²/(dx dy)
//!     along x   kx = 9/8 Eh dy/dx − 3/8 Eh dx/dy    (square cells: kx = 3/4 Eh, kd = kx/2)
//!     half of it on the border, where only one cell shares the spring
//!   mesh:  k = Eh Σ A/l² over the triangles at the edge (Van Gelder 1998; exact if equilateral)
//!   chain: k = Eh · width / dx
//! ```

use super::bending::HingeMesh;
use super::check::Check;
use super::collider::Carrier;
use super::cuts::Cuts;
use super::{Draft, MAX_PARTICLES};
use crate::error::Error;
use crate::fabric::{FABRICS, Fabric};
use crate::forces::hinge;
use crate::mesh::triangles::Edge;
use crate::mesh::{grid, triangles};
use crate::model::{ClothPart, Pin};
use crate::scene::{Cloth, Mesh, Place, Springs};
use glam::{DVec3, Vec3};
use std::collections::BTreeSet;

/// Family of a spring, which decides its role in strain figures and methods.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    Structural,
    Shear,
    Bend,
}

/// The geometry of a cloth before it has constants.
struct Shape {
    /// The rest shape.
    points: Vec<DVec3>,
    /// Where it starts.
    start: Vec<DVec3>,
    /// Area each particle stands for. [m²]
    areas: Vec<f64>,
    triangles: Vec<[u32; 3]>,
    /// Springs of a mesh, in the order of their ends.
    edges: Vec<Edge>,
    /// Columns, rows and cell size of a grid.
    grid: Option<(usize, usize, f64, f64)>,
    cuts: Cuts,
}

/// Adds `cloth` to the draft.
pub fn add(draft: &mut Draft, cloth: &Cloth, check: &Check) -> Result<(), Error> {
    let mut cloth = cloth.clone();
    if let Some(name) = &cloth.fabric {
        let fabric = Fabric::named(name).ok_or_else(|| {
            let known: Vec<_> = FABRICS.iter().map(|f| f.name).collect();
            let remedy = format!("no such fabric; choose one of {}", known.join(", "));
            check.error("fabric", name, &remedy)
        })?;
        fabric.apply(&mut cloth);
    }
    check_numbers(&cloth, check)?;
    let mut shape = match &cloth.mesh {
        Some(mesh) => mesh_shape(&cloth, mesh, check)?,
        None => grid_shape(&cloth, check)?,
    };
    let n = shape.points.len();
    let columns = shape.grid.map(|(columns, ..)| columns);
    shape.cuts = Cuts::new(&cloth.cuts, columns, n, &shape.triangles, &shape.edges, check)?;
    let first = draft.x.len();
    if first + n > MAX_PARTICLES {
        let remedy = format!("a scene holds at most {MAX_PARTICLES} particles");
        return Err(check.error("columns", n, &remedy));
    }

    add_particles(draft, &cloth, &shape, check)?;
    if cloth.springs.any() {
        add_raw_springs(draft, &cloth.springs, &shape, first);
        add_hinges(draft, cloth.springs.hinge, &shape, first);
    } else {
        let stretch = cloth.material.stretch.ok_or_else(|| {
            let remedy = "say what the cloth is made of: fabric = \"cotton\", or material.stretch and \
                          material.density, or springs.structural with particle_mass";
            check.error("fabric", "none", remedy)
        })?;
        add_fabric_springs(draft, &cloth, stretch, &shape, first, check)?;
        add_hinges(draft, cloth.material.bending.unwrap_or(0.0), &shape, first);
    }
    add_turning(draft, &cloth, &shape, first);
    add_pins(draft, &cloth, &shape, first, check)?;

    let first_triangle = draft.triangles.len();
    let shift = first as u32;
    let whole = shape.triangles.iter().filter(|triangle| !shape.cuts.open(**triangle));
    draft.triangles.extend(whole.map(|t| t.map(|i| i + shift)));
    draft.cloths.push(ClothPart {
        name: cloth.name,
        particles: first..first + n,
        triangles: first_triangle..draft.triangles.len(),
        grid: shape.grid.map(|(columns, rows, ..)| (columns, rows)),
        is_cut: !shape.cuts.is_empty(),
    });
    Ok(())
}

fn check_numbers(cloth: &Cloth, check: &Check) -> Result<(), Error> {
    check.vector("origin", cloth.origin, 1e6)?;
    check.vector("velocity", cloth.velocity, 1e6)?;
    check.vector("spin", cloth.spin, 1e6)?;
    check.range("absolute_damping", cloth.absolute_damping, 0.0, 1e12)?;
    if let Some(mass) = cloth.particle_mass {
        check.range("particle_mass", mass, 1e-12, 1e12)?;
    }
    let m = &cloth.material;
    for (key, value, low, high) in [
        ("material.density", m.density, 1e-9, 1e9),
        ("material.stretch", m.stretch, 0.0, 1e15),
        ("material.bending", m.bending, 0.0, 1e12),
        ("material.damping", m.damping, 0.0, 1e6),
    ] {
        if let Some(value) = value {
            check.range(key, value, low, high)?;
        }
    }
    let s = &cloth.springs;
    for (key, value) in [
        ("structural", s.structural),
        ("shear", s.shear),
        ("bend", s.bend),
        ("type1", s.type1),
        ("type2", s.type2),
        ("structural_damping", s.structural_damping),
        ("shear_damping", s.shear_damping),
        ("bend_damping", s.bend_damping),
        ("relative_damping", s.relative_damping),
        ("hinge", s.hinge),
    ] {
        check.range(&format!("springs.{key}"), value, 0.0, 1e15)?;
    }
    let t = &cloth.turning;
    check.range("turning.stiffness", t.stiffness, 0.0, 1e15)?;
    check.range("turning.damping", t.damping, 0.0, 1e15)?;
    if let Some(inertia) = t.inertia {
        check.range("turning.inertia", inertia, 1e-15, 1e15)?;
    }
    let edges = cloth.mesh.as_ref().map_or(0, |mesh| mesh.edges.len());
    if edges > 0 && !s.any() {
        let remedy = "an edge without a face stands for no fabric; give springs.structural and a particle_mass";
        return Err(check.error("mesh.edges", format!("{edges} edges"), remedy));
    }
    let kim = s.type1 != 0.0 || s.type2 != 0.0;
    if kim && (s.structural != 0.0 || s.shear != 0.0 || s.bend != 0.0) {
        let remedy = "type1/type2 is a net of its own: leave structural, shear and bend at 0";
        return Err(check.error("springs.type1", s.type1, remedy));
    }
    if kim && cloth.mesh.is_some() {
        let remedy = "type1/type2 needs a grid; a mesh takes springs.structural for its edges";
        return Err(check.error("springs.type1", s.type1, remedy));
    }
    Ok(())
}

fn grid_shape(cloth: &Cloth, check: &Check) -> Result<Shape, Error> {
    check.count("columns", cloth.columns, 1, MAX_PARTICLES)?;
    check.count("rows", cloth.rows, 1, MAX_PARTICLES)?;
    if cloth.columns.saturating_mul(cloth.rows) > MAX_PARTICLES {
        let remedy = format!("columns × rows may be at most {MAX_PARTICLES}");
        return Err(check.error("columns", cloth.columns, &remedy));
    }
    check.range("width", cloth.width, 0.0, 1e6)?;
    check.range("height", cloth.height, 0.0, 1e6)?;
    let across = check.direction("across", cloth.across)?;
    let down = check.direction("down", cloth.down)?;
    if across.cross(down).length() < 1e-6 {
        return Err(check.error("down", cloth.down, "must not be parallel to across"));
    }
    let (columns, rows) = (cloth.columns, cloth.rows);
    let dx = cloth.width / (columns - 1).max(1) as f64;
    let dy = cloth.height / (rows - 1).max(1) as f64;
    let mut points = Vec::with_capacity(columns * rows);
    let mut areas = Vec::with_capacity(columns * rows);
    // A border particle stands for half a cell in that direction; a chain for its whole width.
    let share = |i: usize, n: usize| {
        if n > 1 && (i == 0 || i == n - 1) { 0.5 } else { 1.0 }
    };
    for row in 0..rows {
        for column in 0..columns {
            points.push(cloth.origin + across * (dx * column as f64) + down * (dy * row as f64));
            areas.push(dx * share(column, columns) * dy * share(row, rows));
        }
    }
    let triangles = grid::triangles(columns, rows);
    let (start, edges) = (points.clone(), Vec::new());
    let (grid, cuts) = (Some((columns, rows, dx, dy)), Cuts::default());
    Ok(Shape { points, start, areas, triangles, edges, grid, cuts })
}

fn mesh_shape(cloth: &Cloth, mesh: &Mesh, check: &Check) -> Result<Shape, Error> {
    if let (Some(file), true) = (&mesh.file, mesh.vertices.is_empty()) {
        return Err(check.error("mesh.file", file, "the front end has not read this file"));
    }
    let n = mesh.vertices.len();
    check.count("mesh.vertices", n, 1, MAX_PARTICLES)?;
    for (i, &v) in mesh.vertices.iter().enumerate() {
        check.vector(&format!("mesh.vertices.{i}"), v, 1e6)?;
    }
    let moved = |vertices: &[DVec3]| vertices.iter().map(|v| *v + cloth.origin).collect();
    let points: Vec<DVec3> = moved(&mesh.vertices);
    let start: Vec<DVec3> = if mesh.start.is_empty() { points.clone() } else { moved(&mesh.start) };
    if start.len() != n {
        let remedy = format!("the mesh has {n} vertices; give each a start, or none");
        return Err(check.error("mesh.start", mesh.start.len(), &remedy));
    }
    for (i, &v) in mesh.start.iter().enumerate() {
        check.vector(&format!("mesh.start.{i}"), v, 1e6)?;
    }
    let corners = |key: String, corners: &[usize], least: usize| -> Result<Vec<u32>, Error> {
        let shown = format!("{corners:?}");
        if corners.iter().any(|&i| i >= n) {
            return Err(check.error(&key, shown, &format!("the mesh has only {n} vertices")));
        }
        let mut sorted = corners.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        if corners.len() < least || sorted.len() != corners.len() {
            let remedy = format!("needs at least {least} vertices, all different");
            return Err(check.error(&key, shown, &remedy));
        }
        Ok(corners.iter().map(|&i| i as u32).collect())
    };
    let mut triangles = Vec::with_capacity(mesh.triangles.len());
    // The springs: edges of triangles and polygons, and those named.
    let mut wanted = BTreeSet::new();
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let corners = corners(format!("mesh.triangles.{t}"), triangle, 3)?;
        triangles.push([corners[0], corners[1], corners[2]]);
        wanted.extend(around(&corners));
    }
    for (f, face) in mesh.faces.iter().enumerate() {
        let corners = corners(format!("mesh.faces.{f}"), face, 3)?;
        // A fan to draw and to weigh; its diagonals are no springs.
        let fan = corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]);
        triangles.extend(fan);
        wanted.extend(around(&corners));
    }
    for (e, edge) in mesh.edges.iter().enumerate() {
        let corners = corners(format!("mesh.edges.{e}"), edge, 2)?;
        wanted.insert([corners[0].min(corners[1]), corners[0].max(corners[1])]);
    }
    let mut edges = triangles::edges(&triangles);
    edges.retain(|edge| wanted.remove(&edge.ends));
    edges.extend(wanted.into_iter().map(|ends| Edge { ends, sides: Vec::new() }));
    let mut areas = vec![0.0; n];
    for corners in &triangles {
        let [a, b, c] = corners.map(|i| points[i as usize]);
        let area = 0.5 * (b - a).cross(c - a).length();
        corners.iter().for_each(|&i| areas[i as usize] += area / 3.0);
    }
    Ok(Shape { points, start, areas, triangles, edges, grid: None, cuts: Cuts::default() })
}

/// The edges of a polygon, lower end first.
fn around(corners: &[u32]) -> impl Iterator<Item = [u32; 2]> {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|(&a, &b)| [a.min(b), a.max(b)])
}

fn add_particles(
    draft: &mut Draft,
    cloth: &Cloth,
    shape: &Shape,
    check: &Check,
) -> Result<(), Error> {
    let n = shape.points.len();
    let centre = shape.start.iter().sum::<DVec3>() / n as f64;
    for (i, &point) in shape.start.iter().enumerate() {
        let mass = match (cloth.particle_mass, cloth.material.density) {
            (Some(mass), _) => mass,
            (None, Some(density)) => density * shape.areas[i],
            (None, None) => {
                let remedy = "give the cloth a mass: particle_mass, material.density or a fabric";
                return Err(check.error("particle_mass", "none", remedy));
            }
        };
        if !(mass as f32).is_normal() {
            let remedy = format!(
                "particle {i} stands for no area and would have no mass: remove it from the mesh, give \
                 the cloth a size, or set particle_mass"
            );
            return Err(check.error("material.density", mass, &remedy));
        }
        draft.rest.push(shape.points[i].as_vec3());
        draft.x.push(point.as_vec3());
        draft.v.push((cloth.velocity + cloth.spin.cross(point - centre)).as_vec3());
        draft.mass.push(mass as f32);
        draft.absolute_damping.push(cloth.absolute_damping as f32);
    }
    Ok(())
}

impl Draft {
    #[allow(clippy::too_many_arguments)]
    fn spring(
        &mut self,
        shape: &Shape,
        first: usize,
        ends: [u32; 2],
        k: f64,
        damping: f64,
        relative: f64,
        family: Family,
        tension_only: bool,
    ) {
        if shape.cuts.sever(ends) {
            return;
        }
        let [a, b] = ends.map(|e| shape.points[e as usize]);
        self.ends.push(ends.map(|e| e + first as u32));
        let springs = &mut self.springs;
        springs.stiffness.push(k as f32);
        springs.rest_length.push(a.distance(b) as f32);
        springs.damping.push(damping as f32);
        springs.relative_damping.push(relative as f32);
        springs.strong.push(family != Family::Bend);
        springs.structural.push(family == Family::Structural);
        springs.tension_only.push(tension_only && family != Family::Bend);
    }
}

fn add_raw_springs(draft: &mut Draft, s: &Springs, shape: &Shape, first: usize) {
    let Some((columns, rows, ..)) = shape.grid else {
        for edge in &shape.edges {
            let (k, d) = (s.structural, s.structural_damping);
            let family = Family::Structural;
            draft.spring(shape, first, edge.ends, k, d, s.relative_damping, family, s.tension_only);
        }
        return;
    };
    let kim = s.type1 != 0.0 || s.type2 != 0.0;
    // Kim's type 1 diagonals are as strong as his axial springs; only the latter count as
    // structural edges in the strain figures.
    let nets = if kim {
        [
            (grid::AXIAL, 1, s.type1, s.structural_damping, Family::Structural),
            (grid::DIAGONAL, 1, s.type1, s.structural_damping, Family::Shear),
            (grid::AXIAL, 2, s.type2, s.bend_damping, Family::Bend),
            (grid::DIAGONAL, 2, s.type2, s.bend_damping, Family::Bend),
        ]
    } else {
        [
            (grid::AXIAL, 1, s.structural, s.structural_damping, Family::Structural),
            (grid::DIAGONAL, 1, s.shear, s.shear_damping, Family::Shear),
            (grid::AXIAL, 2, s.bend, s.bend_damping, Family::Bend),
            (grid::DIAGONAL, 2, 0.0, 0.0, Family::Bend),
        ]
    };
    for row in 0..rows {
        for (directions, distance, k, damping, family) in nets {
            if k == 0.0 && damping == 0.0 {
                continue;
            }
            for offset in directions {
                for ends in grid::pairs_from_row(columns, rows, row, offset, distance) {
                    let relative = s.relative_damping;
                    draft.spring(shape, first, ends, k, damping, relative, family, s.tension_only);
                }
            }
        }
    }
}

fn add_fabric_springs(
    draft: &mut Draft,
    cloth: &Cloth,
    stretch: f64,
    shape: &Shape,
    first: usize,
    check: &Check,
) -> Result<(), Error> {
    let tau = cloth.material.damping.unwrap_or(0.0);
    let relative = cloth.springs.relative_damping;
    let tension_only = cloth.springs.tension_only;
    let mut spring = |ends, k: f64, family| {
        draft.spring(shape, first, ends, k, tau * k, relative, family, tension_only);
    };
    let Some((columns, rows, dx, dy)) = shape.grid else {
        for edge in &shape.edges {
            let [a, b] = edge.ends.map(|e| shape.points[e as usize]);
            let squared = a.distance_squared(b);
            let area: f64 = edge
                .sides
                .iter()
                .map(|&(opposite, _)| {
                    0.5 * (b - a).cross(shape.points[opposite as usize] - a).length()
                })
                .sum();
            let k = if squared > 0.0 { stretch * area / squared } else { 0.0 };
            spring(edge.ends, k, Family::Structural);
        }
        return Ok(());
    };
    if rows == 1 || columns == 1 {
        // A chain: the other direction's size is its width.
        let (length, width) = if rows == 1 { (dx, dy) } else { (dy, dx) };
        let k = if length > 0.0 { stretch * width / length } else { 0.0 };
        for row in 0..rows {
            for offset in grid::AXIAL {
                for ends in grid::pairs_from_row(columns, rows, row, offset, 1) {
                    spring(ends, k, Family::Structural);
                }
            }
        }
        return Ok(());
    }
    let aspect = dx / dy;
    if !(aspect > 0.6 && aspect < 1.0 / 0.6) {
        let remedy = "cells of a fabric grid must be nearly square (sides within 5:3): change columns, rows, \
                      width or height, or give raw springs";
        return Err(check.error("columns", columns, remedy));
    }
    let diagonal = 3.0 / 16.0 * stretch * (aspect + 1.0 / aspect);
    let along_x = 9.0 / 8.0 * stretch / aspect - 3.0 / 8.0 * stretch * aspect;
    let along_y = 9.0 / 8.0 * stretch * aspect - 3.0 / 8.0 * stretch / aspect;
    for row in 0..rows {
        for ends in grid::pairs_from_row(columns, rows, row, grid::AXIAL[0], 1) {
            let border = row == 0 || row == rows - 1;
            spring(ends, if border { 0.5 * along_x } else { along_x }, Family::Structural);
        }
        for ends in grid::pairs_from_row(columns, rows, row, grid::AXIAL[1], 1) {
            let column = ends[0] as usize % columns;
            let border = column == 0 || column == columns - 1;
            spring(ends, if border { 0.5 * along_y } else { along_y }, Family::Structural);
        }
        for offset in grid::DIAGONAL {
            for ends in grid::pairs_from_row(columns, rows, row, offset, 1) {
                spring(ends, diagonal, Family::Shear);
            }
        }
    }
    Ok(())
}

fn add_hinges(draft: &mut Draft, bending: f64, shape: &Shape, first: usize) {
    if bending == 0.0 {
        return;
    }
    let mesh = HingeMesh::new(&shape.points, &shape.triangles);
    let calibration = match shape.grid {
        // A patch of the same cells tells all about a grid of any size.
        Some((_, _, dx, dy)) => {
            let n = 27;
            let point = |i: usize| DVec3::new(dx * (i % n) as f64, 0.0, dy * (i / n) as f64);
            let patch: Vec<DVec3> = (0..n * n).map(point).collect();
            HingeMesh::new(&patch, &grid::triangles(n, n)).calibrate(&patch)
        }
        None => mesh.calibrate(&shape.points),
    };
    let stiffness = mesh.stiffness(&shape.points, calibration, bending);
    let hinges = mesh.corners.into_iter().zip(stiffness);
    for (ids, k) in hinges.filter(|(ids, _)| !shape.cuts.unhinge(*ids)) {
        let corners = ids.map(|i| shape.points[i as usize]);
        draft.hinge_corners.push(ids.map(|i| i + first as u32));
        draft.hinges.stiffness.push(k as f32);
        draft.hinges.rest_angle.push(hinge::angle(corners.map(|c| c.as_vec3())));
        draft.hinges.flat.push(hinge::flat_coefficients(corners));
    }
}

/// Turns the cloth's structural springs into 3D springs: each end holds the direction that the spring
/// has in the rest shape, so creases and pleats are kept.
fn add_turning(draft: &mut Draft, cloth: &Cloth, shape: &Shape, first: usize) {
    let t = &cloth.turning;
    let n = shape.points.len();
    let turning = &mut draft.turning;
    turning.inertia.resize(first, 1.0);
    turning.start_spin.resize(first, Vec3::ZERO);
    let (mut lengths, mut counts) = (vec![0.0; n], vec![0.0; n]);
    let own = draft.ends.iter().zip(&draft.springs.structural).filter(|(ends, structural)| {
        **structural && ends[0] as usize >= first && t.stiffness > 0.0
    });
    for (&ends, _) in own {
        let [a, b] = ends.map(|e| shape.points[e as usize - first]);
        let Some(direction) = (b - a).try_normalize() else { continue };
        turning.ends.push(ends);
        turning.stiffness.push(t.stiffness as f32);
        turning.damping.push(t.damping as f32);
        turning.directions.push([direction.as_vec3(), -direction.as_vec3()]);
        turning.rest_length.push(a.distance(b) as f32);
        turning.law.push(t.law);
        for end in ends {
            lengths[end as usize - first] += a.distance(b);
            counts[end as usize - first] += 1.0;
        }
    }
    for i in 0..n {
        let mass = f64::from(draft.mass[first + i]);
        let length: f64 = if counts[i] > 0.0 { lengths[i] / counts[i] } else { 0.0 };
        let usual = if length > 0.0 { 0.1 * mass * length * length } else { 1.0 };
        turning.inertia.push(t.inertia.unwrap_or(usual).max(f64::from(f32::MIN_POSITIVE)) as f32);
        let spin = if counts[i] > 0.0 { cloth.spin.as_vec3() } else { Vec3::ZERO };
        turning.start_spin.push(spin);
    }
}

fn add_pins(
    draft: &mut Draft,
    cloth: &Cloth,
    shape: &Shape,
    first: usize,
    check: &Check,
) -> Result<(), Error> {
    let n = shape.points.len();
    for (p, pin) in cloth.pins.iter().enumerate() {
        let key = |name: &str| format!("pins.{p}.{name}");
        let mut particles = pin.particles.clone();
        if pin.place.is_some() || !pin.at.is_empty() {
            let Some((columns, rows, ..)) = shape.grid else {
                let remedy = "places exist on grids only; name the particles of a mesh";
                return Err(check.error(&key("place"), format!("{:?}", pin.place), remedy));
            };
            particles.extend(pin.place.into_iter().flat_map(|p| places(p, columns, rows)));
            for (i, share) in pin.at.iter().enumerate() {
                share
                    .iter()
                    .try_for_each(|s| check.range(&key(&format!("at.{i}")), *s, 0.0, 1.0))?;
                let nearest = |share: f64, n: usize| (share * (n - 1) as f64).round() as usize;
                particles.push(nearest(share[1], rows) * columns + nearest(share[0], columns));
            }
        }
        if particles.is_empty() {
            let remedy = "name a place (for example \"first-corner\"), at or particles";
            return Err(check.error(&key("particles"), "[]", remedy));
        }
        let mut path: Vec<(f64, Vec3)> = Vec::new();
        for (w, waypoint) in pin.path.iter().enumerate() {
            let name = format!("path.{w}.time");
            check.range(&key(&name), waypoint.time, -1e9, 1e9)?;
            check.vector(&key(&format!("path.{w}.offset")), waypoint.offset, 1e6)?;
            if path.last().is_some_and(|&(before, _)| before >= waypoint.time) {
                return Err(check.error(&key(&name), waypoint.time, "times must increase"));
            }
            path.push((waypoint.time, waypoint.offset.as_vec3()));
        }
        let names = || draft.colliders.iter().map(|body| body.name.as_str());
        let body = match &pin.body {
            Some(name) => Some(names().position(|known| known == name).ok_or_else(|| {
                let known: Vec<_> = names().collect();
                let remedy = format!("name a [[collider]] of the scene: {}", known.join(", "));
                check.error(&key("body"), name, &remedy)
            })?),
            None => None,
        };
        let carrier = body.map(|body| Carrier::new(&draft.colliders[body]));
        let release = pin.release.unwrap_or(f64::INFINITY);
        if release.is_nan() {
            return Err(check.error(&key("release"), release, "must be a time in seconds"));
        }
        for &particle in &particles {
            if particle >= n {
                let remedy = format!("the cloth has only {n} particles");
                return Err(check.error(&key("particles"), particle, &remedy));
            }
            let start = shape.start[particle];
            let (triangle, start) = carrier.as_ref().map_or((0, start), |on| on.attach(start));
            let (particle, start) = ((first + particle) as u32, start.as_vec3());
            let (path, clamp) = (path.clone(), pin.clamp);
            draft.pins.push(Pin { particle, start, body, triangle, path, release, clamp });
        }
    }
    Ok(())
}

fn places(place: Place, columns: usize, rows: usize) -> Vec<usize> {
    let last_row = (rows - 1) * columns;
    match place {
        Place::FirstCorner => vec![0],
        Place::FirstRowLastColumn => vec![columns - 1],
        Place::LastRowFirstColumn => vec![last_row],
        Place::LastCorner => vec![last_row + columns - 1],
        Place::FirstRow => (0..columns).collect(),
        Place::LastRow => (last_row..last_row + columns).collect(),
        Place::FirstColumn => (0..rows).map(|r| r * columns).collect(),
        Place::LastColumn => (0..rows).map(|r| r * columns + columns - 1).collect(),
        Place::FirstTwoColumns => {
            let second = 1.min(columns - 1);
            (0..rows).flat_map(|r| [r * columns, r * columns + second]).collect()
        }
    }
}
