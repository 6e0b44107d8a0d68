//! Cost against quality: what a frame of `hang` costs, how much the cloth stretches, and whether it moves as it
//! should.
//!
//! Five seconds in frames of 1/60 s. Strain is that of structural springs over the last second. The
//! lowest point after one second tells the time stepping: damped steps are late, soft cloth overshoots.
//! It is compared with symplectic Euler at steps so small that half of them give the same.

use super::strains;
use crate::failure::Failure;
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

/// A method, what is changed of it, and steps in a frame.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    method: &'static str,
    substeps: u32,
    change: fn(&mut Method),
    largest: usize,
}

/// The run the others are compared with.
const REFERENCE: Way = Way {
    name: "reference",
    method: "symplectic-euler",
    substeps: 400,
    change: |_| {},
    largest: 80,
};

const WAYS: &[Way] = &[
    REFERENCE,
    Way { name: "muslin", method: "muslin", substeps: 1, change: |_| {}, largest: 320 },
    Way { name: "muslin, 2 steps", method: "muslin", substeps: 2, change: |_| {}, largest: 320 },
    Way {
        name: "muslin, 8 cycles",
        method: "muslin",
        substeps: 1,
        change: |m| m.max_iterations = 8,
        largest: 160,
    },
    Way { name: "multigrid", method: "multigrid", substeps: 1, change: |_| {}, largest: 160 },
    Way {
        name: "implicit-euler",
        method: "implicit-euler",
        substeps: 1,
        change: |_| {},
        largest: 80,
    },
    Way { name: "kim-2006", method: "kim-2006", substeps: 1, change: |_| {}, largest: 160 },
    Way { name: "xpbd", method: "xpbd", substeps: 1, change: |_| {}, largest: 160 },
    Way {
        name: "xpbd, 20 small steps",
        method: "xpbd",
        substeps: 20,
        change: |m| m.sweeps = 1,
        largest: 160,
    },
];

/// What a run gave.
#[derive(Clone, Debug, Serialize)]
pub struct Quality {
    size: usize,
    way: &'static str,
    substeps: u32,
    ms_per_frame: Times,
    iterations_per_frame: f64,
    /// 99th percentile and largest, last second.
    p99_strain: f64,
    max_strain: f64,
    /// Lowest point after one second. [m]
    low: f64,
}

impl Run {
    /// Every run; `quick` leaves out large ones.
    pub fn all(quick: bool) -> Vec<Self> {
        let sizes = if quick { &[32][..] } else { &[32, 80, 160, 320] };
        let every = sizes.iter().flat_map(|&size| WAYS.iter().map(move |&way| Self { size, way }));
        every.filter(|run| run.size <= run.way.largest).collect()
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
        for frame in 0..FRAMES {
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
        let max_strain = strains.iter().copied().fold(0.0, f32::max);
        Ok(Quality {
            size: self.size,
            way: self.way.name,
            substeps: self.way.substeps,
            ms_per_frame: Times::of(&ms),
            iterations_per_frame: f64::from(iterations) / FRAMES as f64,
            p99_strain: f64::from(strains::percentile(strains, 99)),
            max_strain: f64::from(max_strain),
            low,
        })
    }
}

/// As comma-separated values.
pub fn csv(all: &[Quality]) -> String {
    let head = "scene,size,way,substeps,ms_per_frame,p99_strain,max_strain,lowest_after_1s_m\n";
    let row = |q: &Quality| {
        let Quality { size, way, substeps, p99_strain, max_strain, low, .. } = q;
        let ms = q.ms_per_frame.median;
        format!(
            "hang,{size},\"{way}\",{substeps},{ms:.3},{p99_strain:.6},{max_strain:.6},{low:.4}\n"
        )
    };
    head.to_owned() + &all.iter().map(row).collect::<String>()
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
        let reference = all.iter().rfind(|q| q.way == REFERENCE.name && q.size <= block[0].size);
        for q in block {
            let off = |r: &Quality| format!("{:+.1} %", 100.0 * (q.low / r.low - 1.0));
            rows.push(vec![
                q.way.to_owned(),
                q.substeps.to_string(),
                number(q.ms_per_frame.median),
                number(q.iterations_per_frame),
                format!("{:.2} %", 100.0 * q.p99_strain),
                format!("{:.1} %", 100.0 * q.max_strain),
                format!("{:.3}", q.low),
                reference.map_or(String::new(), off),
            ]);
        }
        let size = block[0].size;
        let rows = table(&rows, |column| column > 0);
        text.push_str(&format!("\nhang {size}², 5 s in frames of 1/60 s\n\n{rows}"));
    }
    text
}
