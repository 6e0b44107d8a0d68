//! Line and scatter plots as SVG. Colours come from classes, so that the page decides light or dark.

use super::escape;
use crate::text::number;
use std::fmt::Write;

/// A named curve or point set.
#[derive(Clone)]
pub struct Series {
    /// Name for the legend.
    pub name: String,
    /// Points (x, y).
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// The largest value either way; infinite if one is not a number.
    fn reach(&self) -> f64 {
        let sizes =
            self.points.iter().map(|(_, y)| if y.is_nan() { f64::INFINITY } else { y.abs() });
        sizes.fold(0.0, f64::max)
    }
}

/// How points are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// One curve per series.
    Curves,
    /// A dot on every point of the curves.
    Dotted,
    /// Dots with the name of the series beside them.
    Named,
}

/// One plot.
#[derive(Clone)]
pub struct Plot {
    /// Heading.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x: String,
    /// Name and unit of the vertical axis.
    pub y: String,
    /// How points are drawn.
    pub marks: Marks,
    /// Whether the horizontal and the vertical axis are logarithmic.
    pub logarithmic: [bool; 2],
    /// What is shown.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 48.0;
/// Curves that reach this many times further than the calmest are cut off.
const CUT: f64 = 50.0;

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

impl Plot {
    /// The plot as an SVG element.
    pub fn svg(&self) -> String {
        let values = |pick: fn(&(f64, f64)) -> f64| {
            self.series.iter().flat_map(move |s| s.points.iter().map(pick))
        };
        let [log_x, log_y] = self.logarithmic;
        let x = Axis::new(values(|p| p.0), log_x, LEFT, WIDTH - RIGHT);
        let limit = if log_y { f64::INFINITY } else { self.limit() };
        let shown = values(|p| p.1).filter(|value| value.abs() <= limit);
        let y = Axis::new(shown, log_y, HEIGHT - BOTTOM, TOP);
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\
             <text class=\"title\" x=\"{LEFT}\" y=\"18\">{title}</text>",
            title = escape(&self.title)
        );
        self.axes(&mut svg, &x, &y);
        self.beyond(&mut svg, limit);
        // Names keep off the dots, too.
        let mut labels: Vec<(f64, f64, f64)> = (self.series.iter().flat_map(|s| &s.points))
            .filter_map(|(u, v)| Some((x.place(*u)? - 6.0, 12.0, y.place(*v)? + 4.0)))
            .collect();
        for (index, series) in self.series.iter().enumerate() {
            // What leaves the scale runs along its edge.
            let edge = |v: f64| v.clamp(TOP, HEIGHT - BOTTOM);
            let placed: Vec<(f64, f64)> = (thinned(&series.points).into_iter())
                .filter_map(|(u, v)| Some((x.place(u)?, edge(y.place(v)?))))
                .collect();
            let class = format!("s{}", index % 8);
            if self.marks == Marks::Named {
                for (u, v) in placed {
                    // Keep the name inside the picture and off the other names.
                    let (anchor, shift) =
                        if u > 0.7 * WIDTH { ("end", -9.0) } else { ("start", 9.0) };
                    let width = 7.0 * series.name.chars().count() as f64;
                    let left = if shift < 0.0 { u + shift - width } else { u + shift };
                    let row = free_row(&labels, left, width, v + 4.0);
                    labels.push((left, width, row));
                    let _ = write!(
                        svg,
                        "<circle class=\"{class}\" cx=\"{u:.1}\" cy=\"{v:.1}\" r=\"5\"/>\
                         <text class=\"name\" x=\"{:.1}\" y=\"{row:.1}\" text-anchor=\"{anchor}\">{}</text>",
                        u + shift,
                        escape(&series.name)
                    );
                }
            } else {
                let path: Vec<String> =
                    placed.iter().map(|(u, v)| format!("{u:.1},{v:.1}")).collect();
                let _ = write!(
                    svg,
                    "<polyline class=\"{class}\" points=\"{}\"><title>{}</title></polyline>",
                    path.join(" "),
                    escape(&series.name)
                );
                if self.marks == Marks::Dotted {
                    for (u, v) in placed {
                        let _ = write!(
                            svg,
                            "<circle class=\"{class}\" cx=\"{u:.1}\" cy=\"{v:.1}\" r=\"3.5\"/>"
                        );
                    }
                }
            }
        }
        svg.push_str("</svg>");
        svg
    }

    /// The same with the names of the series in their colours below, to stand alone.
    pub fn svg_with_legend(&self) -> String {
        let (mut row, mut left) = (0.0, LEFT);
        let mut names = String::new();
        for (index, series) in self.series.iter().enumerate() {
            let width = 26.0 + 6.6 * series.name.chars().count() as f64;
            if left > LEFT && left + width > WIDTH {
                (row, left) = (row + 1.0, LEFT);
            }
            let _ = write!(
                names,
                "<circle class=\"s{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                index % 8,
                left + 5.0,
                HEIGHT + 8.0 + 18.0 * row,
                left + 15.0,
                HEIGHT + 12.0 + 18.0 * row,
                escape(&series.name)
            );
            left += width;
        }
        let height = HEIGHT + 22.0 + 18.0 * row;
        let plain = format!("viewBox=\"0 0 {WIDTH} {HEIGHT}\"");
        let taller = format!("viewBox=\"0 0 {WIDTH} {height}\"");
        let svg = self.svg().replacen(&plain, &taller, 1);
        format!("{}{names}</svg>", svg.trim_end_matches("</svg>"))
    }

    /// The largest value the scale must show. A method that blows up would flatten the others,
    /// so what reaches much further than the calmest method does is cut off.
    fn limit(&self) -> f64 {
        let mut reaches: Vec<f64> = self.series.iter().map(Series::reach).collect();
        reaches.sort_by(f64::total_cmp);
        let calm = reaches.iter().copied().find(|reach| *reach > 0.0).unwrap_or(1.0);
        let shown = reaches.iter().copied().filter(|reach| *reach <= CUT * calm);
        1.5 * shown.fold(0.0, f64::max).max(f64::MIN_POSITIVE)
    }

    /// Names the series that leave the scale.
    fn beyond(&self, svg: &mut String, limit: f64) {
        let names: Vec<&str> =
            self.series.iter().filter(|s| s.reach() > limit).map(|s| s.name.as_str()).collect();
        if !names.is_empty() {
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"18\" text-anchor=\"end\">beyond the scale: {}</text>",
                WIDTH - RIGHT,
                escape(&names.join(", "))
            );
        }
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
            escape(&self.x),
            escape(&self.y)
        );
    }
}

/// The row nearest to `wanted` at which a text overlaps none of the others.
fn free_row(labels: &[(f64, f64, f64)], left: f64, width: f64, wanted: f64) -> f64 {
    let is_free = |row: f64| {
        labels.iter().all(|(other, other_width, other_row)| {
            let apart = left > other + other_width || *other > left + width;
            apart || (row - other_row).abs() >= 12.0
        })
    };
    let tries = [0.0, -13.0, 13.0, -26.0, 26.0, -39.0, 39.0].map(|off| wanted + off);
    tries.into_iter().find(|row| is_free(*row)).unwrap_or(wanted)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blow_up_is_cut_off_and_named() {
        let series =
            |name: &str, end| Series { name: name.into(), points: vec![(0.0, 0.0), (1.0, end)] };
        let plot = Plot {
            title: "t".into(),
            x: "x".into(),
            y: "y".into(),
            marks: Marks::Curves,
            logarithmic: [false; 2],
            series: vec![series("calm", 2.0), series("wild", 1e30)],
        };
        assert!(plot.limit() < 10.0);
        let svg = plot.svg();
        assert!(svg.contains("beyond the scale: wild"), "{svg}");
        assert!(!svg.contains("e30"), "{svg}");
    }

    #[test]
    fn names_do_not_overlap() {
        let labels = [(0.0, 50.0, 100.0)];
        assert!((free_row(&labels, 10.0, 50.0, 102.0) - 100.0).abs() >= 12.0);
        assert_eq!(free_row(&labels, 60.0, 50.0, 102.0), 102.0);
    }
}
