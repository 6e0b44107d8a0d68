//! What an experiment found: measurements held against bounds, and the verdict that follows from them.
//!
//! A verdict is never written down. The claim is a list of checks; where not all are met, a second list says under
//! which condition the claim would still be true. The page prints the same lists that are evaluated here.

use crate::page::escape;
use crate::page::plot::Plot;
use crate::picture::{Image, small_png_bytes};
use crate::text::number;
use serde::{Deserialize, Serialize};

/// Whether a claim of a paper is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every check of the claim is met.
    Holds,
    /// Some are not, but all those under the stated condition are.
    HoldsWithACondition,
    /// Neither.
    DoesNotHold,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsWithACondition => "holds with a condition",
            Self::DoesNotHold => "does not hold",
        }
    }
}

/// What a measurement must be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// At most.
    Below(f64),
    /// At least.
    Above(f64),
    /// Both.
    Between(f64, f64),
    /// Something that is so (1) or not (0).
    Is(bool),
}

impl Bound {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::Below(most) => value <= most,
            Self::Above(least) => value >= least,
            Self::Between(least, most) => (least..=most).contains(&value),
            Self::Is(so) => (value != 0.0) == so,
        }
    }

    /// In signs.
    pub fn text(self) -> String {
        match self {
            Self::Below(most) => format!("≤ {}", number(most)),
            Self::Above(least) => format!("≥ {}", number(least)),
            Self::Between(least, most) => format!("{} to {}", number(least), number(most)),
            Self::Is(so) => yes_or_no(so).into(),
        }
    }
}

fn yes_or_no(so: bool) -> &'static str {
    if so { "yes" } else { "no" }
}

/// A measurement and what it must be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Check {
    /// What was measured, with its unit.
    pub what: String,
    /// The measurement; `None` if it is not a number, which meets nothing.
    pub value: Option<f64>,
    /// What it must be.
    pub bound: Bound,
    /// The word of [`super::words`] that the bound stands for; empty where a yes or no needs none.
    pub word: String,
}

impl Check {
    /// A measurement held against a bound. Only [`super::words`] knows bounds.
    pub fn new(what: impl Into<String>, value: f64, bound: Bound) -> Self {
        let value = value.is_finite().then_some(value);
        Self { what: what.into(), value, bound, word: String::new() }
    }

    /// Says which word the bound stands for.
    pub fn by(self, word: &str) -> Self {
        Self { word: word.into(), ..self }
    }

    /// Something that must be so.
    pub fn yes(what: impl Into<String>, is_so: bool) -> Self {
        Self::new(what, f64::from(u8::from(is_so)), Bound::Is(true))
    }

    /// Something that must not be so.
    pub fn no(what: impl Into<String>, is_so: bool) -> Self {
        Self::new(what, f64::from(u8::from(is_so)), Bound::Is(false))
    }

    /// The measurement in words.
    pub fn measured(&self) -> String {
        match (self.value, self.bound) {
            (None, _) => "not finite".into(),
            (Some(value), Bound::Is(_)) => yes_or_no(value != 0.0).into(),
            (Some(value), _) => number(value),
        }
    }

    /// Whether the bound is met.
    pub fn is_met(&self) -> bool {
        self.value.is_some_and(|value| self.bound.is_met(value))
    }
}

/// Under which condition a claim is still true, and how that is measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Condition {
    /// The condition.
    pub text: String,
    /// What must be met.
    pub checks: Vec<Check>,
}

/// Rows of text, the first their head.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// A plot, drawn, and its numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// The drawing.
    pub svg: String,
    /// The numbers: series, x, y.
    pub csv: String,
}

/// A picture of states.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Picture {
    /// What it shows.
    pub caption: String,
    /// PNG; kept in a file of its own.
    #[serde(skip)]
    pub png: Vec<u8>,
}

/// Everything an experiment found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Finding {
    /// Checks of the claim.
    pub claim: Vec<Check>,
    /// What must be met where the claim is not.
    pub condition: Option<Condition>,
    /// Explanations by verdict.
    pub because: Vec<(Verdict, String)>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Plots.
    pub figures: Vec<Figure>,
    /// Pictures.
    pub pictures: Vec<Picture>,
}

impl Finding {
    /// The verdict, by the checks alone.
    pub fn verdict(&self) -> Verdict {
        let met = |checks: &[Check]| !checks.is_empty() && checks.iter().all(Check::is_met);
        if met(&self.claim) {
            Verdict::Holds
        } else if self.condition.as_ref().is_some_and(|condition| met(&condition.checks)) {
            Verdict::HoldsWithACondition
        } else {
            Verdict::DoesNotHold
        }
    }

    /// The explanation of the verdict.
    pub fn why(&self) -> String {
        let verdict = self.verdict();
        let said = self.because.iter().find(|(which, _)| *which == verdict).map(|(_, text)| text);
        let plain = match verdict {
            Verdict::Holds => "Every check of the claim is met.",
            Verdict::HoldsWithACondition => {
                "Not every check of the claim is met, but all of the condition are."
            }
            Verdict::DoesNotHold => "Not every check is met in this run.",
        };
        said.cloned().unwrap_or_else(|| plain.to_owned())
    }

    /// Adds checks of the claim.
    pub fn claim(mut self, checks: impl IntoIterator<Item = Check>) -> Self {
        self.claim.extend(checks);
        self
    }

    /// Sets the condition.
    pub fn condition(mut self, text: &str, checks: impl IntoIterator<Item = Check>) -> Self {
        let checks = checks.into_iter().collect();
        self.condition = Some(Condition { text: text.into(), checks });
        self
    }

    /// Says why, should the verdict be this one.
    pub fn because(mut self, verdict: Verdict, text: impl Into<String>) -> Self {
        self.because.push((verdict, text.into()));
        self
    }

    /// Adds a table.
    pub fn table(mut self, caption: &str, head: &[&str], rows: Vec<Vec<String>>) -> Self {
        let head = head.iter().map(|text| (*text).to_owned()).collect();
        let rows = std::iter::once(head).chain(rows).collect();
        self.tables.push(Table { caption: caption.into(), rows });
        self
    }

    /// Adds a plot.
    pub fn plot(mut self, plot: &Plot) -> Self {
        let (title, svg) = (plot.title.clone(), plot.svg_with_legend());
        self.figures.push(Figure { title, svg, csv: plot_csv(plot) });
        self
    }

    /// Adds a picture.
    pub fn picture(mut self, caption: impl Into<String>, image: &Image) -> anyhow::Result<Self> {
        self.pictures.push(Picture { caption: caption.into(), png: small_png_bytes(image)? });
        Ok(self)
    }
}

impl Table {
    /// The rows, separated by commas.
    pub fn csv(&self) -> String {
        let line =
            |row: &Vec<String>| row.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(",") + "\n";
        self.rows.iter().map(line).collect()
    }

    /// The caption for the page.
    pub fn html_caption(&self) -> String {
        escape(&self.caption)
    }
}

/// The numbers of a plot: a line for each point, with the names of the axes as head.
fn plot_csv(plot: &Plot) -> String {
    let mut csv = format!("series,{},{}\n", quoted(&plot.x), quoted(&plot.y));
    for series in &plot.series {
        for (x, y) in &series.points {
            csv.push_str(&format!("{},{x},{y}\n", quoted(&series.name)));
        }
    }
    csv
}

/// Text as a field of a CSV file.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plot::{Marks, Series};

    fn met(is_so: bool) -> Check {
        Check::yes("it", is_so)
    }

    #[test]
    fn verdicts_follow_from_the_checks() {
        let finding = |claim: bool, condition: bool| {
            Finding::default().claim([met(true), met(claim)]).condition("if", [met(condition)])
        };
        assert_eq!(finding(true, false).verdict(), Verdict::Holds);
        assert_eq!(finding(false, true).verdict(), Verdict::HoldsWithACondition);
        assert_eq!(finding(false, false).verdict(), Verdict::DoesNotHold);
        assert_eq!(Finding::default().verdict(), Verdict::DoesNotHold);
    }

    #[test]
    fn what_is_not_a_number_meets_nothing() {
        for bound in [Bound::Below(1.0), Bound::Above(-1.0), Bound::Between(-1.0, 1.0)] {
            assert!(!Check::new("x", f64::NAN, bound).is_met());
            assert!(!Check::new("x", f64::INFINITY, bound).is_met());
            assert!(Check::new("x", 0.0, bound).is_met());
        }
    }

    #[test]
    fn a_plot_has_its_numbers_as_csv() {
        let points = vec![(1.0, 0.1), (2.0, -3e-7)];
        let series = |name: &str| Series { name: name.into(), points: points.clone() };
        let plot = Plot {
            title: "t".into(),
            x: "time [s]".into(),
            y: "a, b".into(),
            marks: Marks::Curves,
            logarithmic: [false; 2],
            series: vec![series("one"), series("two, \"three\"")],
        };
        let finding = Finding::default().plot(&plot);
        let lines: Vec<&str> = finding.figures[0].csv.lines().collect();
        assert_eq!(lines[..3], ["series,time [s],\"a, b\"", "one,1,0.1", "one,2,-0.0000003"]);
        assert_eq!(lines[3], "\"two, \"\"three\"\"\",1,0.1");
        assert_eq!(lines.len(), 5);
        // The numbers come back as they were.
        let last: Vec<f64> = lines[2].split(',').skip(1).map(|n| n.parse().unwrap()).collect();
        assert_eq!(last, [points[1].0, points[1].1]);
    }

    #[test]
    fn bounds_include_their_ends() {
        for (bound, least, most) in [
            (Bound::Below(2.0), f64::MIN, 2.0),
            (Bound::Above(-1.0), -1.0, f64::MAX),
            (Bound::Between(0.5, 1.5), 0.5, 1.5),
        ] {
            assert!(
                Check::new("x", least, bound).is_met() && Check::new("x", most, bound).is_met()
            );
        }
        assert!(!Check::new("x", 2.001, Bound::Below(2.0)).is_met());
        assert!(!Check::new("x", -1.001, Bound::Above(-1.0)).is_met());
        assert!(!Check::new("x", 0.499, Bound::Between(0.5, 1.5)).is_met());
        assert!(!Check::new("x", 1.501, Bound::Between(0.5, 1.5)).is_met());
        assert!(Check::no("x", false).is_met() && !Check::no("x", true).is_met());
    }

    #[test]
    fn commas_are_quoted() {
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
