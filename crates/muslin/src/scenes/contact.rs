//! Scenes with bodies.

use super::moustakas_cloth;
use crate::scene::{Air, Cloth, Collider, Key, Pin, Place, Scene, Sheet};
use glam::{DVec3, dvec3};

/// Rubin's Fig. 13 a and b: the same square with 8×8 and with 16×16 particles, each on a sphere. The
/// paper gives no size; the square is the one of its other figures.
pub(super) fn rubin_sphere() -> Scene {
    let cloth = |left: f64, n: usize| Cloth {
        fabric: Some("rubin-t-shirt".into()),
        origin: dvec3(left, 0.0, -3.5),
        ..Sheet::square(7.0, n)
    };
    let ball =
        |middle: f64| Collider::sphere(dvec3(middle, -2.5, 0.0), 2.0).friction(0.3).thickness(0.1);
    Scene {
        dt: 0.01,
        seconds: 8.0,
        gravity: dvec3(0.0, -1.0, 0.0),
        cloth: vec![cloth(-8.0, 8), cloth(1.0, 16)],
        colliders: vec![ball(-4.5), ball(4.5)],
        ..Scene::default()
    }
}

/// Moustakas Fig. 3; the paper gives neither the sphere's size nor its friction.
pub(super) fn moustakas_sphere() -> Scene {
    let cloth = Cloth { origin: dvec3(-0.5, 0.0, -0.5), ..moustakas_cloth() };
    Scene {
        dt: 0.01,
        seconds: 3.0,
        air: Air { drag: 0.5, ..Air::default() },
        cloth: vec![cloth],
        colliders: vec![Collider::sphere(dvec3(0.0, -0.27, 0.0), 0.25).friction(0.4)],
        ..Scene::default()
    }
}

pub(super) fn drape() -> Scene {
    let cloth = Cloth {
        fabric: Some("cotton".into()),
        origin: dvec3(-1.0, 0.0, -1.0),
        ..Sheet::square(2.0, 80)
    };
    Scene {
        seconds: 5.0,
        substeps: 2,
        air: Air { density: 1.2, ..Air::default() },
        cloth: vec![cloth],
        colliders: vec![Collider::sphere(dvec3(0.0, -0.55, 0.0), 0.5).friction(0.4)],
        ..Scene::default()
    }
}

/// A table top with a foot, and a cloth just above it.
fn laid(top: Collider) -> Scene {
    let cloth = Cloth {
        fabric: Some("linen".into()),
        origin: dvec3(-0.9, 0.02, -0.9),
        ..Sheet::square(1.8, 64)
    };
    // Triangles cut a sharp rim by a third of their edges.
    let top = top.friction(0.4).thickness(0.012);
    let leg = Collider::cylinder(dvec3(0.0, -0.45, 0.0), 0.06, 0.8).friction(0.4);
    Scene {
        seconds: 4.0,
        substeps: 2,
        air: Air { density: 1.2, ..Air::default() },
        cloth: vec![cloth],
        colliders: vec![top, leg],
        ..Scene::default()
    }
}

pub(super) fn table() -> Scene {
    laid(Collider::cylinder(dvec3(0.0, -0.04, 0.0), 0.59, 0.04))
}

pub(super) fn square_table() -> Scene {
    laid(Collider::cuboid(dvec3(0.0, -0.04, 0.0), dvec3(1.1, 0.04, 1.1)))
}

/// Two boxes close on a hanging cloth, its pins let go, and the boxes lift it.
pub(super) fn grip() -> Scene {
    let (half, thickness) = (0.03, 0.002);
    let jaw = |side: f64| {
        // Closed, there is a tenth of the thickness less room than the cloth takes.
        let closing = dvec3(0.0, 0.0, -side * 0.0202);
        let path = vec![
            Key::default(),
            Key { time: 0.3, offset: closing, ..Key::default() },
            Key { time: 0.5, offset: closing, ..Key::default() },
            Key { time: 1.5, offset: closing + 0.2 * DVec3::Y, ..Key::default() },
        ];
        let place = dvec3(0.0, -0.03, side * (0.02 + thickness + half));
        Collider::cuboid(place, dvec3(0.1, 0.04, 2.0 * half))
            .friction(0.5)
            .thickness(thickness)
            .path(path)
    };
    let top = Pin { place: Some(Place::FirstRow), release: Some(0.4), ..Pin::default() };
    let cloth = Cloth {
        fabric: Some("cotton".into()),
        origin: dvec3(-0.15, 0.0, 0.0),
        down: DVec3::NEG_Y,
        pins: vec![top],
        ..Sheet::square(0.3, 31)
    };
    Scene {
        seconds: 10.0,
        substeps: 2,
        air: Air { density: 1.2, ..Air::default() },
        cloth: vec![cloth],
        colliders: vec![jaw(1.0), jaw(-1.0)],
        ..Scene::default()
    }
}
