//! Scenes of Jeong & Lee: a jelly cube, a bar on a wall, creases, and the pleated skirt they name as the use of it.
//!
//! The paper gives no constants; masses and edges are 1 where it shows an object without a scale.

use crate::scene::{Cloth, Mesh, Pin, Scene, Sheet, Springs, Turning, Waypoint};
use glam::{DVec3, dvec3};
use std::f64::consts::TAU;

/// Unit cubes stacked along z: 4 masses per cross-section, quads for faces.
///
/// ```text
///     7 ── 6        cross-section c holds vertices 4c … 4c + 3
///   4 ── 5 │
///   │ 3 ─┼ 2
///   0 ── 1
/// ```
pub fn stack(cubes: usize) -> (Vec<DVec3>, Vec<Vec<usize>>) {
    let square = [dvec3(0.0, 0.0, 0.0), DVec3::X, dvec3(1.0, 1.0, 0.0), DVec3::Y];
    let at = |section: usize| square.map(|corner| corner + dvec3(0.0, 0.0, section as f64));
    let vertices = (0..=cubes).flat_map(at).collect();
    let mut faces = Vec::new();
    for section in 0..=cubes {
        let first = 4 * section;
        let end = [first, first + 3, first + 2, first + 1];
        faces.push(if section == 0 { end.to_vec() } else { end.into_iter().rev().collect() });
        if section < cubes {
            faces.extend((0..4).map(|i| {
                let (a, b) = (first + i, first + (i + 1) % 4);
                vec![a, b, b + 4, a + 4]
            }));
        }
    }
    (vertices, faces)
}

/// Conventional springs added to the twelve edges of a cube.
const FACE_DIAGONALS: [[usize; 2]; 6] = [[0, 2], [4, 6], [0, 5], [1, 6], [2, 7], [3, 4]];
const OTHER_FACE_DIAGONALS: [[usize; 2]; 6] = [[1, 3], [5, 7], [1, 4], [2, 5], [3, 6], [0, 7]];
const BODY_DIAGONALS: [[usize; 2]; 4] = [[0, 6], [1, 7], [2, 4], [3, 5]];

/// A jelly cube lying over by `angle` degrees: its upright edges tilted, nothing stretched. `springs` is 12, 20
/// (one diagonal per face, two through the body) or 28 (every pair), or 3 for twelve 3D springs.
pub fn jelly(springs: usize, angle: f64) -> Cloth {
    let (vertices, faces) = stack(1);
    let (sine, cosine) = angle.to_radians().sin_cos();
    let lean = |v: &DVec3| dvec3(v.x + v.y * sine, v.y * cosine, v.z);
    let edges = match springs {
        20 => [&FACE_DIAGONALS[..], &BODY_DIAGONALS[..2]].concat(),
        28 => [&FACE_DIAGONALS[..], &OTHER_FACE_DIAGONALS, &BODY_DIAGONALS].concat(),
        _ => Vec::new(),
    };
    let start = vertices.iter().map(lean).collect();
    let stiffness = if springs == 3 { 100.0 } else { 0.0 };
    Cloth {
        name: if springs == 3 { "12 3D springs".into() } else { format!("{springs} springs") },
        mesh: Some(Mesh { vertices, faces, edges, start, ..Mesh::default() }),
        springs: Springs { structural: 100.0, structural_damping: 1.0, ..Springs::default() },
        turning: Turning { stiffness, damping: 0.6, ..Turning::default() },
        particle_mass: Some(1.0),
        ..Cloth::default()
    }
}

/// Four cubes, leaning by 120°.
pub fn jeong_jelly() -> Scene {
    let cubes = [3, 12, 20, 28].into_iter().enumerate();
    let cloth = cubes.map(|(i, springs)| Cloth {
        origin: dvec3(3.0 * i as f64, 0.0, 0.0),
        ..jelly(springs, 120.0)
    });
    Scene {
        dt: 0.02,
        seconds: 20.0,
        gravity: DVec3::ZERO,
        cloth: cloth.collect(),
        ..Scene::default()
    }
}

/// Ten cubes on a wall, of 3D springs and, beside it, of edges only.
pub fn jeong_bar() -> Scene {
    let bar = |turning: f64, origin: DVec3, name: &str| {
        let (vertices, faces) = stack(10);
        Cloth {
            name: name.into(),
            origin,
            springs: Springs { structural: 1e3, structural_damping: 5.0, ..Springs::default() },
            turning: Turning { stiffness: turning, damping: 5.0, ..Turning::default() },
            particle_mass: Some(1.0),
            absolute_damping: 0.3,
            pins: vec![Pin { particles: (0..4).collect(), clamp: true, ..Pin::default() }],
            ..Sheet::polygons(vertices, faces)
        }
    };
    Scene {
        dt: 0.02,
        seconds: 60.0,
        gravity: dvec3(0.0, -1.0, 0.0),
        cloth: vec![
            bar(1e3, DVec3::ZERO, "3D springs"),
            bar(0.0, dvec3(4.0, 0.0, 0.0), "edges only"),
        ],
        ..Scene::default()
    }
}

/// A sheet of `columns` × `rows` with pleats of 90°: `panel` cells up, `panel` cells down. Quads, spacing 1,
/// creases along z.
pub fn pleated(columns: usize, rows: usize, panel: usize) -> (Vec<DVec3>, Vec<Vec<usize>>) {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let height = |column: usize| {
        let along = column % (2 * panel);
        half * along.min(2 * panel - along) as f64
    };
    let vertex = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        dvec3(half * column as f64, height(column), row as f64)
    };
    let quad = |i: usize| {
        let a = i / (columns - 1) * columns + i % (columns - 1);
        vec![a, a + columns, a + columns + 1, a + 1]
    };
    let vertices = (0..columns * rows).map(vertex).collect();
    (vertices, (0..(columns - 1) * (rows - 1)).map(quad).collect())
}

/// Cloth hanging from a table edge, where it is held in folds: 3D springs that remember the creases, and
/// conventional springs whose rest shape is flat. What hangs starts flat.
pub fn jeong_crease() -> Scene {
    let (columns, rows, panel) = (17, 13, 2);
    let middle = 0.5 * (columns - 1) as f64;
    let cloth = |creased: bool| {
        let (folds, faces) = pleated(columns, rows, panel);
        let narrow = std::f64::consts::FRAC_1_SQRT_2;
        let hung = |v: &DVec3| dvec3(v.x - narrow * middle, -v.z, v.y);
        let folds: Vec<DVec3> = folds.iter().map(hung).collect();
        let flat = |i: usize| dvec3((i % columns) as f64 - middle, -((i / columns) as f64), 0.5);
        let flat: Vec<DVec3> = (0..columns * rows).map(flat).collect();
        let start = [&folds[..columns], &flat[columns..]].concat();
        let diagonals = faces.iter().flat_map(|f| [[f[0], f[2]], [f[1], f[3]]]).collect();
        let mesh = Mesh {
            vertices: if creased { folds } else { flat },
            edges: if creased { Vec::new() } else { diagonals },
            start,
            faces,
            ..Mesh::default()
        };
        let (stiffness, hinge) = if creased { (10.0, 0.0) } else { (0.0, 5.0) };
        Cloth {
            name: if creased { "3D springs".into() } else { "conventional springs".into() },
            origin: dvec3(if creased { -9.0 } else { 9.0 }, 0.0, 0.0),
            mesh: Some(mesh),
            springs: Springs {
                structural: 300.0,
                structural_damping: 1.0,
                hinge,
                ..Springs::default()
            },
            turning: Turning { stiffness, damping: 0.1, ..Turning::default() },
            particle_mass: Some(0.1),
            absolute_damping: 0.05,
            pins: vec![Pin { particles: (0..columns).collect(), ..Pin::default() }],
            ..Cloth::default()
        }
    };
    Scene {
        dt: 0.02,
        seconds: 20.0,
        gravity: dvec3(0.0, -1.0, 0.0),
        cloth: vec![cloth(true), cloth(false)],
        ..Scene::default()
    }
}

/// A skirt whose rest shape has its pleats, swung by the waist.
pub fn pleated_skirt() -> Scene {
    // Two cells to a panel, two panels to a pleat.
    let (pleats, rows) = (20, 16);
    let columns = 4 * pleats;
    let (waist, hem, length, depth) = (0.14, 0.24, 0.45, 0.06);
    let vertex = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let down = row as f64 / (rows - 1) as f64;
        // Pleats open towards the hem.
        let fold = depth * (0.3 + 0.7 * down) * [0.5, 0.0, -0.5, 0.0][column % 4];
        let radius = waist + (hem - waist) * down + fold;
        let (sine, cosine) = (TAU * column as f64 / columns as f64).sin_cos();
        dvec3(radius * cosine, -length * down, radius * sine)
    };
    let quad = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let next = (column + 1) % columns;
        let (a, b) = (row * columns + column, row * columns + next);
        vec![a, b, b + columns, a + columns]
    };
    let vertices = (0..columns * rows).map(vertex).collect();
    let faces = (0..columns * (rows - 1)).map(quad).collect();
    let swing = [0.0, 0.12, -0.12, 0.12, -0.12, 0.0].into_iter().enumerate();
    let path = swing
        .map(|(i, x)| Waypoint { time: 0.35 * i as f64, offset: dvec3(x, 0.0, 0.5 * x) })
        .collect();
    let mut cloth = Cloth {
        name: "skirt".into(),
        springs: Springs { structural: 300.0, structural_damping: 0.02, ..Springs::default() },
        turning: Turning { stiffness: 2e-3, damping: 2e-6, ..Turning::default() },
        pins: vec![Pin { particles: (0..columns).collect(), path, ..Pin::default() }],
        ..Sheet::polygons(vertices, faces)
    };
    cloth.material.density = Some(0.25);
    let mut scene = Scene { seconds: 4.0, substeps: 2, cloth: vec![cloth], ..Scene::default() };
    scene.air.density = 1.2;
    scene
}
