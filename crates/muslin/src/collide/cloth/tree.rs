//! The triangles of all cloths in a tree of boxes, and the pairs of triangles that come near each other.
//!
//! A node holds the box of its corners at the start of the step and the box of their motions. Two nodes
//! can meet only if the box of one, moved by the range of the *relative* motion, meets the other:
//!
//! ```text
//!   lo_A + min(0, dlo_A − dhi_B) − r ≤ hi_B   and   hi_A + max(0, dhi_A − dlo_B) + r ≥ lo_B   on every axis
//! ```
//!
//! so what moves along together costs nothing, however fast. The tree is built once, over the start; its
//! boxes are fitted anew in every step.

use crate::model::Model;
use glam::{Vec3, Vec3A};
use std::ops::Range;

/// Subtrees between which the search is cut into tasks.
const TASKS: usize = 64;

/// A box of places and a box of motions. [m]
#[derive(Clone, Copy, Debug)]
pub(super) struct Swept {
    lo: Vec3A,
    hi: Vec3A,
    motion_lo: Vec3A,
    motion_hi: Vec3A,
}

impl Swept {
    /// Of one corner.
    #[inline(always)]
    pub fn of(corner: u32, x: &[Vec3], end: &[Vec3]) -> Self {
        let at = x[corner as usize];
        let motion = Vec3A::from(end[corner as usize] - at);
        let at = Vec3A::from(at);
        Self { lo: at, hi: at, motion_lo: motion, motion_hi: motion }
    }

    #[inline(always)]
    pub fn with(self, other: Self) -> Self {
        Self {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            motion_lo: self.motion_lo.min(other.motion_lo),
            motion_hi: self.motion_hi.max(other.motion_hi),
        }
    }

    /// Whether the two may come nearer than `reach` on each axis.
    #[inline(always)]
    pub fn meets(&self, other: &Self, reach: Vec3A) -> bool {
        let lo = self.lo + (self.motion_lo - other.motion_hi).min(Vec3A::ZERO) - reach;
        let hi = self.hi + (self.motion_hi - other.motion_lo).max(Vec3A::ZERO) + reach;
        (lo.cmple(other.hi) & hi.cmpge(other.lo)).all()
    }
}

/// A leaf holds one triangle; the left child of an inner node is the next node.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Right child of an inner node, triangle of a leaf.
    item: u32,
    is_leaf: bool,
    /// Has a corner that is to be looked at.
    asked: bool,
    swept: Swept,
}

/// See the header.
#[derive(Default)]
pub(super) struct Tree {
    /// Parents before their children.
    nodes: Vec<Node>,
    /// Roots of the subtrees that tasks start from.
    tops: Vec<u32>,
}

impl Tree {
    pub fn new(model: &Model) -> Self {
        let x = &model.start_x;
        let middle =
            |t: u32| model.triangles[t as usize].iter().map(|c| x[*c as usize]).sum::<Vec3>();
        let mut order: Vec<u32> = (0..model.triangles.len() as u32).collect();
        let mut tree = Self::default();
        if !order.is_empty() {
            let middles: Vec<Vec3> = order.iter().map(|t| middle(*t)).collect();
            let all = 0..order.len();
            tree.add(&mut order, all, &middles);
            tree.find_tops();
        }
        tree
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.tops.len()
    }

    /// Adds the subtree over a range of triangles, halved along the longest side.
    fn add(&mut self, order: &mut [u32], range: Range<usize>, middles: &[Vec3]) {
        let swept = Swept {
            lo: Vec3A::ZERO,
            hi: Vec3A::ZERO,
            motion_lo: Vec3A::ZERO,
            motion_hi: Vec3A::ZERO,
        };
        let own = self.nodes.len();
        let item = order[range.start];
        self.nodes.push(Node { item, is_leaf: range.len() == 1, asked: true, swept });
        if range.len() == 1 {
            return;
        }
        let of = |t: &u32| middles[*t as usize];
        let lo = order[range.clone()].iter().map(of).fold(Vec3::INFINITY, Vec3::min);
        let hi = order[range.clone()].iter().map(of).fold(Vec3::NEG_INFINITY, Vec3::max);
        let axis = (hi - lo).max_position();
        let half = range.len() / 2;
        order[range.clone()].select_nth_unstable_by(half, |a, b| {
            of(a)[axis].total_cmp(&of(b)[axis]).then(a.cmp(b))
        });
        self.add(order, range.start..range.start + half, middles);
        self.nodes[own].item = self.nodes.len() as u32;
        self.add(order, range.start + half..range.end, middles);
    }

    /// The subtrees that halving gives until there are enough.
    fn find_tops(&mut self) {
        self.tops = vec![0];
        while self.tops.len() < TASKS {
            let halves: Vec<u32> = (self.tops.iter())
                .flat_map(|&top| {
                    let node = self.nodes[top as usize];
                    if node.is_leaf { vec![top] } else { vec![top + 1, node.item] }
                })
                .collect();
            if halves.len() == self.tops.len() {
                break;
            }
            self.tops = halves;
        }
    }

    /// Fits the boxes to a step; `asked` says which particles are to be looked at.
    pub fn fit(
        &mut self,
        triangles: &[[u32; 3]],
        x: &[Vec3],
        end: &[Vec3],
        asked: impl Fn(u32) -> bool,
    ) {
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            let (swept, asked) = if node.is_leaf {
                let corners = triangles[node.item as usize];
                let [a, b, c] = corners.map(|c| Swept::of(c, x, end));
                (a.with(b).with(c), corners.iter().any(|c| asked(*c)))
            } else {
                let (left, right) = (&self.nodes[index + 1], &self.nodes[node.item as usize]);
                (left.swept.with(right.swept), left.asked | right.asked)
            };
            self.nodes[index] = Node { swept, asked, ..node };
        }
    }

    /// Calls `found(a, b)` for the pairs of triangles of one task that may come nearer than `reach`, one
    /// of which is to be looked at: each pair in exactly one task, in an order of its own. Ends when
    /// `found` says that it has enough.
    pub fn pairs(&self, task: usize, reach: f32, mut found: impl FnMut(u32, u32) -> bool) {
        let reach = Vec3A::splat(reach);
        let top = self.tops[task];
        // Depth of the tree times two.
        let mut stack = [(0u32, 0u32); 128];
        for &other in &self.tops[task..] {
            let mut height = 1;
            stack[0] = (top, other);
            while height > 0 {
                height -= 1;
                let (a, b) = stack[height];
                let (left, right) = (&self.nodes[a as usize], &self.nodes[b as usize]);
                if !(left.asked | right.asked) {
                    continue;
                }
                let mut push = |pair| {
                    stack[height] = pair;
                    height += 1;
                };
                if a == b {
                    if !left.is_leaf {
                        let (one, two) = (a + 1, left.item);
                        push((one, two));
                        push((two, two));
                        push((one, one));
                    }
                    continue;
                }
                if !left.swept.meets(&right.swept, reach) {
                    continue;
                }
                match (left.is_leaf, right.is_leaf) {
                    (true, true) => {
                        if !found(left.item, right.item) {
                            return;
                        }
                    }
                    (false, true) => {
                        push((left.item, b));
                        push((a + 1, b));
                    }
                    (true, false) => {
                        push((a, right.item));
                        push((a, b + 1));
                    }
                    (false, false) => {
                        push((left.item, right.item));
                        push((left.item, b + 1));
                        push((a + 1, right.item));
                        push((a + 1, b + 1));
                    }
                }
            }
        }
    }
}
