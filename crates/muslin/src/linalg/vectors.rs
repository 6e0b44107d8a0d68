//! Loops over particle vectors, flat so that the compiler turns them into vector code.

use crate::par::{BLOCK, Par, block_count};
use glam::Vec3;

fn flat(values: &[Vec3]) -> &[f32] {
    bytemuck::cast_slice(values)
}

/// `out[i] = new(i, out[i])`: for what the flat loops below do not cover.
pub fn update(par: Par, out: &mut [Vec3], new: impl Fn(usize, Vec3) -> Vec3 + Sync) {
    par.blocks(out, |block, out| {
        let first = block * BLOCK;
        out.iter_mut().enumerate().for_each(|(k, o)| *o = new(first + k, *o));
    });
}

/// `out += s a`.
pub fn add_scaled(par: Par, out: &mut [Vec3], s: f32, a: &[Vec3]) {
    zip(par, out, a, |o, a| o + s * a);
}

/// `out = a + s out`.
pub fn scale_and_add(par: Par, out: &mut [Vec3], s: f32, a: &[Vec3]) {
    zip(par, out, a, |o, a| a + s * o);
}

/// `out = a + s b`.
pub fn set_sum(par: Par, out: &mut [Vec3], a: &[Vec3], s: f32, b: &[Vec3]) {
    par.blocks(out, |block, out| {
        let (out, first) = (bytemuck::cast_slice_mut::<_, f32>(out), 3 * block * BLOCK);
        let (a, b) = (&flat(a)[first..][..out.len()], &flat(b)[first..][..out.len()]);
        out.iter_mut().zip(a.iter().zip(b)).for_each(|(o, (a, b))| *o = a + s * b);
    });
}

/// `out[i] *= factor[i]`.
pub fn scale_each(par: Par, out: &mut [Vec3], factor: &[f32]) {
    par.blocks(out, |block, out| {
        let factor = &factor[block * BLOCK..][..out.len()];
        out.iter_mut().zip(factor).for_each(|(o, f)| *o *= *f);
    });
}

fn zip(par: Par, out: &mut [Vec3], a: &[Vec3], new: impl Fn(f32, f32) -> f32 + Sync) {
    par.blocks(out, |block, out| {
        let (out, first) = (bytemuck::cast_slice_mut::<_, f32>(out), 3 * block * BLOCK);
        let a = &flat(a)[first..][..out.len()];
        out.iter_mut().zip(a).for_each(|(o, a)| *o = new(*o, *a));
    });
}

/// Scratch for [`dot`] over `n` particles.
pub fn partial_sums(n: usize) -> Vec<f64> {
    vec![0.0; block_count(n)]
}

/// Σ a · b in f64, added in a fixed order. Eight running sums keep the adder busy.
pub fn dot(par: Par, partial: &mut [f64], a: &[Vec3], b: &[Vec3]) -> f64 {
    par.sum(a.len(), partial, |range| {
        let (a, b) = (flat(&a[range.clone()]), flat(&b[range]));
        let mut sums = [0.0f64; 8];
        let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
        let rest = a8.remainder().iter().zip(b8.remainder());
        let rest: f64 = rest.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        for (a, b) in a8.zip(b8) {
            for k in 0..8 {
                sums[k] += f64::from(a[k]) * f64::from(b[k]);
            }
        }
        sums.iter().sum::<f64>() + rest
    })
}
