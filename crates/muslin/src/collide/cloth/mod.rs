//! Contact of cloth with itself and with other cloth: vertices against triangles and edges against edges.
//!
//! The same for every method, after its step has said where particles want to go:
//!
//! 1. *Search* (`tree.rs`, `star.rs`): the pairs of primitives that may come nearer than the thickness.
//! 2. *Judge* (`response.rs`): the impulses and the friction that this takes. The method is told, and solves its
//!    step again with them, a few times at most: so springs and contacts are balanced by the method itself.
//!    What presses is part of the state, and the next step begins with it.
//! 3. *Keep apart*: each pair must be shown not to meet while all particles go evenly from where they are to
//!    where they end: its distance exceeds its relative motion, or a plane stays between, or conservative
//!    advancement (`pair.rs`) says so. The particles of a pair that cannot be shown that go only as far as it
//!    is certain, and every pair of theirs is looked at again, until all are shown. Who does not move at all
//!    meets nobody, so there is always an end.
//!
//! Then no two triangles cross, whatever the first two parts do: the last one needs only a start without
//! crossings. Held particles are no exception: those that cloth is in the way of wait. Triangles that cross
//! at the start are left alone until they no longer do.

mod entangled;
mod near;
pub mod pair;
mod response;
mod star;
mod tree;

use super::{Contacts, Moment};
use crate::inputs::Hold;
use crate::linalg::Coupling;
use crate::model::Model;
use crate::par::BLOCK;
use crate::state::State;
use glam::{DVec3, Vec3};
use near::Near;
use pair::{Kind, Nearest};
use response::{Contact, Setting};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tree::Tree;

/// Particles may end this share of the thickness from where they were searched for.
const MARGIN: f64 = 0.5;

/// Pairs are kept at least this share of the thickness apart.
const LEAST: f64 = 1e-3;

/// The same as a share of the largest coordinate, for positions far from the origin.
const LEAST_OF_PLACE: f64 = 1e-6;

/// Shares of a distance that are the same.
const ROUNDING: f64 = 1e-9;

/// Rounds in which pairs are moved apart; then they are stopped on their way; then those that still fail
/// stay where they are, and at last everyone does.
const GENTLE_ROUNDS: u32 = 40;
const FIRM_ROUNDS: u32 = 48;
const MOST_ROUNDS: u32 = 96;

/// Pairs of a task for every particle of the scene at most, and in scenes of few particles: cloth flung about
/// by a step that went wrong would meet itself everywhere.
const MOST_PAIRS: usize = 4;
const MANY_PAIRS: usize = 10_000;

/// Impulses that change where particles end by less than this share of the thickness were right.
const CLOSE: f64 = 0.02;

/// Two primitives that may meet in this step.
#[derive(Clone, Copy, Debug)]
struct Pair {
    kind: Kind,
    corners: [u32; 4],
    /// At the start of the step.
    near: Nearest,
    /// Another pair has the same nearest points: those on a side or a corner belong to one of the
    /// triangles there, those at the end of an edge to a vertex.
    again: bool,
}

/// What cloth did to cloth in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Contacts of vertices with triangles and of edges with edges.
    pub contacts: usize,
    /// Particles that were stopped on their way.
    pub stopped: usize,
    /// Those of them that are held.
    pub held_back: usize,
}

/// Self-contact: storage, and what is left over from step to step (only what follows from positions).
#[derive(Default)]
pub struct SelfContact {
    thickness: f64,
    friction: f32,
    tree: Tree,
    /// Which corners (bits 0 to 2) and sides (bits 3 to 5) a triangle stands for in the search.
    owned: Vec<u8>,
    closed: Vec<bool>,
    /// Triangles around the particle stay open in this step.
    open: Vec<bool>,
    tasks: Vec<Vec<Pair>>,
    pairs: Vec<Pair>,
    /// Time until which each pair certainly stays apart, as a share of the step.
    until: Vec<f32>,
    contacts: Vec<Contact>,
    /// Σ w² of each particle's contacts that press.
    shares: Vec<f32>,
    /// Pairs have been searched for in this step.
    is_searched: bool,
    /// What contacts change of velocities beyond what a method was told. [m/s]
    changes: Vec<Vec3>,
    /// Where particles were to end when they were searched for, and now. [m]
    searched: Vec<Vec3>,
    end: Vec<Vec3>,
    /// How much of its way each particle goes, and in the next round.
    share: Vec<f32>,
    next_share: Vec<f32>,
    asked: Vec<bool>,
    changed: Vec<bool>,
    support: Vec<Vec3>,
    /// Pairs of triangles that cross, ascending.
    entangled: Vec<[u32; 2]>,
    in_tangle: Vec<bool>,
    /// More pairs than can be looked at.
    flooded: bool,
    count: Count,
}

impl SelfContact {
    /// Storage for a model; nothing where its scene has no self-contact.
    pub fn new(model: &Model) -> Self {
        let Some(wanted) = model.self_contact else { return Self::default() };
        let n = model.particle_count();
        let tree = Tree::new(model);
        let mut tasks = Vec::new();
        tasks.resize_with(tree.tasks(), Vec::new);
        let mut new = Self {
            thickness: wanted.thickness,
            friction: wanted.friction as f32,
            tasks,
            tree,
            owned: near::owned(model),
            closed: star::closed(model),
            open: vec![false; n],
            searched: vec![Vec3::ZERO; n],
            end: vec![Vec3::ZERO; n],
            share: vec![1.0; n],
            shares: vec![0.0; n],
            next_share: vec![1.0; n],
            asked: vec![true; n],
            changed: vec![false; n],
            support: vec![Vec3::ZERO; n],
            changes: vec![Vec3::ZERO; n],
            in_tangle: vec![false; n],
            ..Self::default()
        };
        new.find_entangled(model, &model.start_x);
        new
    }

    /// Whether the scene has self-contact.
    pub fn any(&self) -> bool {
        !self.share.is_empty()
    }

    /// Whether there were too many pairs to look at: the step cannot be kept.
    pub fn is_flooded(&self) -> bool {
        self.flooded
    }

    /// What cloth did to cloth in the last step.
    pub fn count(&self) -> Count {
        self.count
    }

    /// Pairs of triangles that cross, in order.
    pub fn entangled(&self) -> &[[u32; 2]] {
        &self.entangled
    }

    /// Finds all triangles that cross.
    pub fn find_entangled(&mut self, model: &Model, x: &[Vec3]) {
        if !self.any() {
            return;
        }
        let triangles = &model.triangles;
        self.tree.fit(triangles, x, x, |_| true);
        self.entangled.clear();
        for task in 0..self.tree.tasks() {
            self.tree.pairs(task, 0.0, |a, b| {
                if entangled::cross(triangles[a as usize], triangles[b as usize], x) {
                    self.entangled.push([a.min(b), a.max(b)]);
                }
                true
            });
        }
        self.entangled.sort_unstable();
        self.in_tangle.fill(false);
        for corner in self.entangled.iter().flatten().flat_map(|t| triangles[*t as usize]) {
            self.in_tangle[corner as usize] = true;
        }
    }

    /// Begins a step from `state`: what pressed in the last one is taken to press as much in this one.
    pub fn begin(&mut self, at: &Moment<'_>, bodies: &Contacts, state: &State) {
        self.find_support(at.model, bodies, state);
        self.is_searched = false;
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.clear();
        let setting = self.setting(at);
        contacts.extend(state.presses.iter().filter_map(|press| setting.keep(press, &state.x)));
        self.contacts = contacts;
    }

    /// Whether cloth presses on cloth, as far as it is known.
    pub fn presses(&self) -> bool {
        self.contacts.iter().any(Contact::presses)
    }

    /// Adds the impulses with which cloth presses on cloth, as far as they are known, to `sum`, each times
    /// what `unit` gives for its particle.
    pub fn press(&self, sum: &mut [Vec3], unit: impl Fn(usize) -> f32) {
        for press in self.contacts.iter().filter_map(Contact::press) {
            for (corner, weight) in press.corners.iter().zip(press.weights) {
                let i = *corner as usize;
                sum[i] += weight * unit(i) * press.impulse;
            }
        }
    }

    /// Sets the terms in a method's system of those who press.
    pub fn couple(&mut self, at: &Moment<'_>, x: &[Vec3], couplings: &mut Vec<Coupling>) {
        let (mut contacts, mut shares) =
            (std::mem::take(&mut self.contacts), std::mem::take(&mut self.shares));
        // Around triangles that cross nobody knows which side is which: those must be able to give way.
        let tangled = |c: &Contact| c.key().0.iter().any(|i| self.in_tangle[*i as usize]);
        let pressing = |c: &Contact| c.presses() && !tangled(c);
        shares.fill(0.0);
        contacts.iter().filter(|c| pressing(c)).for_each(|c| c.share(&mut shares));
        let setting = self.setting(at);
        couplings.clear();
        for contact in &mut contacts {
            if pressing(contact) {
                couplings.push(setting.couple(contact, x, &shares));
            } else {
                contact.uncouple();
            }
        }
        (self.contacts, self.shares) = (contacts, shares);
    }

    /// Finds what cloth does to cloth on the way from `before` to `state`, where a method wants to go, and
    /// whether its solve has `converged`. True if that differs from what the method was told: the step is to be solved again.
    pub fn judge(
        &mut self,
        at: &Moment<'_>,
        before: &State,
        state: &State,
        converged: bool,
    ) -> bool {
        self.end.copy_from_slice(&state.x);
        if !std::mem::replace(&mut self.is_searched, true) {
            self.asked.fill(true);
            self.search(at, &before.x);
        }
        self.changes.fill(Vec3::ZERO);
        if self.flooded {
            return false;
        }
        let mut contacts = std::mem::take(&mut self.contacts);
        let setting = self.setting(at);
        // What a solve cut short would give is anything.
        let mut pulled = 0.0f32;
        if converged {
            for contact in &mut contacts {
                pulled = pulled.max(contact.take(&before.x, &self.end, at.h));
            }
        }
        contacts.retain(Contact::presses);
        let known = contacts.len();
        for pair in &self.pairs {
            let key = (pair.corners, pair.kind.split() as u8);
            if contacts[..known].binary_search_by_key(&key, Contact::key).is_err() {
                contacts.extend(setting.contact(pair, &before.x, &self.end));
            }
        }
        contacts.sort_unstable_by_key(Contact::key);
        let h = at.h;
        let mut u = std::mem::take(&mut self.end);
        u.iter_mut().zip(&before.x).for_each(|(u, x)| *u = (*u - *x) / h);
        self.changes.copy_from_slice(&u);
        self.setting(at).solve(&mut contacts, &mut u);
        let mut most = 0.0f32;
        for (change, u) in self.changes.iter_mut().zip(&u) {
            *change = *u - *change;
            most = most.max(change.length_squared());
        }
        (self.contacts, self.end) = (contacts, u);
        most.sqrt().max(pulled) * h > (CLOSE * self.thickness) as f32
    }

    /// Changes velocities by what [`Self::judge`] found and nobody was told, and remembers what pressed.
    pub fn respond(&mut self, state: &mut State) {
        self.count = Count::default();
        state.presses.clear();
        if self.flooded {
            return;
        }
        state.v.iter_mut().zip(&self.changes).for_each(|(v, change)| *v += *change);
        state.presses.extend(self.contacts.iter().filter_map(Contact::press));
        self.count.contacts = state.presses.len();
    }

    fn setting<'a>(&'a self, at: &Moment<'a>) -> Setting<'a> {
        Setting {
            model: at.model,
            free: at.free,
            support: &self.support,
            thickness: self.thickness,
            friction: self.friction,
            h: at.h,
        }
    }

    /// Which way bodies hold particles.
    fn find_support(&mut self, model: &Model, bodies: &Contacts, before: &State) {
        self.support.fill(Vec3::ZERO);
        for touch in &before.touches {
            let (i, c) = (touch.particle as usize, touch.collider as usize);
            self.support[i] = bodies.away(model, c, before.x[i]);
        }
    }

    /// Forgets the pairs that have a particle which is asked for.
    fn forget(&mut self) {
        self.until.resize(self.pairs.len(), 0.0);
        let mut kept = 0;
        for k in 0..self.pairs.len() {
            if !self.pairs[k].corners.iter().any(|c| self.asked[*c as usize]) {
                (self.pairs[kept], self.until[kept]) = (self.pairs[k], self.until[k]);
                kept += 1;
            }
        }
        self.pairs.truncate(kept);
        self.until.truncate(kept);
    }

    /// Finds the pairs that have a particle which is asked for.
    fn search(&mut self, at: &Moment<'_>, x: &[Vec3]) {
        self.forget();
        let triangles = &at.model.triangles;
        let Self { open, closed, asked, end, .. } = self;
        at.par.blocks(open, |block, open| {
            for (k, open) in open.iter_mut().enumerate() {
                let i = block * BLOCK + k;
                if closed[i] && asked[i] {
                    *open = star::stays_open(at.model, i, x, end);
                }
            }
        });
        let asked = &self.asked;
        self.tree.fit(triangles, x, &self.end, |c| asked[c as usize]);
        let mut tasks = std::mem::take(&mut self.tasks);
        let most = MANY_PAIRS.max(MOST_PAIRS * x.len());
        let near = Near { of: self, model: at.model, x, reach: (1.0 + MARGIN) * self.thickness };
        // One task that has too many ends all: the step is undone whatever the others find.
        let flooded = AtomicBool::new(false);
        at.par.each(&mut tasks, |task, found| {
            found.clear();
            near.of.tree.pairs(task, near.reach as f32, |a, b| {
                near.add(a, b, found);
                if found.len() >= most {
                    flooded.store(true, Relaxed);
                }
                !flooded.load(Relaxed)
            });
        });
        self.flooded = flooded.into_inner();
        tasks.iter().for_each(|found| self.pairs.extend_from_slice(found));
        self.tasks = tasks;
        for (i, searched) in self.searched.iter_mut().enumerate() {
            if self.asked[i] {
                *searched = self.end[i];
            }
        }
    }

    /// Ends the step: particles go from `before` towards `state`, held ones to their places, as far as
    /// nobody crosses anybody.
    pub fn keep_apart(
        &mut self,
        at: &Moment<'_>,
        held: &[Hold],
        before: &State,
        state: &mut State,
    ) {
        let x = &before.x;
        let least = self.least(x);
        held.iter().for_each(|hold| state.x[hold.particle] = hold.target);
        self.end.copy_from_slice(&state.x);
        self.share.fill(1.0);
        self.next_share.fill(1.0);
        for (i, changed) in self.changed.iter_mut().enumerate() {
            *changed = self.end[i] != self.searched[i];
        }
        for round in 0..=MOST_ROUNDS {
            self.search_again(at, x);
            if self.flooded {
                return;
            }
            self.look(at, x, least, round == 0);
            self.changed.fill(false);
            if self.until.iter().all(|until| *until >= 1.0) {
                break;
            }
            if round < GENTLE_ROUNDS {
                self.part(at, x);
                continue;
            }
            if round == GENTLE_ROUNDS {
                state.x.copy_from_slice(&self.end);
            }
            self.shorten(round < FIRM_ROUNDS);
            if round == MOST_ROUNDS {
                // Where everyone is, nobody meets anybody.
                self.share.fill(0.0);
            }
            for i in 0..x.len() {
                self.end[i] = x[i] + self.share[i] * (state.x[i] - x[i]);
            }
        }
        self.stop(at, state);
        if !self.entangled.is_empty() {
            self.find_entangled(at.model, &state.x);
        }
    }

    /// Moves the ends of pairs that may meet apart, along the line on which they do.
    fn part(&mut self, at: &Moment<'_>, x: &[Vec3]) {
        for (pair, until) in self.pairs.iter().zip(&self.until) {
            if *until >= 1.0 {
                continue;
            }
            let (weights, push) = pair.parting(x, &self.end, *until, self.thickness);
            let corners = pair.corners.map(|c| c as usize);
            let inverse = corners.map(|i| f64::from(at.free[i] / at.model.mass[i]));
            let mobility: f64 = (0..4).map(|k| inverse[k] * weights[k] * weights[k]).sum();
            if mobility == 0.0 {
                continue;
            }
            for (k, i) in corners.into_iter().enumerate() {
                self.end[i] += (inverse[k] * weights[k] / mobility * push).as_vec3();
                self.changed[i] |= inverse[k] > 0.0;
            }
        }
    }

    /// The distance that is always kept. [m]
    fn least(&self, x: &[Vec3]) -> f64 {
        let largest = x.iter().fold(0.0f32, |m, x| m.max(x.abs().max_element()));
        (LEAST * self.thickness).max(LEAST_OF_PLACE * f64::from(largest))
    }

    /// Searches around particles that end elsewhere than they were searched for, or no longer lie open.
    fn search_again(&mut self, at: &Moment<'_>, x: &[Vec3]) {
        let far = (0.5 * MARGIN * self.thickness) as f32;
        for (i, asked) in self.asked.iter_mut().enumerate() {
            *asked = self.changed[i] && self.end[i].distance(self.searched[i]) > far;
        }
        let model = at.model;
        let neighbours = |i: usize| {
            let members = model.triangle_members.of(i).iter();
            members.flat_map(|member| model.triangles[member.item as usize])
        };
        for i in 0..x.len() {
            let moved = |i: usize| neighbours(i).any(|c| self.changed[c as usize]);
            if self.open[i] && moved(i) && !star::stays_open(model, i, x, &self.end) {
                neighbours(i).for_each(|c| self.asked[c as usize] = true);
            }
        }
        if self.asked.contains(&true) {
            self.search(at, x);
        }
    }

    /// Sets until when each pair certainly stays apart.
    fn look(&mut self, at: &Moment<'_>, x: &[Vec3], least: f64, everyone: bool) {
        // New pairs, and those that failed, are looked at in any case.
        self.until.resize(self.pairs.len(), 0.0);
        let Self { until, pairs, changed, end, .. } = self;
        at.par.blocks(until, |block, until| {
            for (k, until) in until.iter_mut().enumerate() {
                let pair = &pairs[block * BLOCK + k];
                let moved = || pair.corners.iter().any(|c| changed[*c as usize]);
                if everyone || *until < 1.0 || moved() {
                    *until = pair.stays_apart(x, end, least);
                }
            }
        });
    }

    /// Shortens the ways of all corners of pairs that may meet, to nothing unless `gently`.
    fn shorten(&mut self, gently: bool) {
        for (pair, until) in self.pairs.iter().zip(&self.until) {
            for i in pair.corners.iter().filter(|_| *until < 1.0).map(|c| *c as usize) {
                let shorter = if gently { until * self.share[i] } else { 0.0 };
                self.next_share[i] = self.next_share[i].min(shorter);
                self.changed[i] = true;
            }
        }
        self.share.copy_from_slice(&self.next_share);
    }

    /// Puts particles where they end. The impulses of the step have seen to velocities; who was stopped
    /// on its way loses that much of its own.
    fn stop(&mut self, at: &Moment<'_>, state: &mut State) {
        state.x.copy_from_slice(&self.end);
        for (i, share) in self.share.iter().enumerate().filter(|(_, share)| **share < 1.0) {
            state.v[i] *= *share;
            self.count.stopped += 1;
            self.count.held_back += usize::from(at.free[i] == 0.0);
        }
    }
}

impl Pair {
    /// The weights by which ends are moved apart, and the move: so much that half of the distance within
    /// the thickness is left; for those that meet on the way, so that they go as far as they did by then.
    fn parting(&self, x: &[Vec3], end: &[Vec3], until: f32, thickness: f64) -> ([f64; 4], DVec3) {
        let from = self.corners.map(|c| x[c as usize].as_dvec3());
        let d: [DVec3; 4] =
            std::array::from_fn(|i| end[self.corners[i] as usize].as_dvec3() - from[i]);
        let (near, time) = (self.near, f64::from(until));
        let moved = |near: &Nearest| near.direction.dot(pair::apply(near.weights, d));
        if near.gap <= thickness {
            let missing = -0.5 * near.gap - moved(&near);
            return (near.weights, missing.max(0.0) * near.direction);
        }
        let then = pair::nearest(self.kind, std::array::from_fn(|i| from[i] + time * d[i]));
        let missing = (time - 1.0) * moved(&then);
        (then.weights, missing.max(0.0) * then.direction)
    }

    /// The share of the step for which the pair certainly stays apart, 1 for all of it.
    fn stays_apart(&self, x: &[Vec3], end: &[Vec3], least: f64) -> f32 {
        let from = self.corners.map(|c| x[c as usize].as_dvec3());
        let to = self.corners.map(|c| end[c as usize].as_dvec3());
        let d: [DVec3; 4] = std::array::from_fn(|i| to[i] - from[i]);
        let Nearest { gap, direction: n, .. } = self.near;
        let motion = pair::relative_motion(self.kind, d);
        if motion == 0.0 || gap - least > motion {
            return 1.0;
        }
        // The same plane between them at both ends is between them all the way.
        let (first, second) = to.split_at(self.kind.split());
        let lowest = first.iter().map(|p| n.dot(*p)).fold(f64::INFINITY, f64::min);
        let highest = second.iter().map(|p| n.dot(*p)).fold(f64::NEG_INFINITY, f64::max);
        if gap > 0.0 && lowest - highest >= (1.0 - ROUNDING) * gap.min(least) {
            return 1.0;
        }
        pair::first_meeting(self.kind, from, d, least).map_or(1.0, |time| time as f32)
    }
}
