//! Kim 2006: Figures 2, 3 and 4.

use super::kang_cho_limits::kang_cho;
use super::lab::*;
use crate::failure::Failure;
use glam::Vec3;
use muslin::solvers::{Jacobian, Preconditioner, WeakSprings};
use muslin::{Method, Scene, Sim, State, scenes};

pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "kim-figure-4",
        title: "Figure 4: nine ways to let a sheet fall",
        claim: "The near-explicit method is stable with one, two and four sweeps and becomes \
         similar to the implicit method as their number grows; Kang's second method is \
         unstable with an odd number of sweeps; Kang's first and Desbrun's methods are \
         much more damped.",
        setup: &[
            "80×80 unit masses (quick: 40×40), type 1 springs k = 50, type 2 k = 0.1, Δt \
             = 0.25, g = 0.03, as printed; two corners of one edge held, started flat.",
            "Assumed: unit spacing; type 1 = the eight neighbours at distance 1, type 2 = \
             the same directions at distance 2; the damping 0.05 is a force −d v; type 2 \
             springs are out of the Jacobian.",
            "Implicit: Choi & Ko's asymmetric springs, conjugate gradients to a residual \
             of 1e-6. Jacobi sweeps are counted from zero.",
            "Artificial damping: how much higher than the implicit one the lowest point \
             is in the middle of the fall.",
            "Cost: least of several rounds of steps from the same falling state, in \
             multiples of a symplectic Euler step of that run. It takes no part in the \
             verdict.",
        ],
        timed: false,
        run: figure_4,
    },
    Experiment {
        id: "kim-figure-2",
        title: "Figure 2: Kang's second method breaks up at the pins",
        claim: "With two Jacobi iterations and the conditions of Figure 4, Kang's second method \
         becomes unstable beginning from the anchored corner points.",
        setup: &[
            "As Figure 4, 80×80 (quick: 700 steps); then the same with k = 1000.",
            "Where it begins: the first particle that is more than twice as fast as any \
             particle of the implicit method ever gets, within five cells of a pin or \
             not.",
        ],
        timed: false,
        run: figure_2,
    },
    Experiment {
        id: "kim-figure-3",
        title: "Figure 3: the stiff drape with six sweeps",
        claim: "With k = 1000 and six sweeps the method works similar to the implicit method, \
         except that the velocity is slightly slow.",
        setup: &[
            "As Figure 4 with k = 1000 (κ = 62.5). Implicit: Choi & Ko, conjugate \
             gradients to 1e-3.",
            "Lag: how much higher than the implicit one the lowest point is in the middle \
             of the fall.",
        ],
        timed: false,
        run: figure_3,
    },
    Experiment {
        id: "kim-figure-3-cost",
        title: "Figure 3: four times as fast as the implicit method",
        claim: "The method is four times as fast as the implicit method in this example (45 ms \
         against 200 ms per step).",
        setup: &[
            "Steps of both from the same state in the middle of the fall of Figure 3, \
             least of several rounds in which all take turns, one thread.",
            "The paper says neither how its conjugate gradients were preconditioned nor \
             where they stopped: here without and with block Jacobi, to 1e-3 and 1e-6.",
        ],
        timed: true,
        run: figure_3_cost,
    },
];

/// Kim's net of `n` × `n` unit masses with this stiffness of type 1 springs.
pub fn net(type1: f64, n: usize) -> Result<Scene, Failure> {
    let mut scene = scenes::named("kim-2006-fall")?;
    let cloth = &mut scene.cloth[0];
    cloth.springs.type1 = type1;
    (cloth.columns, cloth.rows) = (n, n);
    (cloth.width, cloth.height) = ((n - 1) as f64, (n - 1) as f64);
    Ok(scene)
}

/// Kim's method with η sweeps.
pub fn kim(sweeps: u32) -> Result<Method, Failure> {
    Ok(Method { sweeps, ..preset("kim-2006")? })
}

/// Choi & Ko with type 2 springs out of the Jacobian, as Kim compares with.
pub fn choi(tolerance: f64) -> Result<Method, Failure> {
    let method = preset("choi-ko-2002")?;
    Ok(Method { weak_springs: WeakSprings::Explicit, tolerance, ..method })
}

/// Particles along a side, the step in the middle of the fall, and all steps.
pub fn size(lab: &Lab) -> (usize, u32, u32) {
    lab.pick((40, 340, 1000), (80, 600, 2000))
}

/// What Figure 4 compares; those without a letter are not in it.
fn settings() -> Result<Vec<(&'static str, Method)>, Failure> {
    Ok(vec![
        ("(a) Kim, η = 1", kim(1)?),
        ("(b) Kim, η = 2", kim(2)?),
        ("(c) Kim, η = 4", kim(4)?),
        ("(d) Choi & Ko, implicit", choi(1e-6)?),
        ("(e) Kang & Cho, 1 sweep", kang_cho(1)?),
        ("(f) Kang & Cho, 3 sweeps", kang_cho(3)?),
        ("(g) Kang & Cho, 4 sweeps", kang_cho(4)?),
        ("(h) Kang 2000", preset("kang-2000")?),
        ("(i) Desbrun 1999", preset("desbrun-1999")?),
        ("Kim, η = 6", kim(6)?),
        ("Kim, η = 10", kim(10)?),
        ("Kang & Cho, 2 sweeps (Eq. 20)", kang_cho(2)?),
        ("symplectic Euler", preset("symplectic-euler")?),
    ])
}

/// Steps from the same state: milliseconds of each method. Explicit ones get a step they can stand.
fn costs(lab: &Lab, scene: &Scene, methods: &[Method], from: &State) -> Result<Vec<f64>, Failure> {
    let mut sims = Vec::new();
    for method in methods {
        let mut sim = Sim::new(scene.compile()?, method.clone())?;
        sim.restore(from)?;
        let h = if method.id == "symplectic-euler" { 1e-3 } else { scene.dt as f32 };
        sims.push((sim, h));
    }
    lab.times(&mut sims, lab.pick(2, 4), lab.pick(4, 30))
}

/// A state in the middle of the fall.
fn falling(lab: &Lab, scene: &Scene, steps: u32) -> Result<State, Failure> {
    let mut sim = Sim::new(scene.compile()?, kim(6)?)?;
    for step in 0..steps {
        if step % 64 == 0 {
            lab.now("falling")?;
        }
        sim.advance(scene.dt as f32);
    }
    Ok(sim.state().clone())
}

/// The runs of Figure 4 and what a step of each costs.
struct Panel {
    scene: Scene,
    settings: Vec<(&'static str, Method)>,
    falls: Vec<Fall>,
    ms: Vec<f64>,
    middle: u32,
    steps: u32,
}

impl Panel {
    fn new(lab: &Lab) -> Result<Self, Failure> {
        let (n, middle, steps) = size(lab);
        let (scene, settings) = (net(50.0, n)?, settings()?);
        let frames = Self::frames(middle, steps);
        let mut falls = Vec::new();
        for (_, method) in &settings {
            falls.push(lab.fall(&scene, method, steps, &frames)?);
        }
        let methods: Vec<Method> = settings.iter().map(|(_, method)| method.clone()).collect();
        let ms = costs(lab, &scene, &methods, &falling(lab, &scene, middle)?)?;
        Ok(Self { scene, settings, falls, ms, middle, steps })
    }

    fn frames(middle: u32, steps: u32) -> [u32; 4] {
        [middle / 4, middle / 2, middle, steps]
    }

    /// The first setting whose name contains this.
    fn of(&self, name: &str) -> usize {
        self.settings.iter().position(|(label, _)| label.contains(name)).unwrap_or(0)
    }

    /// How much higher than the implicit method's the lowest point is mid-fall, as a share.
    fn behind(&self, name: &str) -> f64 {
        let low = |name: &str| self.falls[self.of(name)].low(self.middle);
        1.0 - low(name) / low("implicit")
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let explicit = self.ms[self.of("symplectic")];
        let line = |i: usize| {
            let (name, fall) = (self.settings[i].0, &self.falls[i]);
            let if_sound = |text: String| if fall.is_sound() { text } else { "–".into() };
            row([
                name.into(),
                fall.soundness(),
                if_sound(number(fall.low(self.middle))),
                if_sound(percent(self.behind(name))),
                if_sound(number(fall.low(self.steps))),
                if_sound(number(fall.max_speed)),
                if_sound(number(fall.last_kinetic())),
                number(self.ms[i]),
                number(self.ms[i] / explicit),
            ])
        };
        (0..self.settings.len()).map(line).collect()
    }

    fn checks(&self) -> Vec<Check> {
        let kims = ["Kim, η = 1", "Kim, η = 2", "Kim, η = 4", "Kim, η = 6", "Kim, η = 10"];
        let is_stable = |name: &str| {
            self.falls[self.of(name)].is_stable_beside(&self.falls[self.of("implicit")])
        };
        let stable = |name: &str| words::STABLE.yes(format!("{name} is stable"), is_stable(name));
        let unstable = |name: &str| words::STABLE.no(format!("{name} is stable"), is_stable(name));
        let similar = |name: &str| {
            let what = format!("{name}: how far it falls, over the implicit method");
            words::SIMILAR.check(what, 1.0 - self.behind(name))
        };
        let damped = |name: &str| {
            let what = format!("{name}: how far it is behind, over Kim, η = 1");
            words::MUCH_LESS_DAMPING.check(what, self.behind(name) / self.behind("Kim, η = 1"))
        };
        let lags: Vec<f64> = kims.iter().map(|name| self.behind(name)).collect();
        let is_ordered = lags.windows(2).all(|pair| pair[0] > pair[1]) && lags[4] > 0.0;
        let mut checks: Vec<Check> = kims.into_iter().map(stable).collect();
        checks.extend(kims.into_iter().map(similar));
        checks.extend([
            Check::yes("every further sweep falls more like the implicit method", is_ordered),
            unstable("Kang & Cho, 1 sweep"),
            unstable("Kang & Cho, 3 sweeps"),
            unstable("symplectic Euler"),
            damped("Kang 2000"),
            damped("Desbrun 1999"),
        ]);
        checks
    }

    /// The nine settings of the figure, all seen from the same place.
    fn pictures(&self, mut finding: Finding) -> Result<Finding, Failure> {
        let model = self.scene.compile()?;
        let sound = self.falls.iter().filter(|fall| fall.is_sound());
        let seen: Vec<&[Vec3]> = sound.flat_map(|f| f.frames.iter().map(Vec::as_slice)).collect();
        let steps = Self::frames(self.middle, self.steps).map(|step| step.to_string()).join(", ");
        for ((name, _), fall) in self.settings.iter().zip(&self.falls).take(9) {
            let caption = match fall.diverged_at {
                Some(step) => format!("{name}: where it blows up, step {step}"),
                None => format!("{name}: steps {steps}"),
            };
            let image = strip(&model, seen.iter().copied(), &fall.frames, None);
            finding = finding.picture(caption, &image)?;
        }
        Ok(finding)
    }
}

fn figure_4(lab: &Lab) -> Result<Finding, Failure> {
    let panel = Panel::new(lab)?;
    let curve = |i: usize| panel.falls[i].curve(panel.settings[i].0, panel.scene.dt);
    let sound = (0..9).filter(|i| panel.falls[*i].is_sound());
    let finding = Finding::default().claim(panel.checks()).because(
        HOLDS,
        format!(
            "All of Figure 4 is as the paper says. In the middle of the fall one sweep of Kim's \
             is {} behind the implicit method and six are {}; Kang's first method is {} behind, \
             Desbrun's {}.",
            percent(panel.behind("Kim, η = 1")),
            percent(panel.behind("Kim, η = 6")),
            percent(panel.behind("Kang 2000")),
            percent(panel.behind("Desbrun"))
        ),
    );
    let lines = sound.map(curve).collect();
    let head = [
        "setting",
        "bounded",
        "lowest mid-fall",
        "behind implicit",
        "lowest at the end",
        "fastest",
        "kinetic energy at the end",
        "ms/step",
        "cost (explicit = 1)",
    ];
    let caption = format!("{} steps; mid-fall is step {}", panel.steps, panel.middle);
    Ok(panel
        .pictures(finding)?
        .plot(&curves("Lowest point of the falling sheet", "time", "height", lines))
        .table(&caption, &head, panel.rows()))
}

/// Whether the first particle that is too fast for a stable method is within five cells of a pin; `None` if none is.
fn breaks_at_a_pin(fall: &Fall, calm: &Fall, n: usize) -> Option<bool> {
    let is_too_fast = |speed: f64| !words::STABLE.fits(speed / calm.max_speed);
    let (_, first) = fall.fastest.iter().find(|(speed, _)| is_too_fast(*speed))?;
    Some(first / n <= 5 && (first % n <= 5 || first % n + 6 >= n))
}

fn figure_2(lab: &Lab) -> Result<Finding, Failure> {
    // As large as printed also in a quick run: the weight that stretches the corners is the point.
    let (n, steps) = (80, lab.pick(700, 2000));
    let frames = [steps / 4, steps / 2, steps];
    let (soft, stiff) = (net(50.0, n)?, net(1000.0, n)?);
    let psd = Method { jacobian: Jacobian::Psd, ..kang_cho(2)? };
    let calm = lab.fall(&soft, &choi(1e-3)?, steps, &[])?;
    let kang = lab.fall(&soft, &kang_cho(2)?, steps, &frames)?;
    let broken = lab.fall(&stiff, &kang_cho(2)?, steps, &[])?;
    let cured = lab.fall(&stiff, &psd, steps, &[])?;
    let runs = [
        ("k = 50, implicit", &calm),
        ("k = 50, Kang & Cho", &kang),
        ("k = 1000, Kang & Cho", &broken),
        ("k = 1000, same with the stretched part of the Jacobian", &cured),
    ];
    let rows = runs.map(|(name, fall)| {
        let place = match breaks_at_a_pin(fall, &calm, n) {
            None => "nowhere",
            Some(true) => "at a pin",
            Some(false) => "elsewhere",
        };
        row([
            name.into(),
            fall.soundness(),
            number(fall.max_speed),
            number(fall.last_kinetic()),
            place.into(),
        ])
    });
    let at_pin = |name: &str, fall: &Fall| {
        Check::yes(
            format!("{name}: what is too fast first is at a pin"),
            breaks_at_a_pin(fall, &calm, n) == Some(true),
        )
    };
    let model = soft.compile()?;
    let seen = kang.frames.iter().map(Vec::as_slice);
    Ok(Finding::default()
        .claim([
            words::STABLE.no("k = 50: it is stable", kang.is_stable_beside(&calm)),
            at_pin("k = 50", &kang),
        ])
        .condition(
            "where springs are stretched more",
            [
                Check::no("k = 1000: it stays bounded", broken.is_sound()),
                at_pin("k = 1000", &broken),
                Check::yes(
                    "k = 1000: it does with the stretched part of the Jacobian",
                    cured.is_sound(),
                ),
            ],
        )
        .because(
            HOLDS,
            format!(
                "At k = 50 the sheet gets restless around the pins, {} times as fast as \
                 the implicit method ever is. That is not stable like an implicit method, \
                 but bounded: {steps} steps do not tear it, as they do at k = 1000, from \
                 step {} on. The cause is the one the paper names: Eq. 12 leaves out the \
                 stiffness of stretched springs.",
                number(kang.max_speed / calm.max_speed),
                broken.diverged_at.unwrap_or(0)
            ),
        )
        .picture(
            format!(
                "k = 50, Kang & Cho with two sweeps: steps {}. Coloured by strain, full \
                 scale 50 %",
                frames.map(|s| s.to_string()).join(", ")
            ),
            &strip(&model, seen, &kang.frames, Some(0.5)),
        )?
        .table(
            &format!("{n}×{n}, {steps} steps"),
            &["run", "bounded", "fastest", "kinetic energy at the end", "too fast first"],
            rows.to_vec(),
        ))
}

fn figure_3(lab: &Lab) -> Result<Finding, Failure> {
    let (n, middle, steps) = size(lab);
    let scene = net(1000.0, n)?;
    let frames = [middle / 4, middle / 2, middle, steps];
    let implicit = lab.fall(&scene, &choi(1e-3)?, steps, &frames)?;
    let six = lab.fall(&scene, &kim(6)?, steps, &frames)?;
    let ten = lab.fall(&scene, &kim(10)?, steps, &[])?;
    let late = |fall: &Fall| 1.0 - fall.low(middle) / implicit.low(middle);
    let rows = [("Choi & Ko, implicit", &implicit), ("Kim, η = 10", &ten), ("Kim, η = 6", &six)]
        .map(|(name, fall)| {
            row([
                name.into(),
                fall.soundness(),
                percent(fall.max_strain),
                number(fall.low(middle)),
                percent(late(fall)),
                number(fall.low(steps)),
                number(fall.max_speed),
            ])
        });
    let model = scene.compile()?;
    let seen = || implicit.frames.iter().chain(&six.frames).map(Vec::as_slice);
    let caption = |name: &str| {
        format!(
            "{name}: steps {}. Coloured by strain, full scale 2 %",
            frames.map(|s| s.to_string()).join(", ")
        )
    };
    Ok(Finding::default()
        .claim([
            words::STABLE.yes("six sweeps are stable", six.is_stable_beside(&implicit)),
            words::ELONGATION.check("largest strain with six sweeps [%]", 100.0 * six.max_strain),
            words::EXACT.check(
                "lowest point at the end, over that of the implicit method",
                six.low(steps) / implicit.low(steps),
            ),
            words::SLIGHTLY_SLOW.check(
                "how far it has fallen mid-fall, over the implicit method",
                1.0 - late(&six),
            ),
        ])
        .because(
            HOLDS,
            format!(
                "Both end in the same place; on the way six sweeps are {} behind and \
                 stretch by {} at most, the implicit method by {}.",
                percent(late(&six)),
                percent(six.max_strain),
                percent(implicit.max_strain)
            ),
        )
        .picture(caption("Choi & Ko"), &strip(&model, seen(), &implicit.frames, Some(0.02)))?
        .picture(caption("Kim, η = 6"), &strip(&model, seen(), &six.frames, Some(0.02)))?
        .plot(&curves(
            "Lowest point",
            "time",
            "height",
            vec![
                implicit.curve("implicit", scene.dt),
                six.curve("Kim, η = 6", scene.dt),
                ten.curve("Kim, η = 10", scene.dt),
            ],
        ))
        .table(
            &format!("{n}×{n}, {steps} steps; mid-fall is step {middle}"),
            &[
                "method",
                "bounded",
                "largest strain",
                "lowest mid-fall",
                "behind",
                "lowest at the end",
                "fastest",
            ],
            rows.to_vec(),
        ))
}

fn figure_3_cost(lab: &Lab) -> Result<Finding, Failure> {
    let (n, middle, _) = size(lab);
    let scene = net(1000.0, n)?;
    let plain = |tolerance| {
        Ok::<_, Failure>(Method { preconditioner: Preconditioner::None, ..choi(tolerance)? })
    };
    let methods = [kim(6)?, plain(1e-3)?, choi(1e-3)?, plain(1e-6)?, choi(1e-6)?];
    let names = [
        "Kim, η = 6",
        "implicit, 1e-3, no preconditioner",
        "implicit, 1e-3, block Jacobi",
        "implicit, 1e-6, no preconditioner",
        "implicit, 1e-6, block Jacobi",
    ];
    let ms = costs(lab, &scene, &methods, &falling(lab, &scene, middle)?)?;
    let rows = names
        .iter()
        .zip(&ms)
        .map(|(name, ms_each)| row([(*name).into(), number(*ms_each), number(ms_each / ms[0])]));
    let rows = rows
        .chain([
            row(["printed: Kim, η = 6".into(), "45".into(), "1".into()]),
            row(["printed: implicit".into(), "200".into(), "4.44".into()]),
        ])
        .collect();
    let check =
        |i: usize| words::FOUR_TIMES.check(format!("{}, in Kim steps", names[i]), ms[i] / ms[0]);
    Ok(Finding::default()
        .claim((1..5).map(check))
        .condition(
            "against an implicit method solved to 1e-6, or not preconditioned",
            [check(3), check(4)],
        )
        .because(
            HOLDS,
            format!(
                "An implicit step costs {} to {} of Kim's, by how it is solved.",
                number(ms[1].min(ms[2]) / ms[0]),
                number(ms[3].max(ms[4]) / ms[0])
            ),
        )
        .because(
            CONDITION,
            format!(
                "It depends on the implicit method: {} Kim steps without preconditioner \
                 to 1e-3, {} with block Jacobi, {} and {} to 1e-6.",
                number(ms[1] / ms[0]),
                number(ms[2] / ms[0]),
                number(ms[3] / ms[0]),
                number(ms[4] / ms[0])
            ),
        )
        .table(
            &format!("{n}×{n}, k = 1000, a step in mid-fall"),
            &["method", "ms/step", "in Kim steps"],
            rows,
        ))
}
