//! Symmetric 3×3 matrices in six floats.

use glam::{Vec3, Vec4, Vec4Swizzles};
use std::ops::{AddAssign, Mul};

/// A symmetric 3×3 matrix: xx, yy, zz, xy, yz, zx.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sym3(pub [f32; 6]);

impl Sym3 {
    /// The zero matrix.
    pub const ZERO: Self = Self([0.0; 6]);

    /// `value · I`.
    #[inline]
    pub fn scalar(value: f32) -> Self {
        Self([value, value, value, 0.0, 0.0, 0.0])
    }

    /// `value · n nᵀ`.
    #[inline]
    pub fn outer(value: f32, n: Vec3) -> Self {
        let s = value * n;
        Self([s.x * n.x, s.y * n.y, s.z * n.z, s.x * n.y, s.y * n.z, s.z * n.x])
    }

    /// Adds `s · other`.
    #[inline(always)]
    pub fn add_scaled(&mut self, s: f32, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += s * b);
    }

    /// The inverse, computed in double precision because a stretched sheet is a million times
    /// stiffer in its plane than across it. A matrix that is not positive definite, as rounding
    /// or a compressed spring can make it, is inverted after raising its diagonal.
    pub fn inverse(self) -> Self {
        let m = self.0.map(f64::from);
        let trace = (m[0].abs() + m[1].abs() + m[2].abs()).max(1e-25);
        let mut raise = 0.0;
        for _ in 0..3 {
            let (xx, yy, zz) = (m[0] + raise, m[1] + raise, m[2] + raise);
            let (xy, yz, xz) = (m[3], m[4], m[5]);
            let (cxx, cxy, cxz) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
            let det = xx * cxx + xy * cxy + xz * cxz;
            let minor = xx * yy - xy * xy;
            if xx > 0.0 && minor > 0.0 && det > 0.0 {
                let s = 1.0 / det;
                let (cyy, cyz) = (xx * zz - xz * xz, xy * xz - xx * yz);
                return Self([cxx, cyy, minor, cxy, cyz, cxz].map(|c| (c * s) as f32));
            }
            raise = if raise == 0.0 { 1e-7 * trace } else { trace };
        }
        Self::scalar((1.0 / trace) as f32)
    }
}

/// A [`Sym3`] in a whole vector register: the last two numbers are zero. For sums of blocks from many places.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Wide(pub [f32; 8]);

impl Wide {
    /// The zero matrix.
    pub const ZERO: Self = Self([0.0; 8]);

    /// Adds `s · other`.
    #[inline(always)]
    pub fn add_scaled(&mut self, s: f32, other: &Self) {
        for k in 0..8 {
            self.0[k] += s * other.0[k];
        }
    }
}

impl From<Sym3> for Wide {
    #[inline(always)]
    fn from(Sym3([xx, yy, zz, xy, yz, zx]): Sym3) -> Self {
        Self([xx, yy, zz, xy, yz, zx, 0.0, 0.0])
    }
}

impl From<Wide> for Sym3 {
    #[inline(always)]
    fn from(Wide([xx, yy, zz, xy, yz, zx, _, _]): Wide) -> Self {
        Self([xx, yy, zz, xy, yz, zx])
    }
}

impl AddAssign for Wide {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        for k in 0..8 {
            self.0[k] += other.0[k];
        }
    }
}

/// A running Σ s M: [`Sym3::halves`] of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct WeightedSum([Vec4; 2]);

impl WeightedSum {
    /// Adds `s M`.
    #[inline(always)]
    pub fn add(&mut self, s: f32, m: &Sym3) {
        for (sum, half) in self.0.iter_mut().zip(m.halves()) {
            *sum += s * half;
        }
    }
}

impl AddAssign for WeightedSum {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, half)| *sum += half);
    }
}

impl From<WeightedSum> for Sym3 {
    #[inline(always)]
    fn from(WeightedSum([low, high]): WeightedSum) -> Self {
        Self([low.x, low.y, low.z, low.w, high.z, high.w])
    }
}

/// A running Σ M v. Vectors are given as (x, y, z, x): with the six floats of M as d = (xx, yy, zz, ·)
/// and o = (·, xy, yz, zx), d ∘ v, o ∘ v and o ∘ (·, x, y, z) are the nine products, and the shuffles
/// that bring them to their rows are left to the end of the sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProductSum {
    /// xx x, yy y, zz z.
    diagonal: Vec4,
    /// ·, xy y, yz z, zx x: of rows x, y, z.
    ahead: Vec4,
    /// ·, xy x, yz y, zx z: of rows y, z, x.
    behind: Vec4,
}

impl ProductSum {
    /// `m v` alone.
    #[inline(always)]
    fn of(m: &Sym3, v: Vec4) -> Self {
        let [d, o] = m.halves();
        Self { diagonal: d * v, ahead: o * v, behind: o * v.wxyz() }
    }

    /// Adds `m v`.
    #[inline(always)]
    pub fn add(&mut self, m: &Sym3, v: Vec4) {
        let Self { diagonal, ahead, behind } = Self::of(m, v);
        self.diagonal += diagonal;
        self.ahead += ahead;
        self.behind += behind;
    }

    /// The sum, plus `a`: in the fewest steps after the last product. Its fourth number means nothing.
    #[inline(always)]
    pub fn plus(self, a: Vec4) -> Vec4 {
        (a + self.diagonal) + (self.ahead.yzwx() + self.behind.wyzx())
    }
}

impl Sym3 {
    /// `M v + a` for v as (x, y, z, x).
    #[inline(always)]
    pub fn times_plus(&self, v: Vec4, a: Vec4) -> Vec4 {
        ProductSum::of(self, v).plus(a)
    }

    /// (xx, yy, zz, xy) and (zz, xy, yz, zx).
    #[inline(always)]
    pub fn halves(&self) -> [Vec4; 2] {
        let bytes = bytemuck::bytes_of(&self.0);
        [bytemuck::pod_read_unaligned(&bytes[..16]), bytemuck::pod_read_unaligned(&bytes[8..])]
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
        let [xx, yy, zz, xy, yz, xz] = self.0;
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
    fn rotated_products_are_products() {
        let m = Sym3([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let v = Vec3::new(0.5, -1.5, 2.5);
        let by_hand = Vec3::new(
            1.0 * v.x + 4.0 * v.y + 6.0 * v.z,
            4.0 * v.x + 2.0 * v.y + 5.0 * v.z,
            6.0 * v.x + 5.0 * v.y + 3.0 * v.z,
        );
        let mut sum = ProductSum::default();
        let padded = Vec4::new(v.x, v.y, v.z, v.x);
        sum.add(&m, padded);
        assert_eq!(m * v, by_hand);
        assert_eq!(sum.plus(Vec4::ZERO).truncate(), by_hand);
        assert_eq!(m.times_plus(padded, padded).truncate(), by_hand + v);
    }

    #[test]
    fn inverse_of_a_hopeless_matrix_is_finite() {
        for m in [Sym3::ZERO, Sym3::scalar(-1.0), Sym3([1.0, 1.0, 1.0, 9.0, 9.0, 9.0])] {
            assert!(m.inverse().0.iter().all(|v| v.is_finite()), "{m:?}");
        }
    }
}
