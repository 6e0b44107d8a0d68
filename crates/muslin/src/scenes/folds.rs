//! Scenes in which cloth meets cloth.

use crate::model::rotation;
use crate::scene::{Air, Cloth, Collider, Key, Pin, Scene, SelfContact, Sheet, Waypoint};
use glam::{DVec3, dvec3};
use std::f64::consts::TAU;

pub(super) fn stack() -> Scene {
    let cloth = Cloth {
        fabric: Some("cotton".into()),
        origin: dvec3(-0.3, 0.0, -0.3),
        layers: 10,
        layer_step: dvec3(0.0, 0.01, 0.0),
        ..Sheet::square(0.6, 11)
    };
    let post = Collider::cylinder(dvec3(0.0, -0.16, 0.0), 0.15, 0.8)
        .rotated(0.25 * TAU * DVec3::X)
        .friction(0.5);
    Scene {
        seconds: 3.0,
        substeps: 2,
        air: Air { density: 1.2, ..Air::default() },
        cloth: vec![cloth],
        colliders: vec![post],
        self_contact: Some(SelfContact::default()),
        ..Scene::default()
    }
}

/// A tube of `around` × `along` particles whose rims turn against each other, two turns each.
pub fn twist(around: usize, along: usize) -> Scene {
    const RADIUS: f64 = 0.05;
    const LENGTH: f64 = 1.2;
    const SECONDS: f64 = 8.0;
    // Corners of the path per turn.
    const CORNERS: usize = 24;
    let turned = |angle: f64| rotation(angle * DVec3::X) * (RADIUS * DVec3::Y);
    let place = |ring: usize, k: usize| {
        let x = LENGTH * (ring as f64 / (along - 1) as f64 - 0.5);
        // Rings are shifted so that triangles are alike.
        let angle = TAU * (k as f64 + 0.5 * (ring % 2) as f64) / around as f64;
        x * DVec3::X + turned(angle)
    };
    let rings = (0..along).flat_map(|ring| (0..around).map(move |k| (ring, k)));
    let vertices = rings.map(|(ring, k)| place(ring, k)).collect();
    let mut triangles = Vec::new();
    for ring in 0..along - 1 {
        for k in 0..around {
            let next = (k + 1) % around;
            let [a, b] = [ring * around + k, ring * around + next];
            let [c, d] = [a + around, b + around];
            let halves =
                if ring % 2 == 0 { [[a, b, c], [b, d, c]] } else { [[a, d, c], [a, b, d]] };
            triangles.extend(halves);
        }
    }
    let rim = |ring: usize, way: f64| {
        (0..around).map(move |k| {
            let start = place(ring, k);
            let path = (0..=2 * CORNERS).map(|corner| {
                let share = corner as f64 / (2 * CORNERS) as f64;
                // A twisted tube is shorter.
                let inward = dvec3(-way * 0.08 * share, 0.0, 0.0);
                let offset = rotation(way * 2.0 * TAU * share * DVec3::X) * start - start + inward;
                Waypoint { time: SECONDS * share, offset }
            });
            Pin { particles: vec![ring * around + k], path: path.collect(), ..Pin::default() }
        })
    };
    let cloth = Cloth {
        fabric: Some("silk".into()),
        pins: rim(0, -1.0).chain(rim(along - 1, 1.0)).collect(),
        ..Sheet::mesh(vertices, triangles)
    };
    Scene {
        seconds: SECONDS,
        substeps: 2,
        air: Air { density: 1.2, ..Air::default() },
        cloth: vec![cloth],
        self_contact: Some(SelfContact { thickness: 0.0015, friction: 0.3 }),
        ..Scene::default()
    }
}

/// Planks around a neck, a cloth over them, and a ball that pushes it through.
pub(super) fn funnel() -> Scene {
    const PLANKS: usize = 12;
    const NECK: f64 = 0.14;
    const SLOPE: f64 = 0.8;
    let length = 0.5;
    let plank = |k: usize| {
        let turn = rotation(TAU * k as f64 / PLANKS as f64 * DVec3::Y);
        // Leaning outward from the neck, the upper face towards the axis.
        let lean = rotation(-SLOPE * DVec3::Z);
        let up_slope = turn * (lean * DVec3::Y);
        let outward = turn * (lean * DVec3::X);
        let foot = turn * (NECK * DVec3::X);
        let both = turn * lean;
        let (axis, angle) = both.to_axis_angle();
        Collider::cuboid(foot + 0.5 * length * up_slope + 0.02 * outward, dvec3(0.04, length, 0.4))
            .rotated(angle * axis)
            .friction(0.1)
    };
    let rim = length * SLOPE.cos();
    let path = vec![
        Key::default(),
        Key { time: 0.4, ..Key::default() },
        Key { time: 2.4, offset: dvec3(0.0, -(rim + 0.5), 0.0), ..Key::default() },
    ];
    let ball = Collider::sphere(dvec3(0.0, rim + 0.15, 0.0), 0.06).friction(0.3).path(path);
    let cloth = Cloth {
        fabric: Some("cotton".into()),
        origin: dvec3(-0.35, rim + 0.05, -0.35),
        ..Sheet::square(0.7, 25)
    };
    Scene {
        seconds: 3.5,
        substeps: 4,
        air: Air { density: 1.2, ..Air::default() },
        cloth: vec![cloth],
        colliders: (0..PLANKS).map(plank).chain([ball]).collect(),
        self_contact: Some(SelfContact { thickness: 0.002, friction: 0.2 }),
        ..Scene::default()
    }
}
