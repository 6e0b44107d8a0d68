//! Constraints eight at a time, with the result of one after the other.
//!
//! ```text
//!   places of two grid rows:   (0,0) (0,2) (0,4) … (0,1) (0,3) (0,5) …   (1,0) (1,2) (1,4) … (1,1) (1,3) (1,5) …
//! ```
//!
//! The constraints of a batch share no particle, so taking them at once is taking them in turn. Batches go through
//! the cloth row by row: a sweep carries tension down all of it, and only between neighbours along a row. Each row
//! has its even columns first. So the constraints of one kind that start in a row mostly have eight particles one behind
//! the other at each corner, a *run*: these are read and written as vectors, others one by one.

use crate::lanes::LANES;
use std::collections::BTreeMap;

/// No constraint in a lane.
pub const NONE: u32 = u32::MAX;

/// A run of fewer constraints is not worth a batch of its own.
const SHORT: usize = 3;

/// Particles of a mesh in a row: it has none of its own.
const ROW: usize = 256;

/// Open batches that a constraint outside of runs may join.
const OPEN: usize = 16;

/// Constraints on P particles each: which they are, and the places of their particles by corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch<const P: usize> {
    /// Index of the constraint in each lane, or [`NONE`].
    pub items: [u32; LANES],
    /// Places of their particles. Lanes without a constraint have one that no particle has; in a run,
    /// one that no other lane has at any corner.
    pub places: [[u32; LANES]; P],
    /// Whether at every corner the places follow one another.
    pub run: bool,
}

/// Where particles are, and in which row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// The place of each particle.
    pub of: Vec<u32>,
    /// Places, more than there are particles.
    pub count: usize,
    rows: Vec<u32>,
}

impl Places {
    /// Of cloths one after the other: so many particles, and how many columns if they are a grid.
    pub fn new(cloths: impl Iterator<Item = (usize, Option<usize>)>) -> Self {
        let mut places = Self::default();
        for (particles, columns) in cloths {
            let width = columns.unwrap_or(ROW);
            let half = width.div_ceil(2).next_multiple_of(LANES);
            for i in 0..particles {
                let (row, column) = (i / width, i % width);
                let within = match columns {
                    Some(_) => 2 * half * row + half * (column % 2) + column / 2,
                    None => i,
                };
                places.of.push((places.count + within) as u32);
                places.rows.push(row as u32);
            }
            let rows = particles.div_ceil(width);
            places.count += if columns.is_some() { 2 * half * rows } else { particles };
        }
        places
    }

    /// Batches of constraints, row by row. Those that are not `wanted` are left out.
    pub fn batches<const P: usize>(
        &self,
        constraints: &[[u32; P]],
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<Batch<P>> {
        let row = |item: u32| constraints[item as usize].map(|p| self.rows[p as usize]);
        let first = |item: &u32| row(*item).into_iter().min();
        let mut items: Vec<u32> =
            (0..constraints.len() as u32).filter(|i| wanted(*i as usize)).collect();
        items.sort_by_key(first);
        let mut all = Vec::new();
        for items in items.chunk_by(|a, b| first(a) == first(b)) {
            self.batches_of_row(constraints, items, &mut all);
        }
        all
    }

    fn batches_of_row<const P: usize>(
        &self,
        constraints: &[[u32; P]],
        items: &[u32],
        all: &mut Vec<Batch<P>>,
    ) {
        let corners = |item: u32| constraints[item as usize].map(|p| self.of[p as usize]);
        // Kinds: those whose other particles are equally far from the first.
        let mut kinds: BTreeMap<[u32; P], Vec<u32>> = BTreeMap::new();
        for item in items {
            let places = corners(*item);
            kinds.entry(places.map(|p| p.wrapping_sub(places[0]))).or_default().push(*item);
        }
        let mut single = Vec::new();
        for (kind, mut items) in kinds {
            items.sort_by_key(|item| corners(*item));
            let apart = |a: u32, b: u32| (a.wrapping_sub(b) as i32).unsigned_abs() >= LANES as u32;
            let runs = (0..P).all(|a| (0..a).all(|b| apart(kind[a], kind[b])));
            if !runs {
                single.extend(items);
                continue;
            }
            for window in windows(&items, |item| corners(item)[0]) {
                if window.len() < SHORT {
                    single.extend(window);
                    continue;
                }
                let start = corners(window[0]);
                let lanes = |item: &u32| ((corners(*item)[0] - start[0]) as usize, *item);
                let mut batch = Batch { items: [NONE; LANES], places: [[0; LANES]; P], run: true };
                window.iter().map(lanes).for_each(|(lane, item)| batch.items[lane] = item);
                for (places, first) in batch.places.iter_mut().zip(start) {
                    *places = std::array::from_fn(|lane| first + lane as u32);
                }
                all.push(batch);
            }
        }
        self.pack(constraints, single, all);
    }

    /// Puts constraints into batches wherever they share no particle.
    fn pack<const P: usize>(
        &self,
        constraints: &[[u32; P]],
        items: Vec<u32>,
        all: &mut Vec<Batch<P>>,
    ) {
        let nowhere = self.count as u32;
        let mut open = all.len();
        for item in items {
            let places = constraints[item as usize].map(|p| self.of[p as usize]);
            let touches =
                |batch: &Batch<P>| batch.places.iter().flatten().any(|p| places.contains(p));
            open = open.max(all.len().saturating_sub(OPEN));
            let free = |batch: &Batch<P>| batch.items.contains(&NONE) && !touches(batch);
            let found = all[open..].iter().position(free).map(|k| open + k);
            let index = found.unwrap_or(all.len());
            if found.is_none() {
                let items = [NONE; LANES];
                all.push(Batch { items, places: [[nowhere; LANES]; P], run: false });
            }
            let batch = &mut all[index];
            let lane = batch.items.iter().position(|i| *i == NONE).unwrap_or(0);
            batch.items[lane] = item;
            (batch.places.iter_mut().zip(places)).for_each(|(of, place)| of[lane] = place);
        }
    }
}

/// Items, sorted by place, cut so that each piece is within eight places.
fn windows(items: &[u32], place: impl Fn(u32) -> u32) -> Vec<Vec<u32>> {
    let mut windows: Vec<Vec<u32>> = Vec::new();
    for item in items {
        match windows.last_mut() {
            Some(last)
                if place(*item) < place(last[0]) + LANES as u32
                    && last.last().is_some_and(|l| place(*l) < place(*item)) =>
            {
                last.push(*item);
            }
            _ => windows.push(vec![*item]),
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid, then a mesh that has the same numbers.
    const SIDE: u32 = 40;
    const COUNT: u32 = SIDE * SIDE;

    fn links(first: u32) -> Vec<[u32; 2]> {
        let mut links = Vec::new();
        for i in 0..COUNT {
            let (row, column) = (i / SIDE, i % SIDE);
            links.extend((column + 1 < SIDE).then_some([i, i + 1]));
            links.extend((row + 1 < SIDE).then_some([i, i + SIDE]));
            links.extend((row + 1 < SIDE && column + 1 < SIDE).then_some([i, i + SIDE + 1]));
        }
        links.iter().map(|ends| ends.map(|p| p + first)).collect()
    }

    fn places() -> Places {
        Places::new([(COUNT as usize, Some(SIDE as usize)), (COUNT as usize, None)].into_iter())
    }

    #[test]
    fn no_two_particles_have_one_place() {
        let mut places = places();
        assert!(places.of.iter().all(|place| (*place as usize) < places.count));
        places.of.sort_unstable();
        places.of.dedup();
        assert_eq!(places.of.len(), 2 * COUNT as usize);
    }

    #[test]
    fn batches_have_everything_once_and_most_of_a_grid_in_runs() {
        let places = places();
        // Twice the same spring, too.
        let all: Vec<_> = [links(0), links(COUNT), vec![[0, 1]]].concat();
        let (mut seen, mut in_runs, mut batches_of_grid) = (vec![false; all.len()], 0, 0);
        for batch in places.batches(&all, |item| item != 7) {
            let mut touched = Vec::new();
            for lane in 0..LANES {
                let at = [0, 1].map(|corner: usize| batch.places[corner][lane]);
                let free = at
                    .iter()
                    .all(|place| *place as usize == places.count || !touched.contains(place));
                assert!(free, "twice in a batch");
                touched.extend(at);
                let follows = |c: usize| batch.places[c][lane] == batch.places[c][0] + lane as u32;
                assert!(!batch.run || follows(0) && follows(1));
                if batch.items[lane] == NONE {
                    continue;
                }
                let item = batch.items[lane] as usize;
                assert!(!std::mem::replace(&mut seen[item], true), "{item} twice");
                assert_eq!(at, all[item].map(|p| places.of[p as usize]));
                in_runs += usize::from(batch.run && item < links(0).len());
            }
            batches_of_grid +=
                usize::from(batch.items.iter().any(|i| (*i as usize) < links(0).len()));
        }
        assert!(seen.iter().enumerate().all(|(item, seen)| *seen == (item != 7)));
        let count = links(0).len();
        assert!(100 * in_runs > 98 * count, "{in_runs} of {count}");
        // Twenty springs are three batches.
        assert!(7 * batches_of_grid < 6 * count / 5, "{batches_of_grid} for {count}");
    }

    #[test]
    fn a_sweep_goes_down_the_rows() {
        let links = links(0);
        let row = |item: u32| links[item as usize][0] / SIDE;
        let batches = places().batches(&links, |_| true);
        let rows = |batch: &Batch<2>| {
            let mut rows = batch.items.iter().filter(|i| **i != NONE).map(|i| row(*i));
            let first = rows.next().unwrap();
            assert!(rows.all(|row| row == first));
            first
        };
        assert!(batches.iter().map(rows).is_sorted());
    }
}
