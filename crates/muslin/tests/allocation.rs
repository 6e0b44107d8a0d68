//! Stepping allocates nothing after the first step, whatever the method.

use muslin::scene::Air;
use muslin::solvers::presets::METHODS;
use muslin::{Sim, scenes};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn stepping_allocates_nothing_after_the_first_step() {
    // Wind, hinges, moving pins: every stage at work.
    let mut scene = scenes::named("curtain").unwrap();
    (scene.cloth[0].columns, scene.cloth[0].rows) = (17, 17);
    scene.air = Air { drag: 0.1, ..scene.air };
    for preset in METHODS {
        let mut sim = Sim::new(scene.compile().unwrap(), preset.method()).unwrap();
        sim.advance(1.0 / 600.0);
        let region = Region::new(ALLOCATOR);
        (0..5).for_each(|_| {
            sim.advance(1.0 / 600.0);
        });
        let found = region.change();
        assert_eq!(
            (found.allocations, found.reallocations),
            (0, 0),
            "{} allocated {} bytes",
            preset.id,
            found.bytes_allocated
        );
    }
}
