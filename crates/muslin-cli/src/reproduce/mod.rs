//! `muslin reproduce`: the tables and figures of the papers, measured again.
//!
//! An [`Experiment`] is one entry in its paper's file: the claim, the setup, and a function that measures. What it
//! found is kept in a folder of its own, so that an interrupted run continues; the page and the summary are made of
//! what is kept.

mod disc;
mod finding;
mod jeong;
mod jeong_cost;
mod kang_cho;
mod kang_cho_dressed;
mod kang_cho_limits;
mod kim;
mod kim_error;
mod kim_limits;
mod lab;
mod moustakas;
mod page;
mod rubin;
mod rubin_meshless;
mod store;
mod verdicts;
pub mod words;

use crate::arguments::{PaperName, ReproduceArguments};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::output::Pending;
use crate::progress;
use crate::text::{print, table};
use anyhow::Context;
use finding::Finding;
use lab::{Experiment, Lab};
use std::path::Path;
use std::time::Instant;
use store::Store;

/// A paper and what is measured of it.
pub struct Paper {
    /// The word on the command line.
    pub name: PaperName,
    /// Who and when.
    pub authors: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// Its experiments, in the order of the page.
    pub experiments: &'static [&'static [Experiment]],
}

/// The one list of papers.
pub const PAPERS: &[Paper] = &[
    Paper {
        name: PaperName::KangCho,
        authors: "Kang & Cho 2002",
        title: "Complex Deformable Objects in Virtual Reality",
        experiments: &[
            kang_cho::EXPERIMENTS,
            kang_cho_dressed::EXPERIMENTS,
            kang_cho_limits::EXPERIMENTS,
        ],
    },
    Paper {
        name: PaperName::Kim,
        authors: "Kim 2006",
        title: "A Scalable Semi-Implicit Method for Realtime Cloth Simulation",
        experiments: &[kim::EXPERIMENTS, kim_error::EXPERIMENTS, kim_limits::EXPERIMENTS],
    },
    Paper {
        name: PaperName::Moustakas,
        authors: "Moustakas, Tzovaras & Strintzis",
        title: "Optimal Hierarchical Representation and Simulation of Cloth and Deformable Objects",
        experiments: &[moustakas::EXPERIMENTS],
    },
    Paper {
        name: PaperName::Rubin,
        authors: "Rubin 2005",
        title: "A Framework for Interactive and Physically Realistic Cloth Simulation",
        experiments: &[rubin::EXPERIMENTS, rubin_meshless::EXPERIMENTS],
    },
    Paper {
        name: PaperName::Jeong,
        authors: "Jeong & Lee",
        title: "A New 3D Spring for Deformable Object Animation",
        experiments: &[jeong::EXPERIMENTS, jeong_cost::EXPERIMENTS],
    },
];

/// An experiment and what it found.
pub struct Outcome {
    /// The paper.
    pub paper: &'static Paper,
    /// What was tested.
    pub experiment: &'static Experiment,
    /// What came out.
    pub finding: Finding,
    /// How long it took. [s]
    pub seconds: f64,
}

/// Runs what is missing, writes the page and the summary.
pub fn reproduce(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let wanted =
        |paper: &&Paper| matches!(arguments.paper, PaperName::All) || paper.name == arguments.paper;
    let experiments: Vec<_> = (PAPERS.iter().filter(wanted))
        .flat_map(|paper| paper.experiments.iter().copied().flatten().map(move |e| (paper, e)))
        .collect();
    let store = Store::open(&arguments.out, arguments.quick)?;
    let interrupt = Interrupt::listen()?;
    let bar = progress::bar("reproduce", experiments.len() as u64);
    let lab = Lab { quick: arguments.quick, interrupt: &interrupt, bar: &bar };

    let (mut outcomes, mut kept, mut stopped) = (Vec::new(), 0, false);
    for &(paper, experiment) in &experiments {
        bar.set_prefix(experiment.id);
        if let Some((finding, seconds)) = store.load(experiment) {
            outcomes.push(Outcome { paper, experiment, finding, seconds });
            kept += 1;
        } else {
            let begun = Instant::now();
            match (experiment.run)(&lab) {
                Ok(finding) => {
                    let seconds = begun.elapsed().as_secs_f64();
                    store.save(experiment, &finding, seconds)?;
                    outcomes.push(Outcome { paper, experiment, finding, seconds });
                }
                Err(Failure::Interrupted(_)) => {
                    stopped = true;
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();

    let when = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
    write(&arguments.out, &outcomes, arguments.quick, &when)?;
    tell(&outcomes, kept);
    let out = arguments.out.display();
    if stopped {
        let (done, all) = (outcomes.len(), experiments.len());
        let message = format!(
            "{done} of {all} experiments are done; the same command with --out {out} \
             continues"
        );
        return Err(Failure::Interrupted(message));
    }
    print(&format!("wrote {}\n", arguments.out.join("index.html").display()));
    Ok(())
}

/// The page, the verdicts as text, and the summary.
fn write(out: &Path, outcomes: &[Outcome], quick: bool, when: &str) -> Result<(), Failure> {
    let page = Pending::create(&out.join("index.html"), "--out")?;
    page.commit_bytes(page::page(outcomes, quick, when).as_bytes())?;
    let text = verdicts::markdown(outcomes, quick, when);
    Pending::create(&out.join("verdicts.md"), "--out")?.commit_bytes(text.as_bytes())?;
    let each = |outcome: &Outcome| {
        let Outcome { paper, experiment, finding, seconds } = outcome;
        let check = |check: &finding::Check| {
            serde_json::json!({ "what": check.what, "value": check.value, "needed": check.bound.text(),
                "word": check.word, "met": check.is_met() })
        };
        let checks = |checks: &[finding::Check]| checks.iter().map(check).collect::<Vec<_>>();
        serde_json::json!({
            "id": experiment.id, "paper": paper.name.word(), "title": experiment.title,
            "claim": experiment.claim, "setup": experiment.setup, "timed": experiment.timed,
            "verdict": finding.verdict(), "why": finding.why(), "claim_checks": checks(&finding.claim),
            "condition": finding.condition.as_ref().map(|c| {
                serde_json::json!({ "text": c.text, "checks": checks(&c.checks) })
            }),
            "tables": finding.tables, "seconds": seconds,
        })
    };
    let summary = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"), "machine": Machine::this(), "date": when, "quick": quick,
        "experiments": outcomes.iter().map(each).collect::<Vec<_>>(),
    });
    let bytes = serde_json::to_vec_pretty(&summary).context("cannot write JSON")?;
    Pending::create(&out.join("summary.json"), "--out")?.commit_bytes(&bytes)?;
    Ok(())
}

/// One line per experiment.
fn tell(outcomes: &[Outcome], kept: usize) {
    let line = |outcome: &Outcome| {
        let verdict = outcome.finding.verdict().words().to_owned();
        vec![verdict, outcome.experiment.id.to_owned(), outcome.experiment.title.to_owned()]
    };
    print(&table(&outcomes.iter().map(line).collect::<Vec<_>>(), |_| false));
    if kept > 0 {
        let plural = if kept == 1 { "experiment was" } else { "experiments were" };
        print(&format!("{kept} {plural} done before and kept\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_claims_complete() {
        let mut seen = std::collections::HashSet::new();
        for paper in PAPERS {
            for experiment in paper.experiments.iter().copied().flatten() {
                assert!(seen.insert(experiment.id), "{} twice", experiment.id);
                assert!(experiment.id.starts_with(paper.name.word()), "{}", experiment.id);
                for text in std::iter::once(&experiment.claim).chain(experiment.setup) {
                    assert!(text.ends_with(['.', '”']), "{}: {text}", experiment.id);
                }
                assert!(!experiment.setup.is_empty(), "{}", experiment.id);
            }
        }
    }
}
