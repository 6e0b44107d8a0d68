//! Block Jacobi and block Gauss–Seidel sweeps.
//!
//! ```text
//!   x_i ← A_ii⁻¹ ( b_i − Σ_{j≠i} A_ij x_j )        Kang & Cho 2002 Eq. 19, Kim 2006 Eq. 8
//! ```
//!
//! Jacobi uses the x of the sweep before, Gauss–Seidel what is newest, in row order (particle
//! index) or colour by colour. Held particles have a zero inverse block and stay at zero.

use super::conjugate_gradient::{residual, update};
use super::{Sym3, System, Topology};
use crate::par::{BLOCK, Par};
use glam::Vec3;

/// `sweeps` block Jacobi sweeps; `r` is scratch.
#[allow(clippy::too_many_arguments)]
pub fn jacobi(
    system: &mut System,
    topology: &Topology,
    par: Par,
    b: &[Vec3],
    free: &[f32],
    sweeps: u32,
    x: &mut [Vec3],
    r: &mut [Vec3],
) {
    for _ in 0..sweeps {
        residual(system, topology, par, b, free, x, r);
        let inverse = &system.inverse;
        update(par, x, |i, x| x + inverse[i] * r[i]);
    }
}

/// `sweeps` Gauss–Seidel sweeps in particle order: on one thread whatever `Par` says, because
/// each update waits for the one before.
pub fn gauss_seidel_rows(
    system: &mut System,
    topology: &Topology,
    b: &[Vec3],
    free: &[f32],
    sweeps: u32,
    x: &mut [Vec3],
) {
    element_dots(system, topology, x);
    for _ in 0..sweeps {
        for i in 0..x.len() {
            if free[i] != 0.0 {
                let new = relaxed(system, topology, b, i, x);
                move_to(system, topology, i, new, x);
            }
        }
    }
}

/// `sweeps` Gauss–Seidel sweeps colour by colour; particles of one colour are computed together.
/// `scratch` holds the new values of a colour.
#[allow(clippy::too_many_arguments)]
pub fn gauss_seidel_colours(
    system: &mut System,
    topology: &Topology,
    par: Par,
    b: &[Vec3],
    free: &[f32],
    sweeps: u32,
    x: &mut [Vec3],
    scratch: &mut [Vec3],
) {
    element_dots(system, topology, x);
    for _ in 0..sweeps {
        for group in topology.colours.groups() {
            let (shared, x_now) = (&*system, &*x);
            let new = &mut scratch[..group.len()];
            par.blocks(new, |block, new| {
                for (new, &i) in new.iter_mut().zip(&group[block * BLOCK..]) {
                    *new = relaxed(shared, topology, b, i as usize, x_now);
                }
            });
            for (&i, &new) in group.iter().zip(&*new) {
                if free[i as usize] != 0.0 {
                    move_to(system, topology, i as usize, new, x);
                }
            }
        }
    }
}

/// Makes `system.dots` the g · x of every element.
fn element_dots(system: &mut System, topology: &Topology, x: &[Vec3]) {
    for (term, dot) in system.dots.iter_mut().enumerate() {
        *dot = system.elements[term].dot(&topology.elements[term / system.parts], x);
    }
}

/// The value of x_i that solves row i with its neighbours as they are.
#[inline]
fn relaxed(system: &System, topology: &Topology, b: &[Vec3], i: usize, x: &[Vec3]) -> Vec3 {
    let mut sum = b[i];
    let ends = topology.links.ends();
    for member in topology.link_members.of(i) {
        let link = member.item as usize;
        let neighbour = ends[link][1 - member.slot as usize] as usize;
        sum += system.link_blocks[link] * x[neighbour];
    }
    for member in topology.element_members.of(i) {
        for term in member.item as usize * system.parts..(member.item as usize + 1) * system.parts {
            let element = &system.elements[term];
            let g = element.g[member.slot as usize];
            sum -= (element.scale * (system.dots[term] - g.dot(x[i]))) * g;
        }
    }
    system.inverse[i] * sum
}

/// Sets x_i and keeps the element products up to date.
#[inline]
fn move_to(system: &mut System, topology: &Topology, i: usize, new: Vec3, x: &mut [Vec3]) {
    let change = new - x[i];
    x[i] = new;
    for member in topology.element_members.of(i) {
        for term in member.item as usize * system.parts..(member.item as usize + 1) * system.parts {
            let g = system.elements[term].g[member.slot as usize];
            system.dots[term] += g.dot(change);
        }
    }
}

/// Zeroes the inverse blocks of held particles, so that sweeps leave them alone.
pub fn hold(inverse: &mut [Sym3], free: &[f32]) {
    for (inverse, &free) in inverse.iter_mut().zip(free) {
        if free == 0.0 {
            *inverse = Sym3::ZERO;
        }
    }
}
