//! The same linear systems solved from several starts and with several preconditioners: what the pyramid of
//! Moustakas et al. gains as a start, and what it gains as a V-cycle.
//!
//! States are taken along one trajectory, so that every way of solving meets the same systems. Cost is
//! counted three ways: iterations on the cloth itself, all products with its matrix (coarse levels by
//! their share of its entries), and time.

use crate::failure::Failure;
use crate::text::{number, table};
use crate::threads::Threads;
use muslin::solvers::{Coarsening, Guess, Jacobian, Preconditioner};
use muslin::{Method, Scene, Sim, State, scenes};
use serde::Serialize;
use std::time::Instant;

/// Some systems of one scene.
pub struct Systems {
    /// Name of the scene.
    scene: &'static str,
    /// Particles along a side.
    size: usize,
    /// Relative residual to reach.
    tolerance: f64,
    /// Stiffness of the structural springs; shear and bend springs keep their ratio to it. [N/m]
    stiffness: f64,
    /// Length of the step. [s]
    step: f64,
    /// How many systems, four steps apart.
    count: usize,
    ways: &'static [Way],
}

/// A way to solve: a name and what it changes of plain conjugate gradients from zero.
type Way = (&'static str, fn(&mut Method));

/// The paper's comparison, and what it is to be compared with.
const STARTS: &[Way] = &[
    ("from zero", |_| {}),
    ("previous step", |m| m.guess = Guess::PreviousStep),
    ("pyramid, 3 levels", |m| (m.guess, m.levels) = (Guess::Pyramid, 3)),
    ("pyramid, 4 levels", |m| (m.guess, m.levels) = (Guess::Pyramid, 4)),
    ("pyramid, 5 levels", |m| (m.guess, m.levels) = (Guess::Pyramid, 5)),
    ("block Jacobi", |m| m.preconditioner = Preconditioner::BlockJacobi),
    ("block Jacobi, previous step", |m| {
        m.preconditioner = Preconditioner::BlockJacobi;
        m.guess = Guess::PreviousStep;
    }),
    ("V-cycle", |m| m.preconditioner = Preconditioner::VCycle),
];

/// The V-cycle against block Jacobi.
const PRECONDITIONERS: &[Way] = &[
    ("block Jacobi", |m| m.preconditioner = Preconditioner::BlockJacobi),
    ("V-cycle, quincunx", |m| {
        m.preconditioner = Preconditioner::VCycle;
        m.coarsening = Coarsening::Quincunx;
    }),
    ("V-cycle, doubled", |m| {
        m.preconditioner = Preconditioner::VCycle;
        m.coarsening = Coarsening::Doubled;
    }),
];

/// What one way took for one system.
#[derive(Clone, Copy, Debug)]
pub struct Solve {
    /// Iterations on the cloth itself.
    pub iterations: f64,
    /// Products with its matrix, coarse levels by their share of its entries.
    pub products: f64,
    /// Time. [ms]
    pub ms: f64,
}

/// What one way took per system.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    scene: &'static str,
    size: usize,
    tolerance: f64,
    stiffness: f64,
    step: f64,
    way: &'static str,
    iterations: f64,
    products: f64,
    ms: f64,
}

impl Systems {
    /// Moustakas' comparison: `count` systems of a scene with `size`² particles, k = 100 N/m and h = 0.01 s.
    pub fn starts(scene: &'static str, size: usize, tolerance: f64, count: usize) -> Self {
        Self { scene, size, tolerance, stiffness: 100.0, step: 0.01, count, ways: STARTS }
    }

    /// The V-cycle against block Jacobi, on stiff systems of the flag.
    pub fn preconditioners(size: usize, count: usize) -> Self {
        Self {
            scene: "moustakas-flag",
            size,
            tolerance: 1e-6,
            stiffness: 1e4,
            step: 1.0 / 60.0,
            count,
            ways: PRECONDITIONERS,
        }
    }

    /// Everything to measure; `quick` leaves out the large ones.
    pub fn all(quick: bool) -> Vec<Self> {
        let mut all = Vec::new();
        for scene in ["moustakas-fabric", "moustakas-flag"] {
            for size in if quick { &[20, 30][..] } else { &[20, 30, 50, 100] } {
                for tolerance in [1e-2, 1e-4] {
                    all.push(Self::starts(scene, *size, tolerance, 20));
                }
            }
        }
        for size in if quick { &[20, 50][..] } else { &[20, 30, 50, 100, 200, 320] } {
            all.push(Self::preconditioners(*size, if *size > 100 { 2 } else { 6 }));
        }
        all
    }

    /// Name for the filter.
    pub fn name(&self) -> String {
        format!("systems/{}/{}/{:e}/k={}", self.scene, self.size, self.tolerance, self.stiffness)
    }

    fn build(&self) -> Result<Scene, Failure> {
        let mut scene = scenes::named(self.scene)?;
        scene.dt = self.step;
        let cloth = &mut scene.cloth[0];
        (cloth.columns, cloth.rows) = (self.size, self.size);
        let springs = &mut cloth.springs;
        let factor = self.stiffness / springs.structural;
        springs.structural *= factor;
        springs.shear *= factor;
        springs.bend *= factor;
        Ok(scene)
    }

    fn method(&self, change: fn(&mut Method)) -> Result<Method, Failure> {
        let mut method = Method::preset("moustakas")?;
        // Semi-definite, so that conjugate gradients can solve every system.
        (method.jacobian, method.guess) = (Jacobian::Psd, Guess::Zero);
        (method.tolerance, method.max_iterations) = (self.tolerance, 100_000);
        change(&mut method);
        Ok(method)
    }

    /// Solves them every way; the mean of each.
    pub fn measure(&self, threads: &Threads) -> Result<Vec<Cost>, Failure> {
        let cost = |(way, solves): (&'static str, Vec<Solve>)| {
            let mean = |pick: fn(&Solve) -> f64| {
                solves.iter().map(pick).sum::<f64>() / solves.len().max(1) as f64
            };
            Cost {
                scene: self.scene,
                size: self.size,
                tolerance: self.tolerance,
                stiffness: self.stiffness,
                step: self.step,
                way,
                iterations: mean(|s| s.iterations),
                products: mean(|s| s.products),
                ms: mean(|s| s.ms),
            }
        };
        Ok(self.solve(threads, &|| Ok(()))?.into_iter().map(cost).collect())
    }

    /// Solves them every way, system by system; asks before each whether to go on.
    pub fn solve(
        &self,
        threads: &Threads,
        go_on: &dyn Fn() -> Result<(), Failure>,
    ) -> Result<Vec<(&'static str, Vec<Solve>)>, Failure> {
        let scene = self.build()?;
        let step = self.step as f32;
        let states = self.states(&scene)?;
        let mut all = Vec::new();
        for &(way, change) in self.ways {
            let mut sim = Sim::new(scene.compile()?, self.method(change)?)?;
            // The first step makes the storage.
            sim.advance(step);
            let mut solves = Vec::new();
            for state in &states {
                go_on()?;
                sim.restore(state)?;
                let begun = Instant::now();
                let done = threads.with(&mut sim, |sim| sim.advance(step));
                let ms = 1e3 * begun.elapsed().as_secs_f64();
                let iterations = f64::from(done.solver.iterations);
                solves.push(Solve { iterations, products: done.solver.work, ms });
            }
            all.push((way, solves));
        }
        Ok(all)
    }

    /// States along one trajectory, four steps apart.
    fn states(&self, scene: &Scene) -> Result<Vec<State>, Failure> {
        let mut guide = self.method(|m| {
            (m.guess, m.preconditioner) = (Guess::PreviousStep, Preconditioner::VCycle);
        })?;
        guide.tolerance = guide.tolerance.min(1e-4);
        let mut sim = Sim::new(scene.compile()?, guide)?;
        let mut states = Vec::new();
        for _ in 0..self.count {
            (0..4).for_each(|_| {
                sim.advance(self.step as f32);
            });
            states.push(sim.state().clone());
        }
        Ok(states)
    }
}

/// One table per set of systems, gains against its first way.
pub fn tables(costs: &[Cost]) -> String {
    let mut text = String::new();
    for block in costs.chunk_by(|a, b| {
        (a.scene, a.size, a.stiffness) == (b.scene, b.size, b.stiffness)
            && a.tolerance == b.tolerance
    }) {
        let first = &block[0];
        let head = ["way", "iterations", "gain", "products", "gain", "ms", "gain"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for cost in block {
            let mut row = vec![cost.way.to_owned()];
            for (value, baseline) in [
                (cost.iterations, first.iterations),
                (cost.products, first.products),
                (cost.ms, first.ms),
            ] {
                let gain = 100.0 * (1.0 - value / baseline);
                row.extend([number(value), format!("{gain:+.0} %")]);
            }
            rows.push(row);
        }
        text.push_str(&format!(
            "\n{} {}², k = {} N/m, h = {} s, tolerance {:e}: a step, gains against the first row\n\n{}",
            first.scene,
            first.size,
            first.stiffness,
            number(first.step),
            first.tolerance,
            table(&rows, |column| column > 0)
        ));
    }
    text
}
