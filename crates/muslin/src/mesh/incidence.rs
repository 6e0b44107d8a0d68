//! For each particle, the items (links, hinges, …) it takes part in, in item order.

use crate::par::{BLOCK, Par};

/// Particles that one thread gathers for at a time: their items are near when they are.
const NEAR: usize = 512;

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
    /// Behind the last item of each [`NEAR`] particles.
    ends: Vec<u32>,
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
        let end_of = |first: usize| {
            let end = (first + NEAR).min(particle_count);
            let members = &members[offsets[first] as usize..offsets[end] as usize];
            members.iter().map(|m| m.item + 1).max().unwrap_or(0)
        };
        let ends = (0..particle_count).step_by(NEAR).map(end_of).collect();
        Self { offsets, members, ends }
    }

    /// The items particle `particle` takes part in.
    #[inline]
    pub fn of(&self, particle: usize) -> &[Member] {
        &self.members[self.offsets[particle] as usize..self.offsets[particle + 1] as usize]
    }

    /// Calls `make(first, entries)` for all items, which have `parts` entries each, and then `gather(first, out, entries)`
    /// for all particles, in stretches. On one thread by turns: particles get theirs as soon as the last is made.
    pub fn gather<I: Send + Sync, T: Send>(
        &self,
        par: Par,
        parts: usize,
        entries: &mut [I],
        out: &mut [T],
        make: impl Fn(usize, &mut [I]) + Sync,
        gather: impl Fn(usize, &mut [T], &[I]) + Sync,
    ) {
        if par == Par::Rayon {
            par.blocks(entries, |block, entries| make(block * BLOCK, entries));
            par.blocks(out, |block, out| gather(block * BLOCK, out, entries));
            return;
        }
        let mut made = 0;
        for ((stretch, out), end) in out.chunks_mut(NEAR).enumerate().zip(&self.ends) {
            let needed = (parts * *end as usize).min(entries.len());
            if needed > made {
                make(made, &mut entries[made..needed]);
                made = needed;
            }
            gather(stretch * NEAR, out, entries);
        }
        make(made, &mut entries[made..]);
    }
}
