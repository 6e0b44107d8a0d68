//! Hinge stiffness from a fabric's bending rigidity, for any flat or nearly flat mesh.
//!
//! A hinge has E = ½ k w θ². What rigidity a mesh of hinges has depends on its pattern, so it is
//! measured: impose a uniform curvature K = (κ₁₁, κ₂₂, 2κ₁₂) on the rest mesh; each hinge then opens
//! by θ = a · K (linear in the heights z = ½ κ₁₁ x² + κ₁₂ x y + ½ κ₂₂ y² of its corners), and
//!
//! ```text
//!   D = (1/A) Σ w a aᵀ          plate rigidity for k = 1
//!   strip(φ) = 1/(tᵀ D⁻¹ t),    t = (cos²φ, sin²φ, cos φ sin φ)
//! ```
//!
//! strip(φ) is what a cantilever or KES test of a strip cut at angle φ measures. Of the two usual
//! weights, w = 1 and w = l²/(A₁ + A₂), the one with the smaller spread over φ is taken (w = 1 is
//! isotropic on grids with alternating diagonals, both are on equilateral meshes), and k is set so
//! that the mean over φ is the fabric's B.

use crate::forces::hinge;
use glam::{DMat3, DVec2, DVec3};

/// A hinge before its stiffness is known.
pub struct HingeShape {
    pub corners: [DVec3; 4],
    /// A₁ + A₂ of its triangles. [m²]
    pub area: f64,
}

/// K = k w of every hinge for bending rigidity `b` on a mesh of area `total_area`.
pub fn hinge_stiffness(hinges: &[HingeShape], total_area: f64, b: f64) -> Vec<f64> {
    let normal: DVec3 = hinges.iter().map(|h| area_normal(&h.corners)).sum();
    let normal = normal.try_normalize().unwrap_or(DVec3::Y);
    let axis = normal.any_orthonormal_vector();
    let flat = |p: DVec3| DVec2::new(p.dot(axis), p.dot(normal.cross(axis)));
    let shape_weight = |h: &HingeShape| {
        let edge = h.corners[1] - h.corners[0];
        if h.area > 0.0 { edge.length_squared() / h.area } else { 0.0 }
    };
    let candidates: [Vec<f64>; 2] =
        [hinges.iter().map(|_| 1.0).collect(), hinges.iter().map(shape_weight).collect()];
    let mut best: Option<(f64, f64, Vec<f64>)> = None;
    for weights in candidates {
        let Some((mean, spread)) = strip_rigidity(hinges, &weights, total_area, flat) else {
            continue;
        };
        if best.as_ref().is_none_or(|(least, ..)| spread < *least - 1e-6) {
            best = Some((spread, mean, weights));
        }
    }
    match best {
        Some((_, mean, weights)) => weights.iter().map(|w| b / mean * w).collect(),
        // Too few hinges to resist every curvature (a strip one cell wide): the plain weights.
        None => hinges.iter().map(|h| b * shape_weight(h)).collect(),
    }
}

/// Mean and relative spread over all cutting angles of the strip rigidity for k = 1.
fn strip_rigidity(
    hinges: &[HingeShape],
    weights: &[f64],
    total_area: f64,
    flat: impl Fn(DVec3) -> DVec2,
) -> Option<(f64, f64)> {
    let mut d = DMat3::ZERO;
    for (h, w) in hinges.iter().zip(weights) {
        let coefficients = hinge::flat_coefficients(h.corners).map(f64::from);
        let mut a = DVec3::ZERO;
        for (corner, c) in h.corners.iter().zip(coefficients) {
            let p = flat(*corner - h.corners[0]);
            a += 0.5 * c * DVec3::new(p.x * p.x, p.y * p.y, p.x * p.y);
        }
        d += *w * DMat3::from_cols(a * a.x, a * a.y, a * a.z);
    }
    d *= 1.0 / total_area;
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
    Some((mean, spread))
}

fn area_normal(x: &[DVec3; 4]) -> DVec3 {
    let e = x[1] - x[0];
    let (n2, n3) = (e.cross(x[2] - x[0]), (x[3] - x[0]).cross(e));
    // Hinges are stored with either orientation; fold them to one side.
    let n = n2 + n3;
    if n.dot(DVec3::new(0.31, 0.83, 0.46)) < 0.0 { -n } else { n }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{grid, triangles};

    fn shapes(points: &[DVec3], faces: &[[u32; 3]]) -> (Vec<HingeShape>, f64) {
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            0.5 * (b - a).cross(c - a).length()
        };
        let shapes = (triangles::edges(faces).iter().filter(|e| e.sides.len() == 2))
            .map(|e| HingeShape {
                corners: [e.ends[0], e.ends[1], e.sides[0].0, e.sides[1].0]
                    .map(|i| points[i as usize]),
                area: e.sides.iter().map(|s| area(&faces[s.1 as usize])).sum(),
            })
            .collect();
        (shapes, faces.iter().map(area).sum())
    }

    /// Effective strip rigidities of known meshes (physics references, trap 2), for k = 1.
    #[test]
    fn strip_rigidity_of_known_meshes() {
        // Large, because the rim lacks hinges.
        let n = 120;
        let square: Vec<DVec3> =
            (0..n * n).map(|i| DVec3::new((i % n) as f64, 0.0, (i / n) as f64)).collect();
        let flat = |p: DVec3| DVec2::new(p.x, p.z);
        let (hinges, area) = shapes(&square, &grid::triangles(n, n));
        let ones = vec![1.0; hinges.len()];
        let (mean, spread) = strip_rigidity(&hinges, &ones, area, flat).unwrap();
        assert!((mean / (2.0 / 3.0) - 1.0).abs() < 0.02 && spread < 0.01, "{mean} {spread}");

        let skewed: Vec<DVec3> = (0..n * n)
            .map(|i| {
                let (row, column) = ((i / n) as f64, (i % n) as f64);
                DVec3::new(column + 0.5 * row, 0.0, 0.75f64.sqrt() * row)
            })
            .collect();
        let mut faces = Vec::new();
        for a in (0..n * (n - 1)).filter(|a| a % n != n - 1).map(|a| a as u32) {
            let n = n as u32;
            faces.extend([[a, a + 1, a + n], [a + 1, a + n + 1, a + n]]);
        }
        let (hinges, area) = shapes(&skewed, &faces);
        let weights: Vec<f64> = hinges
            .iter()
            .map(|h| (h.corners[1] - h.corners[0]).length_squared() / h.area)
            .collect();
        let (mean, spread) = strip_rigidity(&hinges, &weights, area, flat).unwrap();
        assert!((mean / (8.0 / 9.0) - 1.0).abs() < 0.02 && spread < 0.01, "{mean} {spread}");
    }
}
