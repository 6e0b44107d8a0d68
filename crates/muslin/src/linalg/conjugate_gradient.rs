//! Preconditioned conjugate gradients with f64 inner products.
//!
//! Held particles are filtered as in Baraff & Witkin 1998 §5.3: their rows are multiplied by 0 in
//! every residual and search direction, so they keep the value they came with (zero).

use super::multigrid::Multigrid;
use super::vectors::{add_scaled, dot, partial_sums, scale_and_add, scale_each, update};
use super::{System, Topology};
use crate::par::Par;
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

/// What P⁻¹ ≈ A⁻¹ is.
pub enum Preconditioner<'a> {
    /// The identity.
    None,
    /// Inverse diagonal blocks.
    BlockJacobi,
    /// A V-cycle; it has been given the matrix.
    VCycle(&'a mut Multigrid),
}

/// How a linear solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Sweeps or iterations done.
    pub iterations: u32,
    /// Cost in products with the matrix.
    pub work: f64,
    /// Whether the tolerance was reached. A fixed number of sweeps has none to reach.
    pub converged: bool,
}

/// The recursion's residual drifts from the true one in f32; after this many restarts from the true
/// residual, what is left is the precision of x itself.
const RESTARTS: u32 = 3;

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
            partial: partial_sums(n),
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
        preconditioner: &mut Preconditioner<'_>,
        stop: Stop,
        x: &mut [Vec3],
    ) -> Outcome {
        let size = dot(par, &mut self.partial, b, b).sqrt();
        let target = stop.tolerance * size;
        let mut all = Outcome { converged: true, ..Outcome::default() };
        for _ in 0..=RESTARTS {
            all.work += 1.0;
            residual(system, topology, par, b, free, x, &mut self.r);
            let norm = dot(par, &mut self.partial, &self.r, &self.r).sqrt();
            if norm <= target || norm == 0.0 {
                return all;
            }
            // What rounding x alone leaves of ‖b − A x‖ cannot be removed.
            let diagonal = &system.diagonal;
            update(par, &mut self.z, |i, _| free[i] * (diagonal[i] * x[i]));
            let rounding = dot(par, &mut self.partial, &self.z, &self.z).sqrt();
            if all.iterations > 0 && norm <= f64::from(f32::EPSILON) * rounding {
                return all;
            }
            let most = stop.max_iterations.saturating_sub(all.iterations);
            let done = self.descend(system, topology, par, free, preconditioner, target, most, x);
            all.iterations += done.iterations;
            all.work += done.work;
            if !done.converged {
                return Outcome { converged: false, ..all };
            }
        }
        // A residual a little above the tolerance is as good as f32 gets.
        residual(system, topology, par, b, free, x, &mut self.r);
        let norm = dot(par, &mut self.partial, &self.r, &self.r).sqrt();
        Outcome { converged: norm <= 10.0 * target, ..all }
    }

    /// Conjugate gradients from the residual in `self.r` until the recursion's own residual is below
    /// `target`.
    #[allow(clippy::too_many_arguments)]
    fn descend(
        &mut self,
        system: &mut System,
        topology: &Topology,
        par: Par,
        free: &[f32],
        preconditioner: &mut Preconditioner<'_>,
        target: f64,
        max_iterations: u32,
        x: &mut [Vec3],
    ) -> Outcome {
        let Self { r, z, p, q, partial } = self;
        let mut done = Outcome::default();
        let work =
            1.0 + if let Preconditioner::VCycle(v) = preconditioner { v.cycle_work() } else { 0.0 };
        let mut rho = 0.0;
        loop {
            let norm = dot(par, partial, r, r).sqrt();
            if norm <= target || norm == 0.0 {
                return Outcome { converged: true, ..done };
            }
            if done.iterations >= max_iterations || !norm.is_finite() {
                return done;
            }
            // z = P⁻¹ r.
            match preconditioner {
                Preconditioner::None => z.copy_from_slice(r),
                Preconditioner::BlockJacobi => {
                    let (r, inverse) = (&*r, &system.inverse);
                    update(par, z, |i, _| inverse[i] * r[i]);
                }
                Preconditioner::VCycle(levels) => levels.cycle(par, r, z),
            }
            let rho_old = rho;
            rho = dot(par, partial, r, z);
            let beta = if done.iterations == 0 { 0.0 } else { (rho / rho_old) as f32 };
            scale_and_add(par, p, beta, z);
            // q = A p, filtered.
            system.apply(topology, par, p, q);
            scale_each(par, q, free);
            let curvature = dot(par, partial, p, q);
            // Negative curvature (a compressed spring's exact Jacobian) is gone through: the matrix
            // still has its inverse, and most often the iteration finds it.
            if curvature.is_nan() || curvature == 0.0 {
                return done;
            }
            let alpha = (rho / curvature) as f32;
            add_scaled(par, x, alpha, p);
            add_scaled(par, r, -alpha, q);
            done.iterations += 1;
            done.work += work;
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
    scale_and_add(par, r, -1.0, b);
    scale_each(par, r, free);
}
