//! A mannequin that walks on the spot, and a skirt on it.
//!
//! Angles of the joints are smooth functions of the phase φ of the walk; forward kinematics gives the
//! places of the bones, sampled as keys. Its surface is made around them in a wide stance, so that neither
//! the legs nor the arms grow together. Walking on the spot against a wind is the same as walking in
//! still air, and stays in the picture. Lengths are those of a person of 1.7 m.

use super::flesh;
use crate::model::rotation;
use crate::scene::{
    Air, Bone, Channel, Character, Cloth, Collider, Interpolation, Pin, Property, Scene,
    SelfContact, Sheet,
};
use glam::{DAffine3, DQuat, DVec3, DVec4, dvec3};
use std::f64::consts::TAU;

/// Seconds of walking, and of the first steps' growing.
const SECONDS: f64 = 4.0;
const START: f64 = 1.0;
/// Two steps. [s]
const PERIOD: f64 = 1.1;
/// Speed of the walk, as wind. [m/s]
const SPEED: f64 = 1.2;
/// Keys per second.
const SAMPLES: f64 = 60.0;

/// Pelvis above the floor. [m]
const PELVIS: f64 = 0.94;
const THIGH: f64 = 0.42;
const SHIN: f64 = 0.42;
const UPPER_ARM: f64 = 0.29;
const FOREARM: f64 = 0.25;

/// Distance of the surface's vertices: one at which no cell of the lattice holds two sheets of it, so that it
/// is closed (a test says so). [m]
const CELL: f64 = 0.028;

/// How far the limbs are spread to the sides. [rad]
#[derive(Clone, Copy)]
struct Stance {
    legs: f64,
    arms: f64,
}

/// While the mannequin walks.
const WALKING: Stance = Stance { legs: 0.0, arms: 0.2 };
/// While its surface is made.
const WIDE: Stance = Stance { legs: 0.22, arms: 0.9 };

/// A piece of a bone's flesh in the bone's coordinates: its ends and its radius at each. [m]
type Piece = ([f64; 3], [f64; 3], [f64; 2]);

/// A bone: what it is joined to, its flesh, and its middle and rotation at a time.
struct Limb {
    parent: Option<u32>,
    pieces: &'static [Piece],
    at: fn(f64, Stance) -> (DVec3, DQuat),
}

// The belly belongs to it, so that a waistband does not lie where hips and chest turn against each other.
const PELVIS_FLESH: &[Piece] = &[
    ([-0.055, 0.0, -0.01], [0.055, 0.0, -0.01], [0.108, 0.108]),
    ([-0.02, 0.05, 0.0], [0.02, 0.05, 0.0], [0.105, 0.105]),
    ([0.0, 0.05, 0.0], [0.0, 0.1, 0.0], [0.1, 0.1]),
];
const CHEST_FLESH: &[Piece] = &[
    ([0.0, -0.13, 0.0], [0.0, 0.05, 0.0], [0.1, 0.11]),
    ([-0.04, 0.05, 0.005], [0.04, 0.05, 0.005], [0.108, 0.108]),
    ([-0.15, 0.155, -0.01], [0.15, 0.155, -0.01], [0.05, 0.05]),
    ([0.0, 0.14, -0.01], [0.0, 0.3, 0.01], [0.055, 0.045]),
];
const HEAD_FLESH: &[Piece] = &[
    ([0.0, 0.02, -0.005], [0.0, 0.045, -0.01], [0.085, 0.09]),
    ([0.0, -0.045, 0.02], [0.0, 0.0, 0.02], [0.052, 0.07]),
];
const THIGH_FLESH: &[Piece] = &[([0.0, 0.2, 0.0], [0.0, -0.21, 0.0], [0.084, 0.052])];
const SHIN_FLESH: &[Piece] = &[
    ([0.0, 0.21, 0.0], [0.0, -0.21, 0.0], [0.05, 0.036]),
    ([0.0, 0.13, -0.016], [0.0, 0.03, -0.012], [0.046, 0.042]),
];
const FOOT_FLESH: &[Piece] = &[([0.0, 0.0, -0.08], [0.0, -0.015, 0.1], [0.04, 0.03])];
const ARM_FLESH: &[Piece] = &[([0.0, 0.145, 0.0], [0.0, -0.145, 0.0], [0.048, 0.038])];
const FOREARM_FLESH: &[Piece] = &[
    ([0.0, 0.125, 0.0], [0.0, -0.125, 0.0], [0.039, 0.03]),
    ([0.0, -0.15, 0.0], [0.0, -0.2, 0.005], [0.033, 0.028]),
];

const LIMBS: [Limb; 13] = [
    Limb { parent: None, pieces: PELVIS_FLESH, at: |t, _| pelvis(t) },
    Limb { parent: Some(0), pieces: CHEST_FLESH, at: |t, _| chest(t) },
    Limb { parent: Some(1), pieces: HEAD_FLESH, at: |t, _| head(t) },
    Limb { parent: Some(0), pieces: THIGH_FLESH, at: |t, stance| thigh(t, stance, 1.0) },
    Limb { parent: Some(0), pieces: THIGH_FLESH, at: |t, stance| thigh(t, stance, -1.0) },
    Limb { parent: Some(3), pieces: SHIN_FLESH, at: |t, stance| shin(t, stance, 1.0) },
    Limb { parent: Some(4), pieces: SHIN_FLESH, at: |t, stance| shin(t, stance, -1.0) },
    Limb { parent: Some(5), pieces: FOOT_FLESH, at: |t, stance| foot(t, stance, 1.0) },
    Limb { parent: Some(6), pieces: FOOT_FLESH, at: |t, stance| foot(t, stance, -1.0) },
    Limb { parent: Some(1), pieces: ARM_FLESH, at: |t, stance| upper_arm(t, stance, 1.0) },
    Limb { parent: Some(1), pieces: ARM_FLESH, at: |t, stance| upper_arm(t, stance, -1.0) },
    Limb { parent: Some(9), pieces: FOREARM_FLESH, at: |t, stance| forearm(t, stance, 1.0) },
    Limb { parent: Some(10), pieces: FOREARM_FLESH, at: |t, stance| forearm(t, stance, -1.0) },
];

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

fn thigh(t: f64, stance: Stance, side: f64) -> (DVec3, DQuat) {
    let (hips, turn) = pelvis(t);
    let spread = rotation(stance.legs * side * DVec3::Z);
    let swing = spread * about_x(-hip_angle(t, side));
    hanging(hips + turn * dvec3(0.085 * side, -0.04, 0.0), swing, THIGH)
}

fn shin(t: f64, stance: Stance, side: f64) -> (DVec3, DQuat) {
    let (middle, turn) = thigh(t, stance, side);
    let knee = middle - turn * (0.5 * THIGH * DVec3::Y);
    hanging(knee, turn * about_x(knee_angle(t, side)), SHIN)
}

fn foot(t: f64, stance: Stance, side: f64) -> (DVec3, DQuat) {
    let (middle, turn) = shin(t, stance, side);
    let ankle = middle - turn * (0.5 * SHIN * DVec3::Y);
    (ankle + turn * dvec3(0.0, -0.02, 0.06), turn)
}

/// Arms swing against the legs.
fn upper_arm(t: f64, stance: Stance, side: f64) -> (DVec3, DQuat) {
    let (middle, turn) = chest(t);
    let shoulder = middle + turn * dvec3(0.19 * side, 0.16, 0.0);
    let swing = about_x(0.75 * hip_angle(t, side));
    hanging(shoulder, rotation(stance.arms * side * DVec3::Z) * swing, UPPER_ARM)
}

fn forearm(t: f64, stance: Stance, side: f64) -> (DVec3, DQuat) {
    let (middle, turn) = upper_arm(t, stance, side);
    let elbow = middle - turn * (0.5 * UPPER_ARM * DVec3::Y);
    hanging(elbow, turn * about_x(-0.35 - 0.2 * strength(t)), FOREARM)
}

/// A bone's keys, one for each sample of the walk.
fn bone(limb: &Limb) -> Bone {
    let (rest, turn) = (limb.at)(0.0, WIDE);
    let count = ((SECONDS + 1.0) * SAMPLES) as usize;
    let times: Vec<f64> = (0..=count).map(|i| i as f64 / SAMPLES).collect();
    let places: Vec<_> = times.iter().map(|t| (limb.at)(*t, WALKING)).collect();
    let channel = |drives: Property, values: Vec<DVec4>| Channel {
        drives,
        between: Interpolation::Linear,
        times: times.clone(),
        values,
    };
    Bone {
        inverse_bind: DAffine3::from_rotation_translation(turn, rest).inverse(),
        channels: vec![
            channel(Property::Translation, places.iter().map(|(x, _)| x.extend(0.0)).collect()),
            channel(Property::Rotation, places.iter().map(|(_, q)| DVec4::from(*q)).collect()),
        ],
        ..Bone::default()
    }
}

/// The flesh of all bones in the wide stance.
fn pieces() -> Vec<flesh::Limb> {
    let pieces = LIMBS.iter().enumerate().flat_map(|(bone, limb)| {
        let (place, turn) = (limb.at)(0.0, WIDE);
        limb.pieces.iter().map(move |&(a, b, radii)| flesh::Limb {
            bone: bone as u32,
            ends: [a, b].map(|end| place + turn * DVec3::from_array(end)),
            radii,
        })
    });
    pieces.collect()
}

/// The mannequin, its feet near the origin.
fn character() -> Character {
    let pieces = pieces();
    let parents = LIMBS.map(|limb| limb.parent);
    let (vertices, triangles) = flesh::wrap(&pieces, CELL);
    Character {
        repeat: false,
        weights: vertices.iter().map(|v| flesh::weights(&pieces, &parents, *v)).collect(),
        bones: LIMBS.iter().map(bone).collect(),
        vertices,
        triangles,
        ..Character::default()
    }
}

/// A flared skirt: a truncated cone, its waistband on the hips.
fn skirt() -> Cloth {
    let (columns, rows) = (80, 26);
    let (waist, hem, top, length) = (dvec3(0.158, 0.0, 0.132), 0.34, PELVIS + 0.07, 0.45);
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
            body: Some("mannequin".into()),
            ..Pin::default()
        }],
        ..Sheet::mesh(
            (0..columns * rows).map(vertex).collect(),
            (0..columns * (rows - 1)).flat_map(corners).collect(),
        )
    }
}

pub(super) fn dressed_walk() -> Scene {
    let body = Collider {
        name: "mannequin".into(),
        ..Collider::character(DVec3::ZERO, character()).friction(0.3).thickness(0.008)
    };
    Scene {
        seconds: SECONDS,
        substeps: 2,
        air: Air { density: 1.2, wind: dvec3(0.0, 0.0, -SPEED), ..Air::default() },
        cloth: vec![skirt()],
        colliders: vec![body],
        self_contact: Some(SelfContact { thickness: 0.002, friction: 0.3 }),
        ..Scene::default()
    }
}
