//! Jeong & Lee: 3D springs against an oracle in double precision, and what the paper shows with them.

mod oracle;

use glam::{DMat3, DVec3, dvec3};
use muslin::forces::Forces;
use muslin::model::TurningLaw;
use muslin::scene::{Mesh, Pin, Springs, Turning};
use muslin::scenes::jeong::{jelly, pleated, stack};
use muslin::solvers::presets;
use muslin::{Cloth, Inputs, Method, Model, Par, Scene, Sheet, Sim, State, Warning, scenes};
use oracle::turning::{Body, Phase, rank, rotation};
use oracle::{Random, distance, largest, wide};

const LAWS: [TurningLaw; 3] = [TurningLaw::Printed, TurningLaw::Linear, TurningLaw::Sine];

/// Methods that solve nothing, or to a tolerance.
const CONVERGED: [&str; 6] =
    ["symplectic-euler", "midpoint", "rk4", "implicit-euler", "backward-euler", "baraff-witkin-1998"];

fn weightless(cloth: Cloth) -> Scene {
    Scene { gravity: DVec3::ZERO, cloth: vec![cloth], ..Scene::default() }
}

fn sim(model: &Model, method: &str) -> Sim {
    Sim::new(model.clone(), Method::preset(method).unwrap()).unwrap()
}

/// A unit cube of twelve 3D springs.
fn cube(kp: f64, kt: f64, damping: [f64; 2], law: TurningLaw) -> Cloth {
    Cloth {
        springs: Springs { structural: kp, structural_damping: damping[0], ..Springs::default() },
        turning: Turning { stiffness: kt, damping: damping[1], law, inertia: Some(0.1) },
        ..jelly(3, 0.0)
    }
}

/// Ten particles in a box, joined at random.
fn tangle(random: &mut Random, law: TurningLaw) -> Cloth {
    let vertices: Vec<DVec3> = (0..10).map(|_| random.vector(1.0)).collect();
    let pairs = (0..10).flat_map(|a| (a + 1..10).map(move |b| [a, b]));
    let edges = pairs.filter(|[a, b]| b - a == 1 || random.signed() > 0.3).collect();
    Cloth {
        mesh: Some(Mesh { vertices, edges, ..Mesh::default() }),
        turning: Turning { stiffness: 3.0, damping: 0.4, law, inertia: None },
        ..cube(50.0, 0.0, [0.7, 0.0], law)
    }
}

/// The rest shape, shaken in every coordinate.
fn shaken(model: &Model, random: &mut Random, size: f64, speed: f64) -> Phase {
    Phase::still(wide(&model.rest_x)).shaken(random, size, 2.0 * size, speed)
}

fn after(sim: &mut Sim, seconds: f64, h: f64) {
    for _ in 0..(seconds / h).round() as usize {
        let done = sim.advance(h as f32);
        assert!(!done.warnings.contains(Warning::RolledBack), "{}", sim.method().id);
    }
}

// ── The oracle itself ────────────────────────────────────────────────────────────────────────────

#[test]
fn oracle_forces_and_torques_are_slopes_of_the_energy() {
    let mut random = Random(1);
    for law in LAWS {
        for cloth in [cube(20.0, 7.0, [0.0; 2], law), tangle(&mut random, law)] {
            let model = weightless(cloth).compile().unwrap();
            let body = Body::new(&model);
            let p = shaken(&model, &mut random, 0.3, 0.0);
            let (force, torque) = body.forces(&p);
            let found: Vec<f64> = force.iter().chain(&torque).flat_map(|f| f.to_array()).collect();
            let size = found.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
            for (c, found) in found.into_iter().enumerate() {
                let side = |step: f64| body.energy(&p.moved(c, step));
                let slope = -(8.0 * (side(1e-3) - side(-1e-3)) - (side(2e-3) - side(-2e-3))) / 12e-3;
                let off = (found - slope).abs() / size;
                assert!(off < 1e-6, "{law:?}, coordinate {c}: {found}, slope {slope}");
            }
        }
    }
}

#[test]
fn oracle_keeps_momenta_and_loses_energy_when_damped() {
    for law in LAWS {
        let model = weightless(cube(100.0, 100.0, [0.5, 0.3], law)).compile().unwrap();
        let body = Body::new(&model);
        let mut p = shaken(&model, &mut Random(2), 0.2, 0.5);
        let (linear, angular) = body.momenta(&p);
        let mut energy = body.total_energy(&p);
        for second in 1..=10 {
            (0..500).for_each(|_| body.symplectic(&mut p, 0.002));
            let now = body.total_energy(&p);
            assert!(now < energy, "{law:?}, second {second}: {energy} to {now}");
            energy = now;
        }
        let (p1, l1) = body.momenta(&p);
        let off = [(p1 - linear).length() / linear.length(), (l1 - angular).length() / angular.length()];
        assert!(off.iter().all(|off| *off < 1e-10), "{law:?}: {off:?}");
        let uneven = p.r.iter().map(|r| (r.transpose() * *r - DMat3::IDENTITY).abs_diff_eq(DMat3::ZERO, 1e-10));
        assert!(uneven.into_iter().all(|even| even), "{law:?}: rotations");
    }
}

#[test]
fn oracle_counts_the_zero_modes() {
    let zero_modes = |cloth: Cloth, turning: bool| {
        let model = weightless(cloth).compile().unwrap();
        let matrix = Body::new(&model).stiffness(&Phase::still(wide(&model.rest_x)), turning);
        matrix.len() - rank(matrix)
    };
    assert_eq!(zero_modes(jelly(12, 0.0), false), 12, "twelve conventional springs");
    assert_eq!(zero_modes(jelly(20, 0.0), false), 6, "twenty");
    let edge = Mesh { vertices: vec![DVec3::ZERO, DVec3::X], edges: vec![[0, 1]], ..Mesh::default() };
    for law in [TurningLaw::Linear, TurningLaw::Sine] {
        let one = cube(100.0, 100.0, [0.0; 2], law);
        assert_eq!(zero_modes(one.clone(), true), 6, "twelve 3D springs, {law:?}");
        let one = Cloth { mesh: Some(edge.clone()), ..one };
        assert_eq!(zero_modes(one, true), 7, "one 3D spring, {law:?}");
    }
}

// ── The engine's forces ──────────────────────────────────────────────────────────────────────────

#[test]
fn forces_and_torques_equal_the_oracles() {
    let mut random = Random(3);
    for round in 0..60 {
        let law = LAWS[round % 3];
        let cloth = if round % 2 == 0 { cube(20.0, 7.0, [0.9, 0.5], law) } else { tangle(&mut random, law) };
        let model = weightless(cloth).compile().unwrap();
        let sim = sim(&model, "rk4");
        let state = shaken(&model, &mut random, 0.4, 1.0).into_state(sim.state());
        let floors = sim.method().spring_floors(&model);
        let mut forces = Forces::new(&model);
        forces.evaluate_all(&model, &Inputs::default(), &floors, Par::Serial, state.motion());
        let (force, torque) = Body::new(&model).forces(&Phase::of(&state));
        let found = [(wide(&forces.total), force), (wide(&forces.torques), torque)];
        for (what, (found, expected)) in ["force", "torque"].iter().zip(&found) {
            let off = distance(found, expected) / largest(expected.iter().copied());
            assert!(off < 2e-6, "round {round}, {law:?}, {what}: off by {off:e}");
        }
        let energy = sim_energy(&model, &state);
        let off = energy / Body::new(&model).total_energy(&Phase::of(&state)) - 1.0;
        assert!(off.abs() < 1e-6, "round {round}, {law:?}, energy: off by {off:e}");
    }
}

fn sim_energy(model: &Model, state: &State) -> f64 {
    let mut sim = sim(model, "rk4");
    sim.restore(state).unwrap();
    sim.measure().energy.total
}

#[test]
fn meshes_become_the_springs_they_show() {
    let model = weightless(cube(1.0, 1.0, [0.0; 2], TurningLaw::Sine)).compile().unwrap();
    assert_eq!((model.spring_count(), model.turning.len()), (12, 12));
    assert!(model.springs.rest_length.iter().all(|l| *l == 1.0), "no diagonals");
    let (vertices, faces) = stack(10);
    let bar = Cloth { mesh: Some(Mesh { vertices, faces, ..Mesh::default() }), ..jelly(3, 0.0) };
    let model = weightless(bar).compile().unwrap();
    assert_eq!((model.particle_count(), model.turning.len()), (44, 84));
    assert!(model.turning.inertia.iter().all(|i| (i - 0.1).abs() < 1e-7), "0.1 m L²");
    let model = weightless(tangle(&mut Random(5), TurningLaw::Sine)).compile().unwrap();
    let mesh = tangle(&mut Random(5), TurningLaw::Sine).mesh.unwrap();
    let wanted: Vec<[u32; 2]> = mesh.edges.iter().map(|e| e.map(|i| i as u32)).collect();
    assert_eq!(model.turning.ends, wanted);
    for (ends, [a, b]) in mesh.edges.iter().zip(&model.turning.directions) {
        let along = (mesh.vertices[ends[1]] - mesh.vertices[ends[0]]).normalize().as_vec3();
        assert!(a.distance(along) + b.distance(-along) < 1e-6, "{ends:?}");
    }
}

// ── Momentum, energy, order ──────────────────────────────────────────────────────────────────────


#[test]
fn explore_spin() {
    for (kp, kt) in [(1e3, 1e3), (1e5, 1e5)] {
    for h in [0.1, 1.0 / 60.0] {
    for id in ["implicit-euler", "backward-euler", "baraff-witkin-1998", "desbrun-1999"] {
        for springs in [3, 28] {
            let mut cloth = Cloth { spin: dvec3(0.3, 1.0, 0.2), ..jelly(springs, 0.0) };
            cloth.springs = Springs { structural: kp, ..Springs::default() };
            cloth.turning.stiffness = if springs == 3 { kt } else { 0.0 };
            cloth.turning.damping = 0.0;
            let mut scene = weightless(cloth);
            scene.gravity = dvec3(0.0, -9.81, 0.0);
            let model = scene.compile().unwrap();
            let mut sim = sim(&model, id);
            let l0 = ang(&sim);
            let mut worst = 0.0f64;
            let mut conv = true;
            let n = (5.0 / h as f64).round() as usize;
            for _ in 0..n {
                let before = sim.state().clone();
                let done = sim.advance(h as f32);
                conv &= !done.warnings.contains(Warning::NotConverged);
                worst = worst.max(law_l(&sim, &before, h, scene.gravity));
            }
            let t = sim.state().time;
            let p = sim.measure().momentum / 8.0;
            println!("kt {kt} h {h} {id} {springs}: L/L0 {:?} |L| {:.4} fall {:.7} worst law {:.2e} conv {conv} strain {:.4}", ang(&sim) / l0, ang(&sim).length() / l0.length(), p.y / (-9.81 * t), worst / l0.length(), sim.measure().max_strain);
        }
    }}}
}

/// About the centre of mass.
fn ang(sim: &Sim) -> DVec3 {
    let r = sim.measure();
    let m: f64 = sim.model().mass.iter().map(|m| f64::from(*m)).sum();
    let c = wide(&sim.state().x).iter().zip(&sim.model().mass).map(|(x, m)| *x * f64::from(*m)).sum::<DVec3>() / m;
    r.angular_momentum - c.cross(r.momentum)
}

fn law_l(sim: &Sim, before: &State, h: f64, _g: DVec3) -> f64 {
    let mean = |v: &[muslin::Vec3]| wide(v).iter().sum::<DVec3>() / v.len() as f64;
    let (c0, v0, c1, v1) = (mean(&before.x), mean(&before.v), mean(&sim.state().x), mean(&sim.state().v));
    let mut d = DVec3::ZERO;
    for i in 0..before.x.len() {
        let (x, v) = (before.x[i].as_dvec3() - c0, before.v[i].as_dvec3() - v0);
        let (x1, w1) = (sim.state().x[i].as_dvec3() - c1, sim.state().v[i].as_dvec3() - v1);
        d += x1.cross(w1) - x.cross(v) - h * w1.cross(v);
        if !before.spin.is_empty() {
            d += 0.1 * (sim.state().spin[i] - before.spin[i]).as_dvec3();
        }
    }
    d.length()
}

#[test]
fn explore_damped() {
    // strong torsional damping
    for (kt, ct) in [(1.0, 10.0), (1.0, 100.0), (100.0, 10.0), (100.0, 1000.0)] {
        for h in [0.1, 0.01] {
            for id in ["implicit-euler", "backward-euler"] {
                let model = weightless(cube(100.0, kt, [0.0, ct], TurningLaw::Sine)).compile().unwrap();
                let mut sim = sim(&model, id);
                let start = shaken(&model, &mut Random(2), 0.02, 0.5);
                sim.restore(&start.into_state(sim.state())).unwrap();
                let e: Vec<f64> = (0..6).map(|_| { let e = sim.measure().energy.total; sim.advance(h as f32); e }).collect();
                println!("kt {kt} ct {ct} h {h} {id}: {e:.4?}");
            }
        }
    }
}

fn shape_error(sim: &Sim) -> f64 {
    let (x, rest) = (wide(&sim.state().x), wide(&sim.model().rest_x));
    let pairs = (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b)));
    let squares: f64 = pairs.map(|(a, b)| (x[a].distance(x[b]) - rest[a].distance(rest[b])).powi(2)).sum();
    (squares / 28.0).sqrt()
}

fn volume(sim: &Sim) -> f64 {
    let x = wide(&sim.state().x);
    (x[1] - x[0]).cross(x[3] - x[0]).dot(x[4] - x[0])
}

#[test]
fn explore_recovery() {
    for (id, h) in [("symplectic-euler", 0.01), ("implicit-euler", 0.1), ("backward-euler", 0.1)] {
        for law in LAWS {
            for kt in [10.0, 100.0] {
                let mut line = String::new();
                for angle in [30.0, 60.0, 85.0, 120.0, 170.0] {
                    let mut cloth = jelly(3, angle);
                    cloth.turning = Turning { stiffness: kt, damping: 0.2 * f64::sqrt(kt * 0.1), law, inertia: None };
                    let model = weightless(cloth).compile().unwrap();
                    let mut sim = sim(&model, id);
                    after(&mut sim, 80.0, h);
                    line += &format!("  {:.1e} {:.4}", shape_error(&sim), volume(&sim));
                }
                println!("{id} {law:?} kt {kt}: {line}");
            }
        }
    }
    for springs in [12, 20, 28] {
        let mut line = String::new();
        for angle in [30.0, 60.0, 85.0, 120.0, 170.0] {
            let model = weightless(jelly(springs, angle)).compile().unwrap();
            let mut sim = sim(&model, "symplectic-euler");
            after(&mut sim, 80.0, 0.01);
            line += &format!("  {:.1e} {:.4}", shape_error(&sim), volume(&sim));
        }
        println!("conventional {springs}: {line}");
    }
}

#[test]
fn explore_oraclebar() {
    for clamp in [false, true] {
        let scene = scenes::named("jeong-bar").unwrap();
        let scene = Scene { cloth: vec![scene.cloth[0].clone()], ..scene };
        let model = scene.compile().unwrap();
        let mut body = Body::new(&model);
        body.springs.iter_mut().for_each(|s| s.ktd = 2.0);
        for i in 0..4 {
            body.mass[i] = 1e30;
            if clamp { body.inertia[i] = 1e30; }
        }
        let mut p = Phase::still(wide(&model.rest_x));
        for _ in 0..30000 {
            for i in 4..44 { let v = p.v[i]; p.v[i] += 0.004 * (-DVec3::Y - 0.3 * v); }
            body.symplectic(&mut p, 0.004);
        }
        let y: Vec<f64> = (40..44).map(|i| p.x[i].y - model.rest_x[i].y as f64).collect();
        println!("oracle bar, clamped {clamp}: {y:?} lowest {}", p.x[40].y);
        let n: f64 = (0..4).map(|i| DQuatAngle(p.r[i])).sum::<f64>() / 4.0;
        println!("  turn at the wall {n}");
    }
}

#[allow(non_snake_case)]
fn DQuatAngle(r: DMat3) -> f64 { ((r.x_axis.x + r.y_axis.y + r.z_axis.z - 1.0) / 2.0).clamp(-1.0, 1.0).acos() }

#[test]
fn explore_bar() {
    for (id, h, secs) in [("symplectic-euler", 0.002, 100.0), ("implicit-euler", 0.02, 100.0), ("implicit-euler", 0.1, 100.0), ("backward-euler", 0.1, 100.0)] {
        for law in LAWS {
        let mut scene = scenes::named("jeong-bar").unwrap();
        scene.cloth[0].turning.law = law;
        scene.cloth[0].turning.damping = 2.0;
        scene.cloth[0].absolute_damping = 0.3;
        let model = scene.compile().unwrap();
        let mut sim = sim(&model, id);
        let t = std::time::Instant::now();
        let mut line = String::new();
        for _ in 0..4 {
            after(&mut sim, secs / 4.0, h);
            let x = &sim.state().x;
            let tip = |first: usize| (40..44).map(|i| x[first + i].y - sim.model().rest_x[first + i].y).sum::<f32>() / 4.0;
            line += &format!(" {:.4}/{:.3}", tip(0), tip(44));
        }
        println!("{id} {law:?} h {h}: {line} speed {:.1e} {:?}", sim.measure().max_speed, t.elapsed());
        }
    }
}
