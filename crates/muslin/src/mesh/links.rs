//! Pairs of particles, stored so that loops over them are loops over contiguous memory.
//!
//! A *run* is a stretch of links whose two ends both advance by one:
//!
//! ```text
//!   link     s      s+1     s+2   …          a grid row gives one run per spring direction:
//!   ends  (a,b)  (a+1,b+1) (a+2,b+2) …       its loads, sums and stores are plain slices
//! ```
//!
//! On an irregular mesh runs are short and the same code still works. Runs are cut at the borders
//! of particle blocks (`BLOCK`); a link between two blocks appears in both, each writing only
//! its own end. Every particle therefore receives its sum in link order, whatever the thread count.

use crate::par::{BLOCK, Par, block_count, widest};
use glam::Vec3;
use std::ops::Range;

/// A stretch of links `link..link+len` joining `a..a+len` with `b..b+len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First particle of the first ends.
    pub a: u32,
    /// First particle of the second ends.
    pub b: u32,
    /// First link.
    pub link: u32,
    /// Number of links.
    pub len: u32,
    /// Whether this block owns the first, the second ends, or both.
    write_a: bool,
    write_b: bool,
}

/// An ordered list of particle pairs with its runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    ends: Vec<[u32; 2]>,
    /// Every link once, for per-link work.
    runs: Vec<Run>,
    /// Runs of each particle block, for per-particle sums.
    block_runs: Vec<Vec<Run>>,
}

/// Computes one vector per link of a run; see [`Links::accumulate`].
pub trait PairKernel: Sync {
    /// Fills `out` (x, y, z interleaved, one vector per link) for the links starting at `link`,
    /// whose ends start at particles `a` and `b`: the vector added to the first end and
    /// subtracted from the second. Implement it `#[inline(always)]`.
    fn eval(&self, a: usize, b: usize, link: usize, out: &mut [f32]);
}

/// Links evaluated at a time: the scratch space stays in the first-level cache.
pub const CHUNK: usize = 64;

impl Links {
    /// Builds the runs for `particle_count` particles. Ends must be in range and distinct.
    pub fn new(ends: Vec<[u32; 2]>, particle_count: usize) -> Self {
        let block_of = |particle: u32| particle as usize / BLOCK;
        let mut runs: Vec<Run> = Vec::new();
        for (link, &[a, b]) in ends.iter().enumerate() {
            if let Some(run) = runs.last_mut() {
                let follows = run.a + run.len == a && run.b + run.len == b;
                if follows && block_of(run.a) == block_of(a) && block_of(run.b) == block_of(b) {
                    run.len += 1;
                    continue;
                }
            }
            runs.push(Run { a, b, link: link as u32, len: 1, write_a: true, write_b: true });
        }
        let mut block_runs = vec![Vec::new(); block_count(particle_count)];
        for run in &runs {
            let (block_a, block_b) = (block_of(run.a), block_of(run.b));
            if block_a == block_b {
                block_runs[block_a].push(*run);
            } else {
                block_runs[block_a].push(Run { write_b: false, ..*run });
                block_runs[block_b].push(Run { write_a: false, ..*run });
            }
        }
        Self { ends, runs, block_runs }
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no link.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The two particles of each link.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// Every link of a stretch once, in order.
    pub fn runs_within(&self, links: Range<usize>) -> impl Iterator<Item = Run> + '_ {
        let first = self.runs.partition_point(|run| (run.link + run.len) as usize <= links.start);
        let runs = self.runs[first..].iter();
        let (start, end) = (links.start as u32, links.end as u32);
        runs.take_while(move |run| run.link < end).map(move |run| {
            let skipped = start.saturating_sub(run.link);
            let len = run.len.min(end - run.link) - skipped;
            let (a, b, link) = (run.a + skipped, run.b + skipped, run.link + skipped);
            Run { a, b, link, len, ..*run }
        })
    }

    /// `out[a] += kernel`, `out[b] -= kernel` for every link, in link order per particle.
    pub fn accumulate<K: PairKernel>(&self, par: Par, out: &mut [Vec3], kernel: &K) {
        par.blocks(out, |block, out| {
            widest(BlockSum {
                runs: &self.block_runs[block],
                first: block * BLOCK,
                out: bytemuck::cast_slice_mut(out),
                kernel,
            });
        });
    }

    /// `out[a] += values[link]`, `out[b] += values[link]` for every link (block diagonals).
    pub fn add_to_both_ends<T>(&self, par: Par, out: &mut [T], values: &[T])
    where
        T: Copy + std::ops::AddAssign + Send + Sync,
    {
        par.blocks(out, |block, out| {
            widest(BothEnds { runs: &self.block_runs[block], first: block * BLOCK, out, values });
        });
    }
}

struct BothEnds<'a, T> {
    runs: &'a [Run],
    first: usize,
    out: &'a mut [T],
    values: &'a [T],
}

impl<T: Copy + std::ops::AddAssign> pulp::NullaryFnOnce for BothEnds<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for run in self.runs {
            let len = run.len as usize;
            let values = &self.values[run.link as usize..][..len];
            for (wanted, start) in [(run.write_a, run.a), (run.write_b, run.b)] {
                if wanted {
                    let ends = &mut self.out[start as usize - self.first..][..len];
                    ends.iter_mut().zip(values).for_each(|(o, v)| *o += *v);
                }
            }
        }
    }
}

struct BlockSum<'a, K> {
    runs: &'a [Run],
    first: usize,
    out: &'a mut [f32],
    kernel: &'a K,
}

impl<K: PairKernel> pulp::NullaryFnOnce for BlockSum<'_, K> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let mut scratch = [0.0f32; 3 * CHUNK];
        for run in self.runs {
            let mut done = 0;
            while done < run.len as usize {
                let len = (run.len as usize - done).min(CHUNK);
                let (a, b) = (run.a as usize + done, run.b as usize + done);
                let values = &mut scratch[..3 * len];
                self.kernel.eval(a, b, run.link as usize + done, values);
                if run.write_a {
                    let out = &mut self.out[3 * (a - self.first)..][..3 * len];
                    out.iter_mut().zip(&*values).for_each(|(o, v)| *o += v);
                }
                if run.write_b {
                    let out = &mut self.out[3 * (b - self.first)..][..3 * len];
                    out.iter_mut().zip(&*values).for_each(|(o, v)| *o -= v);
                }
                done += len;
            }
        }
    }
}
