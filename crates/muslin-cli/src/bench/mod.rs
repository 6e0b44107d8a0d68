//! `muslin bench`: what a bare step of every method costs, on a few scenes at several sizes, and what
//! starts and preconditioners do for the same linear systems, how well methods do at what cost,
//! whether cloth hangs the same at every resolution, and what self-contact adds.

mod cell;
mod quality;
mod resolution;
mod self_contact;
mod strains;
pub mod systems;
mod tables;

use crate::arguments::BenchArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::output::Pending;
use crate::progress;
use crate::text::print;
use crate::threads::Threads;
use anyhow::Context;
use cell::{Budget, Cell, Place};
use muslin::solvers::presets::METHODS;
use systems::Systems;

/// The scenes, of which only the resolution is changed, and their particles along a side. The drape
/// is for the paper's own comparison of Kim's method with the implicit one, the last for Rubin's
/// Table 1.
const SCENES: [(&str, &[usize]); 4] = [
    ("kim-2006-fall", &[32, 80, 160, 320]),
    ("kim-2006-drape", &[80]),
    ("hang", &[32, 80, 160, 320]),
    ("rubin-hang", &[8, 16, 32]),
];
/// Largest size of a quick look.
const QUICK: usize = 80;

/// Measures, prints the tables, writes the file.
pub fn bench(arguments: &BenchArguments) -> Result<(), Failure> {
    let filter = arguments.filter.as_deref().unwrap_or("");
    let places = places(arguments);
    let mut systems = Systems::all(arguments.quick);
    systems.retain(|systems| systems.name().contains(filter));
    let mut runs = quality::Run::all(arguments.quick);
    runs.retain(|run| run.name().contains(filter));
    let mut rests = resolution::Run::all(arguments.quick);
    rests.retain(|run| run.name().contains(filter));
    let mut self_contacts = self_contact::Run::all(arguments.quick);
    self_contacts.retain(|run| run.name().contains(filter));
    let count = places.len() + systems.len() + runs.len() + rests.len() + self_contacts.len();
    if count == 0 {
        let (scene, sizes) = SCENES[0];
        let example = Place { scene, size: sizes[0], method: METHODS[0].id }.name();
        let other = Systems::all(true)[0].name();
        let remedy = format!("matches nothing; the names look like {example} and {other}");
        return Err(Failure::Wrong(format!("--filter {filter}: {remedy}")));
    }
    let interrupt = Interrupt::listen()?;
    let file =
        (arguments.json.as_deref()).map(|path| Pending::create(path, "--json")).transpose()?;
    let threads = Threads::new(arguments.threads)?;
    let folder = arguments.csv.as_deref();
    let csv = |name: &str| {
        let file = folder.map(|folder| Pending::create(&folder.join(name), "--csv"));
        file.transpose()
    };
    let quality_csv = if runs.is_empty() { None } else { csv("quality.csv")? };
    let mut quality_plots = Vec::new();
    for size in quality::sizes(&runs) {
        let file = csv(&format!("quality-{size}.svg"))?;
        quality_plots.extend(file.map(|file| (size, file)));
    }
    let resolution_csv = if rests.is_empty() { None } else { csv("resolution.csv")? };
    let resolution_plot = if rests.is_empty() { None } else { csv("resolution.svg")? };
    let budget = if arguments.quick { Budget::QUICK } else { Budget::FULL };

    let bar = progress::bar("bench", count as u64);
    let mut cells: Vec<Cell> = Vec::new();
    let mut start = None;
    for place in &places {
        if interrupt.asked() {
            break;
        }
        bar.set_message(place.name());
        // The next smaller size tells whether this one would take too long.
        let smaller = cells
            .iter()
            .rev()
            .find(|c| c.scene == place.scene && c.method == place.method && c.size < place.size);
        cells.push(cell::measure(place, smaller, &threads, budget, &mut start)?);
        bar.inc(1);
    }
    let mut costs = Vec::new();
    let mut solved = 0;
    for systems in &systems {
        if interrupt.asked() {
            break;
        }
        bar.set_message(systems.name());
        costs.extend(systems.measure(&threads)?);
        solved += 1;
        bar.inc(1);
    }
    let mut qualities = Vec::new();
    for run in &runs {
        if interrupt.asked() {
            break;
        }
        bar.set_message(run.name());
        qualities.push(run.measure(&threads)?);
        bar.inc(1);
    }
    let mut rested = Vec::new();
    for run in &rests {
        if interrupt.asked() {
            break;
        }
        bar.set_message(run.name());
        rested.push(run.measure(&threads)?);
        bar.inc(1);
    }
    let mut added = Vec::new();
    for run in &self_contacts {
        if interrupt.asked() {
            break;
        }
        bar.set_message(run.name());
        added.push(run.measure(&threads)?);
        bar.inc(1);
    }
    bar.finish_and_clear();

    let machine = Machine::this();
    let processor = machine.processor.clone().unwrap_or_else(|| machine.system.clone());
    let plural = if arguments.threads == 1 { "" } else { "s" };
    print(&format!("{processor}, {} thread{plural}\n", arguments.threads));
    print(&tables::tables(&cells));
    print(&tables::facts(&cells));
    print(&systems::tables(&costs));
    print(&quality::tables(&qualities));
    print(&resolution::tables(&rested));
    print(&self_contact::tables(&added));
    if let Some(file) = file {
        let all = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"), "machine": machine, "threads": arguments.threads,
            "quick": arguments.quick, "cells": cells, "systems": costs,
            "quality": qualities, "resolution": rested, "self_contact": added,
        });
        file.commit_bytes(&serde_json::to_vec_pretty(&all).context("cannot write JSON")?)?;
    }
    if let Some(file) = quality_csv {
        file.commit_bytes(quality::csv(&qualities).as_bytes())?;
    }
    for (size, file) in quality_plots {
        file.commit_bytes(quality::plot(&qualities, size).as_bytes())?;
    }
    if let Some(file) = resolution_csv {
        file.commit_bytes(resolution::csv(&rested).as_bytes())?;
    }
    if let Some(file) = resolution_plot {
        file.commit_bytes(resolution::plot(&rested).as_bytes())?;
    }
    let measured = cells.len() + solved + qualities.len() + rested.len() + added.len();
    if measured < count {
        let message = format!("measured {measured} of {count}");
        return Err(Failure::Interrupted(message));
    }
    Ok(())
}

/// Every step to measure, sizes ascending for each method.
fn places(arguments: &BenchArguments) -> Vec<Place> {
    let largest = if arguments.quick { QUICK } else { usize::MAX };
    let filter = arguments.filter.as_deref().unwrap_or("");
    let mut places = Vec::new();
    for (scene, sizes) in SCENES {
        for &size in sizes.iter().filter(|size| **size <= largest) {
            for method in METHODS {
                let place = Place { scene, size, method: method.id };
                if place.name().contains(filter) {
                    places.push(place);
                }
            }
        }
    }
    places
}
