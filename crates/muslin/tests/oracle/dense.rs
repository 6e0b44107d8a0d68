//! Dense matrices of 3×3 blocks.

use glam::{DMat3, DVec3};

/// A square matrix, three rows per particle.
#[derive(Clone, Debug)]
pub struct Dense {
    pub n: usize,
    a: Vec<f64>,
}

impl Dense {
    /// Zeros for `particles` particles.
    pub fn zero(particles: usize) -> Self {
        let n = 3 * particles;
        Self { n, a: vec![0.0; n * n] }
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.a[row * self.n + column]
    }

    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.a[row * self.n + column] = value;
    }

    /// Adds a block at particles (i, j).
    pub fn add_block(&mut self, i: usize, j: usize, block: DMat3) {
        for r in 0..3 {
            for c in 0..3 {
                self.a[(3 * i + r) * self.n + 3 * j + c] += block.col(c)[r];
            }
        }
    }

    /// The block at particles (i, j).
    pub fn block(&self, i: usize, j: usize) -> DMat3 {
        let column = |c| DVec3::from_array(std::array::from_fn(|r| self.at(3 * i + r, 3 * j + c)));
        DMat3::from_cols(column(0), column(1), column(2))
    }

    /// Adds `block` on both diagonals of a pair and subtracts it off the diagonal.
    pub fn add_pair(&mut self, a: usize, b: usize, block: DMat3) {
        self.add_block(a, a, block);
        self.add_block(b, b, block);
        self.add_block(a, b, -block);
        self.add_block(b, a, -block);
    }

    /// `self + factor · other`.
    pub fn plus(mut self, factor: f64, other: &Self) -> Self {
        self.a.iter_mut().zip(&other.a).for_each(|(a, b)| *a += factor * b);
        self
    }

    /// Makes the rows and columns of held particles those of the identity.
    pub fn hold(&mut self, free: &[bool]) {
        for row in 0..self.n {
            for column in 0..self.n {
                if !free[row / 3] || !free[column / 3] {
                    self.set(row, column, f64::from(u8::from(row == column)));
                }
            }
        }
    }

    pub fn times(&self, x: &[DVec3]) -> Vec<DVec3> {
        let product = |row: usize| (0..self.n).map(|c| self.at(row, c) * x[c / 3][c % 3]).sum();
        (0..self.n / 3)
            .map(|i| DVec3::new(product(3 * i), product(3 * i + 1), product(3 * i + 2)))
            .collect()
    }

    /// A⁻¹ b by elimination with partial pivoting.
    pub fn solve(&self, b: &[DVec3]) -> Vec<DVec3> {
        let n = self.n;
        let mut a = self.a.clone();
        let mut x: Vec<f64> = b.iter().flat_map(|v| v.to_array()).collect();
        for k in 0..n {
            let best = |p: &usize, q: &usize| a[p * n + k].abs().total_cmp(&a[q * n + k].abs());
            let pivot = (k..n).max_by(best).unwrap();
            assert!(a[pivot * n + k] != 0.0, "singular matrix");
            for c in 0..n {
                a.swap(k * n + c, pivot * n + c);
            }
            x.swap(k, pivot);
            for row in k + 1..n {
                let factor = a[row * n + k] / a[k * n + k];
                if factor != 0.0 {
                    for c in k..n {
                        a[row * n + c] -= factor * a[k * n + c];
                    }
                    x[row] -= factor * x[k];
                }
            }
        }
        for row in (0..n).rev() {
            let known: f64 = (row + 1..n).map(|c| a[row * n + c] * x[c]).sum();
            x[row] = (x[row] - known) / a[row * n + row];
        }
        x.chunks_exact(3).map(DVec3::from_slice).collect()
    }

    /// The smallest pivot of LDLᵀ divided by the largest: positive for a positive definite matrix.
    pub fn definiteness(&self) -> f64 {
        let n = self.n;
        let mut a = self.a.clone();
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        for k in 0..n {
            let pivot = a[k * n + k];
            (least, most) = (least.min(pivot), most.max(pivot.abs()));
            for row in k + 1..n {
                let factor = a[row * n + k] / pivot;
                for c in k..n {
                    a[row * n + c] -= factor * a[k * n + c];
                }
            }
        }
        least / most
    }
}

/// Eigenvalues and eigenvectors of a symmetric 3×3 matrix by Jacobi rotations.
pub fn eigen(m: DMat3) -> [(f64, DVec3); 3] {
    let (mut a, mut v) = (m, DMat3::IDENTITY);
    for _ in 0..30 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.col(q)[p];
            if off != 0.0 {
                let angle = 0.5 * (2.0 * off).atan2(a.col(q)[q] - a.col(p)[p]);
                let (s, c) = angle.sin_cos();
                let mut rotation = DMat3::IDENTITY;
                rotation.col_mut(p)[p] = c;
                rotation.col_mut(q)[q] = c;
                rotation.col_mut(q)[p] = s;
                rotation.col_mut(p)[q] = -s;
                a = rotation.transpose() * a * rotation;
                v *= rotation;
            }
        }
    }
    std::array::from_fn(|i| (a.col(i)[i], v.col(i)))
}

/// v vᵀ.
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
