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
//! Constraints are solved eight at a time without changing the order in which any particle is moved
//! (`mesh/batches.rs`): vector units get work, and results stay those of a plain loop.

use super::{Method, Solved, Solver, Step};
use crate::clock;
use crate::forces::{Forces, hinge};
use crate::lanes::{LANES, Lanes, Vectors};
use crate::linalg::Sym3;
use crate::linalg::vectors::{add_scaled, update};
use crate::mesh::batches::{Batch, NONE, batches};
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
    /// With one more particle, held, for lanes without a constraint.
    inverse_mass: Vec<f32>,
    moves: Vec<Vec3>,
    old: Vec<Vec3>,
    /// Particles that bodies decide about: m (m + W)⁻¹, and their moves before the sweep.
    touching: Vec<Touching>,
    /// What the step changed of velocities. [m/s]
    drift: Vec<Vec3>,
}

struct Touching {
    particle: usize,
    share: Sym3,
    before: Vec3,
}

/// Eight springs.
struct Springs {
    batch: Batch<2>,
    stiffness: Lanes,
    rest: Lanes,
    damping: Lanes,
    /// How far λ may go on the side of pushing: 0 for springs that only pull, else infinite.
    pushes: Lanes,
    multiplier: Lanes,
}

/// Eight hinges.
struct Hinges {
    batch: Batch<4>,
    stiffness: Lanes,
    rest_angle: Lanes,
    multiplier: Lanes,
}

impl Xpbd {
    /// Storage for a model.
    pub fn new(method: &Method, model: &Model) -> Self {
        let n = model.particle_count();
        let (springs, floors) = (&model.springs, method.spring_floors(model));
        let stiff = |s: usize| springs.stiffness[s] != 0.0;
        let spring_batches = batches(n, model.topology.links.ends().iter().copied(), stiff);
        let hinges = &model.hinges;
        let elements = model.topology.elements[..hinges.len()].iter().copied();
        let hinge_batches = batches(n, elements, |i| hinges.stiffness[i] != 0.0);
        Self {
            sweeps: method.sweeps,
            forces: Forces::new(model),
            springs: (spring_batches.into_iter())
                .map(|batch| Springs {
                    stiffness: pick(&batch.items, 1.0, |s| springs.stiffness[s]),
                    rest: pick(&batch.items, 0.0, |s| springs.rest_length[s]),
                    damping: pick(&batch.items, 0.0, |s| {
                        springs.damping[s] + springs.relative_damping[s]
                    }),
                    pushes: pick(&batch.items, f32::INFINITY, |s| -floors[s]),
                    multiplier: [0.0; LANES],
                    batch,
                })
                .collect(),
            hinges: (hinge_batches.into_iter())
                .map(|batch| Hinges {
                    stiffness: pick(&batch.items, 1.0, |i| hinges.stiffness[i]),
                    rest_angle: pick(&batch.items, 0.0, |i| hinges.rest_angle[i]),
                    multiplier: [0.0; LANES],
                    batch,
                })
                .collect(),
            inverse_mass: vec![0.0; n + 1],
            moves: vec![Vec3::ZERO; n + 1],
            old: vec![Vec3::ZERO; n + 1],
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
    inverse_mass: &'a [f32],
    old: &'a [Vec3],
    moves: &'a mut [Vec3],
    h: f32,
}

impl pulp::NullaryFnOnce for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { springs, hinges, inverse_mass, old, moves, h } = self;
        for eight in springs {
            eight.project(inverse_mass, old, moves, h);
        }
        for eight in hinges {
            eight.project(inverse_mass, old, moves, h);
        }
    }
}

impl Springs {
    #[inline(always)]
    fn project(&mut self, inverse_mass: &[f32], old: &[Vec3], moves: &mut [Vec3], h: f32) {
        let [a, b] = &self.batch.particles;
        let (old_a, old_b) = (Vectors::gather(old, a), Vectors::gather(old, b));
        let (mut at_a, mut at_b) = (Vectors::gather(moves, a), Vectors::gather(moves, b));
        let mass = |p: &[u32; LANES]| p.map(|p| inverse_mass[p as usize]);
        let (wa, wb) = (mass(a), mass(b));
        for lane in 0..LANES {
            let (k, rest) = (self.stiffness[lane], self.rest[lane]);
            let moved = at_b.at(lane) - at_a.at(lane);
            let d = (old_b.at(lane) - old_a.at(lane)) + moved;
            let r = d.length();
            let w = wa[lane] + wb[lane];
            let n = d / if r == 0.0 { 1.0 } else { r };
            let compliance = 1.0 / (k * h * h);
            let gamma = self.damping[lane] / (k * h);
            let multiplier = self.multiplier[lane];
            let delta = -(r - rest + compliance * multiplier + gamma * n.dot(moved))
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
        at_a.scatter(a, moves);
        at_b.scatter(b, moves);
    }
}

impl Hinges {
    #[inline(always)]
    fn project(&mut self, inverse_mass: &[f32], old: &[Vec3], moves: &mut [Vec3], h: f32) {
        let particles = &self.batch.particles;
        let start = particles.each_ref().map(|p| Vectors::gather(old, p));
        let mut at = particles.each_ref().map(|p| Vectors::gather(moves, p));
        let w = particles.map(|p| p.map(|p| inverse_mass[p as usize]));
        for lane in 0..LANES {
            let corners = [0, 1, 2, 3].map(|c: usize| start[c].at(lane) + at[c].at(lane));
            let (angle, gradient) = hinge::angle_and_gradient(corners);
            let weight: f32 = (0..4).map(|c| w[c][lane] * gradient[c].length_squared()).sum();
            let bend = hinge::wrapped(angle - self.rest_angle[lane]);
            let compliance = 1.0 / (self.stiffness[lane] * h * h);
            let multiplier = self.multiplier[lane];
            let delta = -(bend + compliance * multiplier) / (weight + compliance);
            let delta = if weight == 0.0 { 0.0 } else { delta };
            self.multiplier[lane] = multiplier + delta;
            for c in 0..4 {
                at[c].set(lane, at[c].at(lane) + w[c][lane] * delta * gradient[c]);
            }
        }
        for (at, particles) in at.iter().zip(particles) {
            at.scatter(particles, moves);
        }
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
        let n = state.x.len();
        // Predict, with held particles going to their targets.
        update(par, &mut state.v, |i, v| held.free[i] * v + held.velocity[i]);
        self.forces.evaluate_external(model, inputs, par, &state.x, &state.v);
        (self.forces.total.iter_mut().zip(&step.contact.force)).for_each(|(f, t)| *f += *t);
        for (i, w) in self.inverse_mass[..n].iter_mut().enumerate() {
            *w = held.free[i] / model.mass[i];
        }
        self.touch(step);
        let (f, w) = (&self.forces.total, &self.inverse_mass);
        update(par, &mut self.drift, |i, _| h * w[i] * f[i]);
        for Touching { particle, share, .. } in &self.touching {
            self.drift[*particle] = *share * self.drift[*particle];
        }
        let (v, drift) = (&state.v, &self.drift);
        update(par, &mut self.moves[..n], |i, _| h * (v[i] + drift[i]));
        self.old[..n].copy_from_slice(&state.x);
        // Project.
        let begun = clock::now();
        self.springs.iter_mut().for_each(|eight| eight.multiplier = [0.0; LANES]);
        self.hinges.iter_mut().for_each(|eight| eight.multiplier = [0.0; LANES]);
        let sweeps = self.sweeps.min(effort.iterations);
        for sweep in 0..sweeps {
            let Self { springs, hinges, inverse_mass, old, moves, touching, .. } = self;
            let hinges = if sweep % 2 == 0 { &mut hinges[..] } else { &mut [] };
            touching.iter_mut().for_each(|t| t.before = moves[t.particle]);
            widest(Sweep { springs, hinges, inverse_mass, old, moves, h });
            for Touching { particle, share, before } in touching {
                moves[*particle] = *before + *share * (moves[*particle] - *before);
            }
        }
        let solving = clock::now() - begun;
        // Positions and velocities follow.
        let (moves, v) = (&self.moves[..n], &state.v);
        update(par, &mut self.drift, |i, _| held.free[i] * (moves[i] / h - v[i]));
        add_scaled(par, &mut state.x, 1.0, moves);
        add_scaled(par, &mut state.v, 1.0, &self.drift);
        Solved { iterations: sweeps, solves: 1, solving, iterating: solving, ..Solved::EXPLICIT }
    }
}
