//! Checks a character: every index, weight and key.

use super::check::Check;
use crate::error::Error;
use crate::model::{Bone, Channel, Character, Property, Skin};
use crate::scene::Shape;

/// Places and scales lie between these.
const LARGEST: f64 = 1e6;

pub fn compile(wanted: &Character, check: &Check) -> Result<Shape, Error> {
    check.range("shape.start", wanted.start, -1e9, 1e9)?;
    check.range("shape.speed", wanted.speed, -1e3, 1e3)?;
    // Who reads the file takes the clip from it, and its name away.
    if let Some(clip) = &wanted.clip {
        let remedy = "clips are named in files; leave it out, or give shape.file";
        return Err(check.error("shape.clip", clip, remedy));
    }
    for (i, vertex) in wanted.vertices.iter().enumerate() {
        check.vector(&format!("shape.vertices.{i}"), *vertex, LARGEST)?;
    }
    for (i, corners) in wanted.triangles.iter().enumerate() {
        if let Some(corner) = corners.iter().find(|c| **c as usize >= wanted.vertices.len()) {
            let remedy = format!("the mesh has only {} vertices", wanted.vertices.len());
            return Err(check.error(&format!("shape.triangles.{i}"), corner, &remedy));
        }
    }
    for (i, bone) in wanted.bones.iter().enumerate() {
        check_bone(bone, i, check)?;
    }
    check_weights(wanted, check)?;
    // A vertex that the clip takes out of reach would be found by no step.
    let placed = wanted.vertices_at(0.0);
    for (i, vertex) in placed.iter().enumerate() {
        check.vector(&format!("shape.vertices.{i} at the start"), *vertex, LARGEST)?;
    }
    let Some(skin) = Skin::new(&placed, &wanted.triangles) else {
        let remedy = "a character needs at least one triangle with an area";
        let found = format!("{} of them", wanted.triangles.len());
        return Err(check.error("shape.triangles", found, remedy));
    };
    Ok(Shape::Character(Box::new(Character { skin, ..wanted.clone() })))
}

fn check_weights(wanted: &Character, check: &Check) -> Result<(), Error> {
    let (count, vertices) = (wanted.weights.len(), wanted.vertices.len());
    if count != vertices {
        let remedy = format!("each of the {vertices} vertices needs its bones and weights");
        return Err(check.error("shape.weights", format!("{count} lists"), &remedy));
    }
    for (i, weights) in wanted.weights.iter().enumerate() {
        let key = format!("shape.weights.{i}");
        for (bone, weight) in weights {
            if *bone as usize >= wanted.bones.len() {
                let remedy = format!("the character has only {} bones", wanted.bones.len());
                return Err(check.error(&key, bone, &remedy));
            }
            check.range(&key, *weight, 0.0, LARGEST)?;
        }
        let all = weights.iter().fold(0.0, |all, (_, weight)| all + weight);
        if all <= 1e-9 {
            return Err(check.error(&key, all, "weights need a sum above 0; name a bone"));
        }
    }
    Ok(())
}

fn check_bone(bone: &Bone, i: usize, check: &Check) -> Result<(), Error> {
    let name = |field: &str| format!("shape.bones.{i}.{field}");
    if let Some(parent) = bone.parent.filter(|parent| *parent as usize >= i) {
        return Err(check.error(&name("parent"), parent, "list parents before their children"));
    }
    check.vector(&name("translation"), bone.translation, LARGEST)?;
    check.vector(&name("scale"), bone.scale, LARGEST)?;
    if (bone.rotation.length_squared() - 1.0).abs() > 1e-3 || !bone.rotation.is_finite() {
        let remedy = "a rotation is a quaternion of length 1";
        return Err(check.error(&name("rotation"), bone.rotation, remedy));
    }
    if !bone.inverse_bind.is_finite() {
        let remedy = "must be twelve finite numbers";
        return Err(check.error(&name("inverse_bind"), bone.inverse_bind, remedy));
    }
    for (k, channel) in bone.channels.iter().enumerate() {
        check_channel(channel, &name(&format!("channels.{k}")), check)?;
    }
    Ok(())
}

fn check_channel(channel: &Channel, key: &str, check: &Check) -> Result<(), Error> {
    let (times, values) = (&channel.times, &channel.values);
    let name = |field: &str| format!("{key}.{field}");
    if times.is_empty() {
        return Err(check.error(&name("times"), "[]", "a channel needs at least one key"));
    }
    let ascend = |pair: &[f64]| pair[0] < pair[1];
    if !times.windows(2).all(ascend) || !times.iter().all(|t| t.abs() <= 1e9) {
        let found = format!("{} keys", times.len());
        return Err(check.error(&name("times"), found, "times must be finite and ascend"));
    }
    let wanted = times.len() * channel.values_per_time();
    if values.len() != wanted {
        let remedy = format!("{} times need {wanted} of them", times.len());
        return Err(check.error(&name("values"), format!("{} values", values.len()), &remedy));
    }
    for (i, value) in values.iter().enumerate() {
        let key = name(&format!("values.{i}"));
        if !value.is_finite() || value.abs().max_element() > LARGEST {
            return Err(check.error(&key, value, "must be finite and at most 1e6"));
        }
        let stride = channel.values_per_time();
        let is_rotation = channel.drives == Property::Rotation && i % stride == stride / 2;
        if is_rotation && value.length_squared() < 1e-6 {
            return Err(check.error(&key, value, "a rotation is a quaternion of length 1"));
        }
    }
    Ok(())
}
