//! `muslin compare`: several methods on the same scene, side by side.

mod page;

use crate::arguments::CompareArguments;
use crate::experiment::{Setup, label};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::output::{Pending, check_distinct};
use crate::picture::points;
use crate::progress;
use crate::record::{Record, Times, WarningCount};
use crate::text::{number, percent, print, table};
use crate::threads::Threads;
use anyhow::Context;
use glam::Vec3;
use muslin::{Method, Model, Sim, Warning};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Frames on which the step is compared with the converged one.
const SAMPLES: u64 = 10;

/// What one method did.
#[derive(Serialize)]
pub struct Outcome {
    /// Name and what was changed about it.
    pub label: String,
    /// Every choice.
    pub method: Method,
    /// Time of the bare step, without measuring. [ms]
    pub ms_per_frame: Times,
    /// Iterations per frame.
    pub iterations: f64,
    /// Worst relative residual of the sampled frames.
    pub residual: Option<f64>,
    /// Most stretched structural edge over the last second.
    pub max_strain: f64,
    /// Mean stretch over the last second.
    pub mean_strain: f64,
    /// Lowest particle at the end. [m]
    pub lowest: f64,
    /// Mean distance of the sampled steps from the converged ones.
    pub step_error: Option<f64>,
    /// Root mean square distance of the final positions to the first method's. [m]
    pub distance: f64,
    /// What went wrong.
    pub warnings: Vec<WarningCount>,
    /// The series.
    pub series: Record,
    /// Where it ended.
    #[serde(skip)]
    pub end: Vec<Vec3>,
    /// What is drawn of it, bodies included.
    #[serde(skip)]
    pub points: Vec<Vec3>,
}

/// Runs the methods, prints the table, writes the files.
pub fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    let setup = Setup::new(&arguments.scene)?;
    let methods: Vec<Method> = (arguments.methods.iter())
        .map(|name| setup.method(Some(name.trim())))
        .collect::<Result<_, _>>()?;
    let files = [&arguments.json, &arguments.html].into_iter().flatten();
    check_distinct(&files.map(AsRef::as_ref).collect::<Vec<&Path>>())?;
    let create = |path: &Option<std::path::PathBuf>, option: &str| {
        path.as_deref().map(|path| Pending::create(path, option)).transpose()
    };
    let interrupt = Interrupt::listen()?;
    let json = create(&arguments.json, "--json")?;
    let html = create(&arguments.html, "--html")?;
    let threads = Threads::new(arguments.scene.threads)?;

    let mut outcomes: Vec<Outcome> = Vec::new();
    for method in methods {
        let sim = Sim::new(setup.model.clone(), method)?;
        let Some(mut outcome) = one(sim, setup.frames, &threads, &interrupt)? else {
            let message = "nothing was written: the methods would not be comparable".into();
            return Err(Failure::Interrupted(message));
        };
        let first = outcomes.first().unwrap_or(&outcome);
        outcome.distance = distance(&outcome.end, &first.end);
        outcomes.push(outcome);
    }

    let model = &setup.model;
    print(&head(model, setup.frames));
    print(&table(&rows(&outcomes), |column| column > 0));
    print(&remedies(&outcomes, setup.frames));
    if let Some(file) = json {
        let all = serde_json::json!({
            "scene": model.name, "particles": model.particle_count(), "springs": model.spring_count(),
            "frames": setup.frames, "dt": model.dt, "substeps": model.substeps,
            "threads": arguments.scene.threads, "methods": outcomes,
            "version": env!("CARGO_PKG_VERSION"), "machine": Machine::this(),
        });
        file.commit_bytes(&serde_json::to_vec(&all).context("cannot write JSON")?)?;
    }
    if let Some(file) = html {
        file.commit_bytes(page::page(model, setup.frames, &outcomes)?.as_bytes())?;
    }
    for path in [&arguments.json, &arguments.html].into_iter().flatten() {
        print(&format!("wrote {}\n", path.display()));
    }
    Ok(())
}

/// Runs one method; `None` if interrupted.
fn one(
    mut sim: Sim,
    frames: u64,
    threads: &Threads,
    interrupt: &Interrupt,
) -> Result<Option<Outcome>, Failure> {
    let dt = sim.model().dt as f32;
    // A bare step does not tell this one; it is the same for all frames.
    let h = dt / sim.substeps as f32;
    let limit = sim.method().stiffness_limit(sim.model(), h);
    let is_too_stiff = sim.model().stiffness_number(h) > limit;
    let label = label(sim.method());
    let bar = progress::bar(&label, frames);
    let every = frames.div_ceil(SAMPLES).max(2);
    let mut series = Record::default();
    let (mut milliseconds, mut errors, mut residuals) = (Vec::new(), Vec::new(), Vec::new());
    let mut iterations = 0u64;
    series.start(&sim.measure());
    for frame in 0..frames {
        if interrupt.asked() {
            bar.abandon();
            return Ok(None);
        }
        // Sampled frames are measured in full, the others are timed.
        let report = if frame % every == every / 2 {
            let report = threads.with(&mut sim, |sim| sim.step_with_error(dt))?;
            errors.extend(report.converged_error);
            residuals.extend(report.solver.residual);
            iterations += u64::from(report.solver.iterations);
            series.warn(report.warnings);
            report
        } else {
            let begun = Instant::now();
            let done = threads.with(&mut sim, |sim| sim.advance(dt));
            milliseconds.push(1e3 * begun.elapsed().as_secs_f64());
            iterations += u64::from(done.solver.iterations);
            let mut warnings = done.warnings;
            if is_too_stiff {
                warnings.insert(Warning::StiffnessBeyondLimit);
            }
            series.warn(warnings);
            sim.measure()
        };
        series.state(&report);
        bar.set_message(format!("{:.2} s  strain {}", report.time, percent(report.max_strain)));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let (max_strain, mean_strain) = series.last_second();
    let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
    Ok(Some(Outcome {
        label,
        method: sim.method().clone(),
        ms_per_frame: Times::of(&milliseconds),
        iterations: iterations as f64 / frames as f64,
        residual: residuals.into_iter().reduce(f64::max),
        max_strain,
        mean_strain,
        lowest: series.lowest.last().copied().unwrap_or(0.0),
        step_error: (!errors.is_empty()).then_some(mean),
        distance: 0.0,
        warnings: series.warnings(),
        series,
        end: sim.state().x.clone(),
        points: points(sim.model(), sim.state()),
    }))
}

fn distance(a: &[Vec3], b: &[Vec3]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| f64::from(a.distance_squared(*b))).sum();
    (sum / a.len().max(1) as f64).sqrt()
}

fn head(model: &Model, frames: u64) -> String {
    format!(
        "{}: {} particles, {} springs, {frames} frames of {} s\n\n",
        model.name,
        model.particle_count(),
        model.spring_count(),
        number(model.dt)
    )
}

/// The table, its head first.
pub fn rows(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let first = outcomes.first().map_or("", |outcome| &outcome.method.id);
    let mut rows = vec![
        [
            "method",
            "ms/frame",
            "iterations",
            "residual",
            "max strain",
            "mean strain",
            "lowest [m]",
            "step error",
            &format!("distance to {first} [m]"),
            "warnings",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for outcome in outcomes {
        let optional = |value: Option<f64>| value.map_or("–".into(), number);
        let warned = outcome.warnings.iter().map(|w| w.frames).max().unwrap_or(0);
        rows.push(vec![
            outcome.label.clone(),
            number(outcome.ms_per_frame.median),
            number(outcome.iterations),
            optional(outcome.residual),
            percent(outcome.max_strain),
            percent(outcome.mean_strain),
            number(outcome.lowest),
            outcome.step_error.map_or("–".into(), percent),
            number(outcome.distance),
            if warned == 0 { "none".into() } else { format!("{warned} frames") },
        ]);
    }
    rows
}

/// Each warning once per method.
fn remedies(outcomes: &[Outcome], frames: u64) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        for warning in &outcome.warnings {
            let line = format!(
                "{}, {} of {frames} frames: {}\n",
                outcome.label, warning.frames, warning.remedy
            );
            text.push_str(&line);
        }
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}
