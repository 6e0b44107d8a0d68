//! Pulls (`Inputs::pulls`), the drag springs of Rubin Eq. 7, under every method.

use glam::{DVec3, dvec3};
use muslin::scene::Springs;
use muslin::solvers::presets::METHODS;
use muslin::solvers::{Integrator, Layers};
use muslin::{Cloth, Method, Pull, Scene, Sheet, Sim, Warning, vec3};

fn sim(scene: &Scene, method: Method) -> Sim {
    Sim::new(scene.compile().unwrap(), method).unwrap()
}

fn preset(id: &str) -> Method {
    Method::preset(id).unwrap()
}

fn run(sim: &mut Sim, h: f32, steps: u32) {
    for _ in 0..steps {
        sim.advance(h);
    }
}

/// Must show 7 of Rubin: h² k/m is kept below its limit of 4, in every method.
#[test]
fn pulls_of_any_stiffness_are_stable_and_reach_their_target() {
    let cloth = Cloth {
        springs: Springs { structural: 1.0, ..Springs::default() },
        particle_mass: Some(0.1),
        absolute_damping: 2.0,
        ..Sheet::rectangle(0.0, 0.0, 1, 1)
    };
    let scene = Scene { gravity: DVec3::ZERO, cloth: vec![cloth], ..Scene::default() };
    let mut methods: Vec<Method> = METHODS.iter().map(|p| p.method()).collect();
    for layers in [Layers::Interface, Layers::Extruded] {
        methods.push(Method { layers, ..preset("meshless") });
    }
    for method in methods {
        for stiffness in [3.0, 1e3, 1e9, f32::MAX] {
            let mut sim = sim(&scene, method.clone());
            let target = vec3(1.0, 0.5, -2.0);
            sim.inputs.pulls.push(Pull { particle: 0, target, stiffness: 0.5 * stiffness });
            sim.inputs.pulls.push(Pull { particle: 0, target, stiffness: 0.5 * stiffness });
            let mut farthest = 0.0f32;
            for _ in 0..1500 {
                let done = sim.advance(1.0 / 60.0);
                assert!(!done.warnings.contains(Warning::RolledBack), "{}", method.id);
                farthest = farthest.max(sim.state().x[0].distance(target));
            }
            let left = sim.state().x[0].distance(target);
            let name = format!("{} {:?}, k = {stiffness:e}", method.id, method.layers);
            assert!(left < 1e-3 && farthest < 5.0, "{name}: {left} of {farthest} m away");
        }
    }
}

/// Two pulls on a particle are the sum of both, and a pull does what its spring would.
#[test]
fn pulls_add_up_and_balance_the_weight() {
    let cloth = Cloth {
        springs: Springs { structural: 1.0, ..Springs::default() },
        particle_mass: Some(0.1),
        absolute_damping: 1.0,
        ..Sheet::rectangle(0.0, 0.0, 1, 1)
    };
    let scene = Scene { cloth: vec![cloth], ..Scene::default() };
    for preset in METHODS {
        let mut sim = sim(&scene, preset.method());
        for (x, stiffness) in [(0.0, 1.0), (3.0, 2.0)] {
            sim.inputs.pulls.push(Pull { particle: 0, target: vec3(x, 0.0, 0.0), stiffness });
        }
        run(&mut sim, 1.0 / 300.0, 3000);
        // k₁ (0 − x) + k₂ (3 − x) = 0, and (k₁ + k₂) y = −m g.
        let expected = vec3(2.0, -0.1 * 9.81 / 3.0, 0.0);
        let error = sim.state().x[0].distance(expected);
        assert!(error < 1e-4, "{}: {}", preset.id, sim.state().x[0]);
    }
}

/// An implicit step with a pull is the one its equation says: (m + h² k) Δv = h (k d − h k v).
#[test]
fn an_implicit_pull_is_in_the_matrix() {
    let cloth = Cloth {
        springs: Springs { structural: 1.0, ..Springs::default() },
        particle_mass: Some(0.1),
        velocity: dvec3(0.0, 2.0, 0.0),
        ..Sheet::rectangle(0.0, 0.0, 1, 1)
    };
    let scene = Scene { gravity: DVec3::ZERO, cloth: vec![cloth], ..Scene::default() };
    let implicit = METHODS.iter().map(|p| p.method());
    for method in implicit.filter(|m| m.integrator == Integrator::BackwardEuler) {
        let id = method.id.clone();
        let mut sim = sim(&scene, method);
        let (k, m, h) = (50.0, 0.1, 1.0 / 60.0);
        sim.inputs.pulls.push(Pull { particle: 0, target: vec3(0.0, 1.0, 0.0), stiffness: k });
        sim.advance(h);
        let expected = 2.0 + h * (k - h * k * 2.0) / (m + h * h * k);
        assert!((sim.state().v[0].y - expected).abs() < 1e-5, "{id}: {}", sim.state().v[0]);
    }
}
