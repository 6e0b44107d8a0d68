//! Constraints eight at a time, with the result of one after the other.
//!
//! A sweep that takes constraints in order may take any of them earlier, as long as it stays behind those
//! it shares a particle with. So all of a wave, those that the longest chain of others before them puts at the same
//! place, are taken at once: they share no particle, and every particle is moved in the same order as before, to the
//! same bits. On a grid waves advance through the cloth at a slant.
//!
//! Particles are numbered by waves, too. Then the eight constraints of a batch mostly have eight particles one behind
//! the other at each corner, a *run*: these are read and written as vectors, others one by one.

use crate::lanes::LANES;

/// No constraint in a lane.
pub const NONE: u32 = u32::MAX;

/// A run of fewer constraints is not worth a batch of its own.
const SHORT: usize = 3;

/// Constraints on P particles each: which they are, and the places of their particles by corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch<const P: usize> {
    /// Index of the constraint in each lane, or [`NONE`] behind the last.
    pub items: [u32; LANES],
    /// Places of their particles; lanes without a constraint have one that no particle has.
    pub places: [[u32; LANES]; P],
    /// All bits for lanes with a constraint, none for those without.
    pub count: [u32; LANES],
    /// Whether at every corner the places follow one another.
    pub run: bool,
}

/// The constraints of each wave of a sweep in order. Those that are not `wanted` are left out.
pub fn waves<const P: usize>(
    particle_count: usize,
    constraints: &[[u32; P]],
    wanted: impl Fn(usize) -> bool,
) -> Vec<Vec<u32>> {
    let mut waves: Vec<Vec<u32>> = Vec::new();
    // The first wave that may have a further constraint on a particle.
    let mut behind = vec![0usize; particle_count];
    for (item, particles) in constraints.iter().enumerate().filter(|(item, _)| wanted(*item)) {
        let wave = particles.iter().map(|p| behind[*p as usize]).fold(0, usize::max);
        particles.iter().for_each(|p| behind[*p as usize] = wave + 1);
        if wave == waves.len() {
            waves.push(Vec::new());
        }
        waves[wave].push(item as u32);
    }
    waves
}

/// The wave in which each particle is first the first of a constraint.
pub fn waves_of_particles<const P: usize>(
    particle_count: usize,
    constraints: &[[u32; P]],
    waves: &[Vec<u32>],
) -> Vec<u32> {
    let mut of_particles = vec![waves.len() as u32; particle_count];
    for (wave, item) in
        (0u32..).zip(waves).flat_map(|(wave, items)| items.iter().map(move |i| (wave, i)))
    {
        let known = &mut of_particles[constraints[*item as usize][0] as usize];
        *known = wave.min(*known);
    }
    of_particles
}

/// The place of each particle when they are numbered by waves.
pub fn places(of_particles: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..of_particles.len() as u32).collect();
    order.sort_by_key(|i| of_particles[*i as usize]);
    let mut places = order.clone();
    (0u32..).zip(order).for_each(|(place, i)| places[i as usize] = place);
    places
}

/// Waves of constraints for which any order will do: with the first of their particles.
pub fn waves_beside<const P: usize>(
    of_particles: &[u32],
    constraints: &[[u32; P]],
    wanted: impl Fn(usize) -> bool,
) -> Vec<Vec<u32>> {
    let wave = |item: u32| {
        constraints[item as usize]
            .iter()
            .map(|p| of_particles[*p as usize])
            .fold(u32::MAX, u32::min)
    };
    let mut items: Vec<u32> =
        (0..constraints.len() as u32).filter(|i| wanted(*i as usize)).collect();
    items.sort_by_key(|item| wave(*item));
    let mut waves = Vec::new();
    let mut behind = vec![0usize; of_particles.len()];
    for items in items.chunk_by(|a, b| wave(*a) == wave(*b)) {
        let first = waves.len();
        for item in items {
            let particles = &constraints[*item as usize];
            let own = particles.iter().map(|p| behind[*p as usize]).fold(first, usize::max);
            particles.iter().for_each(|p| behind[*p as usize] = own + 1);
            if own == waves.len() {
                waves.push(Vec::new());
            }
            waves[own].push(*item);
        }
    }
    waves
}

/// Waves put into batches.
pub fn batches<const P: usize>(
    places: &[u32],
    constraints: &[[u32; P]],
    waves: &[Vec<u32>],
) -> Vec<Batch<P>> {
    let nowhere = places.len() as u32;
    let make = |items: &[u32], run: bool| {
        let mut batch =
            Batch { items: [NONE; LANES], places: [[nowhere; LANES]; P], count: [0; LANES], run };
        for (lane, item) in items.iter().enumerate() {
            batch.items[lane] = *item;
            batch.count[lane] = u32::MAX;
            for (corner, particle) in constraints[*item as usize].iter().enumerate() {
                batch.places[corner][lane] = places[*particle as usize];
            }
        }
        batch
    };
    let corners = |item: u32| constraints[item as usize].map(|p| places[p as usize]);
    let follows = |a: u32, b: u32| corners(a).map(|place| place + 1) == corners(b);
    let mut all = Vec::new();
    for wave in waves {
        let mut wave = wave.clone();
        wave.sort_by_key(|item| corners(*item));
        let mut single = Vec::new();
        for run in wave.chunk_by(|a, b| follows(*a, *b)).flat_map(|run| run.chunks(LANES)) {
            if run.len() < SHORT {
                single.extend_from_slice(run);
            } else {
                all.push(make(run, true));
            }
        }
        all.extend(single.chunks(LANES).map(|eight| make(eight, false)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: u32 = 40;
    const COUNT: usize = (SIDE * SIDE) as usize;

    fn links() -> Vec<[u32; 2]> {
        let mut links = Vec::new();
        for i in 0..SIDE * SIDE {
            let (row, column) = (i / SIDE, i % SIDE);
            links.extend((column + 1 < SIDE).then_some([i, i + 1]));
            links.extend((row + 1 < SIDE).then_some([i, i + SIDE]));
            links.extend((row + 1 < SIDE && column + 1 < SIDE).then_some([i, i + SIDE + 1]));
        }
        links
    }

    #[test]
    fn waves_keep_the_order_of_every_particle() {
        let links = links();
        let waves = waves(COUNT, &links, |item| item != 7);
        let (mut seen, mut last) = (vec![false; links.len()], vec![None; COUNT]);
        for wave in &waves {
            let mut touched = vec![false; COUNT];
            for item in wave.iter().map(|item| *item as usize) {
                assert!(!std::mem::replace(&mut seen[item], true));
                for particle in links[item].map(|p| p as usize) {
                    assert!(!std::mem::replace(&mut touched[particle], true), "twice in a wave");
                    assert!(last[particle] < Some(item), "out of order");
                    last[particle] = Some(item);
                }
            }
        }
        assert!(seen.iter().enumerate().all(|(item, seen)| *seen == (item != 7)));
    }

    #[test]
    fn batches_have_everything_once_and_most_of_a_grid_in_runs() {
        let links = links();
        let first = waves(COUNT, &links, |_| true);
        let of_particles = waves_of_particles(COUNT, &links, &first);
        let places = places(&of_particles);
        let mut sorted = places.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..COUNT as u32));
        for waves in [first, waves_beside(&of_particles, &links, |_| true)] {
            let (mut seen, mut in_runs) = (vec![false; links.len()], 0);
            for batch in batches(&places, &links, &waves) {
                let used = batch.items.iter().filter(|item| **item != NONE).count();
                in_runs += if batch.run { used } else { 0 };
                let mut touched = Vec::new();
                for lane in 0..LANES {
                    assert_eq!(batch.count[lane] != 0, lane < used);
                    if lane >= used {
                        continue;
                    }
                    let item = batch.items[lane] as usize;
                    assert!(!std::mem::replace(&mut seen[item], true));
                    for (corner, particle) in links[item].into_iter().enumerate() {
                        let of_corner = &batch.places[corner];
                        assert_eq!(of_corner[lane], places[particle as usize]);
                        assert!(!batch.run || of_corner[lane] == of_corner[0] + lane as u32);
                        assert!(!touched.contains(&particle), "twice in a batch");
                        touched.push(particle);
                    }
                }
            }
            assert!(seen.iter().all(|seen| *seen));
            assert!(10 * in_runs > 9 * links.len(), "{in_runs} of {}", links.len());
        }
    }
}
