//! The verdicts as text, for readers of a repository.

use super::Outcome;
use crate::page::where_measured;
use std::fmt::Write;

/// A line for each experiment, as Markdown.
pub fn markdown(outcomes: &[Outcome], quick: bool, when: &str) -> String {
    let length = if quick {
        "A quick run: grids are smaller and runs shorter than in the papers. "
    } else {
        ""
    };
    let mut text = format!(
        "# What of the papers holds\n\nWritten by `muslin reproduce`. {} {when}. {length}Times are to be read as ratios within one \
         experiment. The page [index.html](index.html) has the measurements, the assumptions and the rule of each verdict; \
         [summary.json](summary.json) the same numbers.\n\n| paper | experiment | verdict | why |\n|---|---|---|---|\n",
        where_measured()
    );
    let mut before = "";
    for Outcome { paper, experiment, finding, .. } in outcomes {
        let authors = if paper.authors == before { "" } else { paper.authors };
        before = paper.authors;
        let cells = [authors, experiment.title, finding.verdict().words(), &finding.why()];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::PAPERS;
    use crate::reproduce::finding::{Check, Finding};

    #[test]
    fn bars_do_not_break_the_table() {
        let paper = &PAPERS[0];
        let finding = Finding::default()
            .claim([Check::yes("it", true)])
            .because(crate::reproduce::lab::HOLDS, "a share of |Δv|");
        let outcome =
            Outcome { paper, experiment: &paper.experiments[0][0], finding, seconds: 1.0 };
        let text = markdown(&[outcome], false, "today");
        let last = text.lines().last().expect("a line");
        assert!(last.ends_with("| holds | a share of \\|Δv\\| |"), "{last}");
        assert!(last.starts_with("| Kang & Cho 2002 | Table 4"), "{last}");
    }
}
