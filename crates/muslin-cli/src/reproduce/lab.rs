//! What experiments have in common: sizes for a quick or a full run, falls that may blow up, steps timed in turn, and
//! strips of frames.

use super::finding::Verdict;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::page::plot::{Marks, Plot, Series};
use crate::picture::{Image, Stage, points, sheet};
use glam::Vec3;
use indicatif::ProgressBar;
use muslin::{Method, Model, Scene, Sim, Warning};
use std::time::Instant;

pub use super::finding::{Check, Finding};
pub use super::words;
pub use crate::text::{number, percent};
pub const HOLDS: Verdict = Verdict::Holds;
pub const CONDITION: Verdict = Verdict::HoldsWithACondition;
pub const FAILS: Verdict = Verdict::DoesNotHold;

/// Faster than this a cloth has blown up. [m/s]
const TOO_FAST: f64 = 1e3;
/// Width and height of one frame of a strip in pixels.
const FRAME: (usize, usize) = (260, 220);

/// Where an experiment runs.
pub struct Lab<'a> {
    /// Whether small sizes are to do.
    pub quick: bool,
    /// Whether the user wants to stop.
    pub interrupt: &'a Interrupt,
    /// Shows what is going on.
    pub bar: &'a ProgressBar,
}

/// A claim that is tested, and how.
pub struct Experiment {
    /// Name for files and links.
    pub id: &'static str,
    /// Table or figure, and what it is about.
    pub title: &'static str,
    /// What the paper says.
    pub claim: &'static str,
    /// What was run, and what had to be assumed.
    pub setup: &'static [&'static str],
    /// Whether the verdict depends on the time a step takes, and so on the machine.
    pub timed: bool,
    /// Does it.
    pub run: fn(&Lab) -> Result<Finding, Failure>,
}

impl Lab<'_> {
    /// A size by the length of the run.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Shows what is going on; fails if the user wants to stop.
    pub fn now(&self, what: &str) -> Result<(), Failure> {
        self.bar.set_message(what.to_owned());
        if self.interrupt.asked() {
            return Err(Failure::Interrupted(String::new()));
        }
        Ok(())
    }

    /// Runs a scene and watches it; `frames` are the steps after which the state is kept.
    pub fn fall(
        &self,
        scene: &Scene,
        method: &Method,
        steps: u32,
        frames: &[u32],
    ) -> Result<Fall, Failure> {
        self.fall_seen(scene, method, steps, frames, |_| {})
    }

    /// The same, shown to `see` after every step.
    pub fn fall_seen(
        &self,
        scene: &Scene,
        method: &Method,
        steps: u32,
        frames: &[u32],
        mut see: impl FnMut(&Sim),
    ) -> Result<Fall, Failure> {
        let mut sim = Sim::new(scene.compile()?, method.clone())?;
        let mut fall = Fall::default();
        for step in 1..=steps {
            if step % 16 == 0 {
                self.now(&format!("{} step {step}", method.id))?;
            }
            let done = sim.advance(scene.dt as f32);
            let report = sim.measure();
            fall.max_speed = fall.max_speed.max(report.max_speed);
            fall.max_strain = fall.max_strain.max(report.max_strain);
            fall.fastest.push((report.max_speed, fastest(&sim.state().v)));
            fall.lowest.push(report.lowest);
            fall.kinetic.push(report.energy.kinetic);
            fall.mean_strain.push(report.mean_strain);
            see(&sim);
            let blown_up =
                done.warnings.contains(Warning::RolledBack) || report.max_speed > TOO_FAST;
            if frames.contains(&step) || blown_up {
                fall.frames.push(points(sim.model(), sim.state()));
            }
            if blown_up {
                fall.diverged_at = Some(step);
                break;
            }
        }
        fall.end = points(sim.model(), sim.state());
        Ok(fall)
    }

    /// Milliseconds of a step of each simulation: the least of several rounds in which all take turns, so that
    /// what else the machine does hits all of them. `batch` steps are timed together, each from the same
    /// state.
    pub fn times(
        &self,
        sims: &mut [(Sim, f32)],
        batch: u32,
        rounds: u32,
    ) -> Result<Vec<f64>, Failure> {
        let starts: Vec<_> = sims.iter().map(|(sim, _)| sim.state().clone()).collect();
        let mut least = vec![f64::INFINITY; sims.len()];
        for round in 0..=rounds {
            self.now(&format!("timing, round {round} of {rounds}"))?;
            for (i, (sim, h)) in sims.iter_mut().enumerate() {
                sim.restore(&starts[i])?;
                let begun = Instant::now();
                for _ in 0..batch {
                    sim.advance(*h);
                }
                let ms = 1e3 * begun.elapsed().as_secs_f64() / f64::from(batch);
                // The first round makes the storage.
                if round > 0 {
                    least[i] = least[i].min(ms);
                }
            }
        }
        Ok(least)
    }
}

fn fastest(v: &[Vec3]) -> usize {
    let square = |i: &usize| v[*i].length_squared();
    (0..v.len()).max_by(|a, b| square(a).total_cmp(&square(b))).unwrap_or(0)
}

/// What a run showed.
#[derive(Default)]
pub struct Fall {
    /// The step at which it blew up.
    pub diverged_at: Option<u32>,
    /// Fastest particle of all steps. [m/s]
    pub max_speed: f64,
    /// Most stretched structural spring of all steps.
    pub max_strain: f64,
    /// Speed of the fastest particle after each step [m/s], and which it is.
    pub fastest: Vec<(f64, usize)>,
    /// Lowest particle after each step. [m]
    pub lowest: Vec<f64>,
    /// Kinetic energy after each step. [J]
    pub kinetic: Vec<f64>,
    /// Mean strain of structural springs after each step.
    pub mean_strain: Vec<f64>,
    /// States asked for, bodies included; the last one if it blew up.
    pub frames: Vec<Vec<Vec3>>,
    /// Where it ended, bodies included.
    pub end: Vec<Vec3>,
}

impl Fall {
    /// Whether it stayed finite and slow.
    pub fn is_sound(&self) -> bool {
        self.diverged_at.is_none()
    }

    /// Whether it is stable like this run of the implicit method on the same scene.
    pub fn is_stable_beside(&self, implicit: &Fall) -> bool {
        self.is_sound() && words::STABLE.fits(self.max_speed / implicit.max_speed)
    }

    /// Lowest particle after a step, or not a number if it did not get there. [m]
    pub fn low(&self, step: u32) -> f64 {
        self.lowest.get(step as usize - 1).copied().unwrap_or(f64::NAN)
    }

    /// Kinetic energy at the end. [J]
    pub fn last_kinetic(&self) -> f64 {
        self.kinetic.last().copied().unwrap_or(f64::NAN)
    }

    /// "yes", or the step at which it blew up.
    pub fn soundness(&self) -> String {
        self.diverged_at.map_or("yes".into(), |step| format!("no, step {step}"))
    }

    /// The lowest particle over time, for a plot.
    pub fn curve(&self, name: &str, dt: f64) -> Series {
        let points = self.lowest.iter().enumerate().map(|(i, y)| ((i + 1) as f64 * dt, *y));
        Series { name: name.into(), points: points.collect() }
    }
}

/// Frames side by side, all seen from the same place; coloured by strain where a full scale is given.
pub fn strip<'x>(
    model: &Model,
    seen: impl Iterator<Item = &'x [Vec3]> + Clone,
    frames: &[Vec<Vec3>],
    full: Option<f32>,
) -> Image {
    let stage = Stage::new(model, seen, FRAME);
    let draw =
        |x: &Vec<Vec3>| full.map_or_else(|| stage.draw(x), |full| stage.draw_strain(x, full));
    sheet(&frames.iter().map(draw).collect::<Vec<_>>(), frames.len())
}

/// One state seen for itself; coloured by strain where a full scale is given.
pub fn still(model: &Model, x: &[Vec3], full: Option<f32>) -> Image {
    let stage = Stage::new(model, std::iter::once(x), FRAME);
    full.map_or_else(|| stage.draw(x), |full| stage.draw_strain(x, full))
}

/// Curves over time or steps.
pub fn curves(title: &str, x: &str, y: &str, series: Vec<Series>) -> Plot {
    Plot {
        title: title.into(),
        x: x.into(),
        y: y.into(),
        marks: Marks::Curves,
        logarithmic: [false; 2],
        series,
    }
}

/// Points joined by lines, on logarithmic axes where asked for.
pub fn dotted(title: &str, x: &str, y: &str, logarithmic: [bool; 2], series: Vec<Series>) -> Plot {
    Plot { marks: Marks::Dotted, logarithmic, ..curves(title, x, y, series) }
}

/// A named curve.
pub fn series(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    Series { name: name.into(), points: points.into_iter().collect() }
}

/// A method by name; the names in this module are those of the list of methods.
pub fn preset(id: &str) -> Result<Method, Failure> {
    Ok(Method::preset(id)?)
}

/// A row of a table.
pub fn row<const N: usize>(cells: [String; N]) -> Vec<String> {
    cells.to_vec()
}

/// Root mean square distance between two sets of vectors, times the root of their number.
pub fn distance(a: &[Vec3], b: &[Vec3]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| a.as_dvec3().distance_squared(b.as_dvec3()));
    squares.sum::<f64>().sqrt()
}

/// Slope and intercept of the least-squares line, and the share of the variance it explains.
pub fn line_fit(points: &[(f64, f64)]) -> (f64, f64, f64) {
    let n = points.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (mx, my) = (mean(&|p| p.0), mean(&|p| p.1));
    let sxy = mean(&|p| (p.0 - mx) * (p.1 - my));
    let (sxx, syy) = (mean(&|p| (p.0 - mx).powi(2)), mean(&|p| (p.1 - my).powi(2)));
    let slope = sxy / sxx;
    (slope, my - slope * mx, sxy * sxy / (sxx * syy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_fitted_exactly() {
        let (slope, intercept, explained) = line_fit(&[(0.0, 1.0), (1.0, 3.0), (4.0, 9.0)]);
        assert!((slope - 2.0).abs() < 1e-12 && (intercept - 1.0).abs() < 1e-12);
        assert!((explained - 1.0).abs() < 1e-12);
    }
}
