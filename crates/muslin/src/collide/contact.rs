//! One particle against one body: what it is given, how it is judged, how it is projected.

use super::bodies::{Bodies, Meeting};
use super::point;
use super::skinned::Spot;
use crate::state::{State, Touch};
use glam::{DMat3, DVec3, Vec3};

/// What slides and keeps less than this share of its speed in a step is tried to stick.
const STOPS: f32 = 0.5;

/// How far a contact gives way under what it carried in the last step, as a share of closeness.
const GIVES_WAY: f32 = 0.25;

/// One that gives way by more than this many closenesses is made heavier.
const TOO_FAR: f32 = 4.0;

/// A contact's weight at most, in units of the particle's own row.
const HEAVIEST: f32 = 1e3;

/// Contacts that pull at least this share of the hardest pull let go.
const LETS_GO: f32 = 0.3;

/// What a particle brings to its contacts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub mass: f32,
    /// Its row of the system, m + h d + h² Σ k. [kg]
    pub row: f32,
    /// Impulse of gravity in the step. [N·s]
    pub own: f32,
}

impl Load {
    pub fn heaviest(&self) -> f32 {
        HEAVIEST * self.row
    }

    /// The W that gives way to an impulse as far as it may, by `way`.
    fn weight(&self, impulse: f32, way: f32, h: f32) -> f32 {
        let lightest = self.mass.max(self.own * h / way);
        (impulse * h / way).max(lightest).min(self.heaviest())
    }
}

/// What contacts were told wrongly, as impulses. [N·s]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wrong {
    /// Pulls of those that should have let go, and pushes that were missed.
    pub normal: f32,
    pub friction: f32,
    /// Whether it is to be put right however little it is.
    pub entirely: bool,
}

impl Wrong {
    pub fn add(&mut self, other: Self) {
        self.normal += other.normal;
        self.friction += other.friction;
        self.entirely |= other.entirely;
    }
}

/// A particle against a body during one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub particle: u32,
    pub collider: u32,
    pub normal: Vec3,
    /// n · v that ends the step on the plane. [m/s]
    pub approach: f32,
    /// W, what keeps the given velocity. [kg]
    pub weight: f32,
    pub load: Load,
    /// Nearer to the plane than this is on it. [m]
    pub close: f32,
    /// How far it is moved out of the body after the step, its velocity being the body's. [m]
    pub push: f32,
    /// Velocity of the body's material. [m/s]
    pub carry: Vec3,
    /// Velocity that ends the step at the anchor. [m/s]
    pub to_anchor: Vec3,
    pub anchor: Spot,
    pub sticks: bool,
    pub active: bool,
    /// Decisions of this step that are not taken back: it would go round in circles.
    pub kept: bool,
    pub kept_sliding: bool,
    /// Whether it slides by less than anyone cares about.
    pub slow: bool,
    /// Impulse that it had to give in the last solve. [N·s]
    pub reaction: Vec3,
    /// Impulse of the last step. [N·s]
    pub known: Vec3,
    /// What presses it against the body because another is on its other side. [N·s]
    pub squeeze: f32,
    /// The impulse along the normal, where it presses. [N·s]
    pub impulse: f32,
    /// Friction over sliding velocity, while it slides. [kg]
    pub drag: f32,
}

impl Contact {
    /// What the solver is told of the impulse. [N·s]
    pub fn told(&self) -> Vec3 {
        let normal = self.normal.dot(self.known).max(0.0);
        if self.sticks { self.known } else { normal * self.normal }
    }

    /// Impulse along the normal that it had to give in the last solve. [N·s]
    pub fn pressing(&self) -> f32 {
        self.normal.dot(self.reaction) + self.squeeze
    }

    /// How far it gives way under what it carried. [m]
    pub fn gives_way(&self) -> f32 {
        GIVES_WAY * self.close
    }

    /// How far a change of velocity took it into the body. [m]
    pub fn sunk(&self, h: f32, drift: Vec3) -> f64 {
        f64::from(-h * self.normal.dot(drift))
    }

    pub fn tangential(&self, v: Vec3) -> Vec3 {
        v - self.normal * self.normal.dot(v)
    }
}

/// Where a touch sticks.
fn anchor(touch: &Touch) -> Option<Spot> {
    touch.anchor.map(|at| Spot { at, triangle: touch.triangle })
}

/// The contact of a particle that meets a body, as it was in the last step or newly sticking.
pub(super) fn begin(
    bodies: &Bodies<'_>,
    [i, c]: [usize; 2],
    found: &Meeting,
    state: &State,
    touch: Option<&Touch>,
    load: Load,
) -> Contact {
    let x = point(state.x[i]);
    let approach = found.normal.dot(found.place - x) / bodies.h;
    let carried = found.normal.dot(found.carry);
    // A velocity that brings it out would stay with it.
    let inside = found.depth > 0.0;
    let push = if inside { bodies.h * (approach - carried).max(0.0) } else { 0.0 };
    let approach = if inside { carried } else { approach };
    let anchor = touch.map_or(Some(found.own), anchor);
    let at = anchor.unwrap_or(found.own);
    let (impulse, carry) = (touch.map_or(0.0, |t| t.impulse), found.carry.as_vec3());
    let turn = bodies.to[c].rotation.as_quat();
    let known = touch.map_or(Vec3::ZERO, |t| turn * t.reaction);
    let close = bodies.close(c, x) as f32;
    let mut contact = Contact {
        weight: load.weight(known.length(), GIVES_WAY * close, bodies.h as f32),
        load,
        close,
        particle: i as u32,
        collider: c as u32,
        normal: found.normal.as_vec3(),
        approach: approach as f32,
        push: push as f32,
        carry,
        to_anchor: ((bodies.at_end(c, at) - x) / bodies.h).as_vec3(),
        anchor: at,
        sticks: true,
        active: true,
        kept: false,
        kept_sliding: false,
        slow: false,
        reaction: Vec3::ZERO,
        known,
        squeeze: 0.0,
        impulse,
        drag: 0.0,
    };
    // What slid goes on sliding, unless it stopped.
    let speed = contact.tangential(state.v[i] - carry).length();
    if anchor.is_none() && (speed > 0.0 || impulse == 0.0) {
        contact.sticks = false;
        let most = bodies.colliders[c].friction as f32 * impulse;
        contact.drag = if most > 0.0 { (most / speed).min(load.heaviest()) } else { 0.0 };
    }
    contact
}

impl Contact {
    /// Judges the contact by its reaction, the hardest pull of any contact, and the particle's velocities
    /// before and after and their difference: what it was told wrongly.
    pub fn decide(
        &mut self,
        mu: f32,
        h: f32,
        hardest: f32,
        [before, v, drift]: [Vec3; 3],
    ) -> Wrong {
        let speed_before = self.tangential(before - self.carry).length();
        let p = self.reaction;
        let normal = self.pressing();
        self.impulse = normal.max(0.0);
        // A pull below the particle's own weight is the solver's noise. Only the hardest let go: where one
        // does, those around it often press again.
        if normal < -self.load.own && normal <= LETS_GO * hardest && !self.kept {
            self.active = false;
            return Wrong { normal: -normal, ..Wrong::default() };
        }
        let (most, heaviest, row) = (mu * self.impulse, self.load.heaviest(), self.load.row);
        let sunk = self.sunk(h, drift) as f32;
        let too_light = sunk > TOO_FAR * self.close && self.weight < heaviest;
        if too_light {
            self.weight = (self.weight * sunk / self.gives_way()).min(heaviest);
        }
        let told = Wrong { entirely: too_light, ..Wrong::default() };
        if self.sticks {
            let excess = self.tangential(p).length() - most;
            if excess <= 0.0 {
                return told;
            }
            self.slow = false;
            // One that slid before goes on as it did.
            if !self.kept_sliding {
                self.drag = (most * row / excess).min(heaviest);
            }
            (self.sticks, self.kept_sliding) = (false, true);
            return Wrong { friction: excess, ..told };
        }
        let speed = self.tangential(v - self.carry).length();
        let drag = if most > 0.0 { (most / speed).min(heaviest) } else { 0.0 };
        let before = std::mem::replace(&mut self.drag, drag);
        self.slow = h * speed <= self.close;
        if speed < STOPS * speed_before && h * speed_before > self.close && !self.kept_sliding {
            (self.sticks, self.kept_sliding) = (true, true);
            return Wrong { friction: self.load.mass * speed, ..told };
        }
        if self.slow { told } else { Wrong { friction: (drag - before).abs() * speed, ..told } }
    }

    /// What is remembered of it.
    pub fn touch(&self, bodies: &Bodies<'_>, x: Vec3) -> Touch {
        let body = bodies.to[self.collider as usize];
        let back = body.rotation.as_quat().conjugate();
        // What has all but stopped is tried to stick where it is.
        let c = self.collider as usize;
        let stopped = || (self.slow && self.impulse > 0.0).then(|| bodies.spot_at_end(c, point(x)));
        let anchor = if self.sticks { Some(self.anchor) } else { stopped() };
        Touch {
            particle: self.particle,
            collider: self.collider,
            anchor: anchor.map(|spot| spot.at),
            triangle: anchor.map_or(0, |spot| spot.triangle),
            impulse: self.impulse,
            reaction: if self.impulse > 0.0 { back * self.reaction } else { Vec3::ZERO },
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
    let anchor = touch.map_or(Some(own), anchor);
    let motion = across(v - carry);
    let off = across(x1 - bodies.at_end(c, anchor.unwrap_or(own)));
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
    let resting = anchor.unwrap_or_else(|| bodies.spot_at_end(c, x));
    Some(Touch {
        particle: i as u32,
        collider: c as u32,
        anchor: sticks.then_some(resting.at),
        triangle: if sticks { resting.triangle } else { 0 },
        impulse: (f64::from(mass) * inward.max(0.0)) as f32,
        reaction: Vec3::ZERO,
    })
}
