//! Every method takes the step its definition says: one engine step in f32 beside one step of an
//! independent dense oracle in f64, from the same perturbed states.

mod oracle;

use glam::{DMat3, DVec3, dvec3};
use muslin::scene::{Place, Springs};
use muslin::solvers::presets::METHODS;
use muslin::solvers::{
    Guess, Integrator, Jacobian, LinearSolver, MomentumCorrection, Preconditioner, SpringLaw,
    SweepOrder, WeakSprings,
};
use muslin::{Cloth, Method, Scene, Sheet, Sim};
use oracle::cases::{self, Case, tight};
use oracle::step::{gauss_seidel, jacobi};
use oracle::{distance, largest, wide};

/// Of the largest velocity change. Positions of size X carry an error of 6e-8 X, springs shaken by
/// 2 % of it change their force by that over 0.02 X: 3e-6; a dozen springs and one solve more.
const TOLERANCE: f64 = 2e-5;

const JACOBIANS: [Jacobian; 5] =
    [Jacobian::Exact, Jacobian::Psd, Jacobian::RankOne, Jacobian::Scalar, Jacobian::Smoothed];
const GUESSES: [Guess; 4] = [Guess::Zero, Guess::Velocity, Guess::PVector, Guess::PreviousStep];

/// Collects what disagrees, so that one run shows all of it.
#[derive(Default)]
struct Verdict {
    worst: f64,
    failures: Vec<String>,
}

impl Verdict {
    fn add(&mut self, name: &str, error: f64, tolerance: f64) {
        self.worst = self.worst.max(error);
        if error.is_nan() || error >= tolerance {
            self.failures.push(format!("{name}: {error:.2e} (allowed {tolerance:.0e})"));
        }
    }

    fn check(self) {
        println!("largest error {:.2e}", self.worst);
        assert!(self.failures.is_empty(), "\n{}", self.failures.join("\n"));
    }
}

#[test]
fn every_preset_takes_the_step_of_its_definition() {
    let mut verdict = Verdict::default();
    for case in cases::all() {
        for preset in METHODS {
            let method = tight(preset.id);
            // XPBD's v = (x − x_old)/h carries the last bit of x, 6e-8 m, sixty times a second.
            let bits = if method.integrator == Integrator::Xpbd { 3.0 } else { 1.0 };
            for seed in 0..3 {
                let error = case.error(&method, &case.state(seed));
                let name = format!("{} on {}, seed {seed}", preset.id, case.name);
                verdict.add(&name, error, bits * TOLERANCE);
            }
        }
    }
    verdict.check();
}

/// Every Jacobian × solver × order × guess × spring law × weak springs on every cloth.
#[test]
fn every_combination_of_choices_agrees_with_the_dense_system() {
    let mut verdict = Verdict::default();
    for case in cases::all() {
        let state = case.state(7);
        for combination in combinations() {
            let method = combination;
            let start = case.start(&state, &method);
            let (a, _) = case.world(&method).linear_system(method.jacobian, &start);
            let needs_definite =
                matches!(method.solver, LinearSolver::ConjugateGradient | LinearSolver::Cholesky);
            if needs_definite {
                // The cloths are chosen so that every solver has a right to succeed.
                assert!(a.definiteness() > 1e-4, "{}: {}", case.name, a.definiteness());
            }
            verdict.add(
                &format!("{} on {}", method.id, case.name),
                case.error(&method, &state),
                TOLERANCE,
            );
        }
    }
    verdict.check();
}

fn combinations() -> Vec<Method> {
    let base = tight("baraff-witkin-1998");
    let solvers = [
        (LinearSolver::Jacobi, SweepOrder::Rows),
        (LinearSolver::GaussSeidel, SweepOrder::Rows),
        (LinearSolver::GaussSeidel, SweepOrder::Colours),
        (LinearSolver::ConjugateGradient, SweepOrder::Rows),
        (LinearSolver::Cholesky, SweepOrder::Rows),
    ];
    let mut out = Vec::new();
    for jacobian in JACOBIANS {
        for (solver, order) in solvers {
            for guess in GUESSES {
                for (springs, weak_springs) in [
                    (SpringLaw::Scene, WeakSprings::Implicit),
                    (SpringLaw::TensionOnly, WeakSprings::Explicit),
                ] {
                    let id = format!("{jacobian:?}/{solver:?}/{order:?}/{guess:?}/{springs:?}");
                    let sweeps = 3;
                    out.push(Method {
                        id,
                        jacobian,
                        solver,
                        order,
                        guess,
                        springs,
                        weak_springs,
                        sweeps,
                        ..base.clone()
                    });
                }
            }
        }
    }
    out
}

/// Free cloths only: a held piece is left alone, which the presets' test covers.
#[test]
fn momentum_corrections_restore_what_the_oracle_restores() {
    let mut verdict = Verdict::default();
    for case in [cases::taut(), cases::fabric()] {
        for which in [MomentumCorrection::Linear, MomentumCorrection::LinearAndAngular] {
            for id in ["kim-2006", "kang-cho-2002", "kang-2000", "choi-ko-2002"] {
                let method = Method { momentum: which, ..tight(id) };
                let error = case.error(&method, &case.state(11));
                verdict.add(&format!("{id} {which:?} on {}", case.name), error, TOLERANCE);
            }
        }
    }
    verdict.check();
}

/// What the correction is for, without its formula: momentum changes by h times the weight, and
/// angular momentum about the centre of mass not at all. Both to what f32 holds of the impulses
/// h f that cancel in it: 1e-7 each, twenty of them.
#[test]
fn corrected_truncated_sweeps_keep_momentum() {
    let case = cases::taut();
    let state = case.state(3);
    for id in ["kim-2006", "kang-cho-2002", "kang-2000", "desbrun-1999"] {
        let lost = |momentum| {
            let method = Method { momentum, ..tight(id) };
            let (world, start) = (case.world(&method), case.start(&state, &method));
            let after = wide(&case.engine(&method, &state).v);
            let mass: f64 = world.mass.iter().sum();
            let weighted = |i: usize| world.mass[i] * start.x[i];
            let centre = (0..after.len()).map(weighted).sum::<DVec3>() / mass;
            let f = world.force(&start.x, &start.v);
            let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
            let (mut impulse, mut moment) = (0.0, 0.0);
            for i in 0..after.len() {
                let (m, arm) = (world.mass[i], start.x[i] - centre);
                let change = m * (after[i] - start.v[i]);
                linear += change - start.h * m * world.gravity;
                angular += arm.cross(change);
                impulse += start.h * f[i].length();
                moment += start.h * f[i].length() * arm.length();
            }
            (linear.length() / impulse, angular.length() / moment)
        };
        use MomentumCorrection::{Linear, LinearAndAngular, None};
        let (none, linear, both) = (lost(None), lost(Linear), lost(LinearAndAngular));
        assert!(none.1 > 1e-4, "{id} loses angular momentum by itself: {none:?}");
        assert!(linear.0 < 1e-6, "{id}: {linear:?}");
        assert!(both.0 < 1e-6 && both.1 < 1e-6, "{id}: {both:?}");
    }
}

/// Kang & Cho, must show 2: the edge loop of Table 3 (sign corrected) is the dense product.
#[test]
fn kang_cho_edge_loop_equals_the_dense_product() {
    for case in cases::all() {
        let method = tight("kang-cho-2002");
        let (world, state) = (case.world(&method), case.state(5));
        let start = case.start(&state, &method);
        let (x, v, h) = (&start.x, start.velocities(), start.h);
        let springs = oracle::World { hinges: Vec::new(), ..world.clone() };
        let mut dense = springs.stiffness(Jacobian::RankOne, x).times(&v);
        dense.iter_mut().for_each(|p| *p *= -h * h);
        let mut p = vec![DVec3::ZERO; x.len()];
        for s in world.springs.iter().filter(|s| s.implicit) {
            let j = s.jacobian(Jacobian::RankOne, x[s.b] - x[s.a]);
            p[s.a] += h * h * (j * (v[s.b] - v[s.a]));
            p[s.b] += h * h * (j * (v[s.a] - v[s.b]));
        }
        // Double precision, a dozen terms per row.
        assert!(distance(&p, &dense) < 1e-12 * largest(dense), "{}", case.name);
    }
}

/// Kang & Cho, must show 2: Eq. 20 is two Jacobi sweeps from zero.
#[test]
fn kang_cho_equation_20_is_two_jacobi_sweeps_from_zero() {
    for case in cases::all() {
        let method = tight("kang-cho-2002");
        let state = case.state(6);
        let start = case.start(&state, &method);
        let (w, f) = case.world(&method).linear_system(Jacobian::RankOne, &start);
        // Eq. 18–20: p_i = W_ii⁻¹ f̃_i, then Δv_i = W_ii⁻¹ (f̃_i − Σ_j W_ij p_j).
        let n = f.len();
        let p: Vec<DVec3> = (0..n).map(|i| w.block(i, i).inverse() * f[i]).collect();
        let printed: Vec<DVec3> = (0..n)
            .map(|i| {
                let others = (0..n).filter(|&j| j != i).map(|j| w.block(i, j) * p[j]);
                w.block(i, i).inverse() * (f[i] - others.sum::<DVec3>())
            })
            .collect();
        let swept = jacobi(&w, &f, 2, vec![DVec3::ZERO; n]);
        assert!(distance(&printed, &swept) < 1e-12 * largest(swept), "{}", case.name);

        // The engine's two ways to say so agree to rounding.
        let twice = Method { guess: Guess::Zero, sweeps: 2, ..method.clone() };
        let (once, twice) = (case.engine(&method, &state), case.engine(&twice, &state));
        let change = distance(&wide(&once.v), &start.velocities());
        let difference = distance(&wide(&once.v), &wide(&twice.v));
        assert!(difference < 1e-6 * (change + largest(wide(&once.v))), "{}", case.name);
    }
}

/// Kang & Cho, must show 3: Jacobi iterated to convergence solves Eq. 8.
#[test]
fn jacobi_iterated_to_convergence_is_the_dense_solution() {
    let (case, method) = (cases::springs(), tight("kang-cho-2002"));
    let state = case.state(8);
    let start = case.start(&state, &method);
    for jacobian in [Jacobian::RankOne, Jacobian::Psd, Jacobian::Scalar] {
        let (w, f) = case.world(&method).linear_system(jacobian, &start);
        let swept = jacobi(&w, &f, 400, vec![DVec3::ZERO; f.len()]);
        let solved = w.solve(&f);
        assert!(distance(&swept, &solved) < 1e-10 * largest(solved), "{jacobian:?}");

        // The engine's iteration against the same solution: f32 rounding of one residual.
        let many = Method { jacobian, sweeps: 400, guess: Guess::Zero, ..method.clone() };
        let direct = Method { solver: LinearSolver::Cholesky, ..many.clone() };
        assert!(case.error(&many, &state) < TOLERANCE && case.error(&direct, &state) < TOLERANCE);
    }
}

/// Kang & Cho, must show 3: Eq. 25 corrected and iterated, is damped backward Euler.
#[test]
fn kang_cho_equation_25_is_damped_backward_euler() {
    let relative = 0.05;
    let cloth = Cloth {
        springs: Springs {
            structural: 100.0,
            shear: 50.0,
            bend: 5.0,
            relative_damping: relative,
            ..Springs::default()
        },
        particle_mass: Some(0.05),
        ..Sheet::rectangle(0.8, 0.6, 5, 4)
    };
    let scene = Scene { cloth: vec![cloth], ..Scene::default() };
    let case = Case { model: scene.compile().unwrap(), ..cases::springs() };
    let mut method = tight("kang-cho-2002");
    let state = case.state(9);
    let start = case.start(&state, &method);
    let (world, h, x, v) = (case.world(&method), start.h, &start.x, &start.v);
    let (n, one) = (x.len(), DMat3::IDENTITY);
    // W'_i = M_i + h² Σ J'_ij,  J'_ij = J_ij + (C_d/h) I,
    // Δv_i = W'_i⁻¹ ( h f_i + h² Σ J'_ij (v_j − v_i) + h² Σ J'_ij Δv_j ), f without damping.
    let mut neighbours = vec![Vec::new(); n];
    for s in &world.springs {
        let j = s.jacobian(Jacobian::RankOne, x[s.b] - x[s.a]) + (s.relative / h) * one;
        neighbours[s.a].push((s.b, j));
        neighbours[s.b].push((s.a, j));
    }
    let f = world.conservative(x);
    let sweep = |dv: &[DVec3]| -> Vec<DVec3> {
        (0..n)
            .map(|i| {
                let (mut w, mut sum) = (world.mass[i] * one, h * f[i]);
                for &(k, j) in &neighbours[i] {
                    w += h * h * j;
                    sum += h * h * (j * (v[k] - v[i]) + j * dv[k]);
                }
                w.inverse() * sum
            })
            .collect()
    };
    let mut dv = vec![DVec3::ZERO; n];
    for _ in 0..1500 {
        dv = sweep(&dv);
    }
    // Dense, from its definition: (M + h D + h² K) Δv = h (f + f_d) − h² K v.
    let (a, b) = world.linear_system(Jacobian::RankOne, &start);
    let dense = a.solve(&b);
    let error = distance(&dv, &dense) / largest(dense);
    assert!(error < 1e-10, "{error:e}");

    // The engine: one sweep of Eq. 25 from p, and the converged system.
    assert!(case.error(&method, &state) < TOLERANCE);
    method.solver = LinearSolver::ConjugateGradient;
    method.tolerance = 1e-7;
    assert!(case.error(&method, &state) < TOLERANCE);
}

/// Kang & Cho, must show 4: free fall with −C v ends at m g/C, whatever the method.
#[test]
fn absolute_damping_ends_free_fall_at_its_terminal_velocity() {
    let cloth = Cloth {
        springs: Springs { structural: 20.0, shear: 10.0, ..Springs::default() },
        particle_mass: Some(0.1),
        absolute_damping: 0.2,
        ..Sheet::square(0.5, 3)
    };
    let scene = Scene { cloth: vec![cloth], ..Scene::default() };
    let terminal = 0.1 * 9.81 / 0.2;
    for preset in METHODS {
        let mut sim = Sim::new(scene.compile().unwrap(), preset.method()).unwrap();
        // Ten seconds, twenty time constants m/C.
        for _ in 0..600 {
            sim.advance(1.0 / 60.0);
        }
        for v in wide(&sim.state().v) {
            let error = (v - dvec3(0.0, -terminal, 0.0)).length() / terminal;
            assert!(error < 0.01, "{}: {v}, wanted {terminal} m/s", preset.id);
        }
    }
}

#[test]
fn all_guesses_converge_to_the_same_solution() {
    for case in cases::all() {
        let state = case.state(12);
        let step = |guess| {
            let method = Method { guess, ..tight("choi-ko-2002") };
            wide(&case.engine(&method, &state).v)
        };
        let change = distance(&step(Guess::Zero), &wide(&state.v));
        for guess in GUESSES {
            // A residual of 1e-7 times a condition number below 100.
            let difference = distance(&step(guess), &step(Guess::Zero)) / change;
            assert!(difference < 1e-5, "{guess:?} on {}: {difference:e}", case.name);
        }
    }
}

#[test]
fn preconditioning_does_not_change_the_solution() {
    for case in cases::all() {
        let state = case.state(13);
        let step = |preconditioner| {
            let method = Method { preconditioner, ..tight("choi-ko-2002") };
            wide(&case.engine(&method, &state).v)
        };
        let (with, without) = (step(Preconditioner::BlockJacobi), step(Preconditioner::None));
        let difference = distance(&with, &without) / distance(&with, &wide(&state.v));
        assert!(difference < 1e-5, "{}: {difference:e}", case.name);
    }
}

/// Both orders, swept often enough, reach the dense solution; after one sweep they differ.
#[test]
fn colour_order_converges_to_the_solution_of_row_order() {
    for case in cases::all() {
        let state = case.state(14);
        let method = |order, sweeps| Method { order, sweeps, ..tight("kim-2006") };
        let rows = method(SweepOrder::Rows, 2000);
        let start = case.start(&state, &rows);
        let (a, b) = case.world(&rows).linear_system(rows.jacobian, &start);
        let solved = a.solve(&b);
        let zero = vec![DVec3::ZERO; b.len()];
        let swept = gauss_seidel(&a, &b, 2000, &start.order, zero);
        assert!(distance(&swept, &solved) < 1e-9 * largest(solved.clone()), "{}", case.name);
        for order in [SweepOrder::Rows, SweepOrder::Colours] {
            let v = wide(&case.engine(&method(order, 2000), &state).v);
            let before = start.velocities();
            let change: Vec<DVec3> = v.iter().zip(before).map(|(v, u)| *v - u).collect();
            let error = distance(&change, &solved) / largest(solved.clone());
            assert!(error < TOLERANCE, "{order:?} on {}: {error:e}", case.name);
        }
        let one = |order| wide(&case.engine(&method(order, 1), &state).v);
        let gap = distance(&one(SweepOrder::Rows), &one(SweepOrder::Colours));
        assert!(gap > 1e-3 * largest(solved), "{}: the orders are the same", case.name);
    }
}

/// The limit of many XPBD sweeps, where directions stay what they are: a chain that moves along
/// itself. There C(x) = −α̃ λ and x = x̃ + W ∇C λ are backward Euler.
#[test]
fn xpbd_swept_often_is_backward_euler() {
    let cloth = Cloth {
        springs: Springs { structural: 100.0, structural_damping: 0.3, ..Springs::default() },
        particle_mass: Some(0.05),
        pins: vec![cases::pin(Place::FirstCorner)],
        ..Sheet::rectangle(0.8, 0.0, 5, 1)
    };
    let gravity = dvec3(9.81, 0.0, 0.0);
    let scene = Scene { cloth: vec![cloth], gravity, ..Scene::default() };
    let case = Case { model: scene.compile().unwrap(), ..cases::springs() };
    let mut state = case.state(15);
    let flatten = |v: &mut glam::Vec3| (v.y, v.z) = (0.0, 0.0);
    state.x.iter_mut().chain(&mut state.v).for_each(flatten);
    let reference = tight("backward-euler");
    let start = case.start(&state, &reference);
    let exact = case.world(&reference).backward_euler(&start);
    let change = distance(&exact, &start.velocities());
    let error = |sweeps| {
        let method = Method { sweeps, ..tight("xpbd") };
        distance(&wide(&case.engine(&method, &state).v), &exact) / change
    };
    // v = (x − x_old)/h carries the last bit of x: 6e-8 · 60 per second, against 0.2 m/s.
    assert!(error(300) < 1e-4, "{:e}", error(300));
    assert!(error(2) > 100.0 * error(300), "few sweeps are softer: {:e}", error(2));
}

/// The engine's own residual, without the oracle's Newton iteration: M (v' − v) = h f(x', v').
#[test]
fn backward_euler_satisfies_its_own_equation() {
    for case in cases::all() {
        let method = tight("backward-euler");
        assert_eq!(method.integrator, Integrator::BackwardEuler);
        let state = case.state(16);
        let start = case.start(&state, &method);
        let (world, before, h) = (case.world(&method), start.velocities(), start.h);
        let after = wide(&case.engine(&method, &state).v);
        // Forces where the velocities lead, so that the last bit of x does not matter.
        let x: Vec<DVec3> = start.x.iter().zip(&after).map(|(x, v)| *x + h * *v).collect();
        let f = world.force(&x, &after);
        let residual = (0..x.len()).filter(|&i| start.held[i].is_none()).map(|i| {
            let needed = world.mass[i] * (after[i] - before[i]);
            (needed - h * f[i]).length()
        });
        let size = (0..x.len()).map(|i| world.mass[i] * (after[i] - before[i]).length());
        let error = residual.fold(0.0, f64::max) / size.fold(0.0, f64::max);
        // The residual is the error times A/m: the stiffness number and a dozen springs.
        let kappa = f64::from(case.model.stiffness_number(case.h));
        let allowed = TOLERANCE * (1.0 + 4.0 * kappa);
        assert!(error < allowed, "{}: {error:e} > {allowed:e}", case.name);
    }
}
