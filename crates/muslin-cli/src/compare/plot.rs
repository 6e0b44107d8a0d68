//! Line and scatter plots as SVG. Colours come from classes, so that the page decides light or dark.

use crate::text::number;
use std::fmt::Write;

/// A named curve or point set.
pub struct Series<'a> {
    /// Name for the legend.
    pub name: &'a str,
    /// Points (x, y).
    pub points: Vec<(f64, f64)>,
}

/// One plot.
pub struct Plot<'a> {
    /// Heading.
    pub title: &'a str,
    /// Name and unit of the horizontal axis.
    pub x: &'a str,
    /// Name and unit of the vertical axis.
    pub y: &'a str,
    /// Whether both axes are logarithmic and points are drawn in place of curves.
    pub scatter: bool,
    /// What is shown.
    pub series: Vec<Series<'a>>,
}

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 48.0;

/// One axis: the range, its ticks, and where a value goes.
struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, logarithmic: bool, from: f64, to: f64) -> Self {
        let shown = values.filter(|v| v.is_finite() && (!logarithmic || *v > 0.0));
        let shown = shown.map(|v| if logarithmic { v.log10() } else { v });
        let (low, high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        // Room around the data; a constant still gets a range.
        let room = if logarithmic { 0.3 } else { 0.04 * (high - low) };
        let room = if room > 0.0 { room } else { low.abs().max(1.0) * 0.1 };
        let side = if logarithmic || from > to { room } else { 0.0 };
        Self { low: low - side, high: high + side, logarithmic, from, to }
    }

    fn place(&self, value: f64) -> Option<f64> {
        let value = if self.logarithmic { value.log10() } else { value };
        let share = (value - self.low) / (self.high - self.low);
        value.is_finite().then_some(self.from + share * (self.to - self.from))
    }

    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let powers = (self.low.ceil() as i32)..=(self.high.floor() as i32);
            let mut ticks: Vec<f64> = powers.map(|p| 10f64.powi(p)).collect();
            if ticks.len() < 2 {
                ticks = (self.low.floor() as i32..=self.high.ceil() as i32)
                    .flat_map(|p| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(p)))
                    .filter(|t| (self.low..=self.high).contains(&t.log10()))
                    .collect();
            }
            return ticks;
        }
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let digit = [1.0, 2.0, 5.0, 10.0].into_iter().find(|d| d * power >= rough).unwrap_or(10.0);
        let step = digit * power;
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|i| i as f64 * step).collect()
    }
}

impl Plot<'_> {
    /// The plot as an SVG element.
    pub fn svg(&self) -> String {
        let values = |pick: fn(&(f64, f64)) -> f64| {
            self.series.iter().flat_map(move |s| s.points.iter().map(pick))
        };
        let x = Axis::new(values(|p| p.0), self.scatter, LEFT, WIDTH - RIGHT);
        let y = Axis::new(values(|p| p.1), self.scatter, HEIGHT - BOTTOM, TOP);
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\
             <text class=\"title\" x=\"{LEFT}\" y=\"18\">{title}</text>",
            title = escape(self.title)
        );
        self.axes(&mut svg, &x, &y);
        for (index, series) in self.series.iter().enumerate() {
            let placed: Vec<(f64, f64)> = (thinned(&series.points).into_iter())
                .filter_map(|(u, v)| Some((x.place(u)?, y.place(v)?)))
                .collect();
            let class = format!("s{}", index % 8);
            if self.scatter {
                for (u, v) in placed {
                    // Keep the name inside the picture.
                    let (anchor, shift) =
                        if u > 0.7 * WIDTH { ("end", -9.0) } else { ("start", 9.0) };
                    let _ = write!(
                        svg,
                        "<circle class=\"{class}\" cx=\"{u:.1}\" cy=\"{v:.1}\" r=\"5\"/>\
                         <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                        u + shift,
                        v + 4.0,
                        escape(series.name)
                    );
                }
            } else {
                let path: Vec<String> =
                    placed.iter().map(|(u, v)| format!("{u:.1},{v:.1}")).collect();
                let _ = write!(
                    svg,
                    "<polyline class=\"{class}\" points=\"{}\"><title>{}</title></polyline>",
                    path.join(" "),
                    escape(series.name)
                );
            }
        }
        svg.push_str("</svg>");
        svg
    }

    fn axes(&self, svg: &mut String, x: &Axis, y: &Axis) {
        let bottom = HEIGHT - BOTTOM;
        for tick in x.ticks() {
            let Some(at) = x.place(tick) else { continue };
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                tick_text(tick)
            );
        }
        for tick in y.ticks() {
            let Some(at) = y.place(tick) else { continue };
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0,
                tick_text(tick)
            );
        }
        let middle = (TOP + bottom) / 2.0;
        let _ = write!(
            svg,
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"axis\" transform=\"translate(16 {middle:.1}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 10.0,
            escape(self.x),
            escape(self.y)
        );
    }
}

/// A tick without needless zeros.
fn tick_text(value: f64) -> String {
    let text = number(value);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.replace(".00e", "e")
    }
}

/// At most about 800 points of a curve: more cannot be seen.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let stride = points.len().div_ceil(800).max(1);
    let mut kept: Vec<_> = points.iter().copied().step_by(stride).collect();
    if stride > 1 {
        kept.extend(points.last());
    }
    kept
}

/// Text for SVG and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
