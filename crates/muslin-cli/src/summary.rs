//! What a person wants to know after a run.

use crate::experiment::label;
use crate::record::{Record, RunReport, WarningCount};
use crate::text::{number, percent, table};

/// The summary of a run.
pub fn summary(report: &RunReport) -> String {
    let record = &report.record;
    let last = |series: &[f64]| series.last().copied().unwrap_or(0.0);
    let energy = &record.energy;
    let mut rows = vec![
        ("scene", report.scene.clone()),
        ("method", label(&report.method)),
        (
            "size",
            format!(
                "{} particles, {} springs, {} hinges, {} triangles",
                report.particles, report.springs, report.hinges, report.triangles
            ),
        ),
        (
            "frames",
            format!(
                "{} of {} s{}",
                report.frames,
                number(report.dt),
                if report.substeps > 1 {
                    format!(" in {} substeps", report.substeps)
                } else {
                    String::new()
                }
            ),
        ),
        (
            "time per frame",
            format!(
                "{} ms (median; 95 % below {} ms), measuring included",
                number(report.ms_per_frame.median),
                number(report.ms_per_frame.p95)
            ),
        ),
        (
            "strain",
            format!(
                "{} at most, {} on average over the last second",
                percent(report.max_strain),
                percent(report.mean_strain)
            ),
        ),
        (
            "energy",
            format!(
                "{} J = kinetic {} + elastic {} + gravity {} (at the start {} J)",
                number(last(&energy.total)),
                number(last(&energy.kinetic)),
                number(last(&energy.elastic)),
                number(last(&energy.gravity)),
                number(energy.total.first().copied().unwrap_or(0.0))
            ),
        ),
    ];
    let most = record.contacts.iter().copied().max().unwrap_or(0);
    if most > 0 {
        let last = record.contacts.last().copied().unwrap_or(0);
        rows.push(("contacts", format!("{last} at the end, {most} at most")));
    }
    for (name, what, counts) in [
        ("tethers", "particles moved", &record.solver.tethered),
        ("strain limit", "springs made shorter", &record.solver.limited),
    ] {
        let total: usize = counts.iter().sum();
        if total > 0 {
            let each = number(total as f64 / counts.len() as f64);
            rows.push((name, format!("{each} {what} per frame")));
        }
    }
    let most = record.self_contacts.iter().copied().max().unwrap_or(0);
    if most > 0 {
        let last = record.self_contacts.last().copied().unwrap_or(0);
        let stopped: usize = record.stopped.iter().sum();
        let text =
            format!("{last} at the end, {most} at most, {stopped} times a particle was stopped");
        rows.push(("self-contacts", text));
    }
    if let Some(solver) = solver(report) {
        rows.push(("solver", solver));
    }
    if !record.converged_error.is_empty() {
        let errors = &record.converged_error;
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let most = errors.iter().copied().fold(0.0, f64::max);
        let text = format!("{} on average, {} at most", percent(mean), percent(most));
        rows.push(("off the converged step", text));
    }
    let rows: Vec<_> = rows.into_iter().map(|(name, text)| vec![name.to_owned(), text]).collect();
    table(&rows, |_| false) + &entangled(record) + &warnings(&report.warnings, report.frames)
}

/// Names the triangles that cross at the start, the first few of them.
fn entangled(record: &Record) -> String {
    const NAMED: usize = 8;
    let pairs = &record.entangled;
    if pairs.is_empty() {
        return String::new();
    }
    let named: Vec<_> = pairs.iter().take(NAMED).map(|[a, b]| format!("{a} and {b}")).collect();
    let more = if pairs.len() > NAMED { ", …" } else { "" };
    format!("{} pairs of triangles cross at the start: {}{more}\n", pairs.len(), named.join(", "))
}

/// Each warning once, with its remedy.
pub fn warnings(warnings: &[WarningCount], frames: usize) -> String {
    let line =
        |w: &WarningCount| format!("warning in {} of {frames} frames: {}\n", w.frames, w.remedy);
    warnings.iter().map(line).collect()
}

fn solver(report: &RunReport) -> Option<String> {
    let series = &report.record.solver;
    let iterations: u64 = series.iterations.iter().map(|i| u64::from(*i)).sum();
    if iterations == 0 {
        return None;
    }
    let each = number(iterations as f64 / series.iterations.len() as f64);
    if let Some(left) = series.strain_left.iter().flatten().copied().reduce(f64::max) {
        let left = number(100.0 * left);
        return Some(format!(
            "{each} iterations per frame, strain left by the solver at most {left} %"
        ));
    }
    let worst = series.residual.iter().flatten().copied().reduce(f64::max);
    Some(match worst {
        Some(worst) => {
            format!("{each} iterations per frame, relative residual at most {}", number(worst))
        }
        None => format!("{each} iterations per frame"),
    })
}
