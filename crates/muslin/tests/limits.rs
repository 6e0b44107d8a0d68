//! Bounds on stretch, budgets, and cut-short solves that never do worse than sweeps.

use glam::{DVec3, Vec3};
use muslin::solvers::{Integrator, LinearSolver, SweepOrder};
use muslin::{Method, Scene, Sim, Warning, scenes};

fn hang(columns: usize, change: impl FnOnce(&mut Method)) -> Sim {
    let mut scene = scenes::named("hang").unwrap();
    (scene.cloth[0].columns, scene.cloth[0].rows) = (columns, columns);
    let mut method = Method::preset("xpbd").unwrap();
    change(&mut method);
    Sim::new(scene.compile().unwrap(), method).unwrap()
}

/// Largest strain of any spring that is not for bending.
fn worst_strain(sim: &Sim) -> f32 {
    let (model, x) = (sim.model(), &sim.state().x);
    let ends = model.topology.links.ends().iter().enumerate();
    let strong = ends.filter(|(s, _)| model.springs.strong[*s]);
    let strains = strong.map(|(s, &[a, b])| {
        x[a as usize].distance(x[b as usize]) / model.springs.rest_length[s] - 1.0
    });
    strains.fold(0.0, f32::max)
}

#[test]
fn no_spring_is_longer_than_the_strain_limit() {
    for (id, limit) in
        [("xpbd", 0.05), ("muslin", 0.005), ("symplectic-euler", 0.002), ("kim-2006", 0.02)]
    {
        let mut sim = hang(16, |m| {
            *m = Method::preset(id).unwrap();
            m.strain_limit = limit;
        });
        if id == "symplectic-euler" {
            sim.substeps = 40;
        }
        let mut limited = 0;
        for frame in 0..60 {
            let report = sim.step(1.0 / 60.0);
            limited += report.solver.limited;
            if !report.warnings.contains(Warning::LimitExceeded) {
                let worst = worst_strain(&sim);
                assert!(worst <= limit + 2e-4, "{id}, frame {frame}: {worst}");
            }
        }
        assert!(limited > 0, "{id}: the limit was never needed");
    }
}

#[test]
fn the_strain_limit_keeps_the_momentum_of_free_cloth() {
    let mut sim = hang(8, |m| {
        *m = Method::preset("symplectic-euler").unwrap();
        m.strain_limit = 0.01;
    });
    sim.inputs.gravity = Vec3::ZERO;
    sim.inputs.released = sim.model().pins.iter().map(|p| p.particle as usize).collect();
    let mut state = sim.state().clone();
    for (i, v) in state.v.iter_mut().enumerate() {
        *v = Vec3::new(0.3, -0.2, 0.1) + 2.0 * state.x[i];
    }
    sim.restore(&state).unwrap();
    let before = sim.measure();
    let after = sim.step(1.0 / 60.0);
    assert!(after.solver.limited > 0);
    assert!((after.momentum - before.momentum).length() < 1e-5);
    assert!(after.energy.kinetic < before.energy.kinetic);
}

#[test]
fn tethers_make_a_soft_solve_as_long_as_the_cloth() {
    let lowest = |tethers: f32| {
        let mut sim = hang(24, |m| {
            m.sweeps = 1;
            m.tethers = tethers;
        });
        let reports: Vec<_> = (0..120).map(|_| sim.step(1.0 / 60.0)).collect();
        let lowest = reports.iter().map(|r| r.lowest).fold(0.0, f64::min);
        (lowest, reports.iter().map(|r| r.solver.tethered).sum::<usize>())
    };
    let (free, none) = lowest(0.0);
    let (tethered, some) = lowest(1.0);
    // From a corner the far corner is 2√2 m away.
    assert!(free < -2.9 && none == 0, "{free}");
    assert!(tethered > -2.0 * 2.0f64.sqrt() - 0.01 && some > 0, "{tethered}");
    assert!(tethered < -1.0, "{tethered}");
}

#[test]
fn tethers_do_nothing_to_cloth_that_does_not_stretch() {
    let run = |tethers: f32| {
        let mut sim = hang(16, |m| {
            *m = Method::preset("muslin").unwrap();
            m.tethers = tethers;
        });
        let tethered: usize = (0..90).map(|_| sim.step(1.0 / 60.0).solver.tethered).sum();
        (tethered, sim.measure().lowest)
    };
    let ((_, without), (moved, with)) = (run(0.0), run(1.05));
    assert!(moved == 0 && with == without, "{moved} {with} {without}");
}

#[test]
fn efforts_repeat_a_budgeted_run_bit_for_bit() {
    let mut budgeted = hang(24, |m| {
        *m = Method::preset("muslin").unwrap();
        m.budget = 0.5;
    });
    let mut repeated = hang(24, |m| *m = Method::preset("muslin").unwrap());
    let mut efforts = Vec::new();
    for _ in 0..40 {
        efforts.push(budgeted.effort());
        repeated.inputs.effort = budgeted.effort();
        budgeted.step(1.0 / 60.0);
        repeated.step(1.0 / 60.0);
        assert_eq!(budgeted.state(), repeated.state());
    }
    assert!(efforts[0].iterations <= 3);
    // No machine solves this to the end in half a millisecond, forces and all, in a test's build.
    let most = Method::preset("muslin").unwrap().most_effort();
    assert!(efforts.iter().all(|e| *e != most), "{efforts:?}");
}

/// ½ Σ m |v − v_n|² + E(x): what a step of backward Euler minimises. [J]
fn potential(sim: &Sim, start: &[Vec3]) -> f64 {
    let is_held = |i: usize| sim.model().pins.iter().any(|pin| pin.particle as usize == i);
    let inertia: f64 = (0..start.len())
        .filter(|i| !is_held(*i))
        .map(|i| {
            let change = sim.state().v[i].as_dvec3() - start[i].as_dvec3();
            0.5 * f64::from(sim.model().mass[i]) * change.length_squared()
        })
        .sum();
    let energy = sim.measure().energy;
    inertia + energy.elastic + energy.gravity
}

/// A sheet crumpled and thrown about, from its number.
fn hostile(seed: u64) -> (Scene, Vec<Vec3>) {
    let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        (bits >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut scene = scenes::named("hang").unwrap();
    let cloth = &mut scene.cloth[0];
    (cloth.columns, cloth.rows) = (3 + (14.0 * random()) as usize, 3 + (14.0 * random()) as usize);
    // A fabric's cells are squares.
    cloth.height = cloth.width / (cloth.columns - 1) as f64 * (cloth.rows - 1) as f64;
    cloth.velocity = 30.0 * DVec3::new(random() - 0.5, random() - 0.5, random() - 0.5);
    cloth.spin = 10.0 * DVec3::new(random() - 0.5, random() - 0.5, random() - 0.5);
    cloth.material.stretch = Some(10f64.powf(9.0 * random() - 2.0));
    cloth.material.bending = Some(10f64.powf(6.0 * random() - 8.0));
    let crumple = [0.0, 0.01, 0.1, 0.5][(4.0 * random()) as usize];
    let mut vector = || Vec3::new(random() as f32, random() as f32, random() as f32) - 0.5;
    let crumpled = (0..cloth.columns * cloth.rows).map(|_| crumple * vector()).collect();
    (scene, crumpled)
}

#[test]
fn a_cycle_cut_short_is_never_worse_than_as_many_sweeps() {
    let mut better = 0;
    for seed in 0..500 {
        let (scene, crumpled) = hostile(seed);
        let model = scene.compile().unwrap();
        let step = |change: &dyn Fn(&mut Method)| {
            let mut method = Method::preset("muslin").unwrap();
            (method.integrator, method.newton) = (Integrator::BackwardEuler, 1);
            change(&mut method);
            let mut sim = Sim::new(model.clone(), method).unwrap();
            let mut state = sim.state().clone();
            state.x.iter_mut().zip(&crumpled).for_each(|(x, c)| *x += *c);
            sim.restore(&state).unwrap();
            // A step that changes no velocity, but for pins.
            let mut ahead = state.clone();
            for pin in &model.pins {
                ahead.v[pin.particle as usize] = Vec3::ZERO;
            }
            let moved: Vec<Vec3> = ahead.v.iter().map(|v| *v / 60.0).collect();
            ahead.x.iter_mut().zip(moved).for_each(|(x, m)| *x += m);
            for pin in &model.pins {
                ahead.x[pin.particle as usize] = pin.start;
            }
            sim.restore(&ahead).unwrap();
            let start = potential(&sim, &state.v);
            sim.restore(&state).unwrap();
            sim.advance(1.0 / 60.0);
            assert!(sim.state().x.iter().all(|x| x.is_finite()), "seed {seed}");
            (start, potential(&sim, &state.v))
        };
        for cycles in [1, 2] {
            let (start, cycle) = step(&|m| m.max_iterations = cycles);
            let (_, sweeps) = step(&|m| {
                (m.solver, m.order) = (LinearSolver::GaussSeidel, SweepOrder::Colours);
                m.sweeps = cycles;
            });
            // Positions and velocities are rounded to f32.
            let noise = 1e-6 * start.abs().max(sweeps.abs());
            assert!(cycle <= start + noise, "seed {seed}, {cycles}: from {start} to {cycle}");
            assert!(cycle <= sweeps + noise, "seed {seed}, {cycles}: {cycle}, sweeps {sweeps}");
            better += usize::from(cycle < sweeps - noise);
        }
    }
    assert!(better > 500, "{better}");
}

#[test]
fn small_steps_with_tethers_are_taut_and_gain_no_energy() {
    for (columns, substeps) in [(24, 5), (32, 5), (48, 10), (32, 20)] {
        let mut sim = hang(columns, |m| (m.sweeps, m.tethers) = (2, 1.0));
        sim.substeps = substeps;
        let start = sim.measure().energy;
        let (mut gained, mut strain) = (f64::NEG_INFINITY, 0.0f32);
        for _ in 0..240 {
            let energy = sim.step(1.0 / 60.0).energy;
            gained = gained.max(energy.kinetic + energy.gravity - start.kinetic - start.gravity);
            strain = strain.max(worst_strain(&sim));
        }
        println!("{columns} {substeps}: {gained} J, {strain}");
        assert!(gained < 0.0, "{columns}, {substeps}: {gained} J");
        // The two edges from which all of it hangs.
        assert!(strain < 0.1, "{columns}, {substeps}: {strain}");
    }
}

#[test]
fn nothing_spans_a_cut() {
    let mut scene = scenes::named("hang").unwrap();
    let cloth = &mut scene.cloth[0];
    (cloth.columns, cloth.rows) = (16, 16);
    cloth.cuts = (112..128).map(|above| [above, above + 16]).collect();
    let mut method = Method::preset("xpbd").unwrap();
    (method.sweeps, method.tethers) = (4, 1.0);
    let mut sim = Sim::new(scene.compile().unwrap(), method).unwrap();
    for _ in 0..30 {
        sim.advance(1.0 / 60.0);
    }
    // v += h g, x += h v, thirty times: half the cloth falls.
    let fall = -9.81 / 3600.0 * (30.0 * 31.0 / 2.0);
    for x in &sim.state().x[128..] {
        assert!((x.y - fall).abs() < 1e-4, "{} instead of {fall}", x.y);
    }
}

/// Hinges act in some substeps only: which, must not depend on what was before the frame.
#[test]
fn small_steps_continue_from_a_saved_state_bit_for_bit() {
    let new = || {
        let mut sim = hang(24, |m| (m.sweeps, m.tethers) = (2, 1.0));
        sim.substeps = 7;
        sim
    };
    let (mut whole, mut continued) = (new(), new());
    (0..20).for_each(|_| _ = whole.advance(1.0 / 60.0));
    continued.restore(whole.state()).unwrap();
    for sim in [&mut whole, &mut continued] {
        (0..20).for_each(|_| _ = sim.advance(1.0 / 60.0));
    }
    assert_eq!(whole.state(), continued.state());
}

#[test]
fn hinges_of_several_substeps_unbend_free_cloth_and_keep_its_momentum() {
    let bent = |substeps: u32| {
        let mut scene = scenes::named("hang").unwrap();
        let cloth = &mut scene.cloth[0];
        (cloth.columns, cloth.rows) = (12, 12);
        cloth.material.bending = Some(1e-3);
        cloth.pins.clear();
        scene.gravity = DVec3::ZERO;
        let mut method = Method::preset("xpbd").unwrap();
        method.sweeps = 4;
        let mut sim = Sim::new(scene.compile().unwrap(), method).unwrap();
        sim.substeps = substeps;
        let mut state = sim.state().clone();
        // Rolled, so that no spring is stretched.
        state
            .x
            .iter_mut()
            .for_each(|x| (x.x, x.y) = (2.0 * (x.x / 2.0).sin(), -2.0 * (x.x / 2.0).cos()));
        sim.restore(&state).unwrap();
        (0..12).for_each(|_| _ = sim.advance(1.0 / 60.0));
        let after = sim.measure();
        assert!(after.momentum.length() < 1e-5, "{substeps}: {}", after.momentum);
        let height = |x: &[Vec3]| {
            let heights = x.iter().map(|x| x.y);
            heights.clone().fold(f32::MIN, f32::max) - heights.fold(f32::MAX, f32::min)
        };
        height(&state.x) - height(&sim.state().x)
    };
    // Two impulses a frame, for 6 and for 40 substeps each.
    let (few, many) = (bent(12), bent(80));
    assert!(many > 1e-3, "{many}");
    assert!((few / many - 1.0).abs() < 0.05, "{few} {many}");
}
