//! What a step tells about itself.

use crate::collide::cloth::Count;
use crate::forces::{elastic_energy, gravity};
use crate::inputs::Inputs;
use crate::model::Model;
use crate::state::State;
use glam::DVec3;
use serde::Serialize;

/// Energies. [J]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Energy {
    /// ½ Σ m v² + ½ Σ I ω².
    pub kinetic: f64,
    /// Springs, hinges and 3D springs.
    pub elastic: f64,
    /// −Σ m g·x.
    pub gravity: f64,
    /// The sum.
    pub total: f64,
}

/// What the linear solver did, over all substeps of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SolverReport {
    /// Sweeps or iterations, summed over substeps and Newton iterations.
    pub iterations: u32,
    /// How often steps were solved, summed over substeps: more than once where contacts were guessed wrong.
    pub rounds: u32,
    /// Cost of the solves in products with the system matrix, the start's coarse levels and the
    /// preconditioner's cycles included.
    pub work: f64,
    /// ‖b − A x‖/‖b‖ after the last solve; `None` for methods that solve no linear system.
    pub residual: Option<f64>,
    /// Root mean square strain of the error the last solve left; `None` where the solver has no estimate.
    pub strain_left: Option<f64>,
    /// Linear solves: substeps times linearisations, and repeated where contacts were guessed wrong.
    pub solves: u32,
    /// Particles that tethers moved in the last substep.
    pub tethered: usize,
    /// Springs that were longer than the strain limit in the last substep, before they were made shorter.
    pub limited: usize,
}

/// Where the time of a frame went. [s]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stages {
    /// Forces, and the system matrix where there is one.
    pub forces: f64,
    /// The linear solve; constraint sweeps of XPBD, fits of shape matching. Nothing for methods that only sum forces.
    pub solve: f64,
    /// The part of the solve that went into iterations or sweeps.
    pub iterating: f64,
    /// Pins, pulls, checks.
    pub rest: f64,
}

/// Things that went wrong during a step, each with a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warning {
    /// The linear solver stopped above its tolerance.
    NotConverged,
    /// The step gave numbers that are not finite and was undone.
    RolledBack,
    /// k h²/m is beyond what the method was seen to stand.
    StiffnessBeyondLimit,
    /// An edge is longer than three times its rest length.
    Overstretched,
    /// The step was cut into substeps to keep its explicit springs stable.
    Substepped,
    /// A spring stayed longer than the strain limit.
    LimitExceeded,
    /// Triangles of cloth cross each other.
    Entangled,
    /// Held particles did not reach their places.
    HeldBack,
}

impl Warning {
    /// All warnings.
    pub const ALL: [Self; 8] = [
        Self::NotConverged,
        Self::RolledBack,
        Self::StiffnessBeyondLimit,
        Self::Overstretched,
        Self::Substepped,
        Self::LimitExceeded,
        Self::Entangled,
        Self::HeldBack,
    ];

    /// What happened and what to do.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::NotConverged => {
                "the linear solver stopped above its tolerance, so the cloth may look softer than it is: \
                 raise method.max_iterations or method.budget, loosen method.tolerance, add substeps, or use \
                 method.jacobian = \"psd\" if springs are compressed. Single precision alone leaves about \
                 6e-8 k h²/m"
            }
            Self::RolledBack => {
                "a step gave numbers that are not finite; positions were kept and velocities set to zero: \
                 add substeps, lower the stiffness, or use an implicit method such as muslin"
            }
            Self::Overstretched => {
                "an edge is longer than three times its rest length: the cloth is too soft for its weight, or \
                 the method is not converged: add substeps or sweeps, or use an implicit method such as \
                 muslin"
            }
            Self::Substepped => {
                "the springs and dampers of the hybrid are explicit and not stable at this step, so it was \
                 cut into substeps (at most 1000) and costs as many times more: shorten the step, lower \
                 springs.structural_damping or the stiffness, or use method.internal = \"none\""
            }
            Self::LimitExceeded => {
                "springs are still longer than method.strain_limit allows after all passes: the cloth is held \
                 farther apart than it reaches, or the solver leaves it too soft: raise the limit, add substeps, or \
                 use the method muslin"
            }
            Self::Entangled => {
                "triangles of cloth cross each other since the start; self-contact leaves them alone until they \
                 come apart by themselves: start the scene without crossings, or leave out self_contact"
            }
            Self::HeldBack => {
                "held particles did not reach their places because cloth was in their way: move pins and hands \
                 more slowly or elsewhere, or leave out self_contact"
            }
            Self::StiffnessBeyondLimit => {
                "the stiffness number k h²/m is beyond what this method was seen to stand, so it may blow up: \
                 add substeps, lower the stiffness, or use an implicit method such as muslin"
            }
        }
    }
}

/// A set of warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Warnings(u8);

impl Warnings {
    /// Adds a warning.
    pub fn insert(&mut self, warning: Warning) {
        self.0 |= 1 << warning as u8;
    }

    /// Whether a warning is in the set.
    pub fn contains(self, warning: Warning) -> bool {
        self.0 & (1 << warning as u8) != 0
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The warnings in the set.
    pub fn iter(self) -> impl Iterator<Item = Warning> {
        Warning::ALL.into_iter().filter(move |w| self.contains(*w))
    }
}

/// The state of things after a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Simulated time. [s]
    pub time: f64,
    /// Energies.
    pub energy: Energy,
    /// Σ m v. [kg·m/s]
    pub momentum: DVec3,
    /// Σ x × m v + Σ I ω about the origin. [kg·m²/s]
    pub angular_momentum: DVec3,
    /// Largest stretch r/L − 1 of a structural edge, 0 if none is stretched.
    pub max_strain: f64,
    /// Mean of max(r/L − 1, 0) over structural edges.
    pub mean_strain: f64,
    /// Fastest particle. [m/s]
    pub max_speed: f64,
    /// Lowest particle. [m]
    pub lowest: f64,
    /// Contacts of particles with bodies.
    pub contacts: usize,
    /// What cloth did to cloth.
    pub self_contact: Count,
    /// k h²/m of the stiffest spring.
    pub stiffness_number: f32,
    /// What the solver did.
    pub solver: SolverReport,
    /// ‖v − v_converged‖/‖v_converged‖ of the last step, when asked for.
    pub converged_error: Option<f64>,
    /// What went wrong.
    pub warnings: Warnings,
}

/// Measures a state; `floors` is the spring law in force.
pub fn measure(model: &Model, inputs: &Inputs, floors: &[f32], state: &State) -> Report {
    let contacts = state.touches.len();
    let mut report =
        Report { time: state.time, lowest: f64::INFINITY, contacts, ..Report::default() };
    for ((&m, &x), &v) in model.mass.iter().zip(&state.x).zip(&state.v) {
        let (mass, velocity) = (f64::from(m), v.as_dvec3());
        report.energy.kinetic += 0.5 * mass * velocity.length_squared();
        report.energy.gravity += gravity::energy(m, inputs.gravity, x);
        report.momentum += mass * velocity;
        report.angular_momentum += x.as_dvec3().cross(mass * velocity);
        report.max_speed = report.max_speed.max(velocity.length());
        report.lowest = report.lowest.min(f64::from(x.y));
    }
    let springs = &model.springs;
    let mut counted = 0usize;
    for (s, &[a, b]) in model.topology.links.ends().iter().enumerate() {
        let r = state.x[a as usize].as_dvec3().distance(state.x[b as usize].as_dvec3());
        let rest = springs.rest_length[s];
        if springs.structural[s] && rest > 0.0 {
            let strain = (r / f64::from(rest) - 1.0).max(0.0);
            report.max_strain = report.max_strain.max(strain);
            report.mean_strain += strain;
            counted += 1;
        }
    }
    report.mean_strain /= counted.max(1) as f64;
    for (&inertia, &spin) in model.turning.inertia.iter().zip(&state.spin) {
        let (inertia, spin) = (f64::from(inertia), spin.as_dvec3());
        report.energy.kinetic += 0.5 * inertia * spin.length_squared();
        report.angular_momentum += inertia * spin;
    }
    let at = |p: u32| state.x[p as usize].as_dvec3();
    let orientation = |p: u32| state.orientation[p as usize].as_dquat();
    report.energy.elastic = elastic_energy(model, floors, at, orientation);
    let e = &mut report.energy;
    e.total = e.kinetic + e.elastic + e.gravity;
    report
}
