//! When a solve of the hierarchy is good enough, and when a step is.
//!
//! An error e in velocity has the energy eᵀ A e, of which the strain ε that it makes in the step is Σ k L² ε².
//! So the tolerance, a strain, is a bound τ = ε √(Σ k L²) on √(eᵀ A e). In motion that is all there is to it. Cloth
//! that comes to rest would be kept going by such errors for good, step after step, at the speed where drag takes
//! what they bring: there the error is to be a share of the velocity itself.
//!
//! Almost at rest the linearisation is not ahead either (`bdf2.rs`). A compressed spring has less stiffness across than
//! its clamped block (`forces/spring.rs`), so folds that are nearly buckled keep, in one or two linearisations, most
//! of the velocity that these start with. Started with the velocity before, nothing stops them: not drag, not BDF2.
//! Started with none they come to rest.

use super::{Method, Step};
use crate::collide::Guide;
use crate::model::Model;
use glam::Vec3;
use std::ops::Range;

/// A linearisation that another one follows is solved to this many tolerances: what it leaves is no
/// more than what the next one changes.
pub const UNFINISHED: f64 = 10.0;

/// The error of a solve has at most this share of the velocity, where that is less than the tolerance.
const STILL: f64 = 0.02;

/// But no less than this share of the tolerance: single precision ends somewhere.
const FINEST: f64 = 0.03;

/// √(Σ m v²) of so many tolerances is motion; with less the cloth is about to rest. On `hang` that is 4 cm/s, root
/// mean square.
const MOVES: f64 = 5.0;

/// A last linearisation that changes velocities by more than this share is followed by others.
const RESTLESS: f64 = 0.1;

/// Strain by turning that is too much for the only linearisation of a solve.
const TURNS: f32 = 0.02;

/// So many further linearisations at most.
pub const FURTHER: u32 = 2;

/// What solves of a model are judged by.
pub struct Enough {
    /// √(Σ k L²) of the springs: √(eᵀ A e) of an error over its strain. [√J]
    per_strain: f64,
    /// √(eᵀ A e) of the tolerance, τ. [√J]
    tolerance: f64,
    /// √(Σ m v²) at the start of the step. [√J]
    motion: f64,
}

/// Σ m v². [J]
fn motion(model: &Model, v: &[Vec3]) -> f64 {
    v.iter().zip(&model.mass).map(|(v, m)| f64::from(m * v.length_squared())).sum()
}

impl Enough {
    /// For the tolerance of a method.
    pub fn new(method: &Method, model: &Model) -> Self {
        let springs = &model.springs;
        let energies = springs.stiffness.iter().zip(&springs.rest_length);
        let per_strain = energies.map(|(k, l)| f64::from(k * l * l)).sum::<f64>().sqrt();
        Self { per_strain, tolerance: method.tolerance * per_strain, motion: 0.0 }
    }

    /// A step begins with the velocities `v`.
    pub fn begin(&mut self, model: &Model, v: &[Vec3]) {
        self.motion = motion(model, v).sqrt();
    }

    /// The strain of an error with this √(eᵀ A e).
    pub fn strain(&self, error: f64) -> f64 {
        error / self.per_strain
    }

    /// √(eᵀ A e) that a solve should reach, and that will do if it cannot.
    pub fn wanted(&self, contact: &Guide) -> Range<f64> {
        // Contacts have their own measure.
        if contact.error.is_finite() || !contact.couplings.is_empty() {
            let both = self.tolerance.min(contact.error.sqrt());
            return both..both;
        }
        (STILL * self.motion).clamp(FINEST * self.tolerance, self.tolerance)..self.tolerance
    }

    /// The share of the velocity that a linearisation goes ahead with.
    pub fn ahead(&self) -> f32 {
        let moves = MOVES * self.tolerance;
        if self.motion < moves { (self.motion / moves).powi(2) as f32 } else { 1.0 }
    }

    /// Whether after `done` linearisations the `change` by the last, to `v`, asks for another.
    pub fn another(&self, step: &Step<'_>, done: u32, change: &[Vec3], v: &[Vec3]) -> bool {
        match done {
            1 => turns(step.model, step.h, change),
            _ => self.restless(step.model, change, v),
        }
    }

    /// Whether the change of a last linearisation tells that it is not near the end: by a share of the velocity, and
    /// by more than an error.
    fn restless(&self, model: &Model, change: &[Vec3], v: &[Vec3]) -> bool {
        let least = (RESTLESS * RESTLESS * motion(model, v)).max(self.tolerance * self.tolerance);
        motion(model, change) > least
    }
}

/// Whether a change of velocities turns a spring so far that the linearised step stretches it: by half the square
/// of the angle. Where contacts changed, few springs do, which no sum over all cloth shows.
fn turns(model: &Model, h: f32, change: &[Vec3]) -> bool {
    let ends = model.topology.links.ends().iter().zip(&model.springs.rest_length);
    let angle = |(&[a, b], rest): (&[u32; 2], &f32)| {
        h * change[a as usize].distance(change[b as usize]) / rest
    };
    ends.map(angle).any(|angle| 0.5 * angle * angle > TURNS)
}
