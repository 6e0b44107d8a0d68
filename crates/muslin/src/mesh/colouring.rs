//! Greedy colouring: particles of one colour share no link and no element, so a Gauss–Seidel
//! sweep may update them together.

use super::{Incidence, Links};

/// Particles grouped by colour, ascending inside a colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Colouring {
    offsets: Vec<u32>,
    particles: Vec<u32>,
}

impl Colouring {
    /// Gives each particle, in order, the smallest colour none of its neighbours has.
    pub fn new(
        particle_count: usize,
        links: &Links,
        link_members: &Incidence,
        elements: &[[u32; 4]],
        element_members: &Incidence,
    ) -> Self {
        const NONE: u32 = u32::MAX;
        let mut colour = vec![NONE; particle_count];
        let mut used_by: Vec<u32> = Vec::new();
        for i in 0..particle_count {
            let mut forbid = |neighbour: u32| {
                let c = colour[neighbour as usize];
                if c != NONE {
                    used_by.resize(used_by.len().max(c as usize + 1), NONE);
                    used_by[c as usize] = i as u32;
                }
            };
            for member in link_members.of(i) {
                links.ends()[member.item as usize].iter().for_each(|&n| forbid(n));
            }
            for member in element_members.of(i) {
                elements[member.item as usize].iter().for_each(|&n| forbid(n));
            }
            colour[i] = (0..).find(|&c| used_by.get(c as usize) != Some(&(i as u32))).unwrap_or(0);
        }
        let colours = colour.iter().max().map_or(0, |c| c + 1) as usize;
        let mut offsets = vec![0u32; colours + 1];
        colour.iter().for_each(|&c| offsets[c as usize + 1] += 1);
        for c in 0..colours {
            offsets[c + 1] += offsets[c];
        }
        let mut next = offsets.clone();
        let mut particles = vec![0; particle_count];
        for (i, &c) in colour.iter().enumerate() {
            particles[next[c as usize] as usize] = i as u32;
            next[c as usize] += 1;
        }
        Self { offsets, particles }
    }

    /// The groups, one per colour.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.offsets.windows(2).map(|w| &self.particles[w[0] as usize..w[1] as usize])
    }
}
