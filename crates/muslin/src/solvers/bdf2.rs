//! The second-order backward difference formula (Choi & Ko 2002 §4), as a start for backward Euler.
//!
//! ```text
//!   ρ = h/h',  c = ρ²/(1 + 2ρ),   the step before had length h'
//!   x₊ = x̂ + ĥ v₊,   M v₊ = M v̂ + ĥ f(x₊, v₊)
//!   x̂ = x + c (x − x₋),   v̂ = v + c (v − v₋),   ĥ = h (1 + ρ)/(1 + 2ρ)
//! ```
//!
//! So a step of BDF2 is a step of backward Euler of length ĥ from (x̂, v̂). With nothing to look back
//! on, at the start and after a discontinuity, and while anything touches a body or cloth touches cloth, ρ = 0
//! and it is backward Euler itself; so is the first step after that.
//!
//! The linearisation is where the cloth is about to be, x + h v̄, rather than where it was: the
//! strain that a linearised step leaves is half the square of the angle by which springs turn away
//! from it. v̄ is v smoothed over neighbours, because wrinkles at the scale of the mesh do not go on
//! as they did for a whole step. Cloth that is almost at rest is linearised where it is (`enough.rs`).

use super::Step;
use crate::linalg::Sym3;
use crate::linalg::vectors::update;
use crate::mesh::links::PairKernel;
use crate::model::Model;
use crate::state::State;
use glam::Vec3;

/// Passes of smoothing.
const PASSES: u32 = 4;

/// Makes the state the start (x̂, v̂) and returns ĥ. The state as it was becomes the one before.
pub fn look_back(step: &Step<'_>, state: &mut State) -> f32 {
    let Step { model, h, par, held, .. } = *step;
    let n = state.x.len();
    // Orientations are advanced by backward Euler, and take everything with them; what a body decides is
    // the velocity of such a step, and the impulses of contacts are of one, too.
    let smooth = model.turning.is_empty()
        && step.contact.weight.iter().all(|w| *w == Sym3::ZERO)
        && step.contact.force.iter().all(|f| *f == Vec3::ZERO);
    let ratio = if state.previous_h > 0.0 && smooth { h / state.previous_h } else { 0.0 };
    let back = ratio * ratio / (1.0 + 2.0 * ratio);
    let length = h * (1.0 + ratio) / (1.0 + 2.0 * ratio);
    state.previous_x.resize(n, Vec3::ZERO);
    state.previous_v.resize(n, Vec3::ZERO);
    std::mem::swap(&mut state.x, &mut state.previous_x);
    std::mem::swap(&mut state.v, &mut state.previous_v);
    state.previous_h = if smooth { h } else { 0.0 };
    let (x, v) = (&state.previous_x, &state.previous_v);
    if ratio == 0.0 {
        state.x.copy_from_slice(x);
        state.v.copy_from_slice(v);
    } else {
        update(par, &mut state.x, |i, before| x[i] + back * (x[i] - before));
        update(par, &mut state.v, |i, before| v[i] + back * (v[i] - before));
    }
    // Held particles arrive where they would have from x in h.
    let start = &state.x;
    update(par, &mut state.v, |i, v| match held.free[i] {
        0.0 => (x[i] + h * held.velocity[i] - start[i]) / length,
        _ => v,
    });
    length
}

/// The velocity that leads from x̂ to x + h v̄ in ĥ, which is `length`. A pass of smoothing takes over
/// `share` of the difference to each neighbour; v̄ is `ahead` of what that leaves. `next` is scratch.
pub fn predict(
    step: &Step<'_>,
    state: &State,
    length: f32,
    share: f32,
    ahead: f32,
    velocity: &mut [Vec3],
    next: &mut [Vec3],
) {
    let Step { model, par, held, .. } = *step;
    let h = step.h;
    velocity.copy_from_slice(&state.previous_v);
    for _ in 0..PASSES {
        next.copy_from_slice(velocity);
        let spread = Spread { v: bytemuck::cast_slice(velocity), share };
        model.topology.links.accumulate(par, next, &spread);
        update(par, velocity, |i, v| if held.free[i] == 0.0 { v } else { next[i] });
    }
    let (x, start, v) = (&state.previous_x, &state.x, &state.v);
    update(par, velocity, |i, smooth| {
        let decided = held.free[i] == 0.0 || step.contact.touches(i);
        if decided { v[i] } else { (x[i] + h * ahead * smooth - start[i]) / length }
    });
}

/// The velocity found before, where nothing else decides it now.
pub fn go_on(step: &Step<'_>, state: &State, found: &[Vec3], velocity: &mut [Vec3]) {
    update(step.par, velocity, |i, _| {
        let decided = step.held.free[i] == 0.0 || step.contact.touches(i);
        if decided { state.v[i] } else { found[i] }
    });
}

/// The share that smooths fastest without overshooting on a grid, where particles have eight links.
pub fn share(model: &Model) -> f32 {
    let links = &model.topology.link_members;
    let most = (0..model.particle_count()).map(|i| links.of(i).len()).max().unwrap_or(0);
    2.0 / (3.0 * most.max(1) as f32)
}

/// `share · (v_b − v_a)` per link.
struct Spread<'a> {
    v: &'a [f32],
    share: f32,
}

impl PairKernel for Spread<'_> {
    #[inline(always)]
    fn eval(&self, a: usize, b: usize, _link: usize, out: &mut [f32]) {
        let (va, vb) = (&self.v[3 * a..][..out.len()], &self.v[3 * b..][..out.len()]);
        out.iter_mut().zip(va.iter().zip(vb)).for_each(|(out, (a, b))| *out = self.share * (b - a));
    }
}
