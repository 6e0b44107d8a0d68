//! Constraints eight at a time, with the result of one after the other.
//!
//! A sweep that takes constraints in order may take any of them earlier, as long as it stays behind those
//! it shares a particle with. So each goes into the first batch behind them that has room; the eight of a
//! batch share no particle, and every particle is moved in the same order as before, to the same
//! bits. On a grid the batches advance through the cloth like a wave and nearly all are full.

use crate::lanes::LANES;

/// No constraint in a lane.
pub const NONE: u32 = u32::MAX;

/// Batches that are kept open for constraints still to come.
const OPEN: usize = 4096;

/// Constraints on P particles each: which they are, and their particles by corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch<const P: usize> {
    /// Index of the constraint in each lane, or [`NONE`].
    pub items: [u32; LANES],
    /// Particles of the constraints; lanes without one have the particle behind the last.
    pub particles: [[u32; LANES]; P],
}

/// Puts constraints, given by their particles in the order of a sweep, into batches. Those that are not
/// `wanted` are left out.
pub fn batches<const P: usize>(
    particle_count: usize,
    constraints: impl Iterator<Item = [u32; P]>,
    wanted: impl Fn(usize) -> bool,
) -> Vec<Batch<P>> {
    let empty = Batch { items: [NONE; LANES], particles: [[particle_count as u32; LANES]; P] };
    let mut all: Vec<Batch<P>> = Vec::new();
    let mut filled: Vec<u8> = Vec::new();
    // The first batch that may hold a further constraint on a particle.
    let mut behind = vec![0usize; particle_count];
    for (item, particles) in constraints.enumerate().filter(|(item, _)| wanted(*item)) {
        let first = particles.iter().map(|p| behind[*p as usize]).fold(0, usize::max);
        let first = first.max(all.len().saturating_sub(OPEN));
        let room = |batch: &usize| usize::from(filled[*batch]) < LANES;
        let place = (first..all.len()).find(room).unwrap_or(first.max(all.len()));
        if place == all.len() {
            all.push(empty.clone());
            filled.push(0);
        }
        let lane = usize::from(filled[place]);
        all[place].items[lane] = item as u32;
        for (corner, particle) in particles.into_iter().enumerate() {
            all[place].particles[corner][lane] = particle;
            behind[particle as usize] = place + 1;
        }
        filled[place] += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_the_order_of_every_particle_and_are_nearly_full() {
        let n = 40u32;
        let mut links = Vec::new();
        for i in 0..n * n {
            let (row, column) = (i / n, i % n);
            links.extend((column + 1 < n).then_some([i, i + 1]));
            links.extend((row + 1 < n).then_some([i, i + n]));
            links.extend((row + 1 < n && column + 1 < n).then_some([i, i + n + 1]));
        }
        let made = batches(n as usize * n as usize, links.iter().copied(), |item| item != 7);
        assert!(made.len() * LANES < links.len() * 5 / 4, "{}", made.len());
        let (mut seen, mut last) = (vec![false; links.len()], vec![None; (n * n) as usize]);
        for batch in &made {
            let mut touched = Vec::new();
            for lane in (0..LANES).filter(|lane| batch.items[*lane] != NONE) {
                let item = batch.items[lane] as usize;
                assert!(!std::mem::replace(&mut seen[item], true));
                for (corner, particle) in links[item].into_iter().enumerate() {
                    assert_eq!(batch.particles[corner][lane], particle);
                    assert!(!touched.contains(&particle), "twice in a batch");
                    touched.push(particle);
                    assert!(last[particle as usize] < Some(item), "out of order");
                    last[particle as usize] = Some(item);
                }
            }
        }
        assert!(seen.iter().enumerate().all(|(item, seen)| *seen == (item != 7)));
    }
}
