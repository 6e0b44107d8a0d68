//! For each particle, the items (links, hinges, …) it takes part in, in item order.

use crate::par::Par;
use std::ops::Range;

/// Particles that are gathered for at a time: their items are near when they are.
const NEAR: usize = 512;

/// Stretches of [`NEAR`] particles that one thread goes through.
const STRETCHES: usize = 8;

/// Items in sequence, the first of them by its number.
#[derive(Clone, Copy, Debug)]
pub struct Made<'a, I> {
    first: usize,
    entries: &'a [I],
}

impl<I> Made<'_, I> {
    /// An entry by its number; `None` after the last.
    #[inline(always)]
    pub fn get(&self, entry: usize) -> Option<&I> {
        self.entries.get(entry - self.first)
    }
}

/// One item a particle takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The item: a link or an element.
    pub item: u32,
    /// Which of the item's particles this one is.
    pub slot: u32,
}

/// Compressed rows: the members of particle `i` are `members[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incidence {
    offsets: Vec<u32>,
    members: Vec<Member>,
    /// Behind the last item of each [`NEAR`] particles and all before.
    ends: Vec<u32>,
    /// Up to the last particle of each [`STRETCHES`] that has items of those before.
    late: Vec<u32>,
}

impl Incidence {
    /// Collects the items of each of `particle_count` particles.
    pub fn new<T: AsRef<[u32]>>(items: &[T], particle_count: usize) -> Self {
        let mut offsets = vec![0u32; particle_count + 1];
        for &particle in items.iter().flat_map(AsRef::as_ref) {
            offsets[particle as usize + 1] += 1;
        }
        for i in 0..particle_count {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut members = vec![Member { item: 0, slot: 0 }; offsets[particle_count] as usize];
        for (item, particles) in items.iter().enumerate() {
            for (slot, &particle) in particles.as_ref().iter().enumerate() {
                let place = &mut next[particle as usize];
                members[*place as usize] = Member { item: item as u32, slot: slot as u32 };
                *place += 1;
            }
        }
        let mut all = Self { offsets, members, ends: Vec::new(), late: Vec::new() };
        let mut end = 0;
        for first in (0..particle_count).step_by(NEAR) {
            let near = first..(first + NEAR).min(particle_count);
            let last = near.flat_map(|i| all.of(i)).map(|m| m.item + 1).max();
            end = end.max(last.unwrap_or(0));
            all.ends.push(end);
        }
        for stretch in (0..all.ends.len()).step_by(STRETCHES) {
            let (first, begin) = (stretch * NEAR, all.begin(stretch) as u32);
            let own = first..(first + STRETCHES * NEAR).min(particle_count);
            let before = |i: &usize| all.of(*i).first().is_some_and(|m| m.item < begin);
            all.late.push(own.rev().find(before).map_or(0, |i| (i + 1 - first) as u32));
        }
        all
    }

    /// The first item of a stretch that none before has.
    fn begin(&self, stretch: usize) -> usize {
        if stretch == 0 { 0 } else { self.ends[stretch - 1] as usize }
    }

    /// The items particle `particle` takes part in.
    #[inline]
    pub fn of(&self, particle: usize) -> &[Member] {
        &self.members[self.offsets[particle] as usize..self.offsets[particle + 1] as usize]
    }

    /// Calls `make(first, entries)` for all items, which have `parts` entries each, but those without an entry, and
    /// `gather(first, out, entries)` for all particles of `out`, in stretches, by turns: particles get theirs as soon as
    /// the last is made. On threads, particles with items of an earlier thread get theirs at the end.
    pub fn gather<I: Send + Sync, T: Send>(
        &self,
        par: Par,
        parts: usize,
        entries: &mut [I],
        out: &mut [T],
        make: impl Fn(usize, &mut [I]) + Sync,
        gather: impl Fn(usize, &mut [T], Made<'_, I>) + Sync,
    ) {
        let turns = Turns { members: self, parts, make, gather };
        // Not all may want theirs.
        let stretches = 0..out.len().div_ceil(NEAR);
        if par == Par::Serial {
            turns.take(stretches, 0, entries, out);
            return;
        }
        turns.share(stretches, entries, out);
        par.pieces(STRETCHES * NEAR, out, |piece, out| {
            let late = out.len().min(self.late[piece] as usize);
            let made = Made { first: 0, entries };
            (turns.gather)(piece * STRETCHES * NEAR, &mut out[..late], made);
        });
    }
}

/// Making items and gathering them.
struct Turns<'a, M, G> {
    members: &'a Incidence,
    parts: usize,
    make: M,
    gather: G,
}

impl<M, G> Turns<'_, M, G> {
    /// Does some stretches on as many threads as there are, but the particles that are late.
    fn share<I: Send + Sync, T: Send>(
        &self,
        stretches: Range<usize>,
        entries: &mut [I],
        out: &mut [T],
    ) where
        M: Fn(usize, &mut [I]) + Sync,
        G: Fn(usize, &mut [T], Made<'_, I>) + Sync,
    {
        let Range { start, end } = stretches;
        if end - start <= STRETCHES {
            let late = self.members.late.get(start / STRETCHES).map_or(0, |late| *late as usize);
            return self.take(stretches, late, entries, out);
        }
        let middle = start + (end - start).div_ceil(STRETCHES).div_ceil(2) * STRETCHES;
        let items = self.members.begin(middle) - self.members.begin(start);
        let (made, to_make) = entries.split_at_mut((self.parts * items).min(entries.len()));
        let (first, second) = out.split_at_mut((middle - start) * NEAR);
        rayon::join(
            || self.share(start..middle, made, first),
            || self.share(middle..end, to_make, second),
        );
    }

    /// Does some stretches one after the other; `entries` are those of their items and, after the last, all others.
    fn take<I, T>(&self, stretches: Range<usize>, late: usize, entries: &mut [I], out: &mut [T])
    where
        M: Fn(usize, &mut [I]),
        G: Fn(usize, &mut [T], Made<'_, I>),
    {
        let first = self.parts * self.members.begin(stretches.start);
        let mut made = 0;
        for (k, near) in out.chunks_mut(NEAR).enumerate() {
            let stretch = stretches.start + k;
            let needed = self.parts * self.members.ends[stretch] as usize - first;
            let needed = needed.min(entries.len());
            if made < needed {
                (self.make)(first + made, &mut entries[made..needed]);
                made = needed;
            }
            let late = late.saturating_sub(k * NEAR).min(near.len());
            let entries = Made { first, entries };
            (self.gather)(stretch * NEAR + late, &mut near[late..], entries);
        }
        if made < entries.len() {
            (self.make)(first + made, &mut entries[made..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_particle_gets_its_items_on_any_number_of_threads() {
        for count in [3, 600, 9000, 20_000] {
            // Triples near each other and some far apart, in no order.
            let item = |i: usize| [i, (i * 7 + 1) % count, (i + 700) % count].map(|p| p as u32);
            let near = (0..count).map(|i| [i, (i + 1) % count, (i + 40) % count].map(|p| p as u32));
            let items: Vec<[u32; 3]> = near.chain((0..count / 5).map(item)).collect();
            let members = Incidence::new(&items, count);
            // As if most items were of another kind.
            let mut entries = vec![(0, 0); items.len() - 3];
            let table = vec![(); entries.len()];
            let mut out = vec![0; count];
            let value = |entry: usize| (entry * entry) as u64 % 1009;
            let expected: Vec<u64> = (0..count)
                .map(|i| {
                    let items = members.of(i).iter().flat_map(|m| [2 * m.item, 2 * m.item + 1]);
                    items.map(|e| e as usize).filter(|e| *e < entries.len()).map(value).sum()
                })
                .collect();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            for (par, wanted) in
                [(Par::Serial, count), (Par::Rayon, count), (Par::Rayon, count / 2)]
            {
                entries.fill((0, 0));
                out.fill(0);
                let make = |first: usize, entries: &mut [(u64, u32)]| {
                    assert_eq!(table[first..][..entries.len()].len(), entries.len());
                    for (k, entry) in entries.iter_mut().enumerate() {
                        *entry = (value(first + k), entry.1 + 1);
                    }
                };
                let gather = |first: usize, out: &mut [u64], made: Made<'_, (u64, u32)>| {
                    for (k, out) in out.iter_mut().enumerate() {
                        for m in members.of(first + k) {
                            let entries = [2 * m.item, 2 * m.item + 1].map(|e| e as usize);
                            let made = entries.iter().filter_map(|entry| made.get(*entry));
                            *out +=
                                made.map(|(value, times)| value * u64::from(*times)).sum::<u64>();
                        }
                    }
                };
                let out = &mut out[..wanted];
                pool.install(|| members.gather(par, 2, &mut entries, out, make, gather));
                assert_eq!(out, &expected[..wanted], "{count} {par:?}");
                assert!(entries.iter().all(|(_, times)| *times == 1));
            }
        }
    }
}
