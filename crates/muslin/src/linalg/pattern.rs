//! Sparse rows, eight at a time: where their columns are.
//!
//! ```text
//!   slice of rows r … r+7:   entry k:   the k-th columns of eight rows: c … c+7, one load, or eight by index
//! ```
//!
//! Vectors are read and written as planes x, y, z of equal length.

use crate::lanes::{LANES, Lanes};
use std::ops::Range;

/// No source: a lane without an entry here.
pub const NONE: u32 = u32::MAX;

/// Three numbers for eight rows.
pub type Vectors = [Lanes; 3];

/// (column, source) of each entry of eight rows.
pub type LaneLists = [Vec<(u32, u32)>; LANES];

/// Slices of rows and their entries, which lie one after the other.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    slices: Vec<Slice>,
    /// First column of each entry, or which of the gathered columns are its.
    columns: Vec<u32>,
    gathered: Vec<[u32; LANES]>,
    /// What each lane of each entry is filled from.
    sources: Vec<[u32; LANES]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slice {
    first: u32,
    end: u32,
    gathered: bool,
}

impl Pattern {
    /// Appends a slice, which may read and write any columns below `size`.
    pub fn push(&mut self, lanes: &mut LaneLists, size: usize) {
        lanes.iter_mut().for_each(|lane| lane.sort_unstable());
        let first = self.columns.len() as u32;
        let starts = starts(lanes, size);
        let gathered = starts.is_none();
        match starts {
            Some(starts) => starts.into_iter().for_each(|start| {
                let source = |lane: usize| {
                    let column = (start + lane as i64) as u32;
                    let found = lanes[lane].iter().find(|(c, _)| *c == column);
                    found.map_or(NONE, |(_, source)| *source)
                };
                self.columns.push(start as u32);
                self.sources.push(std::array::from_fn(source));
            }),
            None => {
                let most = lanes.iter().map(Vec::len).max().unwrap_or(0);
                // Lanes that have run out read some column; what they are filled with stays zero.
                let any = lanes.iter().flatten().next().map_or(0, |(column, _)| *column);
                for k in 0..most {
                    let pick = |lane: usize| lanes[lane].get(k).copied().unwrap_or((any, NONE));
                    self.columns.push(self.gathered.len() as u32);
                    self.gathered.push(std::array::from_fn(|lane| pick(lane).0));
                    self.sources.push(std::array::from_fn(|lane| pick(lane).1));
                }
            }
        }
        self.slices.push(Slice { first, end: self.columns.len() as u32, gathered });
    }

    /// What each lane of each entry is filled from.
    pub fn sources(&self) -> &[[u32; LANES]] {
        &self.sources
    }

    /// The entries of a slice.
    #[inline(always)]
    pub fn entries(&self, slice: usize) -> Range<usize> {
        let Slice { first, end, .. } = self.slices[slice];
        first as usize..end as usize
    }

    /// Calls `entry` for each entry of a slice with its one of `all` and the values at its columns, from the last to the
    /// first if it is to go `BACK`: who goes through the slices that way reads `all` from one end to the other.
    ///
    /// Two loops, here and below: where both ways of reading meet, neither is vector code.
    #[inline(always)]
    pub fn each<T, const BACK: bool>(
        &self,
        slice: usize,
        all: &[T],
        x: [&[f32]; 3],
        mut entry: impl FnMut(&T, Vectors),
    ) {
        let entries = self.entries(slice);
        let (all, columns) = (&all[entries.clone()], &self.columns[entries]);
        let count = columns.len();
        let all = &all[..count];
        let x = of_one_length(x);
        if self.slices[slice].gathered {
            for k in 0..count {
                let k = if BACK { count - 1 - k } else { k };
                entry(&all[k], gather(x, &self.gathered[columns[k] as usize]));
            }
        } else {
            for k in 0..count {
                let k = if BACK { count - 1 - k } else { k };
                entry(&all[k], load(x, columns[k] as usize));
            }
        }
    }

    /// Like [`Pattern::each`], from the first to the last, and adds what `entry` returns to `out` at these columns.
    #[inline(always)]
    pub fn exchange<T>(
        &self,
        slice: usize,
        all: &[T],
        x: [&[f32]; 3],
        out: &mut [&mut [f32]; 3],
        mut entry: impl FnMut(&T, Vectors) -> Vectors,
    ) {
        let entries = self.entries(slice);
        let entries = all[entries.clone()].iter().zip(&self.columns[entries]);
        let x = of_one_length(x);
        if self.slices[slice].gathered {
            for (of_entry, &column) in entries {
                let columns = &self.gathered[column as usize];
                let added = entry(of_entry, gather(x, columns));
                add_anywhere(out, columns, &added);
            }
        } else {
            for (of_entry, &column) in entries {
                let added = entry(of_entry, load(x, column as usize));
                add_at(out, column as usize, &added);
            }
        }
    }

    /// Adds what `entry` returns for each entry of a slice to `out` at its columns.
    #[inline(always)]
    pub fn spread<T, const PLANES: usize>(
        &self,
        slice: usize,
        all: &[T],
        out: &mut [&mut [f32]; PLANES],
        mut entry: impl FnMut(&T) -> [Lanes; PLANES],
    ) {
        let entries = self.entries(slice);
        let entries = all[entries.clone()].iter().zip(&self.columns[entries]);
        if self.slices[slice].gathered {
            for (of_entry, &column) in entries {
                add_anywhere(out, &self.gathered[column as usize], &entry(of_entry));
            }
        } else {
            for (of_entry, &column) in entries {
                add_at(out, column as usize, &entry(of_entry));
            }
        }
    }
}

/// Planes of one length, so that one check is enough.
#[inline(always)]
fn of_one_length(x: [&[f32]; 3]) -> [&[f32]; 3] {
    let size = x[0].len();
    [x[0], &x[1][..size], &x[2][..size]]
}

/// The first columns of entries whose columns are in sequence, if few of them serve all lanes.
fn starts(lanes: &LaneLists, size: usize) -> Option<Vec<i64>> {
    let columns = |(lane, list): (usize, &Vec<(u32, u32)>)| {
        list.iter().map(move |(c, _)| i64::from(*c) - lane as i64).collect::<Vec<_>>()
    };
    let mut starts: Vec<i64> = lanes.iter().enumerate().flat_map(columns).collect();
    starts.sort_unstable();
    starts.dedup();
    let most = lanes.iter().map(Vec::len).max().unwrap_or(0);
    let in_range = |first: &i64| *first >= 0 && first + LANES as i64 <= size as i64;
    (starts.len() <= most + most / 3 && starts.iter().all(in_range)).then_some(starts)
}

/// Eight rows in sequence.
#[inline(always)]
pub fn load(x: [&[f32]; 3], first: usize) -> Vectors {
    let mut out = [[0.0; LANES]; 3];
    for (out, x) in out.iter_mut().zip(x) {
        out.copy_from_slice(&x[first..][..LANES]);
    }
    out
}

/// Eight rows anywhere.
#[inline(always)]
fn gather(x: [&[f32]; 3], columns: &[u32; LANES]) -> Vectors {
    let mut out = [[0.0; LANES]; 3];
    for (out, x) in out.iter_mut().zip(x) {
        for lane in 0..LANES {
            out[lane] = x[columns[lane] as usize];
        }
    }
    out
}

/// Adds to eight rows in sequence.
#[inline(always)]
fn add_at<const PLANES: usize>(
    out: &mut [&mut [f32]; PLANES],
    first: usize,
    added: &[Lanes; PLANES],
) {
    for (out, added) in out.iter_mut().zip(added) {
        let out = &mut out[first..][..LANES];
        for lane in 0..LANES {
            out[lane] += added[lane];
        }
    }
}

/// Adds to eight rows anywhere, one after the other: they may be the same.
#[inline(always)]
fn add_anywhere<const PLANES: usize>(
    out: &mut [&mut [f32]; PLANES],
    columns: &[u32; LANES],
    added: &[Lanes; PLANES],
) {
    for (out, added) in out.iter_mut().zip(added) {
        for lane in 0..LANES {
            out[columns[lane] as usize] += added[lane];
        }
    }
}
