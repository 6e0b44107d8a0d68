//! Whether cloth hangs the same however finely it is divided, and however long the step is.
//!
//! A scene with some drag in still air is left alone for twelve seconds; then its lowest point and its
//! strain are those of the fabric, or of the method's error.

use super::strains;
use crate::failure::Failure;
use crate::page::plot::{Marks, Plot, Series};
use crate::page::standalone;
use crate::text::table;
use crate::threads::Threads;
use muslin::scene::Place;
use muslin::{DVec3, Method, Scene, Sim, scenes};
use serde::Serialize;

/// Drag that brings cloth to rest. [1/s]
const DRAG: f64 = 2.0;
const SECONDS: f64 = 12.0;

/// Methods on `hang`, and the largest size they are tried at.
const METHODS: &[(&str, usize)] = &[
    ("muslin", 320),
    ("multigrid", 160),
    ("implicit-euler", 80),
    ("desbrun-1999", 160),
    ("kim-2006", 160),
    ("xpbd", 160),
    ("meshless", 160),
];
const SIZES: &[usize] = &[20, 40, 80, 160, 320];
/// Other scenes, under the default method.
const OTHERS: &[&str] = &["curtain", "cantilever"];
/// Other steps at 40², under the default method: length of a frame and steps in it.
const STEPS: &[(f64, u32)] = &[(1.0 / 30.0, 1), (1.0 / 60.0, 2), (1.0 / 60.0, 4)];
/// Frames and steps in them otherwise.
const STEP: (f64, u32) = (1.0 / 60.0, 1);

/// Cells of a strip that two clamped columns take.
const CLAMPED: f64 = 2.0 / 3.0;

/// Cloth that hangs less far down than this is drawn here: it floats, and the axis is logarithmic. [m]
const FLOATS: f64 = 0.03;

/// One run.
pub struct Run {
    scene: &'static str,
    method: &'static str,
    size: usize,
    step: (f64, u32),
}

/// Where it came to rest.
#[derive(Clone, Debug, Serialize)]
pub struct Rest {
    scene: &'static str,
    method: &'static str,
    /// Particles along a side, of the first cloth's columns.
    size: usize,
    /// Length of a step. [s]
    step: f64,
    /// [m]
    lowest: f64,
    /// By area, not by count.
    p99_strain: f64,
    max_strain: f64,
    /// [m/s]
    max_speed: f64,
}

impl Run {
    /// Every run; `quick` leaves out large ones.
    pub fn all(quick: bool) -> Vec<Self> {
        let largest = if quick { 40 } else { usize::MAX };
        let mut runs = Vec::new();
        for &size in SIZES.iter().filter(|size| **size <= largest) {
            let methods = METHODS.iter().filter(|(_, most)| size <= *most);
            runs.extend(methods.map(|(method, _)| Self {
                scene: "hang",
                method,
                size,
                step: STEP,
            }));
            let others = OTHERS.iter();
            runs.extend(others.map(|scene| Self { scene, method: "muslin", size, step: STEP }));
        }
        for scene in std::iter::once("hang").chain(OTHERS.iter().copied()) {
            let steps = STEPS.iter();
            runs.extend(steps.map(|&step| Self { scene, method: "muslin", size: 40, step }));
        }
        runs
    }

    /// Name for the filter.
    pub fn name(&self) -> String {
        let Self { scene, method, size, step: (frame, steps) } = self;
        format!("resolution/{scene}/{size}/{method}/{:.0}", f64::from(*steps) / frame)
    }

    /// Runs it.
    pub fn measure(&self, threads: &Threads) -> Result<Rest, Failure> {
        let mut scene = scenes::named(self.scene)?;
        resize(&mut scene, self.size);
        scene.air.drag = DRAG;
        (scene.air.wind, scene.air.gust) = (DVec3::ZERO, DVec3::ZERO);
        let (frame, steps) = self.step;
        scene.substeps = steps;
        let mut sim = Sim::new(scene.compile()?, Method::preset(self.method)?)?;
        for _ in 0..(SECONDS / frame).round() as usize {
            threads.with(&mut sim, |sim| sim.advance(frame as f32));
        }
        let report = sim.measure();
        Ok(Rest {
            scene: self.scene,
            method: self.method,
            size: self.size,
            step: frame / f64::from(steps),
            lowest: report.lowest,
            p99_strain: strains::percentile_by_area(strains::with_areas(&sim), 99),
            max_strain: report.max_strain,
            max_speed: report.max_speed,
        })
    }
}

/// Divides the first cloth into `columns`, and its rows alike.
fn resize(scene: &mut Scene, columns: usize) {
    let cloth = &mut scene.cloth[0];
    let cells = (cloth.columns - 1) as f64;
    let shape = (cloth.rows - 1) as f64 / cells;
    let new = (columns - 1) as f64;
    cloth.rows = (new * shape).round().max(1.0) as usize + 1;
    // A strip clamped by two columns is free from a third of a cell before the second on. That length is
    // to stay, not the length with the clamp, and a narrow strip bends as its cells are: square.
    if cloth.pins.iter().any(|pin| pin.place == Some(Place::FirstTwoColumns)) {
        let cell = cloth.width / cells * (cells - CLAMPED) / (new - CLAMPED);
        (cloth.width, cloth.height) = (cell * new, cell * (cloth.rows - 1) as f64);
    }
    cloth.columns = columns;
}

/// One table per scene.
pub fn tables(all: &[Rest]) -> String {
    let mut text = String::new();
    let mut scenes: Vec<_> = all.iter().map(|rest| rest.scene).collect();
    scenes.sort_unstable();
    scenes.dedup();
    for scene in scenes {
        let head = ["method", "size", "steps/s", "lowest", "p99 strain", "max strain", "fastest"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let mut runs: Vec<_> = all.iter().filter(|rest| rest.scene == scene).collect();
        runs.sort_by_key(|rest| rest.method);
        for rest in runs {
            rows.push(vec![
                rest.method.to_owned(),
                rest.size.to_string(),
                format!("{:.0}", 1.0 / rest.step),
                format!("{:.4} m", rest.lowest),
                format!("{:.3} %", 100.0 * rest.p99_strain),
                format!("{:.1} %", 100.0 * rest.max_strain),
                format!("{:.3} m/s", rest.max_speed),
            ]);
        }
        let rows = table(&rows, |column| column > 0);
        text.push_str(&format!("\n{scene} at rest, after {SECONDS} s\n\n{rows}"));
    }
    text
}

/// As comma-separated values.
pub fn csv(all: &[Rest]) -> String {
    let head = "scene,method,size,step_s,lowest_m,p99_strain,max_strain,max_speed_m_s\n";
    let row = |r: &Rest| {
        let Rest { scene, method, size, step, lowest, p99_strain, max_strain, max_speed } = r;
        format!(
            "{scene},{method},{size},{step:.6},{lowest:.5},{p99_strain:.6},{max_strain:.6},{max_speed:.5}\n"
        )
    };
    head.to_owned() + &all.iter().map(row).collect::<String>()
}

/// Lowest point of `hang` by resolution, as an SVG file: one that stays level is one to trust.
pub fn plot(all: &[Rest]) -> String {
    let series = METHODS.iter().map(|(method, _)| {
        let runs = all.iter().filter(|rest| {
            (rest.scene, rest.method) == ("hang", *method) && (rest.step - STEP.0).abs() < 1e-9
        });
        let points = runs.map(|rest| (rest.size as f64, -rest.lowest.min(-FLOATS))).collect();
        Series { name: (*method).to_owned(), points }
    });
    let plot = Plot {
        title: "A 2 m cloth at rest: how far it hangs down, by particles along a side".to_owned(),
        x: "particles along a side".to_owned(),
        y: "m below the pins".to_owned(),
        marks: Marks::Dotted,
        logarithmic: [true, true],
        series: series.collect(),
    };
    standalone(&plot.svg_with_legend())
}
