//! The direct solve of the coarsest level.

use super::galerkin::Terms;
use crate::linalg::Sym3;
use crate::linalg::sliced::Sliced;

/// Dense Cholesky factor in f64.
#[derive(Clone, Debug)]
pub struct Dense {
    size: usize,
    /// Lower triangle, row by row.
    l: Vec<f64>,
    y: Vec<f64>,
}

impl Dense {
    /// Storage for `size` unknowns.
    pub fn new(size: usize) -> Self {
        Self { size, l: vec![0.0; size * size], y: vec![0.0; size] }
    }

    /// Factors a level's matrix, the sum of two.
    pub fn factor(&mut self, parts: [&Terms; 2], ends: &[[u32; 2]]) {
        let (n, l) = (self.size, &mut self.l);
        l.fill(0.0);
        let full = |m: &Sym3, row: usize, column: usize| {
            let [xx, yy, zz, xy, yz, xz] = m.0;
            f64::from([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]][row][column])
        };
        for Terms { own, links } in parts {
            let mut add_own = |i: usize, m: &Sym3| {
                for (row, column) in (0..3).flat_map(|r| (0..=r).map(move |c| (r, c))) {
                    l[(3 * i + row) * n + 3 * i + column] += full(m, row, column);
                }
            };
            own.iter().enumerate().for_each(|(i, own)| add_own(i, own));
            for (&[a, b], block) in ends.iter().zip(links) {
                add_own(a as usize, block);
                add_own(b as usize, block);
            }
            for (&[a, b], block) in ends.iter().zip(links) {
                let (low, high) = (a.min(b) as usize, a.max(b) as usize);
                for (row, column) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
                    l[(3 * high + row) * n + 3 * low + column] -= full(block, row, column);
                }
            }
        }
        for j in 0..n {
            let (above, from_row) = l.split_at_mut(j * n);
            let row = &mut from_row[..n];
            for k in 0..j {
                let other = &above[k * n..][..n];
                row[k] = (row[k] - dense_dot(&row[..k], &other[..k])) * other[k];
            }
            let pivot = row[j] - dense_dot(&row[..j], &row[..j]);
            // The diagonal holds inverses; a direction without stiffness of its own is left alone.
            let usable = pivot > 1e-12 * row[j].abs() && pivot.is_finite();
            row[j] = if usable { 1.0 / pivot.sqrt() } else { 0.0 };
        }
    }

    /// Solves for `b`, a vector of the level's matrix.
    pub fn solve(&mut self, order: &Sliced, b: &[f32], x: &mut [f32]) {
        let (n, l, y) = (self.size, &self.l, &mut self.y);
        let at = |i: usize| (i % 3) * order.stride() + order.places()[i / 3] as usize;
        for i in 0..n {
            let row = &l[i * n..][..n];
            y[i] = (f64::from(b[at(i)]) - dense_dot(&row[..i], &y[..i])) * row[i];
        }
        for i in (0..n).rev() {
            let row = &l[i * n..][..n];
            let value = y[i] * row[i];
            y[i] = value;
            y[..i].iter_mut().zip(&row[..i]).for_each(|(y, l)| *y -= l * value);
        }
        for (i, y) in y.iter().enumerate() {
            x[at(i)] = *y as f32;
        }
    }
}

/// Σ a b; eight running sums keep the adder busy.
fn dense_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}
