//! For each particle, the items (links, hinges, …) it takes part in, in item order.

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
        Self { offsets, members }
    }

    /// The items particle `particle` takes part in.
    #[inline]
    pub fn of(&self, particle: usize) -> &[Member] {
        &self.members[self.offsets[particle] as usize..self.offsets[particle + 1] as usize]
    }
}
