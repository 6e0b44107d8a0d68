//! Shape matching of planar cloths by its normal equations.

use super::law::World;
use super::step::Start;
use glam::DVec3;
use muslin::Method;
use muslin::solvers::Internal;

/// Solves a small dense system by elimination with pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<DVec3>) -> Vec<DVec3> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] = b[i] - factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: DVec3 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// Goals of a planar rest shape: Rubin Eq. 5 and 6 with centred columns.
pub fn goals(rest: &[DVec3], mass: &[f64], x: &[DVec3], beta: f64) -> Vec<DVec3> {
    let total: f64 = mass.iter().sum();
    let centre =
        |points: &[DVec3]| points.iter().zip(mass).map(|(x, m)| *m * *x).sum::<DVec3>() / total;
    // Axes in the plane: towards the second particle, and the farthest one at right angles to that.
    let first = (rest[1] - rest[0]).normalize();
    let across = |x: &DVec3| (*x - rest[0]) - (*x - rest[0]).dot(first) * first;
    let farthest = rest.iter().map(across).max_by(|a, b| a.length().total_cmp(&b.length()));
    let second = farthest.unwrap().normalize();
    let (rest_centre, now) = (centre(rest), centre(x));
    let mut q: Vec<[f64; 5]> = rest
        .iter()
        .map(|x| {
            let (u, v) = ((*x - rest_centre).dot(first), (*x - rest_centre).dot(second));
            [u, v, u * u, v * v, u * v]
        })
        .collect();
    for k in 0..5 {
        let mean: f64 = q.iter().zip(mass).map(|(q, m)| m * q[k]).sum::<f64>() / total;
        q.iter_mut().for_each(|q| q[k] -= mean);
    }
    // Ãᵀ = (Σ m q̃ q̃ᵀ)⁻¹ Σ m q̃ pᵀ.
    let mut normal = vec![vec![0.0; 5]; 5];
    let mut moment = vec![DVec3::ZERO; 5];
    for i in 0..x.len() {
        for a in 0..5 {
            moment[a] += mass[i] * q[i][a] * (x[i] - now);
            (0..5).for_each(|b| normal[a][b] += mass[i] * q[i][a] * q[i][b]);
        }
    }
    let deformed = solve(normal, moment.clone());
    // R = F (FᵀF)^−½ of the 3×2 block, the root of a 2×2 matrix in closed form.
    let (f, g) = (moment[0], moment[1]);
    let (a, b, d) = (f.dot(f), f.dot(g), g.dot(g));
    let root = (a * d - b * b).sqrt();
    let scale = (a + d + 2.0 * root).sqrt();
    let (a, b, d) = ((a + root) / scale, b / scale, (d + root) / scale);
    let det = a * d - b * b;
    let turned = [(d * f - b * g) / det, (a * g - b * f) / det];
    (0..x.len())
        .map(|i| {
            let bent: DVec3 = (0..5).map(|k| q[i][k] * deformed[k]).sum();
            let rigid: DVec3 = (0..2).map(|k| q[i][k] * turned[k]).sum();
            now + beta * bent + (1.0 - beta) * rigid
        })
        .collect()
}

impl World {
    /// Positions and velocities after one step of shape matching, with springs in the hybrid.
    pub fn shape_matching(&self, method: &Method, start: &Start) -> (Vec<DVec3>, Vec<DVec3>) {
        let hybrid = method.internal == Internal::Structural;
        let springs = World {
            springs: self.springs.iter().filter(|s| hybrid && s.structural).copied().collect(),
            hinges: Vec::new(),
            ..self.clone()
        };
        let n = self.count();
        let most = |value: &dyn Fn(&super::Spring) -> f64| {
            let sum = |i: usize| -> f64 {
                let ours = springs.springs.iter().filter(|s| s.a == i || s.b == i);
                ours.map(value).sum::<f64>() / self.mass[i]
            };
            (0..n).map(sum).fold(0.0, f64::max)
        };
        let (stiffest, damped) = (most(&|s| s.k), most(&|s| s.along + s.relative));
        let stable = |parts: &u32| {
            let parts = f64::from(*parts);
            let h = start.h / parts;
            let alpha = method.alpha / (parts * parts);
            2.0 * stiffest * h * h + alpha + 4.0 * damped * h <= 0.95 * 4.0
        };
        let parts = (1..).find(stable).unwrap();
        let (h, alpha) = (start.h / f64::from(parts), method.alpha / f64::from(parts).powi(2));
        let (mut x, mut v, free) = (start.x.clone(), start.velocities(), start.free());
        for _ in 0..parts {
            let goals = goals(&self.rest, &self.mass, &x, method.beta);
            let (f, drag) = (springs.force(&x, &v), self.lumped_drag(&x, &v));
            for i in (0..n).filter(|&i| free[i]) {
                let m = self.mass[i];
                let impulse = alpha * m * (goals[i] - x[i]) / h + h * f[i];
                v[i] += impulse / (m + h * drag[i]);
            }
            x.iter_mut().zip(&v).for_each(|(x, v)| *x += h * *v);
        }
        (x, v)
    }
}
