//! The method `muslin`: second order in time, stiff at any resolution, on any mesh.

use glam::{DVec3, Vec3};
use muslin::scene::Mesh;
use muslin::solvers::{Integrator, LinearSolver};
use muslin::{Cloth, Method, Scene, Sim, scenes};

fn noise(seed: &mut u32) -> f64 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    f64::from(*seed >> 8) / f64::from(1 << 24) - 0.5
}

/// A square of triangles whose vertices were moved about, and whose diagonals go either way.
fn irregular(n: usize) -> Cloth {
    let mut seed = 7;
    let mut vertices = Vec::new();
    for (row, column) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
        let inside = |k: usize| if k > 0 && k + 1 < n { 0.6 } else { 0.0 };
        let (x, z) = (column as f64 + inside(column) * noise(&mut seed), row as f64);
        let z = z + inside(row) * noise(&mut seed);
        vertices.push(2.0 / (n - 1) as f64 * DVec3::new(x, 0.0, z));
    }
    let mut triangles = Vec::new();
    for (row, column) in (0..n - 1).flat_map(|r| (0..n - 1).map(move |c| (r, c))) {
        let [a, b] = [row * n + column, row * n + column + 1];
        let [c, d] = [a + n, b + n];
        if noise(&mut seed) > 0.0 {
            triangles.extend([[a, c, b], [b, c, d]]);
        } else {
            triangles.extend([[a, c, d], [a, d, b]]);
        }
    }
    let hang = scenes::named("hang").unwrap().cloth.remove(0);
    let mesh = Some(Mesh { vertices, triangles, ..Mesh::default() });
    Cloth { mesh, pins: Vec::new(), ..hang }
}

fn square(n: usize) -> Cloth {
    let hang = scenes::named("hang").unwrap().cloth.remove(0);
    Cloth { columns: n, rows: n, pins: Vec::new(), ..hang }
}

/// One step of `cycles` cycles on a free cloth, flat or crumpled, long enough for k h²/m to be `stiffness`.
fn cycled(cloth: Cloth, crumpled: f64, stiffness: f32, cycles: u32) -> muslin::Report {
    let spacing = 2.0
        / (cloth.mesh.as_ref().map_or(cloth.columns.pow(2), |m| m.vertices.len()) as f64).sqrt();
    let mut model = Scene { cloth: vec![cloth], ..Scene::default() }.compile().unwrap();
    let step = (stiffness / model.stiffness_number(1.0)).sqrt();
    // Which levels feel hinges is decided for the steps that a model has.
    model.dt = f64::from(step);
    let method = Method {
        integrator: Integrator::BackwardEuler,
        solver: LinearSolver::Hierarchy,
        newton: 1,
        tolerance: 1e-30,
        max_iterations: cycles,
        ..Method::preset("muslin").unwrap()
    };
    let mut sim = Sim::new(model, method).unwrap();
    let mut state = sim.state().clone();
    let mut seed = 3;
    for (x, v) in state.x.iter_mut().zip(&mut state.v) {
        let push = DVec3::new(noise(&mut seed), noise(&mut seed), noise(&mut seed));
        *x += (crumpled * spacing * push).as_vec3();
        *v = Vec3::new(0.3 * x.z, x.x * x.z, 0.0);
    }
    sim.restore(&state).unwrap();
    sim.step(step)
}

type Maker = fn(usize) -> Cloth;
const MAKERS: [(&str, Maker); 2] = [("grid", square), ("mesh", irregular)];

/// Twenty-five cycles take the residual below 1e-4 whatever the mesh, its resolution and its shape, at a
/// stiffness whose residual f32 can resolve.
#[test]
fn cycles_are_few_at_any_size() {
    for (name, make) in MAKERS {
        for (n, crumpled) in [20, 47, 100].into_iter().flat_map(|n| [(n, 0.0), (n, 0.3)]) {
            // Hinges enter the hierarchy by one direction each, so its residual would not be the system's.
            let mut cloth = make(n);
            cloth.material.bending = None;
            let residual = cycled(cloth, crumpled, 300.0, 25).solver.residual.unwrap();
            assert!(residual < 1e-4, "{name} {n}², crumpled {crumpled}: {residual:e}");
        }
    }
}

/// The strain left, which does not drown in the rounding of f32, is down to 1e-4 of what it was after
/// twenty-five cycles, hinges and all.
#[test]
fn cycles_are_few_at_any_stiffness() {
    for (name, make) in MAKERS {
        for (n, crumpled) in [(20, 0.0), (20, 0.3), (60, 0.0), (60, 0.3), (320, 0.0)] {
            // At 4e5 the third level of 320² does not feel hinges that are twice its inertia.
            let stiffnesses = if n == 320 { [4e5, 1e6] } else { [1e4, 1e6] };
            for stiffness in stiffnesses {
                // The report is of before the last cycle.
                let left = |cycles: u32| {
                    cycled(make(n), crumpled, stiffness, cycles + 1).solver.strain_left.unwrap()
                };
                let share = left(25) / left(0);
                assert!(share < 1e-4, "{name} {n}², crumpled {crumpled}, {stiffness:e}: {share:e}");
            }
        }
    }
}

/// Where folds swing through each other springs turn most from one linearisation of a step to the next: coarse levels
/// that follow the first only take 35 cycles for a frame at 80².
#[test]
fn cycles_are_few_while_cloth_folds() {
    let scene = scenes::named("hang").unwrap();
    let mut sim = Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
    let cycles = (0..130).map(|_| sim.advance(scene.dt as f32).solver.iterations);
    let most = cycles.max().unwrap();
    println!("{most} cycles");
    assert!(most <= 25, "{most} cycles for a frame");
}

/// The strip of `cantilever`, six cells wide at 40 columns, with the same free length and square cells at
/// any number of them: the lowest point after a tenth of a second and at rest, and the speed there.
fn strip(columns: usize, steps_per_second: f64) -> [f64; 3] {
    let mut scene = scenes::named("cantilever").unwrap();
    let cloth = &mut scene.cloth[0];
    // Free from a third of a cell before the second of the clamped columns.
    let free = cloth.width * (1.0 - 2.0 / 3.0 / (cloth.columns - 1) as f64);
    let cell = free / ((columns - 1) as f64 - 2.0 / 3.0);
    (cloth.columns, cloth.rows) = (columns, columns / 8 + 1);
    (cloth.width, cloth.height) = (cell * (columns - 1) as f64, cell * (columns / 8) as f64);
    let mut sim = Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
    let mut lowest = 0.0;
    for frame in 1..=(3.0 * steps_per_second) as u32 {
        sim.advance((1.0 / steps_per_second) as f32);
        if frame == (0.1 * steps_per_second) as u32 {
            lowest = sim.measure().lowest;
        }
    }
    let report = sim.measure();
    [lowest, report.lowest, report.max_speed]
}

/// At 160 columns the stiffest motion of a cell is 1e8 times as stiff as its mass is heavy: rounding must not
/// take part of the stiffness for weight. Steps as long as the fall itself do not agree on its way.
#[test]
fn a_strip_bends_alike_however_fine_and_at_any_step() {
    let [falling, resting, _] = strip(40, 60.0);
    let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.02;
    for columns in [80, 160] {
        let [low, rest, speed] = strip(columns, 60.0);
        assert!(close(low, falling), "{columns} columns: {low} m, not {falling} m after 0.1 s");
        assert!(close(rest, resting), "{columns} columns: rests at {rest} m, not {resting} m");
        assert!(speed < 1e-3, "{columns} columns: {speed} m/s at rest");
    }
    for rate in [30.0, 120.0, 240.0] {
        let [_, rest, speed] = strip(40, rate);
        assert!(close(rest, resting) && speed < 1e-3, "{rate}/s: {rest} m, {speed} m/s");
    }
}

/// In steps as long as its fall a strip turns by more than two linearisations follow: where they do not meet,
/// more are made, or it would whirl for good.
#[test]
fn long_steps_do_not_set_a_strip_whirling() {
    let mut scene = scenes::named("cantilever").unwrap();
    scene.air.drag = 2.0;
    let rest = |steps_per_second: u32| {
        let mut sim =
            Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
        for _ in 0..6 * steps_per_second {
            sim.advance(1.0 / steps_per_second as f32);
        }
        let report = sim.measure();
        assert!(report.max_speed < 1e-3, "{steps_per_second}/s: {} m/s", report.max_speed);
        report.lowest
    };
    let (slow, fast) = (rest(30), rest(120));
    assert!((slow / fast - 1.0).abs() < 0.01, "{slow} m, {fast} m");
}

/// BDF2 needs its restart: looking back on being held would leave a third of the first step's fall behind.
#[test]
fn what_is_let_go_falls_at_once() {
    let scene = Scene { cloth: vec![square(4)], ..Scene::default() };
    let mut sim = Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
    let hold = |sim: &Sim, particle: usize| {
        let target = sim.state().x[particle];
        muslin::Hold { particle, target }
    };
    sim.inputs.held = (0..16).map(|particle| hold(&sim, particle)).collect();
    (0..5).for_each(|_| {
        sim.advance(0.01);
    });
    sim.inputs.held.clear();
    (0..10).for_each(|_| {
        sim.advance(0.01);
    });
    for v in &sim.state().v {
        let fallen = f64::from(v.y) / (-9.81 * 0.1);
        assert!((fallen - 1.0).abs() < 1e-3, "{fallen} of the velocity of free fall");
    }
}

/// Strain and lowest point of `hang` after a second.
fn hang(n: usize, change: impl Fn(&mut Method)) -> (f64, f64) {
    let mut scene = scenes::named("hang").unwrap();
    (scene.cloth[0].columns, scene.cloth[0].rows) = (n, n);
    let mut method = Method::preset("muslin").unwrap();
    change(&mut method);
    let mut sim = Sim::new(scene.compile().unwrap(), method).unwrap();
    let mut report = None;
    for _ in 0..60 {
        report = Some(sim.step(1.0 / 60.0));
    }
    let report = report.unwrap();
    (report.mean_strain, report.lowest)
}

/// The lowest point after a second against −0.98 m, where explicit steps small enough to agree with
/// their halves end at 32² and at 80².
#[test]
fn hang_swings_as_it_should() {
    for n in [32, 80] {
        let (strain, low) = hang(n, |_| {});
        assert!((low / -0.98 - 1.0).abs() < 0.1, "{n}²: lowest {low}");
        assert!(strain < 0.003, "{n}²: mean strain {strain}");
        // Backward Euler at the same step is a third of the way late.
        let (_, late) = hang(n, |m| m.integrator = Integrator::BackwardEuler);
        assert!(late < -1.2, "{n}²: {late}");
    }
}

/// What a solve leaves must not keep cloth going that would come to rest. A fold may still give way: the median of two
/// seconds counts.
#[test]
fn cloth_that_hangs_comes_to_rest() {
    for (name, size, most) in [("hang", 40, 1e-3), ("hang", 80, 5e-3), ("curtain", 80, 0.01)] {
        let mut scene = scenes::named(name).unwrap();
        (scene.cloth[0].columns, scene.cloth[0].rows) = (size, size);
        (scene.air.gust, scene.air.drag) = (DVec3::ZERO, 2.0);
        let mut sim =
            Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
        let mut speeds = Vec::new();
        for frame in 0..960 {
            sim.advance(scene.dt as f32);
            if frame >= 840 {
                speeds.push(sim.measure().max_speed);
            }
        }
        speeds.sort_by(f64::total_cmp);
        let speed = speeds[speeds.len() / 2];
        println!("{name}: {speed} m/s");
        assert!(speed < most, "{name} still moves at {speed} m/s");
    }
}

/// `hang` at rest in still air: its lowest point and its mean strain.
fn rests(size: usize, steps_per_second: u32, cycles: u32) -> [f64; 2] {
    let mut scene = scenes::named("hang").unwrap();
    (scene.cloth[0].columns, scene.cloth[0].rows, scene.air.drag) = (size, size, 2.0);
    let method = Method { max_iterations: cycles, ..Method::preset("muslin").unwrap() };
    let mut sim = Sim::new(scene.compile().unwrap(), method).unwrap();
    for _ in 0..10 * steps_per_second {
        sim.advance(1.0 / steps_per_second as f32);
    }
    let report = sim.measure();
    println!("{size}, {steps_per_second}/s, {cycles}: {} m, {}", report.lowest, report.mean_strain);
    [report.lowest, report.mean_strain]
}

/// The promise: stiffness that depends on nothing but the fabric.
#[test]
fn cloth_rests_alike_at_any_resolution_step_and_effort() {
    let [lowest, strain] = rests(40, 60, 64);
    let same = |[a, b]: [f64; 2], within: [f64; 2]| {
        (a / lowest - 1.0).abs() < within[0] && (b / strain - 1.0).abs() < within[1]
    };
    for (steps, cycles) in [(30, 64), (120, 64), (240, 64), (60, 2), (60, 4), (60, 8)] {
        assert!(same(rests(40, steps, cycles), [1e-4, 0.01]), "{steps} steps/s, {cycles} cycles");
    }
    // Finer cloth has more and other folds.
    for size in [20, 80] {
        assert!(same(rests(size, 60, 64), [1e-3, 0.05]), "{size} particles along a side");
    }
}
