//! Preconditioned conjugate gradients with f64 inner products.
//!
//! Held particles are filtered as in Baraff & Witkin 1998 §5.3: their rows are multiplied by 0 in
//! every residual and search direction, so they keep the value they came with (zero).

use super::{System, Topology};
use crate::par::{BLOCK, Par, block_count};
use glam::Vec3;

/// Vectors of the iteration, allocated once.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    r: Vec<Vec3>,
    z: Vec<Vec3>,
    p: Vec<Vec3>,
    q: Vec<Vec3>,
    partial: Vec<f64>,
}

/// How a linear solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Sweeps or iterations done.
    pub iterations: u32,
    /// Whether the tolerance was reached. A fixed number of sweeps has none to reach.
    pub converged: bool,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// ‖r‖ ≤ tolerance · ‖b‖.
    pub tolerance: f64,
    /// Give up after this many iterations.
    pub max_iterations: u32,
}

impl Workspace {
    /// Vectors for `n` particles.
    pub fn new(n: usize) -> Self {
        let zeros = vec![Vec3::ZERO; n];
        Self {
            r: zeros.clone(),
            z: zeros.clone(),
            p: zeros.clone(),
            q: zeros,
            partial: vec![0.0; block_count(n)],
        }
    }

    /// Improves `x` until the residual of A x = b, over free particles, meets `stop`.
    /// `free` is 1 or 0 per particle; `b` and `x` are zero where it is 0.
    #[allow(clippy::too_many_arguments)]
    pub fn solve(
        &mut self,
        system: &mut System,
        topology: &Topology,
        par: Par,
        b: &[Vec3],
        free: &[f32],
        block_jacobi: bool,
        stop: Stop,
        x: &mut [Vec3],
    ) -> Outcome {
        let Self {
            r,
            z,
            p,
            q,
            partial,
        } = self;
        let target = stop.tolerance * dot(par, partial, b, b).sqrt();
        residual(system, topology, par, b, free, x, r);
        let mut iterations = 0;
        let mut rho = 0.0;
        loop {
            let norm = dot(par, partial, r, r).sqrt();
            if norm <= target || norm == 0.0 {
                return Outcome {
                    iterations,
                    converged: true,
                };
            }
            if iterations >= stop.max_iterations || !norm.is_finite() {
                return Outcome {
                    iterations,
                    converged: false,
                };
            }
            // z = P⁻¹ r with P the block diagonal of A, or the identity.
            let inverse = &system.inverse;
            par.blocks(z, |block, z| {
                let first = block * BLOCK;
                for (k, z) in z.iter_mut().enumerate() {
                    let r = r[first + k];
                    *z = if block_jacobi {
                        inverse[first + k] * r
                    } else {
                        r
                    };
                }
            });
            let rho_old = rho;
            rho = dot(par, partial, r, z);
            let beta = if iterations == 0 {
                0.0
            } else {
                (rho / rho_old) as f32
            };
            update(par, p, |i, p| z[i] + beta * p);
            // q = A p, filtered.
            system.apply(topology, par, p, q);
            update(par, q, |i, q| free[i] * q);
            let curvature = dot(par, partial, p, q);
            // An indefinite matrix (a compressed spring's exact Jacobian) ends the descent.
            if curvature.is_nan() || curvature <= 0.0 {
                return Outcome {
                    iterations,
                    converged: false,
                };
            }
            let alpha = (rho / curvature) as f32;
            update(par, x, |i, x| x + alpha * p[i]);
            update(par, r, |i, r| r - alpha * q[i]);
            iterations += 1;
        }
    }

    /// ‖b − A x‖ / ‖b‖ over free particles, computed afresh.
    pub fn relative_residual(
        &mut self,
        system: &mut System,
        topology: &Topology,
        par: Par,
        b: &[Vec3],
        free: &[f32],
        x: &[Vec3],
    ) -> f64 {
        residual(system, topology, par, b, free, x, &mut self.r);
        let r = dot(par, &mut self.partial, &self.r, &self.r).sqrt();
        let b = dot(par, &mut self.partial, b, b).sqrt();
        if r == 0.0 { 0.0 } else { r / b }
    }
}

/// `r = free ∘ (b − A x)`.
pub fn residual(
    system: &mut System,
    topology: &Topology,
    par: Par,
    b: &[Vec3],
    free: &[f32],
    x: &[Vec3],
    r: &mut [Vec3],
) {
    system.apply(topology, par, x, r);
    update(par, r, |i, ax| free[i] * (b[i] - ax));
}

/// `out[i] = new(i, out[i])` for every particle.
pub fn update(par: Par, out: &mut [Vec3], new: impl Fn(usize, Vec3) -> Vec3 + Sync) {
    par.blocks(out, |block, out| {
        let first = block * BLOCK;
        out.iter_mut()
            .enumerate()
            .for_each(|(k, o)| *o = new(first + k, *o));
    });
}

/// Σ a · b in f64, added in a fixed order. Eight running sums keep the adder busy.
fn dot(par: Par, partial: &mut [f64], a: &[Vec3], b: &[Vec3]) -> f64 {
    par.sum(a.len(), partial, |range| {
        let (a, b): (&[f32], &[f32]) = (
            bytemuck::cast_slice(&a[range.clone()]),
            bytemuck::cast_slice(&b[range]),
        );
        let mut sums = [0.0f64; 8];
        let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
        let rest: f64 = a8
            .remainder()
            .iter()
            .zip(b8.remainder())
            .map(|(a, b)| f64::from(a * b))
            .sum();
        for (a, b) in a8.zip(b8) {
            for k in 0..8 {
                sums[k] += f64::from(a[k]) * f64::from(b[k]);
            }
        }
        sums.iter().sum::<f64>() + rest
    })
}
