//! Kim 2006: how far the stability reaches, what the smoothed Jacobian is for, and what few sweeps do to momentum.

use super::kang_cho_limits::kang_cho;
use super::kim::{choi, kim, net};
use super::lab::*;
use crate::failure::Failure;
use glam::DVec3;
use muslin::solvers::{Jacobian, LinearSolver, MomentumCorrection, SweepOrder};
use muslin::{Method, Scene, Sim};

pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "kim-any-eta",
        title: "Stable regardless of the number of iterations: a sweep over the stiffness",
        claim: "“It is stable regardless of the number of iteration so that we can use large \
         time steps and stiff springs … even with only one iteration.”",
        setup: &[
            "30×30 unit masses, two corners held, as Figure 4; 1500 steps (quick: 1000). \
             κ = k Δt²/m is varied by k.",
            "S: as the implicit method; j: bounded, but at some time faster than twice \
             the implicit method, which is not stable; f: stable, but the lowest point at the end off by more \
             than 5 % of the height; U: blows up, with the step.",
        ],
        timed: false,
        run: any_eta,
    },
    Experiment {
        id: "kim-smoothed-jacobian",
        title: "Equation 9: the smoothed Jacobian, on and off",
        claim: "With few iterations the discontinuous Jacobian of asymmetric springs is \
         unstable; a smoothed one makes the method stable.",
        setup: &["The stiff drape of Figure 3, 80×80 (quick: 400 steps), six sweeps, α = 0.8. \
             The middle branch of Eq. 9 is k n nᵀ f(r), continuous for every rest length; \
             as printed it has the units of a length too many."],
        timed: false,
        run: smoothing,
    },
    Experiment {
        id: "kim-in-place",
        title: "Updating in place: Gauss–Seidel against Jacobi",
        claim: "“It is very important to update in place … otherwise the simulation becomes \
         unstable.”",
        setup: &[
            "30×30 at κ = 10 (k = 160), smoothed Jacobian, asymmetric springs, 1000 \
             steps. Sweeps not in place are Jacobi sweeps.",
            "Stable: bounded, and never more than twice as fast as the implicit method on the same net.",
        ],
        timed: false,
        run: in_place,
    },
    Experiment {
        id: "kim-inertia",
        title: "Artificial inertia: only in the plane?",
        claim: "Artificial inertia and viscosity “are limited in the in-plane direction, and do \
         not make a fictitious damping in the out-of-plane direction.”",
        setup: &[
            "Free sheets of 30×30 unit masses, no air. Share of gravity that arrives: \
             momentum after 40 steps over its exact value, standing on edge (in plane) \
             and lying flat (out of plane), κ = 62.5.",
            "Taut: a flat sheet stretched by 2 %, κ = 50, gravity normal to it; mean \
             normal velocity after one step over g Δt.",
            "Momentum out of nothing: the stretched sheet without gravity, |Σ m v|/Σ m \
             |v| after one step.",
        ],
        timed: false,
        run: inertia,
    },
    Experiment {
        id: "kim-desbrun",
        title: "Does Desbrun's method damp translation?",
        claim: "Desbrun's approximation makes a damping force that resists “overall rotating \
         motion, and even translational motion in the direction of plane normal.”",
        setup: &["A free flat sheet of 30×30 unit masses falls along its normal, κ = 62.5, for \
             40 steps, without the post-correction of momentum. A sheet held at its edge, \
             that turns, is in Figure 4 (i)."],
        timed: false,
        run: desbrun,
    },
];

/// A cell of the table: what became of a run.
fn letter(fall: &Fall, reference: &Fall, height: f64) -> String {
    match fall.diverged_at {
        Some(step) => format!("U{step}"),
        None if !fall.is_stable_beside(reference) => format!("j ({})", number(fall.max_speed)),
        None => {
            let off = (fall.lowest.last().unwrap_or(&0.0)
                - reference.lowest.last().unwrap_or(&0.0))
            .abs();
            if off > 0.05 * height { "f".into() } else { "S".into() }
        }
    }
}

fn any_eta(lab: &Lab) -> Result<Finding, Failure> {
    let kappas: &[f64] =
        lab.pick(&[3.125, 62.5, 4000.0], &[0.3, 1.0, 3.125, 10.0, 62.5, 400.0, 4000.0, 40_000.0]);
    let steps = lab.pick(1000, 1500);
    let jacobi = |sweeps| Ok::<_, Failure>(Method { solver: LinearSolver::Jacobi, ..kim(sweeps)? });
    let exact = |sweeps| Ok::<_, Failure>(Method { jacobian: Jacobian::Exact, ..kim(sweeps)? });
    let psd = Method { solver: LinearSolver::GaussSeidel, jacobian: Jacobian::Psd, ..kang_cho(2)? };
    let mut methods = vec![
        ("Kim, η = 1", kim(1)?),
        ("Kim, η = 2", kim(2)?),
        ("Kim, η = 6", kim(6)?),
        ("Kim, η = 10", kim(10)?),
        ("not smoothed, η = 1", exact(1)?),
        ("not smoothed, η = 6", exact(6)?),
    ];
    if !lab.quick {
        methods.extend([
            ("smoothed, 1 Jacobi sweep", jacobi(1)?),
            ("smoothed, 2 Jacobi sweeps", jacobi(2)?),
            ("smoothed, 3 Jacobi sweeps", jacobi(3)?),
            ("Kang & Cho, 2 sweeps", kang_cho(2)?),
            ("symmetric springs, semi-definite Jacobian, η = 2", psd),
            ("Kang 2000", preset("kang-2000")?),
            ("symplectic Euler", preset("symplectic-euler")?),
        ]);
    }
    let mut rows: Vec<Vec<String>> =
        methods.iter().map(|(name, _)| vec![(*name).to_owned()]).collect();
    rows.push(vec!["Choi & Ko, implicit".into()]);
    let (mut ones, mut least) = (Vec::new(), true);
    for &kappa in kappas {
        let scene = net(kappa / 0.0625, 30)?;
        let reference = lab.fall(&scene, &choi(1e-3)?, steps, &[])?;
        for (i, (_, method)) in methods.iter().enumerate() {
            let fall = lab.fall(&scene, method, steps, &[])?;
            rows[i].push(letter(&fall, &reference, 29.0));
            if i == 0 {
                ones.push((kappa, fall.is_stable_beside(&reference)));
            } else if i < 4 && kappa <= 10.0 {
                least &= fall.is_stable_beside(&reference);
            }
        }
        rows[methods.len()].push(reference.soundness().replace("yes", "S"));
    }
    let head: Vec<String> = std::iter::once("method".into())
        .chain(kappas.iter().map(|k| format!("κ = {}", number(*k))))
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    Ok(Finding::default()
        .claim(ones.iter().map(|(kappa, calm)| {
            words::STABLE.yes(format!("η = 1 is stable at κ = {}", number(*kappa)), *calm)
        }))
        .claim([words::STABLE.yes("two sweeps or more are, up to κ = 10", least)])
        .because(
            FAILS,
            "One sweep is an order of magnitude more stable than the explicit method, but \
             not stable at any stiffness: it jitters and at last blows up. More sweeps \
             stay bounded here, but beyond κ of a few hundred the cloth jitters or hangs \
             in mid-air (f): a fixed number of sweeps moves less than gravity asks for.",
        )
        .table(&format!("30×30, {steps} steps"), &head, rows))
}

fn smoothing(lab: &Lab) -> Result<Finding, Failure> {
    // As large as printed also in a quick run: small sheets are too light to show it.
    let (n, steps) = (80, lab.pick(400, 2000));
    let scene = net(1000.0, n)?;
    let frames = [steps / 4, steps / 2, steps];
    let calm = lab.fall(&scene, &choi(1e-3)?, steps, &[])?;
    let on = lab.fall(&scene, &kim(6)?, steps, &frames)?;
    let off = lab.fall(&scene, &Method { jacobian: Jacobian::Exact, ..kim(6)? }, steps, &frames)?;
    let runs = [
        ("smoothed, six sweeps", &on),
        ("Choi & Ko's, discontinuous, six sweeps", &off),
        ("Choi & Ko's, implicit", &calm),
    ];
    let rows = runs.map(|(name, fall)| {
        row([
            name.into(),
            fall.soundness(),
            number(fall.max_speed),
            percent(fall.max_strain),
            number(fall.last_kinetic()),
        ])
    });
    let model = scene.compile()?;
    let seen = || on.frames.iter().map(Vec::as_slice);
    let steps_text = frames.map(|s| s.to_string()).join(", ");
    Ok(Finding::default()
        .claim([
            words::STABLE.yes("smoothed: stable", on.is_stable_beside(&calm)),
            words::STABLE.no("not smoothed: stable", off.is_stable_beside(&calm)),
        ])
        .because(
            HOLDS,
            format!(
                "Without smoothing a particle reaches {} m/s, with it {}; the implicit method's \
                 fastest has {}.",
                number(off.max_speed),
                number(on.max_speed),
                number(calm.max_speed)
            ),
        )
        .picture(format!("Smoothed: steps {steps_text}"), &strip(&model, seen(), &on.frames, None))?
        .picture(
            format!("Not smoothed: steps {steps_text}"),
            &strip(&model, seen(), &off.frames, None),
        )?
        .table(
            &format!("{n}×{n}, k = 1000, η = 6, {steps} steps"),
            &[
                "Jacobian",
                "bounded",
                "fastest [m/s]",
                "largest strain",
                "kinetic energy at the end",
            ],
            rows.to_vec(),
        ))
}

/// “1 sweep”, “2 sweeps”.
fn sweeps_text(count: usize) -> String {
    format!("{count} sweep{}", if count == 1 { "" } else { "s" })
}

fn in_place(lab: &Lab) -> Result<Finding, Failure> {
    let scene = net(160.0, 30)?;
    let calm = lab.fall(&scene, &choi(1e-3)?, 1000, &[])?;
    let (mut rows, mut stable) = (Vec::new(), Vec::new());
    for sweeps in 1..=6 {
        let jacobi =
            lab.fall(&scene, &Method { solver: LinearSolver::Jacobi, ..kim(sweeps)? }, 1000, &[])?;
        let seidel = lab.fall(&scene, &kim(sweeps)?, 1000, &[])?;
        stable.push((jacobi.is_stable_beside(&calm), seidel.is_stable_beside(&calm)));
        let show = |fall: &Fall| {
            fall.diverged_at.map_or(number(fall.max_speed), |step| format!("blows up, step {step}"))
        };
        rows.push(row([sweeps.to_string(), show(&jacobi), show(&seidel)]));
    }
    let what = |i: usize, how: &str| format!("{}, {how}: stable", sweeps_text(i + 1));
    let breaks = |i: usize| words::STABLE.no(what(i, "not in place"), stable[i].0);
    let lasts = |i: usize| words::STABLE.yes(what(i, "not in place"), stable[i].0);
    let seidel = || (0..6).map(|i| words::STABLE.yes(what(i, "in place"), stable[i].1));
    Ok(Finding::default()
        .claim((0..6).map(breaks))
        .claim(seidel())
        .condition(
            "with an odd number of sweeps",
            [breaks(0), breaks(2), breaks(4), lasts(1), lasts(3), lasts(5)]
                .into_iter()
                .chain(seidel()),
        )
        .because(
            CONDITION,
            "Jacobi sweeps are unstable in odd numbers only; two, four or six of them are \
             as stable as sweeps in place. What matters is the parity, not the place.",
        )
        .table(
            &format!("Fastest of 1000 steps [m/s]; implicit method: {}", number(calm.max_speed)),
            &["sweeps", "Jacobi", "Gauss–Seidel, in place"],
            rows,
        ))
}

/// A free sheet of unit masses without air.
fn free(kappa: f64, down: DVec3) -> Result<Scene, Failure> {
    let mut scene = net(kappa / 0.0625, 30)?;
    let cloth = &mut scene.cloth[0];
    cloth.pins.clear();
    (cloth.down, cloth.absolute_damping) = (down, 0.0);
    Ok(scene)
}

/// Share of gravity that arrives in 40 steps.
fn arriving(method: &Method, down: DVec3) -> Result<f64, Failure> {
    let mut sim = Sim::new(free(62.5, down)?.compile()?, method.clone())?;
    (0..40).for_each(|_| {
        sim.advance(0.25);
    });
    Ok(sim.measure().momentum.y / (-0.03 * 900.0 * 10.0))
}

/// One step of a flat sheet stretched by 2 %, κ = 50: share of gravity along the normal, and |Σ m v|/Σ m |v| without gravity.
fn taut(method: &Method) -> Result<(f64, f64), Failure> {
    let step = |gravity: f64| -> Result<Sim, Failure> {
        let mut scene = free(50.0, DVec3::Z)?;
        scene.gravity.y = -gravity;
        let mut sim = Sim::new(scene.compile()?, method.clone())?;
        let mut state = sim.state().clone();
        state.x.iter_mut().for_each(|x| *x *= 1.02);
        sim.restore(&state)?;
        sim.advance(0.25);
        Ok(sim)
    };
    let normal = step(0.03)?.measure().momentum.y / (-0.03 * 900.0 * 0.25);
    let still = step(0.0)?;
    let speeds: f64 = still.state().v.iter().map(|v| f64::from(v.length())).sum();
    Ok((normal, still.measure().momentum.length() / speeds))
}

fn inertia(lab: &Lab) -> Result<Finding, Failure> {
    let mut rows = Vec::new();
    let mut found = Vec::new();
    let colours = Method { order: SweepOrder::Colours, ..kim(6)? };
    let cured = Method { momentum: MomentumCorrection::Linear, ..kim(6)? };
    let methods = [
        ("Kim, η = 1", kim(1)?),
        ("Kim, η = 2", kim(2)?),
        ("Kim, η = 6", kim(6)?),
        ("Kim, η = 10", kim(10)?),
        ("Kim, η = 6, colour by colour", colours),
        ("Kim, η = 6, momentum put back", cured),
        ("Kang & Cho, 2 sweeps", kang_cho(2)?),
        ("Kang 2000", preset("kang-2000")?),
        ("Choi & Ko, implicit", choi(1e-6)?),
    ];
    for (name, method) in &methods {
        lab.now(name)?;
        let (edge, flat) = (arriving(method, DVec3::NEG_Y)?, arriving(method, DVec3::Z)?);
        let (normal, leak) = taut(method)?;
        rows.push(row([
            (*name).into(),
            percent(edge),
            percent(flat),
            percent(normal),
            number(leak),
        ]));
        found.push((edge, flat, normal, leak));
    }
    let flat = || {
        [0, 2].map(|i: usize| {
            let what =
                format!("{}: share of gravity along the normal of a flat sheet", methods[i].0);
            words::EXACT.check(what, found[i].1)
        })
    };
    Ok(Finding::default()
        .claim(flat())
        .claim([0, 2].map(|i: usize| {
            words::EXACT.check(format!("{}: the same stretched by 2 %", methods[i].0), found[i].2)
        }))
        .condition("while no spring is stretched", flat())
        .because(
            CONDITION,
            format!(
                "A flat sheet at rest falls along its normal with all of gravity. \
                 Stretched by 2 % only {} of it arrives with one sweep, {} with six: a \
                 taut spring resists sideways too. In the plane a free sheet on edge \
                 falls at {} of g with one sweep and {} with six, and sweeps in order \
                 make momentum out of nothing ({} of all that moves); putting the \
                 momentum back cures the fall.",
                percent(found[0].2),
                percent(found[2].2),
                percent(found[0].0),
                percent(found[2].0),
                number(found[2].3)
            ),
        )
        .table(
            "What arrives of gravity, and momentum out of nothing",
            &[
                "method",
                "on edge, 40 steps",
                "flat, 40 steps",
                "taut, one step, normal",
                "Σ m v/Σ m |v|",
            ],
            rows,
        ))
}

fn desbrun(lab: &Lab) -> Result<Finding, Failure> {
    lab.now("free sheet")?;
    let method = Method { momentum: MomentumCorrection::None, ..preset("desbrun-1999")? };
    let (flat, edge) = (arriving(&method, DVec3::Z)?, arriving(&method, DVec3::NEG_Y)?);
    let kang = arriving(&preset("kang-2000")?, DVec3::Z)?;
    let rows = vec![
        row(["Desbrun, without correction".into(), percent(flat), percent(edge)]),
        row([
            "Kang 2000".into(),
            percent(kang),
            percent(arriving(&preset("kang-2000")?, DVec3::NEG_Y)?),
        ]),
        row([
            "Kim, η = 6".into(),
            percent(arriving(&kim(6)?, DVec3::Z)?),
            percent(arriving(&kim(6)?, DVec3::NEG_Y)?),
        ]),
    ];
    Ok(Finding::default()
        .claim([words::DAMPS
            .check("share of gravity that arrives along the normal of a free sheet", flat)])
        .because(
            FAILS,
            format!(
                "A free sheet falls with {} of gravity: the rows of H sum to zero, so the \
                 system keeps total momentum exactly. Only relative to pins is \
                 translation damped. Kang's first method, which stops after two sweeps, \
                 does damp it ({} of gravity arrive).",
                percent(flat),
                percent(kang)
            ),
        )
        .table(
            "Share of gravity that arrives, free sheet, 40 steps",
            &["method", "flat, along the normal", "on edge"],
            rows,
        ))
}
