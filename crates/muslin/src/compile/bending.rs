//! Hinge stiffness from a fabric's bending rigidity, for any flat or nearly flat mesh.
//!
//! A hinge has E = ½ k w θ². What rigidity a mesh of hinges has depends on its pattern, so it is
//! measured: impose a uniform curvature K = (κ₁₁, κ₂₂, 2κ₁₂) on the rest mesh, clamp the outer two rings of
//! vertices, and let the heights z of the others settle on a weak foundation, which stops all waves
//! longer than a few cells. Each hinge then opens by θ = a · K + c · z, with c its flat coefficients and a · K the opening before settling,
//! and with sums over triangles well inside
//!
//! ```text
//!   D = Σ ½ w θ θᵀ / Σ A/3       plate rigidity for k = 1; sums over the sides of hinges
//!   strip(φ) = 1/(tᵀ D⁻¹ t),     t = (cos²φ, sin²φ, cos φ sin φ)
//! ```
//!
//! strip(φ) is what a cantilever or KES test of a strip cut at angle φ measures. Without the settling
//! a grid with alternating diagonals would come out a third too soft: its vertices of four and of
//! eight triangles move apart. Of the two usual weights, w = 1 and w = l²/(A₁ + A₂), the one with the
//! smaller spread over φ is taken (w = 1 is isotropic on that grid, both are on equilateral meshes),
//! and k is set so that the mean over φ is the fabric's B. A mesh too narrow to have an inside is
//! judged without settling, by its triangles that have a hinge on each side, and takes the k known for
//! the two patterns: 3/2 for w = 1, 9/8 for w = l²/(A₁ + A₂).

use crate::forces::hinge;
use crate::mesh::triangles;
use glam::{DMat3, DVec2, DVec3};
use std::collections::HashMap;

/// Steps of conjugate gradients that settle the heights; the foundation makes few enough.
const SETTLING: usize = 60;

/// Stiffness of the foundation over that of a single vertex: the waves of the pattern itself, one
/// or two cells long, are hindered by half a percent, those of ten cells all but stopped.
const FOUNDATION: f64 = 1.0 / 100.0;

/// Vertices this many edges from the border no longer feel it.
const WELL_INSIDE: u32 = 10;

/// The hinges of a mesh: every edge between two triangles.
pub struct HingeMesh {
    /// Edge ends, then the two vertices opposite.
    pub corners: Vec<[u32; 4]>,
    /// A₁ + A₂ of each hinge. [m²]
    areas: Vec<f64>,
    /// Edges between each vertex and the border, counted up to [`WELL_INSIDE`].
    depth: Vec<u32>,
}

impl HingeMesh {
    pub fn new(points: &[DVec3], faces: &[[u32; 3]]) -> Self {
        let area = |t: u32| {
            let [a, b, c] = faces[t as usize].map(|i| points[i as usize]);
            0.5 * (b - a).cross(c - a).length()
        };
        let edges = triangles::edges(faces);
        let mut mesh =
            Self { corners: Vec::new(), areas: Vec::new(), depth: vec![WELL_INSIDE; points.len()] };
        let border = edges.iter().filter(|edge| edge.sides.len() == 1);
        border.flat_map(|e| e.ends).for_each(|end| mesh.depth[end as usize] = 0);
        for _ in 0..WELL_INSIDE {
            for [a, b] in edges.iter().map(|edge| edge.ends.map(|end| end as usize)) {
                let least = mesh.depth[a].min(mesh.depth[b]) + 1;
                mesh.depth[a] = mesh.depth[a].min(least);
                mesh.depth[b] = mesh.depth[b].min(least);
            }
        }
        for edge in edges {
            // An edge with three or more triangles hinges each pair of neighbours in order.
            for pair in edge.sides.windows(2).filter(|pair| pair[0].0 != pair[1].0) {
                mesh.corners.push([edge.ends[0], edge.ends[1], pair[0].0, pair[1].0]);
                mesh.areas.push(area(pair[0].1) + area(pair[1].1));
            }
        }
        mesh
    }

    /// The two usual weights of each hinge: 1, and l²/(A₁ + A₂).
    fn weights(&self, points: &[DVec3]) -> [Vec<f64>; 2] {
        let shape = (self.corners.iter().zip(&self.areas)).map(|(corners, area)| {
            let [a, b, ..] = corners.map(|i| points[i as usize]);
            if *area > 0.0 { a.distance_squared(b) / area } else { 0.0 }
        });
        [vec![1.0; self.corners.len()], shape.collect()]
    }

    /// The better of the two weights (its number) and k for bending rigidity 1.
    pub fn calibrate(&self, points: &[DVec3]) -> (usize, f64) {
        let has_inside = self.depth.iter().any(|depth| *depth >= 6);
        let [ones, shape] =
            self.weights(points).map(|w| self.strip_rigidity(points, &w, has_inside));
        // Without a clear difference the weights that know the triangles' shape.
        let number = match (ones, shape) {
            (Some((_, spread)), Some((_, other))) if spread < other - 0.01 => 0,
            _ => 1,
        };
        let known = [1.5, 9.0 / 8.0][number];
        match [ones, shape][number] {
            Some((mean, _)) if has_inside => (number, 1.0 / mean),
            _ => (number, known),
        }
    }

    /// K = k w of every hinge for bending rigidity `b` by a calibration.
    pub fn stiffness(&self, points: &[DVec3], calibration: (usize, f64), b: f64) -> Vec<f64> {
        let (number, k) = calibration;
        self.weights(points)[number].iter().map(|w| b * k * w).collect()
    }

    /// Mean and relative spread over all cutting angles of the strip rigidity for k = 1.
    fn strip_rigidity(
        &self,
        points: &[DVec3],
        weights: &[f64],
        settled: bool,
    ) -> Option<(f64, f64)> {
        let flat = self.tangent_plane(points);
        // Half of a hinge belongs to each of its triangles. On a narrow mesh, as far inside as there is.
        let sides = |h: usize| {
            let [a, b, c, d] = self.corners[h];
            [[a, b, c], [a, b, d]]
        };
        let depth =
            |side: &[u32; 3]| side.iter().map(|&i| self.depth[i as usize]).min().unwrap_or(0);
        let hinges = 0..self.corners.len();
        let deepest = hinges.clone().flat_map(sides).map(|side| depth(&side)).max().unwrap_or(0);
        let rows: Vec<Row> = (self.corners.iter().zip(weights))
            .map(|(corners, &weight)| Row::new(corners, points, &flat, weight))
            .collect();
        // Opening of each hinge under each of the three unit curvatures.
        let openings: [Vec<f64>; 3] = std::array::from_fn(|axis| {
            let still = vec![0.0; points.len()];
            let heights = if settled { settle(&rows, &self.depth, axis) } else { still };
            rows.iter().map(|row| row.imposed[axis] + row.dot(&heights)).collect()
        });
        let mut hinges_of = HashMap::new();
        for mut side in hinges.clone().flat_map(sides) {
            side.sort_unstable();
            *hinges_of.entry(side).or_insert(0) += 1;
        }
        let counts = |side: &&[u32; 3]| {
            let mut key = **side;
            key.sort_unstable();
            if settled { depth(side) >= deepest } else { hinges_of[&key] == 3 }
        };
        let (mut d, mut area) = (DMat3::ZERO, 0.0);
        for h in hinges {
            let opening = DVec3::from_array(std::array::from_fn(|axis| openings[axis][h]));
            for side in sides(h).iter().filter(counts) {
                let [p, q, r] = side.map(|i| points[i as usize]);
                d += 0.5 * weights[h] * outer(opening);
                area += 0.5 * (q - p).cross(r - p).length() / 3.0;
            }
        }
        d *= 1.0 / area;
        let size = d.x_axis.x.max(d.y_axis.y).max(d.z_axis.z);
        if !(size > 0.0 && d.determinant() > 1e-9 * size.powi(3)) {
            return None;
        }
        let compliance = d.inverse();
        let rigidity: Vec<f64> = (0..8)
            .map(|i| {
                let (s, c) = (f64::from(i) * std::f64::consts::PI / 8.0).sin_cos();
                let t = DVec3::new(c * c, s * s, c * s);
                1.0 / t.dot(compliance * t)
            })
            .collect();
        let mean = rigidity.iter().sum::<f64>() / 8.0;
        let spread = rigidity.iter().fold(0.0f64, |m, r| m.max((r / mean - 1.0).abs()));
        (mean.is_finite() && mean > 0.0).then_some((mean, spread))
    }

    /// Coordinates in the plane most triangles lie along.
    fn tangent_plane(&self, points: &[DVec3]) -> impl Fn(DVec3) -> DVec2 + use<> {
        let normal: DVec3 = self
            .corners
            .iter()
            .map(|corners| {
                let x = corners.map(|i| points[i as usize]);
                let e = x[1] - x[0];
                let n = e.cross(x[2] - x[0]) + (x[3] - x[0]).cross(e);
                // Hinges are stored with either orientation; fold them to one side.
                if n.dot(DVec3::new(0.31, 0.83, 0.46)) < 0.0 { -n } else { n }
            })
            .sum();
        let normal = normal.try_normalize().unwrap_or(DVec3::Y);
        let axis = normal.any_orthonormal_vector();
        let other = normal.cross(axis);
        move |p| DVec2::new(p.dot(axis), p.dot(other))
    }
}

/// One hinge as a linear function of heights.
struct Row {
    corners: [usize; 4],
    coefficients: [f64; 4],
    weight: f64,
    /// Opening under each unit curvature.
    imposed: [f64; 3],
}

impl Row {
    fn new(
        corners: &[u32; 4],
        points: &[DVec3],
        flat: impl Fn(DVec3) -> DVec2,
        weight: f64,
    ) -> Self {
        let corners = corners.map(|i| i as usize);
        let at = corners.map(|i| points[i]);
        let coefficients = hinge::flat_coefficients(at).map(f64::from);
        let mut imposed = [0.0; 3];
        for (corner, c) in at.iter().zip(coefficients) {
            let p = flat(*corner - at[0]);
            let heights = [p.x * p.x, p.y * p.y, p.x * p.y];
            imposed.iter_mut().zip(heights).for_each(|(sum, z)| *sum += 0.5 * c * z);
        }
        Self { corners, coefficients, weight, imposed }
    }

    fn dot(&self, z: &[f64]) -> f64 {
        self.corners.iter().zip(self.coefficients).map(|(&i, c)| c * z[i]).sum()
    }

    fn add(&self, scale: f64, out: &mut [f64]) {
        for (&i, c) in self.corners.iter().zip(self.coefficients) {
            out[i] += scale * c;
        }
    }
}

/// Heights that minimise Σ w (imposed + c · z)² plus the foundation's share.
fn settle(rows: &[Row], depth: &[u32], axis: usize) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let zeros = vec![0.0; depth.len()];
    let (mut diagonal, mut r) = (zeros.clone(), zeros.clone());
    for row in rows {
        row.add(-row.weight * row.imposed[axis], &mut r);
        for (&i, c) in row.corners.iter().zip(row.coefficients) {
            diagonal[i] += row.weight * c * c;
        }
    }
    let (mut z, mut p, mut q) = (zeros.clone(), zeros.clone(), zeros.clone());
    let mut rho = 0.0;
    for step in 0..SETTLING {
        // A clamped vertex never moves.
        let free = |i: usize| depth[i] > 1 && diagonal[i] > 0.0;
        let preconditioned: Vec<f64> =
            (0..r.len()).map(|i| if free(i) { r[i] / diagonal[i] } else { 0.0 }).collect();
        let rho_old = rho;
        rho = dot(&r, &preconditioned);
        let beta = if step == 0 { 0.0 } else { rho / rho_old };
        p.iter_mut().zip(&preconditioned).for_each(|(p, s)| *p = s + beta * *p);
        for ((q, p), d) in q.iter_mut().zip(&p).zip(&diagonal) {
            *q = FOUNDATION * d * p;
        }
        rows.iter().for_each(|row| row.add(row.weight * row.dot(&p), &mut q));
        let curvature = dot(&p, &q);
        if curvature <= 0.0 || rho <= 0.0 {
            break;
        }
        let alpha = rho / curvature;
        z.iter_mut().zip(&p).for_each(|(z, p)| *z += alpha * p);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
    }
    z
}

fn outer(a: DVec3) -> DMat3 {
    DMat3::from_cols(a * a.x, a * a.y, a * a.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::grid;

    /// Effective strip rigidities of known meshes (physics references, trap 2), for k = 1.
    #[test]
    fn strip_rigidity_of_known_meshes() {
        let n = 27;
        let point = |i: usize, skew: f64, height: f64| {
            let (row, column) = ((i / n) as f64, (i % n) as f64);
            DVec3::new(column + skew * row, 0.0, height * row)
        };
        let square: Vec<DVec3> = (0..n * n).map(|i| point(i, 0.0, 1.0)).collect();
        let mesh = HingeMesh::new(&square, &grid::triangles(n, n));
        let [ones, shape] = mesh.weights(&square);
        let (mean, spread) = mesh.strip_rigidity(&square, &ones, true).unwrap();
        assert!((mean / (2.0 / 3.0) - 1.0).abs() < 0.01 && spread < 0.01, "{mean} {spread}");
        // Weighted by l²/(A₁+A₂) the same grid has 0.8 along its axes and 1 along its diagonals.
        let (mean, spread) = mesh.strip_rigidity(&square, &shape, true).unwrap();
        assert!((mean / 0.9 - 1.0).abs() < 0.02 && (spread - 0.11).abs() < 0.02, "{mean} {spread}");
        assert_eq!(mesh.calibrate(&square).0, 0);

        let equilateral: Vec<DVec3> = (0..n * n).map(|i| point(i, 0.5, 0.75f64.sqrt())).collect();
        let mut faces = Vec::new();
        for a in (0..n * (n - 1)).filter(|a| a % n != n - 1).map(|a| a as u32) {
            let n = n as u32;
            faces.extend([[a, a + 1, a + n], [a + 1, a + n + 1, a + n]]);
        }
        let mesh = HingeMesh::new(&equilateral, &faces);
        let [_, shape] = mesh.weights(&equilateral);
        let (mean, spread) = mesh.strip_rigidity(&equilateral, &shape, true).unwrap();
        assert!((mean / (8.0 / 9.0) - 1.0).abs() < 0.01 && spread < 0.01, "{mean} {spread}");
    }
}
