//! What a run measured, frame by frame, and the report made of it.

use crate::machine::Machine;
use muslin::{Method, Model, Report, Warning};
use serde::Serialize;

/// Times of one frame. [ms]
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Times {
    /// Half of the frames took less.
    pub median: f64,
    /// 95 % of the frames took less.
    pub p95: f64,
    /// The fastest.
    pub min: f64,
}

impl Times {
    /// Of a list of milliseconds.
    pub fn of(milliseconds: &[f64]) -> Self {
        let mut sorted = milliseconds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let index = (share * sorted.len() as f64) as usize;
            sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
        };
        Self { median: at(0.5), p95: at(0.95), min: at(0.0) }
    }
}

/// Energies over the frames, the start included. [J]
#[derive(Clone, Debug, Default, Serialize)]
pub struct EnergySeries {
    /// ½ Σ m v².
    pub kinetic: Vec<f64>,
    /// Springs and hinges.
    pub elastic: Vec<f64>,
    /// −Σ m g·x.
    pub gravity: Vec<f64>,
    /// The sum.
    pub total: Vec<f64>,
}

/// Strain of structural edges over the frames, the start included.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StrainSeries {
    /// The most stretched edge.
    pub max: Vec<f64>,
    /// The mean over all edges.
    pub mean: Vec<f64>,
}

/// What the solver did in each frame.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SolverSeries {
    /// Sweeps or iterations, summed over substeps.
    pub iterations: Vec<u32>,
    /// Relative residual of the last solve; null where there is no system.
    pub residual: Vec<Option<f64>>,
    /// Root mean square strain of what the last solve left; null where the solver has no estimate.
    pub strain_left: Vec<Option<f64>>,
    /// Particles that tethers moved; left out where there are none.
    #[serde(skip_serializing_if = "never")]
    pub tethered: Vec<usize>,
    /// Springs that the strain limit made shorter; left out where there is none.
    #[serde(skip_serializing_if = "never")]
    pub limited: Vec<usize>,
}

/// Whether something never happened.
fn never(counts: &[usize]) -> bool {
    counts.iter().all(|count| *count == 0)
}

/// A warning and how often it came.
#[derive(Clone, Debug, Serialize)]
pub struct WarningCount {
    /// Which one.
    pub kind: Warning,
    /// In how many frames.
    pub frames: usize,
    /// What to do.
    pub remedy: &'static str,
}

/// Everything measured along the way.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Record {
    /// Simulated time, the start included. [s]
    pub time: Vec<f64>,
    /// Energies.
    pub energy: EnergySeries,
    /// Strains.
    pub strain: StrainSeries,
    /// Σ m v. [kg·m/s]
    pub momentum: Vec<[f64; 3]>,
    /// Σ x × m v about the origin. [kg·m²/s]
    pub angular_momentum: Vec<[f64; 3]>,
    /// Lowest particle. [m]
    pub lowest: Vec<f64>,
    /// Fastest particle. [m/s]
    pub max_speed: Vec<f64>,
    /// Contacts of particles with bodies.
    pub contacts: Vec<usize>,
    /// Contacts of cloth with cloth.
    pub self_contacts: Vec<usize>,
    /// Particles that self-contact stopped on their way, over all substeps of a frame.
    pub stopped: Vec<usize>,
    /// Pairs of triangles that cross at the start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entangled: Vec<[u32; 2]>,
    /// The solver.
    pub solver: SolverSeries,
    /// Distance of each step from the converged one, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub converged_error: Vec<f64>,
    #[serde(skip)]
    warnings: [usize; Warning::ALL.len()],
}

impl Record {
    /// Adds the state before the first frame.
    pub fn start(&mut self, report: &Report) {
        self.state(report);
    }

    /// Adds a frame.
    pub fn frame(&mut self, report: &Report) {
        self.state(report);
        self.solver.iterations.push(report.solver.iterations);
        self.solver.residual.push(report.solver.residual);
        self.solver.strain_left.push(report.solver.strain_left);
        self.solver.tethered.push(report.solver.tethered);
        self.solver.limited.push(report.solver.limited);
        self.converged_error.extend(report.converged_error);
        self.warn(report.warnings);
    }

    /// Adds the state after a frame.
    pub fn state(&mut self, report: &Report) {
        self.time.push(report.time);
        self.energy.kinetic.push(report.energy.kinetic);
        self.energy.elastic.push(report.energy.elastic);
        self.energy.gravity.push(report.energy.gravity);
        self.energy.total.push(report.energy.total);
        self.strain.max.push(report.max_strain);
        self.strain.mean.push(report.mean_strain);
        self.momentum.push(report.momentum.to_array());
        self.angular_momentum.push(report.angular_momentum.to_array());
        self.lowest.push(report.lowest);
        self.max_speed.push(report.max_speed);
        self.contacts.push(report.contacts);
        self.self_contacts.push(report.self_contact.contacts);
        self.stopped.push(report.self_contact.stopped);
    }

    /// Counts the warnings of a frame.
    pub fn warn(&mut self, warnings: muslin::Warnings) {
        for (count, kind) in self.warnings.iter_mut().zip(Warning::ALL) {
            *count += usize::from(warnings.contains(kind));
        }
    }

    /// Largest and mean strain over the last second (at least one frame).
    pub fn last_second(&self) -> (f64, f64) {
        let end = self.time.last().copied().unwrap_or(0.0);
        let last = self.time.len().saturating_sub(1);
        let first = self.time.partition_point(|t| *t < end - 1.0).clamp(1.min(last), last);
        let max = self.strain.max[first..].iter().copied().fold(0.0, f64::max);
        let mean = &self.strain.mean[first..];
        (max, mean.iter().sum::<f64>() / mean.len().max(1) as f64)
    }

    /// The warnings that came.
    pub fn warnings(&self) -> Vec<WarningCount> {
        (Warning::ALL.into_iter().zip(self.warnings))
            .filter(|(_, frames)| *frames > 0)
            .map(|(kind, frames)| WarningCount { kind, frames, remedy: kind.remedy() })
            .collect()
    }
}

/// The report of a run, as written by `--report`.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Name of the scene.
    pub scene: String,
    /// The method with every choice.
    pub method: Method,
    /// Number of particles.
    pub particles: usize,
    /// Number of springs.
    pub springs: usize,
    /// Number of bending hinges.
    pub hinges: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Frames simulated.
    pub frames: usize,
    /// Seconds of one frame. [s]
    pub dt: f64,
    /// Steps per frame.
    pub substeps: u32,
    /// Threads.
    pub threads: u32,
    /// Time of a frame with its measurements; `muslin bench` times the bare step. [ms]
    pub ms_per_frame: Times,
    /// Most stretched structural edge over the last second.
    pub max_strain: f64,
    /// Mean stretch of structural edges over the last second.
    pub mean_strain: f64,
    /// k h²/m of the stiffest spring.
    pub stiffness_number: f32,
    /// The series.
    #[serde(flatten)]
    pub record: Record,
    /// What went wrong.
    pub warnings: Vec<WarningCount>,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// Version of Muslin.
    pub version: &'static str,
    /// What it ran on.
    pub machine: Machine,
}

impl RunReport {
    /// Puts a run together.
    pub fn new(
        model: &Model,
        method: &Method,
        threads: u32,
        milliseconds: &[f64],
        record: Record,
        interrupted: bool,
    ) -> Self {
        let (max_strain, mean_strain) = record.last_second();
        let h = model.dt as f32 / model.substeps as f32;
        Self {
            scene: model.name.clone(),
            method: method.clone(),
            particles: model.particle_count(),
            springs: model.spring_count(),
            hinges: model.hinges.len(),
            triangles: model.triangles.len(),
            frames: milliseconds.len(),
            dt: model.dt,
            substeps: model.substeps,
            threads,
            ms_per_frame: Times::of(milliseconds),
            max_strain,
            mean_strain,
            stiffness_number: model.stiffness_number(h),
            warnings: record.warnings(),
            record,
            interrupted,
            version: env!("CARGO_PKG_VERSION"),
            machine: Machine::this(),
        }
    }
}
