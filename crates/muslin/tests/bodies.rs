//! Hulls, meshes and the walking mannequin, against what can be said of them without the engine's code.

use muslin::collide::{shape, surface};
use muslin::model;
use muslin::scene::{Key, Shape, Springs};
use muslin::{Cloth, Collider, DVec3, Fabric, Method, Scene, Sheet, Sim, dvec3};

const SIZE: DVec3 = dvec3(0.6, 0.3, 0.9);

/// The corners and triangles of a box.
fn corners_of_box() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let surface = surface::of(&Shape::Box { size: SIZE });
    (surface.vertices.iter().map(|v| v.as_dvec3()).collect(), surface.triangles)
}

/// The same box in three descriptions.
fn boxes(centre: DVec3) -> [Collider; 3] {
    let (vertices, triangles) = corners_of_box();
    let inside_out = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    [
        Collider::cuboid(centre, SIZE),
        Collider::hull(centre, vertices.iter().copied().chain([DVec3::ZERO]).collect()),
        Collider::mesh(centre, vertices, inside_out),
    ]
}

fn compiled(body: Collider) -> model::Collider {
    let mut scene = Scene::new();
    scene.add_cloth(Sheet::square(1.0, 4), Fabric::cotton());
    scene.add_collider(body);
    scene.compile().unwrap().colliders.remove(0)
}

#[test]
fn a_box_is_the_same_as_a_hull_and_as_a_mesh() {
    let [cuboid, hull, mesh] = boxes(DVec3::ZERO).map(compiled);
    let at = |i: i32| 0.0137 + 0.11 * f64::from(i);
    for (i, j, k) in (0..4096).map(|n| (n % 16 - 8, n / 16 % 16 - 8, n / 256 - 8)) {
        let p = dvec3(at(i), at(j), at(k));
        let (d, n) = shape::distance(&cuboid.shape, p);
        for other in [&hull, &mesh] {
            let (found, direction) = shape::distance(&other.shape, p);
            // Corners of the surface to draw are single precision.
            assert!((found - d).abs() < 1e-6, "{p}: {found}, not {d}");
            assert!(direction.distance(n) < 1e-5, "{p}: {direction}, not {n}");
        }
    }
}

#[test]
fn cloth_lies_on_hulls_and_meshes_as_on_boxes() {
    for method in ["muslin", "implicit-euler", "xpbd"] {
        for body in boxes(dvec3(0.0, -0.2, 0.0)) {
            let mut scene = Scene { substeps: 4, ..Scene::new() };
            let cloth = Cloth { origin: dvec3(-0.2, 0.0, -0.2), ..Sheet::square(0.4, 9) };
            scene.add_cloth(cloth, Fabric::cotton());
            scene.add_collider(body);
            let mut sim =
                Sim::new(scene.compile().unwrap(), Method::preset(method).unwrap()).unwrap();
            for _ in 0..60 {
                sim.advance(1.0 / 60.0);
            }
            for x in &sim.state().x {
                assert!((x.y + 0.045).abs() < 2e-4, "{method}: {x} on {:?}", scene.colliders[0]);
            }
        }
    }
}

#[test]
fn an_open_mesh_stops_cloth_from_both_sides() {
    let sheet = Collider::mesh(
        DVec3::ZERO,
        vec![
            dvec3(-2.0, 0.0, -2.0),
            dvec3(2.0, 0.0, -2.0),
            dvec3(2.0, 0.0, 2.0),
            dvec3(-2.0, 0.0, 2.0),
        ],
        vec![[0, 1, 2], [0, 2, 3]],
    );
    for method in ["muslin", "implicit-euler", "kim-2006", "symplectic-euler", "xpbd", "meshless"] {
        for side in [1.0f32, -1.0] {
            let mut scene = Scene {
                substeps: 4,
                gravity: dvec3(0.0, -9.81 * f64::from(side), 0.0),
                ..Scene::new()
            };
            scene.cloth.push(Cloth {
                origin: dvec3(-0.25, 0.3 * f64::from(side), -0.25),
                velocity: dvec3(1.0, -20.0 * f64::from(side), 0.0),
                springs: Springs { structural: 20.0, shear: 10.0, ..Springs::default() },
                particle_mass: Some(0.01),
                absolute_damping: 0.01,
                ..Sheet::square(0.5, 7)
            });
            scene.add_collider(sheet.clone());
            let mut sim =
                Sim::new(scene.compile().unwrap(), Method::preset(method).unwrap()).unwrap();
            for frame in 0..60 {
                sim.advance(1.0 / 60.0);
                let nearest = sim.state().x.iter().map(|x| side * x.y).fold(f32::MAX, f32::min);
                assert!(nearest > 4.8e-3, "{method} from {side}: {nearest} in frame {frame}");
            }
        }
    }
}

#[test]
fn wrong_hulls_and_meshes_are_refused_by_name() {
    let refused = |body: Collider| {
        let mut scene = Scene::new();
        scene.add_cloth(Sheet::square(1.0, 4), Fabric::cotton());
        scene.add_collider(body);
        scene.compile().unwrap_err().to_string()
    };
    let flat = vec![DVec3::ZERO, DVec3::X, DVec3::Y, dvec3(1.0, 1.0, 0.0)];
    let message = refused(Collider::hull(DVec3::ZERO, flat.clone()));
    assert!(message.starts_with("collider.0.shape.points = 4 points: a hull needs"), "{message}");
    let message = refused(Collider::hull(DVec3::ZERO, vec![DVec3::NAN; 4]));
    assert!(message.starts_with("collider.0.shape.points.0 = "), "{message}");
    let message = refused(Collider::mesh(DVec3::ZERO, flat.clone(), vec![[0, 1, 7]]));
    assert!(message.starts_with("collider.0.shape.triangles.0 = 7: the mesh has"), "{message}");
    let message = refused(Collider::mesh(DVec3::ZERO, flat, vec![[0, 1, 1]]));
    assert!(message.starts_with("collider.0.shape.triangles = 1 of them: a mesh"), "{message}");
}

/// A closed surface, its triangles sorted into layers of y so that a ray meets few of them.
struct Layers<'a> {
    vertices: &'a [DVec3],
    layers: Vec<Vec<[u32; 3]>>,
}

impl<'a> Layers<'a> {
    const HEIGHT: f64 = 0.02;

    fn new(vertices: &'a [DVec3], triangles: &[[u32; 3]]) -> Self {
        let mut layers = vec![Vec::new(); 120];
        for corners in triangles {
            let ys = corners.map(|i| vertices[i as usize].y / Self::HEIGHT + 10.0);
            let low = ys.iter().copied().fold(f64::MAX, f64::min) as usize;
            let high = ys.iter().copied().fold(0.0, f64::max) as usize;
            layers[low..=high].iter_mut().for_each(|layer| layer.push(*corners));
        }
        Self { vertices, layers }
    }

    /// Whether a ray along x meets the surface an odd number of times.
    fn holds(&self, p: DVec3) -> bool {
        let layer = self.layers.get((p.y / Self::HEIGHT + 10.0) as usize);
        let meets = |corners: &&[u32; 3]| {
            let [a, b, c] = corners.map(|i| self.vertices[i as usize] - p);
            let area = |a: DVec3, b: DVec3| a.y * b.z - a.z * b.y;
            let shares = [area(b, c), area(c, a), area(a, b)];
            let all: f64 = shares.iter().sum();
            let x = (shares[0] * a.x + shares[1] * b.x + shares[2] * c.x) / all;
            shares.iter().all(|share| share / all > 0.0) && x > 0.0
        };
        layer.is_some_and(|layer| layer.iter().filter(meets).count() % 2 == 1)
    }
}

#[test]
fn no_cloth_is_ever_inside_the_walking_mannequin() {
    let scene = muslin::scenes::named("dressed-walk").unwrap();
    let mut sim = Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
    let frames = (scene.seconds / scene.dt).round() as usize;
    let mut touched = 0;
    for frame in 0..frames {
        let report = sim.step(scene.dt as f32);
        touched = touched.max(report.contacts);
        let (state, model) = (sim.state(), sim.model());
        let Shape::Character(body) = &model.colliders[0].shape else { panic!("no character") };
        let vertices = body.vertices_at(state.time);
        let layers = Layers::new(&vertices, &body.triangles);
        // A little off, so that no ray goes through an edge.
        let (pose, off) = (&state.colliders[0], dvec3(0.0, 1.3e-7, 1.7e-7));
        for corners in &model.triangles {
            let [a, b, c] = corners.map(|i| pose.to_own(state.x[i as usize].as_dvec3()) + off);
            for p in [a, b, c, (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0, (a + b + c) / 3.0] {
                assert!(!layers.holds(p), "frame {frame}: {p} is inside the mannequin");
            }
        }
    }
    assert!(touched > 20, "only {touched} contacts: the skirt does not touch the legs");
}

/// Where all of a cloth meets a table at once, what a solve did not know of must not be put right by
/// stretching the cloth.
#[test]
fn cloth_that_falls_on_a_table_gains_nothing() {
    for name in ["table", "square-table"] {
        let scene = muslin::scenes::named(name).unwrap();
        let mut sim =
            Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
        let start = sim.measure().energy.total;
        for frame in 0..30 {
            let report = sim.step(scene.dt as f32);
            let gained = report.energy.total - start;
            assert!(gained <= 0.0, "{name}: {gained} J of {start} J gained in frame {frame}");
        }
    }
}

#[test]
fn the_mannequin_is_one_closed_piece() {
    let scene = muslin::scenes::named("dressed-walk").unwrap();
    let Shape::Character(body) = &scene.colliders[0].shape else { panic!("no character") };
    let edges = || body.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let all: std::collections::HashSet<[u32; 2]> = edges().collect();
    assert_eq!(all.len(), 3 * body.triangles.len(), "two triangles turn the same way at an edge");
    assert!(
        edges().all(|[a, b]| all.contains(&[b, a])),
        "an edge has no triangle on its other side"
    );
    // Vertices less edges and more triangles: 2 for one piece without handles.
    let (v, e, t) = (body.vertices.len(), all.len() / 2, body.triangles.len());
    assert_eq!(v + t - e, 2, "{v} vertices, {e} edges, {t} triangles");
    let head = body.vertices_at(0.0).iter().map(|v| v.y).fold(0.0, f64::max);
    assert!((head - 1.73).abs() < 0.05, "{head} m tall");
}

#[test]
fn a_waistband_goes_with_its_body() {
    let mut scene = Scene::new();
    let cloth = Cloth { origin: dvec3(0.3, 0.0, 0.0), down: DVec3::NEG_Y, ..Sheet::square(0.2, 5) };
    scene.add_cloth(cloth, Fabric::cotton());
    let pin = muslin::scene::Pin {
        particles: vec![0, 4],
        body: Some("hips".into()),
        ..Default::default()
    };
    scene.cloth[0].pins.push(pin);
    let key = Key { time: 1.0, offset: dvec3(0.5, 0.2, 0.0), turn: dvec3(0.0, 1.5, 0.0) };
    let hips = Collider { name: "hips".into(), ..Collider::sphere(DVec3::ZERO, 0.1) };
    scene.add_collider(hips.path(vec![Key::default(), key]));
    let mut sim = Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
    for _ in 0..70 {
        sim.advance(1.0 / 60.0);
    }
    let turn = glam::DQuat::from_rotation_y(1.5);
    for (i, start) in [(0, 0.3), (4, 0.5)] {
        let wanted = turn * dvec3(start, 0.0, 0.0) + dvec3(0.5, 0.2, 0.0);
        assert!(sim.state().x[i].as_dvec3().distance(wanted) < 1e-6, "{}", sim.state().x[i]);
    }
    scene.cloth[0].pins[0].body = Some("hip".into());
    let message = scene.compile().unwrap_err().to_string();
    assert!(message.starts_with("cloth.0.pins.0.body = hip: name a [[collider]]"), "{message}");
}
