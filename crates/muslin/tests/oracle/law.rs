//! Energies, forces and their derivatives.

use super::dense::{Dense, outer};
use glam::{DMat3, DVec3};
use muslin::solvers::{Jacobian, SpringLaw, WeakSprings};
use muslin::{Method, Model};
use std::f64::consts::{PI, TAU};

/// Kim's α.
pub const ALPHA: f64 = 0.8;

/// A spring between particles a and b.
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    pub a: usize,
    pub b: usize,
    pub k: f64,
    pub rest: f64,
    pub along: f64,
    pub relative: f64,
    pub tension_only: bool,
    /// In the matrix; weak springs may be force only.
    pub implicit: bool,
    /// Acts in the hybrid of springs and shape matching.
    pub structural: bool,
}

impl Spring {
    /// A spring between particles 0 and 1, undamped.
    pub fn plain(k: f64, rest: f64, tension_only: bool) -> Self {
        let (implicit, structural) = (true, true);
        Self { a: 0, b: 1, k, rest, along: 0.0, relative: 0.0, tension_only, implicit, structural }
    }

    /// ½ k (r − L)², or 0 where slack.
    pub fn energy(&self, d: DVec3) -> f64 {
        let stretch = d.length() - self.rest;
        if self.tension_only && stretch < 0.0 { 0.0 } else { 0.5 * self.k * stretch * stretch }
    }

    /// Force on the first end, d from the first to the second.
    pub fn force(&self, d: DVec3) -> DVec3 {
        let stretch = d.length() - self.rest;
        if self.tension_only && stretch < 0.0 {
            DVec3::ZERO
        } else {
            self.k * (1.0 - self.rest / d.length()) * d
        }
    }

    /// Model of ∂f_a/∂x_b, each written as its paper has it (corrected as in docs/papers.md).
    pub fn jacobian(&self, model: Jacobian, d: DVec3) -> DMat3 {
        let (k, rest, r) = (self.k, self.rest, d.length());
        let nn = outer(d, d) * (1.0 / (r * r));
        let one = DMat3::IDENTITY;
        let exact = k * (1.0 - rest / r) * one + k * (rest / r) * nn;
        let slack = self.tension_only && r < rest;
        match model {
            Jacobian::Exact if slack => DMat3::ZERO,
            Jacobian::Exact => exact,
            Jacobian::Psd if slack => DMat3::ZERO,
            Jacobian::Psd => k * nn + k * f64::max(0.0, 1.0 - rest / r) * (one - nn),
            Jacobian::RankOne => k * nn,
            Jacobian::Scalar => k * one,
            Jacobian::Smoothed if r > rest => exact,
            Jacobian::Smoothed if r >= ALPHA * rest => {
                k * nn * ((r / rest - ALPHA) / (1.0 - ALPHA))
            }
            Jacobian::Smoothed => DMat3::ZERO,
        }
    }
}

/// A hinge on the edge between its first two corners.
#[derive(Clone, Copy, Debug)]
pub struct Hinge {
    pub corners: [usize; 4],
    pub k: f64,
    pub rest: f64,
    /// ∂θ/∂height of the flat rest shape.
    pub flat: [f64; 4],
}

/// Signed angle between the wings of a hinge, both projected across the edge: 0 when flat.
pub fn angle(x: [DVec3; 4]) -> f64 {
    let edge = (x[1] - x[0]).normalize();
    let across = |p: DVec3| (p - x[0]) - (p - x[0]).dot(edge) * edge;
    let (wing, other) = (across(x[2]), -across(x[3]));
    edge.dot(wing.cross(other)).atan2(wing.dot(other))
}

/// θ − θ0 in (−π, π].
pub fn opening(x: [DVec3; 4], rest: f64) -> f64 {
    let bend = angle(x) - rest;
    if bend > PI {
        bend - TAU
    } else if bend <= -PI {
        bend + TAU
    } else {
        bend
    }
}

/// ∂θ/∂x by the five-point rule: about 1e-11 of its size.
pub fn angle_gradient(x: [DVec3; 4]) -> [DVec3; 4] {
    let start = angle(x);
    let step = 1e-3 * (x[1] - x[0]).length();
    let mut gradient = [DVec3::ZERO; 4];
    for corner in 0..4 {
        for axis in 0..3 {
            // Differences from the start, so that a jump of 2π cannot get in.
            let moved = |amount: f64| {
                let mut y = x;
                y[corner][axis] += amount * step;
                opening(y, start)
            };
            let slope = 8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0));
            gradient[corner][axis] = slope / (12.0 * step);
        }
    }
    gradient
}

/// ∂θ/∂height of four corners in a plane: −1/height for the wings, and for the ends of the edge
/// what makes a tilted plane cost nothing.
fn flat_slopes(x: [DVec3; 4]) -> [f64; 4] {
    let edge = x[1] - x[0];
    let share = |p: DVec3| (p - x[0]).dot(edge) / edge.length_squared();
    let height = |p: DVec3| ((p - x[0]) - share(p) * edge).length();
    let (c2, c3) = (-1.0 / height(x[2]), -1.0 / height(x[3]));
    let c1 = -(share(x[2]) * c2 + share(x[3]) * c3);
    [-(c1 + c2 + c3), c1, c2, c3]
}

/// Everything that acts on the particles, at one time.
#[derive(Clone, Debug)]
pub struct World {
    pub rest: Vec<DVec3>,
    pub mass: Vec<f64>,
    pub absolute: Vec<f64>,
    pub springs: Vec<Spring>,
    pub hinges: Vec<Hinge>,
    pub triangles: Vec<[usize; 3]>,
    pub piece: Vec<usize>,
    pub gravity: DVec3,
    pub wind: DVec3,
    pub drag: f64,
    pub density: f64,
    pub drag_coefficient: f64,
    pub lift_coefficient: f64,
}

impl World {
    /// The world of a compiled model under a method's spring law at the start of a step.
    pub fn new(model: &Model, method: &Method, time: f64) -> Self {
        let s = &model.springs;
        let ends = model.topology.links.ends();
        let springs = (0..ends.len())
            .map(|i| Spring {
                a: ends[i][0] as usize,
                b: ends[i][1] as usize,
                k: f64::from(s.stiffness[i]),
                rest: f64::from(s.rest_length[i]),
                along: f64::from(s.damping[i]),
                relative: f64::from(s.relative_damping[i]),
                tension_only: s.tension_only[i]
                    || (s.strong[i] && method.springs == SpringLaw::TensionOnly),
                structural: s.structural[i],
                implicit: s.strong[i] || method.weak_springs == WeakSprings::Implicit,
            })
            .collect();
        let hinges = (0..model.hinges.len())
            .map(|i| {
                let corners = model.topology.elements[i].map(|p| p as usize);
                Hinge {
                    corners,
                    k: f64::from(model.hinges.stiffness[i]),
                    rest: f64::from(model.hinges.rest_angle[i]),
                    flat: flat_slopes(corners.map(|p| model.start_x[p].as_dvec3())),
                }
            })
            .collect();
        let air = &model.air;
        let gust = (TAU * time / f64::from(air.gust_period)).sin() * air.gust.as_dvec3();
        Self {
            rest: model.start_x.iter().map(|x| x.as_dvec3()).collect(),
            mass: model.mass.iter().map(|m| f64::from(*m)).collect(),
            absolute: model.absolute_damping.iter().map(|c| f64::from(*c)).collect(),
            springs,
            hinges,
            triangles: model.triangles.iter().map(|t| t.map(|p| p as usize)).collect(),
            piece: model.piece.iter().map(|p| *p as usize).collect(),
            gravity: model.gravity.as_dvec3(),
            wind: model.wind.as_dvec3() + gust,
            drag: f64::from(air.drag),
            density: f64::from(air.density),
            drag_coefficient: f64::from(air.drag_coefficient),
            lift_coefficient: f64::from(air.lift_coefficient),
        }
    }

    pub fn count(&self) -> usize {
        self.mass.len()
    }

    /// Springs, hinges and gravity. [J]
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        let springs: f64 = self.springs.iter().map(|s| s.energy(x[s.b] - x[s.a])).sum();
        let bend = |h: &Hinge| 0.5 * h.k * opening(h.corners.map(|p| x[p]), h.rest).powi(2);
        let hinges: f64 = self.hinges.iter().map(bend).sum();
        let weight: f64 = self.mass.iter().zip(x).map(|(m, x)| -m * self.gravity.dot(*x)).sum();
        springs + hinges + weight
    }

    /// Springs, hinges and gravity. [N]
    pub fn conservative(&self, x: &[DVec3]) -> Vec<DVec3> {
        let mut f: Vec<DVec3> = self.mass.iter().map(|m| *m * self.gravity).collect();
        for s in &self.springs {
            let pull = s.force(x[s.b] - x[s.a]);
            f[s.a] += pull;
            f[s.b] -= pull;
        }
        for h in &self.hinges {
            let at = h.corners.map(|p| x[p]);
            let moment = h.k * opening(at, h.rest);
            for (p, g) in h.corners.into_iter().zip(angle_gradient(at)) {
                f[p] -= moment * g;
            }
        }
        f
    }

    /// Absolute damping, linear drag and wind: forces of the surroundings that know velocities.
    pub fn surroundings(&self, x: &[DVec3], v: &[DVec3]) -> Vec<DVec3> {
        let mut f: Vec<DVec3> = (0..self.count())
            .map(|i| -self.absolute[i] * v[i] - self.drag * self.mass[i] * (v[i] - self.wind))
            .collect();
        for t in &self.triangles {
            let (force, _) = self.gust(t.map(|p| x[p]), t.map(|p| v[p]));
            t.iter().for_each(|&p| f[p] += force);
        }
        f
    }

    /// Wind force on each corner of a triangle, and its damping coefficient with |u·n| held.
    pub fn gust(&self, x: [DVec3; 3], v: [DVec3; 3]) -> (DVec3, f64) {
        let flow = self.wind - (v[0] + v[1] + v[2]) / 3.0;
        let normal = (x[1] - x[0]).cross(x[2] - x[0]);
        let pressure = 0.5 * self.density * 0.5 * normal.length();
        if pressure == 0.0 || flow.length() == 0.0 {
            return (DVec3::ZERO, 0.0);
        }
        let (normal, stream) = (normal.normalize(), flow.normalize());
        let drag = pressure * self.drag_coefficient * flow.dot(normal).abs();
        // |u|² sin α cos α, along the part of n at right angles to the stream.
        let lift = pressure * self.lift_coefficient * flow.length_squared() * stream.dot(normal);
        ((drag * flow + lift * (normal - stream.dot(normal) * stream)) / 3.0, drag / 3.0)
    }

    /// Dampers between particles.
    pub fn dampers(&self, x: &[DVec3], v: &[DVec3]) -> Vec<DVec3> {
        let mut f = vec![DVec3::ZERO; self.count()];
        for s in &self.springs {
            let n = (x[s.b] - x[s.a]).normalize();
            let closing = v[s.b] - v[s.a];
            let force = s.along * closing.dot(n) * n + s.relative * closing;
            f[s.a] += force;
            f[s.b] -= force;
        }
        f
    }

    /// Everything. [N]
    pub fn force(&self, x: &[DVec3], v: &[DVec3]) -> Vec<DVec3> {
        let (f, air, dampers) = (self.conservative(x), self.surroundings(x, v), self.dampers(x, v));
        (0..self.count()).map(|i| f[i] + air[i] + dampers[i]).collect()
    }

    /// M as a matrix.
    pub fn mass_matrix(&self) -> Dense {
        let mut m = Dense::zero(self.count());
        self.mass.iter().enumerate().for_each(|(i, mass)| {
            m.add_block(i, i, *mass * DMat3::IDENTITY);
        });
        m
    }

    /// −∂f/∂x of springs and hinges under a Jacobian model.
    pub fn stiffness(&self, model: Jacobian, x: &[DVec3]) -> Dense {
        let mut k = Dense::zero(self.count());
        for s in self.springs.iter().filter(|s| s.implicit) {
            k.add_pair(s.a, s.b, s.jacobian(model, x[s.b] - x[s.a]));
        }
        for h in &self.hinges {
            let gradient = angle_gradient(h.corners.map(|p| x[p]));
            for p in 0..4 {
                for q in 0..4 {
                    let block = if model == Jacobian::Scalar {
                        h.flat[p] * h.flat[q] * DMat3::IDENTITY
                    } else {
                        outer(gradient[p], gradient[q])
                    };
                    k.add_block(h.corners[p], h.corners[q], h.k * block);
                }
            }
        }
        k
    }

    /// −∂f/∂v: dampers, drag and the held-|u·n| part of the wind.
    pub fn damping(&self, x: &[DVec3], v: &[DVec3]) -> Dense {
        let mut d = Dense::zero(self.count());
        for s in &self.springs {
            let n = (x[s.b] - x[s.a]).normalize();
            d.add_pair(s.a, s.b, s.along * outer(n, n) + s.relative * DMat3::IDENTITY);
        }
        for (i, c) in self.lumped_drag(x, v).into_iter().enumerate() {
            d.add_block(i, i, c * DMat3::IDENTITY);
        }
        d
    }

    /// The part of [`World::damping`] that acts on single particles.
    pub fn lumped_drag(&self, x: &[DVec3], v: &[DVec3]) -> Vec<f64> {
        let mut c: Vec<f64> =
            (0..self.count()).map(|i| self.absolute[i] + self.drag * self.mass[i]).collect();
        for t in &self.triangles {
            let (_, damping) = self.gust(t.map(|p| x[p]), t.map(|p| v[p]));
            t.iter().for_each(|&p| c[p] += damping);
        }
        c
    }
}
