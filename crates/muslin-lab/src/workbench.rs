//! A scene under one to four methods: commands in, messages out, no transport.
//!
//! All panes have the same particles; hands, pins, gravity and wind act in all of them.

use crate::frame::{self, Scratch};
use crate::message::{Command, Message};
use crate::recording::{self, Act, HANDS, Recording};
use muslin::collide::surface;
use muslin::fabric::FABRICS;
use muslin::scene::Shape;
use muslin::solvers::presets::METHODS;
use muslin::{Effort, Error, Method, Pose, Report, Scene, Sim, Stages, State, Vec3, scenes};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a client may ask for at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Particles of a scene.
    pub particles: usize,
    /// Panes.
    pub panes: usize,
    /// Substeps of a frame.
    pub substeps: u32,
    /// Iterations of a linear solve.
    pub iterations: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { particles: 150_000, panes: 4, substeps: 1000, iterations: 20_000 }
    }
}

/// One method on the scene.
struct Pane {
    sim: Sim,
    /// What it was loaded with, if that is not the scene's start.
    start: Option<State>,
    report: Report,
    /// Cost of the last frames. [ms]
    ms: f64,
    /// Where it went. [ms]
    stages: Stages,
    error: Option<f64>,
    /// What its budget let it spend, each with the frames simulated before it.
    efforts: Vec<(u64, Effort)>,
}

/// Frames on their way to the page.
const MOST_ON_THE_WAY: u32 = 2;
/// How often reports are sent.
const REPORT_EVERY: Duration = Duration::from_millis(100);
/// How often the distance to the converged step is measured, and up to how many particles.
const ERROR_EVERY: Duration = Duration::from_secs(2);
const ERROR_PARTICLES: usize = 1100;
/// Beyond this lag the simulation does not try to catch up with the clock.
const GIVE_UP: Duration = Duration::from_millis(100);

/// See the module's documentation.
pub struct Workbench {
    limits: Limits,
    scene: Scene,
    panes: Vec<Pane>,
    recording: Recording,
    playing: bool,
    on_the_way: u32,
    scratch: Scratch,
    /// Time since any fixed moment: there is no clock of one's own inside a browser.
    clock: fn() -> Duration,
    /// When the next frame is due.
    due: Duration,
    last_report: Duration,
    last_error: Duration,
    /// Clock and simulated time at which the rate was last taken, and the rate.
    rate_start: (Duration, f64),
    rate: f64,
}

impl Workbench {
    /// An empty workbench that is paced by `clock`.
    pub fn new(limits: Limits, clock: fn() -> Duration) -> Self {
        let now = clock();
        Self {
            limits,
            clock,
            scene: Scene::default(),
            panes: Vec::new(),
            recording: Recording::default(),
            playing: true,
            on_the_way: 0,
            scratch: Scratch::default(),
            due: now,
            last_report: now,
            last_error: now,
            rate_start: (now, 0.0),
            rate: 0.0,
        }
    }

    /// The first message: what there is.
    pub fn catalogue() -> Message {
        let scenes: Vec<_> = scenes::SCENES
            .iter()
            .map(|s| serde_json::json!({ "name": s.name, "about": s.about }))
            .collect();
        let methods: Vec<_> = METHODS
            .iter()
            .map(|m| serde_json::json!({ "id": m.id, "about": m.about, "method": m.method() }))
            .collect();
        let fabrics: Vec<_> = FABRICS
            .iter()
            .map(|f| serde_json::json!({ "name": f.name, "about": f.source }))
            .collect();
        text(&serde_json::json!({
            "type": "catalogue", "version": env!("CARGO_PKG_VERSION"),
            "scenes": scenes, "methods": methods, "fabrics": fabrics,
        }))
    }

    /// Carries out one message of the page.
    pub fn receive(&mut self, message: &str) -> Vec<Message> {
        let command = match serde_json::from_str::<Command>(message) {
            Ok(command) => command,
            Err(error) => return vec![refused(message, &format!("not a command: {error}"))],
        };
        match self.carry_out(command) {
            Ok(messages) => messages,
            Err(error) => vec![refused(message, &error.to_string())],
        }
    }

    fn carry_out(&mut self, command: Command) -> Result<Vec<Message>, Error> {
        let mut messages = Vec::new();
        match command {
            Command::Open { scene, methods } => {
                let methods: Result<_, _> = methods.iter().map(|id| Method::preset(id)).collect();
                self.playing = true;
                messages = self.load(scenes::named(&scene)?, methods?, false)?;
            }
            Command::Load { scene, methods, keep } => {
                messages = self.load(*scene, methods, keep)?;
            }
            Command::Play { playing } => {
                self.playing = playing;
                self.restart_clock();
                // A slow page has skipped frames: what it shows while paused is to be what is.
                if !playing {
                    messages = self.frames();
                }
                messages.extend(self.reports());
            }
            Command::Step => {
                self.playing = false;
                self.advance_panes(true);
                messages = self.frames();
                messages.extend(self.reports());
            }
            Command::Reset => {
                let methods = self.panes.iter().map(|pane| pane.sim.method().clone()).collect();
                messages = self.load(self.scene.clone(), methods, false)?;
            }
            Command::Inputs { gravity, wind } => {
                for value in [gravity, wind] {
                    if !value.is_finite() || value.abs().max_element() > 1e4 {
                        let remedy = "must be three numbers between -10000 and 10000";
                        return Err(Error::new("inputs", value, remedy));
                    }
                }
                self.act(Act::Inputs { gravity, wind });
            }
            Command::Pull { hand, .. } | Command::Release { hand } if hand >= HANDS => {
                return Err(Error::new("hand", hand, "must be 0 or 1"));
            }
            Command::Pull { hand, particle, target, stiffness } => {
                if !target.is_finite() || !stiffness.is_finite() {
                    let remedy = "a drag needs finite numbers";
                    return Err(Error::new("pull", target, remedy));
                }
                self.act(Act::Pull { hand, particle, target, stiffness });
            }
            Command::Release { hand } => self.act(Act::Release { hand }),
            Command::Collider { collider, position, rotation } => {
                let pose = Pose { position, rotation: rotation.normalize() };
                let bodies = self.scene.colliders.len();
                if collider >= bodies {
                    let remedy = format!("the scene has {bodies} bodies");
                    return Err(Error::new("collider", collider, remedy));
                }
                if !pose.is_valid() {
                    let remedy = "a body needs finite numbers and a rotation";
                    return Err(Error::new("collider", position, remedy));
                }
                self.act(Act::Collider { collider, pose });
            }
            Command::Pin { particle, held } => self.pin(particle, held)?,
            Command::Save { pane } => messages.extend(self.save(pane)?),
            Command::Taken => self.on_the_way = self.on_the_way.saturating_sub(1),
        }
        Ok(messages)
    }

    /// Replaces the scene; on an error everything stays as it was.
    fn load(
        &mut self,
        scene: Scene,
        methods: Vec<Method>,
        keep: bool,
    ) -> Result<Vec<Message>, Error> {
        let Limits { particles, panes, substeps, iterations } = self.limits;
        if methods.is_empty() || methods.len() > panes {
            let remedy = format!("give one to {panes} methods");
            return Err(Error::new("methods", methods.len(), remedy));
        }
        // Before compiling: what a grid would take is known.
        let wanted: usize = (scene.cloth.iter())
            .map(|c| match &c.mesh {
                Some(mesh) => mesh.vertices.len(),
                None => c.columns.saturating_mul(c.rows),
            })
            .fold(0, usize::saturating_add);
        if wanted > particles {
            let remedy = format!("the lab holds at most {particles} particles");
            return Err(Error::new("particles", wanted, remedy));
        }
        if scene.substeps > substeps {
            let remedy = format!("the lab takes at most {substeps} substeps");
            return Err(Error::new("substeps", scene.substeps, remedy));
        }
        let model = scene.compile()?;
        let mut new = Vec::new();
        for (index, mut method) in methods.into_iter().enumerate() {
            method.max_iterations = method.max_iterations.min(iterations);
            let mut sim = Sim::new(model.clone(), method)?;
            let mut start = None;
            if let Some(old) = self.panes.get(index).or(self.panes.first()).filter(|_| keep) {
                let mut state = old.sim.state().clone();
                // What belongs to another kind of method stays behind.
                state.interface_x.clear();
                state.interface_v.clear();
                state.previous_h = 0.0;
                if sim.restore(&state).is_ok() {
                    sim.inputs = muslin::Inputs {
                        gravity: sim.inputs.gravity,
                        wind: sim.inputs.wind,
                        ..old.sim.inputs.clone()
                    };
                    start = Some(state);
                }
            }
            let report = sim.measure();
            let stages = Stages::default();
            let efforts = Vec::new();
            new.push(Pane { sim, start, report, ms: 0.0, stages, error: None, efforts });
        }
        self.scene = scene;
        self.panes = new;
        self.recording = Recording::default();
        // Hands that stay on the cloth belong to the new recording.
        if let Some(pane) = self.panes.first() {
            let inputs = &pane.sim.inputs;
            let released = inputs.released.iter().map(|&particle| Act::LetGo { particle });
            let held = inputs.held.iter();
            let held = held.map(|h| Act::Hold { particle: h.particle, target: h.target });
            let pulls = recording::pulls(inputs);
            let bodies = inputs.colliders.iter();
            let bodies = bodies.map(|p| Act::Collider { collider: p.collider, pose: p.pose });
            released
                .chain(held)
                .chain(pulls)
                .chain(bodies)
                .for_each(|act| self.recording.push(act));
        }
        self.on_the_way = 0;
        self.restart_clock();
        let mut messages = vec![self.opened(), Message::Binary(frame::triangles(&model))];
        messages.push(Message::Binary(frame::edges(&model)));
        messages.push(Message::Binary(frame::springs(&model)));
        messages.extend(self.frames());
        messages.extend(self.reports());
        Ok(messages)
    }

    /// Does something to every pane, and remembers it.
    fn act(&mut self, act: Act) {
        self.panes.iter_mut().for_each(|pane| act.apply(&mut pane.sim));
        self.recording.push(act);
    }

    fn pin(&mut self, particle: usize, held: bool) -> Result<(), Error> {
        let Some(pane) = self.panes.first() else { return Ok(()) };
        let Some(&target) = pane.sim.state().x.get(particle) else {
            let count = pane.sim.state().x.len();
            return Err(Error::new("particle", particle, format!("there are only {count}")));
        };
        self.act(if held { Act::Hold { particle, target } } else { Act::LetGo { particle } });
        Ok(())
    }

    /// The run of a pane so far, as a file that `muslin run` replays.
    fn save(&self, pane: usize) -> Result<Option<Message>, Error> {
        let Some(pane) = self.panes.get(pane) else {
            let count = self.panes.len();
            return Err(Error::new("pane", pane, format!("there are only {count}")));
        };
        // What a budget made of this machine's speed is repeated by what was spent.
        let method = Method { budget: 0.0, ..pane.sim.method().clone() };
        let recording = Recording { start: pane.start.clone(), ..self.recording.clone() };
        let written = recording.with_efforts(&pane.efforts).to_toml(&self.scene, &method);
        let file = written.map_err(|e| Error::new("save", &self.scene.name, e.to_string()))?;
        let name = format!("{}-{}.toml", self.scene.name, method.id);
        Ok(Some(text(&serde_json::json!({ "type": "saved", "name": name, "text": file }))))
    }

    fn restart_clock(&mut self) {
        let now = (self.clock)();
        self.due = now;
        let time = self.panes.first().map_or(0.0, |pane| pane.sim.state().time);
        self.rate_start = (now, time);
    }

    /// How long nothing needs to be done; `None` while paused.
    pub fn idle(&self) -> Option<Duration> {
        let runs = self.playing && !self.panes.is_empty();
        runs.then(|| self.due.saturating_sub((self.clock)()))
    }

    /// Simulates the frame that is due, if one is, and says what is to be sent.
    pub fn advance(&mut self) -> Vec<Message> {
        let now = (self.clock)();
        if !self.playing || self.panes.is_empty() || now < self.due {
            return Vec::new();
        }
        let frame = Duration::from_secs_f64(self.scene.dt);
        self.due += frame;
        // Slower than the clock: go on from here, and let the rate tell.
        if now > self.due + GIVE_UP {
            self.due = now;
        }
        let report = now - self.last_report >= REPORT_EVERY;
        self.advance_panes(report);
        let mut messages = Vec::new();
        if self.on_the_way < MOST_ON_THE_WAY {
            self.on_the_way += 1;
            messages = self.frames();
        }
        if report {
            self.last_report = now;
            self.take_rate();
            messages.extend(self.reports());
        }
        messages
    }

    /// One frame and nothing else, whenever it is due: what a benchmark times.
    pub fn bare_frame(&mut self) {
        self.advance_panes(false);
    }

    fn advance_panes(&mut self, measure: bool) {
        for pane in self.panes.iter_mut().filter(|pane| pane.sim.method().budget > 0.0) {
            let effort = pane.sim.effort();
            if pane.efforts.last().is_none_or(|(_, last)| *last != effort) {
                pane.efforts.push((self.recording.frames, effort));
            }
        }
        self.recording.frames += 1;
        let dt = self.scene.dt as f32;
        let several = self.panes.len() > 1;
        let clock = self.clock;
        let with_error = measure && several && clock() - self.last_error >= ERROR_EVERY;
        if with_error {
            self.last_error = clock();
        }
        for Pane { sim, report, ms, stages, error, .. } in &mut self.panes {
            let begun = clock();
            if with_error && sim.model().particle_count() <= ERROR_PARTICLES {
                if let Ok(measured) = sim.step_with_error(dt) {
                    *error = measured.converged_error;
                    *report = measured;
                }
                continue;
            }
            if measure {
                *report = sim.step(dt);
            } else {
                let done = sim.advance(dt);
                report.warnings.extend(done.warnings);
            }
            let spent = 1e3 * (clock() - begun).as_secs_f64();
            let last = sim.stages();
            let first = *ms == 0.0;
            let follow = |mean: &mut f64, now: f64| {
                *mean = if first { now } else { *mean + 0.1 * (now - *mean) };
            };
            follow(&mut stages.forces, 1e3 * last.forces);
            follow(&mut stages.solve, 1e3 * last.solve);
            // Whatever else a frame takes: pins, checks, and now and then the report's figures.
            follow(&mut stages.rest, spent - 1e3 * (last.forces + last.solve));
            follow(ms, spent);
        }
    }

    fn take_rate(&mut self) {
        let Some(pane) = self.panes.first() else { return };
        let (begun, time) = self.rate_start;
        let now = (self.clock)();
        let spent = (now - begun).as_secs_f64();
        if spent > 0.5 {
            self.rate = (pane.sim.state().time - time) / spent;
            self.rate_start = (now, pane.sim.state().time);
        }
    }

    fn opened(&self) -> Message {
        let panes = self.panes.iter().map(|pane| {
            let model = pane.sim.model();
            serde_json::json!({
                "method": pane.sim.method(), "particles": model.particle_count(),
                "springs": model.spring_count(), "hinges": model.hinges.len(),
                "turns": model.turning.len(), "triangles": model.triangles.len(),
                "limit": finite(limit(pane)),
            })
        });
        let panes = serde_json::Value::Array(panes.collect());
        let model = self.panes.first().map(|pane| pane.sim.model());
        let start = model.map_or(&[][..], |model| &model.start_x);
        let low = start.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = start.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        let inputs = self.panes.first().map(|pane| &pane.sim.inputs);
        let mut pins: Vec<usize> = model
            .map_or(&[][..], |model| &model.pins)
            .iter()
            .map(|pin| pin.particle as usize)
            .filter(|particle| !inputs.is_some_and(|i| i.released.contains(particle)))
            .chain(inputs.into_iter().flat_map(|i| &i.held).map(|hold| hold.particle))
            .collect();
        pins.sort_unstable();
        pins.dedup();
        let poses = self.panes.first().map_or(&[][..], |pane| &pane.sim.state().colliders);
        let bodies = model.map_or(&[][..], |model| &model.colliders);
        let bodies: Vec<_> = bodies
            .iter()
            .zip(poses)
            .map(|(body, pose)| {
                let surface = surface::of(&body.shape);
                serde_json::json!({
                    "position": pose.position, "rotation": pose.rotation, "movable": true,
                    "vertices": bytemuck::cast_slice::<_, f32>(&surface.vertices),
                    "triangles": surface.triangles.as_flattened(),
                })
            })
            .collect();
        text(&serde_json::json!({
            "type": "opened", "colliders": bodies, "scene": self.scene, "panes": panes, "pins": pins,
            "dt": self.scene.dt, "substeps": self.scene.substeps, "size": [low, high],
        }))
    }

    fn frames(&mut self) -> Vec<Message> {
        let Self { scratch, panes, .. } = self;
        let frame = |(i, pane): (usize, &Pane)| {
            Message::Binary(frame::frame(scratch, i, pane.sim.model(), pane.sim.state()))
        };
        let mut messages: Vec<Message> = panes.iter().enumerate().map(frame).collect();
        let poses = panes.first().map_or(&[][..], |pane| &pane.sim.state().colliders);
        if !poses.is_empty() {
            messages.insert(0, text(&serde_json::json!({ "type": "bodies", "poses": poses })));
        }
        let bodies = panes.first().map_or(&[][..], |pane| &pane.sim.model().colliders);
        for (i, body) in bodies.iter().enumerate() {
            if matches!(body.shape, Shape::Character(_)) {
                let time = panes[0].sim.state().time;
                let surface = surface::at(&body.shape, time);
                messages.insert(0, Message::Binary(frame::bent(i, &surface.vertices)));
            }
        }
        messages
    }

    fn reports(&mut self) -> Vec<Message> {
        let (playing, rate) = (self.playing, self.rate);
        let report = |(i, pane): (usize, &mut Pane)| {
            let r = &pane.report;
            let message = text(&PaneReport {
                kind: "report",
                pane: i,
                time: r.time,
                playing,
                rate: finite(rate),
                ms: finite(pane.ms),
                stages: pane.stages,
                energy: r.energy,
                max_strain: finite(r.max_strain),
                mean_strain: finite(r.mean_strain),
                max_speed: finite(r.max_speed),
                lowest: finite(r.lowest),
                contacts: r.contacts,
                self_contacts: r.self_contact.contacts,
                iterations: r.solver.iterations,
                residual: r.solver.residual.and_then(finite),
                strain_left: r.solver.strain_left.and_then(finite),
                tethered: r.solver.tethered,
                limited: r.solver.limited,
                stiffness_number: finite(f64::from(r.stiffness_number)),
                limit: finite(limit(pane)),
                error: pane.error.and_then(finite),
                warnings: (r.warnings.iter())
                    .map(|w| Sentence { kind: w, remedy: w.remedy() })
                    .collect(),
            });
            pane.report.warnings = Default::default();
            message
        };
        self.panes.iter_mut().enumerate().map(report).collect()
    }
}

/// Figures of one pane.
#[derive(Serialize)]
struct PaneReport {
    #[serde(rename = "type")]
    kind: &'static str,
    pane: usize,
    time: f64,
    playing: bool,
    rate: Option<f64>,
    ms: Option<f64>,
    stages: Stages,
    energy: muslin::Energy,
    max_strain: Option<f64>,
    mean_strain: Option<f64>,
    max_speed: Option<f64>,
    lowest: Option<f64>,
    contacts: usize,
    self_contacts: usize,
    iterations: u32,
    residual: Option<f64>,
    strain_left: Option<f64>,
    tethered: usize,
    limited: usize,
    stiffness_number: Option<f64>,
    limit: Option<f64>,
    error: Option<f64>,
    warnings: Vec<Sentence>,
}

/// A warning and what to do.
#[derive(Serialize)]
struct Sentence {
    kind: muslin::Warning,
    remedy: &'static str,
}

/// The stiffness number a pane's method stands.
fn limit(pane: &Pane) -> f64 {
    let model = pane.sim.model();
    let h = (model.dt / f64::from(model.substeps)) as f32;
    f64::from(pane.sim.method().stiffness_limit(model, h))
}

/// JSON has no infinity.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Names the command, as far as it had a name, so that the page knows what it was that failed.
fn refused(command: &str, message: &str) -> Message {
    #[derive(Deserialize)]
    struct Name {
        r#type: String,
    }
    let name = serde_json::from_str::<Name>(command).map(|name| name.r#type).ok();
    text(&serde_json::json!({ "type": "refused", "command": name, "message": message }))
}

fn text(value: &impl Serialize) -> Message {
    // Numbers and strings of our own: nothing that JSON could not hold.
    Message::Text(serde_json::to_string(value).unwrap_or_default())
}
