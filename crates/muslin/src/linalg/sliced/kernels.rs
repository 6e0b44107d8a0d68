//! Loops over the slices of a strip, for vector units.

use super::{Blocks, Part, Strip};
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

/// A x in a strip; `everywhere` are the values of all.
pub struct Product<'a> {
    pub strip: &'a Strip,
    pub x: [&'a [f32]; 3],
    pub everywhere: [&'a [f32]; 3],
    pub out: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { strip: Strip { inner, beside, own, .. }, x, everywhere, mut out } = self;
        for (slice, own) in own.iter().enumerate() {
            let here = load(x, slice * LANES);
            let mut sum = multiply(own, &here);
            // What one end of a link gets is what the other end gives.
            inner.pattern.exchange(
                slice,
                &inner.blocks,
                x,
                &mut out,
                #[inline(always)]
                |block, v| {
                    let given = multiply(block, &difference(&v, &here));
                    sum = difference(&sum, &given);
                    given
                },
            );
            beside.pattern.each::<_, false>(
                slice,
                &beside.blocks,
                everywhere,
                #[inline(always)]
                |block, v| add(&mut sum, &multiply(block, &difference(&here, &v))),
            );
            store(&mut out, slice * LANES, &sum);
        }
    }
}

/// A forward sweep of a strip from zero, and −U x: what it leaves of b but for links beside.
pub struct Forward<'a> {
    pub strip: &'a Strip,
    pub b: [&'a [f32]; 3],
    pub x: [&'a mut [f32]; 3],
    pub r: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { strip: Strip { inner, inverse, .. }, b, mut x, mut r } = self;
        for (slice, inverse) in inverse.iter().enumerate() {
            let mut sum = load(b, slice * LANES);
            inner.add_products::<false>(slice, view(&x), &mut sum);
            let new = multiply(inverse, &sum);
            store(&mut x, slice * LANES, &new);
            store(&mut r, slice * LANES, &ZERO);
            inner.spread_products(slice, &new, &mut r);
        }
    }
}

/// A backward sweep of a strip; `r` is what it has on the right side, and collects what later rows have become.
pub struct Backward<'a> {
    pub strip: &'a Strip,
    pub x: [&'a mut [f32]; 3],
    pub r: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { strip: Strip { inner, inverse, .. }, mut x, mut r } = self;
        for (slice, inverse) in inverse.iter().enumerate().rev() {
            let mut sum = load(view(&r), slice * LANES);
            inner.add_products::<true>(slice, view(&x), &mut sum);
            let new = multiply(inverse, &sum);
            store(&mut x, slice * LANES, &new);
            inner.spread_products(slice, &new, &mut r);
        }
    }
}

/// r −= W x in a strip, or r = b − W x; `x` are the values of all.
pub struct AddBeside<'a> {
    pub strip: &'a Strip,
    pub b: Option<[&'a [f32]; 3]>,
    pub x: [&'a [f32]; 3],
    pub r: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for AddBeside<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { strip: Strip { beside, own, .. }, b, x, mut r } = self;
        for slice in 0..own.len() {
            if b.is_some() || !beside.pattern.entries(slice).is_empty() {
                let mut sum = load(b.unwrap_or(view(&r)), slice * LANES);
                beside.add_products::<false>(slice, x, &mut sum);
                store(&mut r, slice * LANES, &sum);
            }
        }
    }
}

/// Takes over the blocks of a strip and adds up its diagonal: what rows have of their own and the blocks of all their
/// links. Blocks are sums of two lists, either of which may end early.
pub struct Fill<'a> {
    pub strip: &'a mut Strip,
    pub own: [&'a [Sym3]; 2],
    pub links: [&'a [Sym3]; 2],
}

impl pulp::NullaryFnOnce for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { strip, own: own_blocks, links } = self;
        let Strip { rows, inner, beside, own, diagonal, .. } = strip;
        let rows: &[[u32; LANES]] = rows.as_chunks().0;
        let stride = diagonal.len() / 6;
        for Part { pattern, blocks } in [&mut *inner, &mut *beside] {
            for (block, sources) in blocks.iter_mut().zip(pattern.sources()) {
                *block = sums(links, sources);
            }
        }
        for (own, rows) in own.iter_mut().zip(rows) {
            *own = sums(own_blocks, rows);
        }
        let mut rest = &mut diagonal[..];
        let mut planes: [&mut [f32]; 6] =
            std::array::from_fn(|_| rest.split_off_mut(..stride).unwrap_or_default());
        for (slice, own) in own.iter().enumerate() {
            let mut sum = *own;
            for Part { pattern, blocks } in [&*inner, &*beside] {
                for block in &blocks[pattern.entries(slice)] {
                    add(&mut sum, block);
                }
            }
            for (plane, sum) in planes.iter_mut().zip(&sum) {
                plane[slice * LANES..][..LANES].copy_from_slice(sum);
            }
            inner.pattern.spread(
                slice,
                &inner.blocks,
                &mut planes,
                #[inline(always)]
                |block| *block,
            );
        }
    }
}

/// Sums of two lists of blocks, in lanes.
#[inline(always)]
fn sums([first, second]: [&[Sym3]; 2], sources: &[u32; LANES]) -> Blocks {
    let halves_of = |list: &[Sym3], source: u32| {
        list.get(source as usize).map_or([Vec4::ZERO; 2], Sym3::halves)
    };
    let mut out = [[0.0; LANES]; 6];
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
        let numbers = [low.x_axis, low.y_axis, low.z_axis, low.w_axis, high.z_axis, high.w_axis];
        for (out, numbers) in out.iter_mut().zip(numbers) {
            numbers.write_to_slice(&mut out[half..half + LANES / 2]);
        }
    }
    out
}

/// Inverts diagonal blocks; zero where the block is zero.
pub struct Invert<'a>(pub &'a mut Strip);

impl pulp::NullaryFnOnce for Invert<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Strip { diagonal, inverse, .. } = self.0;
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
