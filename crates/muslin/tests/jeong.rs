//! Jeong & Lee: 3D springs against an oracle in double precision, and what the paper shows with them.

mod oracle;

use glam::{DMat3, DVec3, dvec3};
use muslin::forces::Forces;
use muslin::model::TurningLaw;
use muslin::scene::{Mesh, Pin, Springs, Turning};
use muslin::scenes::jeong::{jelly, pleated, stack};
use muslin::solvers::presets;
use muslin::{Cloth, Inputs, Method, Model, Par, Scene, Sheet, Sim, State, Warning, scenes};
use oracle::turning::{
    Body, COLUMNS, Phase, ROWS, creases, cube, own_loss, rank, rigid_law, rotation, shaken, shape,
    tangle, weightless,
};
use oracle::{Random, distance, largest, wide};

const LAWS: [TurningLaw; 3] = [TurningLaw::Printed, TurningLaw::Linear, TurningLaw::Sine];

/// Methods that solve nothing, or to a tolerance.
const CONVERGED: [&str; 6] = [
    "symplectic-euler",
    "midpoint",
    "rk4",
    "implicit-euler",
    "backward-euler",
    "baraff-witkin-1998",
];

fn sim(model: &Model, method: &str) -> Sim {
    Sim::new(model.clone(), Method::preset(method).unwrap()).unwrap()
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
                let slope =
                    -(8.0 * (side(1e-3) - side(-1e-3)) - (side(2e-3) - side(-2e-3))) / 12e-3;
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
        let off =
            [(p1 - linear).length() / linear.length(), (l1 - angular).length() / angular.length()];
        assert!(off.iter().all(|off| *off < 1e-10), "{law:?}: {off:?}");
        let uneven =
            p.r.iter()
                .map(|r| (r.transpose() * *r - DMat3::IDENTITY).abs_diff_eq(DMat3::ZERO, 1e-10));
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
    let edge =
        Mesh { vertices: vec![DVec3::ZERO, DVec3::X], edges: vec![[0, 1]], ..Mesh::default() };
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
        let cloth = if round % 2 == 0 {
            cube(20.0, 7.0, [0.9, 0.5], law)
        } else {
            tangle(&mut random, law)
        };
        let model = weightless(cloth).compile().unwrap();
        let sim = sim(&model, "rk4");
        let state = shaken(&model, &mut random, 0.4, 1.0).rounded(sim.state());
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

/// A damped cube, shaken by `size`.
fn shaken_cube(law: TurningLaw, method: &str, size: f64) -> Sim {
    let model = weightless(cube(100.0, 100.0, [0.5, 0.3], law)).compile().unwrap();
    let mut sim = sim(&model, method);
    let state = shaken(&model, &mut Random(2), size, 0.5).rounded(sim.state());
    sim.restore(&state).unwrap();
    sim
}

#[test]
fn explicit_methods_keep_both_momenta() {
    // Only midpoint's own error shows in the angular one: it is of second order.
    for (id, angular) in [("symplectic-euler", 2e-5), ("midpoint", 1e-3), ("rk4", 2e-5)] {
        for law in LAWS {
            let mut sim = shaken_cube(law, id, 0.2);
            let start = sim.measure();
            after(&mut sim, 10.0, 0.005);
            let end = sim.measure();
            let off = (end.momentum - start.momentum).length() / start.momentum.length();
            assert!(off < 1e-5, "{id}, {law:?}, linear: {off:e}");
            let size = start.angular_momentum.length();
            let off = (end.angular_momentum - start.angular_momentum).length() / size;
            assert!(off < angular, "{id}, {law:?}, angular: {off:e}");
        }
    }
}

#[test]
fn backward_euler_loses_the_angular_momentum_it_must_and_no_more() {
    for law in LAWS {
        for h in [0.02, 0.1] {
            let mut sim = shaken_cube(law, "backward-euler", 0.05);
            let start = sim.measure();
            for _ in 0..(10.0 / h) as usize {
                let (before, was) = (sim.state().clone(), sim.measure().angular_momentum);
                sim.advance(h as f32);
                let loss = own_loss(&before, sim.state(), &sim.model().mass, h);
                let off = (sim.measure().angular_momentum - was - loss).length();
                let off = off / start.angular_momentum.length();
                assert!(off < 2e-4, "{law:?}, h = {h}, t = {}: {off:e}", before.time);
            }
            let end = sim.measure();
            let off = (end.momentum - start.momentum).length() / start.momentum.length();
            assert!(off < 1e-5, "{law:?}, h = {h}: {off:e}");
            let kept = end.angular_momentum.length() / start.angular_momentum.length();
            assert!(kept < 1.0, "{law:?}, h = {h}: {kept}");
        }
    }
}

#[test]
fn damping_takes_energy_in_every_second() {
    for id in CONVERGED {
        for law in LAWS {
            let mut sim = shaken_cube(law, id, 0.2);
            let mut energy = sim.measure().energy.total;
            for second in 1..=10 {
                after(&mut sim, 1.0, 0.005);
                let now = sim.measure().energy.total;
                assert!(now < energy, "{id}, {law:?}, second {second}: {energy} to {now}");
                energy = now;
            }
        }
    }
}

#[test]
fn strong_torsional_damping_is_felt_by_every_implicit_method() {
    // Hardly any stiffness: what a step loses, dampers took.
    let model = weightless(cube(100.0, 1.0, [0.0, 100.0], TurningLaw::Sine)).compile().unwrap();
    let left = |id: &str, h: f64, steps: u32| {
        let mut sim = sim(&model, id);
        let state = shaken(&model, &mut Random(2), 0.02, 0.5).rounded(sim.state());
        sim.restore(&state).unwrap();
        after(&mut sim, f64::from(steps) * h, h);
        sim.measure().energy.total
    };
    let fine = left("rk4", 2e-5, 1500);
    for id in ["implicit-euler", "backward-euler", "baraff-witkin-1998"] {
        let off = left(id, 0.01, 3) / fine - 1.0;
        assert!(off.abs() < 0.05, "{id}: {off}");
    }
}

#[test]
fn every_method_converges_with_its_order() {
    for law in LAWS {
        let model = weightless(cube(10.0, 3.0, [0.1, 0.01], law)).compile().unwrap();
        let start = shaken(&model, &mut Random(7), 0.1, 0.3).rounded(sim(&model, "rk4").state());
        let (body, mut exact) = (Body::new(&model), Phase::of(&start));
        (0..4000).for_each(|_| body.rk4(&mut exact, 2.5e-4));
        let error = |id: &str, steps: u32| {
            let mut method = Method::preset(id).unwrap();
            method.tolerance = 1e-7;
            let mut sim = Sim::new(model.clone(), method).unwrap();
            sim.restore(&start).unwrap();
            after(&mut sim, 1.0, 1.0 / f64::from(steps));
            let end = Phase::of(sim.state());
            let axis = |p: &Phase| p.r.iter().map(|r| r.x_axis).collect::<Vec<_>>();
            distance(&end.x, &exact.x) + distance(&axis(&end), &axis(&exact))
        };
        let orders = [("rk4", 4, 12), ("midpoint", 2, 128), ("symplectic-euler", 1, 256)];
        let implicit =
            [("explicit-euler", 1, 512), ("implicit-euler", 1, 512), ("backward-euler", 1, 512)];
        for (id, order, steps) in orders.into_iter().chain(implicit) {
            let (coarse, fine) = (error(id, steps), error(id, 2 * steps));
            let found = (coarse / fine).log2();
            assert!(
                (found - f64::from(order)).abs() < 0.3,
                "{id}, {law:?}: order {found}, {coarse:e}"
            );
        }
    }
}

#[test]
fn undamped_energy_does_not_drift() {
    for law in LAWS {
        let model = weightless(cube(100.0, 100.0, [0.0; 2], law)).compile().unwrap();
        let mut sim = sim(&model, "symplectic-euler");
        let state = shaken(&model, &mut Random(4), 0.05, 0.3).rounded(sim.state());
        sim.restore(&state).unwrap();
        // Means over quarters of 200 s.
        let mut mean = || {
            let each = (0..5000).map(|_| {
                sim.advance(0.01);
                sim.measure().energy.total
            });
            each.sum::<f64>() / 5000.0
        };
        let quarters = [mean(), mean(), mean(), mean()];
        assert!((quarters[3] / quarters[0] - 1.0).abs() < 2e-3, "{law:?}: {quarters:?}");
        for q in &sim.state().orientation {
            assert!((q.as_dquat().length() - 1.0).abs() < 3e-7, "|q| = {}", q.as_dquat().length());
            let r = DMat3::from_quat(q.as_dquat().normalize());
            assert!((r.transpose() * r).abs_diff_eq(DMat3::IDENTITY, 1e-10));
        }
    }
}

// ── Large steps ──────────────────────────────────────────────────────────────────────────────────

/// Angular momentum about the centre of mass of equal particles.
fn spin(sim: &Sim) -> DVec3 {
    let (report, x) = (sim.measure(), wide(&sim.state().x));
    report.angular_momentum - (x.iter().sum::<DVec3>() / x.len() as f64).cross(report.momentum)
}

#[test]
fn large_steps_neither_lock_nor_blow_up() {
    // K h²/I = 1e4 and k h²/m = 1e3: falling and spinning, undamped.
    let omega = dvec3(0.3, 1.0, 0.2);
    let kept = |cloth: Cloth, id: &str| {
        let cloth = Cloth { spin: omega, ..cloth };
        let scene = Scene { gravity: dvec3(0.0, -9.81, 0.0), ..weightless(cloth) };
        let mut sim = sim(&scene.compile().unwrap(), id);
        let start = spin(&sim);
        after(&mut sim, 5.0, 0.1);
        let fall = sim.measure().momentum.y / (-9.81 * 8.0 * sim.state().time);
        assert!((fall - 1.0).abs() < 1e-5, "{id} falls at {fall} g");
        assert!(sim.measure().max_strain < 1e-3, "{id}");
        spin(&sim).length() / start.length()
    };
    let soft = |k: f64| Springs { structural: k, ..Springs::default() };
    let turning = || cube(1e5, 1e5, [0.0; 2], TurningLaw::Sine);
    let (found, law) =
        (kept(turning(), "backward-euler"), rigid_law(4.0, 0.8, omega.length(), 0.1, 50));
    assert!((found / law - 1.0).abs() < 0.01, "backward-euler keeps {found}, a rigid body {law}");
    // One linearisation brakes every fast spinning body; 3D springs must not add to that.
    let conventional = kept(Cloth { springs: soft(1e5), ..jelly(28, 0.0) }, "implicit-euler");
    let found = kept(turning(), "implicit-euler");
    assert!(
        found > conventional,
        "implicit-euler keeps {found}, with conventional springs {conventional}"
    );
}

#[test]
fn a_bent_chain_spins_on() {
    // A zigzag pulled straight by its weight, spinning about the vertical through its pin: all springs stay
    // bent, and nothing acts about that axis.
    let half = 0.5f64.sqrt();
    let zigzag = |i: usize| dvec3(half * (i % 2) as f64, -half * i as f64, 0.0);
    let scene = |damping: f64| {
        let vertices = (0..7).map(zigzag).collect();
        let edges = (0..6).map(|i| [i, i + 1]).collect();
        let chain = Cloth {
            mesh: Some(Mesh { vertices, edges, ..Mesh::default() }),
            pins: vec![Pin { particles: vec![0], ..Pin::default() }],
            absolute_damping: 0.5 * damping,
            ..cube(1e4, 100.0, [10.0 * damping, 0.05 * damping], TurningLaw::Sine)
        };
        Scene { gravity: dvec3(0.0, -100.0, 0.0), ..weightless(chain) }
    };
    let mut settled = sim(&scene(1.0).compile().unwrap(), "rk4");
    after(&mut settled, 40.0, 0.002);
    let mut state = settled.state().clone();
    for i in 0..7 {
        state.spin[i] = muslin::vec3(0.0, 2.0, 0.0);
        state.v[i] = state.spin[i].cross(state.x[i] - state.x[0]);
    }
    let model = scene(0.0).compile().unwrap();
    for (id, h, least) in
        [("rk4", 0.001, 0.9999), ("backward-euler", 0.01, 0.99), ("implicit-euler", 0.001, 0.85)]
    {
        let mut sim = sim(&model, id);
        sim.restore(&state).unwrap();
        let start = sim.measure().angular_momentum.y;
        after(&mut sim, 1.0, h);
        let kept = sim.measure().angular_momentum.y / start;
        assert!(kept > least && kept < 1.0001, "{id}, h = {h}: {kept}");
    }
}

// ── What the paper shows ─────────────────────────────────────────────────────────────────────────

#[test]
fn figure_5_the_collapsed_cube_recovers() {
    let recovered = |cloth: Cloth, id: &str, h: f64| {
        let mut sim = sim(&weightless(cloth).compile().unwrap(), id);
        after(&mut sim, 80.0, h);
        shape(&sim)
    };
    for angle in [30.0, 60.0, 85.0, 120.0, 170.0] {
        for (id, h) in [("symplectic-euler", 0.01), ("implicit-euler", 0.1)] {
            for (law, kt) in LAWS.into_iter().flat_map(|law| [(law, 10.0), (law, 100.0)]) {
                let damping = 0.2 * f64::sqrt(0.1 * kt);
                let turning = Turning { stiffness: kt, damping, law, inertia: None };
                let (error, volume) = recovered(Cloth { turning, ..jelly(3, angle) }, id, h);
                assert!(
                    error < 5e-3 && volume > 0.95,
                    "{id}, {law:?}, {kt}, {angle}°: {error}, {volume}"
                );
            }
        }
        let (error, _) = recovered(jelly(12, angle), "symplectic-euler", 0.01);
        assert!(error > 0.05, "twelve conventional springs, {angle}°: {error}");
        // Distances alone do not tell a cube from its mirror image.
        let (error, volume) = recovered(jelly(28, angle), "symplectic-euler", 0.01);
        let mirrored = if angle > 90.0 { -1.0 } else { 1.0 };
        assert!(error < 5e-3 && volume * mirrored > 0.9, "28 springs, {angle}°: {volume}");
    }
}

#[test]
fn figure_7_the_bar_on_the_wall_bends_as_it_should() {
    let tips = |clamp: bool, id: &str, h: f64| {
        let mut scene = scenes::named("jeong-bar").unwrap();
        scene.cloth[0].turning.damping = 2.0;
        scene.cloth.iter_mut().for_each(|cloth| cloth.pins[0].clamp = clamp);
        let mut sim = sim(&scene.compile().unwrap(), id);
        after(&mut sim, 60.0, h);
        let (x, rest) = (wide(&sim.state().x), wide(&sim.model().rest_x));
        [40, 84].map(|first| (first..first + 4).map(|i| (x[i].y - rest[i].y) / 4.0).sum::<f64>())
    };
    let mut found = Vec::new();
    for (id, h) in [("symplectic-euler", 0.004), ("implicit-euler", 0.1), ("backward-euler", 0.5)] {
        let [turning, edges] = tips(true, id, h);
        assert!((turning + 1.86).abs() < 0.15, "{id}: {turning}");
        assert!(edges < -9.0, "{id}: {edges}");
        found.push(turning);
    }
    assert!(found.iter().all(|tip| (tip / found[0] - 1.0).abs() < 0.01), "{found:?}");
    // Where the wall leaves orientations free, the bar turns in it.
    let [loose, _] = tips(false, "implicit-euler", 0.1);
    assert!((loose + 2.089).abs() < 0.02, "{loose}");
}

#[test]
fn figure_6_creases_come_back_on_the_right_side() {
    let scene = |cloth: Cloth| {
        let pins = vec![Pin { particles: vec![COLUMNS / 2], ..Pin::default() }];
        Scene {
            gravity: dvec3(0.0, 0.0, 0.1),
            ..weightless(Cloth { pins, absolute_damping: 0.3, ..cloth })
        }
    };
    for (panel, id, h) in
        [(1, "symplectic-euler", 0.01), (2, "symplectic-euler", 0.01), (1, "implicit-euler", 0.1)]
    {
        for law in [TurningLaw::Linear, TurningLaw::Sine] {
            let (vertices, faces) = pleated(COLUMNS, ROWS, panel);
            let flat = |i: usize| dvec3((i % COLUMNS) as f64, 0.0, (i / COLUMNS) as f64);
            let start = (0..vertices.len()).map(flat).collect();
            let mesh = Some(Mesh { vertices, faces, start, ..Mesh::default() });
            let cloth = Cloth { mesh, ..cube(300.0, 100.0, [1.0, 0.6], law) };
            let mut sim = sim(&scene(cloth).compile().unwrap(), id);
            after(&mut sim, 60.0, h);
            let (least, most, width, right) = creases(&sim, panel);
            assert!(least > 88.0 && most < 92.0, "{id}, {law:?}: {least}° to {most}°");
            assert!(
                (width - 0.707).abs() < 0.02 && right == 1.0,
                "{id}, {law:?}: {width}, {right}"
            );
        }
    }
    // Conventional springs know only distances: flat.
    let springs = Springs {
        structural: 300.0,
        shear: 300.0,
        bend: 300.0,
        structural_damping: 1.0,
        ..Springs::default()
    };
    let flat =
        Cloth { springs, particle_mass: Some(1.0), ..Sheet::rectangle(12.0, 8.0, COLUMNS, ROWS) };
    let mut sim = sim(&scene(flat).compile().unwrap(), "symplectic-euler");
    after(&mut sim, 60.0, 0.01);
    let (least, ..) = creases(&sim, 1);
    assert!(least > 170.0, "{least}°");
}

// ── Robustness ───────────────────────────────────────────────────────────────────────────────────

fn takes_turning(id: &str) -> bool {
    !["moustakas", "multigrid", "xpbd", "hybrid"].contains(&id)
}

#[test]
fn parallel_opposite_and_coincident_springs_stay_finite() {
    for law in LAWS {
        let model = weightless(cube(100.0, 10.0, [0.5, 0.05], law)).compile().unwrap();
        for preset in presets::METHODS.iter().filter(|preset| takes_turning(preset.id)) {
            for place in 0..5 {
                let mut sim = sim(&model, preset.id);
                let mut p = Phase::still(wide(&model.rest_x));
                match place {
                    0 => {}
                    // Particle 0 turned over: opposite to one spring after another.
                    1 => p.r[0] = rotation(std::f64::consts::PI * DVec3::X),
                    2 => p.r[0] = rotation(std::f64::consts::PI * DVec3::Y),
                    3 => p.x[1] = p.x[0],
                    _ => p.x.fill(DVec3::ONE),
                }
                sim.restore(&p.rounded(sim.state())).unwrap();
                for _ in 0..20 {
                    let done = sim.advance(0.005);
                    assert!(
                        !done.warnings.contains(Warning::RolledBack),
                        "{}, {law:?}, {place}",
                        preset.id
                    );
                }
                assert!(sim.state().is_finite());
            }
        }
    }
}

#[test]
fn methods_without_3d_springs_say_so() {
    let cloth =
        Cloth { columns: 5, rows: 5, mesh: None, ..cube(10.0, 1.0, [0.0; 2], TurningLaw::Sine) };
    let model = weightless(cloth).compile().unwrap();
    for preset in presets::METHODS {
        let error = Sim::new(model.clone(), preset.method()).err().map(|e| e.to_string());
        let clear = error
            .as_ref()
            .is_some_and(|e| e.contains("3D springs") && e.contains("turning.stiffness"));
        assert_eq!(clear, !takes_turning(preset.id), "{}: {error:?}", preset.id);
    }
}

/// Several blocks of particles, shaken, after three steps.
fn many(method: &str, threads: usize) -> State {
    let cloth = Cloth {
        columns: 70,
        rows: 60,
        mesh: None,
        ..cube(50.0, 5.0, [0.2, 0.05], TurningLaw::Sine)
    };
    let model = Scene { cloth: vec![cloth], ..Scene::default() }.compile().unwrap();
    let mut sim = sim(&model, method);
    sim.par = if threads == 1 { Par::Serial } else { Par::Rayon };
    let state = shaken(&model, &mut Random(8), 0.003, 0.3).rounded(sim.state());
    sim.restore(&state).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| after(&mut sim, 0.03, 0.01));
    sim.state().clone()
}

#[test]
fn threads_do_not_change_a_bit() {
    for id in ["symplectic-euler", "rk4", "implicit-euler", "kim-2006"] {
        let one = many(id, 1);
        assert!([2, 3, 8].into_iter().all(|threads| many(id, threads) == one), "{id}");
    }
}

#[test]
fn a_restored_state_continues_bit_for_bit() {
    for preset in presets::METHODS.iter().filter(|preset| takes_turning(preset.id)) {
        for damping in [[0.5, 0.3], [0.0; 2]] {
            let cloth = cube(100.0, 100.0, damping, TurningLaw::Linear);
            let model = weightless(cloth).compile().unwrap();
            let [mut first, mut second] = [sim(&model, preset.id), sim(&model, preset.id)];
            let state = shaken(&model, &mut Random(2), 0.05, 0.5).rounded(first.state());
            first.restore(&state).unwrap();
            after(&mut first, 0.05, 0.005);
            second.restore(first.state()).unwrap();
            after(&mut first, 0.05, 0.005);
            after(&mut second, 0.05, 0.005);
            assert!(first.state() == second.state(), "{}, damping {damping:?}", preset.id);
        }
    }
}
