//! The simulation and its step: the first file to read.
//!
//! ```text
//!   Inputs ─▶ kinematics ─▶ detect contacts ─▶ SOLVE ─▶ project contacts ─▶ check ─▶ State + Report
//! ```

use crate::clock;
use crate::collide::cloth::{Count, SelfContact};
use crate::collide::{Contacts, MORE_SOLVES, MOST_SOLVES, Moment};
use crate::error::Error;
use crate::inputs::{Effort, Inputs, Pull};
use crate::limits::{Bounded, Limits};
use crate::model::{Collider, Model};
use crate::pace::Pace;
use crate::par::Par;
use crate::report::{self, Report, SolverReport, Stages, Warning, Warnings};
use crate::solvers::Solved;
use crate::solvers::{Held, Integrator, Layers, Method, Solver, Step, presets, solver_for};
use crate::state::{Press, State};
use glam::{Quat, Vec3};

/// Strain beyond which a report warns: no fabric, and no scene of the papers, gets there.
const OVERSTRETCHED: f64 = 2.0;

/// Stiffer pulls than this are taken to be this stiff, like a scene's springs. [N/m]
const STIFFEST_PULL: f32 = 1e15;

const NOT_PULLED: usize = usize::MAX;

/// A model, its state, and the method that carries it on.
pub struct Sim {
    model: Model,
    method: Method,
    solver: Box<dyn Solver>,
    floors: Vec<f32>,
    state: State,
    /// State at the start of the current substep, to roll back to.
    before: State,
    /// Velocities found by a solve that is done again.
    again: Vec<Vec3>,
    held: Held,
    contacts: Contacts,
    limits: Limits,
    /// Chooses the effort where the method has a budget.
    pace: Option<Pace>,
    self_contact: SelfContact,
    /// Which of the current pulls acts on each particle.
    pull_of: Vec<usize>,
    /// Inputs of the current substep: the user's plus gusts.
    current: Inputs,
    /// Where the time of the last frame went.
    stages: Stages,
    /// What the outside may change between steps.
    pub inputs: Inputs,
    /// Threads to step with.
    pub par: Par,
    /// Substeps per frame.
    pub substeps: u32,
}

/// What one frame did, without measuring the state it led to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Advance {
    /// What the solver did.
    pub solver: SolverReport,
    /// Contacts of cloth with cloth in the last substep, and particles stopped on their way in all.
    pub self_contact: Count,
    /// What went wrong.
    pub warnings: Warnings,
}

impl Advance {
    /// Adds a substep.
    fn add(&mut self, solved: &Solved, bounded: Bounded) {
        let happened = [
            (!solved.converged, Warning::NotConverged),
            (solved.substeps > 1, Warning::Substepped),
            (bounded.exceeded, Warning::LimitExceeded),
        ];
        for (_, warning) in happened.into_iter().filter(|(happened, _)| *happened) {
            self.warnings.insert(warning);
        }
        self.solver = SolverReport {
            iterations: self.solver.iterations + solved.iterations,
            work: self.solver.work + solved.work,
            rounds: self.solver.rounds + solved.rounds,
            solves: self.solver.solves + solved.solves,
            residual: solved.residual,
            strain_left: solved.strain_left,
            tethered: bounded.tethered,
            limited: bounded.limited,
        };
    }
}

impl Sim {
    /// A simulation at the scene's start.
    pub fn new(model: Model, method: Method) -> Result<Self, Error> {
        let solver = solver_for(&method, &model)?;
        Ok(Self::with_solver(model, method, solver))
    }

    /// The same with a solver of one's own; `method` then only sets the spring law and the limits.
    pub fn with_solver(model: Model, method: Method, solver: Box<dyn Solver>) -> Self {
        let state = State {
            time: 0.0,
            x: model.start_x.clone(),
            v: model.start_v.clone(),
            orientation: vec![Quat::IDENTITY; model.turning.inertia.len()],
            spin: model.turning.start_spin.clone(),
            last_change: vec![Vec3::ZERO; model.particle_count()],
            colliders: model.colliders.iter().map(|body| body.pose(0.0)).collect(),
            touches: Vec::with_capacity(model.particle_count() * model.colliders.len().min(3)),
            ..State::default()
        };
        let mut before = state.clone();
        if method.integrator == Integrator::Bdf2 {
            before.previous_x.reserve(state.x.len());
            before.previous_v.reserve(state.x.len());
        }
        before.touches.reserve(state.touches.capacity());
        if method.integrator == Integrator::ShapeMatching && method.layers != Layers::Planar {
            before.interface_x.reserve(state.x.len());
            before.interface_v.reserve(state.x.len());
        }
        let inputs = Inputs { gravity: model.gravity, wind: model.wind, ..Inputs::default() };
        Self {
            floors: method.spring_floors(&model),
            again: before.v.clone(),
            before,
            contacts: Contacts::new(&model),
            limits: Limits::new(&method, &model),
            pace: (method.budget > 0.0)
                .then(|| Pace::new(1e-3 * method.budget, method.most_effort())),
            self_contact: SelfContact::new(&model),
            pull_of: vec![NOT_PULLED; state.x.len()],
            held: Held {
                free: vec![1.0; state.x.len()],
                velocity: vec![Vec3::ZERO; state.x.len()],
                turns: vec![1.0; state.spin.len()],
            },
            current: inputs.clone(),
            stages: Stages::default(),
            par: Par::Serial,
            substeps: model.substeps,
            model,
            method,
            solver,
            state,
            inputs,
        }
    }

    /// Advances by `dt` seconds in `substeps` steps: the only place where stages are ordered.
    pub fn advance(&mut self, dt: f32) -> Advance {
        self.advance_and(dt, false)
    }

    fn advance_and(&mut self, dt: f32, measure: bool) -> Advance {
        let h = dt / self.substeps as f32;
        let (begun, mut stages) = (clock::now(), Stages::default());
        let mut done = Advance::default();
        if self.model.stiffness_number(h) > self.method.stiffness_limit(&self.model, h) {
            done.warnings.insert(Warning::StiffnessBeyondLimit);
        }
        for substep in 0..self.substeps {
            // Kinematics: where bodies go, who is held, and who pulled.
            self.move_bodies(h, self.substeps - substep);
            self.hold(h);
            self.before.copy_from(&self.state);
            self.pull(h);

            // Detect contacts and solve; then put right what the solver does not see of them.
            let begun = clock::now();
            let solved = self.solve(h, substep, measure && substep + 1 == self.substeps);
            let bounded = self.limits.keep(&self.model, &self.held, h, &mut self.state);
            self.project(h);
            self.count_self_contacts(&mut done);
            stages.forces += clock::now() - begun - solved.solving;
            stages.solve += solved.solving;
            stages.iterating += solved.iterating;

            // Check: nothing that is not finite leaves a step.
            if self.state.is_finite() && !self.self_contact.is_flooded() {
                self.place_held();
            } else {
                self.roll_back();
                done.warnings.insert(Warning::RolledBack);
            }
            self.state.colliders.copy_from_slice(self.contacts.bodies_at_end());
            done.add(&solved, bounded);
            self.state.time = self.before.time + f64::from(h);
        }
        stages.rest = clock::now() - begun - stages.forces - stages.solve;
        self.stages = stages;
        if let Some(pace) = &mut self.pace {
            pace.learn(&done.solver, &stages);
        }
        done
    }

    /// Advances by `dt` seconds and measures where that led.
    pub fn step(&mut self, dt: f32) -> Report {
        let done = self.advance_and(dt, true);
        let mut report = report::measure(&self.model, &self.inputs, &self.floors, &self.state);
        report.stiffness_number = self.model.stiffness_number(dt / self.substeps as f32);
        report.solver = done.solver;
        report.self_contact = done.self_contact;
        report.warnings = done.warnings;
        if report.max_strain > OVERSTRETCHED {
            report.warnings.insert(Warning::Overstretched);
        }
        report
    }

    /// [`Sim::step`], and how far its last substep was from the converged one: the nonlinear
    /// backward Euler step with the same spring law. Much slower than a step.
    pub fn step_with_error(&mut self, dt: f32) -> Result<Report, Error> {
        let mut report = self.step(dt);
        let mut reference = Method::preset(presets::REFERENCE)?;
        reference.springs = self.method.springs;
        if self.method.integrator == Integrator::Bdf2 {
            reference.integrator = Integrator::Bdf2;
        }
        let mut solver = solver_for(&reference, &self.model)?;
        let mut state = self.before.clone();
        let h = dt / self.substeps as f32;
        // The contacts are those that the step itself ended with.
        let Self { model, current: inputs, held, contacts, par, .. } = self;
        contacts.prepare(&moment(model, held, inputs, h, *par), &mut state.v);
        self.self_contact.press(&mut contacts.guide.force, |_| 1.0 / h);
        let contact = &contacts.guide;
        solver.step(
            &Step {
                model,
                inputs,
                held,
                contact,
                found: None,
                h,
                substep: [0, 1],
                par: *par,
                effort: Effort::default(),
                measure: false,
            },
            &mut state,
        );
        let square = |v: Vec3| v.as_dvec3().length_squared();
        let error: f64 = state.v.iter().zip(&self.state.v).map(|(r, v)| square(*v - *r)).sum();
        let size: f64 = state.v.iter().map(|v| square(*v)).sum();
        report.converged_error = Some((error / size.max(f64::MIN_POSITIVE)).sqrt());
        Ok(report)
    }

    /// One step of the solver: again, a few times at most, where it shows that contacts were guessed
    /// wrong.
    fn solve(&mut self, h: f32, substep: u32, measure: bool) -> Solved {
        let Self { model, current: inputs, held, contacts, solver, state, before, par, .. } = self;
        let (pace, again, cloth) = (&self.pace, &mut self.again, &mut self.self_contact);
        let at = moment(model, held, inputs, h, *par);
        // Who solves a system is told of contacts in it; others start with the velocities that cloth gives.
        let sees = solver.drift().is_some();
        if cloth.any() {
            cloth.begin(&at, contacts, state);
        }
        if sees {
            contacts.detect(&at, state);
        }
        let effort = pace.as_ref().map_or(inputs.effort, Pace::effort);
        let mut all = Solved::EXPLICIT;
        for round in 1..=MOST_SOLVES + MORE_SOLVES {
            if sees {
                contacts.prepare(&at, &mut state.v);
                cloth.press(&mut contacts.guide.force, |_| 1.0 / h);
                if solver.couples() {
                    cloth.couple(&at, &before.x, &mut contacts.guide.couplings);
                }
            } else {
                cloth.press(&mut state.v, |i| 1.0 / model.mass[i]);
            }
            let contact = &contacts.guide;
            // New impulses between layers change more than a single linearisation follows; a system that
            // has these contacts in it is close the second time.
            let first = 1 + u32::from(cloth.presses());
            let goes_on = round > first && (!cloth.presses() || solver.couples());
            let found = goes_on.then_some(&again[..]);
            let (substep, par) = ([substep, self.substeps], *par);
            let step =
                Step { model, inputs, held, contact, found, h, substep, par, effort, measure };
            let solved = solver.step(&step, state);
            let (iterations, work) = (all.iterations + solved.iterations, all.work + solved.work);
            let (solves, solving) = (all.solves + solved.solves, all.solving + solved.solving);
            let iterating = all.iterating + solved.iterating;
            all = Solved { iterations, work, rounds: round, solves, solving, iterating, ..solved };
            if !state.is_finite() {
                break;
            }
            let on_bodies = |drift| contacts.any() && contacts.judge(&at, before, state, drift);
            let wrong = solver.drift().is_some_and(on_bodies);
            let wrong = cloth.any() && cloth.judge(&at, before, state, solved.converged) || wrong;
            let most = if contacts.missed() { MOST_SOLVES + MORE_SOLVES } else { MOST_SOLVES };
            if !wrong || round >= most {
                break;
            }
            again.copy_from_slice(&state.v);
            state.copy_from(before);
        }
        all
    }

    /// Ends contacts: cloth meets cloth, nobody is left inside a body, and no cloth passes through cloth.
    fn project(&mut self, h: f32) {
        let Self { model, current: inputs, held, contacts, self_contact, .. } = self;
        let Self { solver, state, before, par, .. } = self;
        let at = moment(model, held, inputs, h, *par);
        if self_contact.any() && state.is_finite() {
            self_contact.respond(state);
        }
        if contacts.any() && state.is_finite() {
            contacts.finish(&at, before, state, solver.drift().is_some());
        }
        if self_contact.any() && state.is_finite() && !self_contact.is_flooded() {
            self_contact.keep_apart(&at, &inputs.held, before, state);
        }
    }

    /// Adds what cloth did to cloth in a substep.
    fn count_self_contacts(&self, done: &mut Advance) {
        let count = self.self_contact.count();
        done.self_contact.contacts = count.contacts;
        done.self_contact.stopped += count.stopped;
        done.self_contact.held_back += count.held_back;
        if count.held_back > 0 {
            done.warnings.insert(Warning::HeldBack);
        }
        if !self.entangled().is_empty() {
            done.warnings.insert(Warning::Entangled);
        }
    }

    /// Pairs of triangles that cross each other, in order; contact leaves them alone until they no longer
    /// do. Always empty in scenes without self-contact.
    pub fn entangled(&self) -> &[[u32; 2]] {
        self.self_contact.entangled()
    }

    /// Sets where bodies go in a step of length h: along their paths, or evenly to where the outside
    /// wants them after this and the `left` − 1 substeps after it.
    fn move_bodies(&mut self, h: f32, left: u32) {
        let (time, share) = (self.state.time + f64::from(h), 1.0 / f64::from(left));
        let placed = |index: usize| {
            let mut wanted = self.inputs.colliders.iter().rev();
            wanted.find(|p| p.collider == index && p.pose.is_valid()).map(|p| p.pose)
        };
        let target = |(index, body): (usize, &Collider)| match placed(index) {
            Some(pose) => self.state.colliders[index].toward(pose, share),
            None => body.pose(time),
        };
        let to = self.model.colliders.iter().enumerate().map(target);
        self.contacts.move_bodies(&self.model, &self.state, time, to);
    }

    /// The report of the current state, without stepping.
    pub fn measure(&self) -> Report {
        report::measure(&self.model, &self.inputs, &self.floors, &self.state)
    }

    /// Sets who is held during a step of length h, and the wind.
    fn hold(&mut self, h: f32) {
        let end = self.state.time + f64::from(h);
        self.current.gravity = self.inputs.gravity;
        self.current.effort = self.inputs.effort;
        self.current.wind = self.inputs.wind + self.model.air.gust_at(self.state.time);
        self.current.held.clear();
        self.held.free.fill(1.0);
        self.held.velocity.fill(Vec3::ZERO);
        let released = &self.inputs.released;
        let pins = self.model.pins.iter().filter_map(|pin| {
            if released.contains(&(pin.particle as usize)) {
                return None;
            }
            let target = pin.target(end, |body, own, offset| {
                self.contacts.carried(body, pin.triangle, own, offset)
            })?;
            Some(crate::inputs::Hold { particle: pin.particle as usize, target })
        });
        let count = self.state.x.len();
        let wanted = pins.chain(self.inputs.held.iter().copied());
        self.current.held.extend(wanted.filter(|hold| hold.particle < count));
        self.held.turns.fill(1.0);
        for pin in self.model.pins.iter().filter(|pin| pin.clamp && end <= pin.release) {
            if self.inputs.released.contains(&(pin.particle as usize)) {
                continue;
            }
            if let Some(turns) = self.held.turns.get_mut(pin.particle as usize) {
                *turns = 0.0;
            }
        }
        // FNV-1a.
        let mut who = 0x811c_9dc5_u32;
        for hold in &self.current.held {
            who = (who ^ hold.particle as u32).wrapping_mul(0x0100_0193);
            self.held.free[hold.particle] = 0.0;
            self.held.velocity[hold.particle] = (hold.target - self.state.x[hold.particle]) / h;
        }
        if self.state.previous_held != who {
            self.state.previous_held = who;
            self.state.previous_h = 0.0;
        }
    }

    /// Sets the pulls of a step of length h: those that make sense, those on one particle made one,
    /// and no stiffer than the method stands.
    fn pull(&mut self, h: f32) {
        let pulls = &mut self.current.pulls;
        pulls.drain(..).for_each(|pull| self.pull_of[pull.particle] = NOT_PULLED);
        let count = self.state.x.len();
        for pull in &self.inputs.pulls {
            let k = pull.stiffness.min(STIFFEST_PULL);
            let sane = pull.target.is_finite() && pull.stiffness.is_finite() && k > 0.0;
            if pull.particle >= count || !sane {
                continue;
            }
            let place = &mut self.pull_of[pull.particle];
            if let Some(same) = pulls.get_mut(*place) {
                same.target += k / (same.stiffness + k) * (pull.target - same.target);
                same.stiffness = (same.stiffness + k).min(STIFFEST_PULL);
            } else {
                *place = pulls.len();
                pulls.push(Pull { stiffness: k, ..*pull });
            }
        }
        let limit = self.method.pull_limit() / (h * h);
        for pull in pulls {
            pull.stiffness = pull.stiffness.min(limit * self.model.mass[pull.particle]);
        }
    }

    /// Puts held particles exactly where they belong.
    fn place_held(&mut self) {
        // Self-contact has placed them, as far as no cloth is in the way.
        if self.self_contact.any() {
            return;
        }
        for hold in &self.current.held {
            self.state.x[hold.particle] = hold.target;
        }
    }

    /// Back to the start of the substep, at rest: repeating the same step would fail again.
    fn roll_back(&mut self) {
        self.state.copy_from(&self.before);
        self.state.v.fill(Vec3::ZERO);
        self.state.spin.fill(Vec3::ZERO);
        self.state.last_change.fill(Vec3::ZERO);
        self.state.interface_v.fill(Vec3::ZERO);
        self.state.previous_h = 0.0;
        self.state.presses.clear();
    }

    /// Where the time of the last frame went.
    pub fn stages(&self) -> Stages {
        self.stages
    }

    /// What the solver may spend on a step of the next frame.
    pub fn effort(&self) -> Effort {
        self.pace.as_ref().map_or(self.inputs.effort, Pace::effort)
    }

    /// The constants.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Positions, velocities and time: a snapshot is a clone of it.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Continues from a snapshot of the same model. Fails if its size is another one's.
    pub fn restore(&mut self, state: &State) -> Result<(), Error> {
        let n = self.model.particle_count();
        let interface = [state.interface_x.len(), state.interface_v.len()];
        let previous = [state.previous_x.len(), state.previous_v.len()];
        if [&state.x, &state.v, &state.last_change].iter().any(|v| v.len() != n)
            || state.spin.len() != self.state.spin.len()
            || state.orientation.len() != self.state.orientation.len()
            || (interface != [0; 2] && interface != [n; 2])
            || (previous != [0; 2] && previous != [n; 2])
            || state.colliders.len() != self.state.colliders.len()
            || state.presses.iter().any(|p| !is_press(p, n))
            || state.touches.iter().any(|t| t.particle as usize >= n || !t.impulse.is_finite())
            || !state.is_finite()
        {
            let remedy = format!("a snapshot of this model holds {n} finite particles");
            return Err(Error::new("state", format!("{} particles", state.x.len()), remedy));
        }
        self.state.copy_from(state);
        self.self_contact.find_entangled(&self.model, &self.state.x);
        Ok(())
    }
}

/// Whether a press of a snapshot makes sense among n particles.
fn is_press(press: &Press, n: usize) -> bool {
    press.corners.iter().all(|c| (*c as usize) < n)
        && (1..=2).contains(&press.first)
        && press.weights.iter().all(|w| w.abs() <= 1.0)
        && press.impulse.is_finite()
}

fn moment<'a>(model: &'a Model, held: &'a Held, inputs: &Inputs, h: f32, par: Par) -> Moment<'a> {
    Moment { model, free: &held.free, gravity: inputs.gravity, h, par }
}
