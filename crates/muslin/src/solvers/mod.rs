//! Methods: how a state is carried one step further.
//!
//! A [`Method`] is a value: the integrator and the choices the papers vary. [`presets`] names the
//! papers' combinations. [`solver_for`] turns a method into the [`Solver`] that carries it out;
//! a researcher's own solver implements the same trait and goes into [`crate::Sim::with_solver`].

pub mod bdf2;
mod enough;
pub mod explicit;
pub mod implicit;
mod levels;
pub mod momentum;
mod potential;
pub mod presets;
pub mod pyramid_guess;
pub mod shape_fit;
pub mod shape_matching;
pub mod xpbd;

pub use crate::forces::spring::Jacobian;

use crate::collide::Guide;
use crate::error::Error;
use crate::inputs::{Effort, Inputs};
use crate::model::Model;
use crate::par::Par;
use crate::state::State;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// How time advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// x += h v, v += h f/m with the old v (Rubin Eq. 3).
    ExplicitEuler,
    /// v += h f/m, x += h v with the new v (Kim Eq. 2, Moustakas Eq. 1).
    SymplecticEuler,
    /// Explicit midpoint.
    Midpoint,
    /// Classical Runge–Kutta of fourth order.
    Rk4,
    /// A Δv = h (f + h J v): the implicit family.
    BackwardEuler,
    /// The same looking back two steps (Choi & Ko 2002): second order.
    Bdf2,
    /// Extended position-based dynamics.
    Xpbd,
    /// Meshless deformations: every particle is drawn to its place in a fitted shape.
    ShapeMatching,
}

/// Which spring law is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpringLaw {
    /// What the scene says.
    Scene,
    /// No force in compression for strong springs (Choi & Ko 2002, Kim Eq. 6).
    TensionOnly,
}

/// Start of the linear solve, in terms of Δv.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guess {
    /// Δv = 0.
    Zero,
    /// v* = v, the words of Kang 2000 and Kim; in this form the same start as zero.
    Velocity,
    /// Δv = A_ii⁻¹ b_i, the p of Kang & Cho Eq. 18.
    PVector,
    /// Δv of the previous step.
    PreviousStep,
    /// From `levels` coarser cloths, level by level (Moustakas et al.). Grids only.
    Pyramid,
}

/// Weights of the prediction between levels of the pyramid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// Solved from Moustakas Eq. 21 for `correlation`.
    MinimumVariance,
    /// Eq. 23 as printed.
    Printed,
    /// The mean of the four nearest.
    Mean,
}

/// How A Δv = b is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinearSolver {
    /// `sweeps` block Jacobi sweeps.
    Jacobi,
    /// `sweeps` block Gauss–Seidel sweeps in place.
    GaussSeidel,
    /// Conjugate gradients to `tolerance`.
    ConjugateGradient,
    /// Conjugate gradients preconditioned by V-cycles over coarser levels of any mesh, until the strain
    /// of what is left is below `tolerance`. Hinges enter by one direction each. Where there are 3D
    /// springs, conjugate gradients without levels.
    Hierarchy,
    /// Sparse Cholesky; factored once when the Jacobian is scalar, else every step.
    Cholesky,
}

/// Order of a Gauss–Seidel sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweepOrder {
    /// By particle index, on one thread.
    Rows,
    /// Colour by colour, on all threads.
    Colours,
}

/// Preconditioner of conjugate gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preconditioner {
    /// None.
    None,
    /// Inverse diagonal blocks.
    BlockJacobi,
    /// One V-cycle over the quincunx pyramid. Grids only.
    VCycle,
}

/// How the levels of the V-cycle follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coarsening {
    /// Every level of the quincunx pyramid: half of the particles remain each time.
    Quincunx,
    /// Every other level: a quarter remains. A few more iterations, each a good deal cheaper.
    Doubled,
}

/// Whether weak springs (bend, type 2) are in the system matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeakSprings {
    /// Like all others.
    Implicit,
    /// Force only, no stiffness (Kim §3).
    Explicit,
}

/// Momentum put back into unpinned pieces after the solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MomentumCorrection {
    /// None.
    None,
    /// Linear momentum: cures the slow fall of truncated sweeps.
    Linear,
    /// Linear and angular momentum (Desbrun 1999).
    LinearAndAngular,
}

/// How a fitted shape may deform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Modes {
    /// Turn and shift only.
    Rigid,
    /// Stretch and shear too.
    Linear,
    /// Bend and twist too.
    Quadratic,
}

/// Layers of particles that shape matching fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layers {
    /// The cloth only.
    Planar,
    /// The cloth and hidden interface particles at the same places, on which pulls act.
    Interface,
    /// The cloth and interface particles beside it by one particle spacing, as Rubin has it.
    Extruded,
}

/// Springs that act besides shape matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Internal {
    /// None.
    None,
    /// Structural springs and their dampers: the hybrid.
    Structural,
}

/// A method: the integrator and every choice the papers vary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Name, as listed by `muslin list methods`.
    pub id: String,
    /// How time advances.
    pub integrator: Integrator,
    /// Which spring law is in force.
    pub springs: SpringLaw,
    /// No spring that is not for bending may be longer than 1 + this times its rest length after a step;
    /// 0: no limit.
    pub strain_limit: f32,
    /// No particle may be farther from a held one than this times the way along the cloth at rest; 0: no
    /// tethers.
    pub tethers: f32,
    /// Time that a frame may take, by spending less on linearisations and iterations; 0: no limit. [ms]
    pub budget: f64,
    /// Whether weak springs are in the matrix. Backward Euler only, like all below.
    pub weak_springs: WeakSprings,
    /// Jacobian model.
    pub jacobian: Jacobian,
    /// Start of the solve.
    pub guess: Guess,
    /// Levels of the pyramid guess, the cloth itself included.
    pub levels: u32,
    /// Prediction filter of the pyramid guess.
    pub filter: Filter,
    /// Correlation λ between neighbours, for which the filter is solved.
    pub correlation: f64,
    /// Linear solver.
    pub solver: LinearSolver,
    /// Jacobi or Gauss–Seidel sweeps; constraint sweeps of XPBD.
    pub sweeps: u32,
    /// Order of Gauss–Seidel sweeps.
    pub order: SweepOrder,
    /// Preconditioner of conjugate gradients.
    pub preconditioner: Preconditioner,
    /// Levels of the V-cycle.
    pub coarsening: Coarsening,
    /// Relative residual at which conjugate gradients stop; strain left, for the hierarchy.
    pub tolerance: f64,
    /// Conjugate gradients give up after this many iterations.
    pub max_iterations: u32,
    /// Linearisations per step; more than one solves the nonlinear step.
    pub newton: u32,
    /// Momentum put back into unpinned pieces.
    pub momentum: MomentumCorrection,
    /// How the fitted shape may deform. Shape matching only, like all below.
    pub modes: Modes,
    /// Share of the way to its goal a particle is drawn in one step, 0 to 1: the goals' stiffness is
    /// alpha m/h².
    pub alpha: f64,
    /// Share of the deformed shape in the goals, 0 to 1; the rest is the rigid one.
    pub beta: f64,
    /// Layers of particles that are fitted.
    pub layers: Layers,
    /// Each cloth is covered by regions × regions overlapping fits.
    pub regions: u32,
    /// Springs that act as well.
    pub internal: Internal,
}

impl Method {
    /// The preset of this name.
    pub fn preset(id: &str) -> Result<Self, Error> {
        presets::METHODS.iter().find(|p| p.id == id).map(|p| p.method()).ok_or_else(|| {
            let known: Vec<_> = presets::METHODS.iter().map(|p| p.id).collect();
            Error::new("method", id, format!("no such method; choose one of {}", known.join(", ")))
        })
    }

    /// Checks the ranges of the numbers.
    pub fn validate(&self) -> Result<(), Error> {
        let range = |key: &str, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                let remedy = format!("must be between {low} and {high}");
                Err(Error::new(format!("method.{key}"), value, remedy))
            }
        };
        range("sweeps", self.sweeps, 1, 100_000)?;
        range("newton", self.newton, 1, 1000)?;
        range("levels", self.levels, 1, 40)?;
        range("max_iterations", self.max_iterations, 1, 10_000_000)?;
        range("regions", self.regions, 1, 64)?;
        for (key, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(0.0..=1.0).contains(&value) {
                let remedy = "must be between 0 and 1";
                return Err(Error::new(format!("method.{key}"), value, remedy));
            }
        }
        for (key, value) in
            [("strain_limit", f64::from(self.strain_limit)), ("budget", self.budget)]
        {
            if !(0.0..1e6).contains(&value) {
                let remedy = "must be 0, for none, or positive";
                return Err(Error::new(format!("method.{key}"), value, remedy));
            }
        }
        if self.tethers != 0.0 && !(1.0..1e6).contains(&self.tethers) {
            let remedy = "must be 0, for none, or at least 1";
            return Err(Error::new("method.tethers", self.tethers, remedy));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            let remedy = "must be between 0 and 1, for example 1e-4";
            return Err(Error::new("method.tolerance", self.tolerance, remedy));
        }
        if !(self.correlation > 0.0 && self.correlation < 1.0) {
            let remedy = "must be between 0 and 1, for example 0.95";
            return Err(Error::new("method.correlation", self.correlation, remedy));
        }
        Ok(())
    }

    /// The largest stiffness number k h²/m this method was seen to stand on the grids of
    /// Kim Fig. 4 (`docs/papers.md` has the measurements); infinite if none was found.
    ///
    /// On a net of eight springs per particle a mode has ω² ≤ 8 k/m and γ ≤ 8 kd/m, and symplectic
    /// Euler stands h γ + ½ h² ω² < 2. Explicit Euler gains energy unless h < γ/ω², midpoint unless
    /// h³ ω⁴ < 8 γ; a hundredth of its limit is gained too slowly to be seen.
    pub fn stiffness_limit(&self, model: &Model, h: f32) -> f32 {
        let sweeps_are_odd = self.sweeps % 2 == 1;
        let dampers = 2.0 * h * model.most_damped;
        match self.integrator {
            Integrator::ExplicitEuler if h > model.damping_time => 1e-4,
            Integrator::ExplicitEuler | Integrator::SymplecticEuler => 0.5 - dampers,
            Integrator::Midpoint => (model.damping_time / h).clamp(0.005, 0.5) - dampers,
            Integrator::Rk4 => 1.0 - dampers,
            // The hybrid cuts its step into substeps.
            Integrator::Xpbd | Integrator::ShapeMatching => f32::INFINITY,
            Integrator::BackwardEuler | Integrator::Bdf2 => match (self.solver, self.jacobian) {
                (LinearSolver::ConjugateGradient, _) => f32::INFINITY,
                (LinearSolver::Hierarchy | LinearSolver::Cholesky, _) => f32::INFINITY,
                (_, Jacobian::Scalar) => f32::INFINITY,
                // An odd number of sweeps from zero; the p-vector counts as one.
                (LinearSolver::Jacobi, _) if sweeps_are_odd != (self.guess == Guess::PVector) => {
                    0.5 * self.sweeps as f32
                }
                (_, Jacobian::RankOne | Jacobian::Exact) => 10.0,
                // Beyond these the cloth jitters, and in the long run hangs in mid-air.
                (_, Jacobian::Psd | Jacobian::Smoothed) => match self.sweeps {
                    ..4 => 10.0,
                    4..10 => 100.0,
                    _ => 400.0,
                },
            },
        }
    }

    /// What a step spends at most without a budget.
    pub fn most_effort(&self) -> Effort {
        let sweeps = match (self.integrator, self.solver) {
            (Integrator::Xpbd, _) => true,
            (_, solver) => matches!(solver, LinearSolver::Jacobi | LinearSolver::GaussSeidel),
        };
        let iterations = if sweeps { self.sweeps } else { self.max_iterations };
        Effort { linearisations: self.newton, iterations }
    }

    /// The largest k h²/m of a pull on a single particle; explicitly, 4 is where it becomes unstable.
    pub fn pull_limit(&self) -> f32 {
        match self.integrator {
            Integrator::BackwardEuler | Integrator::Bdf2 => f32::INFINITY,
            Integrator::ExplicitEuler => 0.1,
            Integrator::SymplecticEuler | Integrator::Midpoint => 0.5,
            Integrator::Rk4 | Integrator::Xpbd | Integrator::ShapeMatching => 1.0,
        }
    }

    /// The least force each spring may exert: −∞ for a linear spring, 0 for a tension-only one.
    pub fn spring_floors(&self, model: &Model) -> Vec<f32> {
        let springs = &model.springs;
        (springs.tension_only.iter().zip(&springs.strong))
            .map(|(&by_scene, &strong)| {
                let by_method = self.springs == SpringLaw::TensionOnly && strong;
                if by_scene || by_method { 0.0 } else { f32::NEG_INFINITY }
            })
            .collect()
    }
}

/// Which particles move freely, and how the others move; fixed during one step.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// 1 for a free particle, 0 for a held one.
    pub free: Vec<f32>,
    /// Velocity that brings a held particle to its target; zero for free ones. [m/s]
    pub velocity: Vec<Vec3>,
    /// 1 for a particle that turns freely, 0 for a clamped one; empty without 3D springs.
    pub turns: Vec<f32>,
}

/// What a solver may read during one step of length `h`.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// The constants.
    pub model: &'a Model,
    /// Gravity and wind, gusts included; at most one pull per particle, no stiffer than the method
    /// stands.
    pub inputs: &'a Inputs,
    /// Held particles.
    pub held: &'a Held,
    /// Particles on bodies.
    pub contact: &'a Guide,
    /// Velocities that this step was found to end with when contacts were guessed otherwise.
    pub found: Option<&'a [Vec3]>,
    /// Length of the step. [s]
    pub h: f32,
    /// Which substep of its frame it is, from 0, and of how many.
    pub substep: [u32; 2],
    /// Threads.
    pub par: Par,
    /// What it may spend at most.
    pub effort: Effort,
    /// Whether to spend time on the residual.
    pub measure: bool,
}

/// What a solver tells about one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Sweeps or iterations; substeps of the hybrid.
    pub iterations: u32,
    /// Times the step was solved: again where contacts were guessed wrong.
    pub rounds: u32,
    /// Cost of the solve in products with the system matrix.
    pub work: f64,
    /// ‖b − A x‖/‖b‖, if there is a system and it was measured.
    pub residual: Option<f64>,
    /// Root mean square strain of the error the solve left, by the solver's own estimate.
    pub strain_left: Option<f64>,
    /// False when a tolerance was not reached.
    pub converged: bool,
    /// Substeps the solver cut the step into.
    pub substeps: u32,
    /// Linear solves.
    pub solves: u32,
    /// Seconds spent on solving, as against forces and assembly. [s]
    pub solving: f64,
    /// The part of it that went into iterations or sweeps. [s]
    pub iterating: f64,
}

impl Solved {
    /// For methods that solve nothing.
    pub const EXPLICIT: Self = Self {
        iterations: 0,
        rounds: 1,
        work: 0.0,
        residual: None,
        strain_left: None,
        converged: true,
        substeps: 1,
        solves: 0,
        solving: 0.0,
        iterating: 0.0,
    };
}

/// Carries a state one step further.
pub trait Solver: Send {
    /// Updates positions and velocities by `step.h`. Held particles move with their given
    /// velocity. May leave numbers that are not finite: the caller rolls back.
    fn step(&mut self, step: &Step<'_>, state: &mut State) -> Solved;

    /// How the last step changed the velocities, with all digits of a small change, if the solver heeds
    /// [`Step::contact`]. Where not, contacts are projected after the step. [m/s]
    fn drift(&self) -> Option<&[Vec3]> {
        None
    }

    /// Whether the solver has cloth that presses on cloth in its system.
    fn couples(&self) -> bool {
        false
    }
}

/// The solver of a method for a model.
pub fn solver_for(method: &Method, model: &Model) -> Result<Box<dyn Solver>, Error> {
    method.validate()?;
    // Shape matching takes no heed of springs; its hybrid takes only the stretching part.
    let stretches_only =
        method.integrator == Integrator::ShapeMatching && method.internal == Internal::Structural;
    if !model.turning.is_empty() && (method.integrator == Integrator::Xpbd || stretches_only) {
        let remedy = "has no 3D springs; use another method, or set turning.stiffness = 0";
        return Err(Error::new("method", &method.id, remedy));
    }
    if method.integrator == Integrator::ShapeMatching
        && let Some(cloth) = model.cloths.iter().find(|cloth| cloth.is_cut)
    {
        let remedy = format!(
            "fits each cloth as a whole and would hold the cut \"{}\" together; use another method, or \
             take its cuts out",
            cloth.name
        );
        return Err(Error::new("method", &method.id, remedy));
    }
    Ok(match method.integrator {
        Integrator::BackwardEuler | Integrator::Bdf2 => {
            Box::new(implicit::Implicit::new(method, model)?)
        }
        Integrator::Xpbd => Box::new(xpbd::Xpbd::new(method, model)),
        Integrator::ShapeMatching => Box::new(shape_matching::ShapeMatching::new(method, model)),
        _ => Box::new(explicit::Explicit::new(method, model)),
    })
}
