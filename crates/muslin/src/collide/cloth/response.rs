//! What cloth does to cloth: impulses that end the approach within the thickness, and friction.
//!
//! A contact has weights w of its four corners (`pair.rs`) and a direction n. With u_i the velocity that
//! leads corner i from the start to the end of the step,
//!
//! ```text
//!   n · Σ w u ≥ allowed/h      λ ≥ 0      impulses  w_i λ n  on the corners           inelastic
//!   |λ_t| ≤ μ λ                Σ w u tangential = 0 wherever |λ_t| < μ λ               Coulomb
//! ```
//!
//! solved by symmetric Gauss–Seidel in the order in which pairs were found. The impulses of a contact add
//! up to zero and so does their moment, as far as n leads from one nearest point to the other. What is
//! already nearer than the thickness goes apart by a share of what is missing per step.
//!
//! The masses of corners are all that is known here, not the springs behind them. So what is found is told to the
//! method, which solves its step again with these impulses, and what is then found in addition is added. Springs
//! only make corners heavier, so impulses grow towards what is needed from below, from solve to solve and from
//! step to step.
//!
//! Where springs are stiff that takes too long: an impulse moves a corner by far less than its mass says. Methods that
//! solve their system by conjugate gradients therefore have every contact that presses in it, as an augmented
//! Lagrangian has its constraints:
//!
//! ```text
//!   λ' = λ + s (allowed/h − n · Σ w u),       A + Σ s g gᵀ,   g_i = w_i n
//!   1/s = Σ w²/row,   row = m + h² Σ k (n · d)²    what the system has at a corner along n, springs in directions d
//! ```
//!
//! The method gives λ' by itself, and λ' = λ only where nothing is missing: s decides how fast this comes about, not
//! what. With s of the size of the rows it takes a few solves, and the system remains as well-conditioned as it was.
//! A contact that ends up pulling, λ' < 0, is let go, and the step solved again.
//!
//! A corner that a body holds is not pushed into the body: its share of an impulse in that direction goes
//! to the body.

use super::Pair;
use super::pair::{self, Kind, apply};
use crate::linalg::{Coupling, RankOne};
use crate::model::Model;
use crate::state::Press;
use glam::{DVec3, Vec3};

/// Sweeps over all contacts at most, forward and backward in turn.
const MOST_SWEEPS: u32 = 10;

/// Sweeps end when no contact changes a velocity by more than this share of the thickness per step.
const SETTLED: f32 = 1e-4;

/// Share of the missing distance that a step makes up for.
const PUSH: f64 = 0.2;

/// A pair that starts within this many thicknesses is judged by where it starts; others by where they meet.
const NEAR: f64 = 2.0;

/// Within the same piece, neighbours nearer than the thickness at rest keep this share of their distance.
const REST_SHARE: f64 = 0.5;

/// One contact during one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    corners: [u32; 4],
    first: u8,
    weights: [f32; 4],
    normal: Vec3,
    /// Where an impulse along the normal sends each corner: w n, less what goes into a body.
    along: [Vec3; 4],
    /// n · Σ w u must not be less. [m/s]
    allowed: f32,
    /// Σ w²/m along the normal and across it. [1/kg]
    mobility: [f32; 2],
    /// Impulse so far. [N·s]
    impulse: f32,
    friction: Vec3,
    /// What the method's system has of it: the impulse for every m/s that is missing. [kg]
    scale: f32,
}

impl Contact {
    /// What it is sorted by.
    pub fn key(&self) -> ([u32; 4], u8) {
        (self.corners, self.first)
    }

    /// Whether it does anything.
    pub fn presses(&self) -> bool {
        self.impulse > 0.0
    }

    /// Has no term in the method's system.
    pub fn uncouple(&mut self) {
        self.scale = 0.0;
    }

    /// Adds w² for each corner.
    pub fn share(&self, shares: &mut [f32]) {
        for (&corner, weight) in self.corners.iter().zip(self.weights) {
            shares[corner as usize] += weight * weight;
        }
    }

    /// Takes over the impulse that the system gave on the way to `end`, none where it pulled; returns by how much
    /// velocity it did. [m/s]
    pub fn take(&mut self, x: &[Vec3], end: &[Vec3], h: f32) -> f32 {
        if self.scale == 0.0 {
            return 0.0;
        }
        let at = self.corners.map(|c| c as usize);
        let corners = at.iter().zip(self.weights);
        let moved = corners.fold(Vec3::ZERO, |sum, (i, w)| sum + w * (end[*i] - x[*i]));
        let impulse = self.impulse + self.scale * (self.allowed - self.normal.dot(moved) / h);
        self.impulse = impulse.max(0.0);
        (-impulse).max(0.0) / self.scale
    }

    /// What it did, if anything.
    pub fn press(&self) -> Option<Press> {
        (self.impulse > 0.0).then_some(Press {
            corners: self.corners,
            first: self.first,
            weights: self.weights,
            impulse: self.impulse * self.normal + self.friction,
        })
    }
}

/// What all contacts of a step share.
pub(super) struct Setting<'a> {
    pub model: &'a Model,
    /// 1 for a free particle, 0 for a held one.
    pub free: &'a [f32],
    /// Away from the body that a particle touches; zero where there is none.
    pub support: &'a [Vec3],
    pub thickness: f64,
    pub friction: f32,
    /// Length of the step. [s]
    pub h: f32,
}

impl Setting<'_> {
    fn inverse_mass(&self, i: u32) -> f32 {
        self.free[i as usize] / self.model.mass[i as usize]
    }

    /// The distance that a pair keeps.
    fn thickness_of(&self, pair: &Pair) -> f64 {
        let corners = pair.corners.map(|c| c as usize);
        let piece = corners.map(|c| self.model.piece[c]);
        if piece[0] != piece[3] {
            return self.thickness;
        }
        let rest = pair::nearest(pair.kind, corners.map(|c| self.model.rest_x[c].as_dvec3()));
        self.thickness.min(REST_SHARE * rest.gap)
    }

    /// The contact of a pair that moves from `x` to `end`, if there is one.
    pub fn contact(&self, pair: &Pair, x: &[Vec3], end: &[Vec3]) -> Option<Contact> {
        let at = pair.corners.map(|c| x[c as usize].as_dvec3());
        let d = pair.corners.map(|c| (end[c as usize] - x[c as usize]).as_dvec3());
        let near = pair.near;
        if near.gap - pair::relative_motion(pair.kind, d) > self.thickness {
            return None;
        }
        let thickness = self.thickness_of(pair);
        let moved = |weights, n: DVec3| n.dot(apply(weights, d));
        let approach = moved(near.weights, near.direction);
        if near.gap <= NEAR * thickness {
            if pair.again || near.gap + approach >= thickness {
                return None;
            }
            let missing = thickness - near.gap;
            return self.begin(pair, near, missing.min(PUSH * missing));
        }
        let time = pair::first_meeting(pair.kind, at, d, thickness)?;
        let then = pair::nearest(pair.kind, std::array::from_fn(|i| at[i] + time * d[i]));
        let approach = moved(then.weights, then.direction);
        if approach >= 0.0 {
            return None;
        }
        self.begin(pair, then, time * approach)
    }

    /// The contact that pressed in the last step, with what it did.
    pub fn keep(&self, press: &Press, x: &[Vec3]) -> Option<Contact> {
        let (kind, corners) = (Kind::of(press.first), press.corners);
        let near = pair::nearest(kind, corners.map(|c| x[c as usize].as_dvec3()));
        let pair = Pair { kind, corners, near, again: false };
        let missing = self.thickness_of(&pair) - near.gap;
        let contact = self.begin(&pair, near, missing.min(PUSH * missing))?;
        let impulse = contact.normal.dot(press.impulse).max(0.0);
        let friction = press.impulse - contact.normal * contact.normal.dot(press.impulse);
        Some(Contact { impulse, friction, ..contact })
    }

    fn begin(&self, pair: &Pair, near: pair::Nearest, allowed: f64) -> Option<Contact> {
        let (normal, weights) = (near.direction.as_vec3(), near.weights.map(|w| w as f32));
        let mut along = weights.map(|w| w * normal);
        let mut mobility = [0.0; 2];
        for (k, &corner) in pair.corners.iter().enumerate() {
            let support = self.support[corner as usize];
            along[k] -= support * support.dot(along[k]).min(0.0);
            let inverse = self.inverse_mass(corner);
            mobility[0] += inverse * weights[k] * normal.dot(along[k]);
            mobility[1] += inverse * weights[k] * weights[k];
        }
        (mobility[0] > 0.0 && near.gap > 0.0).then_some(Contact {
            corners: pair.corners,
            first: pair.kind.split() as u8,
            weights,
            normal,
            along,
            allowed: (allowed / f64::from(self.h)) as f32,
            mobility,
            impulse: 0.0,
            friction: Vec3::ZERO,
            scale: 0.0,
        })
    }

    /// Row of the system of a corner in direction n: m + h² Σ k (n · d)². [kg]
    fn row(&self, i: usize, n: Vec3, x: &[Vec3]) -> f32 {
        let Model { topology, springs, mass, .. } = self.model;
        let members = topology.link_members.of(i).iter();
        let stiffness: f32 = members
            .map(|member| {
                let [a, b] = topology.links.ends()[member.item as usize].map(|e| e as usize);
                let d = (x[b] - x[a]).normalize_or_zero();
                springs.stiffness[member.item as usize] * n.dot(d).powi(2)
            })
            .sum();
        mass[i] + self.h * self.h * stiffness
    }

    /// The term of a contact that presses in the method's system. The contacts of a particle, Σ w² of them in
    /// `shares`, together add at most half of what its row has.
    pub fn couple(&self, contact: &mut Contact, x: &[Vec3], shares: &[f32]) -> Coupling {
        let mut mobility = 0.0;
        for (&corner, weight) in contact.corners.iter().zip(contact.weights) {
            let i = corner as usize;
            let share = self.free[i] * weight * weight * (2.0 * shares[i]).max(1.0);
            mobility += share / self.row(i, contact.normal, x);
        }
        contact.scale = 1.0 / mobility;
        let g = contact.weights.map(|w| w * contact.normal);
        let term = RankOne { g, scale: contact.scale };
        Coupling { particles: contact.corners, term, wanted: contact.allowed }
    }

    /// Finds the impulses of all contacts and what they do to `u`, the velocities of the step.
    pub fn solve(&self, contacts: &mut [Contact], u: &mut [Vec3]) {
        let settled = SETTLED * self.thickness as f32 / self.h;
        for sweep in 0..MOST_SWEEPS {
            let mut change = 0.0f32;
            let mut one = |contact: &mut Contact| change = change.max(self.update(contact, u));
            match sweep % 2 {
                0 => contacts.iter_mut().for_each(&mut one),
                _ => contacts.iter_mut().rev().for_each(&mut one),
            }
            if change <= settled {
                break;
            }
        }
    }

    /// One contact's turn; returns how much it changed a velocity.
    fn update(&self, contact: &mut Contact, u: &mut [Vec3]) -> f32 {
        let at = contact.corners.map(|c| c as usize);
        let n = contact.normal;
        let relative =
            at.iter().zip(contact.weights).fold(Vec3::ZERO, |sum, (i, w)| sum + w * u[*i]);
        let wanted = contact.impulse + (contact.allowed - n.dot(relative)) / contact.mobility[0];
        let impulse = wanted.max(0.0);
        let change = impulse - contact.impulse;
        contact.impulse = impulse;
        // Friction takes what velocity there is across n, as far as the cone goes.
        let across = relative - n * n.dot(relative);
        let friction = contact.friction - across / contact.mobility[1];
        let friction = friction.clamp_length_max(self.friction * impulse);
        let turned = friction - contact.friction;
        contact.friction = friction;
        for (k, &i) in at.iter().enumerate() {
            let inverse = self.inverse_mass(contact.corners[k]);
            u[i] += inverse * (change * contact.along[k] + contact.weights[k] * turned);
        }
        (change.abs() * contact.mobility[0]).max(turned.length() * contact.mobility[1])
    }
}
