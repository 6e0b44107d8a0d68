//! Contact of cloth with bodies: who touches what, what the solver is told, and what is put right
//! after it. Everything about contact is decided here; methods only carry it out.
//!
//! A contact is a plane at the end of the step, n · (x − q) ≥ 0, tangent to the body at `thickness`
//! where the particle's path first meets it. A particle in contact either *sticks*, its velocity given
//! in all directions, or *slides*, its velocity given along n and friction acting across it. Friction
//! enters as a drag c = μ p_n/|u| on the sliding velocity u: the same force as Coulomb's once p_n and u
//! are those of the step, and one that never drives, whatever they were taken to be.
//!
//! Methods that solve a system see contacts in it: the particle starts the solve with the given
//! velocity, a weight W n nᵀ (W I if it sticks) on its diagonal block keeps it, and the impulse λ of the
//! last step is among the forces. What the body had to give is
//!
//! ```text
//!   p = λ + m (v' − v) − W Δv        v' the velocity given to it, Δv its small change by the solver
//! ```
//!
//! and tells whether the guess was right: a pull beyond the particle's own weight lets go, |p_t| > μ p_n
//! slides, what lost most of its speed sticks, a drag of another p_n or u is set anew, and a path that
//! meets a body it was not told of touches it. Then the step is solved again, a few times at most. Other
//! methods, and what is left, are projected: put on the plane, with the same law of friction on the
//! impulse that this takes.
//!
//! W is such that λ, or the particle's weight if that is more, moves it by a quarter of what counts as
//! close: the error of a solve has an energy, so the noise of W Δv grows as √W. At rest λ is all of p.
//!
//! Sticking is a place: the anchor, in the body's coordinates, is part of the state, so that nothing
//! creeps however long it rests.

mod bodies;
pub mod cloth;
mod contact;
mod face;
mod feature;
pub mod shape;
mod skinned;
pub mod surface;
mod sweep;

use crate::linalg::{Coupling, Sym3};
use crate::model::{Model, Pose, Shape};
use crate::par::{BLOCK, Par};
use crate::state::{State, Touch};
use bodies::{Bodies, Meeting};
use contact::{Contact, Load, Wrong, begin, given, project};
use feature::Feature;
use glam::{DVec3, Vec3};
pub use skinned::Skinned;

/// Contacts are told right if all together are wrong by less than this share of their impulses.
const CORRECT: f32 = 0.005;

/// Impulses of contacts are to be known to this share of the particles' weight.
const ACCURACY: f64 = 0.1;

/// Of [`deep`], as a share of the thickness.
const DEEP: f64 = 0.02;

/// Surfaces of one character that a particle is put on in a step.
const SURFACES: usize = 4;

/// Solves of one step at most.
pub const MOST_SOLVES: u32 = 4;

/// Further ones at most, while contacts are missed that would have to be put right by force: moving
/// particles out of a body stretches cloth, which is energy from nowhere.
pub const MORE_SOLVES: u32 = 4;

/// What contacts tell a solver; empty where a scene has no bodies and no self-contact.
#[derive(Clone, Debug)]
pub struct Guide {
    /// Weight on each particle's block of the system matrix, which keeps the velocity it came with
    /// in the directions that bodies decide. [kg]
    pub weight: Vec<Sym3>,
    /// What bodies and cloth do to each particle as far as it is known: friction of what slides, and the
    /// impulse of the last step or solve. [N]
    pub force: Vec<Vec3>,
    /// Cloth that presses on cloth, for those who have such terms in their system.
    pub couplings: Vec<Coupling>,
    /// Energy that the error of a solve may have if impulses are to be known to a share of the
    /// particles' weight; infinite where nothing touches or weighs. [J]
    pub error: f64,
}

/// Without bodies nothing is told, and any error will do.
impl Default for Guide {
    fn default() -> Self {
        Self { weight: Vec::new(), force: Vec::new(), couplings: Vec::new(), error: f64::INFINITY }
    }
}

impl Guide {
    /// Whether a body decides something about this particle.
    pub fn touches(&self, particle: usize) -> bool {
        self.weight.get(particle).is_some_and(|w| *w != Sym3::ZERO)
    }
}

/// Contacts of the current step, and storage.
#[derive(Default)]
pub struct Contacts {
    /// By particle, then body.
    list: Vec<Contact>,
    /// Velocities at the start of the step, before contacts changed any. [m/s]
    start_v: Vec<Vec3>,
    /// Bodies at the start and the end of the step.
    from: Vec<Pose>,
    to: Vec<Pose>,
    /// The surfaces of the characters among them.
    skins: Vec<Option<Skinned>>,
    /// Distances of all particles from each character at the start of the step, once they are measured;
    /// empty for other bodies. [m]
    distances: Vec<Vec<f64>>,
    measured: bool,
    /// Σ k and Σ d of the springs and hinges of each particle.
    stiffness: Vec<f32>,
    damping: Vec<f32>,
    near: Vec<bool>,
    /// Of [`Contacts::missed`].
    missed: bool,
    /// What of each body fits through the mesh: it is met by triangles as well.
    features: Vec<Vec<Feature>>,
    /// All cloth. [kg]
    mass: f64,
    /// Planes of triangles that meet features, for each of their corners, by particle and body.
    faces: Vec<face::Corner>,
    /// What the solver is told.
    pub guide: Guide,
}

impl Contacts {
    /// Storage for a model.
    pub fn new(model: &Model) -> Self {
        if model.colliders.is_empty() {
            let on_cloth = if model.self_contact.is_some() { model.particle_count() } else { 0 };
            let force = vec![Vec3::ZERO; on_cloth];
            return Self { guide: Guide { force, ..Guide::default() }, ..Self::default() };
        }
        let n = model.particle_count();
        let (mut stiffness, mut damping) = (vec![0.0; n], vec![0.0; n]);
        let springs = &model.springs;
        for (s, ends) in model.topology.links.ends().iter().enumerate() {
            for end in ends.map(|e| e as usize) {
                stiffness[end] += springs.stiffness[s];
                damping[end] += springs.damping[s] + springs.relative_damping[s];
            }
        }
        let hinges = &model.hinges;
        for (i, corners) in model.topology.elements[..hinges.len()].iter().enumerate() {
            for (corner, flat) in corners.iter().zip(hinges.flat[i]) {
                stiffness[*corner as usize] += hinges.stiffness[i] * flat * flat;
            }
        }
        let bodies = model.colliders.len();
        let longest = face::longest_edge(model);
        let skins: Vec<_> = model.colliders.iter().map(|body| skin(&body.shape)).collect();
        let features: Vec<_> =
            model.colliders.iter().map(|body| feature::of(body, longest)).collect();
        let with_features = features.iter().filter(|features| !features.is_empty()).count();
        Self {
            list: Vec::with_capacity(n * bodies.min(3)),
            start_v: vec![Vec3::ZERO; n],
            from: Vec::with_capacity(bodies),
            to: Vec::with_capacity(bodies),
            distances: skins.iter().map(|s| vec![0.0; if s.is_some() { n } else { 0 }]).collect(),
            measured: false,
            skins,
            stiffness,
            damping,
            near: vec![false; n],
            missed: false,
            mass: model.mass.iter().map(|m| f64::from(*m)).sum(),
            faces: Vec::with_capacity(3 * with_features * model.triangles.len()),
            features,
            guide: Guide {
                weight: vec![Sym3::ZERO; n],
                force: vec![Vec3::ZERO; n],
                couplings: Vec::new(),
                error: f64::INFINITY,
            },
        }
    }

    /// Whether the scene has bodies.
    pub fn any(&self) -> bool {
        !self.near.is_empty()
    }

    /// The bodies' way during this step: from where the state has them to `to`, at time `end`.
    pub fn move_bodies(
        &mut self,
        model: &Model,
        state: &State,
        end: f64,
        to: impl Iterator<Item = Pose>,
    ) {
        self.from.clone_from(&state.colliders);
        self.to.clear();
        self.to.extend(to);
        self.measured = false;
        for (body, skin) in model.colliders.iter().zip(&mut self.skins) {
            if let (Shape::Character(character), Some(skin)) = (&body.shape, skin) {
                skin.follow(character, state.time, end);
            }
        }
    }

    /// Where the bodies are at the end of the step.
    pub fn bodies_at_end(&self) -> &[Pose] {
        &self.to
    }

    /// Where a point of body `c`, or of a triangle of a character's, is at the end of the step, `offset`
    /// from there in the body's coordinates.
    pub fn carried(&self, c: usize, triangle: u32, own: DVec3, offset: DVec3) -> Option<DVec3> {
        let skin = self.skins.get(c)?;
        let own = skin.as_ref().map_or(own, |skin| skin.attached(triangle, own));
        Some(self.to[c].to_world(own + offset))
    }

    /// The direction away from body `c` at a point at the end of the step.
    pub fn away(&self, model: &Model, c: usize, x: Vec3) -> Vec3 {
        let own = self.to[c].to_own(point(x));
        let normal = match &self.skins[c] {
            Some(skin) => skin.nearest(own, 1.0).normal,
            None => shape::distance(&model.colliders[c].shape, own).1,
        };
        (self.to[c].rotation * normal).as_vec3()
    }

    /// Finds who will touch a body if nothing but gravity acts, and who still does.
    pub fn detect(&mut self, at: &Moment<'_>, state: &State) {
        if !self.any() {
            return;
        }
        self.list.clear();
        self.start_v.copy_from_slice(&state.v);
        let ahead = |i: usize| state.x[i] + at.h * state.v[i];
        self.find_near(at, &state.x, ahead);
        let mut touches = &state.touches[..];
        for i in (0..state.x.len()).filter(|i| self.near[*i]) {
            let earlier = touches.partition_point(|t| (t.particle as usize) < i);
            touches = &touches[earlier..];
            for c in 0..at.model.colliders.len() {
                let own = touches.iter().take_while(|t| t.particle as usize == i);
                let touch = own.into_iter().find(|t| t.collider as usize == c);
                let bodies = bodies(at, &self.from, &self.to, &self.skins);
                // What came close without touching is held off by its neighbours.
                let x = point(state.x[i]);
                let (gap, close) = (bodies.gap_before(c, x), bodies.close(c, x));
                if touch.is_none() && gap.abs() <= close {
                    continue;
                }
                let found = self.meeting(&bodies, [i, c], state.x[i], ahead(i), touch.is_some());
                if let Some(found) = found {
                    let contact = begin(&bodies, [i, c], &found, state, touch, self.load(at, i));
                    self.list.push(contact);
                }
            }
        }
    }

    /// Gives the particles in contact their velocities, and the solver its guide.
    pub fn prepare(&mut self, at: &Moment<'_>, v: &mut [Vec3]) {
        let Guide { weight, force, error, .. } = &mut self.guide;
        weight.fill(Sym3::ZERO);
        force.fill(Vec3::ZERO);
        *error = f64::INFINITY;
        let gravity = self.mass * f64::from(at.gravity.length());
        for group in self.list.chunk_by(|a, b| a.particle == b.particle) {
            let i = group[0].particle as usize;
            v[i] = given(group, v[i]);
            for contact in group.iter().filter(|c| c.active) {
                let w = contact.weight;
                let across = if contact.sticks { w } else { contact.drag };
                weight[i] += Sym3::scalar(across);
                weight[i] += Sym3::outer(w - across, contact.normal);
                force[i] += contact.told() / at.h;
                if !contact.sticks {
                    force[i] -= across / at.h * contact.tangential(v[i] - contact.carry);
                }
                // All cloth lowered by as much as a contact gives way.
                let lowering = gravity * f64::from(contact.gives_way());
                if lowering > 0.0 {
                    *error = error.min(ACCURACY * ACCURACY * lowering);
                }
            }
        }
    }

    /// Compares what the solver found with what it was told. True if that was wrong somewhere:
    /// the step is to be solved again.
    pub fn judge(
        &mut self,
        at: &Moment<'_>,
        before: &State,
        after: &State,
        drift: &[Vec3],
    ) -> bool {
        let mut hardest_pull = 0.0f32;
        for group in self.list.chunk_by_mut(|a, b| a.particle == b.particle) {
            let i = group[0].particle as usize;
            let given = given(group, self.start_v[i]);
            let (m, weight) = (at.model.mass[i], self.guide.weight[i]);
            let p = m * (given - self.start_v[i]) - weight * drift[i];
            let count = group.iter().filter(|c| c.active).count() as f32;
            for contact in group.iter_mut().filter(|c| c.active) {
                // What squeezes it between bodies does not show in the sum.
                let apart = contact.approach - contact.normal.dot(given);
                contact.squeeze = if count > 1.0 { contact.load.heaviest() * apart } else { 0.0 };
                contact.reaction = contact.told() + p / count;
                hardest_pull = hardest_pull.min(contact.pressing());
            }
        }
        let (mut wrong, mut all) = (Wrong::default(), Wrong::default());
        self.missed = false;
        for contact in self.list.iter_mut().filter(|c| c.active) {
            let i = contact.particle as usize;
            let mu = at.model.colliders[contact.collider as usize].friction as f32;
            let velocities = [self.start_v[i], after.v[i], drift[i]];
            wrong.add(contact.decide(mu, at.h, hardest_pull, velocities));
            all.add(Wrong { normal: contact.impulse, friction: mu * contact.impulse, ..all });
            self.missed |=
                contact.active && contact.sunk(at.h, drift[i]) > deep(at, contact.collider);
        }
        wrong.normal += self.find_new(at, before, after);
        let much = |wrong: f32, all: f32| wrong > CORRECT * all;
        wrong.entirely
            || self.missed
            || much(wrong.normal, all.normal)
            || much(wrong.friction, all.friction)
    }

    /// Whether the solve judged last left a particle so deep in a body that it would be put right by force.
    pub fn missed(&self) -> bool {
        self.missed
    }

    /// Adds contacts that the path of the solved step meets and nobody was told of; the impulse that was
    /// missed. [N·s]
    fn find_new(&mut self, at: &Moment<'_>, before: &State, after: &State) -> f32 {
        self.find_near(at, &before.x, |i| after.x[i]);
        let (old, mut missed) = (self.list.len(), 0.0);
        for i in (0..before.x.len()).filter(|i| self.near[*i]) {
            for c in 0..at.model.colliders.len() {
                let place = self.list[..old].binary_search_by_key(&(i, c), |contact| {
                    (contact.particle as usize, contact.collider as usize)
                });
                if place.is_ok_and(|place| self.list[place].active) {
                    continue;
                }
                let bodies = bodies(at, &self.from, &self.to, &self.skins);
                let found = self.meeting(&bodies, [i, c], before.x[i], after.x[i], false);
                let Some(found) = found else { continue };
                // One that just let go and only grazes the body stays free.
                let x1 = point(after.x[i]);
                let plane = self.face((i as u32, c as u32)).map(|face| face.meeting.below(x1));
                let depth = plane.unwrap_or(0.0).max(-bodies.gap_after(c, x1));
                if depth < bodies.close(c, x1) {
                    continue;
                }
                missed += at.model.mass[i] * depth as f32 / at.h;
                self.missed |= depth > deep(at, c as u32);
                match place {
                    Ok(place) => {
                        let contact = &mut self.list[place];
                        (contact.active, contact.kept) = (true, true);
                    }
                    Err(_) => {
                        let load = self.load(at, i);
                        self.list.push(begin(&bodies, [i, c], &found, before, None, load));
                    }
                }
            }
        }
        self.list.sort_unstable_by_key(|contact| (contact.particle, contact.collider));
        missed
    }

    /// Ends the step: bodies are where they go, particles outside them, and what sticks where is
    /// remembered. `seen`: the solver was told of the contacts.
    pub fn finish(&mut self, at: &Moment<'_>, before: &State, state: &mut State, seen: bool) {
        state.touches.clear();
        if seen {
            for contact in self.list.iter().filter(|c| c.active) {
                state.x[contact.particle as usize] += contact.push * contact.normal;
            }
        } else {
            self.list.clear();
        }
        self.find_near(at, &before.x, |i| state.x[i]);
        let mut solved = self.list.iter().filter(|c| c.active).peekable();
        let mut touches = &before.touches[..];
        for i in 0..state.x.len() {
            let is_solved = solved.peek().is_some_and(|c| c.particle as usize == i);
            if !self.near[i] && !is_solved {
                continue;
            }
            let earlier = touches.partition_point(|t| (t.particle as usize) < i);
            touches = &touches[earlier..];
            for c in 0..at.model.colliders.len() {
                let key = (i as u32, c as u32);
                let of_solver = solved.next_if(|s| (s.particle, s.collider) == key);
                let touch = touches.iter().take_while(|t| t.particle == key.0);
                let touch = touch.into_iter().find(|t| t.collider == key.1);
                let bodies = bodies(at, &self.from, &self.to, &self.skins);
                let kept = of_solver.map(|contact| contact.touch(&bodies, state.x[i]));
                let is_deep = |x: Vec3| {
                    let deep = deep(at, c as u32);
                    let below = |face: &face::Corner| {
                        (face.sharp || face.along) && face.meeting.below(point(x)) > deep
                    };
                    bodies.gap_after(c, point(x)) < -deep || self.face(key).is_some_and(below)
                };
                let result = match kept {
                    Some(kept) if !is_deep(state.x[i]) => Some(kept),
                    _ => {
                        let (x0, x1) = (before.x[i], state.x[i]);
                        let found = self.meeting(&bodies, [i, c], x0, x1, touch.is_some());
                        let put = found.and_then(|found| {
                            project(&bodies, at.model.mass[i], [i, c], &found, state, touch)
                        });
                        put.or(kept)
                    }
                };
                let result = leave_skin(&bodies, at, [i, c], before.x[i], state).or(result);
                state.touches.extend(result);
            }
        }
    }

    fn load(&self, at: &Moment<'_>, i: usize) -> Load {
        let (h, mass) = (at.h, at.model.mass[i]);
        let row = mass + h * self.damping[i] + h * h * self.stiffness[i];
        Load { mass, row, own: h * mass * at.gravity.length() }
    }

    /// The plane that holds for a particle because a triangle of its meets a body.
    fn face(&self, key: (u32, u32)) -> Option<&face::Corner> {
        let place = self.faces.binary_search_by_key(&key, |f| (f.particle, f.collider)).ok()?;
        Some(&self.faces[place])
    }

    /// Where the path of a particle, or else a triangle at it, meets body `c`.
    fn meeting(
        &self,
        bodies: &Bodies<'_>,
        [i, c]: [usize; 2],
        x0: Vec3,
        x1: Vec3,
        stays: bool,
    ) -> Option<Meeting> {
        let face = self.face((i as u32, c as u32));
        if let Some(sharp) = face.filter(|face| face.sharp) {
            return Some(sharp.meeting);
        }
        let own = bodies.meeting(c, point(x0), point(x1), stays);
        own.or_else(|| face.map(|face| face.meeting))
    }

    /// Measures the distances from characters at the start of a step, once for all its solves.
    fn measure(&mut self, at: &Moment<'_>, x: &[Vec3]) {
        if std::mem::replace(&mut self.measured, true) {
            return;
        }
        for (c, skin) in self.skins.iter().enumerate() {
            let Some(skin) = skin else { continue };
            let pose = self.from[c];
            at.par.blocks(&mut self.distances[c], |block, distances| {
                for (k, distance) in distances.iter_mut().enumerate() {
                    let own = pose.to_own(point(x[block * BLOCK + k]));
                    *distance = skin.nearest(own, 0.0).distance;
                }
            });
        }
    }

    /// Marks the particles whose path may meet a body, and finds the triangles that meet a feature.
    fn find_near(&mut self, at: &Moment<'_>, x: &[Vec3], end: impl Fn(usize) -> Vec3 + Sync) {
        self.measure(at, x);
        let bodies = bodies(at, &self.from, &self.to, &self.skins);
        let distances = &self.distances;
        self.faces.clear();
        face::find(&bodies, at.model, &self.features, x, &end, &mut self.faces);
        at.par.blocks(&mut self.near, |block, near| {
            for (k, near) in near.iter_mut().enumerate() {
                let i = block * BLOCK + k;
                let end = end(i);
                *near = at.free[i] != 0.0
                    && end.is_finite()
                    && bodies.any_near(i, distances, x[i], end);
            }
        });
        for corner in self.faces.iter().filter(|c| at.free[c.particle as usize] != 0.0) {
            self.near[corner.particle as usize] = true;
        }
    }
}

/// What stays the same during one step.
pub struct Moment<'a> {
    /// The constants.
    pub model: &'a Model,
    /// 1 for a free particle, 0 for a held one, which no body moves.
    pub free: &'a [f32],
    /// Acceleration of gravity. [m/s²]
    pub gravity: Vec3,
    /// Length of the step. [s]
    pub h: f32,
    /// Threads.
    pub par: Par,
}

/// What is further inside a body than this is put right even where the solver saw the contact. [m]
fn deep(at: &Moment<'_>, collider: u32) -> f64 {
    DEEP * at.model.colliders[collider as usize].thickness
}

fn bodies<'a>(
    at: &Moment<'a>,
    from: &'a [Pose],
    to: &'a [Pose],
    skins: &'a [Option<Skinned>],
) -> Bodies<'a> {
    Bodies { colliders: &at.model.colliders, from, to, skins, h: f64::from(at.h) }
}

/// Puts a particle that is left inside a character on its surface: of several that it met only one was
/// looked at.
fn leave_skin(
    bodies: &Bodies<'_>,
    at: &Moment<'_>,
    [i, c]: [usize; 2],
    x0: Vec3,
    state: &mut State,
) -> Option<Touch> {
    let (mass, deep) = (at.model.mass[i], deep(at, c as u32));
    let mut touch = None;
    for _ in 0..SURFACES {
        let out = bodies.out_of_skin(c, point(x0), point(state.x[i]), deep);
        let Some(out) = out else { break };
        touch = project(bodies, mass, [i, c], &out, state, None).or(touch);
    }
    touch
}

/// The surface of a character at the start of the scene.
fn skin(shape: &Shape) -> Option<Skinned> {
    match shape {
        Shape::Character(character) => Skinned::new(character, 0.0),
        _ => None,
    }
}

fn point(x: Vec3) -> DVec3 {
    x.as_dvec3()
}
