//! One self-contained page: table, plots and pictures, in light and dark.

use super::plot::{Plot, Series, escape};
use super::{Outcome, rows};
use crate::machine::Machine;
use crate::picture::{Stage, png_bytes};
use crate::record::Record;
use crate::text::number;
use muslin::Model;
use std::fmt::Write;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1f2733; --faint: #6b7785; --line: #dde3ea; --paper: #fbfaf8;
  --c0: #c4473c; --c1: #1f7f8c; --c2: #b97f10; --c3: #4f5bab; --c4: #4f8a3c; --c5: #b1588a; --c6: #7a6255; --c7: #3a86bd; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --faint: #98a3b1; --line: #323a45; --paper: #161a20;
  --c0: #f0776b; --c1: #4fc0cd; --c2: #f0bd5c; --c3: #8d99ea; --c4: #8fce78; --c5: #e794c3; --c6: #c4a797; --c7: #7cc0ef; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1320px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .6rem; } li { color: var(--faint); max-width: 70rem; } b { color: var(--ink); font-weight: 600; } p { color: var(--faint); max-width: 70rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { color: var(--faint); font-weight: 500; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 1rem; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 12px; } svg .title { font-size: 14px; font-weight: 600; }
svg .tick, svg .axis { fill: var(--faint); } svg .grid { stroke: var(--line); } polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.legend span { display: inline-block; margin-right: 1.2rem; } .legend i { display: inline-block; width: .9em; height: .9em; border-radius: 50%; margin-right: .4em; vertical-align: -.1em; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(260px, 1fr)); gap: 1rem; }
figure { margin: 0; } figure img { display: block; width: 100%; margin-bottom: .35rem; border-radius: 8px; } figcaption { color: var(--faint); }
";

/// The page of a comparison.
pub fn page(model: &Model, frames: u64, outcomes: &[Outcome]) -> anyhow::Result<String> {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{name}: methods compared</title><style>{STYLE}{}</style></head><body>\n\
         <h1>{name}</h1>\n<p>{} particles, {} springs, {frames} frames of {} s. {}</p>\n",
        colours(),
        model.particle_count(),
        model.spring_count(),
        number(model.dt),
        escape(&where_measured()),
        name = escape(&model.name),
    );
    html.push_str(&table(outcomes));
    html.push_str(
        "<p>ms/frame: median time of the bare step. Strain: stretch of structural edges over the last \
         second. Step error: ‖v − v*‖/‖v*‖ against the converged backward Euler step from the same state, \
         mean over ten sampled frames.</p>\n",
    );
    html.push_str(&remedies(outcomes, frames));
    html.push_str(&pictures(model, outcomes)?);
    html.push_str("<h2>Over time</h2>\n");
    html.push_str(&legend(outcomes));
    html.push_str("<div class=\"plots\">\n");
    for plot in plots(outcomes) {
        html.push_str(&plot.svg());
        html.push('\n');
    }
    html.push_str("</div>\n</body></html>\n");
    Ok(html)
}

fn where_measured() -> String {
    let machine = Machine::this();
    let processor = machine.processor.unwrap_or(machine.system);
    format!("Muslin {}, on {processor}.", env!("CARGO_PKG_VERSION"))
}

/// Rules that give series their colours.
fn colours() -> String {
    (0..8)
        .map(|i| format!("polyline.s{i} {{ stroke: var(--c{i}); }} circle.s{i}, .legend .s{i} {{ fill: var(--c{i}); background: var(--c{i}); }}\n"))
        .collect()
}

fn table(outcomes: &[Outcome]) -> String {
    let mut html = String::from("<div class=\"wide\"><table>\n");
    for (index, row) in rows(outcomes).iter().enumerate() {
        let tag = if index == 0 { "th" } else { "td" };
        let cells: String = row.iter().map(|c| format!("<{tag}>{}</{tag}>", escape(c))).collect();
        let _ = writeln!(html, "<tr>{cells}</tr>");
    }
    html.push_str("</table></div>\n");
    html
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
            "<figure><img alt=\"last frame of {0}\" src=\"data:image/png;base64,{1}\">\
             <figcaption class=\"legend\"><i class=\"s{2}\"></i>{0}</figcaption></figure>",
            escape(&outcome.label),
            base64(&png),
            index % 8
        );
    }
    html.push_str("</div>\n");
    Ok(html)
}

fn legend(outcomes: &[Outcome]) -> String {
    let mut html = String::from("<p class=\"legend\">");
    for (index, outcome) in outcomes.iter().enumerate() {
        let name = escape(&outcome.label);
        let _ = write!(html, "<span><i class=\"s{}\"></i>{name}</span>", index % 8);
    }
    html.push_str("</p>\n");
    html
}

fn plots(outcomes: &[Outcome]) -> Vec<Plot<'_>> {
    let over_time = |title, y, pick: fn(&Record) -> &Vec<f64>, factor: f64| Plot {
        title,
        x: "time [s]",
        y,
        scatter: false,
        series: (outcomes.iter())
            .map(|outcome| Series {
                name: &outcome.label,
                points: (outcome.series.time.iter().copied())
                    .zip(pick(&outcome.series).iter().map(|value| factor * value))
                    .collect(),
            })
            .collect(),
    };
    let cost = Plot {
        title: "Cost against error",
        x: "time of a frame [ms]",
        y: "step error",
        scatter: true,
        series: (outcomes.iter())
            .map(|outcome| Series {
                name: &outcome.label,
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

/// Bytes as base 64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = bits >> (18 - 6 * digit) & 63;
            let is_data = digit <= chunk.len();
            text.push(if is_data { char::from(DIGITS[index as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_pads() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in cases {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}
