//! One self-contained page: table, plots and pictures, in light and dark.

use super::{Outcome, rows};
use crate::page::plot::{Marks, Plot, Series};
use crate::page::{data_uri, escape, head, legend, table, where_measured};
use crate::picture::{Stage, png_bytes};
use crate::record::Record;
use crate::text::number;
use muslin::Model;
use std::fmt::Write;

/// The page of a comparison.
pub fn page(model: &Model, frames: u64, outcomes: &[Outcome]) -> anyhow::Result<String> {
    let mut html = head(&format!("{}: methods compared", model.name), "");
    let _ = write!(
        html,
        "<h1>{name}</h1>\n<p>{} particles, {} springs, {frames} frames of {} s. {}</p>\n",
        model.particle_count(),
        model.spring_count(),
        number(model.dt),
        escape(&where_measured()),
        name = escape(&model.name),
    );
    html.push_str(&table(&rows(outcomes)));
    html.push_str(
        "<p>ms/frame: median time of the bare step. Strain: stretch of structural edges over the last \
         second. Step error: ‖v − v*‖/‖v*‖ against the converged backward Euler step from the same state, \
         mean over ten sampled frames.</p>\n",
    );
    html.push_str(&remedies(outcomes, frames));
    html.push_str(&pictures(model, outcomes)?);
    html.push_str("<h2>Over time</h2>\n");
    html.push_str(&legend(outcomes.iter().map(|outcome| outcome.label.as_str())));
    html.push_str("<div class=\"plots\">\n");
    for plot in plots(outcomes) {
        html.push_str(&plot.svg());
        html.push('\n');
    }
    html.push_str("</div>\n</body></html>\n");
    Ok(html)
}

/// What went wrong and what to do, each warning once per method.
fn remedies(outcomes: &[Outcome], frames: u64) -> String {
    let mut html = String::new();
    for outcome in outcomes {
        for warning in &outcome.warnings {
            let _ = writeln!(
                html,
                "<li><b>{}</b>, {} of {frames} frames: {}</li>",
                escape(&outcome.label),
                warning.frames,
                escape(warning.remedy)
            );
        }
    }
    if html.is_empty() { html } else { format!("<ul class=\"warnings\">\n{html}</ul>\n") }
}

/// The last frames, all seen from the same place.
fn pictures(model: &Model, outcomes: &[Outcome]) -> anyhow::Result<String> {
    let mut html = String::from("<h2>Last frame</h2>\n<div class=\"pictures\">\n");
    let stage = Stage::new(model, outcomes.iter().map(|o| o.points.as_slice()), (520, 390));
    for (index, outcome) in outcomes.iter().enumerate() {
        let png = png_bytes(&stage.draw(&outcome.points))?;
        let _ = writeln!(
            html,
            "<figure><img alt=\"last frame of {0}\" src=\"{1}\">\
             <figcaption class=\"legend\"><i class=\"s{2}\"></i>{0}</figcaption></figure>",
            escape(&outcome.label),
            data_uri(&png),
            index % 8
        );
    }
    html.push_str("</div>\n");
    Ok(html)
}

fn plots(outcomes: &[Outcome]) -> Vec<Plot> {
    let over_time = |title: &str, y: &str, pick: fn(&Record) -> &Vec<f64>, factor: f64| Plot {
        title: title.into(),
        x: "time [s]".into(),
        y: y.into(),
        marks: Marks::Curves,
        logarithmic: [false; 2],
        series: (outcomes.iter())
            .map(|outcome| Series {
                name: outcome.label.clone(),
                points: (outcome.series.time.iter().copied())
                    .zip(pick(&outcome.series).iter().map(|value| factor * value))
                    .collect(),
            })
            .collect(),
    };
    let cost = Plot {
        title: "Cost against error".into(),
        x: "time of a frame [ms]".into(),
        y: "step error".into(),
        marks: Marks::Named,
        logarithmic: [true; 2],
        series: (outcomes.iter())
            .map(|outcome| Series {
                name: outcome.label.clone(),
                points: outcome
                    .step_error
                    .map(|e| (outcome.ms_per_frame.median, e))
                    .into_iter()
                    .collect(),
            })
            .collect(),
    };
    vec![
        over_time("Mean strain", "mean strain [%]", |r| &r.strain.mean, 100.0),
        over_time("Largest strain", "largest strain [%]", |r| &r.strain.max, 100.0),
        over_time("Total energy", "energy [J]", |r| &r.energy.total, 1.0),
        over_time("Lowest point", "height [m]", |r| &r.lowest, 1.0),
        over_time("Fastest particle", "speed [m/s]", |r| &r.max_speed, 1.0),
        cost,
    ]
}
