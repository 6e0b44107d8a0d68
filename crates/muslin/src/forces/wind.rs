//! Wind on triangles: drag along the relative flow, lift across it.
//!
//! ```text
//!   u = wind − mean velocity,  n unit normal,  A area,  ρ air density
//!   drag  F = ½ ρ A C_d |u·n| u
//!   lift  F = ½ ρ A C_l (u·n) (|u| n − (u·n) u/|u|)        at right angles to u
//! ```
//!
//! A third of the force goes to each corner. A plate falling flat ends at √(2 σ g/(ρ C_d)).
//! For the implicit system the factor |u·n| is held: the velocity derivative is −½ ρ A C_d |u·n| I,
//! a third of it on each corner's diagonal.

use crate::model::Model;
use crate::par::{BLOCK, Par};
use glam::Vec3;

/// Wind on one triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gust {
    /// Force on each corner. [N]
    pub force: Vec3,
    /// Damping coefficient of each corner. [N·s/m]
    pub damping: f32,
}

/// Wind on a triangle with corners `x` and mean relative flow `u`.
pub fn gust(density: f32, drag: f32, lift: f32, x: [Vec3; 3], u: Vec3) -> Gust {
    let area_normal = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]);
    let area = area_normal.length();
    let speed = u.length();
    if area == 0.0 || speed == 0.0 {
        return Gust::default();
    }
    let n = area_normal / area;
    let through = u.dot(n);
    let s = 0.5 * density * area / 3.0;
    let damping = s * drag * through.abs();
    let across = s * lift * through * (speed * n - (through / speed) * u);
    Gust { force: damping * u + across, damping }
}

/// Evaluates every triangle of a model; does nothing in still, weightless air.
pub fn evaluate(gusts: &mut [Gust], model: &Model, wind: Vec3, par: Par, x: &[Vec3], v: &[Vec3]) {
    let air = &model.air;
    if !air.acts_on_triangles() {
        return;
    }
    par.blocks(gusts, |block, gusts| {
        for (k, out) in gusts.iter_mut().enumerate() {
            let corners = model.triangles[block * BLOCK + k].map(|p| p as usize);
            let mean = (v[corners[0]] + v[corners[1]] + v[corners[2]]) / 3.0;
            let x = corners.map(|p| x[p]);
            *out = gust(air.density, air.drag_coefficient, air.lift_coefficient, x, wind - mean);
        }
    });
}

/// Adds the wind of every triangle to its corners.
pub fn add(total: &mut [Vec3], model: &Model, gusts: &[Gust], par: Par) {
    if !model.air.acts_on_triangles() {
        return;
    }
    par.blocks(total, |block, total| {
        for (k, f) in total.iter_mut().enumerate() {
            for member in model.triangle_members.of(block * BLOCK + k) {
                *f += gusts[member.item as usize].force;
            }
        }
    });
}

/// Sum of the damping coefficients at one particle, for the implicit diagonal.
pub fn damping_at(model: &Model, gusts: &[Gust], particle: usize) -> f32 {
    let members = model.triangle_members.of(particle);
    members.iter().map(|member| gusts[member.item as usize].damping).sum()
}
