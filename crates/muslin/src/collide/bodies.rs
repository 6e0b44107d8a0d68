//! Bodies during one step, and where a particle's path meets them.

use super::skinned::{Seen, Skinned, Spot};
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
    /// Surfaces of the characters among them.
    pub skins: &'a [Option<Skinned>],
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
    /// Where it is met.
    pub own: Spot,
    /// How far inside the particle starts. [m]
    pub depth: f64,
}

impl Meeting {
    /// How far a point is behind the plane. [m]
    pub fn below(&self, x: DVec3) -> f64 {
        self.normal.dot(self.place - x)
    }
}

impl Bodies<'_> {
    /// Closer than this is on the surface.
    pub fn close(&self, c: usize, x: DVec3) -> f64 {
        // Positions far from the origin are rounded.
        (CLOSE * self.colliders[c].thickness).max(4e-7 * x.abs().max_element())
    }

    /// Whether the path of a particle may meet any body. `distances` are those of all particles from each
    /// character at the start of the step.
    pub fn any_near(&self, i: usize, distances: &[Vec<f64>], x0: Vec3, x1: Vec3) -> bool {
        let (x0, x1) = (x0.as_dvec3(), x1.as_dvec3());
        (0..self.colliders.len()).any(|c| {
            let (own0, own1) = (self.from[c].to_own(x0), self.to[c].to_own(x1));
            let (gap, way) = match &self.skins[c] {
                Some(skin) => (distances[c][i], skin.fastest()),
                None => (shape::distance(&self.colliders[c].shape, own0).0, 0.0),
            };
            gap <= own0.distance(own1) + way + 2.0 * self.colliders[c].thickness
        })
    }

    /// Whether a path that starts on a sheet leads to its other side, where distances grow again.
    fn crosses(&self, c: usize, own0: DVec3, own1: DVec3) -> bool {
        let shape = &self.colliders[c].shape;
        shape::is_open(shape) && shape::distance(shape, own0).1.dot(own1 - own0) < 0.0
    }

    /// How far a point is from where cloth is stopped, at the start of the step.
    pub fn gap_before(&self, c: usize, x: DVec3) -> f64 {
        self.gap(c, self.from[c].to_own(x), 0.0)
    }

    /// The same at the end of the step.
    pub fn gap_after(&self, c: usize, x: DVec3) -> f64 {
        self.gap(c, self.to[c].to_own(x), 1.0)
    }

    /// The same in the body's coordinates at time s of the step.
    fn gap(&self, c: usize, own: DVec3, s: f64) -> f64 {
        let distance = match &self.skins[c] {
            Some(skin) => skin.nearest(own, s).distance,
            None => shape::distance(&self.colliders[c].shape, own).0,
        };
        distance - self.colliders[c].thickness
    }

    /// Where a place on body `c` is at the end of the step.
    pub fn at_end(&self, c: usize, spot: Spot) -> DVec3 {
        let own = self.skins[c].as_ref().map_or(spot.at, |skin| skin.place(spot, 1.0));
        self.to[c].to_world(own)
    }

    /// The place on body `c` where a point is at the end of the step.
    pub fn spot_at_end(&self, c: usize, x: DVec3) -> Spot {
        let own = self.to[c].to_own(x);
        match &self.skins[c] {
            Some(skin) => skin.spot(skin.nearest(own, 1.0).triangle, own, 1.0),
            None => Spot { at: own, triangle: 0 },
        }
    }

    /// Where the path from x0 to x1 meets body `c`. One that starts on the surface does so if it
    /// `stays` or goes inward.
    pub fn meeting(&self, c: usize, x0: DVec3, x1: DVec3, stays: bool) -> Option<Meeting> {
        let Collider { shape, thickness, .. } = &self.colliders[c];
        if let Some(skin) = &self.skins[c] {
            return self.meeting_of_skin(c, skin, [x0, x1], stays);
        }
        let (own0, own1) = (self.from[c].to_own(x0), self.to[c].to_own(x1));
        let (gap, close) = (self.gap(c, own0, 0.0), self.close(c, x0));
        let own = if gap > close {
            sweep::first_hit(shape, *thickness, close, own0, own1)?
        } else if stays
            || gap < -close
            || self.gap(c, own1, 1.0) < gap
            || self.crosses(c, own0, own1)
        {
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
            own: Spot { at: own, triangle: 0 },
            depth: if depth > close { depth } else { 0.0 },
        })
    }

    /// Where a point that ends the step `deep` in a character is to be: on the surface nearest to it. It is there
    /// because the surface that it met on its way is not the only one, as in the crook of an arm.
    pub fn out_of_skin(&self, c: usize, x0: DVec3, x1: DVec3, deep: f64) -> Option<Meeting> {
        let (skin, thickness) = (self.skins[c].as_ref()?, self.colliders[c].thickness);
        let own1 = self.to[c].to_own(x1);
        let seen = skin.nearest(own1, 1.0);
        // What starts inside is brought out a little at a time.
        if seen.distance >= thickness - deep || self.gap_before(c, x0) < -self.close(c, x0) {
            return None;
        }
        let own = skin.spot(seen.triangle, own1, 1.0);
        let before = self.from[c].to_world(skin.place(own, 0.0));
        Some(Meeting {
            normal: self.to[c].rotation * seen.normal,
            place: self.to[c].to_world(own1 + (thickness - seen.distance) * seen.normal),
            carry: (x1 - before) / self.h,
            own,
            depth: 0.0,
        })
    }

    /// Where the path from x0 to x1 meets a character: what is met goes on with its triangle until the end of the step.
    fn meeting_of_skin(
        &self,
        c: usize,
        skin: &Skinned,
        [x0, x1]: [DVec3; 2],
        stays: bool,
    ) -> Option<Meeting> {
        let thickness = self.colliders[c].thickness;
        let (own0, own1) = (self.from[c].to_own(x0), self.to[c].to_own(x1));
        let close = self.close(c, x0);
        let start = skin.nearest(own0, 0.0);
        let gap = start.distance - thickness;
        let (s, Seen { triangle, distance, normal }) = if gap > close {
            skin.first_hit([own0, own1], thickness, close)?
        } else {
            // Inward is below the plane of the surface as it is at the end.
            let plane = skin.place(skin.spot(start.triangle, own0, 0.0), 1.0);
            let inward = skin.turn_to_end(start.triangle, start.normal, 0.0).dot(own1 - plane);
            let deeper = || self.gap(c, own1, 1.0) < gap;
            (stays || gap < -close || inward < 0.0 || deeper()).then_some((0.0, start))?
        };
        let own = skin.spot(triangle, own0.lerp(own1, s), s);
        let n = skin.turn_to_end(triangle, normal, s);
        let (before, after) = (skin.place(own, 0.0), skin.place(own, 1.0));
        let depth = (-gap).max(0.0);
        let out = (thickness - distance).min(PUSH * thickness);
        Some(Meeting {
            normal: self.to[c].rotation * n,
            place: self.to[c].to_world(after + out * n),
            carry: (self.to[c].to_world(after) - self.from[c].to_world(before)) / self.h,
            own,
            depth: if depth > close { depth } else { 0.0 },
        })
    }
}
