//! Extended position-based dynamics (Macklin, Müller & Chentanez 2016), in particle order.
//!
//! ```text
//!   x ← x + h (v + h f_ext/m)
//!   per constraint, `sweeps` times:
//!     Δλ = −(C + α̃ λ + γ ∇C·(x − x_old)) / ((1 + γ) Σ w |∇C|² + α̃),   x ← x + w ∇C Δλ
//!   v = (x − x_old)/h
//!   spring: C = r − L, α̃ = 1/(k h²), γ = kd/(k h);   hinge: C = θ − θ0, α̃ = 1/(K h²)
//! ```
//!
//! The unknown is the move x − x_old, not x: a move of a millimetre keeps its seven digits, a
//! position would not, and v = move/h shows it. w is the inverse mass, 0 for held particles. Relative damping acts along the spring only.
//! A tension-only spring is an inequality: its λ never pushes. As sweeps → ∞ the springs approach
//! backward Euler up to the turning of their directions; with few the cloth is softer than its k.
//!
//! Hinges take part in every other sweep, from the first on: bending is far softer than stretching, so
//! one projection goes most of its way, and costs as much as those of the three springs beside it.
//!
//! A particle on a body has a weight W (`collide/mod.rs`) that keeps the velocity which its contacts give it: of all
//! that a sweep and outer forces do to it, it follows m (m + W)⁻¹. So (m + W) Δv is the sum of all impulses, and
//! contacts are judged as in a system. Projected only after the step, cloth on a body stretched: each sweep pulled
//! through the body what the end of the step put back.
//!
//! Springs are solved eight at a time without changing the order in which any particle is moved
//! (`mesh/batches.rs`): vector units get work, and results stay those of a plain loop. Hinges go along with them, in
//! the order of waves.

use super::{Method, Solved, Solver, Step};
use crate::clock;
use crate::forces::{Forces, hinge};
use crate::lanes::{LANES, Lanes, Planes, take};
use crate::linalg::Sym3;
use crate::linalg::vectors::update;
use crate::mesh::batches::{Batch, NONE, batches, places, waves, waves_beside, waves_of_particles};
use crate::model::Model;
use crate::par::widest;
use crate::state::State;
use glam::Vec3;

/// Storage and choices.
pub struct Xpbd {
    sweeps: u32,
    forces: Forces,
    springs: Vec<Springs>,
    hinges: Vec<Hinges>,
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
    inverse_mass: Vec<f32>,
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
    /// 1/k. [m/N]
    compliance: Lanes,
    rest: Lanes,
    /// kd/k. [s]
    damping: Lanes,
    /// How far λ may go on the side of pushing: 0 for springs that only pull, else infinite.
    pushes: Lanes,
    multiplier: Lanes,
}

/// Eight hinges.
struct Hinges {
    batch: Batch<4>,
    /// 1/K. [1/(N·m)]
    compliance: Lanes,
    rest_angle: Lanes,
    multiplier: Lanes,
}

impl Xpbd {
    /// Storage for a model.
    pub fn new(method: &Method, model: &Model) -> Self {
        let n = model.particle_count();
        let (springs, floors) = (&model.springs, method.spring_floors(model));
        let stiff = |s: usize| springs.stiffness[s] != 0.0;
        let ends = model.topology.links.ends();
        let spring_waves = waves(n, ends, stiff);
        let of_particles = waves_of_particles(n, ends, &spring_waves);
        let places = places(&of_particles);
        let spring_batches = batches(&places, ends, &spring_waves);
        let hinges = &model.hinges;
        let elements = &model.topology.elements[..hinges.len()];
        let hinge_waves = waves_beside(&of_particles, elements, |i| hinges.stiffness[i] != 0.0);
        let hinge_batches = batches(&places, elements, &hinge_waves);
        Self {
            sweeps: method.sweeps,
            forces: Forces::new(model),
            springs: (spring_batches.into_iter())
                .map(|batch| Springs {
                    compliance: pick(&batch.items, 1.0, |s| 1.0 / springs.stiffness[s]),
                    rest: pick(&batch.items, 0.0, |s| springs.rest_length[s]),
                    damping: pick(&batch.items, 0.0, |s| {
                        (springs.damping[s] + springs.relative_damping[s]) / springs.stiffness[s]
                    }),
                    pushes: pick(&batch.items, f32::INFINITY, |s| -floors[s]),
                    multiplier: [0.0; LANES],
                    batch,
                })
                .collect(),
            hinges: (hinge_batches.into_iter())
                .map(|batch| Hinges {
                    compliance: pick(&batch.items, 1.0, |i| 1.0 / hinges.stiffness[i]),
                    rest_angle: pick(&batch.items, 0.0, |i| hinges.rest_angle[i]),
                    multiplier: [0.0; LANES],
                    batch,
                })
                .collect(),
            inverse_mass: model.mass.iter().map(|m| 1.0 / m).collect(),
            cloth: Cloth {
                inverse_mass: vec![0.0; n + 1 + LANES],
                old: Planes::new(n + 1),
                moves: Planes::new(n + 1),
            },
            places,
            touching: Vec::with_capacity(if model.colliders.is_empty() { 0 } else { n }),
            drift: vec![Vec3::ZERO; n],
        }
    }
}

fn pick<T: Copy>(items: &[u32; LANES], none: T, of: impl Fn(usize) -> T) -> [T; LANES] {
    items.map(|item| if item == NONE { none } else { of(item as usize) })
}

/// One sweep over springs, then over hinges where it has any.
struct Sweep<'a> {
    springs: &'a mut [Springs],
    hinges: &'a mut [Hinges],
    cloth: &'a mut Cloth,
    h: f32,
}

impl pulp::NullaryFnOnce for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { springs, hinges, cloth, h } = self;
        let (per_h, per_h2) = (1.0 / h, 1.0 / (h * h));
        for eight in springs {
            if eight.batch.run {
                eight.project::<true>(cloth, per_h, per_h2);
            } else {
                eight.project::<false>(cloth, per_h, per_h2);
            }
        }
        for eight in hinges {
            if eight.batch.run {
                eight.project::<true>(cloth, per_h2);
            } else {
                eight.project::<false>(cloth, per_h2);
            }
        }
    }
}

impl Springs {
    #[inline(always)]
    fn project<const RUN: bool>(&mut self, cloth: &mut Cloth, per_h: f32, per_h2: f32) {
        let Cloth { inverse_mass, old, moves } = cloth;
        let Batch { places: [a, b], count, .. } = &self.batch;
        let (old_a, old_b) = (old.take::<RUN>(a), old.take::<RUN>(b));
        let (mut at_a, mut at_b) = (moves.take::<RUN>(a), moves.take::<RUN>(b));
        let (wa, wb) = (take::<RUN>(inverse_mass, a), take::<RUN>(inverse_mass, b));
        for lane in 0..LANES {
            let moved = at_b.at(lane) - at_a.at(lane);
            let d = (old_b.at(lane) - old_a.at(lane)) + moved;
            let r = d.length();
            let w = wa[lane] + wb[lane];
            let n = d * (1.0 / if r == 0.0 { 1.0 } else { r });
            let compliance = self.compliance[lane] * per_h2;
            let gamma = self.damping[lane] * per_h;
            let multiplier = self.multiplier[lane];
            let delta = -(r - self.rest[lane] + compliance * multiplier + gamma * n.dot(moved))
                / ((1.0 + gamma) * w + compliance);
            // λ < 0 pulls the ends together.
            let most = self.pushes[lane] - multiplier;
            let delta = if delta < most { delta } else { most };
            // Selections, not branches: eight lanes go the same way.
            let delta = if (r == 0.0) | (w == 0.0) { 0.0 } else { delta };
            self.multiplier[lane] = multiplier + delta;
            at_a.set(lane, at_a.at(lane) - wa[lane] * delta * n);
            at_b.set(lane, at_b.at(lane) + wb[lane] * delta * n);
        }
        moves.put::<RUN>(a, count, &at_a);
        moves.put::<RUN>(b, count, &at_b);
    }
}

impl Hinges {
    #[inline(always)]
    fn project<const RUN: bool>(&mut self, cloth: &mut Cloth, per_h2: f32) {
        let Cloth { inverse_mass, old, moves } = cloth;
        let Batch { places: [a, b, c, d], count, .. } = &self.batch;
        let start =
            [old.take::<RUN>(a), old.take::<RUN>(b), old.take::<RUN>(c), old.take::<RUN>(d)];
        let mut at = [
            moves.take::<RUN>(a),
            moves.take::<RUN>(b),
            moves.take::<RUN>(c),
            moves.take::<RUN>(d),
        ];
        let mass = &inverse_mass[..];
        let w = [
            take::<RUN>(mass, a),
            take::<RUN>(mass, b),
            take::<RUN>(mass, c),
            take::<RUN>(mass, d),
        ];
        for lane in 0..LANES {
            let [a, b, c, d] = &start;
            let [p, q, r, s] = &at;
            let corners = [
                a.at(lane) + p.at(lane),
                b.at(lane) + q.at(lane),
                c.at(lane) + r.at(lane),
                d.at(lane) + s.at(lane),
            ];
            let (angle, g) = hinge::angle_and_gradient(corners);
            let squared = |c: usize| w[c][lane] * g[c].length_squared();
            let weight = squared(0) + squared(1) + squared(2) + squared(3);
            let bend = hinge::wrapped(angle - self.rest_angle[lane]);
            let compliance = self.compliance[lane] * per_h2;
            let multiplier = self.multiplier[lane];
            let delta = -(bend + compliance * multiplier) / (weight + compliance);
            let delta = if weight == 0.0 { 0.0 } else { delta };
            self.multiplier[lane] = multiplier + delta;
            let [p, q, r, s] = &mut at;
            p.set(lane, p.at(lane) + w[0][lane] * delta * g[0]);
            q.set(lane, q.at(lane) + w[1][lane] * delta * g[1]);
            r.set(lane, r.at(lane) + w[2][lane] * delta * g[2]);
            s.set(lane, s.at(lane) + w[3][lane] * delta * g[3]);
        }
        let [p, q, r, s] = &at;
        moves.put::<RUN>(a, count, p);
        moves.put::<RUN>(b, count, q);
        moves.put::<RUN>(c, count, r);
        moves.put::<RUN>(d, count, s);
    }
}

impl Xpbd {
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
        update(par, &mut state.v, |i, v| held.free[i] * v + held.velocity[i]);
        self.forces.evaluate_external(model, inputs, par, &state.x, &state.v);
        (self.forces.total.iter_mut().zip(&step.contact.force)).for_each(|(f, t)| *f += *t);
        self.touch(step);
        let f = &self.forces.total;
        let free = self.inverse_mass.iter().zip(&held.free).map(|(w, free)| free * w);
        let all = self.drift.iter_mut().zip(f).zip(free).zip(&self.places);
        for (((drift, f), w), place) in all {
            *drift = h * w * *f;
            self.cloth.inverse_mass[*place as usize] = w;
        }
        for Touching { particle, share, .. } in &self.touching {
            self.drift[*particle] = *share * self.drift[*particle];
        }
        let all = self.places.iter().zip(&state.x).zip(&state.v).zip(&self.drift);
        for (((place, x), v), drift) in all {
            self.cloth.old.set(*place as usize, *x);
            self.cloth.moves.set(*place as usize, h * (*v + *drift));
        }
        // Project.
        let begun = clock::now();
        self.springs.iter_mut().for_each(|eight| eight.multiplier = [0.0; LANES]);
        self.hinges.iter_mut().for_each(|eight| eight.multiplier = [0.0; LANES]);
        let sweeps = self.sweeps.min(effort.iterations);
        for sweep in 0..sweeps {
            let Self { springs, hinges, cloth, touching, places, .. } = self;
            let hinges = if sweep % 2 == 0 { &mut hinges[..] } else { &mut [] };
            let place = |t: &Touching| places[t.particle] as usize;
            touching.iter_mut().for_each(|t| t.before = cloth.moves.at(place(t)));
            widest(Sweep { springs, hinges, cloth, h });
            for t in touching {
                let moved = cloth.moves.at(place(t)) - t.before;
                cloth.moves.set(place(t), t.before + t.share * moved);
            }
        }
        let solving = clock::now() - begun;
        // Positions and velocities follow.
        let per_h = 1.0 / h;
        let all = self.places.iter().zip(&mut state.x).zip(&mut state.v).zip(&mut self.drift);
        for ((((place, x), v), drift), free) in all.zip(&held.free) {
            let moved = self.cloth.moves.at(*place as usize);
            *drift = *free * (per_h * moved - *v);
            *x += moved;
            *v += *drift;
        }
        Solved { iterations: sweeps, solves: 1, solving, iterating: solving, ..Solved::EXPLICIT }
    }
}
