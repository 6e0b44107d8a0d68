//! The surface of a character during one step: distances, and where a moving point first meets it.
//!
//! In the body's coordinates vertices go evenly from where they are at the start of the step to where they
//! are at its end, at time s of the step from + s (to − from). A node of the tree has the box of both
//! ends, which holds all times between, so the same tree answers for every s.
//!
//! A place on the surface is a triangle (a, b, c) and (u, v, w):
//!
//! ```text
//!   p = a + u (b − a) + v (c − a) + w n        n the triangle's unit normal
//! ```
//!
//! and goes with the triangle. So the velocity of the surface there is the difference of its places at
//! both ends over the length of the step, bending and stretching included.
//!
//! A point that goes evenly from p₀ to p₁ moves relative to any point of a triangle by at most
//! max_k |p₁ − p₀ − (to_k − from_k)|. With d its distance, d over that of the step is free: conservative
//! advancement as in `sweep.rs`, triangle by triangle. Whether a point is inside is told by the
//! angle-weighted normals of the faces, edges and corners (Bærentzen & Aanæs 2005), as they are at s.

use super::face::nearest_to_origin;
use crate::mesh::incidence::Member;
use crate::model::{Character, Facets};
use glam::{DAffine3, DMat3, DVec3, dvec3};
use std::sync::Arc;

/// Advances at most; a path that still has not decided then grazes the triangle and counts as a hit.
const ADVANCES: usize = 100;

/// Closer than this the direction is that of the face's normal. [m]
const ON_IT: f64 = 1e-9;

/// Deeper trees than this do not fit into memory.
const DEPTH: usize = 64;

/// A place that goes with a body's surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spot {
    /// In the body's coordinates; of a character (u, v, w). [m]
    pub at: DVec3,
    /// The triangle of a character.
    pub triangle: u32,
}

/// A point of the surface as seen from a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub triangle: u32,
    /// Negative inside. [m]
    pub distance: f64,
    /// Away from the body.
    pub normal: DVec3,
}

/// A character during a step.
pub struct Skinned {
    facets: Arc<Facets>,
    from: Vec<DVec3>,
    to: Vec<DVec3>,
    /// Of each node.
    boxes: Vec<[DVec3; 2]>,
    /// How far the fastest vertex goes. [m]
    fastest: f64,
    matrices: Vec<DAffine3>,
    /// The time that `to` belongs to.
    ends: f64,
}

impl Skinned {
    /// A compiled character at a time, not moving.
    pub fn new(character: &Character, time: f64) -> Option<Self> {
        let facets = Arc::clone(character.skin.facets()?);
        let to = character.vertices_at(time);
        let mut skinned = Self {
            boxes: vec![[DVec3::ZERO; 2]; facets.nodes.len()],
            matrices: Vec::with_capacity(character.bones.len()),
            from: to.clone(),
            fastest: 0.0,
            ends: time,
            to,
            facets,
        };
        skinned.fit();
        Some(skinned)
    }

    /// The step from one time to another.
    pub fn follow(&mut self, character: &Character, from: f64, to: f64) {
        if self.ends == from {
            std::mem::swap(&mut self.from, &mut self.to);
        } else {
            character.place(from, &mut self.matrices, &mut self.from);
        }
        character.place(to, &mut self.matrices, &mut self.to);
        self.ends = to;
        self.fit();
    }

    /// Fits the boxes to both ends of the step, children first.
    fn fit(&mut self) {
        let Self { facets, from, to, boxes, .. } = self;
        for (i, node) in facets.nodes.iter().enumerate().rev() {
            boxes[i] = if node.count == 0 {
                let ([a, b], [c, d]) = (boxes[i + 1], boxes[node.right as usize]);
                [a.min(c), b.max(d)]
            } else {
                let triangles = &facets.order[node.first as usize..][..node.count as usize];
                let corners = triangles.iter().flat_map(|t| facets.triangles[*t as usize]);
                let empty = [DVec3::INFINITY, DVec3::NEG_INFINITY];
                corners.map(|k| k as usize).fold(empty, |[low, high], k| {
                    [low.min(from[k]).min(to[k]), high.max(from[k]).max(to[k])]
                })
            };
        }
        let ways = from.iter().zip(to.iter()).map(|(a, b)| a.distance_squared(*b));
        self.fastest = ways.fold(0.0, f64::max).sqrt();
    }

    /// How far the fastest vertex goes in the step. [m]
    pub(super) fn fastest(&self) -> f64 {
        self.fastest
    }

    fn corners(&self, triangle: u32, s: f64) -> [DVec3; 3] {
        let corner = |k: u32| self.from[k as usize].lerp(self.to[k as usize], s);
        self.facets.triangles[triangle as usize].map(corner)
    }

    /// The nearest point of the surface at time s.
    pub(super) fn nearest(&self, p: DVec3, s: f64) -> Seen {
        let (mut best, mut found) = (f64::INFINITY, (0, [1.0, 0.0, 0.0], DVec3::ZERO));
        let mut stack = [(0u32, 0.0f64); DEPTH];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let (i, bound) = stack[height];
            if bound >= best {
                continue;
            }
            let node = self.facets.nodes[i as usize];
            for &t in &self.facets.order[node.first as usize..][..node.count as usize] {
                let at = self.corners(t, s).map(|corner| corner - p);
                let shares = nearest_to_origin(at);
                let to_it = shares[0] * at[0] + shares[1] * at[1] + shares[2] * at[2];
                if to_it.length_squared() < best {
                    (best, found) = (to_it.length_squared(), (t, shares, -to_it));
                }
            }
            if node.count == 0 {
                let off = |i: u32| {
                    let [low, high] = self.boxes[i as usize];
                    (i, (p - p.clamp(low, high)).length_squared())
                };
                let (left, right) = (off(i + 1), off(node.right));
                let (near, far) = if left.1 <= right.1 { (left, right) } else { (right, left) };
                (stack[height], stack[height + 1]) = (far, near);
                height += 2;
            }
        }
        let (triangle, shares, away) = found;
        let d = best.sqrt();
        let outward = self.normal_at(triangle, shares, s);
        let inside = self.facets.closed && away.dot(outward) < 0.0;
        let sign = if inside { -1.0 } else { 1.0 };
        let normal = if d > ON_IT { sign * away / d } else { self.face_normal(triangle, s) };
        Seen { triangle, distance: sign * d, normal }
    }

    fn face_normal(&self, triangle: u32, s: f64) -> DVec3 {
        let [a, b, c] = self.corners(triangle, s);
        (b - a).cross(c - a).normalize_or(DVec3::Y)
    }

    /// The angle-weighted normal at a point of a triangle: of its face, an edge or a corner.
    fn normal_at(&self, triangle: u32, shares: [f64; 3], s: f64) -> DVec3 {
        let own = self.face_normal(triangle, s);
        if let Some(k) = shares.iter().position(|share| *share == 1.0) {
            let vertex = self.facets.triangles[triangle as usize][k];
            let of_face = |member: &Member| {
                let at = self.corners(member.item, s);
                let k = member.slot as usize;
                let (a, b) = (at[(k + 1) % 3] - at[k], at[(k + 2) % 3] - at[k]);
                let normal = a.cross(b);
                libm::atan2(normal.length(), a.dot(b)) * normal.normalize_or_zero()
            };
            return self.facets.members.of(vertex as usize).iter().map(of_face).sum();
        }
        match shares.iter().position(|share| *share == 0.0) {
            // The edge across from corner k goes from the next one.
            Some(k) => {
                let other = self.facets.across[triangle as usize][(k + 1) % 3];
                own + self.face_normal(other, s)
            }
            None => own,
        }
    }

    /// When the way from p0 to p1 first comes within `reach` of the surface, and what it meets there.
    /// `close` is the distance from `reach` at which it has arrived; it starts further away.
    pub(super) fn first_hit(
        &self,
        [p0, p1]: [DVec3; 2],
        reach: f64,
        close: f64,
    ) -> Option<(f64, Seen)> {
        let grown = DVec3::splat(reach + close);
        let (low, high) = (p0.min(p1) - grown, p0.max(p1) + grown);
        let mut first: Option<(f64, Seen)> = None;
        let mut stack = [0u32; DEPTH];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let i = stack[height];
            let [node_low, node_high] = self.boxes[i as usize];
            if !(low.cmple(node_high) & high.cmpge(node_low)).all() {
                continue;
            }
            let node = self.facets.nodes[i as usize];
            for &t in &self.facets.order[node.first as usize..][..node.count as usize] {
                let before = first.map_or(1.0, |(s, _)| s);
                first = self.hit_triangle(t, [p0, p1], [reach, close], before).or(first);
            }
            if node.count == 0 {
                (stack[height], stack[height + 1]) = (node.right, i + 1);
                height += 2;
            }
        }
        first
    }

    /// When the way first comes within reach of a triangle, if that is before a time.
    fn hit_triangle(
        &self,
        triangle: u32,
        [p0, p1]: [DVec3; 2],
        [reach, close]: [f64; 2],
        before: f64,
    ) -> Option<(f64, Seen)> {
        let way = |k: u32| (p1 - p0 - (self.to[k as usize] - self.from[k as usize])).length();
        let ways = self.facets.triangles[triangle as usize].map(way);
        let fastest = ways[0].max(ways[1]).max(ways[2]);
        let (mut s, mut met) = (0.0, None);
        for _ in 0..ADVANCES {
            let p = p0.lerp(p1, s);
            let at = self.corners(triangle, s).map(|corner| corner - p);
            let shares = nearest_to_origin(at);
            let away = -(shares[0] * at[0] + shares[1] * at[1] + shares[2] * at[2]);
            let distance = away.length();
            let normal = away / distance.max(f64::MIN_POSITIVE);
            met = Some((s, Seen { triangle, distance, normal }));
            if distance - reach <= close {
                return met;
            }
            s += (distance - reach) / fastest;
            if s.is_nan() || s >= before {
                return None;
            }
        }
        met
    }

    /// The place of a point at time s that goes with a triangle.
    pub(super) fn spot(&self, triangle: u32, p: DVec3, s: f64) -> Spot {
        let [a, b, c] = self.corners(triangle, s);
        let (ab, ac, off) = (b - a, c - a, p - a);
        let normal = self.face_normal(triangle, s);
        // Least squares in the plane: u ab + v ac = off.
        let (bb, bc, cc) = (ab.dot(ab), ab.dot(ac), ac.dot(ac));
        let area = (bb * cc - bc * bc).max(f64::MIN_POSITIVE);
        let (x, y) = (off.dot(ab), off.dot(ac));
        let (u, v) = ((cc * x - bc * y) / area, (bb * y - bc * x) / area);
        Spot { at: dvec3(u, v, normal.dot(off)), triangle }
    }

    /// Where a place is at time s.
    pub(super) fn place(&self, spot: Spot, s: f64) -> DVec3 {
        let triangle = spot.triangle.min(self.facets.triangles.len() as u32 - 1);
        let [a, b, c] = self.corners(triangle, s);
        let Spot { at, .. } = spot;
        a + at.x * (b - a) + at.y * (c - a) + at.z * self.face_normal(triangle, s)
    }

    /// A direction at time s, turned as its triangle turns until the end of the step.
    pub(super) fn turn_to_end(&self, triangle: u32, direction: DVec3, s: f64) -> DVec3 {
        let frame = |s: f64| {
            let [a, b, _] = self.corners(triangle, s);
            let (along, normal) = ((b - a).normalize_or(DVec3::X), self.face_normal(triangle, s));
            DMat3::from_cols(along, normal.cross(along), normal)
        };
        (frame(1.0) * (frame(s).transpose() * direction)).normalize_or(direction)
    }

    /// The place on the surface nearest to a point, at the end of the step: its triangle and (u, v, w),
    /// for what is attached to it.
    pub fn attach(&self, p: DVec3) -> (u32, DVec3) {
        let seen = self.nearest(p, 1.0);
        (seen.triangle, self.spot(seen.triangle, p, 1.0).at)
    }

    /// Where what is attached is at the end of the step.
    pub fn attached(&self, triangle: u32, at: DVec3) -> DVec3 {
        self.place(Spot { at, triangle }, 1.0)
    }
}
