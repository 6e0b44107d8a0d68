//! Pairs of primitives of two triangles that may come near each other.

use super::pair::{self, Kind};
use super::tree::Swept;
use super::{Pair, SelfContact};
use crate::model::Model;
use glam::{Vec3, Vec3A};

/// Makes pairs of primitives of pairs of triangles.
pub(super) struct Near<'a> {
    pub of: &'a SelfContact,
    pub model: &'a Model,
    /// Where particles are. [m]
    pub x: &'a [Vec3],
    /// Pairs that come nearer than this are wanted. [m]
    pub reach: f64,
}

impl Near<'_> {
    pub fn add(&self, a: u32, b: u32, found: &mut Vec<Pair>) {
        let [first, second] = [a, b].map(|t| self.model.triangles[t as usize]);
        let mut shared = first.iter().filter(|c| second.contains(c)).peekable();
        if shared.peek().is_none() {
            if self.far(first, second) {
                return;
            }
        } else if shared.any(|c| self.of.open[*c as usize]) {
            return;
        }
        let owned = [a, b].map(|t| self.of.owned[t as usize]);
        let reach = Vec3A::splat(self.reach as f32);
        let boxes = [first, second].map(|t| t.map(|c| Swept::of(c, self.x, &self.of.end)));
        for (one, other) in [(0, 1), (1, 0)] {
            let (corners, others) = ([first, second][one], [first, second][other]);
            let [p, q, r] = boxes[other];
            let around = p.with(q).with(r);
            for k in (0..3).filter(|k| owned[one] & (1 << k) != 0) {
                if boxes[one][k].meets(&around, reach) && !others.contains(&corners[k]) {
                    let corners = [corners[k], others[0], others[1], others[2]];
                    self.add_pair(Kind::VertexTriangle, corners, owned[other], found);
                }
            }
        }
        let sides = boxes.map(|[p, q, r]| [p.with(q), q.with(r), r.with(p)]);
        for k in (0..3).filter(|k| owned[0] & (8 << k) != 0) {
            let [p, q] = [first[k], first[(k + 1) % 3]];
            for l in (0..3).filter(|l| owned[1] & (8 << l) != 0) {
                let [r, s] = [second[l], second[(l + 1) % 3]];
                let apart = p != r && p != s && q != r && q != s;
                if apart && sides[0][k].meets(&sides[1][l], reach) {
                    self.add_pair(Kind::EdgeEdge, [p, q, r, s], 0, found);
                }
            }
        }
    }

    /// Whether a plane across the line between their middles keeps two triangles apart.
    fn far(&self, first: [u32; 3], second: [u32; 3]) -> bool {
        let (x, end) = (self.x, &self.of.end);
        let middle = |t: [u32; 3]| t.iter().map(|c| x[*c as usize]).sum::<Vec3>();
        let across = middle(first) - middle(second);
        let between = |at: &[Vec3]| {
            let lowest = first.map(|c| across.dot(at[c as usize]));
            let highest = second.map(|c| across.dot(at[c as usize]));
            lowest[0].min(lowest[1]).min(lowest[2]) - highest[0].max(highest[1]).max(highest[2])
        };
        let reach = self.reach as f32 * across.length();
        between(x) > reach && between(end) > reach
    }

    /// `owned`: what the triangle of a vertex and a triangle stands for.
    fn add_pair(&self, kind: Kind, corners: [u32; 4], owned: u8, found: &mut Vec<Pair>) {
        let asked = corners.iter().any(|c| self.of.asked[*c as usize]);
        if !asked || self.in_tangle(kind, corners) {
            return;
        }
        let at = corners.map(|c| self.x[c as usize].as_dvec3());
        let d = std::array::from_fn(|i| self.of.end[corners[i] as usize].as_dvec3() - at[i]);
        let near = pair::nearest(kind, at);
        if near.gap <= pair::relative_motion(kind, d) + self.reach {
            let again = is_again(kind, near.weights, owned);
            found.push(Pair { kind, corners, near, again });
        }
    }

    /// Whether the primitives belong to triangles that cross.
    fn in_tangle(&self, kind: Kind, corners: [u32; 4]) -> bool {
        if self.of.entangled.is_empty() || !corners.iter().any(|c| self.of.in_tangle[*c as usize]) {
            return false;
        }
        let (first, second) = corners.split_at(kind.split());
        let having = |corners: &[u32]| -> Vec<u32> {
            let members = self.model.triangle_members.of(corners[0] as usize).iter();
            let has = |t: u32| corners.iter().all(|c| self.model.triangles[t as usize].contains(c));
            members.map(|m| m.item).filter(|t| has(*t)).collect()
        };
        let (first, second) = (having(first), having(second));
        first.iter().any(|a| {
            let crosses =
                |b: &u32| self.of.entangled.binary_search(&[*a.min(b), *a.max(b)]).is_ok();
            second.iter().any(crosses)
        })
    }
}

/// See [`Pair::again`].
fn is_again(kind: Kind, weights: [f64; 4], owned: u8) -> bool {
    if kind == Kind::EdgeEdge {
        return weights.contains(&0.0);
    }
    let on = [weights[1] != 0.0, weights[2] != 0.0, weights[3] != 0.0];
    let stands_for = match on {
        [true, true, true] => return false,
        [true, true, false] => 8,
        [false, true, true] => 8 << 1,
        [true, false, true] => 8 << 2,
        [true, false, false] => 1,
        [false, true, false] => 1 << 1,
        _ => 1 << 2,
    };
    owned & stands_for == 0
}

/// Gives each vertex and each edge to the first triangle that has it.
pub(super) fn owned(model: &Model) -> Vec<u8> {
    let has = |t: u32, end: u32| model.triangles[t as usize].contains(&end);
    let first_with = |ends: [u32; 2]| {
        let members = model.triangle_members.of(ends[0] as usize);
        members.iter().map(|m| m.item).find(|t| has(*t, ends[1]))
    };
    (model.triangles.iter().zip(0u32..))
        .map(|(corners, t)| {
            (0..3).fold(0, |bits, k| {
                let vertex = u8::from(first_with([corners[k]; 2]) == Some(t));
                let side = u8::from(first_with([corners[k], corners[(k + 1) % 3]]) == Some(t));
                bits | vertex << k | side << (3 + k)
            })
        })
        .collect()
}
