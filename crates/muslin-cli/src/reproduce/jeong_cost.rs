//! Jeong & Lee: the cost and the energy of 3D springs.

use super::jeong::{turning, weightless};
use super::lab::*;
use crate::failure::Failure;
use glam::{DVec3, dvec3};
use muslin::model::TurningLaw;
use muslin::scenes::jeong::jelly;
use muslin::{Cloth, Method, Scene, Sim, vec3};

pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "jeong-cost",
        title: "Cost: twelve 3D springs against twenty conventional ones",
        claim: "The 3D spring requires almost the same computation as the conventional spring in \
         the jelly cube case (12 against 20 springs).",
        setup: &[
            "Symplectic Euler steps of many cubes at once, so that the loops count and \
             not the calls; least of several rounds in turn, one thread.",
            "Twenty conventional springs: 12 edges, a diagonal per face, two through the \
             body.",
        ],
        timed: true,
        run: cost,
    },
    Experiment {
        id: "jeong-energy",
        title: "Energy: integrating with Euler's method",
        claim: "Torques and forces can be integrated by using conventional methods such as the \
         Euler method.",
        setup: &[
            "An undamped cube of 3D springs (k = K = 100, inertia 0.1, sine law), shaken \
             a little, 200 s (quick: 60 s) at 0.01 s. Drift: mean energy of the last \
             quarter over that of the first.",
            "Euler as it is usually written (positions with old velocities), and \
             symplectic Euler.",
        ],
        timed: false,
        run: energy,
    },
];

fn cost(lab: &Lab) -> Result<Finding, Failure> {
    let many = |cloth: &dyn Fn() -> Cloth| {
        let cloth = (0..lab.pick(60, 150))
            .map(|i| Cloth { origin: dvec3(3.0 * f64::from(i), 0.0, 0.0), ..cloth() });
        Scene { gravity: DVec3::ZERO, cloth: cloth.collect(), ..Scene::default() }
    };
    let undamped = |mut cloth: Cloth| {
        (cloth.springs.structural_damping, cloth.turning.damping) = (0.0, 0.0);
        cloth
    };
    let of = |law, damped: bool| {
        let cloth = Cloth { turning: turning(law), ..jelly(3, 10.0) };
        if damped { cloth } else { undamped(cloth) }
    };
    let cases: [(&str, Scene); 6] = [
        ("20 conventional", many(&|| undamped(jelly(20, 10.0)))),
        ("12 3D, printed law", many(&|| of(TurningLaw::Printed, false))),
        ("12 3D, linear law", many(&|| of(TurningLaw::Linear, false))),
        ("12 3D, sine law", many(&|| of(TurningLaw::Sine, false))),
        ("20 conventional, damped", many(&|| jelly(20, 10.0))),
        ("12 3D, sine law, damped", many(&|| of(TurningLaw::Sine, true))),
    ];
    let mut sims = Vec::new();
    for (_, scene) in &cases {
        sims.push((Sim::new(scene.compile()?, preset("symplectic-euler")?)?, 0.001));
    }
    let cubes = f64::from(lab.pick(60, 150));
    let ms = lab.times(&mut sims, 20, lab.pick(6, 40))?;
    let base = |i: usize| if i == 5 { ms[4] } else { ms[0] };
    let rows = cases
        .iter()
        .enumerate()
        .map(|(i, (name, _))| {
            row([(*name).into(), number(1e6 * ms[i] / cubes), number(ms[i] / base(i))])
        })
        .collect();
    let check = |i: usize| {
        let what = format!("{}, in steps of twenty conventional springs", cases[i].0);
        words::ALMOST_THE_SAME.check(what, ms[i] / base(i))
    };
    Ok(Finding::default()
        .claim([check(1), check(3)])
        .condition("with the sine law, which needs no inverse trigonometric function", [check(3)])
        .because(
            HOLDS,
            format!(
                "A step costs {} times that of twenty conventional springs with the \
                 printed law and {} times with the sine law.",
                number(ms[1] / ms[0]),
                number(ms[3] / ms[0])
            ),
        )
        .because(
            CONDITION,
            format!(
                "With the printed law a step costs {} times that of twenty conventional \
                 springs; with the sine law, which needs no inverse trigonometric \
                 function, {} times.",
                number(ms[1] / ms[0]),
                number(ms[3] / ms[0])
            ),
        )
        .because(
            FAILS,
            format!(
                "A step costs {} times that of twenty conventional springs with the printed law and {} \
                 times with the sine law. A plain program in double precision has 3.5 and 1.3: the ratio \
                 depends on how fast the loop over conventional springs is, which here takes {} ns a cube.",
                number(ms[1] / ms[0]),
                number(ms[3] / ms[0]),
                number(1e6 * ms[0] / cubes)
            ),
        )
        .table(
            "Time of a step per cube",
            &["springs", "ns", "in steps of twenty conventional springs (alike damped)"],
            rows,
        ))
}

fn energy(lab: &Lab) -> Result<Finding, Failure> {
    let mut cloth = Cloth { turning: turning(TurningLaw::Sine), ..jelly(3, 0.0) };
    (cloth.springs.structural_damping, cloth.turning.damping, cloth.turning.inertia) =
        (0.0, 0.0, Some(0.1));
    let model = weightless(cloth).compile()?;
    let steps = lab.pick(6000, 20_000);
    let (mut rows, mut drifts, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for (id, h) in
        [("symplectic-euler", 0.01), ("symplectic-euler", 0.005), ("explicit-euler", 0.01)]
    {
        lab.now(id)?;
        let mut sim = Sim::new(model.clone(), Method { id: id.into(), ..preset(id)? })?;
        let mut state = sim.state().clone();
        for (i, x) in state.x.iter_mut().enumerate() {
            let jiggle = |k: usize| ((i * k) % 17) as f32 / 17.0 - 0.5;
            *x += 0.1 * vec3(jiggle(5), jiggle(7), jiggle(11));
        }
        sim.restore(&state)?;
        let start = sim.measure().energy.total;
        let each: Vec<f64> = (0..steps)
            .map(|_| {
                sim.advance(h);
                sim.measure().energy.total / start
            })
            .collect();
        let quarter = steps as usize / 4;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let drift = mean(&each[3 * quarter..]) / mean(&each[..quarter]) - 1.0;
        rows.push(row([
            id.into(),
            h.to_string(),
            number(drift),
            number(each.iter().copied().fold(0.0, f64::max)),
        ]));
        drifts.push(drift);
        lines.push(series(
            &format!("{id}, h = {h}"),
            each.iter()
                .enumerate()
                .skip(9)
                .step_by(10)
                .map(|(i, e)| ((i + 1) as f64 * f64::from(h), *e)),
        ));
    }
    let symplectic =
        || words::EXACT.check("symplectic Euler: mean energy, end over start", 1.0 + drifts[0]);
    let euler = words::EXACT
        .check("Euler with old velocities: mean energy, end over start", 1.0 + drifts[2]);
    Ok(Finding::default()
        .claim([symplectic(), euler])
        .condition("velocities first, then positions", [symplectic()])
        .because(
            CONDITION,
            format!(
                "With velocities first (symplectic Euler) the mean energy drifts by {} in \
                 {} s; with old velocities it grows without end.",
                number(drifts[0]),
                number(f64::from(steps) * 0.01)
            ),
        )
        .plot(&curves("Energy over its start", "time [s]", "E/E₀", lines))
        .table("Undamped cube", &["method", "h [s]", "drift", "largest E/E₀"], rows))
}
