//! Cost against quality: what a frame of `hang` costs, how much the cloth stretches, and whether it moves as it
//! should.
//!
//! Five seconds in frames of 1/60 s (the reference of large cloth: one). Strain is that of structural springs over
//! the last second. The lowest point after one second tells the time stepping: damped steps are late, soft cloth
//! overshoots. It is compared with symplectic Euler at steps so small that half of them give about the same.

use super::strains;
use crate::failure::Failure;
use crate::page::plot::{Marks, Plot, Series};
use crate::page::standalone;
use crate::record::Times;
use crate::text::{number, table};
use crate::threads::Threads;
use muslin::{Method, Sim, scenes};
use serde::Serialize;
use std::time::Instant;

/// Length of a frame. [s]
const FRAME: f32 = 1.0 / 60.0;
const FRAMES: usize = 300;
/// Frames in a second.
const SECOND: usize = 60;

/// One run.
pub struct Run {
    size: usize,
    way: Way,
}

/// A method, what is changed of it, and steps in a frame. Ways of one curve differ in what they spend.
#[derive(Clone, Copy)]
struct Way {
    curve: &'static str,
    name: &'static str,
    method: &'static str,
    substeps: u32,
    change: fn(&mut Method),
    smallest: usize,
    largest: usize,
    frames: usize,
}

const fn way(
    curve: &'static str,
    name: &'static str,
    method: &'static str,
    substeps: u32,
    largest: usize,
    change: fn(&mut Method),
) -> Way {
    Way { curve, name, method, substeps, change, smallest: 0, largest, frames: FRAMES }
}

/// The run the others are compared with.
const REFERENCE: Way = way("", "reference", "symplectic-euler", 400, 80, |_| {});

/// For large cloth, whose springs need smaller steps: the first second only, which takes minutes.
const LARGE_REFERENCE: Way = Way {
    smallest: 160,
    frames: SECOND,
    ..way("", REFERENCE.name, "symplectic-euler", 1600, 320, |_| {})
};

const MUSLIN: &str = "muslin";
const SMALL_STEPS: &str = "xpbd, small steps";
const TETHERED: &str = "xpbd, small steps, tethers";

/// Projected constraints are cheapest as many steps of two sweeps.
fn two_sweeps(method: &mut Method) {
    method.sweeps = 2;
}

fn two_sweeps_with_tethers(method: &mut Method) {
    two_sweeps(method);
    method.tethers = 1.0;
}

const WAYS: &[Way] = &[
    REFERENCE,
    LARGE_REFERENCE,
    way(MUSLIN, "muslin, 2 cycles", "muslin", 1, 160, |m| m.max_iterations = 2),
    way(MUSLIN, "muslin, 4 cycles", "muslin", 1, 320, |m| m.max_iterations = 4),
    way(MUSLIN, "muslin, 8 cycles", "muslin", 1, 320, |m| m.max_iterations = 8),
    way(MUSLIN, "muslin", "muslin", 1, 320, |_| {}),
    way(MUSLIN, "muslin, 2 steps", "muslin", 2, 160, |_| {}),
    way("multigrid", "multigrid", "multigrid", 1, 160, |_| {}),
    way("implicit-euler", "implicit-euler", "implicit-euler", 1, 80, |_| {}),
    way("kim-2006", "kim-2006", "kim-2006", 1, 160, |_| {}),
    way("xpbd", "xpbd", "xpbd", 1, 160, |_| {}),
    way(SMALL_STEPS, "xpbd, 10 small steps", "xpbd", 10, 160, two_sweeps),
    way(SMALL_STEPS, "xpbd, 20 small steps", "xpbd", 20, 160, two_sweeps),
    way(SMALL_STEPS, "xpbd, 40 small steps", "xpbd", 40, 80, two_sweeps),
    way(TETHERED, "xpbd, 3 small steps, tethers", "xpbd", 3, 160, two_sweeps_with_tethers),
    way(TETHERED, "xpbd, 4 small steps, tethers", "xpbd", 4, 160, two_sweeps_with_tethers),
    way(TETHERED, "xpbd, 5 small steps, tethers", "xpbd", 5, 320, two_sweeps_with_tethers),
    way(TETHERED, "xpbd, 8 small steps, tethers", "xpbd", 8, 160, two_sweeps_with_tethers),
    way(TETHERED, "xpbd, 10 small steps, tethers", "xpbd", 10, 320, two_sweeps_with_tethers),
    way(TETHERED, "xpbd, 20 small steps, tethers", "xpbd", 20, 160, two_sweeps_with_tethers),
    way(TETHERED, "xpbd, 30 small steps, tethers", "xpbd", 30, 160, two_sweeps_with_tethers),
    way(TETHERED, "xpbd, 40 small steps, tethers", "xpbd", 40, 80, two_sweeps_with_tethers),
    way(TETHERED, "xpbd, 60 small steps, tethers", "xpbd", 60, 80, two_sweeps_with_tethers),
];

/// Other engines on the same scene and one core of a machine of the kind in bench/, self-contact off: name,
/// size, ms per frame and p99 strain. Given to this project, not measured by this command.
const OTHERS: &[(&str, usize, f64, f64)] = &[
    ("Jolt 5, tethers", 32, 1.18, 0.0080),
    ("Jolt 5, tethers", 80, 7.4, 0.028),
    ("Jolt 5, tethers", 80, 14.7, 0.0110),
    ("Jolt 5, tethers", 80, 29.0, 0.0040),
    ("Jolt 5, tethers", 160, 68.0, 0.027),
    ("Jolt 5, tethers", 160, 133.0, 0.0107),
    ("Jolt 5, tethers", 320, 644.0, 0.045),
    ("NvCloth, tethers", 32, 0.40, 0.0074),
    ("NvCloth, tethers", 80, 2.7, 0.036),
    ("NvCloth, tethers", 80, 22.0, 0.0085),
    ("NvCloth, tethers", 160, 43.0, 0.035),
    ("NvCloth, tethers", 160, 94.0, 0.021),
    ("MuJoCo flex", 32, 11.0, 0.0017),
    ("MuJoCo flex", 80, 232.0, 0.0016),
    ("Blender", 32, 174.0, 0.0017),
    ("Bullet", 80, 50.0, 0.07),
    ("Bullet", 160, 179.0, 1.10),
];

/// Curves of the plot, then names of [`OTHERS`].
const SHOWN: &[&str] = &[MUSLIN, TETHERED, SMALL_STEPS, "Jolt 5, tethers", "NvCloth, tethers"];
const SHOWN_TOO: &[&str] = &["MuJoCo flex", "Bullet", "Blender"];

/// What a run gave.
#[derive(Clone, Debug, Serialize)]
pub struct Quality {
    size: usize,
    #[serde(skip)]
    curve: &'static str,
    way: &'static str,
    substeps: u32,
    ms_per_frame: Times,
    iterations_per_frame: f64,
    /// 99th percentile and largest, last second; `None` where it was not reached.
    p99_strain: Option<f64>,
    max_strain: Option<f64>,
    /// Lowest point after one second. [m]
    low: f64,
}

impl Run {
    /// Every run; `quick` leaves out large ones.
    pub fn all(quick: bool) -> Vec<Self> {
        let sizes = if quick { &[32][..] } else { &[32, 80, 160, 320] };
        let every = sizes.iter().flat_map(|&size| WAYS.iter().map(move |&way| Self { size, way }));
        every.filter(|run| (run.way.smallest..=run.way.largest).contains(&run.size)).collect()
    }

    /// Name for the filter.
    pub fn name(&self) -> String {
        format!("quality/hang/{}/{}", self.size, self.way.name)
    }

    /// Runs it.
    pub fn measure(&self, threads: &Threads) -> Result<Quality, Failure> {
        let mut scene = scenes::named("hang")?;
        scene.substeps = self.way.substeps;
        (scene.cloth[0].columns, scene.cloth[0].rows) = (self.size, self.size);
        let mut method = Method::preset(self.way.method)?;
        (self.way.change)(&mut method);
        let mut sim = Sim::new(scene.compile()?, method)?;
        let (mut ms, mut strains) = (Vec::new(), Vec::new());
        let (mut low, mut iterations) = (0.0, 0);
        for frame in 0..self.way.frames {
            let begun = Instant::now();
            let done = threads.with(&mut sim, |sim| sim.advance(FRAME));
            ms.push(1e3 * begun.elapsed().as_secs_f64());
            iterations += done.solver.iterations;
            let x = &sim.state().x;
            if frame + 1 == SECOND {
                low = f64::from(x.iter().map(|x| x.y).fold(f32::MAX, f32::min));
            }
            if frame + SECOND >= FRAMES {
                strains.extend(strains::of(&sim));
            }
        }
        let reached = !strains.is_empty();
        let max_strain = strains.iter().copied().map(f64::from).reduce(f64::max);
        Ok(Quality {
            size: self.size,
            curve: self.way.curve,
            way: self.way.name,
            substeps: self.way.substeps,
            ms_per_frame: Times::of(&ms),
            iterations_per_frame: f64::from(iterations) / self.way.frames as f64,
            p99_strain: reached.then(|| f64::from(strains::percentile(strains, 99))),
            max_strain,
            low,
        })
    }
}

/// The reference of a size.
fn reference(all: &[Quality], size: usize) -> Option<&Quality> {
    all.iter().find(|q| q.way == REFERENCE.name && q.size == size)
}

/// How far the lowest point after a second is off.
fn off(all: &[Quality], q: &Quality) -> Option<f64> {
    reference(all, q.size).map(|r| q.low / r.low - 1.0)
}

/// As comma-separated values.
pub fn csv(all: &[Quality]) -> String {
    let head = "scene,size,way,substeps,ms_per_frame,p99_strain,max_strain,lowest_after_1s_m,off\n";
    let row = |q: &Quality| {
        let Quality { size, way, substeps, p99_strain, max_strain, low, .. } = q;
        let ms = q.ms_per_frame.median;
        let off = off(all, q).map_or(String::new(), |off| format!("{off:.4}"));
        let [p99, max] = [p99_strain, max_strain]
            .map(|strain| strain.map_or(String::new(), |strain| format!("{strain:.6}")));
        format!("hang,{size},\"{way}\",{substeps},{ms:.3},{p99},{max},{low:.4},{off}\n")
    };
    head.to_owned() + &all.iter().map(row).collect::<String>()
}

/// Strain against cost at one size, as an SVG file.
pub fn plot(all: &[Quality], size: usize) -> String {
    let curve = |name: &&'static str| {
        let ours = all.iter().filter(|q| q.size == size && q.curve == *name);
        let ours = ours.filter_map(|q| Some((q.ms_per_frame.median, 100.0 * q.p99_strain?)));
        let others = OTHERS.iter().filter(|(other, at, ..)| other == name && *at == size);
        let mut points: Vec<_> = ours.chain(others.map(|o| (o.2, 100.0 * o.3))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: (*name).to_owned(), points }
    };
    let plot = Plot {
        title: format!("hang {size}²: strain against cost, one core"),
        x: "ms per frame".to_owned(),
        y: "p99 strain [%]".to_owned(),
        marks: Marks::Dotted,
        logarithmic: [true, true],
        series: SHOWN.iter().chain(SHOWN_TOO).map(curve).collect(),
    };
    standalone(&plot.svg_with_legend())
}

/// Sizes of some runs.
pub fn sizes(runs: &[Run]) -> Vec<usize> {
    runs.chunk_by(|a, b| a.size == b.size).map(|block| block[0].size).collect()
}

/// One table per size.
pub fn tables(all: &[Quality]) -> String {
    let mut text = String::new();
    for block in all.chunk_by(|a, b| a.size == b.size) {
        let head = [
            "way",
            "steps",
            "ms/frame",
            "iterations",
            "p99 strain",
            "max strain",
            "low 1 s",
            "off",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for q in block {
            rows.push(vec![
                q.way.to_owned(),
                q.substeps.to_string(),
                number(q.ms_per_frame.median),
                number(q.iterations_per_frame),
                q.p99_strain.map_or(String::new(), |strain| format!("{:.2} %", 100.0 * strain)),
                q.max_strain.map_or(String::new(), |strain| format!("{:.1} %", 100.0 * strain)),
                format!("{:.3}", q.low),
                off(all, q).map_or(String::new(), |off| format!("{:+.1} %", 100.0 * off)),
            ]);
        }
        let size = block[0].size;
        let rows = table(&rows, |column| column > 0);
        text.push_str(&format!("\nhang {size}², 5 s in frames of 1/60 s\n\n{rows}"));
    }
    text
}
