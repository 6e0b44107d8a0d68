//! Stepping allocates nothing after the first step, whatever the method.

use muslin::scene::Air;
use muslin::solvers::Layers;
use muslin::solvers::presets::METHODS;
use muslin::{Collider, Method, Pull, Sim, dvec3, scenes};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn stepping_allocates_nothing_after_the_first_step() {
    // Wind, hinges, moving pins, pulls, bodies, one of them skinned: every stage at work.
    let mut scene = scenes::named("curtain").unwrap();
    (scene.cloth[0].columns, scene.cloth[0].rows) = (17, 17);
    scene.air = Air { drag: 0.1, ..scene.air };
    // Inside the curtain and smaller than its cells.
    scene.add_collider(Collider::sphere(dvec3(0.0, -1.0, 0.0), 0.1));
    let mannequin = scenes::named("dressed-walk").unwrap().colliders.remove(0);
    scene.add_collider(Collider { position: dvec3(0.3, -1.8, 0.0), ..mannequin });
    let mut methods: Vec<Method> = METHODS.iter().map(|p| p.method()).collect();
    // What no preset has: a hidden layer, regions.
    let hybrid = Method::preset("hybrid").unwrap();
    methods.push(Method { layers: Layers::Interface, regions: 3, ..hybrid });
    for method in methods {
        let id = method.id.clone();
        let mut sim = Sim::new(scene.compile().unwrap(), method).unwrap();
        let target = muslin::vec3(0.0, 1.0, 2.0);
        for particle in [100, 100, 120] {
            sim.inputs.pulls.push(Pull { particle, target, stiffness: 1.0 });
        }
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
            id,
            found.bytes_allocated
        );
    }
}
