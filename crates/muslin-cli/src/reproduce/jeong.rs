//! Jeong & Lee: Figures 2, 5, 6 and 7.

use super::lab::*;
use crate::failure::Failure;
use crate::page::plot::Plot;
use glam::{DVec3, Vec3, dvec3};
use muslin::model::TurningLaw;
use muslin::scene::{Mesh, Pin, Springs, Turning};
use muslin::scenes::jeong::{jelly, pleated};
use muslin::{Cloth, Scene, Sim, scenes, vec3};

const LAWS: [(TurningLaw, &str); 3] = [
    (TurningLaw::Printed, "printed, K θ sin θ"),
    (TurningLaw::Linear, "linear, K θ"),
    (TurningLaw::Sine, "sine, K sin θ"),
];

pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "jeong-figure-2",
        title: "Figure 2: the collapsed cube",
        claim: "A cube of twelve conventional springs collapses without any spring force.",
        setup: &[
            "A unit cube whose upright edges lean by 30 to 170°, nothing stretched; unit \
             masses, k = 100 N/m with damping, no gravity, 80 s of symplectic Euler at \
             0.01 s (quick: 40 s).",
            "Shape error: root mean square error of all 28 distances. The signed volume \
             at a corner tells a cube from its mirror image.",
        ],
        timed: false,
        run: figure_2,
    },
    Experiment {
        id: "jeong-figure-5",
        title: "Figure 5: the jelly cube recovers",
        claim: "Twelve 3D springs, as the edges of the cube, suffice for a stable jelly cube.",
        setup: &[
            "As Figure 2 with 3D springs: k = 100 N/m, torsional stiffness 100 N·m, \
             moment of inertia 0.1 m L² (the paper gives none), torsional damping 0.63 \
             N·m·s.",
            "Three laws of the torque: as printed, K θ sin θ, which has no stiffness at \
             rest; linear; sine. Damping in the corrected form, which keeps both momenta.",
        ],
        timed: false,
        run: figure_5,
    },
    Experiment {
        id: "jeong-figure-6",
        title: "Figure 6: creases",
        claim: "3D springs simulate creases “that were impossible for the previous techniques \
         without any geometrical procedure.”",
        setup: &[
            "13×9 masses, pleats of 90°, started flat (those that are to fold within 5 mm of it), hung at the middle of an edge \
             under g = 0.1, 60 s (quick: 30 s), symplectic Euler at 0.01 s; k = 300 N/m, \
             K = 100 N·m, sine law.",
            "Conventional springs of two kinds: with the rest lengths of a flat sheet, \
             and with the lengths of the pleated one (all distances up to two cells).",
            "Right side: share of creases whose ridge is where the rest shape has it.",
        ],
        timed: false,
        run: figure_6,
    },
    Experiment {
        id: "jeong-figure-7",
        title: "Figure 7: a bar on a wall",
        claim: "Ten cubes of 3D springs make a bar that holds itself under gravity.",
        setup: &["Scene jeong-bar: 44 unit masses, 84 springs, k = K = 1000, g = 1, clamped at \
             the wall; beside it the same of edges only. 60 s by implicit Euler at 0.1 s, \
             until at rest."],
        timed: false,
        run: figure_7,
    },
];

pub fn weightless(cloth: Cloth) -> Scene {
    Scene { gravity: DVec3::ZERO, cloth: vec![cloth], ..Scene::default() }
}

/// Shape error and signed volume of a cube.
fn shape(sim: &Sim) -> (f64, f64) {
    let wide = |x: &[Vec3]| x.iter().map(|x| x.as_dvec3()).collect::<Vec<DVec3>>();
    let (x, rest) = (wide(&sim.state().x), wide(&sim.model().rest_x));
    let pairs = (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b)));
    let squares: f64 =
        pairs.map(|(a, b)| (x[a].distance(x[b]) - rest[a].distance(rest[b])).powi(2)).sum();
    ((squares / 28.0).sqrt(), (x[1] - x[0]).cross(x[3] - x[0]).dot(x[4] - x[0]))
}

/// How a cube came back.
struct Recovery {
    /// Shape error over time.
    errors: Vec<(f64, f64)>,
    /// Signed volume at the end.
    volume: f64,
    /// At the start, in between and at the end.
    frames: Vec<Vec<Vec3>>,
}

impl Recovery {
    /// Shape error at the end.
    fn error(&self) -> f64 {
        self.errors.last().map_or(f64::NAN, |last| last.1)
    }
}

/// Lets a leaning cube go.
fn recover(lab: &Lab, cloth: Cloth) -> Result<Recovery, Failure> {
    lab.now("jelly cube")?;
    let mut sim = Sim::new(weightless(cloth).compile()?, preset("symplectic-euler")?)?;
    let (mut errors, mut frames) = (Vec::new(), vec![sim.state().x.clone()]);
    let steps = lab.pick(4000, 8000);
    for step in 0..steps {
        if step % 20 == 0 {
            errors.push((f64::from(step) * 0.01, shape(&sim).0));
        }
        if [20, 100].contains(&step) {
            frames.push(sim.state().x.clone());
        }
        sim.advance(0.01);
    }
    let (error, volume) = shape(&sim);
    errors.push((f64::from(steps) * 0.01, error));
    frames.push(sim.state().x.clone());
    Ok(Recovery { errors, volume, frames })
}

pub fn turning(law: TurningLaw) -> Turning {
    Turning { stiffness: 100.0, damping: 0.63, law, inertia: None }
}

const ANGLES: [f64; 5] = [30.0, 60.0, 85.0, 120.0, 170.0];

fn figure_2(lab: &Lab) -> Result<Finding, Failure> {
    let (mut rows, mut kept, mut mirrored, mut pictures) = (Vec::new(), Vec::new(), 0, Vec::new());
    for angle in ANGLES {
        let mut cells = vec![format!("{angle}°")];
        for springs in [12, 20, 28] {
            let cube = recover(lab, jelly(springs, angle))?;
            cells.extend([number(cube.error()), number(cube.volume)]);
            if springs == 12 {
                let leaning = format!(
                    "12 conventional springs, {angle}°: shape error at the end over that at the start"
                );
                kept.push(words::EXACT.check(leaning, cube.error() / cube.errors[0].1));
                if angle == 60.0 {
                    pictures = cube.frames;
                }
            }
            mirrored += u32::from(springs == 28 && cube.volume < -0.9);
        }
        rows.push(cells);
    }
    let model = weightless(jelly(12, 60.0)).compile()?;
    Ok(Finding::default()
        .claim(kept)
        .because(
            HOLDS,
            format!(
                "Twelve conventional springs leave the cube lying wherever it lies. Even \
                 all 28 do not always help: from {mirrored} of the {} angles they settle \
                 as the mirror image of the cube, which distances cannot tell apart.",
                ANGLES.len()
            ),
        )
        .picture(
            "12 conventional springs, leaning by 60°: start, 0.2 s, 1 s, end",
            &strip(&model, pictures.iter().map(Vec::as_slice), &pictures, None),
        )?
        .table(
            "Conventional springs: shape error and signed volume at the end",
            &["leaning by", "12: error", "volume", "20: error", "volume", "28: error", "volume"],
            rows,
        ))
}

fn figure_5(lab: &Lab) -> Result<Finding, Failure> {
    let (mut rows, mut worst, mut volumes, mut lines, mut pictures) =
        (Vec::new(), [0.0f64; 3], f64::INFINITY, Vec::new(), Vec::new());
    for angle in ANGLES {
        let mut cells = vec![format!("{angle}°")];
        for (i, (law, name)) in LAWS.into_iter().enumerate() {
            let cube = recover(lab, Cloth { turning: turning(law), ..jelly(3, angle) })?;
            cells.extend([number(cube.error()), number(cube.volume)]);
            (worst[i], volumes) = (worst[i].max(cube.error()), volumes.min(cube.volume));
            if angle == 120.0 {
                lines.push(series(name, cube.errors));
                pictures = cube.frames;
            }
        }
        rows.push(cells);
    }
    let model = weightless(jelly(3, 120.0)).compile()?;
    let check = |i: usize| {
        words::RECOVERS.check(format!("{} law: largest shape error left", LAWS[i].1), worst[i])
    };
    let upright = || words::EXACT.check("least signed volume of all (−1 = mirrored)", volumes);
    Ok(Finding::default()
        .claim([check(0), check(1), check(2), upright()])
        .condition("with a law that has stiffness at rest", [check(1), check(2), upright()])
        .because(
            HOLDS,
            format!(
                "From every angle the cube comes back, the right way round. With the \
                 printed law it creeps in the end (error {} against {} and {}), since K θ \
                 sin θ is quadratic at rest; K θ or K sin θ cure that.",
                number(worst[0]),
                number(worst[1]),
                number(worst[2])
            ),
        )
        .picture(
            "12 3D springs, leaning by 120°, sine law: start, 0.2 s, 1 s, end",
            &strip(&model, pictures.iter().map(Vec::as_slice), &pictures, None),
        )?
        .plot(&Plot {
            logarithmic: [false, true],
            ..curves("Shape error, leaning by 120°", "time [s]", "shape error", lines)
        })
        .table(
            "3D springs: shape error and signed volume at the end",
            &[
                "leaning by",
                "printed: error",
                "volume",
                "linear: error",
                "volume",
                "sine: error",
                "volume",
            ],
            rows,
        ))
}

const COLUMNS: usize = 13;
const ROWS: usize = 9;

/// Mean angle at the creases [°], and the share of creases on the right side.
fn creases(sim: &Sim) -> (f64, f64) {
    let x: Vec<DVec3> = sim.state().x.iter().map(|x| x.as_dvec3()).collect();
    let (mut angles, mut right, mut count) = (0.0, 0.0, 0.0);
    for row in 0..ROWS {
        let at = |c: usize| x[row * COLUMNS + c];
        let down = |c: usize| {
            x[(row + 1).min(ROWS - 1) * COLUMNS + c] - x[row.min(ROWS - 2) * COLUMNS + c]
        };
        for c in 1..COLUMNS - 1 {
            let (before, after) = (at(c - 1) - at(c), at(c + 1) - at(c));
            angles += before.angle_between(after).to_degrees();
            // Every other crease is a ridge; the first is one.
            let side = before.cross(after).dot(down(c));
            right += f64::from(u8::from((side > 0.0) == (c % 2 == 1)));
            count += 1.0;
        }
    }
    (angles / count, right / count)
}

/// The pleated sheet started flat: 3D springs, conventional ones with the lengths of the pleats, or flat ones.
fn pleats(kind: usize) -> Cloth {
    let flat = |i: usize| {
        // A hair out of the plane, as a perfectly flat sheet does not know which way to fold.
        let (c, r) = (i % COLUMNS, i / COLUMNS);
        dvec3(c as f64, 0.01 * (((i * 7) % 11) as f64 / 11.0 - 0.5), r as f64)
    };
    let (vertices, faces) = pleated(COLUMNS, ROWS, 1);
    let start: Vec<DVec3> = (0..vertices.len()).map(flat).collect();
    let even: Vec<DVec3> = start.iter().map(|v| dvec3(v.x, 0.0, v.z)).collect();
    let near = |a: usize, b: usize| {
        let (c, r) = ((a % COLUMNS).abs_diff(b % COLUMNS), (a / COLUMNS).abs_diff(b / COLUMNS));
        (c, r) == (1, 1) || (c, r) == (2, 0) || (c, r) == (0, 2)
    };
    let all = 0..vertices.len();
    let diagonals = all
        .clone()
        .flat_map(|a| all.clone().filter(move |b| a < *b && near(a, *b)).map(move |b| [a, b]))
        .collect();
    let mesh = Mesh {
        vertices: if kind == 2 { even.clone() } else { vertices },
        faces,
        edges: if kind == 0 { Vec::new() } else { diagonals },
        // A flat sheet has nothing to fold.
        start: if kind == 2 { even } else { start },
        ..Mesh::default()
    };
    Cloth {
        mesh: Some(mesh),
        springs: Springs { structural: 300.0, structural_damping: 1.0, ..Springs::default() },
        turning: Turning {
            stiffness: if kind == 0 { 100.0 } else { 0.0 },
            damping: 0.6,
            ..Turning::default()
        },
        particle_mass: Some(1.0),
        absolute_damping: 0.3,
        pins: vec![Pin { particles: vec![COLUMNS / 2], ..Pin::default() }],
        ..Cloth::default()
    }
}

fn figure_6(lab: &Lab) -> Result<Finding, Failure> {
    let names = ["3D springs", "conventional, lengths of the pleats", "conventional, flat"];
    let (mut rows, mut found, mut ends, mut model) = (Vec::new(), Vec::new(), Vec::new(), None);
    for (kind, name) in names.iter().enumerate() {
        // Hung along the rows.
        let scene = Scene { gravity: dvec3(0.0, 0.0, 0.1), ..weightless(pleats(kind)) };
        let mut sim = Sim::new(scene.compile()?, preset("symplectic-euler")?)?;
        for step in 0..lab.pick(3000, 6000) {
            if step % 200 == 0 {
                lab.now(name)?;
            }
            sim.advance(0.01);
        }
        let (angle, right) = creases(&sim);
        rows.push(row([(*name).into(), format!("{angle:.1}°"), percent(right)]));
        found.push((angle, right));
        // Rows hang down in the picture.
        let upright = |x: &Vec3| vec3(x.x, -x.z, x.y);
        ends.push(sim.state().x.iter().map(upright).collect::<Vec<_>>());
        model.get_or_insert(sim.model().clone());
    }
    let mut finding = Finding::default();
    if let Some(model) = model {
        let rest: Vec<Vec3> = model.rest_x.iter().map(|x| vec3(x.x, -x.z, x.y)).collect();
        let frames: Vec<Vec<Vec3>> = ends.clone();
        let image = strip(
            &muslin::Model { rest_x: rest, pins: Vec::new(), ..model },
            ends.iter().map(Vec::as_slice),
            &frames,
            None,
        );
        finding = finding.picture(
            "At the end: 3D springs; conventional springs with the lengths of the pleats; \
             conventional springs, flat",
            &image,
        )?;
    }
    let own = || {
        [
            words::EXACT.check("3D springs: mean angle at the creases over 90°", found[0].0 / 90.0),
            words::EXACT.check("3D springs: share of creases on the right side", found[0].1),
        ]
    };
    Ok(finding
        .claim(own())
        .claim([words::IMPOSSIBLE.check(
            "conventional springs with the lengths of the pleats: mean angle over 180°",
            found[1].0 / 180.0,
        )])
        .condition(
            "creases that know their side",
            own().into_iter().chain([
                words::UNDIRECTED.check(
                    "conventional, lengths of the pleats: creases on the right side [%]",
                    100.0 * found[1].1,
                ),
                words::IMPOSSIBLE
                    .check("conventional, flat: mean angle over 180°", found[2].0 / 180.0),
            ]),
        )
        .because(
            CONDITION,
            format!(
                "3D springs fold to {:.1}°, every crease on its side. “Impossible” is too \
                 strong: conventional springs with the lengths of the pleats fold too \
                 ({:.0}°), but {} of the creases point the right way, as lengths do not \
                 know sides.",
                found[0].0,
                found[1].0,
                percent(found[1].1)
            ),
        )
        .table("Creases", &["springs", "mean angle", "on the right side"], rows))
}

fn figure_7(lab: &Lab) -> Result<Finding, Failure> {
    let scene = scenes::named("jeong-bar")?;
    let mut sim = Sim::new(scene.compile()?, preset("implicit-euler")?)?;
    let (mut frames, mut lines) = (Vec::new(), [Vec::new(), Vec::new()]);
    let tip = |sim: &Sim, first: usize| {
        (first..first + 4)
            .map(|i| f64::from(sim.state().x[i].y - sim.model().rest_x[i].y) / 4.0)
            .sum::<f64>()
    };
    for step in 1..=600 {
        if step % 50 == 0 {
            lab.now("bar")?;
        }
        sim.advance(0.1);
        for (line, first) in lines.iter_mut().zip([40, 84]) {
            line.push((0.1 * f64::from(step), tip(&sim, first)));
        }
        if [10, 40, 600].contains(&step) {
            frames.push(sim.state().x.clone());
        }
    }
    let (turning, edges) = (tip(&sim, 40), tip(&sim, 84));
    let [first, second] = lines;
    Ok(Finding::default()
        .claim([
            words::HOLDS_ITSELF
                .check("how far the tip sinks, over that of a bar of edges only", turning / edges),
            words::AT_REST.check("speed at the end [m/s]", sim.measure().max_speed),
        ])
        .because(
            HOLDS,
            format!(
                "The tip comes to rest {} m lower; of edges only the bar hangs down like \
                 a rope, {} m.",
                number(-turning),
                number(-edges)
            ),
        )
        .picture(
            "After 1, 4 and 60 s: 3D springs, and edges only",
            &strip(sim.model(), frames.iter().map(Vec::as_slice), &frames, None),
        )?
        .plot(&curves(
            "Tip of the bar",
            "time [s]",
            "height [m]",
            vec![series("3D springs", first), series("edges only", second)],
        )))
}
