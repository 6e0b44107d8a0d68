//! Symmetric 3×3 matrices in six floats.

use glam::Vec3;
use std::ops::{AddAssign, Mul};

/// A symmetric 3×3 matrix: xx, xy, xz, yy, yz, zz.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sym3(pub [f32; 6]);

impl Sym3 {
    /// The zero matrix.
    pub const ZERO: Self = Self([0.0; 6]);

    /// `value · I`.
    #[inline]
    pub fn scalar(value: f32) -> Self {
        Self([value, 0.0, 0.0, value, 0.0, value])
    }

    /// `value · n nᵀ`.
    #[inline]
    pub fn outer(value: f32, n: Vec3) -> Self {
        let s = value * n;
        Self([
            s.x * n.x,
            s.x * n.y,
            s.x * n.z,
            s.y * n.y,
            s.y * n.z,
            s.z * n.z,
        ])
    }

    /// The inverse, computed in double precision because a stretched sheet is a million times
    /// stiffer in its plane than across it. A matrix that is not positive definite, as rounding
    /// or a compressed spring can make it, is inverted after raising its diagonal.
    pub fn inverse(self) -> Self {
        let m = self.0.map(f64::from);
        let trace = (m[0].abs() + m[3].abs() + m[5].abs()).max(f64::from(f32::MIN_POSITIVE));
        let mut raise = 0.0;
        for _ in 0..3 {
            let (xx, yy, zz) = (m[0] + raise, m[3] + raise, m[5] + raise);
            let (xy, xz, yz) = (m[1], m[2], m[4]);
            let (cxx, cxy, cxz) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
            let det = xx * cxx + xy * cxy + xz * cxz;
            let minor = xx * yy - xy * xy;
            if xx > 0.0 && minor > 0.0 && det > 0.0 {
                let s = 1.0 / det;
                let (cyy, cyz) = (xx * zz - xz * xz, xy * xz - xx * yz);
                return Self([cxx, cxy, cxz, cyy, cyz, minor].map(|c| (c * s) as f32));
            }
            raise = if raise == 0.0 { 1e-7 * trace } else { trace };
        }
        Self::scalar((1.0 / trace) as f32)
    }
}

impl AddAssign for Sym3 {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a += b;
        }
    }
}

impl Mul<Vec3> for Sym3 {
    type Output = Vec3;

    #[inline]
    fn mul(self, v: Vec3) -> Vec3 {
        let [xx, xy, xz, yy, yz, zz] = self.0;
        Vec3::new(
            xx * v.x + xy * v.y + xz * v.z,
            xy * v.x + yy * v.y + yz * v.z,
            xz * v.x + yz * v.y + zz * v.z,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_matrix_is_identity() {
        let mut m = Sym3::outer(3.0, Vec3::new(0.6, 0.0, 0.8));
        m += Sym3::scalar(0.5);
        for v in [Vec3::X, Vec3::Y, Vec3::new(1.0, -2.0, 3.0)] {
            assert!((m.inverse() * (m * v)).distance(v) < 1e-5);
        }
    }

    #[test]
    fn inverse_of_a_hopeless_matrix_is_finite() {
        for m in [
            Sym3::ZERO,
            Sym3::scalar(-1.0),
            Sym3([1.0, 9.0, 9.0, 1.0, 9.0, 1.0]),
        ] {
            assert!(m.inverse().0.iter().all(|v| v.is_finite()), "{m:?}");
        }
    }
}
