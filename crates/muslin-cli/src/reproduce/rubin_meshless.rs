//! Rubin 2005: Figures 9 to 12, and how stable meshless cloth is.

use super::lab::*;
use crate::failure::Failure;
use glam::{DVec3, Vec3, dvec3};
use muslin::solvers::Layers;
use muslin::{Hold, Method, Pull, Scene, Sim, Warning, scenes, vec3};

pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "rubin-figure-9",
        title: "Figure 9: a second layer as close as possible",
        claim: "The cloth is extruded to make it three-dimensional; the second layer is then \
         made as close as possible to the first.",
        setup: &[
            "Condition number of the 9×9 matrix Σ q̃ q̃ᵀ that the fit inverts (Eq. 6), \
             for 6×6 particles at spacing 1 and a second layer at distance ε.",
            "Single precision has seven digits: beyond a condition number of 1/ε nothing \
             is left of the result. Planar: five terms x, y, x², y², xy with their means \
             taken off, no second layer.",
        ],
        timed: false,
        run: figure_9,
    },
    Experiment {
        id: "rubin-figure-10",
        title: "Figure 10: dragging by interface particles",
        claim: "Dragging the cloth itself makes it oscillate; dragging hidden interface \
         particles gives smooth and continuous motion.",
        setup: &[
            "6×6 particles held at two corners, α = 0.03, β = 0.9, damping 0.9, no \
             gravity, h = 1/60 s. A free corner is pulled towards a point 2 m away with \
             1000 N/m for 2 s (Eq. 7 with 1/k; its k is a compliance).",
            "Reversals: changes of sign of the corner's velocity along the drag. \
             Roughness: mean distance of the corner from the parallelogram its three \
             neighbours make.",
        ],
        timed: false,
        run: figure_10,
    },
    Experiment {
        id: "rubin-figure-11",
        title: "Figure 11: structural springs keep particles apart",
        claim: "With meshless deformations there is no control over the distance between \
         neighbouring particles; by adding structural springs the distance is controlled.",
        setup: &[
            "Scenes rubin-meshless and rubin-hybrid, g = 1 m/s², 30 s, h = 0.01 s for \
             both; then a free corner is held 2 m out of the plane for 4 s.",
            "Control: standard deviation of the lengths of structural edges over their \
             rest length, and the most stretched edge.",
        ],
        timed: false,
        run: figure_11,
    },
    Experiment {
        id: "rubin-figure-12",
        title: "Figure 12: meshless cloth is more rigid",
        claim: "Meshless deformations yield a much more rigid cloth: under the same deformation \
         a lot less bending occurs than in the mass-spring system.",
        setup: &[
            "The same 6×6 sheet held at two corners, no gravity; a free corner is brought \
             3 m out of the plane and 1 m up within a second and held for 10 s. \
             Mass-spring: the printed constants, symplectic Euler, h = 0.01 s.",
            "Bending: mean angle between neighbouring edges of a row or column, and the \
             largest.",
        ],
        timed: false,
        run: figure_12,
    },
    Experiment {
        id: "rubin-stability",
        title: "Section 5.2.3: unconditionally stable",
        claim: "“The meshless deformations technique guarantees unconditional stability provided that \
         any forces involved in the simulation are applied to all particles independent of their \
         location … or the force is applied instantaneously.”",
        setup: &[
            "A free 6×6 sheet, every particle displaced by up to 0.3 m, 2000 steps of \
             0.001 s, 1/60 s, 1 s and 100 s; α = 0.03 and 1.",
            "The springs of the hybrid are forces that depend on the location, so the proviso \
             does not cover it; it is measured because the paper builds on it.",
            "The hybrid, with damping 20 N·s/m as printed, has the limit h < 2 m/(4 kd) = \
             0.025 s of its explicit dampers; the engine cuts longer steps into as many \
             as are needed, which is what is counted.",
        ],
        timed: false,
        run: stability,
    },
];

/// Eigenvalues of a symmetric matrix by Jacobi rotations.
fn eigenvalues(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() <= 1e-18 * (a[p][p] * a[q][q]).abs().sqrt() {
                    continue;
                }
                // The angle that makes a[p][q] vanish.
                let tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                let s = t * c;
                for k in 0..n {
                    (a[k][p], a[k][q]) = (c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]);
                }
                for k in 0..n {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                }
            }
        }
    }
    (0..n).map(|i| a[i][i]).collect()
}

/// Condition number of Σ q̃ q̃ᵀ.
fn condition(terms: &[Vec<f64>]) -> f64 {
    let n = terms[0].len();
    let entry = |i: usize, j: usize| terms.iter().map(|q| q[i] * q[j]).sum::<f64>();
    let values = eigenvalues((0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect());
    let most = values.iter().copied().fold(0.0, f64::max);
    most / values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn figure_9(lab: &Lab) -> Result<Finding, Failure> {
    lab.now("condition numbers")?;
    let sheet: Vec<(f64, f64)> =
        (0..36).map(|i| (f64::from(i % 6) - 2.5, f64::from(i / 6) - 2.5)).collect();
    let extruded = |epsilon: f64| {
        let terms = |z: f64| {
            sheet.iter().map(move |&(x, y)| vec![x, y, z, x * x, y * y, z * z, x * y, y * z, z * x])
        };
        condition(&terms(-0.5 * epsilon).chain(terms(0.5 * epsilon)).collect::<Vec<_>>())
    };
    let mean = sheet.iter().map(|(x, _)| x * x).sum::<f64>() / 36.0;
    // Scaled to the size of the sheet, as the planar fit is.
    let planar = condition(
        &sheet
            .iter()
            .map(|(x, y)| {
                vec![
                    x / mean.sqrt(),
                    y / mean.sqrt(),
                    (x * x - mean) / mean,
                    (y * y - mean) / mean,
                    x * y / mean,
                ]
            })
            .collect::<Vec<_>>(),
    );
    let distances = [1.0, 0.3, 0.1, 0.03, 0.01];
    let found = distances.map(extruded);
    let mut rows: Vec<_> = distances
        .iter()
        .zip(found)
        .map(|(epsilon, found)| row([format!("extruded by {epsilon}"), number(found)]))
        .collect();
    rows.push(row(["planar, five terms".into(), number(planar)]));
    let points = distances.iter().copied().zip(found);
    Ok(Finding::default()
        .claim([words::AS_CLOSE.check("condition number at a hundredth of the spacing", found[4])])
        .because(
            FAILS,
            format!(
                "The condition number grows like ε⁻⁴: {} at the spacing itself, {} at a \
                 hundredth of it. “As close as possible” is the wrong advice; the better \
                 way is no second layer at all: five terms in the plane have a condition \
                 number of {} and give the same motion.",
                number(found[0]),
                number(found[4]),
                number(planar)
            ),
        )
        .plot(&dotted(
            "Condition number of the fit",
            "distance of the layers / spacing",
            "condition number",
            [true; 2],
            vec![series("extruded", points), series("planar", [(0.01, planar), (1.0, planar)])],
        ))
        .table("Condition number of Σ q̃ q̃ᵀ", &["fit", "condition number"], rows))
}

fn sheet(name: &str) -> Result<Scene, Failure> {
    Ok(scenes::named(name)?)
}

fn figure_10(lab: &Lab) -> Result<Finding, Failure> {
    let mut scene = sheet("rubin-meshless")?;
    scene.gravity = DVec3::ZERO;
    let (mut rows, mut found, mut lines, mut ends) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (layers, name) in [
        (Layers::Planar, "the cloth itself"),
        (Layers::Interface, "interface particles"),
        (Layers::Extruded, "interface particles one spacing beside"),
    ] {
        lab.now(name)?;
        let mut sim = Sim::new(scene.compile()?, Method { layers, ..preset("meshless")? })?;
        let (corner, pull) = (35, vec3(0.0, 0.0, 2.0));
        let start = sim.state().x[corner];
        sim.inputs.pulls.push(Pull { particle: corner, target: start + pull, stiffness: 1000.0 });
        let (mut reversals, mut roughness, mut before, mut path) = (0, 0.0, 0.0f32, Vec::new());
        for step in 1..=120 {
            sim.advance(1.0 / 60.0);
            let (x, v) = (&sim.state().x, &sim.state().v);
            let along = v[corner].dot(pull);
            // Slower than a millimetre per second is rest.
            if along.abs() > 2e-3 {
                reversals += u32::from(along * before < 0.0);
                before = along;
            }
            roughness += f64::from((x[corner] - x[34] - x[29] + x[28]).length()) / 120.0;
            path.push((f64::from(step) / 60.0, f64::from(x[corner].z)));
        }
        rows.push(row([name.into(), reversals.to_string(), number(roughness)]));
        lines.push(series(name, path));
        found.push((f64::from(reversals), roughness));
        ends.push(sim.state().x.clone());
    }
    let model = scene.compile()?;
    let mut claim = vec![words::OSCILLATES.check("dragging the cloth: reversals", found[0].0)];
    for (i, name) in [(1, "interface"), (2, "interface beside")] {
        claim.push(words::CONTINUOUS.check(format!("{name}: reversals"), found[i].0));
        let what = format!("{name}: roughness over that of dragging the cloth");
        claim.push(words::SMOOTH.check(what, found[i].1 / found[0].1));
    }
    Ok(Finding::default()
        .claim(claim)
        .because(
            HOLDS,
            format!(
                "Dragged itself, the corner goes back and forth {} times; by an interface \
                 particle {} times, with {} of the roughness: the goal shape filters the \
                 force.",
                found[0].0,
                found[1].0,
                percent(found[1].1 / found[0].1)
            ),
        )
        .picture(
            "After 2 s of dragging: the cloth itself, interface particles, interface \
             particles beside",
            &strip(&model, ends.iter().map(Vec::as_slice), &ends, None),
        )?
        .plot(&curves("The dragged corner", "time [s]", "distance [m]", lines))
        .table("A drag of 2 s", &["what is dragged", "reversals", "roughness [m]"], rows))
}

/// Standard deviation and largest of the lengths of structural edges over their rest length.
fn spread(sim: &Sim) -> (f64, f64) {
    let model = sim.model();
    let ends = model.topology.links.ends().iter().enumerate();
    let ratios: Vec<f64> = (ends.filter(|(s, _)| model.springs.structural[*s]))
        .map(|(s, [a, b])| {
            f64::from(
                sim.state().x[*a as usize].distance(sim.state().x[*b as usize])
                    / model.springs.rest_length[s],
            )
        })
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / ratios.len() as f64;
    (variance.sqrt(), ratios.iter().copied().fold(0.0, f64::max))
}

/// Brings the free corner to `offset` from its rest position within a second and holds it there.
fn hold_corner(sim: &mut Sim, offset: Vec3, h: f32, seconds: f32) {
    let rest = sim.model().rest_x[35];
    let start = sim.state().x[35];
    for step in 1..=(seconds / h) as u32 {
        let share = (step as f32 * h).min(1.0);
        sim.inputs.held = vec![Hold { particle: 35, target: start.lerp(rest + offset, share) }];
        sim.advance(h);
    }
}

fn figure_11(lab: &Lab) -> Result<Finding, Failure> {
    let (mut rows, mut found, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (id, scene) in [("meshless", "rubin-meshless"), ("hybrid", "rubin-hybrid")] {
        lab.now(id)?;
        let mut sim = Sim::new(sheet(scene)?.compile()?, preset(id)?)?;
        (0..3000).for_each(|_| {
            sim.advance(0.01);
        });
        let rest = spread(&sim);
        ends.push(sim.state().x.clone());
        hold_corner(&mut sim, vec3(0.0, 0.0, 2.0), 0.01, 4.0);
        let dragged = spread(&sim);
        ends.push(sim.state().x.clone());
        rows.push(row([
            id.into(),
            number(rest.0),
            number(rest.1),
            number(dragged.0),
            number(dragged.1),
        ]));
        found.push((rest, dragged));
    }
    let model = sheet("rubin-meshless")?.compile()?;
    let slight = [found[1].0.0 / found[0].0.0, found[1].1.0 / found[0].1.0];
    let checks = |word: &words::Word| {
        [
            word.check("at rest: spread of the hybrid over that of meshless", slight[0]),
            word.check("dragged: the same", slight[1]),
        ]
    };
    Ok(Finding::default()
        .claim(checks(&words::CONTROLLED))
        .condition(
            "an improvement: springs of 22 N/m are soft beside the goals",
            checks(&words::IMPROVES),
        )
        .because(
            HOLDS,
            format!(
                "With structural springs the spread of edge lengths is {} of that \
                 without, at rest, and {} when dragged.",
                percent(slight[0]),
                percent(slight[1])
            ),
        )
        .because(
            CONDITION,
            format!(
                "With structural springs the spread of edge lengths is {} of that \
                 without, at rest, and {} when dragged: an improvement, as the paper says \
                 itself, but a slight one.",
                percent(slight[0]),
                percent(slight[1])
            ),
        )
        .because(
            FAILS,
            format!(
                "With structural springs the spread of edge lengths is {} of that \
                 without, at rest, and {} when dragged.",
                percent(slight[0]),
                percent(slight[1])
            ),
        )
        .picture(
            "At rest and dragged: meshless; at rest and dragged: hybrid. Coloured by \
             strain, full scale 30 %",
            &strip(&model, ends.iter().map(Vec::as_slice), &ends, Some(0.3)),
        )?
        .table(
            "Lengths of structural edges over their rest length",
            &["method", "at rest: deviation", "longest", "dragged: deviation", "longest"],
            rows,
        ))
}

/// Mean and largest angle between neighbouring edges of a 6×6 sheet. [°]
fn bending(x: &[Vec3]) -> (f64, f64) {
    let at = |row: usize, column: usize| x[row * 6 + column].as_dvec3();
    let mut angles = Vec::new();
    for i in 0..6 {
        for j in 1..5 {
            for [before, here, after] in
                [[at(i, j - 1), at(i, j), at(i, j + 1)], [at(j - 1, i), at(j, i), at(j + 1, i)]]
            {
                angles.push((here - before).angle_between(after - here).to_degrees());
            }
        }
    }
    (angles.iter().sum::<f64>() / angles.len() as f64, angles.iter().copied().fold(0.0, f64::max))
}

fn figure_12(lab: &Lab) -> Result<Finding, Failure> {
    let mut scene = sheet("rubin-meshless")?;
    (scene.gravity, scene.cloth[0].absolute_damping) = (DVec3::ZERO, 0.9);
    let (mut rows, mut found, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (id, h) in [("symplectic-euler", 0.01), ("meshless", 1.0 / 60.0)] {
        lab.now(id)?;
        let mut sim = Sim::new(scene.compile()?, preset(id)?)?;
        hold_corner(&mut sim, vec3(0.0, 1.0, 3.0), h, 11.0);
        let (mean, most) = bending(&sim.state().x);
        let name = if id == "meshless" { "meshless" } else { "mass-spring" };
        rows.push(row([name.into(), format!("{mean:.1}°"), format!("{most:.1}°")]));
        found.push((mean, most));
        ends.push(sim.state().x.clone());
    }
    let model = scene.compile()?;
    Ok(Finding::default()
        .claim([
            words::RIGID.check("mean bend of meshless over mass-spring", found[1].0 / found[0].0),
            words::RIGID
                .check("largest bend of meshless over mass-spring", found[1].1 / found[0].1),
        ])
        .because(
            HOLDS,
            format!(
                "The same corner held in the same place bends the meshless sheet by \
                 {:.1}° on average ({:.1}° at most), the mass-spring one by {:.1}° \
                 ({:.1}°): one quadratic shape cannot fold.",
                found[1].0, found[1].1, found[0].0, found[0].1
            ),
        )
        .because(
            FAILS,
            format!(
                "The same corner held in the same place bends the meshless sheet by \
                 {:.1}° on average ({:.1}° at most), the mass-spring one by {:.1}° \
                 ({:.1}°).",
                found[1].0, found[1].1, found[0].0, found[0].1
            ),
        )
        .picture(
            "The same corner held in the same place: mass-spring, meshless",
            &strip(&model, ends.iter().map(Vec::as_slice), &ends, None),
        )?
        .table("Angles between neighbouring edges", &["method", "mean", "largest"], rows))
}

fn stability(lab: &Lab) -> Result<Finding, Failure> {
    let extent = |x: &[Vec3]| {
        let low = x.iter().fold(Vec3::INFINITY, |low, x| low.min(*x));
        (x.iter().fold(Vec3::NEG_INFINITY, |high, x| high.max(*x)) - low).max_element()
    };
    let mut free = sheet("rubin-meshless")?;
    (free.gravity, free.cloth[0].absolute_damping) = (DVec3::ZERO, 0.0);
    free.cloth[0].pins.clear();
    let (mut rows, mut worst, mut most) = (Vec::new(), 0.0f64, 0);
    for h in [1e-3, 1.0 / 60.0, 1.0, 100.0] {
        let mut cells = vec![number(f64::from(h))];
        for alpha in [0.03, 1.0] {
            lab.now(&format!("h = {h}"))?;
            let mut sim = Sim::new(free.compile()?, Method { alpha, ..preset("meshless")? })?;
            let mut state = sim.state().clone();
            for (i, x) in state.x.iter_mut().enumerate() {
                let jiggle = |k: usize| 2.0 * ((i * k) % 17) as f64 / 17.0 - 1.0;
                *x += (0.3 * dvec3(jiggle(5), jiggle(7), jiggle(11))).as_vec3();
            }
            sim.restore(&state)?;
            let start = extent(&state.x);
            let mut largest = 0.0f64;
            for _ in 0..2000 {
                let lost = sim.advance(h).warnings.contains(Warning::RolledBack);
                largest = if lost {
                    f64::INFINITY
                } else {
                    largest.max(f64::from(extent(&sim.state().x) / start))
                };
            }
            cells.push(number(largest));
            worst = worst.max(largest);
        }
        let mut hybrid = Sim::new(sheet("rubin-hybrid")?.compile()?, preset("hybrid")?)?;
        let substeps = hybrid.advance(h).solver.iterations;
        cells.push(substeps.to_string());
        most = most.max(substeps);
        rows.push(cells);
    }
    let meshless = || {
        words::UNCONDITIONAL
            .check("meshless: largest extent over that at the start, all steps", worst)
    };
    Ok(Finding::default()
        .claim([meshless(), Check::no("hybrid: a step of 100 s must be cut", most > 1)])
        .condition("meshless alone, without springs", [meshless()])
        .because(
            CONDITION,
            format!(
                "Meshless cloth stays within {} of its size at any step. The hybrid does \
                 not: its explicit dampers need h below 2 m/(4 kd), and so does dragging \
                 (Eq. 7) have a limit of its own.",
                number(worst)
            ),
        )
        .table(
            "By step",
            &["h [s]", "meshless, α = 0.03: extent", "α = 1: extent", "hybrid: steps needed"],
            rows,
        ))
}
