//! Momentum put back after an approximate solve.
//!
//! Truncated sweeps and scalar Jacobians lose momentum that the exact solution of the same system
//! has: a free sheet falls at a fraction of g, a spinning one stops. For every piece without held, pulled or
//! touching particles this adds the rigid motion that restores it:
//!
//! ```text
//!   linear    s = (Σ h f − Σ w Δv) / Σ w                       w = m + h c, c the absolute damping
//!   angular   ω = I⁻¹ ( Σ d × (m v + h f) − Σ d × m (v + Δv + s) ),   d = x − centre of mass
//! ```
//!
//! The linear part makes the sum of all rows of A Δv = b hold. The angular part is the
//! post-correction of Desbrun, Schröder & Barr 1999, with the piece's inertia tensor I in
//! place of their unit one. It is left out where particles turn themselves.

use super::{MomentumCorrection, Step};
use crate::model::Model;
use glam::{DMat3, DVec3, Vec3};

/// Sums over each piece; allocated once.
#[derive(Clone, Debug, Default)]
pub struct Correction {
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    held: bool,
    weight: f64,
    missing: DVec3,
    mass: f64,
    centre: DVec3,
    shift: DVec3,
    inertia: DMat3,
    missing_angular: DVec3,
    rotation: DVec3,
}

impl Correction {
    /// Storage for a model.
    pub fn new(model: &Model) -> Self {
        Self { pieces: vec![Piece::default(); model.piece_count] }
    }

    /// Shifts `change` in every free piece so that the sum of all rows of A Δv = b holds, however early a
    /// solver stopped.
    pub fn balance(&mut self, step: &Step<'_>, lumped: &[f32], b: &[Vec3], change: &mut [Vec3]) {
        let Step { model, inputs, .. } = *step;
        self.pieces.fill(Piece::default());
        let held = inputs.held.iter().map(|hold| hold.particle);
        for particle in held.chain(inputs.pulls.iter().map(|pull| pull.particle)) {
            self.pieces[model.piece[particle] as usize].held = true;
        }
        for i in (0..step.contact.weight.len()).filter(|i| step.contact.touches(*i)) {
            self.pieces[model.piece[i] as usize].held = true;
        }
        self.leave_coupled(step);
        if self.pieces.iter().all(|piece| piece.held) {
            return;
        }
        for (i, &piece) in model.piece.iter().enumerate() {
            let piece = &mut self.pieces[piece as usize];
            let weight = f64::from(lumped[i]);
            piece.weight += weight;
            piece.missing += b[i].as_dvec3() - weight * change[i].as_dvec3();
        }
        for (change, &piece) in change.iter_mut().zip(&model.piece) {
            let piece = &self.pieces[piece as usize];
            if !piece.held {
                *change += (piece.missing / piece.weight).as_vec3();
            }
        }
    }

    /// Pieces that press on others in the system have rows of those in their sum.
    fn leave_coupled(&mut self, step: &Step<'_>) {
        for particle in step.contact.couplings.iter().flat_map(|c| c.particles) {
            self.pieces[step.model.piece[particle as usize] as usize].held = true;
        }
    }

    /// Corrects `change` (Δv) given all forces at (x, v), dampers included, and the scalar diagonal
    /// `lumped`.
    #[allow(clippy::too_many_arguments)]
    pub fn apply(
        &mut self,
        which: MomentumCorrection,
        step: &Step<'_>,
        lumped: &[f32],
        forces: &[Vec3],
        x: &[Vec3],
        v: &[Vec3],
        change: &mut [Vec3],
    ) {
        if which == MomentumCorrection::None {
            return;
        }
        let Step { model, held, h, .. } = *step;
        // Not the matrix's own default, which is the identity.
        self.pieces.fill(Piece { inertia: DMat3::ZERO, ..Piece::default() });
        // What the sum of all rows lacks, and the centre of mass.
        for i in 0..x.len() {
            let piece = &mut self.pieces[model.piece[i] as usize];
            let (weight, mass) = (f64::from(lumped[i]), f64::from(model.mass[i]));
            piece.held |= held.free[i] == 0.0 || step.contact.touches(i);
            piece.weight += weight;
            piece.missing += f64::from(h) * forces[i].as_dvec3() - weight * change[i].as_dvec3();
            piece.mass += mass;
            piece.centre += mass * x[i].as_dvec3();
        }
        for pull in &step.inputs.pulls {
            self.pieces[model.piece[pull.particle] as usize].held = true;
        }
        self.leave_coupled(step);
        for piece in &mut self.pieces {
            piece.shift = piece.missing / piece.weight;
            piece.centre /= piece.mass;
        }
        // What the angular momentum about the centre of mass lacks.
        if which == MomentumCorrection::LinearAndAngular && model.turning.is_empty() {
            for i in 0..x.len() {
                let piece = &mut self.pieces[model.piece[i] as usize];
                let mass = f64::from(model.mass[i]);
                let d = x[i].as_dvec3() - piece.centre;
                let wanted = mass * v[i].as_dvec3() + f64::from(h) * forces[i].as_dvec3();
                let have = mass * (v[i].as_dvec3() + change[i].as_dvec3() + piece.shift);
                piece.missing_angular += d.cross(wanted - have);
                let outer = DMat3::from_cols(d * d.x, d * d.y, d * d.z);
                piece.inertia +=
                    mass * (DMat3::from_diagonal(DVec3::splat(d.length_squared())) - outer);
            }
            for piece in &mut self.pieces {
                // A straight chain has no inertia about itself: leave that axis alone.
                let size = piece.inertia.x_axis.x + piece.inertia.y_axis.y + piece.inertia.z_axis.z;
                let regular = piece.inertia + DMat3::from_diagonal(DVec3::splat(1e-9 * size));
                let rotation = regular.inverse() * piece.missing_angular;
                piece.rotation = if rotation.is_finite() { rotation } else { DVec3::ZERO };
            }
        }
        for i in 0..x.len() {
            let piece = &self.pieces[model.piece[i] as usize];
            if !piece.held {
                let d = x[i].as_dvec3() - piece.centre;
                change[i] += (piece.shift + piece.rotation.cross(d)).as_vec3();
            }
        }
    }
}
