//! Threads and lanes, as values.
//!
//! Work over particles is cut into blocks of [`BLOCK`] entries. The cut depends on the number of
//! particles only, every block is computed by one thread in a fixed order, and partial sums are
//! added in block order, so any number of threads gives the same bits.

use rayon::prelude::*;

/// Particles per block: the unit of parallel work and of partial sums.
pub const BLOCK: usize = 2048;

/// Whether to step on one thread or on the threads of the current rayon pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Par {
    /// The calling thread only.
    #[default]
    Serial,
    /// Every thread of the rayon pool the call is made in.
    Rayon,
}

impl Par {
    /// Calls `work(block, slice)` for each block of `out`.
    pub fn blocks<T: Send>(self, out: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
        self.pieces(BLOCK, out, work);
    }

    /// Calls `work(block, slice, slice)` for matching blocks of two outputs of equal length.
    pub fn blocks2<T: Send, U: Send>(
        self,
        out: &mut [T],
        second: &mut [U],
        work: impl Fn(usize, &mut [T], &mut [U]) + Sync,
    ) {
        self.pieces2(BLOCK, out, second, work);
    }

    /// [`Par::blocks`] with pieces of another size, on which results may then depend.
    pub fn pieces<T: Send>(
        self,
        size: usize,
        out: &mut [T],
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        match self {
            Par::Serial => out.chunks_mut(size).enumerate().for_each(|(b, s)| work(b, s)),
            Par::Rayon => out.par_chunks_mut(size).enumerate().for_each(|(b, s)| work(b, s)),
        }
    }

    /// [`Par::blocks2`] with pieces of another size.
    pub fn pieces2<T: Send, U: Send>(
        self,
        size: usize,
        out: &mut [T],
        second: &mut [U],
        work: impl Fn(usize, &mut [T], &mut [U]) + Sync,
    ) {
        match self {
            Par::Serial => out
                .chunks_mut(size)
                .zip(second.chunks_mut(size))
                .enumerate()
                .for_each(|(b, (s, t))| work(b, s, t)),
            Par::Rayon => out
                .par_chunks_mut(size)
                .zip(second.par_chunks_mut(size))
                .enumerate()
                .for_each(|(b, (s, t))| work(b, s, t)),
        }
    }

    /// [`Par::blocks`] for three outputs of one type.
    pub fn blocks3<T: Send>(
        self,
        x: &mut [T],
        y: &mut [T],
        z: &mut [T],
        work: impl Fn(usize, &mut [T], &mut [T], &mut [T]) + Sync,
    ) {
        match self {
            Par::Serial => x
                .chunks_mut(BLOCK)
                .zip(y.chunks_mut(BLOCK).zip(z.chunks_mut(BLOCK)))
                .enumerate()
                .for_each(|(b, (x, (y, z)))| work(b, x, y, z)),
            Par::Rayon => x
                .par_chunks_mut(BLOCK)
                .zip(y.par_chunks_mut(BLOCK).zip(z.par_chunks_mut(BLOCK)))
                .enumerate()
                .for_each(|(b, (x, (y, z)))| work(b, x, y, z)),
        }
    }

    /// Calls `work(index, entry)` for each entry of `out`: for few entries with much work each.
    pub fn each<T: Send>(self, out: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        match self {
            Par::Serial => out.iter_mut().enumerate().for_each(|(i, o)| work(i, o)),
            Par::Rayon => out.par_iter_mut().enumerate().for_each(|(i, o)| work(i, o)),
        }
    }

    /// The sum of `part(range)` over all blocks of `0..count`, added in block order.
    /// `partial` is scratch space of at least one entry per block.
    pub fn sum(
        self,
        count: usize,
        partial: &mut [f64],
        part: impl Fn(std::ops::Range<usize>) -> f64 + Sync,
    ) -> f64 {
        let blocks = count.div_ceil(BLOCK);
        let one = |block: usize, out: &mut f64| {
            *out = part(block * BLOCK..((block + 1) * BLOCK).min(count));
        };
        let partial = &mut partial[..blocks];
        match self {
            Par::Serial => partial.iter_mut().enumerate().for_each(|(b, out)| one(b, out)),
            Par::Rayon => partial.par_iter_mut().enumerate().for_each(|(b, out)| one(b, out)),
        }
        partial.iter().sum()
    }
}

/// Number of partial sums [`Par::sum`] needs for `count` entries.
pub fn block_count(count: usize) -> usize {
    count.div_ceil(BLOCK)
}

/// The larger of two numbers; `b` if `a` is NaN. One instruction in any lane, where [`f32::max`] with its
/// other rules for NaN is a function call in WebAssembly, which keeps a loop out of vector code.
#[inline(always)]
pub fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Runs `op` compiled for the widest vector unit of this machine.
///
/// The loops inside are plain Rust that the compiler vectorises; multiplication and addition are
/// never fused, so the bits do not depend on the machine's vector width.
#[inline]
pub fn widest<O: pulp::NullaryFnOnce>(op: O) -> O::Output {
    pulp::Arch::new().dispatch(op)
}
