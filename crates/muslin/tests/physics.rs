//! Physics nobody here wrote: closed forms and independently solved numbers.

use glam::{DVec3, dvec3};
use muslin::scene::{Air, Material, Pin, Place, Springs};
use muslin::solvers::LinearSolver;
use muslin::{Cloth, Method, Scene, Sheet, Sim, scenes};

fn sim(scene: &Scene, method: &str) -> Sim {
    Sim::new(scene.compile().unwrap(), Method::preset(method).unwrap()).unwrap()
}

fn run(sim: &mut Sim, dt: f64, steps: u32) {
    for _ in 0..steps {
        sim.advance(dt as f32);
    }
}

/// Relative difference, with both values in the message.
#[track_caller]
fn assert_close(what: &str, found: f64, expected: f64, relative: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(off <= relative, "{what}: {found} instead of {expected}, off by {off:e}");
}

fn pin(place: Place) -> Pin {
    Pin { place: Some(place), ..Pin::default() }
}

fn material(density: f64, stretch: f64, bending: f64) -> Material {
    Material {
        density: Some(density),
        stretch: Some(stretch),
        bending: Some(bending),
        damping: None,
    }
}

#[test]
fn backward_euler_slows_a_spinning_rod_by_its_exact_law() {
    // Two masses on a spring stiff enough to count as rigid (κ = 2800, stretch 4e-6).
    let cloth = Cloth {
        springs: Springs { structural: 1e7, ..Springs::default() },
        particle_mass: Some(1.0),
        spin: dvec3(0.0, std::f64::consts::TAU, 0.0),
        ..Sheet::rectangle(1.0, 0.0, 2, 1)
    };
    let scene = Scene { gravity: DVec3::ZERO, cloth: vec![cloth], ..Scene::default() };
    let mut sim = sim(&scene, "backward-euler");
    // I = 2 · m (L/2)² = 1/2.
    let spin = |sim: &Sim| sim.measure().angular_momentum.length() / 0.5;
    run(&mut sim, 1.0 / 60.0, 60);
    assert_close("ω after 1 s", spin(&sim), 4.139_766_27, 2e-3);
    run(&mut sim, 1.0 / 60.0, 240);
    assert_close("ω after 5 s", spin(&sim), 2.283_561_92, 2e-3);
}

#[test]
fn backward_euler_without_drive_never_gains_energy() {
    let mut scene = scenes::named("golden-5x5").unwrap();
    scene.gravity = DVec3::ZERO;
    scene.cloth[0].spin = dvec3(1.0, 3.0, 0.5);
    for method in ["backward-euler"] {
        let mut sim = sim(&scene, method);
        let mut before = sim.measure().energy.total;
        for step in 0..400 {
            sim.advance(1.0 / 60.0);
            let energy = sim.measure().energy.total;
            assert!(energy <= before * (1.0 + 1e-5), "{method}, step {step}: {before} → {energy}");
            before = energy;
        }
    }
}

#[test]
fn symplectic_euler_keeps_energy_and_explicit_euler_does_not() {
    let mut scene = scenes::named("rubin-hang").unwrap();
    scene.cloth[0].springs =
        Springs { structural: 22.0, shear: 13.0, bend: 10.0, ..Springs::default() };
    scene.cloth[0].fabric = None;
    scene.cloth[0].particle_mass = Some(1.0);
    let drift = |method: &str| {
        let mut sim = sim(&scene, method);
        // Energy above the lowest it could have, so that a ratio makes sense.
        let floor = -64.0 * 20.0;
        let start = sim.measure().energy.total - floor;
        run(&mut sim, 0.01, 2000);
        (sim.measure().energy.total - floor) / start
    };
    assert_close("symplectic Euler, 20 s", drift("symplectic-euler"), 1.0, 0.02);
    assert!(drift("explicit-euler") > 1e3);
}

#[test]
fn a_hanging_strip_stretches_as_the_formula_says() {
    // Pinned at the top, half masses at the ends: u(s) = σ g/(Eh) (L s − s²/2) at every node.
    let (sigma, stretch, length, n) = (1.0, 1000.0, 1.0, 11);
    let cloth = Cloth {
        across: DVec3::NEG_Y,
        material: Material { density: Some(sigma), stretch: Some(stretch), ..Material::default() },
        absolute_damping: 0.05,
        pins: vec![pin(Place::FirstCorner)],
        ..Sheet::rectangle(length, 0.1, n, 1)
    };
    let scene = Scene { cloth: vec![cloth], ..Scene::default() };
    for method in ["backward-euler", "baraff-witkin-1998", "choi-ko-2002", "desbrun-1999"] {
        let mut sim = sim(&scene, method);
        run(&mut sim, 1.0 / 30.0, 600);
        for (i, x) in sim.state().x.iter().enumerate() {
            let s = length * i as f64 / (n - 1) as f64;
            let u = sigma * 9.81 / stretch * (length * s - s * s / 2.0);
            let found = -f64::from(x.y) - s;
            // Positions near 1 m are held to 6e-8 m; the extension is 5e-3.
            assert!((found - u).abs() < 2e-6, "{method}, node {i}: {found} instead of {u}");
        }
    }
}

#[test]
fn a_chain_hangs_in_a_catenary() {
    // L/S = 1.5: sag/S = 0.50263326, T_max/(wS) = 0.81086973.
    let scene = scenes::named("chain").unwrap();
    for method in ["backward-euler", "choi-ko-2002", "kim-2006", "xpbd"] {
        let mut sim = sim(&scene, method);
        sim.substeps = if method == "xpbd" || method == "kim-2006" { 20 } else { 1 };
        run(&mut sim, 1.0 / 60.0, 1200);
        assert_close(&format!("{method}: sag"), -sim.measure().lowest, 0.502_633_26, 0.005);
        if sim.substeps == 1 {
            let model = sim.model();
            let [a, b] = model.topology.links.ends()[0].map(|p| sim.state().x[p as usize]);
            let stretch = f64::from(a.distance(b)) - f64::from(model.springs.rest_length[0]);
            let tension = f64::from(model.springs.stiffness[0]) * stretch;
            // w = σ · width · g; the first spring carries half a link less than the support.
            let w = 1.0 * 0.01 * 9.81;
            let half_link = 0.5 * 1.5 / 60.0 * 0.9;
            assert_close("tension", tension / w + half_link, 0.810_869_73, 0.02);
        }
    }
}

/// Where the free length of a clamped strip starts, in cells from its end. Bending at the second
/// line of particles stands for the cell around it, half of which lies in the clamp; held flat, it
/// is half again as stiff, which leaves a third.
const CLAMP: f64 = 2.0 / 3.0;

/// Membrane stiffness of the strips over B/cell²: stretches by 1e-4 only, yet lets a bent strip curve
/// across, as the one-dimensional reference silently does.
const SOFT: f64 = 5.0;

/// A strip of a square lattice with alternating diagonals, cut at 45° (or, mirrored, 135°), clamped
/// at its first two lattice lines. Returns the scene and its length from the middle of the clamp.
fn strip_at_45(gamma: f64, lines: usize, half_width: isize, mirrored: bool) -> (Scene, f64) {
    let (sigma, bending) = (0.2, 10.0);
    let length = (gamma * bending / (sigma * 9.81)).cbrt();
    // Lattice lines i + j = const are a/√2 apart.
    let spacing = length / (lines as f64 - CLAMP);
    let a = spacing * 2f64.sqrt();
    let mut index = std::collections::BTreeMap::new();
    let mut vertices = Vec::new();
    let range = lines as isize + half_width;
    for i in -range..=range {
        for j in -range..=range {
            if (0..=lines as isize).contains(&(i + j)) && (j - i).abs() <= half_width {
                index.insert((i, j), vertices.len());
                let (along, side) = ((i + j) as f64 * spacing, (j - i) as f64 * spacing);
                let side = if mirrored { -side } else { side };
                vertices.push(dvec3(along, 0.0, side));
            }
        }
    }
    let mut triangles = Vec::new();
    for i in -range..=range {
        for j in -range..=range {
            let [a, b, c, d] = [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)];
            let faces =
                if (i + j) % 2 == 0 { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] };
            for face in faces {
                if let [Some(&p), Some(&q), Some(&r)] = face.map(|v| index.get(&v)) {
                    triangles.push([p, q, r]);
                }
            }
        }
    }
    let clamped = (index.iter()).filter(|((i, j), _)| i + j <= 1).map(|(_, &p)| p).collect();
    let cloth = Cloth {
        material: material(sigma, SOFT * bending / (a * a), bending),
        pins: vec![Pin { particles: clamped, ..Pin::default() }],
        ..Sheet::mesh(vertices, triangles)
    };
    (settling(cloth), length)
}

/// The same strip cut along the lattice.
fn strip_at_0(gamma: f64, columns: usize, rows: usize) -> (Scene, f64) {
    let (sigma, bending) = (0.2, 10.0);
    let length = (gamma * bending / (sigma * 9.81)).cbrt();
    let dx = length / (columns as f64 - 1.0 - CLAMP);
    let cloth = Cloth {
        material: material(sigma, SOFT * bending / (dx * dx), bending),
        pins: vec![pin(Place::FirstTwoColumns)],
        ..Sheet::rectangle(dx * (columns - 1) as f64, dx * (rows - 1) as f64, columns, rows)
    };
    (settling(cloth), length)
}

fn settling(cloth: Cloth) -> Scene {
    let air = Air { drag: 5.0, ..Air::default() };
    Scene { air, cloth: vec![cloth], ..Scene::default() }
}

/// Drop over reach of a settled strip: its end against the middle of the clamp.
fn drop_over_reach(scene: &Scene, clamp_middle: f64) -> f64 {
    // Solved directly: bending a strip of n cells has a condition number like n⁴.
    let reference = Method::preset("backward-euler").unwrap();
    let linearised = Method { newton: 1, solver: LinearSolver::Cholesky, ..reference };
    let mut sim = Sim::new(scene.compile().unwrap(), linearised).unwrap();
    let start = sim.model().start_x.clone();
    let end = start.iter().fold(0.0f32, |m, x| m.max(x.x));
    let tip: Vec<_> = (0..start.len()).filter(|&i| start[i].x > end * 0.9999).collect();
    let mean = |sim: &Sim| {
        tip.iter().map(|&i| sim.state().x[i].as_dvec3()).sum::<DVec3>() / tip.len() as f64
    };
    run(&mut sim, 1.0 / 60.0, 300);
    let before = mean(&sim);
    run(&mut sim, 1.0 / 60.0, 30);
    let mean = mean(&sim);
    assert!(mean.distance(before) < 1e-3 * f64::from(end), "not settled: {before} → {mean}");
    -mean.y / (mean.x - clamp_middle)
}

#[test]
fn a_cantilever_bends_alike_in_every_direction_of_the_mesh() {
    // H/W for Γ = σ g L³/B.
    for (gamma, expected) in [(1.0, 0.124_562), (5.0, 0.585_721), (10.0, 1.066_802)] {
        for (columns, rows) in [(81, 5), (121, 6)] {
            let (scene, length) = strip_at_0(gamma, columns, rows);
            let found = drop_over_reach(&scene, CLAMP * length / (columns as f64 - 1.0 - CLAMP));
            assert_close(&format!("Γ = {gamma} at 0°, {columns} columns"), found, expected, 0.02);
        }
        for (lines, half_width) in [(50, 2), (100, 4)] {
            for mirrored in [false, true] {
                let (scene, length) = strip_at_45(gamma, lines, half_width, mirrored);
                let found = drop_over_reach(&scene, CLAMP * length / (lines as f64 - CLAMP));
                let angle = if mirrored { 135 } else { 45 };
                let what = format!("Γ = {gamma} at {angle}°, {lines} lines");
                assert_close(&what, found, expected, 0.02);
            }
        }
    }
}
