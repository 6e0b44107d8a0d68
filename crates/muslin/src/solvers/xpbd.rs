//! Extended position-based dynamics (Macklin, Müller & Chentanez 2016), row by row.
//!
//! ```text
//!   x ← x + h (v + h f_ext/m)
//!   per constraint, `sweeps` times:
//!     Δλ = −(C + α̃ λ + γ ∇C·(x − x_old)) / ((1 + γ) Σ w |∇C|² + α̃),   x ← x + w ∇C Δλ
//!   v = (x − x_old)/h
//!   spring: C = r − L, α̃ = 1/(k h²), γ = kd/(k h);   hinge: C = θ − θ0, α̃ = 1/(K h²)
//! ```
//!
//! Kept is λ/h², a force: multiplied by k, α̃ is nowhere infinite, and k = 0 is a lane without a spring.
//!
//! The unknown is the move x − x_old, not x: a move of a millimetre keeps its seven digits, a
//! position would not, and v = move/h shows it. w is the inverse mass, 0 for held particles. Relative damping acts
//! along the spring only. A tension-only spring is an inequality: its λ never pushes. As sweeps → ∞ the springs approach
//! backward Euler up to the turning of their directions; with few the cloth is softer than its k.
//!
//! Hinges take part in every other sweep, from the first on: bending is far softer than stretching, so
//! one projection goes most of its way. They need not be in every substep either: while ω p h < 2 one impulse is for p
//! of them, 1/119 s at most, and is that of a step of length p h,
//!
//! ```text
//!   C = θ(x_old + p (x − x_old)) − θ0,   α̃ = 1/(K p² h²),   x ← x + p w ∇C Δλ
//! ```
//!
//! with C where p substeps lead, so implicit and stable. Which substeps, depends on their number in the frame alone.
//!
//! With tethers (`limits.rs`) there are *spans*, too: inequalities between particles eight and three cells apart along
//! rows and columns, which cannot be farther apart than the way along the cloth. Between two sweeps over springs they
//! carry tension as far as many would.
//!
//! A particle on a body has a weight W (`collide/mod.rs`) that keeps the velocity which its contacts give it: of all
//! that a sweep and outer forces do to it, it follows m (m + W)⁻¹. So (m + W) Δv is the sum of all impulses, and
//! contacts are judged as in a system. Projected only after the step, cloth on a body stretched: each sweep pulled
//! through the body what the end of the step put back.
//!
//! Constraints are solved eight at a time (`mesh/batches.rs`); results are those of a plain loop in this order.

use super::{Method, Solved, Solver, Step};
use crate::clock;
use crate::forces::{Forces, hinge};
use crate::lanes::{LANES, Lanes, Planes, put3, take, take3};
use crate::linalg::Sym3;
use crate::mesh::batches::{Batch, NONE, Places};
use crate::mesh::grid;
use crate::model::{ClothPart, Model};
use crate::par::widest;
use crate::state::State;
use glam::Vec3;
use std::collections::HashSet;

/// Storage and choices.
pub struct Xpbd {
    sweeps: u32,
    forces: Forces,
    springs: Vec<Springs>,
    /// Where there are tethers: inequalities between particles several cells apart, the longest first.
    spans: Vec<Vec<Springs>>,
    hinges: Vec<Hinges>,
    /// The longest time that one impulse of all hinges is for. [s]
    bends_for: f32,
    inverse_mass: Vec<f32>,
    cloth: Cloth,
    /// The place of each particle in it.
    places: Vec<u32>,
    /// Particles that bodies decide about: m (m + W)⁻¹, and their moves before the sweep.
    touching: Vec<Touching>,
    /// What the step changed of velocities. [m/s]
    drift: Vec<Vec3>,
}

/// Particles by place, with one more, held, for lanes without a constraint.
struct Cloth {
    /// w h².
    give: Vec<f32>,
    old: Planes,
    /// x − x_old.
    moves: Planes,
}

struct Touching {
    particle: usize,
    share: Sym3,
    before: Vec3,
}

/// Eight springs.
struct Springs {
    batch: Batch<2>,
    /// Whether none of them is damped or only pulls.
    plain: bool,
    /// k; 0 without a spring. [N/m]
    stiffness: Lanes,
    rest: Lanes,
    /// kd/k. [s]
    damping: Lanes,
    /// How far a force may go on the side of pushing: 0 for springs that only pull, else infinite.
    pushes: Lanes,
    /// λ/h². [N]
    force: Lanes,
}

/// Cells from one end of a span to the other.
const SPANS: [usize; 2] = [8, 3];

/// Stiffness of a span. [N/m]
const RIGID: f32 = 1e9;

/// Of hinges: two impulses in a frame of 1/60 s, a rounding below half of it. [s]
const LONGEST: f32 = 1.0 / 119.0;

/// Eight hinges.
struct Hinges {
    batch: Batch<4>,
    /// K; 0 without a hinge. [N·m]
    stiffness: Lanes,
    rest_angle: Lanes,
    /// λ/h². [N·m]
    moment: Lanes,
}

impl Xpbd {
    /// Storage for a model.
    pub fn new(method: &Method, model: &Model) -> Self {
        let n = model.particle_count();
        let (springs, floors) = (&model.springs, method.spring_floors(model));
        let hinges = &model.hinges;
        let (places, spring_batches, hinge_batches) = batches(model);
        Self {
            sweeps: method.sweeps,
            forces: Forces::new(model),
            springs: (spring_batches.into_iter())
                .map(|batch| {
                    let damping = pick(&batch.items, 0.0, |s| {
                        (springs.damping[s] + springs.relative_damping[s]) / springs.stiffness[s]
                    });
                    let pushes = pick(&batch.items, f32::INFINITY, |s| -floors[s]);
                    Springs {
                        plain: damping == [0.0; LANES] && pushes == [f32::INFINITY; LANES],
                        stiffness: pick(&batch.items, 0.0, |s| springs.stiffness[s]),
                        rest: pick(&batch.items, 0.0, |s| springs.rest_length[s]),
                        damping,
                        pushes,
                        force: [0.0; LANES],
                        batch,
                    }
                })
                .collect(),
            hinges: (hinge_batches.into_iter())
                .map(|batch| Hinges {
                    stiffness: pick(&batch.items, 0.0, |i| hinges.stiffness[i]),
                    rest_angle: pick(&batch.items, 0.0, |i| hinges.rest_angle[i]),
                    moment: [0.0; LANES],
                    batch,
                })
                .collect(),
            spans: if method.tethers > 0.0 {
                spans(&places, model, method.tethers)
            } else {
                Vec::new()
            },
            bends_for: bends_for(model),
            inverse_mass: model.mass.iter().map(|m| 1.0 / m).collect(),
            cloth: Cloth {
                give: vec![0.0; places.count + 1 + LANES],
                old: Planes::new(places.count + 1),
                moves: Planes::new(places.count + 1),
            },
            places: places.of,
            touching: Vec::with_capacity(if model.colliders.is_empty() { 0 } else { n }),
            drift: vec![Vec3::ZERO; n],
        }
    }
}

/// Places of particles, springs and hinges.
fn batches(model: &Model) -> (Places, Vec<Batch<2>>, Vec<Batch<4>>) {
    // A chain is all columns, so that sweeps go along it.
    let columns = |part: &ClothPart| part.grid.map(|(c, rows)| if rows == 1 { 1 } else { c });
    let cloths = model.cloths.iter().map(|part| (part.particles.len(), columns(part)));
    let places = Places::new(cloths);
    let (springs, hinges) = (&model.springs.stiffness, &model.hinges.stiffness);
    let of_springs = places.batches(model.topology.links.ends(), |s| springs[s] != 0.0);
    let elements = &model.topology.elements[..hinges.len()];
    let of_hinges = places.batches(elements, |i| hinges[i] != 0.0);
    (places, of_springs, of_hinges)
}

/// Springs, and hinges, in the order in which a sweep takes them.
pub fn order(model: &Model) -> [Vec<usize>; 2] {
    fn items<const P: usize>(batches: &[Batch<P>]) -> Vec<usize> {
        let items = batches.iter().flat_map(|batch| batch.items);
        items.filter(|item| *item != NONE).map(|item| item as usize).collect()
    }
    let (_, springs, hinges) = batches(model);
    [items(&springs), items(&hinges)]
}

/// Where there are springs all the way between particles so many cells apart, they cannot be farther from each other
/// than `reach` times the way.
fn spans(places: &Places, model: &Model, reach: f32) -> Vec<Vec<Springs>> {
    let ends = model.topology.links.ends().iter().zip(&model.springs.strong);
    let strong: HashSet<[u32; 2]> = ends.filter(|(_, s)| **s).map(|(ends, _)| *ends).collect();
    let of_cells = |cells: usize| {
        let mut pairs = Vec::new();
        for part in &model.cloths {
            let (columns, rows) = part.grid.unwrap_or_default();
            let first = part.particles.start as u32;
            for (row, axis) in (0..rows).flat_map(|row| grid::AXIAL.map(|axis| (row, axis))) {
                let own = grid::pairs_from_row(columns, rows, row, axis, cells);
                pairs.extend(own.map(|ends| ends.map(|p| p + first)));
            }
        }
        pairs.retain(|[a, b]| {
            let step = (b - a) / cells as u32;
            (0..cells as u32).all(|k| strong.contains(&[a + k * step, a + (k + 1) * step]))
        });
        let apart = |[a, b]: [u32; 2]| model.rest_x[a as usize].distance(model.rest_x[b as usize]);
        let eights = places.batches(&pairs, |_| true).into_iter().map(|batch| Springs {
            plain: false,
            stiffness: pick(&batch.items, 0.0, |_| RIGID),
            rest: pick(&batch.items, 0.0, |i| reach * apart(pairs[i])),
            damping: [0.0; LANES],
            pushes: [0.0; LANES],
            force: [0.0; LANES],
            batch,
        });
        eights.collect()
    };
    SPANS.map(of_cells).into()
}

/// Hinges need no more than one projection while ω t < 2.
fn bends_for(model: &Model) -> f32 {
    let hinges = &model.hinges;
    let weight = |corner: u32, c: f32| c * c / model.mass[corner as usize];
    let squared = (0..hinges.len()).map(|i| {
        let corners = model.topology.elements[i].into_iter().zip(hinges.flat[i]);
        hinges.stiffness[i] * corners.map(|(corner, c)| weight(corner, c)).sum::<f32>()
    });
    LONGEST.min(2.0 / squared.fold(0.0, f32::max).sqrt())
}

fn pick<T: Copy>(items: &[u32; LANES], none: T, of: impl Fn(usize) -> T) -> [T; LANES] {
    items.map(|item| if item == NONE { none } else { of(item as usize) })
}

/// One sweep over springs, then over hinges where it has any.
struct Sweep<'a> {
    /// Whether it is the first of a step, which starts from λ = 0.
    first: bool,
    springs: &'a mut [Springs],
    hinges: &'a mut [Hinges],
    cloth: &'a mut Cloth,
    h: f32,
    /// Steps that an impulse of the hinges is for.
    steps: f32,
}

struct View<'a> {
    give: &'a [f32],
    old: [&'a [f32]; 3],
    moves: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        if self.first { self.go::<true>() } else { self.go::<false>() }
    }
}

impl Sweep<'_> {
    #[inline(always)]
    fn go<const FIRST: bool>(self) {
        let Self { springs, hinges, cloth, h, steps, .. } = self;
        let (old, moves) = (cloth.old.view(), cloth.moves.view_mut());
        let mut view = View { give: &cloth.give[..old[0].len()], old, moves };
        let per_h = 1.0 / h;
        for eight in springs {
            match (eight.batch.run, eight.plain) {
                (true, true) => eight.project::<FIRST, true, true>(&mut view, per_h),
                (true, false) => eight.project::<FIRST, true, false>(&mut view, per_h),
                (false, _) => eight.project::<FIRST, false, false>(&mut view, per_h),
            }
        }
        for eight in hinges {
            if eight.batch.run {
                eight.project::<FIRST, true>(&mut view, steps);
            } else {
                eight.project::<FIRST, false>(&mut view, steps);
            }
        }
    }
}

impl Springs {
    #[inline(always)]
    fn project<const FIRST: bool, const RUN: bool, const PLAIN: bool>(
        &mut self,
        view: &mut View<'_>,
        per_h: f32,
    ) {
        let View { give, old, moves } = view;
        let [a, b] = &self.batch.places;
        let (old_a, old_b) = (take3::<RUN>(*old, a), take3::<RUN>(*old, b));
        let now = [&*moves[0], &*moves[1], &*moves[2]];
        let (mut at_a, mut at_b) = (take3::<RUN>(now, a), take3::<RUN>(now, b));
        let (wa, wb) = (take::<RUN>(give, a), take::<RUN>(give, b));
        for lane in 0..LANES {
            let moved = at_b.at(lane) - at_a.at(lane);
            let d = (old_b.at(lane) - old_a.at(lane)) + moved;
            let squared = d.length_squared();
            let r = squared.sqrt();
            let k = self.stiffness[lane];
            let force = if FIRST { 0.0 } else { self.force[lane] };
            let mut pull = k * (r - self.rest[lane]) + force;
            let mut weight = k * (wa[lane] + wb[lane]);
            // All by r, so that one division is enough.
            let mut most = 0.0;
            if PLAIN {
                pull *= r;
                weight += 1.0;
            } else {
                let gamma = self.damping[lane] * per_h;
                pull = pull * r + k * gamma * d.dot(moved);
                weight = 1.0 + (1.0 + gamma) * weight;
                most = (self.pushes[lane] - force) * weight * r;
            }
            let by = -pull;
            let by = if PLAIN || by < most { by } else { most };
            // Ends in one place have no direction.
            let usable = squared > SMALLEST;
            let by = if usable { by } else { 0.0 } / (weight * if usable { squared } else { 1.0 });
            self.force[lane] = force + by * r;
            at_a.set(lane, at_a.at(lane) - wa[lane] * by * d);
            at_b.set(lane, at_b.at(lane) + wb[lane] * by * d);
        }
        put3::<RUN>(moves, a, &at_a);
        put3::<RUN>(moves, b, &at_b);
    }
}

/// A spring whose length squared is less has no direction. [m²]
const SMALLEST: f32 = 1e-30;

impl Hinges {
    #[inline(always)]
    fn project<const FIRST: bool, const RUN: bool>(&mut self, view: &mut View<'_>, steps: f32) {
        let View { give, old, moves } = view;
        let [a, b, c, d] = &self.batch.places;
        let old = *old;
        let start = [
            take3::<RUN>(old, a),
            take3::<RUN>(old, b),
            take3::<RUN>(old, c),
            take3::<RUN>(old, d),
        ];
        let now = [&*moves[0], &*moves[1], &*moves[2]];
        let mut at = [
            take3::<RUN>(now, a),
            take3::<RUN>(now, b),
            take3::<RUN>(now, c),
            take3::<RUN>(now, d),
        ];
        let w = [
            take::<RUN>(give, a),
            take::<RUN>(give, b),
            take::<RUN>(give, c),
            take::<RUN>(give, d),
        ];
        for lane in 0..LANES {
            let [a, b, c, d] = &start;
            let [p, q, r, s] = &at;
            let corners = [
                a.at(lane) + steps * p.at(lane),
                b.at(lane) + steps * q.at(lane),
                c.at(lane) + steps * r.at(lane),
                d.at(lane) + steps * s.at(lane),
            ];
            let (angle, g) = hinge::angle_and_gradient(corners);
            let squared = |c: usize| w[c][lane] * g[c].length_squared();
            let weight = squared(0) + squared(1) + squared(2) + squared(3);
            let bend = hinge::wrapped(angle - self.rest_angle[lane]);
            let k = self.stiffness[lane];
            let moment = if FIRST { 0.0 } else { self.moment[lane] };
            let delta = -(k * bend + moment) / (1.0 + k * (steps * steps) * weight);
            self.moment[lane] = moment + delta;
            let by = steps * delta;
            let [p, q, r, s] = &mut at;
            p.set(lane, p.at(lane) + w[0][lane] * by * g[0]);
            q.set(lane, q.at(lane) + w[1][lane] * by * g[1]);
            r.set(lane, r.at(lane) + w[2][lane] * by * g[2]);
            s.set(lane, s.at(lane) + w[3][lane] * by * g[3]);
        }
        let [p, q, r, s] = &at;
        put3::<RUN>(moves, a, p);
        put3::<RUN>(moves, b, q);
        put3::<RUN>(moves, c, r);
        put3::<RUN>(moves, d, s);
    }
}

impl Xpbd {
    /// For how many steps hinges act in this one, if at all.
    fn steps_of_hinges(&self, step: &Step<'_>) -> f32 {
        let [substep, substeps] = step.substep;
        let stride = (self.bends_for / step.h).max(1.0) as u32;
        let acts = substep % stride == 0;
        if acts { stride.min(substeps - substep) as f32 } else { 0.0 }
    }

    /// Finds the particles that bodies decide about.
    fn touch(&mut self, step: &Step<'_>) {
        self.touching.clear();
        for (i, weight) in step.contact.weight.iter().enumerate() {
            if *weight == Sym3::ZERO || step.held.free[i] == 0.0 {
                continue;
            }
            let mass = step.model.mass[i];
            let mut whole = Sym3::scalar(mass);
            whole += *weight;
            let mut share = Sym3::ZERO;
            share.add_scaled(mass, &whole.inverse());
            self.touching.push(Touching { particle: i, share, before: Vec3::ZERO });
        }
    }
}

impl Solver for Xpbd {
    fn drift(&self) -> Option<&[Vec3]> {
        Some(&self.drift)
    }

    fn step(&mut self, step: &Step<'_>, state: &mut State) -> Solved {
        let Step { model, inputs, held, h, par, effort, .. } = *step;
        // Predict, with held particles going to their targets.
        let held_at = held.free.iter().zip(&held.velocity);
        state.v.iter_mut().zip(held_at).for_each(|(v, (free, own))| *v = *free * *v + *own);
        self.forces.evaluate_external(model, inputs, par, &state.x, &state.v);
        (self.forces.total.iter_mut().zip(&step.contact.force)).for_each(|(f, t)| *f += *t);
        let free = self.inverse_mass.iter().zip(&held.free).map(|(w, free)| free * w);
        let all = self.drift.iter_mut().zip(&self.forces.total).zip(free).zip(&self.places);
        let [x, y, z] = self.cloth.old.view_mut();
        let [p, q, r] = self.cloth.moves.view_mut();
        let give = &mut self.cloth.give[..x.len()];
        let ([p, q, r], [y, z]) = ([p, q, r].map(|m| &mut m[..give.len()]), [y, z]);
        for ((((drift, f), w), place), (at, v)) in all.zip(state.x.iter().zip(&state.v)) {
            let place = *place as usize;
            *drift = h * w * *f;
            give[place] = (h * h) * w;
            let moves = h * (*v + *drift);
            (x[place], y[place], z[place]) = (at.x, at.y, at.z);
            (p[place], q[place], r[place]) = (moves.x, moves.y, moves.z);
        }
        self.touch(step);
        for Touching { particle, share, .. } in &self.touching {
            let drift = &mut self.drift[*particle];
            *drift = *share * *drift;
            let place = self.places[*particle] as usize;
            self.cloth.moves.set(place, h * (state.v[*particle] + *drift));
        }
        // Project.
        let begun = clock::now();
        let sweeps = self.sweeps.min(effort.iterations);
        let steps = self.steps_of_hinges(step);
        for sweep in 0..sweeps {
            let Self { springs, spans, hinges, cloth, touching, places, .. } = self;
            let hinges = if sweep % 2 == 0 && steps > 0.0 { &mut hinges[..] } else { &mut [] };
            let place = |t: &Touching| places[t.particle] as usize;
            touching.iter_mut().for_each(|t| t.before = cloth.moves.at(place(t)));
            for springs in spans.iter_mut().filter(|_| sweep > 0) {
                let first = sweep == 1;
                widest(Sweep { first, springs, hinges: &mut [], cloth, h, steps });
            }
            widest(Sweep { first: sweep == 0, springs, hinges, cloth, h, steps });
            for t in touching {
                let moved = cloth.moves.at(place(t)) - t.before;
                cloth.moves.set(place(t), t.before + t.share * moved);
            }
        }
        let solving = clock::now() - begun;
        // Positions and velocities follow.
        let per_h = 1.0 / h;
        let [p, q, r] = self.cloth.moves.view();
        let all = self.places.iter().zip(&mut state.x).zip(&mut state.v).zip(&mut self.drift);
        for ((((place, x), v), drift), free) in all.zip(&held.free) {
            let place = *place as usize;
            let moved = Vec3::new(p[place], q[place], r[place]);
            *drift = *free * (per_h * moved - *v);
            *x += moved;
            *v += *drift;
        }
        Solved { iterations: sweeps, solves: 1, solving, iterating: solving, ..Solved::EXPLICIT }
    }
}
