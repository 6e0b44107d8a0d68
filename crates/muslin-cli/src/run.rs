//! `muslin run`: one scene, one method, and every file asked for.

use crate::arguments::RunArguments;
use crate::experiment::Setup;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{MeshSequence, Pending, Positions, check_distinct};
use crate::picture::{Film, Preview, points};
use crate::progress;
use crate::record::{Record, RunReport};
use crate::summary::summary;
use crate::text::{number, percent, print};
use crate::threads::Threads;
use anyhow::Context;
use muslin::{Model, Report, Sim};
use std::path::Path;
use std::time::Instant;

/// Simulates, writes the files, prints a summary.
pub fn run(arguments: &RunArguments) -> Result<RunReport, Failure> {
    // Everything that can be wrong is found out before the first step.
    let setup = Setup::new(&arguments.scene)?;
    let method = setup.method(arguments.method.as_deref())?;
    let Setup { model, frames, recording, .. } = &setup;
    let mut sim = Sim::new(model.clone(), method)?;
    if let Some(start) = &recording.start {
        sim.restore(start)?;
    }
    let interrupt = Interrupt::listen()?;
    let threads = Threads::new(arguments.scene.threads)?;
    let mut outputs = Outputs::open(arguments, model, *frames)?;

    // Simulate.
    let dt = model.dt as f32;
    let bar = progress::bar(&model.name, *frames);
    let mut record = Record::default();
    let mut milliseconds = Vec::new();
    record.start(&sim.measure());
    record.entangled = sim.entangled().to_vec();
    outputs.push(&sim)?;
    for frame in 0..*frames {
        if interrupt.asked() {
            break;
        }
        recording.apply(frame, &mut sim);
        let begun = Instant::now();
        let report = step(&mut sim, &threads, dt, arguments.converged_error)?;
        milliseconds.push(1e3 * begun.elapsed().as_secs_f64());
        record.frame(&report);
        outputs.push(&sim)?;
        let last = milliseconds.last().copied().unwrap_or(0.0);
        bar.set_message(format!(
            "{:.2} s  {} ms  strain {}",
            report.time,
            number(last),
            percent(report.max_strain)
        ));
        bar.inc(1);
    }
    bar.finish_and_clear();

    // Tell.
    let interrupted = (milliseconds.len() as u64) < *frames;
    let count = arguments.scene.threads;
    let report = RunReport::new(model, sim.method(), count, &milliseconds, record, interrupted);
    let written = outputs.finish(&report, model)?;
    print(&summary(&report));
    for line in written {
        print(&format!("{line}\n"));
    }
    if interrupted {
        let message = format!(
            "stopped after {} of {frames} frames; the files are complete up to there",
            report.frames
        );
        return Err(Failure::Interrupted(message));
    }
    Ok(report)
}

fn step(sim: &mut Sim, threads: &Threads, dt: f32, error: bool) -> Result<Report, Failure> {
    threads.with(sim, |sim| if error { Ok(sim.step_with_error(dt)?) } else { Ok(sim.step(dt)) })
}

/// The files of a run, all opened before it begins.
struct Outputs {
    report: Option<Pending>,
    positions: Option<Positions>,
    meshes: Option<MeshSequence>,
    previews: Vec<Preview>,
    film: Film,
    names: Vec<String>,
}

impl Outputs {
    fn open(arguments: &RunArguments, model: &Model, frames: u64) -> Result<Self, Failure> {
        let RunArguments { report, positions, out, preview, .. } = arguments;
        let singles = [report, positions, out].into_iter().flatten();
        let paths: Vec<&Path> = singles.chain(preview).map(AsRef::as_ref).collect();
        check_distinct(&paths)?;
        let previews: Vec<Preview> =
            preview.iter().map(|path| Preview::create(path)).collect::<Result<_, _>>()?;
        Ok(Self {
            film: Film::new(&previews, frames, model.dt),
            previews,
            report: report.as_deref().map(|p| Pending::create(p, "--report")).transpose()?,
            positions: (positions.as_deref())
                .map(|p| Positions::create(p, model.particle_count()))
                .transpose()?,
            meshes: out.as_deref().map(|p| MeshSequence::create(p, model)).transpose()?,
            names: (paths.iter().filter(|path| Some(**path) != out.as_deref()))
                .map(|path| path.display().to_string())
                .collect(),
        })
    }

    fn push(&mut self, sim: &Sim) -> anyhow::Result<()> {
        let x = &sim.state().x;
        if let Some(positions) = &mut self.positions {
            positions.push(x)?;
        }
        if let Some(meshes) = &mut self.meshes {
            meshes.push(x)?;
        }
        if !self.previews.is_empty() {
            self.film.push(&points(sim.model(), sim.state()));
        }
        Ok(())
    }

    /// Completes every file and tells what was written.
    fn finish(self, report: &RunReport, model: &Model) -> anyhow::Result<Vec<String>> {
        let mut lines: Vec<String> =
            self.names.iter().map(|name| format!("wrote {name}")).collect();
        if let Some(positions) = self.positions {
            positions.finish()?;
        }
        if let Some(meshes) = self.meshes {
            lines.extend(meshes.finish()?);
        }
        if let Some(file) = self.report {
            let text = serde_json::to_string(report).context("cannot write the report")?;
            file.commit_bytes(text.as_bytes())?;
        }
        for preview in self.previews {
            preview.finish(model, &self.film)?;
        }
        Ok(lines)
    }
}
