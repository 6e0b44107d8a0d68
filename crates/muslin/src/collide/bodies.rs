//! Bodies during one step, and where a particle's path meets them.

use super::{shape, sweep};
use crate::model::{Collider, Pose};
use glam::{DVec3, Vec3};

/// Closer to the surface than this share of the thickness is on it.
const CLOSE: f64 = 1e-3;

/// How far cloth found inside a body is pushed out in one step, in thicknesses.
const PUSH: f64 = 0.5;

/// Bodies during one step.
pub(super) struct Bodies<'a> {
    pub colliders: &'a [Collider],
    pub from: &'a [Pose],
    pub to: &'a [Pose],
    pub h: f64,
}

/// Where a path meets a body, in the world at the end of the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// Away from the body.
    pub normal: DVec3,
    /// A point of the plane. [m]
    pub place: DVec3,
    /// Where the body's material goes that is met. [m/s]
    pub carry: DVec3,
    /// Where it is met, in the body's coordinates. [m]
    pub own: DVec3,
    /// How far inside the particle starts. [m]
    pub depth: f64,
}

impl Bodies<'_> {
    /// Closer than this is on the surface.
    pub fn close(&self, c: usize, x: DVec3) -> f64 {
        // Positions far from the origin are rounded.
        (CLOSE * self.colliders[c].thickness).max(4e-7 * x.abs().max_element())
    }

    /// Whether a path may meet any body.
    pub fn any_near(&self, x0: Vec3, x1: Vec3) -> bool {
        let (x0, x1) = (x0.as_dvec3(), x1.as_dvec3());
        (0..self.colliders.len()).any(|c| {
            let (own0, own1) = (self.from[c].to_own(x0), self.to[c].to_own(x1));
            let gap = shape::distance(&self.colliders[c].shape, own0).0;
            gap <= own0.distance(own1) + 2.0 * self.colliders[c].thickness
        })
    }

    /// Whether a path that starts on a sheet leads to its other side, where distances grow again.
    fn crosses(&self, c: usize, own0: DVec3, own1: DVec3) -> bool {
        let shape = &self.colliders[c].shape;
        shape::is_open(shape) && shape::distance(shape, own0).1.dot(own1 - own0) < 0.0
    }

    pub fn gap(&self, c: usize, own: DVec3) -> f64 {
        shape::distance(&self.colliders[c].shape, own).0 - self.colliders[c].thickness
    }

    /// Where the path from x0 to x1 meets body `c`. One that starts on the surface does so if it
    /// `stays` or goes inward.
    pub fn meeting(&self, c: usize, x0: DVec3, x1: DVec3, stays: bool) -> Option<Meeting> {
        let Collider { shape, thickness, .. } = &self.colliders[c];
        let (own0, own1) = (self.from[c].to_own(x0), self.to[c].to_own(x1));
        let (gap, close) = (self.gap(c, own0), self.close(c, x0));
        let own = if gap > close {
            sweep::first_hit(shape, *thickness, close, own0, own1)?
        } else if stays || gap < -close || self.gap(c, own1) < gap || self.crosses(c, own0, own1) {
            own0
        } else {
            return None;
        };
        let (d, n) = shape::distance(shape, own);
        let depth = (-gap).max(0.0);
        // What starts deep inside is brought out a little at a time.
        let out = (thickness - d).min(PUSH * thickness);
        Some(Meeting {
            normal: self.to[c].rotation * n,
            place: self.to[c].to_world(own + out * n),
            carry: (self.to[c].to_world(own) - self.from[c].to_world(own)) / self.h,
            own,
            depth: if depth > close { depth } else { 0.0 },
        })
    }
}
