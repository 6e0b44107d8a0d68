//! Keeps frames within a budget of time by what the solver may spend.
//!
//! ```text
//!   time of a frame = solves · fixed + iterations · each
//! ```
//!
//! Both are learnt from the frames so far. The next frame gets as many linearisations as leave each
//! solve a few iterations, then as many iterations as fit. The effort is an input like any other: a run
//! is repeated bit for bit by repeating its efforts, on whatever machine.

use crate::inputs::Effort;
use crate::report::{SolverReport, Stages};

/// Solves with fewer iterations than this are better merged into one.
const ENOUGH: u32 = 3;

/// Share of the budget that is planned for; frames differ.
const PLANNED: f64 = 0.9;

/// Weight of the last frame in what is learnt.
const FORGETS: f64 = 0.2;

/// A budget and what is known about the cost of frames.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Of a frame. [s]
    budget: f64,
    most: Effort,
    /// Cost of a solve without iterations, and of an iteration. [s]
    fixed: f64,
    each: f64,
    /// Of the next frame.
    effort: Effort,
}

impl Pace {
    /// A budget in seconds, for a method that would spend `most`. The first frame is a careful one.
    pub fn new(budget: f64, most: Effort) -> Self {
        let effort = Effort { linearisations: 1, iterations: ENOUGH.min(most.iterations) };
        Self { budget, most, fixed: f64::NAN, each: f64::NAN, effort }
    }

    /// What the next frame may spend.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Learns from a frame.
    pub fn learn(&mut self, did: &SolverReport, took: &Stages) {
        if did.iterations == 0 {
            return;
        }
        let solves = f64::from(did.solves.max(1));
        let total = took.forces + took.solve + took.rest;
        follow(&mut self.each, took.iterating / f64::from(did.iterations));
        follow(&mut self.fixed, (total - took.iterating).max(0.0) / solves);
        // Solves of one linearisation each: substeps, and contacts that had to be guessed again.
        let rounds = solves / f64::from(self.effort.linearisations);
        let affordable = |linearisations: u32| {
            let solves = rounds * f64::from(linearisations);
            let left = PLANNED * self.budget / solves - self.fixed;
            (left / self.each).clamp(0.0, f64::from(u32::MAX)) as u32
        };
        let fits = |n: &u32| affordable(*n) >= ENOUGH.min(self.most.iterations);
        let linearisations = (1..=self.most.linearisations.max(1)).rev().find(fits).unwrap_or(1);
        let iterations = affordable(linearisations).clamp(1, self.most.iterations.max(1));
        self.effort = Effort { linearisations, iterations };
    }
}

fn follow(mean: &mut f64, now: f64) {
    *mean = if mean.is_nan() { now } else { *mean + FORGETS * (now - *mean) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame that costs what the model says.
    fn frame(effort: Effort, substeps: u32, fixed: f64, each: f64) -> (SolverReport, Stages) {
        let solves = substeps * effort.linearisations;
        let iterations = solves * effort.iterations;
        let (forces, iterating) = (f64::from(solves) * fixed, f64::from(iterations) * each);
        let stages = Stages { forces, solve: iterating, iterating, rest: 0.0 };
        (SolverReport { solves, iterations, ..SolverReport::default() }, stages)
    }

    #[test]
    fn frames_come_to_fit_and_use_the_budget() {
        for (budget, substeps) in [(2e-3, 1), (8e-3, 1), (8e-3, 2), (0.1, 1)] {
            let most = Effort { linearisations: 2, iterations: 32 };
            let mut pace = Pace::new(budget, most);
            let mut last = 0.0;
            for _ in 0..20 {
                let (did, took) = frame(pace.effort(), substeps, 0.8e-3, 0.3e-3);
                last = took.forces + took.solve;
                pace.learn(&did, &took);
            }
            assert!(last <= budget, "{last} for {budget}");
            let all = pace.effort() == most;
            assert!(
                all || last > budget - f64::from(4 * substeps) * 0.3e-3 - 0.1 * budget,
                "{last}"
            );
        }
    }

    #[test]
    fn a_budget_below_any_frame_leaves_the_least_effort() {
        let mut pace = Pace::new(1e-4, Effort { linearisations: 3, iterations: 32 });
        let (did, took) = frame(pace.effort(), 1, 1e-3, 1e-3);
        pace.learn(&did, &took);
        assert_eq!(pace.effort(), Effort { linearisations: 1, iterations: 1 });
    }
}
