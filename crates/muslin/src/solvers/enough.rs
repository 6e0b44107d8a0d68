//! When a solve of the hierarchy is good enough, and when a step is.
//!
//! An error e in velocity has the energy eᵀ A e, of which the strain ε that it makes in the step is Σ k L² ε².
//! So the tolerance, a strain, is a bound τ = ε √(Σ k L²) on √(eᵀ A e). In motion that is all there is to it. Cloth
//! that comes to rest would be kept going by such errors for good, step after step, at the speed where drag takes
//! what they bring: there the error is to be a share of the velocity itself.

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

/// A last linearisation that changes velocities by more than this share is followed by others.
const RESTLESS: f64 = 0.1;

/// Strain by turning that is too much for the only linearisation of a solve.
const TURNS: f32 = 0.02;

/// So many further linearisations at most.
pub const FURTHER: u32 = 2;

/// Σ m v². [J]
pub fn motion(model: &Model, v: &[Vec3]) -> f64 {
    v.iter().zip(&model.mass).map(|(v, m)| f64::from(m * v.length_squared())).sum()
}

/// √(eᵀ A e) that a solve should reach, and that will do if it cannot: of `strain`, the tolerance τ, and of the
/// motion at the start of the step.
pub fn wanted(strain: f64, motion: f64, contact: &Guide) -> Range<f64> {
    // Contacts have their own measure.
    if contact.error.is_finite() || !contact.couplings.is_empty() {
        let both = strain.min(contact.error.sqrt());
        return both..both;
    }
    (STILL * motion.sqrt()).clamp(FINEST * strain, strain)..strain
}

/// Whether a change of velocities turns a spring so far that the linearised step stretches it: by half the square
/// of the angle. Where contacts changed, few springs do, which no sum over all cloth shows.
pub fn turns(model: &Model, h: f32, change: &[Vec3]) -> bool {
    let ends = model.topology.links.ends().iter().zip(&model.springs.rest_length);
    let angle = |(&[a, b], rest): (&[u32; 2], &f32)| {
        h * change[a as usize].distance(change[b as usize]) / rest
    };
    ends.map(angle).any(|angle| 0.5 * angle * angle > TURNS)
}

/// Whether the change of a last linearisation tells that it is not near the end: by a share of the velocity, and
/// by more than an error.
pub fn restless(model: &Model, strain: f64, change: &[Vec3], v: &[Vec3]) -> bool {
    let least = (RESTLESS * RESTLESS * motion(model, v)).max(strain * strain);
    motion(model, change) > least
}
