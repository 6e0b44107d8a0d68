//! One measurement: one method on one scene at one size.

use crate::ALLOCATOR;
use crate::failure::Failure;
use crate::record::Times;
use crate::text::number;
use crate::threads::Threads;
use muslin::solvers::Integrator;
use muslin::{Method, Scene, Sim, State, scenes};
use serde::Serialize;
use stats_alloc::Region;
use std::time::Instant;

/// k h²/m at which explicit methods are timed: small enough to stay finite for thousands of
/// steps. A step costs the same whatever its length.
const EXPLICIT_STIFFNESS: f32 = 1e-4;
/// A step that takes longer is not repeated. [ms]
const TOO_LONG: f64 = 20_000.0;
/// Growth of the cost from one size to the next that is expected before measuring.
const GROWTH: f64 = 8.0;

/// How long to measure.
#[derive(Clone, Copy)]
pub struct Budget {
    falling_frames: usize,
    warm_up_frames: usize,
    warm_up_ms: f64,
    measure_ms: f64,
    most_samples: usize,
}

impl Budget {
    /// For figures to keep.
    pub const FULL: Self = Self {
        falling_frames: 600,
        warm_up_frames: 5,
        warm_up_ms: 2000.0,
        measure_ms: 1500.0,
        most_samples: 400,
    };
    /// For a look.
    pub const QUICK: Self = Self {
        falling_frames: 100,
        warm_up_frames: 3,
        warm_up_ms: 200.0,
        measure_ms: 150.0,
        most_samples: 100,
    };
}

/// What to measure.
pub struct Place {
    /// Name of the scene.
    pub scene: &'static str,
    /// Particles along a side.
    pub size: usize,
    /// Name of the method.
    pub method: &'static str,
}

impl Place {
    /// Name for the filter.
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.scene, self.size, self.method)
    }

    fn build(&self) -> Result<Scene, Failure> {
        let mut scene = scenes::named(self.scene)?;
        scene.substeps = 1;
        for cloth in &mut scene.cloth {
            (cloth.columns, cloth.rows) = (self.size, self.size);
            // Kim's constants are for unit spacing.
            if cloth.springs.type1 > 0.0 {
                (cloth.width, cloth.height) = ((self.size - 1) as f64, (self.size - 1) as f64);
            }
        }
        Ok(scene)
    }
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Name of the scene.
    pub scene: &'static str,
    /// Particles along a side.
    pub size: usize,
    /// Name of the method.
    pub method: &'static str,
    /// Particles.
    pub particles: usize,
    /// Springs.
    pub springs: usize,
    /// Length of the step. [s]
    pub step: f32,
    /// Time of a step; `None` if skipped. [ms]
    pub ms_per_step: Option<Times>,
    /// Steps measured.
    pub samples: usize,
    /// Iterations of the last step.
    pub iterations: u32,
    /// Bytes held by the model and the simulation after a step.
    pub bytes: usize,
    /// Why it was not measured.
    pub skipped: Option<String>,
}

impl Cell {
    /// Fastest step. [ms]
    pub fn fastest(&self) -> Option<f64> {
        self.ms_per_step.map(|times| times.min)
    }
}

/// Kim's cloth in the middle of its fall, for the scene and size it was made for.
pub struct Falling {
    scene: &'static str,
    size: usize,
    state: State,
}

/// Where every method of a Kim scene is timed: after the same fall, because a flat sheet is easy.
fn fall<'a>(
    place: &Place,
    scene: &Scene,
    budget: Budget,
    last: &'a mut Option<Falling>,
) -> Result<Option<&'a State>, Failure> {
    if !place.scene.starts_with("kim") {
        return Ok(None);
    }
    if !last.as_ref().is_some_and(|f| f.scene == place.scene && f.size == place.size) {
        let mut sim = Sim::new(scene.compile()?, Method::preset("kim-2006")?)?;
        for _ in 0..budget.falling_frames {
            sim.advance(scene.dt as f32);
        }
        let state = sim.state().clone();
        *last = Some(Falling { scene: place.scene, size: place.size, state });
    }
    Ok(last.as_ref().map(|f| &f.state))
}

/// Measures one place; `smaller` is the same with fewer particles, `falling` what the place before
/// started from.
pub fn measure(
    place: &Place,
    smaller: Option<&Cell>,
    threads: &Threads,
    budget: Budget,
    falling: &mut Option<Falling>,
) -> Result<Cell, Failure> {
    let scene = place.build()?;
    let mut cell = Cell {
        scene: place.scene,
        size: place.size,
        method: place.method,
        particles: place.size * place.size,
        springs: 0,
        step: scene.dt as f32,
        ms_per_step: None,
        samples: 0,
        iterations: 0,
        bytes: 0,
        skipped: smaller.and_then(too_long),
    };
    if cell.skipped.is_some() {
        return Ok(cell);
    }

    let start = fall(place, &scene, budget, falling)?;
    let region = Region::new(ALLOCATOR);
    let method = Method::preset(place.method)?;
    let is_explicit = !matches!(
        method.integrator,
        Integrator::BackwardEuler | Integrator::Bdf2 | Integrator::Xpbd | Integrator::ShapeMatching
    );
    let mut sim = Sim::new(scene.compile()?, method)?;
    if let Some(start) = start {
        sim.restore(start)?;
    }
    cell.springs = sim.model().spring_count();
    if is_explicit {
        let stiffness = sim.model().stiffness_number(cell.step).max(f32::MIN_POSITIVE);
        cell.step *= (EXPLICIT_STIFFNESS / stiffness).sqrt().min(1.0);
    }

    // The first steps build the solver's structures and bring the cloth out of its flat start.
    let mut spent = 0.0;
    for frame in 0..budget.warm_up_frames {
        let last = timed(&mut sim, threads, cell.step, &mut cell.iterations);
        spent += last;
        if frame == 0 {
            let change = region.change();
            cell.bytes = change.bytes_allocated.saturating_sub(change.bytes_deallocated);
        }
        if last > TOO_LONG {
            cell.skipped = Some(format!("one step took {} s", number(last / 1e3)));
            return Ok(cell);
        }
        if spent > budget.warm_up_ms {
            break;
        }
    }

    let mut milliseconds = Vec::new();
    while milliseconds.len() < budget.most_samples
        && (milliseconds.is_empty() || milliseconds.iter().sum::<f64>() < budget.measure_ms)
    {
        milliseconds.push(timed(&mut sim, threads, cell.step, &mut cell.iterations));
    }
    cell.samples = milliseconds.len();
    cell.ms_per_step = Some(Times::of(&milliseconds));
    Ok(cell)
}

/// Milliseconds of one step.
fn timed(sim: &mut Sim, threads: &Threads, step: f32, iterations: &mut u32) -> f64 {
    let begun = Instant::now();
    let done = threads.with(sim, |sim| sim.advance(step));
    let spent = 1e3 * begun.elapsed().as_secs_f64();
    *iterations = done.solver.iterations;
    spent
}

/// Why the next size is not tried.
fn too_long(smaller: &Cell) -> Option<String> {
    match (&smaller.skipped, smaller.ms_per_step) {
        (Some(_), _) => Some("the smaller size was skipped".into()),
        (None, Some(times)) if GROWTH * times.median > TOO_LONG => {
            let taken = number(times.median / 1e3);
            Some(format!("a step at {0}×{0} took {taken} s", smaller.size))
        }
        _ => None,
    }
}
