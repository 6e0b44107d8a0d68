//! Cloth against cloth: nothing passes through anything, in any frame, under any method.

mod crossings;

use crossings::crossings;
use muslin::solvers::Integrator;
use muslin::solvers::presets::METHODS;
use muslin::{Method, Scene, Sim, scenes};

fn sim(scene: &Scene, method: &str) -> Sim {
    Sim::new(scene.compile().unwrap(), Method::preset(method).unwrap()).unwrap()
}

/// The scenes, small.
fn small(name: &str) -> Scene {
    let mut scene = match name {
        "twist" => scenes::folds::twist(16, 13),
        _ => scenes::named(name).unwrap(),
    };
    let size = match name {
        "stack" => 13,
        "drape" => 25,
        _ => 19,
    };
    for cloth in scene.cloth.iter_mut().filter(|c| c.mesh.is_none()) {
        (cloth.columns, cloth.rows) = (size, size);
    }
    scene.self_contact.get_or_insert_default();
    if let Ok(text) = std::env::var("LAYERS") {
        scene.cloth[0].layers = text.parse().unwrap();
    }
    if let Ok(text) = std::env::var("SIZE") {
        scene.cloth[0].columns = text.parse().unwrap();
        scene.cloth[0].rows = text.parse().unwrap();
    }
    if let Ok(text) = std::env::var("MU") {
        scene.self_contact.as_mut().unwrap().friction = text.parse().unwrap();
    }
    if std::env::var_os("NOBODY").is_some() {
        scene.colliders.clear();
        scene.cloth[0].layers = 1;
        let mut other = scene.cloth[0].clone();
        other.origin.y -= 0.1;
        other.pins = vec![muslin::scene::Pin{ particles: (0..13*13).collect(), ..Default::default() }];
        scene.cloth.push(other);
    }
    scene
}

/// Runs a scene and looks at every frame.
fn run(scene: &Scene, method: &str, seconds: f64) -> String {
    let mut sim = sim(scene, method);
    assert_eq!(sim.entangled(), &[] as &[[u32; 2]]);
    let triangles = sim.model().triangles.clone();
    let start = sim.measure().energy.total;
    let (mut contacts, mut stopped, mut highest) = (0, 0, 0.0f64);
    let frames = (seconds / scene.dt) as u32;
    for frame in 0..frames {
        let report = sim.step(scene.dt as f32);
        assert!(sim.state().is_finite(), "{method}: frame {frame}");
        let found = crossings(&triangles, &sim.state().x);
        assert!(found.is_empty(), "{method}: {} crossings in frame {frame}: {found:?}", found.len());
        contacts = contacts.max(report.self_contact.contacts);
        stopped += report.self_contact.stopped;
        highest = highest.max(report.energy.total - start);
        if std::env::var_os("SERIES").is_some() {
            println!("{frame} c {} s {} kin {:.4} el {:.4} g {:.4} tot {:.4} v {:.3} strain {:.3} body {}", report.self_contact.contacts, report.self_contact.stopped, report.energy.kinetic, report.energy.elastic, report.energy.gravity, report.energy.total, report.max_speed, report.max_strain, report.contacts);
        }
    }
    let report = sim.measure();
    format!(
        "{method}: at most {contacts} contacts, {stopped} particles stopped, energy {:.3} J after {:.3} J, {:.4} J gained at most, strain {:.3}",
        report.energy.total, start, highest, report.max_strain
    )
}

#[test]
#[ignore]
fn look() {
    let scene = std::env::var("SCENE").unwrap();
    let method = std::env::var("METHOD").unwrap();
    let seconds = std::env::var("SECONDS").unwrap().parse().unwrap();
    for method in method.split(',') {
        println!("{scene} {}", run(&small(&scene), method, seconds));
    }
    let _ = (METHODS.len(), Integrator::Xpbd);
}
