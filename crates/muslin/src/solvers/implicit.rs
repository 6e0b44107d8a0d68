//! The implicit family: one linear step, four choices.
//!
//! ```text
//!   A Δv = b,   A = M + h D − h² J,   b = h (f + h J v),   v += Δv,  x += h v
//!                                                Baraff & Witkin; Kang & Cho Eq. 8; Kim Eq. 5
//! ```
//!
//! f is everything at (x, v), D its velocity derivative (dampers, drag) with reversed sign. A link's
//! block is B = h² J + h D, so the dampers' share of h f and the term h² J v are one product:
//! Σ B (v_j − v_i), the corrected Eq. 25 of Kang & Cho. Further linearisations (`newton > 1`) take
//! x_k = x + h v_k and solve A(x_k) δ = h f(x_k, v_k) − M (v_k − v): backward Euler itself. Each δ is
//! then halved until it lowers the incremental potential of `potential.rs`.
//!
//! BDF2 is the same step from another start (`bdf2.rs`); it is linearised ahead, in Newton's form.
//!
//! Held particles get their velocity before the step; their Δv is zero throughout. Particles on bodies
//! have a weight on their diagonal block (`collide/mod.rs`). Where particles
//! have an orientation, rows n … 2n are their angular velocities: torque for force, inertia for mass.

use super::enough::{self, Enough};
use super::potential::Potential;
use super::pyramid_guess::PyramidGuess;
use super::{Guess, Integrator, Jacobian, LinearSolver, Method, MomentumCorrection};
use super::{Preconditioner, SweepOrder, WeakSprings};
use super::{Solved, Solver, Step, bdf2, levels, momentum};
use crate::clock;
use crate::error::Error;
use crate::forces::{Forces, hinge, pull, spring, turning, wind};
use crate::linalg::cholesky::Cholesky;
use crate::linalg::conjugate_gradient::{self, Outcome, Stop, Workspace};
use crate::linalg::multigrid::Multigrid;
use crate::linalg::relaxation::{self, GaussSeidel};
use crate::linalg::vectors::{add_scaled, scale_each, set_sum, update};
use crate::linalg::{System, Topology, add_missing};
use crate::model::{Model, Springs};
use crate::state::{Motion, State};
use glam::{DVec3, Quat, Vec3};

/// A Newton correction below this fraction of the velocity ends the iteration: the last bits of f32.
const NEWTON_TOLERANCE: f32 = 3e-7;

/// With no more cycles than this, as many plain sweeps are tried as well: they never do worse.
const FEW: u32 = 2;

/// Storage and choices of the implicit family.
pub struct Implicit {
    method: Method,
    floors: Vec<f32>,
    /// The springs in the matrix, where they are not all springs of the model.
    reduced: Option<Reduced>,
    forces: Forces,
    system: System,
    cg: Workspace,
    gauss_seidel: GaussSeidel,
    cholesky: Option<Cholesky>,
    pyramid: Option<PyramidGuess>,
    multigrid: Option<Multigrid>,
    momentum: momentum::Correction,
    /// Of [`bdf2::predict`].
    smoothing: f32,
    enough: Enough,
    /// Strain of the error that the last solve left, where it is known.
    strain_left: f64,
    /// Seconds of this step spent in iterations. [s]
    iterating: f64,
    /// Step length the constant matrix was factored for.
    factored_h: f32,
    /// Forces that need no neighbours, at the last linearisation.
    external: Vec<Vec3>,
    /// 1 for a free row, 0 for a held one.
    free: Vec<f32>,
    b: Vec<Vec3>,
    /// The unknown: Δv, or a Newton correction of it.
    change: Vec<Vec3>,
    scratch: Vec<Vec3>,
    /// All of `change` so far: v − v_n without the rounding of v, which a contact's weight would make
    /// larger than gravity.
    drift: Vec<Vec3>,
    x: Vec<Vec3>,
    /// Scratch of the incremental potential.
    places: Vec<DVec3>,
    orientation: Vec<Quat>,
    /// Velocities, then angular velocities: one entry per row.
    v: Vec<Vec3>,
}

/// A model's springs without those the matrix leaves out.
struct Reduced {
    topology: Topology,
    springs: Springs,
    floors: Vec<f32>,
}

impl Reduced {
    /// `None` if every spring is in the matrix.
    fn new(method: &Method, model: &Model) -> Option<Self> {
        let all = &model.springs;
        let floors = method.spring_floors(model);
        let kept = |s: &usize| all.strong[*s] || all.damping[*s] + all.relative_damping[*s] != 0.0;
        let kept: Vec<usize> = (0..model.spring_count()).filter(kept).collect();
        if method.weak_springs == WeakSprings::Implicit {
            return None;
        }
        let pick = |values: &[f32]| kept.iter().map(|&s| values[s]).collect();
        let pick_flags = |values: &[bool]| kept.iter().map(|&s| values[s]).collect();
        // A weak spring that is kept for its damper has no stiffness here.
        let stiffness = |s: &usize| if all.strong[*s] { all.stiffness[*s] } else { 0.0 };
        let ends = kept.iter().map(|&s| model.topology.links.ends()[s]).collect();
        Some(Self {
            topology: Topology::new(model.row_count(), ends, model.topology.elements.clone()),
            springs: Springs {
                stiffness: kept.iter().map(stiffness).collect(),
                rest_length: pick(&all.rest_length),
                damping: pick(&all.damping),
                relative_damping: pick(&all.relative_damping),
                strong: pick_flags(&all.strong),
                structural: pick_flags(&all.structural),
                tension_only: pick_flags(&all.tension_only),
                is_damped: all.is_damped,
            },
            floors: pick(&floors),
        })
    }
}

/// Largest component.
fn largest(values: &[Vec3]) -> f32 {
    values.iter().fold(f32::MIN_POSITIVE, |m, v| m.max(v.abs().max_element()))
}

/// The topology of the matrix.
fn coupled<'a>(reduced: &'a Option<Reduced>, model: &'a Model) -> &'a Topology {
    reduced.as_ref().map_or(&model.topology, |r| &r.topology)
}

/// Forces' view of positions, orientations, and rows of velocities.
fn motion<'a>(x: &'a [Vec3], orientation: &'a [Quat], rows: &'a [Vec3]) -> Motion<'a> {
    let (v, spin) = rows.split_at(x.len());
    Motion { x, v, orientation, spin }
}

impl Implicit {
    /// Storage for a model.
    pub fn new(method: &Method, model: &Model) -> Result<Self, Error> {
        let n = model.row_count();
        let zeros = vec![Vec3::ZERO; n];
        let scalar = method.jacobian == Jacobian::Scalar;
        let turning = &model.turning;
        let parts = match (turning.is_empty(), turning.is_damped) {
            (true, _) => {
                if scalar {
                    3
                } else {
                    1
                }
            }
            (false, false) => turning::PARTS,
            (false, true) => turning::DAMPED_PARTS,
        };
        let reduced = Reduced::new(method, model);
        let topology = coupled(&reduced, model);
        // Dampers along springs are not multiples of the identity.
        let one_row = scalar
            && turning.is_empty()
            && model.colliders.is_empty()
            && model.springs.damping.iter().all(|d| *d == 0.0);
        let cholesky = match method.solver {
            LinearSolver::Cholesky => {
                Some(Cholesky::new(n, topology, parts, one_row).ok_or_else(|| {
                    let remedy = "the factor does not fit in memory; use conjugate-gradient";
                    Error::new("method.solver", "cholesky", remedy)
                })?)
            }
            _ => None,
        };
        let pyramid = match method.guess {
            Guess::Pyramid => Some(PyramidGuess::new(method, model)?),
            _ => None,
        };
        let multigrid = match (method.solver, method.preconditioner) {
            (LinearSolver::ConjugateGradient, Preconditioner::VCycle) => {
                Some(levels::of_pyramid(method, model, topology)?)
            }
            // Orientations have no coarser levels; without them the solver falls back.
            (LinearSolver::Hierarchy, _) if turning.is_empty() => {
                Some(levels::of_any_mesh(model, topology))
            }
            _ => None,
        };
        Ok(Self {
            pyramid,
            multigrid,
            floors: method.spring_floors(model),
            forces: Forces::new(model),
            system: System::new(n, topology, parts),
            cg: Workspace::new(n),
            gauss_seidel: GaussSeidel::new(n, topology),
            cholesky,
            reduced,
            momentum: momentum::Correction::new(model),
            smoothing: bdf2::share(model),
            enough: Enough::new(method, model),
            strain_left: f64::NAN,
            iterating: 0.0,
            factored_h: f32::NAN,
            external: zeros[..model.particle_count()].to_vec(),
            free: vec![1.0; n],
            b: zeros.clone(),
            change: zeros.clone(),
            scratch: zeros.clone(),
            drift: zeros[..model.particle_count()].to_vec(),
            x: zeros[..model.particle_count()].to_vec(),
            places: vec![DVec3::ZERO; model.particle_count()],
            orientation: vec![Quat::IDENTITY; turning.inertia.len()],
            v: zeros,
            method: method.clone(),
        })
    }

    /// A and the forces at (self.x, self.v). `first` tells the first linearisation of a step.
    fn assemble(&mut self, step: &Step<'_>, first: bool) {
        let Step { model, inputs, h, par, .. } = *step;
        let n = model.particle_count();
        let Self { system, x, orientation, v, .. } = self;
        let (jacobian, at) = (self.method.jacobian, motion(x, orientation, v));
        self.forces.evaluate_external(model, inputs, par, at.x, at.v);
        let safeguarded = self.method.newton > 1 || self.method.solver == LinearSolver::Hierarchy;
        if safeguarded || self.pyramid.is_some() {
            self.external.copy_from_slice(&self.forces.total);
        }
        (self.forces.total.iter_mut().zip(&step.contact.force)).for_each(|(f, t)| *f += *t);
        self.forces.add_elastic(model, &self.floors, par, at);
        let drag = 1.0 + h * model.air.drag;
        let constants = model.mass.iter().zip(&model.absolute_damping);
        system.lumped.iter_mut().zip(constants).for_each(|(w, (m, c))| *w = drag * m + h * c);
        system.lumped[n..].copy_from_slice(&model.turning.inertia);
        pull::add_to_diagonal(&mut system.lumped, &inputs.pulls, h);
        if model.air.acts_on_triangles() {
            let wind = &self.forces.wind;
            for (i, lumped) in system.lumped[..n].iter_mut().enumerate() {
                *lumped += h * wind::damping_at(model, wind, i);
            }
        }
        let topology = coupled(&self.reduced, model);
        let all = (&model.springs, &self.floors);
        let (springs, floors) = self.reduced.as_ref().map_or(all, |r| (&r.springs, &r.floors));
        let blocks = &mut system.link_blocks;
        spring::fill_blocks(blocks, &topology.links, springs, floors, par, jacobian, h, x);
        // The hierarchy takes them once a step.
        if first || self.multigrid.is_none() || self.method.solver != LinearSolver::Hierarchy {
            hinge::fill_elements(system, model, &self.forces.hinges, par, jacobian, h);
        }
        turning::fill_elements(system, model, h, x, orientation);
        system.extra.clone_from(&step.contact.weight);
        system.take_contacts(&step.contact.couplings, &self.free);
        // The hierarchy has a diagonal of its own.
        if self.method.solver != LinearSolver::Hierarchy || self.multigrid.is_none() {
            system.build_diagonal(topology, par);
            relaxation::hold(&mut system.inverse, &self.free);
        }
    }

    /// b of the first linearisation: h f + Σ B (v_j − v_i), less h² k v of the pulls.
    fn first_right_side(&mut self, step: &Step<'_>) {
        let (h, par) = (step.h, step.par);
        let rows = self.forces.total.iter().chain(&self.forces.torques);
        self.b.iter_mut().zip(rows).for_each(|(b, f)| *b = h * *f);
        let topology = coupled(&self.reduced, step.model);
        self.system.subtract_coupling(topology, par, &self.v, &mut self.b, 1.0);
        pull::subtract_from_right_side(&mut self.b, &step.inputs.pulls, h, &self.v);
        add_missing(&step.contact.couplings, &self.v, &self.free, &mut self.b);
        scale_each(par, &mut self.b, &self.free);
    }

    /// b of a further linearisation: h f − M (v_k − v), dampers included in f.
    fn newton_right_side(&mut self, step: &Step<'_>, start: &State) {
        let Step { model, h, par, .. } = *step;
        self.forces.add_dampers(model, par, motion(&self.x, &self.orientation, &self.v));
        let n = model.particle_count();
        let (rows, turning_rows) = self.b.split_at_mut(n);
        let (f, v, free) = (&self.forces.total, &self.v, &self.free);
        update(par, rows, |i, _| free[i] * (h * f[i] - model.mass[i] * (v[i] - start.v[i])));
        for (i, weight) in step.contact.weight.iter().enumerate() {
            rows[i] -= free[i] * (*weight * self.drift[i]);
        }
        let (torques, inertia, spin) = (&self.forces.torques, &model.turning.inertia, &v[n..]);
        update(par, turning_rows, |i, _| {
            free[n + i] * (h * torques[i] - inertia[i] * (spin[i] - start.spin[i]))
        });
        add_missing(&step.contact.couplings, &self.v, &self.free, &mut self.b);
    }

    /// Halves `change` until it lowers the incremental potential; zero if nothing does.
    fn shorten(&mut self, step: &Step<'_>, state: &State) {
        let Self { floors, external, system, x, v, change, drift, places, .. } = self;
        let lumped = &system.lumped;
        let mut potential =
            Potential { step, floors, external, lumped, start: state, x, v, drift, places };
        let here = potential.at(change, 0.0);
        let mut share = 1.0;
        // Velocities carry the rounding of f32.
        let noise = 1e-9 * here.abs();
        while potential.at(change, share) > here + noise {
            share *= 0.5;
            if share < 1e-4 {
                share = 0.0;
                break;
            }
        }
        if share < 1.0 {
            change.iter_mut().for_each(|c| *c *= share);
        }
    }

    /// Replaces `change` by as many Gauss–Seidel sweeps if those lower the incremental potential more.
    fn take_sweeps_if_better(&mut self, step: &Step<'_>, state: &State) {
        let sweeps = self.method.max_iterations.min(step.effort.iterations);
        let topology = coupled(&self.reduced, step.model);
        self.system.build_diagonal(topology, step.par);
        relaxation::hold(&mut self.system.inverse, &self.free);
        self.scratch.fill(Vec3::ZERO);
        let Self { system, gauss_seidel, b, scratch, .. } = self;
        gauss_seidel.by_colours(system, topology, step.par, b, sweeps, scratch);
        let Self { floors, external, x, v, change, drift, places, .. } = self;
        let lumped = &system.lumped;
        let mut potential =
            Potential { step, floors, external, lumped, start: state, x, v, drift, places };
        if potential.at(scratch, 1.0) < potential.at(change, 1.0) {
            std::mem::swap(scratch, change);
        }
    }

    /// Sets the start of the solve; returns its cost in products with the matrix.
    fn guess(&mut self, step: &Step<'_>, guess: Guess, last_change: &[Vec3]) -> f64 {
        let (par, free) = (step.par, &self.free);
        let (inverse, b) = (&self.system.inverse, &self.b);
        match guess {
            Guess::Zero | Guess::Velocity => self.change.fill(Vec3::ZERO),
            Guess::PVector => update(par, &mut self.change, |i, _| inverse[i] * b[i]),
            Guess::PreviousStep => {
                update(par, &mut self.change, |i, _| match last_change.get(i) {
                    Some(last) => free[i] * *last,
                    None => Vec3::ZERO,
                });
            }
            Guess::Pyramid => {
                let Self { pyramid: Some(pyramid), x, v, external, system, .. } = self else {
                    return 0.0;
                };
                let (jacobian, lumped) = (self.method.jacobian, &system.lumped);
                return pyramid.predict(step, jacobian, x, v, lumped, external, &mut self.change);
            }
        }
        0.0
    }

    /// Linearisations of the step at most. One that goes on from what was found needs no second.
    fn linearisations(&self, step: &Step<'_>) -> u32 {
        let Method { newton, integrator, .. } = self.method;
        let goes_on = step.found.is_some() && integrator == Integrator::Bdf2 && newton == 2;
        if goes_on { 1 } else { newton.min(step.effort.linearisations) }
    }

    /// Improves `change` towards A⁻¹ b. `first` tells the first linearisation of a step.
    fn solve(&mut self, step: &Step<'_>, first: bool) -> Outcome {
        let Step { model, inputs, h, par, effort, .. } = *step;
        let linearisations = self.linearisations(step);
        let (free, sweeps) = (&self.free, self.method.sweeps.min(effort.iterations));
        let Self { system, b, change, scratch, cg, method, reduced, .. } = self;
        let topology = coupled(reduced, model);
        let max_iterations = method.max_iterations.min(effort.iterations);
        let stop = Stop { tolerance: method.tolerance, max_iterations };
        let mut begun = clock::now();
        let outcome = match method.solver {
            LinearSolver::Hierarchy if self.multigrid.is_none() => {
                let stop = Stop { max_iterations: effort.iterations.min(2000), ..stop };
                let mut blocks = conjugate_gradient::Preconditioner::BlockJacobi;
                cg.solve(system, topology, par, b, free, &mut blocks, stop, change)
            }
            LinearSolver::Hierarchy => {
                let Some(levels) = &mut self.multigrid else { return Outcome::default() };
                if first {
                    levels.take_elements(system, par, free);
                }
                // What springs forbid turns enough within a step for coarse levels that do not know it to need twice
                // the cycles. Where cloth presses on cloth, which they never know, steps were far off now and then.
                if first || step.contact.couplings.is_empty() {
                    levels.rebuild(system, par, free);
                } else {
                    levels.refine(system, par, free);
                }
                begun = clock::now();
                let last = !first || linearisations == 1;
                let wanted = self.enough.wanted(step.contact);
                // Where bodies are, contacts are judged by what is found.
                let finish = last || !step.contact.weight.is_empty();
                let share = if finish { 1.0 } else { enough::UNFINISHED };
                let stop = Stop { tolerance: share * wanted.start, ..stop };
                let (mut outcome, left) = levels.solve(par, b, stop, last, change);
                outcome.converged |= left <= share * wanted.end;
                self.strain_left = self.enough.strain(left);
                self.momentum.balance(step, &system.lumped, b, change);
                outcome
            }
            LinearSolver::Jacobi => {
                relaxation::jacobi(system, topology, par, b, free, sweeps, change, scratch);
                Outcome { iterations: sweeps, work: f64::from(sweeps), converged: true }
            }
            LinearSolver::GaussSeidel => {
                let rows = &mut self.gauss_seidel;
                match method.order {
                    SweepOrder::Rows => rows.by_rows(system, topology, b, sweeps, change),
                    SweepOrder::Colours => {
                        rows.by_colours(system, topology, par, b, sweeps, change);
                    }
                }
                Outcome { iterations: sweeps, work: f64::from(sweeps), converged: true }
            }
            LinearSolver::ConjugateGradient => {
                let mut preconditioner = match (method.preconditioner, &mut self.multigrid) {
                    (Preconditioner::None, _) => conjugate_gradient::Preconditioner::None,
                    (Preconditioner::VCycle, Some(levels)) => {
                        levels.take_elements(system, par, free);
                        levels.rebuild(system, par, free);
                        begun = clock::now();
                        conjugate_gradient::Preconditioner::VCycle(levels)
                    }
                    _ => conjugate_gradient::Preconditioner::BlockJacobi,
                };
                cg.solve(system, topology, par, b, free, &mut preconditioner, stop, change)
            }
            LinearSolver::Cholesky => {
                let Some(cholesky) = &mut self.cholesky else { return Outcome::default() };
                // Only the scalar Jacobian without bodies, drag-changing wind or pulls gives the same matrix twice,
                // and 3D springs have none.
                let constant = method.jacobian == Jacobian::Scalar
                    && inputs.pulls.is_empty()
                    && model.colliders.is_empty()
                    && model.turning.is_empty()
                    && !model.springs.is_damped
                    && !model.air.acts_on_triangles();
                if !constant || self.factored_h != h {
                    cholesky.forget();
                }
                self.factored_h = if constant { h } else { f32::NAN };
                let ready = cholesky.is_current(free) || cholesky.factor(system, topology, free);
                if ready {
                    cholesky.solve(b, change);
                }
                Outcome { iterations: 1, work: 1.0, converged: ready }
            }
        };
        self.iterating += clock::now() - begun;
        outcome
    }
}

impl Implicit {
    /// A backward Euler step from (state.x, state.v), linearised at self.x with velocity self.v if it is
    /// to be `ahead`, else at the start.
    fn step_from(&mut self, step: &Step<'_>, state: &mut State, ahead: bool) -> Solved {
        let Step { model, h, par, held, .. } = *step;
        let n = model.particle_count();
        update(par, &mut state.spin, |i, spin| held.turns[i] * spin);
        self.free[..n].copy_from_slice(&held.free);
        self.free[n..].copy_from_slice(&held.turns);
        if ahead {
            let (v, start) = (&self.v, &state.v);
            update(par, &mut self.drift, |i, _| v[i] - start[i]);
        } else {
            self.drift.fill(Vec3::ZERO);
            self.x.copy_from_slice(&state.x);
            self.v[..n].copy_from_slice(&state.v);
        }
        self.orientation.copy_from_slice(&state.orientation);
        self.v[n..].copy_from_slice(&state.spin);
        let mut solved = Solved::EXPLICIT;
        self.iterating = 0.0;
        let usual = self.linearisations(step);
        let mut most = usual;
        let mut newton = 0;
        while newton < most {
            // Linearise.
            self.assemble(step, newton == 0);
            if newton == 0 && !ahead {
                self.first_right_side(step);
                solved.work += self.guess(step, self.method.guess, &state.last_change);
            } else {
                let guess = if newton == 0 { self.method.guess } else { Guess::Zero };
                self.newton_right_side(step, state);
                solved.work += self.guess(step, guess, &state.last_change);
            }
            // A body's velocity needs no guess.
            let bodies = step.contact;
            let touching = (0..bodies.weight.len()).filter(|i| bodies.touches(*i));
            touching.for_each(|i| self.change[i] = Vec3::ZERO);
            // Solve.
            let begun = clock::now();
            let outcome = self.solve(step, newton == 0);
            solved.solving += clock::now() - begun;
            solved.solves += 1;
            solved.iterations += outcome.iterations;
            solved.work += outcome.work;
            solved.converged = outcome.converged;
            if step.measure {
                let (topology, free) = (coupled(&self.reduced, model), &self.free);
                let (system, b, change) = (&mut self.system, &self.b, &self.change);
                let residual = self.cg.relative_residual(system, topology, par, b, free, change);
                solved.residual = Some(residual);
            }
            if newton == 0 && self.method.momentum != MomentumCorrection::None {
                self.forces.add_dampers(model, par, motion(&self.x, &self.orientation, &self.v));
                self.momentum.apply(
                    self.method.momentum,
                    step,
                    &self.system.lumped,
                    &self.forces.total,
                    &self.x,
                    &self.v,
                    &mut self.change,
                );
            }
            // Move.
            // The hierarchy's two linearisations are for speed; who asks for more wants the end.
            let for_speed = if self.method.solver == LinearSolver::Hierarchy { 2 } else { 1 };
            let repeats = self.method.newton > for_speed;
            let size = if repeats { largest(&self.change) / largest(&self.v) } else { f32::MAX };
            // Close to the solution Newton needs no help, and the potential's changes are rounding. A solve
            // that was cut short may be anywhere.
            let hierarchy = self.method.solver == LinearSolver::Hierarchy;
            let few = self.method.max_iterations.min(step.effort.iterations) <= FEW;
            if repeats && size > 1e-3 || hierarchy && (few || !outcome.converged || most > usual) {
                self.shorten(step, state);
            }
            if hierarchy && few {
                self.take_sweeps_if_better(step, state);
            }
            add_scaled(par, &mut self.v, 1.0, &self.change);
            add_scaled(par, &mut self.drift, 1.0, &self.change[..n]);
            set_sum(par, &mut self.x, &state.x, h, &self.v[..n]);
            self.orientation.copy_from_slice(&state.orientation);
            turning::advance(&mut self.orientation, h, &self.v[n..]);
            if size <= NEWTON_TOLERANCE {
                break;
            }
            newton += 1;
            // Where steps are long for what moves, two linearisations do not meet.
            let more = usual.saturating_add(enough::FURTHER).min(step.effort.linearisations);
            let free = self.method.newton == for_speed && step.contact.couplings.is_empty();
            if newton == most && most < more && hierarchy && free {
                most += u32::from(self.enough.another(step, newton, &self.change, &self.v));
            }
        }
        if self.method.guess == Guess::PreviousStep {
            set_sum(par, &mut state.last_change, &self.v[..n], -1.0, &state.v);
        }
        if self.v.len() == n {
            std::mem::swap(&mut state.v, &mut self.v);
        } else {
            state.v.copy_from_slice(&self.v[..n]);
            state.spin.copy_from_slice(&self.v[n..]);
            state.orientation.copy_from_slice(&self.orientation);
        }
        std::mem::swap(&mut state.x, &mut self.x);
        solved.iterating = self.iterating;
        solved.strain_left = self.strain_left.is_finite().then_some(self.strain_left);
        solved
    }
}

impl Solver for Implicit {
    fn drift(&self) -> Option<&[Vec3]> {
        Some(&self.drift)
    }

    fn couples(&self) -> bool {
        matches!(self.method.solver, LinearSolver::ConjugateGradient | LinearSolver::Hierarchy)
    }

    fn step(&mut self, step: &Step<'_>, state: &mut State) -> Solved {
        self.enough.begin(step.model, &state.v);
        if self.method.integrator == Integrator::Bdf2 {
            let h = bdf2::look_back(step, state);
            let n = state.x.len();
            let (v, scratch) = (&mut self.v[..n], &mut self.scratch[..n]);
            match step.found {
                None => {
                    let ahead = self.enough.ahead();
                    bdf2::predict(step, state, h, self.smoothing, ahead, v, scratch);
                }
                Some(found) => bdf2::go_on(step, state, found, v),
            }
            set_sum(step.par, &mut self.x, &state.x, h, v);
            return self.step_from(&Step { h, ..*step }, state, true);
        }
        let held = step.held;
        update(step.par, &mut state.v, |i, v| held.free[i] * v + held.velocity[i]);
        self.step_from(step, state, false)
    }
}
