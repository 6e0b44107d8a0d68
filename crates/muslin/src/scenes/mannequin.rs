//! A mannequin of capsules that walks on the spot, and a skirt on it.
//!
//! Angles of the joints are smooth functions of the phase φ of the walk; forward kinematics gives the
//! places of the limbs, sampled as paths. Walking on the spot against a wind is the same as walking in
//! still air, and stays in the picture. Lengths are those of a person of 1.7 m.

use crate::model::rotation;
use crate::scene::{Air, Cloth, Collider, Key, Pin, Scene, Sheet};
use glam::{DQuat, DVec3, dvec3};
use std::f64::consts::TAU;

/// Seconds of walking, and of the first steps' growing.
const SECONDS: f64 = 4.0;
const START: f64 = 1.0;
/// Two steps. [s]
const PERIOD: f64 = 1.1;
/// Speed of the walk, as wind. [m/s]
const SPEED: f64 = 1.2;
/// Places of limbs per second.
const SAMPLES: f64 = 60.0;

/// Pelvis above the floor. [m]
const PELVIS: f64 = 0.94;
const THIGH: f64 = 0.42;
const SHIN: f64 = 0.42;
const UPPER_ARM: f64 = 0.29;
const FOREARM: f64 = 0.25;

/// A limb of the mannequin: a capsule, and its middle and rotation at a time.
struct Limb {
    name: &'static str,
    radius: f64,
    /// Length of its straight part. [m]
    height: f64,
    /// As it is laid into its own coordinates: limbs hang along y, feet and hips lie.
    lying: DVec3,
    at: fn(f64) -> (DVec3, DQuat),
}

const LIMBS: [Limb; 13] = [
    Limb { name: "pelvis", radius: 0.115, height: 0.1, lying: SIDEWAYS, at: pelvis },
    Limb { name: "chest", radius: 0.115, height: 0.26, lying: DVec3::ZERO, at: chest },
    Limb { name: "head", radius: 0.095, height: 0.06, lying: DVec3::ZERO, at: head },
    Limb {
        name: "left-thigh",
        radius: 0.075,
        height: THIGH,
        lying: DVec3::ZERO,
        at: |t| thigh(t, 1.0),
    },
    Limb {
        name: "right-thigh",
        radius: 0.075,
        height: THIGH,
        lying: DVec3::ZERO,
        at: |t| thigh(t, -1.0),
    },
    Limb {
        name: "left-shin",
        radius: 0.05,
        height: SHIN,
        lying: DVec3::ZERO,
        at: |t| shin(t, 1.0),
    },
    Limb {
        name: "right-shin",
        radius: 0.05,
        height: SHIN,
        lying: DVec3::ZERO,
        at: |t| shin(t, -1.0),
    },
    Limb { name: "left-foot", radius: 0.04, height: 0.16, lying: FORWARD, at: |t| foot(t, 1.0) },
    Limb { name: "right-foot", radius: 0.04, height: 0.16, lying: FORWARD, at: |t| foot(t, -1.0) },
    Limb {
        name: "left-arm",
        radius: 0.045,
        height: UPPER_ARM,
        lying: DVec3::ZERO,
        at: |t| upper_arm(t, 1.0),
    },
    Limb {
        name: "right-arm",
        radius: 0.045,
        height: UPPER_ARM,
        lying: DVec3::ZERO,
        at: |t| upper_arm(t, -1.0),
    },
    Limb {
        name: "left-forearm",
        radius: 0.035,
        height: FOREARM,
        lying: DVec3::ZERO,
        at: |t| forearm(t, 1.0),
    },
    Limb {
        name: "right-forearm",
        radius: 0.035,
        height: FOREARM,
        lying: DVec3::ZERO,
        at: |t| forearm(t, -1.0),
    },
];

/// Quarter turns that lay the axis y along x and along z.
const SIDEWAYS: DVec3 = dvec3(0.0, 0.0, TAU / 4.0);
const FORWARD: DVec3 = dvec3(TAU / 4.0, 0.0, 0.0);

/// How much of the walk is on at a time: 0 standing, 1 walking, smooth in between.
fn strength(t: f64) -> f64 {
    let s = (t / START).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

/// The phase of one side; the other is half a period behind.
fn phase(t: f64, side: f64) -> f64 {
    TAU * t / PERIOD + if side < 0.0 { TAU / 2.0 } else { 0.0 }
}

fn about_x(angle: f64) -> DQuat {
    rotation(angle * DVec3::X)
}

/// Bobs twice a period and turns with the leg that goes ahead.
fn pelvis(t: f64) -> (DVec3, DQuat) {
    let (s, phi) = (strength(t), phase(t, 1.0));
    let bob = 0.015 * s * libm::cos(2.0 * phi);
    let turn = rotation(-0.1 * s * libm::sin(phi) * DVec3::Y);
    let tilt = rotation(0.04 * s * libm::cos(phi) * DVec3::Z);
    (dvec3(0.0, PELVIS + bob, 0.0), turn * tilt)
}

/// Turns against the pelvis.
fn chest(t: f64) -> (DVec3, DQuat) {
    let (hips, _) = pelvis(t);
    let turn = rotation(0.12 * strength(t) * libm::sin(phase(t, 1.0)) * DVec3::Y);
    (hips + 0.3 * DVec3::Y, turn)
}

fn head(t: f64) -> (DVec3, DQuat) {
    let (hips, _) = pelvis(t);
    (hips + 0.66 * DVec3::Y, DQuat::IDENTITY)
}

/// Angle of a thigh, positive ahead.
fn hip_angle(t: f64, side: f64) -> f64 {
    strength(t) * (0.06 + 0.42 * libm::sin(phase(t, side)))
}

/// A knee bends while its thigh swings ahead.
fn knee_angle(t: f64, side: f64) -> f64 {
    let swing = libm::cos(phase(t, side)).max(0.0);
    strength(t) * (0.08 + 0.85 * swing * swing)
}

/// From the joint `at`, a limb of this length hanging along `turn`: its middle.
fn hanging(at: DVec3, turn: DQuat, length: f64) -> (DVec3, DQuat) {
    (at - turn * (0.5 * length * DVec3::Y), turn)
}

fn thigh(t: f64, side: f64) -> (DVec3, DQuat) {
    let (hips, turn) = pelvis(t);
    hanging(hips + turn * dvec3(0.085 * side, -0.04, 0.0), about_x(-hip_angle(t, side)), THIGH)
}

fn shin(t: f64, side: f64) -> (DVec3, DQuat) {
    let (middle, turn) = thigh(t, side);
    let knee = middle - turn * (0.5 * THIGH * DVec3::Y);
    hanging(knee, turn * about_x(knee_angle(t, side)), SHIN)
}

fn foot(t: f64, side: f64) -> (DVec3, DQuat) {
    let (middle, turn) = shin(t, side);
    let ankle = middle - turn * (0.5 * SHIN * DVec3::Y);
    (ankle + turn * dvec3(0.0, -0.02, 0.06), turn)
}

/// Arms swing against the legs.
fn upper_arm(t: f64, side: f64) -> (DVec3, DQuat) {
    let (middle, turn) = chest(t);
    let shoulder = middle + turn * dvec3(0.19 * side, 0.16, 0.0);
    let swing = about_x(0.75 * hip_angle(t, side));
    hanging(shoulder, rotation(0.14 * side * DVec3::Z) * swing, UPPER_ARM)
}

fn forearm(t: f64, side: f64) -> (DVec3, DQuat) {
    let (middle, turn) = upper_arm(t, side);
    let elbow = middle - turn * (0.5 * UPPER_ARM * DVec3::Y);
    hanging(elbow, turn * about_x(-0.35 - 0.2 * strength(t)), FOREARM)
}

/// Axis times angle of a rotation, with the same bits on every machine.
fn axis_angle(q: DQuat) -> DVec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let axis = dvec3(q.x, q.y, q.z);
    let sine = axis.length();
    if sine == 0.0 {
        return DVec3::ZERO;
    }
    axis * (2.0 * libm::atan2(sine, q.w) / sine)
}

/// The bodies of the mannequin.
fn bodies() -> Vec<Collider> {
    let body = |limb: &Limb| {
        let (start, turn) = (limb.at)(0.0);
        let own = rotation(limb.lying);
        let key = |i: usize| {
            let time = i as f64 / SAMPLES;
            let (place, now) = (limb.at)(time);
            Key { time, offset: place - start, turn: axis_angle(now * turn.conjugate()) }
        };
        let count = ((SECONDS + 1.0) * SAMPLES) as usize;
        Collider {
            name: limb.name.into(),
            rotation: axis_angle(turn * own),
            ..Collider::capsule(start, limb.radius, limb.height)
        }
        .friction(0.3)
        .thickness(0.008)
        .path((0..=count).map(key).collect())
    };
    LIMBS.iter().map(body).collect()
}

/// A flared skirt: a truncated cone, its waistband on the pelvis.
fn skirt() -> Cloth {
    let (columns, rows) = (80, 26);
    let (waist, hem, top, length) = (dvec3(0.165, 0.0, 0.14), 0.34, PELVIS + 0.1, 0.48);
    let vertex = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let down = row as f64 / (rows - 1) as f64;
        let (sine, cosine) = libm::sincos(TAU * column as f64 / columns as f64);
        let radius = waist + (DVec3::splat(hem) - waist) * down;
        dvec3(radius.x * cosine, top - length * down, radius.z * sine)
    };
    let corners = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let next = row * columns + (column + 1) % columns;
        let (a, b, c, d) = (i, next, next + columns, i + columns);
        // Diagonals in turn, so that the cloth has no grain to one side.
        if (row + column) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
    };
    Cloth {
        name: "skirt".into(),
        fabric: Some("cotton".into()),
        pins: vec![Pin {
            particles: (0..columns).collect(),
            body: Some("pelvis".into()),
            ..Pin::default()
        }],
        ..Sheet::mesh(
            (0..columns * rows).map(vertex).collect(),
            (0..columns * (rows - 1)).flat_map(corners).collect(),
        )
    }
}

pub(super) fn dressed_walk() -> Scene {
    Scene {
        seconds: SECONDS,
        substeps: 2,
        air: Air { density: 1.2, wind: dvec3(0.0, 0.0, -SPEED), ..Air::default() },
        cloth: vec![skirt()],
        colliders: bodies(),
        ..Scene::default()
    }
}
