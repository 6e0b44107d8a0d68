//! Every integrator and linear solver, on dense matrices.

use super::dense::{Dense, outer};
use super::largest;
use super::law::{World, angle_gradient, opening};
use glam::{DMat3, DVec3};
use muslin::solvers::{Guess, Integrator, Jacobian, LinearSolver, MomentumCorrection};
use muslin::{Method, Model};

/// What a step starts from.
#[derive(Clone, Debug)]
pub struct Start {
    pub x: Vec<DVec3>,
    pub v: Vec<DVec3>,
    /// Δv of the step before.
    pub last: Vec<DVec3>,
    /// Where held particles are to end.
    pub held: Vec<Option<DVec3>>,
    /// Gauss–Seidel order.
    pub order: Vec<usize>,
    /// Springs and hinges in the order of XPBD.
    pub constraints: [Vec<usize>; 2],
    pub h: f64,
}

impl Start {
    pub fn free(&self) -> Vec<bool> {
        self.held.iter().map(Option::is_none).collect()
    }

    /// Velocities with those of held particles replaced by what brings them to their targets.
    pub fn velocities(&self) -> Vec<DVec3> {
        (0..self.x.len())
            .map(|i| self.held[i].map_or(self.v[i], |target| (target - self.x[i]) / self.h))
            .collect()
    }
}

/// Where each pin is at a time: linear between waypoints, constant outside, gone after release.
pub fn held_at(model: &Model, time: f64) -> Vec<Option<DVec3>> {
    let mut held = vec![None; model.mass.len()];
    for pin in model.pins.iter().filter(|pin| time <= pin.release) {
        let mut offset = pin.path.first().map_or(DVec3::ZERO, |p| p.1.as_dvec3());
        for leg in pin.path.windows(2) {
            let share = ((time - leg[0].0) / (leg[1].0 - leg[0].0)).clamp(0.0, 1.0);
            offset += share * (leg[1].1 - leg[0].1).as_dvec3();
        }
        held[pin.particle as usize] = Some(pin.start.as_dvec3() + offset);
    }
    held
}

/// b + factor · a.
fn axpy(factor: f64, a: &[DVec3], b: &[DVec3]) -> Vec<DVec3> {
    a.iter().zip(b).map(|(a, b)| factor * *a + *b).collect()
}

/// `sweeps` block Jacobi sweeps from `x`.
pub fn jacobi(a: &Dense, b: &[DVec3], sweeps: u32, mut x: Vec<DVec3>) -> Vec<DVec3> {
    for _ in 0..sweeps {
        let ax = a.times(&x);
        for i in 0..x.len() {
            x[i] += a.block(i, i).inverse() * (b[i] - ax[i]);
        }
    }
    x
}

/// `sweeps` block Gauss–Seidel sweeps from `x` in the given order.
pub fn gauss_seidel(
    a: &Dense,
    b: &[DVec3],
    sweeps: u32,
    order: &[usize],
    mut x: Vec<DVec3>,
) -> Vec<DVec3> {
    for _ in 0..sweeps {
        for &i in order {
            let others = (0..x.len()).filter(|&j| j != i);
            let sum = b[i] - others.map(|j| a.block(i, j) * x[j]).sum::<DVec3>();
            x[i] = a.block(i, i).inverse() * sum;
        }
    }
    x
}

impl World {
    /// A Δv = b of one linearisation, held rows replaced: A = M + hD + h²K, b = h (f − h K v).
    pub fn linear_system(&self, jacobian: Jacobian, start: &Start) -> (Dense, Vec<DVec3>) {
        let (h, x, v) = (start.h, &start.x, start.velocities());
        let k = self.stiffness(jacobian, x);
        let mut a = self.mass_matrix().plus(h, &self.damping(x, &v)).plus(h * h, &k);
        let (f, kv) = (self.force(x, &v), k.times(&v));
        let free = start.free();
        let b = (0..x.len())
            .map(|i| if free[i] { h * (f[i] - h * kv[i]) } else { DVec3::ZERO })
            .collect();
        a.hold(&free);
        (a, b)
    }

    /// Positions and velocities after one step of a method.
    pub fn step(&self, method: &Method, start: &Start) -> (Vec<DVec3>, Vec<DVec3>) {
        let (h, x, v) = (start.h, &start.x, start.velocities());
        let free = start.free();
        let acceleration = |x: &[DVec3], v: &[DVec3]| -> Vec<DVec3> {
            let f = self.force(x, v);
            (0..f.len()).map(|i| if free[i] { f[i] / self.mass[i] } else { DVec3::ZERO }).collect()
        };
        match method.integrator {
            Integrator::ExplicitEuler => (axpy(h, &v, x), axpy(h, &acceleration(x, &v), &v)),
            Integrator::SymplecticEuler => {
                let after = axpy(h, &acceleration(x, &v), &v);
                (axpy(h, &after, x), after)
            }
            Integrator::Midpoint => {
                let middle_x = axpy(0.5 * h, &v, x);
                let middle_v = axpy(0.5 * h, &acceleration(x, &v), &v);
                let a = acceleration(&middle_x, &middle_v);
                (axpy(h, &middle_v, x), axpy(h, &a, &v))
            }
            Integrator::Rk4 => {
                let a1 = acceleration(x, &v);
                let (x2, v2) = (axpy(h / 2.0, &v, x), axpy(h / 2.0, &a1, &v));
                let a2 = acceleration(&x2, &v2);
                let (x3, v3) = (axpy(h / 2.0, &v2, x), axpy(h / 2.0, &a2, &v));
                let a3 = acceleration(&x3, &v3);
                let (x4, v4) = (axpy(h, &v3, x), axpy(h, &a3, &v));
                let a4 = acceleration(&x4, &v4);
                let mean = |s1: &[DVec3], s2: &[DVec3], s3: &[DVec3], s4: &[DVec3], i: usize| {
                    (s1[i] + 2.0 * s2[i] + 2.0 * s3[i] + s4[i]) / 6.0
                };
                (0..x.len())
                    .map(|i| {
                        let dx = mean(&v, &v2, &v3, &v4, i);
                        (x[i] + h * dx, v[i] + h * mean(&a1, &a2, &a3, &a4, i))
                    })
                    .unzip()
            }
            // Nothing to look back on: the first step is backward Euler's.
            Integrator::BackwardEuler | Integrator::Bdf2 => {
                let after = if method.newton > 1 {
                    self.backward_euler(start)
                } else {
                    let change = self.change(method, start);
                    axpy(1.0, &change, &v)
                };
                (axpy(h, &after, x), after)
            }
            Integrator::Xpbd => self.xpbd(method.sweeps, start),
            Integrator::ShapeMatching => self.shape_matching(method, start),
        }
    }

    /// Δv of one linearisation as the method solves it, momentum correction included.
    pub fn change(&self, method: &Method, start: &Start) -> Vec<DVec3> {
        let (a, b) = self.linear_system(method.jacobian, start);
        let free = start.free();
        let zero = vec![DVec3::ZERO; b.len()];
        let solves = method.solver == LinearSolver::ConjugateGradient;
        let guess = match method.guess {
            Guess::Zero | Guess::Velocity => zero,
            // Where a solve starts matters only to sweeps.
            Guess::Pyramid => {
                assert!(solves, "the oracle has no pyramid");
                zero
            }
            Guess::PVector => (0..b.len()).map(|i| a.block(i, i).inverse() * b[i]).collect(),
            Guess::PreviousStep => {
                (0..b.len()).map(|i| if free[i] { start.last[i] } else { DVec3::ZERO }).collect()
            }
        };
        let mut change = match method.solver {
            LinearSolver::Jacobi => jacobi(&a, &b, method.sweeps, guess),
            LinearSolver::GaussSeidel => gauss_seidel(&a, &b, method.sweeps, &start.order, guess),
            LinearSolver::ConjugateGradient | LinearSolver::Hierarchy | LinearSolver::Cholesky => {
                a.solve(&b)
            }
        };
        self.correct_momentum(method.momentum, start, &mut change);
        change
    }

    /// Velocities after the nonlinear backward Euler step: M (v' − v) = h f(x + h v', v').
    pub fn backward_euler(&self, start: &Start) -> Vec<DVec3> {
        let (h, x, before) = (start.h, &start.x, start.velocities());
        let free = start.free();
        let residual = |v: &[DVec3]| -> Vec<DVec3> {
            let f = self.force(&axpy(h, v, x), v);
            (0..f.len())
                .map(|i| match free[i] {
                    true => h * f[i] - self.mass[i] * (v[i] - before[i]),
                    false => DVec3::ZERO,
                })
                .collect()
        };
        let norm = |r: &[DVec3]| r.iter().map(|r| r.length_squared()).sum::<f64>().sqrt();
        let mut v = before.clone();
        let mut r = residual(&v);
        let scale = norm(&r);
        for _ in 0..500 {
            if norm(&r) <= 1e-11 * scale {
                return v;
            }
            let at = axpy(h, &v, x);
            let k = self.stiffness(Jacobian::Exact, &at);
            let mut a = self.mass_matrix().plus(h, &self.damping(&at, &v)).plus(h * h, &k);
            a.hold(&free);
            let step = a.solve(&r);
            let mut length = 1.0;
            loop {
                let next = axpy(length, &step, &v);
                let then = residual(&next);
                if norm(&then) < norm(&r) || length < 1e-3 {
                    (v, r) = (next, then);
                    break;
                }
                length *= 0.5;
            }
        }
        panic!("the oracle's Newton iteration stopped at {:e} of {scale:e}", norm(&r));
    }

    /// Rigid motion that gives pieces without held particles their momentum back.
    fn correct_momentum(&self, which: MomentumCorrection, start: &Start, change: &mut [DVec3]) {
        let (h, x, v) = (start.h, &start.x, start.velocities());
        let f = self.force(x, &v);
        let drag = self.lumped_drag(x, &v);
        let pieces = self.piece.iter().max().map_or(0, |p| p + 1);
        for piece in 0..pieces {
            let members: Vec<usize> = (0..x.len()).filter(|&i| self.piece[i] == piece).collect();
            let held = members.iter().any(|&i| start.held[i].is_some());
            if held || which == MomentumCorrection::None {
                continue;
            }
            // The rows of A Δv = b, added up: Σ (m + h c) Δv = Σ h f.
            let weight = |i: usize| self.mass[i] + h * drag[i];
            let wanted: DVec3 = members.iter().map(|&i| h * f[i]).sum();
            let got: DVec3 = members.iter().map(|&i| weight(i) * change[i]).sum();
            let shift = (wanted - got) / members.iter().map(|&i| weight(i)).sum::<f64>();
            members.iter().for_each(|&i| change[i] += shift);
            if which == MomentumCorrection::Linear {
                continue;
            }
            // Spin about the centre of mass: L' = L + h · torque.
            let mass: f64 = members.iter().map(|&i| self.mass[i]).sum();
            let centre = members.iter().map(|&i| self.mass[i] * x[i]).sum::<DVec3>() / mass;
            let lacking: DVec3 = (members.iter())
                .map(|&i| (x[i] - centre).cross(h * f[i] - self.mass[i] * change[i]))
                .sum();
            let mut inertia = DMat3::ZERO;
            for &i in &members {
                let d = x[i] - centre;
                inertia += self.mass[i] * (d.length_squared() * DMat3::IDENTITY - outer(d, d));
            }
            let spin = inertia.inverse() * lacking;
            members.iter().for_each(|&i| change[i] += spin.cross(x[i] - centre));
        }
    }

    /// XPBD (Macklin et al. 2016, Eq. 26 for damping), springs in order, then, in every other sweep,
    /// hinges.
    fn xpbd(&self, sweeps: u32, start: &Start) -> (Vec<DVec3>, Vec<DVec3>) {
        let (h, old, v) = (start.h, &start.x, start.velocities());
        let free = start.free();
        let external = self.surroundings(old, &v);
        let w: Vec<f64> =
            (0..old.len()).map(|i| if free[i] { 1.0 / self.mass[i] } else { 0.0 }).collect();
        let gravity = |i: usize| if free[i] { self.gravity } else { DVec3::ZERO };
        let mut x: Vec<DVec3> = (0..old.len())
            .map(|i| old[i] + h * (v[i] + h * (gravity(i) + w[i] * external[i])))
            .collect();
        // One constraint: C, ∇C, compliance α and damping β (Rayleigh), as in the paper.
        let project = |x: &mut [DVec3],
                       lambda: &mut f64,
                       value: f64,
                       gradient: &[(usize, DVec3)],
                       alpha: f64,
                       beta: f64,
                       pulls_only: bool| {
            let (alpha, beta) = (alpha / (h * h), beta * h * h);
            let gamma = alpha * beta / h;
            let moved: f64 = gradient.iter().map(|&(p, g)| g.dot(x[p] - old[p])).sum();
            let weight: f64 = gradient.iter().map(|&(p, g)| w[p] * g.length_squared()).sum();
            if weight == 0.0 {
                return;
            }
            let change =
                (-value - alpha * *lambda - gamma * moved) / ((1.0 + gamma) * weight + alpha);
            // An inequality: the multiplier of a spring that only pulls stays at or below zero.
            let new = if pulls_only { (*lambda + change).min(0.0) } else { *lambda + change };
            let change = new - *lambda;
            *lambda = new;
            gradient.iter().for_each(|&(p, g)| x[p] += w[p] * change * g);
        };
        let mut spring_lambda = vec![0.0; self.springs.len()];
        let mut hinge_lambda = vec![0.0; self.hinges.len()];
        let [springs, hinges] = &start.constraints;
        for sweep in 0..sweeps {
            for &i in springs {
                let (s, lambda) = (&self.springs[i], &mut spring_lambda[i]);
                let d = x[s.b] - x[s.a];
                let value = d.length() - s.rest;
                let n = d.normalize();
                let gradient = [(s.a, -n), (s.b, n)];
                let damping = s.along + s.relative;
                project(&mut x, lambda, value, &gradient, 1.0 / s.k, damping, s.tension_only);
            }
            for &i in hinges.iter().filter(|_| sweep % 2 == 0) {
                let (hinge, lambda) = (&self.hinges[i], &mut hinge_lambda[i]);
                let at = hinge.corners.map(|p| x[p]);
                let slopes = angle_gradient(at);
                let gradient: [(usize, DVec3); 4] =
                    std::array::from_fn(|i| (hinge.corners[i], slopes[i]));
                let value = opening(at, hinge.rest);
                project(&mut x, lambda, value, &gradient, 1.0 / hinge.k, 0.0, false);
            }
        }
        let after =
            (0..x.len()).map(|i| if free[i] { (x[i] - old[i]) / h } else { v[i] }).collect();
        (x, after)
    }
}
