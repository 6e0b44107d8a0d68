//! Loops over the slices of a strip, or of a stretch, for vector units.

use super::{Blocks, Part, Sliced};
use crate::lanes::{LANES, Lanes};
use crate::linalg::Sym3;
use crate::linalg::pattern::{Vectors, load};
use glam::{Mat4, Vec4};

const ZERO: Vectors = [[0.0; LANES]; 3];

/// Planes that are not written for now.
#[inline(always)]
fn view<'a>(planes: &'a [&mut [f32]; 3]) -> [&'a [f32]; 3] {
    [&*planes[0], &*planes[1], &*planes[2]]
}

/// Replaces eight rows.
#[inline(always)]
fn store(planes: &mut [&mut [f32]; 3], first: usize, new: &Vectors) {
    for (plane, new) in planes.iter_mut().zip(new) {
        plane[first..][..LANES].copy_from_slice(new);
    }
}

#[inline(always)]
pub fn multiply(m: &Blocks, v: &Vectors) -> Vectors {
    let [xx, yy, zz, xy, yz, zx] = m;
    let [x, y, z] = v;
    let mut out = [[0.0; LANES]; 3];
    for l in 0..LANES {
        out[0][l] = xx[l] * x[l] + xy[l] * y[l] + zx[l] * z[l];
        out[1][l] = xy[l] * x[l] + yy[l] * y[l] + yz[l] * z[l];
        out[2][l] = zx[l] * x[l] + yz[l] * y[l] + zz[l] * z[l];
    }
    out
}

#[inline(always)]
pub fn add<const N: usize>(a: &mut [Lanes; N], b: &[Lanes; N]) {
    for (a, b) in a.iter_mut().zip(b) {
        for l in 0..LANES {
            a[l] += b[l];
        }
    }
}

#[inline(always)]
fn difference(a: &Vectors, b: &Vectors) -> Vectors {
    let mut out = [[0.0; LANES]; 3];
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        for l in 0..LANES {
            out[l] = a[l] - b[l];
        }
    }
    out
}

/// A x in a strip.
pub struct Product<'a> {
    pub matrix: &'a Sliced,
    pub strip: usize,
    pub x: &'a [f32],
    pub out: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { matrix, strip, x, mut out } = self;
        let Part { pattern, blocks } = &matrix.inner;
        let (everywhere, x) = (matrix.planes(x), matrix.strip(strip, x));
        for (slice, at) in matrix.slices(strip) {
            let here = load(x, at);
            let mut sum = multiply(&matrix.own[slice], &here);
            // What one end of a link gets is what the other end gives.
            pattern.exchange(
                slice,
                blocks,
                x,
                &mut out,
                #[inline(always)]
                |block, v| {
                    let given = multiply(block, &difference(&v, &here));
                    sum = difference(&sum, &given);
                    given
                },
            );
            matrix.beside.pattern.each::<_, false>(
                slice,
                &matrix.beside.blocks,
                everywhere,
                #[inline(always)]
                |block, v| add(&mut sum, &multiply(block, &difference(&here, &v))),
            );
            store(&mut out, at, &sum);
        }
    }
}

/// A forward sweep of a strip from zero, and what its rows after each row leave.
pub struct Forward<'a> {
    pub matrix: &'a Sliced,
    pub strip: usize,
    pub b: [&'a [f32]; 3],
    pub x: [&'a mut [f32]; 3],
    pub r: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { matrix, strip, b, mut x, mut r } = self;
        for (slice, at) in matrix.slices(strip) {
            let mut sum = load(b, at);
            matrix.inner.add_products::<false>(slice, view(&x), &mut sum);
            let new = multiply(&matrix.inverse[slice], &sum);
            store(&mut x, at, &new);
            store(&mut r, at, &ZERO);
            matrix.inner.spread_products(slice, &new, &mut r);
        }
    }
}

/// A backward sweep of a strip; `r` is what it has on the right side, and collects what later rows have become.
pub struct Backward<'a> {
    pub matrix: &'a Sliced,
    pub strip: usize,
    pub x: [&'a mut [f32]; 3],
    pub r: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { matrix, strip, mut x, mut r } = self;
        for (slice, at) in matrix.slices(strip).rev() {
            let mut sum = load(view(&r), at);
            matrix.inner.add_products::<true>(slice, view(&x), &mut sum);
            let new = multiply(&matrix.inverse[slice], &sum);
            store(&mut x, at, &new);
            matrix.inner.spread_products(slice, &new, &mut r);
        }
    }
}

/// r −= W x in a strip, or r = b − W x.
pub struct AddBeside<'a> {
    pub matrix: &'a Sliced,
    pub strip: usize,
    pub b: Option<[&'a [f32]; 3]>,
    pub x: &'a [f32],
    pub r: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for AddBeside<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { matrix, strip, b, x, mut r } = self;
        let x = matrix.planes(x);
        for (slice, at) in matrix.slices(strip) {
            if b.is_some() || !matrix.beside.pattern.entries(slice).is_empty() {
                let mut sum = load(b.unwrap_or(view(&r)), at);
                matrix.beside.add_products::<false>(slice, x, &mut sum);
                store(&mut r, at, &sum);
            }
        }
    }
}

/// Sums of two lists of blocks, either of which may end early, into lanes.
pub struct Fill<'a> {
    pub blocks: &'a mut [Blocks],
    pub sources: &'a [[u32; LANES]],
    pub lists: [&'a [Sym3]; 2],
}

impl pulp::NullaryFnOnce for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let [first, second] = self.lists;
        let halves_of = |list: &[Sym3], source: u32| {
            list.get(source as usize).map_or([Vec4::ZERO; 2], Sym3::halves)
        };
        for (entry, sources) in self.blocks.iter_mut().zip(self.sources) {
            for half in [0, LANES / 2] {
                let sum = |lane: usize| {
                    let source = sources[half + lane];
                    let ([a, b], [c, d]) = (halves_of(first, source), halves_of(second, source));
                    [a + c, b + d]
                };
                let rows = [sum(0), sum(1), sum(2), sum(3)];
                let lanes = |half: usize| {
                    let [a, b, c, d] = rows.map(|row| row[half]);
                    Mat4::from_cols(a, b, c, d).transpose()
                };
                let (low, high) = (lanes(0), lanes(1));
                let numbers =
                    [low.x_axis, low.y_axis, low.z_axis, low.w_axis, high.z_axis, high.w_axis];
                for (out, numbers) in entry.iter_mut().zip(numbers) {
                    numbers.write_to_slice(&mut out[half..half + LANES / 2]);
                }
            }
        }
    }
}

/// Diagonal blocks of a strip: what rows have of their own and the blocks of all their links.
pub struct SumDiagonal<'a> {
    pub matrix: &'a Sliced,
    pub strip: usize,
    pub diagonal: &'a mut [f32],
}

impl pulp::NullaryFnOnce for SumDiagonal<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { matrix, strip, diagonal } = self;
        let Part { pattern, blocks } = &matrix.inner;
        let mut planes = six_planes(diagonal, matrix.stride);
        for (slice, at) in matrix.slices(strip) {
            let mut sum = matrix.own[slice];
            blocks[pattern.entries(slice)].iter().for_each(|block| add(&mut sum, block));
            let beside = &matrix.beside.blocks[matrix.beside.pattern.entries(slice)];
            beside.iter().for_each(|block| add(&mut sum, block));
            for (plane, sum) in planes.iter_mut().zip(&sum) {
                plane[at..][..LANES].copy_from_slice(sum);
            }
            pattern.spread(
                slice,
                blocks,
                &mut planes,
                #[inline(always)]
                |block| *block,
            );
        }
    }
}

fn six_planes(mut strip: &mut [f32], stride: usize) -> [&mut [f32]; 6] {
    std::array::from_fn(|_| strip.split_off_mut(..stride).unwrap_or_default())
}

/// Inverts diagonal blocks; zero where the block is zero.
pub struct Invert<'a> {
    /// Six planes.
    pub diagonal: &'a [f32],
    pub inverse: &'a mut [Blocks],
}

impl pulp::NullaryFnOnce for Invert<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { diagonal, inverse } = self;
        let stride = diagonal.len() / 6;
        for (k, out) in inverse.iter_mut().enumerate() {
            let mut d = [[0.0; LANES]; 6];
            for (plane, d) in d.iter_mut().enumerate() {
                d.copy_from_slice(&diagonal[plane * stride + k * LANES..][..LANES]);
            }
            let mut doubtful = [false; LANES];
            for l in 0..LANES {
                let m: [f64; 6] = std::array::from_fn(|k| f64::from(d[k][l]));
                let [xx, yy, zz, xy, yz, xz] = m;
                let (cxx, cxy, cxz) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
                let det = xx * cxx + xy * cxy + xz * cxz;
                let minor = xx * yy - xy * xy;
                doubtful[l] = !((xx > 0.0) & (minor > 0.0) & (det > 0.0));
                let s = 1.0 / det;
                let (cyy, cyz) = (xx * zz - xz * xz, xy * xz - xx * yz);
                let values = [cxx, cyy, minor, cxy, cyz, cxz];
                for (out, value) in out.iter_mut().zip(values) {
                    out[l] = (value * s) as f32;
                }
            }
            if doubtful.contains(&true) {
                for l in (0..LANES).filter(|l| doubtful[*l]) {
                    let m = Sym3(std::array::from_fn(|k| d[k][l]));
                    let inverse = if m == Sym3::ZERO { m } else { m.inverse() };
                    for (out, value) in out.iter_mut().zip(inverse.0) {
                        out[l] = value;
                    }
                }
            }
        }
    }
}
