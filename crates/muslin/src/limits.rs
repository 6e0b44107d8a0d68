//! Bounds on how far cloth may stretch, kept after the solve of any method.
//!
//! ```text
//!   tether (Kim, Chentanez & Müller 2012):  |x_i − x_p| ≤ t ℓ    ℓ along the cloth at rest to a held particle p
//!   strain limit (Provot 1995):             |x_b − x_a| ≤ (1 + s) L      for every spring that is not for bending
//! ```
//!
//! What is beyond is moved back, the ends of a spring by their inverse masses, and the velocity gains
//! move/h. A particle gets a tether to the nearest held particle of each group of neighbouring ones, so one
//! pass makes a cloth that would stretch globally as long as it should be, whatever the method
//! left. Springs are taken one after the other, down and up through the cloth, until none is beyond.

use crate::mesh::geodesics::Surface;
use crate::model::Model;
use crate::solvers::{Held, Method};
use crate::state::State;
use glam::Vec3;

/// Passes over the springs at most, each down or up.
const PASSES: u32 = 60;

/// Longer than the limit by this share of a spring counts as at the limit.
const CLOSE: f32 = 1e-4;

/// Groups of held particles that get tethers of their own; more than these are one group.
const MOST_GROUPS: usize = 8;

/// What the bounds did in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounded {
    /// Particles that tethers moved.
    pub tethered: usize,
    /// Springs longer than the limit before the first pass.
    pub limited: usize,
    /// Whether a spring still is after the last.
    pub exceeded: bool,
}

/// The bounds of a method, for a model.
pub struct Limits {
    strain: f32,
    tethers: Option<Tethers>,
    inverse_mass: Vec<f32>,
    /// Springs that are not for bending: ends and rest length.
    springs: Vec<([u32; 2], f32)>,
}

struct Tether {
    particle: u32,
    held: u32,
    length: f32,
}

struct Tethers {
    /// t.
    reach: f32,
    list: Vec<Tether>,
    /// Who is held, as the list knows it.
    free: Vec<f32>,
}

impl Limits {
    /// Storage for a model.
    pub fn new(method: &Method, model: &Model) -> Self {
        let springs = &model.springs;
        let all = model.topology.links.ends().iter().zip(&springs.rest_length);
        let strong = all.zip(&springs.strong).filter(|(_, strong)| **strong);
        let limits = method.strain_limit > 0.0;
        Self {
            strain: method.strain_limit,
            tethers: (method.tethers > 0.0).then(|| Tethers {
                reach: method.tethers,
                list: Vec::new(),
                free: Vec::new(),
            }),
            inverse_mass: vec![0.0; model.particle_count()],
            springs: strong.filter(|_| limits).map(|((&ends, &rest), _)| (ends, rest)).collect(),
        }
    }

    /// Moves back what is beyond its bounds at the end of a step of length h.
    pub fn keep(&mut self, model: &Model, held: &Held, h: f32, state: &mut State) -> Bounded {
        let mut done = Bounded::default();
        if self.springs.is_empty() && self.tethers.is_none() {
            return done;
        }
        if let Some(tethers) = &mut self.tethers {
            if tethers.free != held.free {
                tethers.free.clone_from(&held.free);
                tethers.list = attach(model, &held.free);
            }
            done.tethered = tethers.keep(h, state);
        }
        if !self.springs.is_empty() {
            for (i, w) in self.inverse_mass.iter_mut().enumerate() {
                *w = held.free[i] / model.mass[i];
            }
            self.shorten(h, state, &mut done);
        }
        done
    }

    fn shorten(&self, h: f32, state: &mut State, done: &mut Bounded) {
        for pass in 0..=PASSES {
            let mut beyond = 0;
            let mut keep = |&([a, b], rest): &([u32; 2], f32)| {
                beyond += usize::from(self.shorten_one([a as usize, b as usize], rest, h, state));
            };
            // Cloth hangs from its first rows more often than not.
            match pass % 2 {
                0 => self.springs.iter().for_each(&mut keep),
                _ => self.springs.iter().rev().for_each(&mut keep),
            }
            if pass == 0 {
                done.limited = beyond;
            }
            if beyond == 0 {
                return;
            }
        }
        done.exceeded = true;
    }

    /// Whether the spring had to be made shorter.
    fn shorten_one(&self, [a, b]: [usize; 2], rest: f32, h: f32, state: &mut State) -> bool {
        let apart = state.x[b] - state.x[a];
        let (length, most) = (apart.length(), (1.0 + self.strain) * rest);
        let (wa, wb) = (self.inverse_mass[a], self.inverse_mass[b]);
        if length <= most + CLOSE * rest || wa + wb == 0.0 {
            return false;
        }
        let shift = (1.0 - most / length) / (wa + wb) * apart;
        state.x[a] += wa * shift;
        state.x[b] -= wb * shift;
        state.v[a] += wa / h * shift;
        state.v[b] -= wb / h * shift;
        true
    }
}

impl Tethers {
    /// Returns how many particles it moved.
    fn keep(&self, h: f32, state: &mut State) -> usize {
        let mut moved = 0;
        let mut last = u32::MAX;
        for tether in &self.list {
            let (i, p) = (tether.particle as usize, tether.held as usize);
            let apart = state.x[i] - state.x[p];
            let squared = apart.length_squared();
            let most = self.reach * tether.length;
            let beyond = (1.0 + CLOSE) * most;
            if squared > beyond * beyond {
                let shift: Vec3 = (most / squared.sqrt() - 1.0) * apart;
                state.x[i] += shift;
                state.v[i] += shift / h;
                moved += usize::from(tether.particle != last);
                last = tether.particle;
            }
        }
        moved
    }
}

/// Tethers of all free particles to the nearest held ones, by particle.
fn attach(model: &Model, free: &[f32]) -> Vec<Tether> {
    let ends = model.topology.links.ends().iter().zip(&model.springs.strong);
    let edges = ends.filter(|(_, strong)| **strong).map(|(ends, _)| *ends);
    let surface = Surface::new(&model.rest_x, edges, &model.triangles);
    let mut list = Vec::new();
    for group in groups(&surface, free) {
        for (i, reached) in surface.distances(&group).into_iter().enumerate() {
            if free[i] != 0.0 && reached.distance.is_finite() {
                let length = reached.distance as f32;
                list.push(Tether { particle: i as u32, held: reached.source, length });
            }
        }
    }
    list.sort_by_key(|tether| tether.particle);
    list
}

/// Held particles that are neighbours of one another, together.
fn groups(surface: &Surface<'_>, free: &[f32]) -> Vec<Vec<u32>> {
    let held: Vec<u32> = (0..free.len() as u32).filter(|i| free[*i as usize] == 0.0).collect();
    let mut known = vec![false; free.len()];
    let mut groups = Vec::new();
    for &first in &held {
        if std::mem::replace(&mut known[first as usize], true) {
            continue;
        }
        let mut group = vec![first];
        let mut next = 0;
        while let Some(&vertex) = group.get(next) {
            next += 1;
            for &other in surface.neighbours(vertex) {
                let other_known = &mut known[other as usize];
                if free[other as usize] == 0.0 && !std::mem::replace(other_known, true) {
                    group.push(other);
                }
            }
        }
        groups.push(group);
    }
    if groups.len() > MOST_GROUPS { vec![held] } else { groups }
}
