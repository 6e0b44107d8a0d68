//! What self-contact costs: the same frames of `drape` with and without it, in turn.

use crate::failure::Failure;
use crate::record::Times;
use crate::text::{number, table};
use crate::threads::Threads;
use muslin::{Method, Sim, scenes};
use serde::Serialize;
use std::time::Instant;

const METHOD: &str = "kim-2006";
/// Two seconds, in which the cloth falls, folds and meets itself.
const FRAMES: usize = 120;

/// One size.
pub struct Run {
    size: usize,
}

/// What a size gave.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    size: usize,
    method: &'static str,
    without_ms: Times,
    with_ms: Times,
    /// All frames with it over all frames without it.
    ratio: f64,
    most_contacts: usize,
}

impl Run {
    /// Every size; `quick` leaves out large ones.
    pub fn all(quick: bool) -> Vec<Self> {
        let sizes = if quick { &[80][..] } else { &[80, 160, 320] };
        sizes.iter().map(|&size| Self { size }).collect()
    }

    /// Name for the filter.
    pub fn name(&self) -> String {
        format!("self-contact/drape/{}", self.size)
    }

    /// Runs both, a frame of each in turn, so that whatever else the machine does meets both.
    pub fn measure(&self, threads: &Threads) -> Result<Cost, Failure> {
        let mut scene = scenes::named("drape")?;
        (scene.cloth[0].columns, scene.cloth[0].rows) = (self.size, self.size);
        let method = Method::preset(METHOD)?;
        let mut without = Sim::new(scene.compile()?, method.clone())?;
        scene.self_contact = Some(Default::default());
        let mut with = Sim::new(scene.compile()?, method)?;
        let mut ms = [Vec::new(), Vec::new()];
        let mut most_contacts = 0;
        for _ in 0..FRAMES {
            for (sim, ms) in [&mut without, &mut with].into_iter().zip(&mut ms) {
                let begun = Instant::now();
                let done = threads.with(sim, |sim| sim.advance(scene.dt as f32));
                ms.push(1e3 * begun.elapsed().as_secs_f64());
                most_contacts = most_contacts.max(done.self_contact.contacts);
            }
        }
        let sum = |ms: &[f64]| ms.iter().sum::<f64>();
        Ok(Cost {
            size: self.size,
            method: METHOD,
            without_ms: Times::of(&ms[0]),
            with_ms: Times::of(&ms[1]),
            ratio: sum(&ms[1]) / sum(&ms[0]),
            most_contacts,
        })
    }
}

/// One table.
pub fn tables(all: &[Cost]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let head = ["size", "ms/frame without", "with", "all frames, ratio", "most contacts"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for cost in all {
        rows.push(vec![
            format!("{}²", cost.size),
            number(cost.without_ms.median),
            number(cost.with_ms.median),
            format!("{:.2}", cost.ratio),
            cost.most_contacts.to_string(),
        ]);
    }
    let rows = table(&rows, |column| column > 0);
    format!("\nself-contact: drape, {METHOD}, 2 s in frames of 1/60 s\n\n{rows}")
}
