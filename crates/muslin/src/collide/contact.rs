//! One particle against one body: what it is given, how it is judged, how it is projected.

use super::bodies::{Bodies, Meeting};
use super::{WEIGHT, point};
use crate::state::{State, Touch};
use glam::{DMat3, DVec3, Vec3};

/// Friction this close to the last solve's is the same.
const SAME: f32 = 0.02;

/// What slides and keeps less than this share of its speed in a step is tried to stick.
const STOPS: f32 = 0.5;

/// Contacts that pull at least this share of the hardest pull let go.
const LETS_GO: f32 = 0.3;

/// A particle against a body during one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub particle: u32,
    pub collider: u32,
    pub normal: Vec3,
    /// n · v that ends the step on the plane. [m/s]
    pub approach: f32,
    /// How far it is moved out of the body after the step, its velocity being the body's. [m]
    pub push: f32,
    /// Velocity of the body's material. [m/s]
    pub carry: Vec3,
    /// Velocity that ends the step at the anchor. [m/s]
    pub to_anchor: Vec3,
    pub anchor: DVec3,
    pub sticks: bool,
    pub active: bool,
    /// Decisions of this step that are not taken back: it would go round in circles.
    pub kept: bool,
    pub kept_sliding: bool,
    /// Impulse that it had to give in the last solve. [N·s]
    pub reaction: Vec3,
    /// Its part along the normal, where that presses. [N·s]
    pub impulse: f32,
    /// Friction over sliding velocity, while it slides. [kg]
    pub drag: f32,
}

impl Contact {
    pub fn tangential(&self, v: Vec3) -> Vec3 {
        v - self.normal * self.normal.dot(v)
    }
}

/// The contact of a particle that meets a body, as it was in the last step or newly sticking.
pub(super) fn begin(
    bodies: &Bodies<'_>,
    [i, c]: [usize; 2],
    found: &Meeting,
    state: &State,
    touch: Option<&Touch>,
) -> Contact {
    let x = point(state.x[i]);
    let approach = found.normal.dot(found.place - x) / bodies.h;
    let carried = found.normal.dot(found.carry);
    // A velocity that brings it out would stay with it.
    let inside = found.depth > 0.0;
    let push = if inside { bodies.h * (approach - carried).max(0.0) } else { 0.0 };
    let approach = if inside { carried } else { approach };
    let anchor = touch.map_or(Some(found.own), |t| t.anchor);
    let at = anchor.unwrap_or(found.own);
    let (impulse, carry) = (touch.map_or(0.0, |t| t.impulse), found.carry.as_vec3());
    let mut contact = Contact {
        particle: i as u32,
        collider: c as u32,
        normal: found.normal.as_vec3(),
        approach: approach as f32,
        push: push as f32,
        carry,
        to_anchor: ((bodies.to[c].to_world(at) - x) / bodies.h).as_vec3(),
        anchor: at,
        sticks: true,
        active: true,
        kept: false,
        kept_sliding: false,
        reaction: Vec3::ZERO,
        impulse,
        drag: 0.0,
    };
    // What slid goes on sliding, unless it stopped.
    let speed = contact.tangential(state.v[i] - carry).length();
    if anchor.is_none() && speed > 0.0 {
        contact.sticks = false;
        contact.drag = bodies.colliders[c].friction as f32 * impulse / speed;
    }
    contact
}

impl Contact {
    /// Judges the contact by its reaction, the hardest pull of any contact, and the velocities before
    /// and after; `row` is the size of the particle's row. True if the contact was told wrongly.
    pub fn decide(&mut self, mu: f32, row: f32, hardest: f32, [before, v]: [Vec3; 2]) -> bool {
        let speed_before = self.tangential(before - self.carry).length();
        let p = self.reaction;
        let normal = self.normal.dot(p);
        self.impulse = normal.max(0.0);
        // Only the hardest pulls let go: where one does, those around it often press again.
        if normal < 0.0 && normal <= LETS_GO * hardest && !self.kept {
            self.active = false;
            return true;
        }
        let (most, largest) = (mu * self.impulse, WEIGHT * row);
        if self.sticks {
            let excess = self.tangential(p).length() - most;
            if excess <= 0.0 {
                return false;
            }
            // One that slid before goes on as it did.
            if !self.kept_sliding {
                self.drag = (most * row / excess).min(largest);
            }
            (self.sticks, self.kept_sliding) = (false, true);
            return true;
        }
        let speed = self.tangential(v - self.carry).length();
        let drag = if most > 0.0 { (most / speed).min(largest) } else { 0.0 };
        let before = std::mem::replace(&mut self.drag, drag);
        if speed < STOPS * speed_before && !self.kept_sliding {
            (self.sticks, self.kept_sliding) = (true, true);
            return true;
        }
        (drag - before).abs() > SAME * drag
    }

    /// What is remembered of it.
    pub fn touch(&self) -> Touch {
        Touch {
            particle: self.particle,
            collider: self.collider,
            anchor: self.sticks.then_some(self.anchor),
            impulse: self.impulse,
        }
    }
}

/// The velocity that a particle's contacts give it.
pub(super) fn given(group: &[Contact], v: Vec3) -> Vec3 {
    let mut active = group.iter().filter(|c| c.active);
    let (first, second) = (active.next(), active.next());
    let (Some(first), None) = (first, second) else {
        return if first.is_none() { v } else { given_by_several(group, v) };
    };
    let across = if first.sticks { first.to_anchor } else { v };
    first.tangential(across) + first.approach * first.normal
}

/// The least change of v that comes closest to what all contacts ask for.
fn given_by_several(group: &[Contact], v: Vec3) -> Vec3 {
    const SMALL: f64 = 1e-6;
    let mut matrix = SMALL * DMat3::IDENTITY;
    let mut wanted = SMALL * point(v);
    for contact in group.iter().filter(|c| c.active) {
        let n = point(contact.normal);
        let outer = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        matrix += outer;
        wanted += f64::from(contact.approach) * n;
        if contact.sticks {
            matrix += DMat3::IDENTITY - outer;
            wanted += point(contact.tangential(contact.to_anchor));
        }
    }
    (matrix.inverse() * wanted).as_vec3()
}

/// Puts a particle that got into body `c` back on its surface, with friction; what is to be
/// remembered if it did.
pub(super) fn project(
    bodies: &Bodies<'_>,
    mass: f32,
    [i, c]: [usize; 2],
    found: &Meeting,
    state: &mut State,
    touch: Option<&Touch>,
) -> Option<Touch> {
    let x1 = point(state.x[i]);
    let Meeting { normal: n, place, carry, own, .. } = *found;
    let (h, mu) = (bodies.h, bodies.colliders[c].friction);
    let v = point(state.v[i]);
    let inside = n.dot(place - x1);
    let inward = n.dot(carry - v);
    if inside <= 0.0 && inward <= 0.0 {
        return None;
    }
    let mut x = x1 + inside.max(0.0) * n;
    let mut new_v = v + inward.max(0.0) * n;
    // Friction, as velocities: what may act, and what it takes to stay at the anchor.
    let most = mu * inward.max(0.0);
    let across = |u: DVec3| u - n * n.dot(u);
    let anchor = touch.map_or(Some(own), |t| t.anchor);
    let motion = across(v - carry);
    let off = across(x1 - bodies.to[c].to_world(anchor.unwrap_or(own)));
    let needed = motion.length().max(if anchor.is_some() { off.length() / h } else { 0.0 });
    let sticks = needed <= most;
    if sticks {
        x -= if anchor.is_some() { off } else { h * motion };
        new_v -= motion;
    } else {
        let change = motion.normalize_or_zero() * most.min(motion.length());
        x -= h * change;
        new_v -= change;
    }
    (state.x[i], state.v[i]) = (x.as_vec3(), new_v.as_vec3());
    let resting = anchor.unwrap_or_else(|| bodies.to[c].to_own(x));
    Some(Touch {
        particle: i as u32,
        collider: c as u32,
        anchor: sticks.then_some(resting),
        impulse: (f64::from(mass) * inward.max(0.0)) as f32,
    })
}
