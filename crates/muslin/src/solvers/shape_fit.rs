//! The fit of shape matching: where points would be if they were their rest shape, turned and
//! deformed by a few modes.
//!
//! ```text
//!   p_i = x_i − x_cm,  x_cm = Σ m x / Σ m                    Rubin Eq. 5, mass weighted
//!   g_i = (β Ã + (1 − β) R̃) q̃_i + x_cm                       Rubin Eq. 6
//!   Ã = (Σ m p q̃ᵀ)(Σ m q̃ q̃ᵀ)⁻¹,   R̃ = [R 0]                  Müller et al. 2005 §4.3
//!   R = rotation of the polar decomposition of Σ m p qᵀ
//!   q̃ = (u, v, u², v², uv)                                   a planar rest shape
//!   q̃ = (u, v, w, u², v², w², uv, vw, wu)                    any other
//! ```
//!
//! u, v, w are rest coordinates along the principal axes. Every column of q̃ is taken less its mean,
//! without which Σ m (g − x) would not vanish, and the columns are made orthonormal once,
//! Σ m Q_a Q_b = δ_ab Σ m, so that the inverse above is the identity:
//!
//! ```text
//!   C_k = Σ m x Q_k / Σ m,    g = x_cm + Σ_k (β C_k + (1 − β) σ_k R_k) Q_k,    σ_k R_k = 0 for squares and products
//! ```
//!
//! A column that depends on those before it (w² of two layers, u² of two points, v of a chain)
//! drops out: the fit falls back to lower modes. A nearly planar shape keeps the planar columns; its
//! heights w turn with the shape.

use super::Modes;
use glam::{DMat3, DVec3};

/// One vector per column of a row; the fourth lane is padding.
pub type Columns = [[f64; 4]; 10];

/// The weight and columns of a row of a planar shape, and of any other.
const PLANAR: usize = 6;
const FULL: usize = 10;

/// A shape whose second extent is below this fraction of the first is a chain.
const STRAIGHT: f64 = 1e-4;

/// What a column must have left, squared, after those before it are taken out.
const INDEPENDENT: f64 = 1e-10;

/// Heights below this fraction of the largest coordinate are the rounding of f32.
const ROUNDING: f64 = 3e-7;

/// Thickness of a rest shape, as a fraction of its width, below which it counts as planar.
pub const THIN: f64 = 0.05;

/// A rest shape, prepared for fitting.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// m/Σm and the columns of every point, `stride` numbers each.
    rows: Vec<f64>,
    stride: usize,
    /// Columns that are coordinates, and all fitted ones.
    linear: usize,
    terms: usize,
    /// σ_k. [m]
    spread: [f64; 3],
    /// Share of each column in the heights of a nearly planar shape. [m]
    lift: [f64; 9],
    /// Whether a last column holds what remains of the heights.
    uneven: bool,
    /// The shape does not deform.
    rigid: bool,
    /// Principal axes of the rest shape, the longest first.
    axes: DMat3,
}

impl Fit {
    /// Prepares points at rest; a shape thinner than `thin` of its width counts as planar.
    pub fn new(rest: &[DVec3], mass: &[f64], modes: Modes, thin: f64) -> Self {
        let total: f64 = mass.iter().sum();
        let weight: Vec<f64> = mass.iter().map(|m| m / total).collect();
        let mean = |values: &[f64]| -> f64 { values.iter().zip(&weight).map(|(a, w)| w * a).sum() };
        let product = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).zip(&weight).map(|((a, b), w)| w * a * b).sum()
        };
        let centre: DVec3 = rest.iter().zip(&weight).map(|(x, w)| *w * *x).sum();
        let mut spread_matrix = DMat3::ZERO;
        for (x, w) in rest.iter().zip(&weight) {
            let q = *x - centre;
            spread_matrix += *w * DMat3::from_cols(q * q.x, q * q.y, q * q.z);
        }
        let (axes, squares) = principal(spread_matrix);
        let spread = squares.max(DVec3::ZERO).to_array().map(f64::sqrt);
        let size = rest.iter().fold(0.0, |size: f64, x| size.max(x.abs().max_element()));
        let linear = match spread {
            [s, ..] if s <= 1e-12 * size => 0,
            [s, t, _] if t <= STRAIGHT * s => 1,
            [_, t, u] if u <= thin * t => 2,
            _ => 3,
        };

        // Coordinates, then squares, then products, in units of the spread.
        let along = |k: usize| -> Vec<f64> {
            rest.iter().map(|x| (*x - centre).dot(axes.col(k))).collect()
        };
        let scaled = |k: usize| along(k).iter().map(|q| q / spread[k]).collect::<Vec<f64>>();
        let coordinates: Vec<Vec<f64>> = (0..linear).map(scaled).collect();
        let mut raw = coordinates.clone();
        if modes == Modes::Quadratic {
            let times = |a: usize, b: usize| {
                coordinates[a].iter().zip(&coordinates[b]).map(|(a, b)| a * b).collect()
            };
            raw.extend((0..linear).map(|k| times(k, k)));
            let pairs = [(0, 1), (1, 2), (2, 0)].into_iter().filter(|&(a, b)| a.max(b) < linear);
            raw.extend(pairs.map(|(a, b)| times(a, b)));
        }

        // Gram–Schmidt, twice for the last bits; dependent columns drop out.
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for mut column in raw {
            let before = product(&column, &column);
            for _ in 0..2 {
                let constant = mean(&column);
                column.iter_mut().for_each(|c| *c -= constant);
                for earlier in &columns {
                    let share = product(&column, earlier);
                    column.iter_mut().zip(earlier).for_each(|(c, e)| *c -= share * e);
                }
            }
            let left = product(&column, &column);
            if left > INDEPENDENT * before {
                let length = left.sqrt();
                column.iter_mut().for_each(|c| *c /= length);
                columns.push(column);
            }
        }
        let terms = columns.len();

        let (mut lift, mut uneven) = ([0.0; 9], false);
        if linear == 2 {
            let mut heights = along(2);
            for (k, column) in columns.iter().enumerate() {
                lift[k] = product(&heights, column);
            }
            for (k, column) in columns.iter().enumerate() {
                heights.iter_mut().zip(column).for_each(|(h, c)| *h -= lift[k] * c);
            }
            uneven = product(&heights, &heights).sqrt() > ROUNDING * size;
            columns.extend(uneven.then_some(heights));
        }

        let stride = if columns.len() < PLANAR { PLANAR } else { FULL };
        let mut rows = vec![0.0; stride * rest.len()];
        for (i, row) in rows.chunks_exact_mut(stride).enumerate() {
            row[0] = weight[i];
            row[1..].iter_mut().zip(&columns).for_each(|(r, column)| *r = column[i]);
        }
        let rigid = modes == Modes::Rigid;
        Self { rows, stride, linear, terms, spread, lift, uneven, rigid, axes }
    }

    /// Number of columns that are fitted: 5 for a planar shape, up to 9 for others.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// Principal axes of the rest shape, the longest first.
    pub fn axes(&self) -> DMat3 {
        self.axes
    }

    /// Root mean square extent along the longest axis. [m]
    pub fn longest(&self) -> f64 {
        self.spread[0]
    }

    /// Distance of neighbours if the points fill a rectangle, or a line, evenly. [m]
    pub fn spacing(&self) -> f64 {
        let count = (self.rows.len() / self.stride) as f64;
        let [length, width] = [self.spread[0], self.spread[1]].map(|s| 12f64.sqrt() * s);
        if self.linear < 2 { length / count } else { (length * width / count).sqrt() }
    }

    /// Σ m x Q_k / Σ m over some points, the first of which is `first` in the rest shape; `at` says
    /// where they are.
    #[inline(always)]
    pub fn sums<T>(&self, first: usize, points: &[T], at: impl Fn(&T) -> DVec3) -> Columns {
        if self.stride == PLANAR {
            sum_rows::<PLANAR, T>(&self.rows, first, points, at)
        } else {
            sum_rows::<FULL, T>(&self.rows, first, points, at)
        }
    }

    /// R from the sums over all points: turns the principal axes at rest, taken as x, y, z.
    pub fn rotation(&self, sums: &Columns) -> DMat3 {
        let mut moment = DMat3::ZERO;
        for k in 0..self.linear {
            *moment.col_mut(k) = self.spread[k] * vector(sums[k + 1]);
        }
        rotation(moment)
    }

    /// What to multiply each column with: x_cm, then β C_k + (1 − β) σ_k R_k.
    pub fn transform(&self, sums: &Columns, beta: f64) -> Columns {
        let beta = if self.rigid { 0.0 } else { beta };
        let turned = self.rotation(sums);
        let mut out = [[0.0; 4]; 10];
        out[0] = sums[0];
        for k in 0..self.terms {
            let mut at_rest = self.lift[k] * turned.z_axis;
            if k < self.linear {
                at_rest += self.spread[k] * turned.col(k);
            }
            out[k + 1] = lanes(beta * vector(sums[k + 1]) + (1.0 - beta) * at_rest);
        }
        if self.uneven {
            out[self.terms + 1] = lanes(turned.z_axis);
        }
        out
    }

    /// g of one point.
    #[inline(always)]
    pub fn goal(&self, transform: &Columns, point: usize) -> DVec3 {
        if self.stride == PLANAR {
            goal_row::<PLANAR>(&self.rows, transform, point)
        } else {
            goal_row::<FULL>(&self.rows, transform, point)
        }
    }

    /// g of every point.
    pub fn goals(&self, x: &[DVec3], beta: f64) -> Vec<DVec3> {
        let transform = self.transform(&self.sums(0, x, |x| *x), beta);
        (0..x.len()).map(|i| self.goal(&transform, i)).collect()
    }
}

fn lanes(v: DVec3) -> [f64; 4] {
    [v.x, v.y, v.z, 0.0]
}

fn vector(lanes: [f64; 4]) -> DVec3 {
    DVec3::new(lanes[0], lanes[1], lanes[2])
}

#[inline(always)]
fn sum_rows<const S: usize, T>(
    rows: &[f64],
    first: usize,
    points: &[T],
    at: impl Fn(&T) -> DVec3,
) -> Columns {
    let (rows, _) = rows.as_chunks::<S>();
    let mut sums = [[0.0; 4]; S];
    for (row, point) in rows[first..].iter().zip(points) {
        let x = at(point);
        let weighted = [row[0] * x.x, row[0] * x.y, row[0] * x.z, 0.0];
        for k in 0..S {
            let factor = if k == 0 { 1.0 } else { row[k] };
            for lane in 0..4 {
                sums[k][lane] += weighted[lane] * factor;
            }
        }
    }
    let mut out = [[0.0; 4]; 10];
    out[..S].copy_from_slice(&sums);
    out
}

#[inline(always)]
fn goal_row<const S: usize>(rows: &[f64], transform: &Columns, point: usize) -> DVec3 {
    let (rows, _) = rows.as_chunks::<S>();
    let row = &rows[point];
    let mut sum = transform[0];
    for k in 1..S {
        for lane in 0..4 {
            sum[lane] += transform[k][lane] * row[k];
        }
    }
    vector(sum)
}

/// The rotation nearest to `f`: its polar decomposition with the third direction completed by a
/// cross product, so that it is a rotation even where `f` is flat, collapsed or turned inside out.
pub fn rotation(f: DMat3) -> DMat3 {
    let columns = [f.x_axis, f.y_axis, f.z_axis];
    let size = columns.iter().fold(0.0, |size: f64, c| size.max(c.abs().max_element()));
    if !(size > 0.0 && f.is_finite()) {
        return DMat3::IDENTITY;
    }
    let f = f * (1.0 / size);
    let (from, _) = principal(f.transpose() * f);
    let Some(first) = (f * from.x_axis).try_normalize() else {
        return DMat3::IDENTITY;
    };
    let second = f * from.y_axis;
    let second = second - first.dot(second) * first;
    let second =
        if second.length() > 1e-9 { second.normalize() } else { first.any_orthonormal_vector() };
    DMat3::from_cols(first, second, first.cross(second)) * from.transpose()
}

/// Eigenvectors of a symmetric matrix as a right-handed basis, and its eigenvalues, largest first:
/// Jacobi's method.
fn principal(matrix: DMat3) -> (DMat3, DVec3) {
    let mut a = matrix.to_cols_array_2d();
    let mut basis = DMat3::IDENTITY.to_cols_array_2d();
    let turn =
        |first: f64, second: f64, c: f64, s: f64| (c * first - s * second, s * first + c * second);
    for _ in 0..16 {
        let beside = a[0][1].powi(2) + a[0][2].powi(2) + a[1][2].powi(2);
        let diagonal = a[0][0].powi(2) + a[1][1].powi(2) + a[2][2].powi(2);
        if beside <= 1e-34 * diagonal {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let half = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let tangent = 1.0f64.copysign(half) / (half.abs() + (half * half + 1.0).sqrt());
            let c = 1.0 / (tangent * tangent + 1.0).sqrt();
            let s = tangent * c;
            for k in 0..3 {
                (a[k][p], a[k][q]) = turn(a[k][p], a[k][q], c, s);
            }
            for k in 0..3 {
                (a[p][k], a[q][k]) = turn(a[p][k], a[q][k], c, s);
                (basis[p][k], basis[q][k]) = turn(basis[p][k], basis[q][k], c, s);
            }
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    let [first, second, third] = order;
    let (x, y) = (DVec3::from_array(basis[first]), DVec3::from_array(basis[second]));
    let values = DVec3::new(a[first][first], a[second][second], a[third][third]);
    (DMat3::from_cols(x, y, x.cross(y)), values)
}
