//! Characters: triangle meshes that bones bend and a clip moves. Linear blend skinning:
//!
//! ```text
//!   x(t) = Σ_j w_j M_j(t) B_j x₀        M_j = M_parent(j) · T_j(t) R_j(t) S_j(t)
//! ```
//!
//! x₀ the vertex as it is modelled, w_j its weights, B_j the inverse of the bone's place in the model, and
//! T, R, S the bone's own translation, rotation and scale, each of which a channel may drive. Between two
//! keys a channel is constant, linear (rotations along the great circle) or, as in glTF, a cubic with the
//! tangents that are stored beside each value:
//!
//! ```text
//!   p(s) = (2s³−3s²+1) p₀ + Δt (s³−2s²+s) m₀ + (3s²−2s³) p₁ + Δt (s³−s²) m₁
//! ```

use super::skin::Skin;
use glam::{DAffine3, DQuat, DVec3, DVec4};
use serde::{Deserialize, Serialize};

/// A skinned mesh and its clip, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Character {
    /// glTF or GLB file that holds mesh, bones and clips, relative to the scene file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Name of the clip in the file; the only one need not be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<String>,
    /// Whether the clip starts again when it ends; else its last pose stays.
    pub repeat: bool,
    /// Time of the clip at which the scene starts. [s]
    pub start: f64,
    /// Seconds of the clip per second.
    pub speed: f64,
    /// Vertices as they are modelled. [m]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vertices: Vec<DVec3>,
    /// Corners of each triangle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triangles: Vec<[u32; 3]>,
    /// Bones and weights of each vertex; scaled to a sum of 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<Vec<(u32, f64)>>,
    /// Bones, parents before children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bones: Vec<Bone>,
    /// Made when the scene is compiled.
    #[serde(skip)]
    pub skin: Skin,
}

impl Default for Character {
    fn default() -> Self {
        Self {
            file: None,
            clip: None,
            repeat: true,
            start: 0.0,
            speed: 1.0,
            vertices: Vec::new(),
            triangles: Vec::new(),
            weights: Vec::new(),
            bones: Vec::new(),
            skin: Skin::default(),
        }
    }
}

/// A bone: its place relative to its parent, and what moves it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bone {
    /// Index of an earlier bone; none: the body's own coordinates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// T where no channel drives it. [m]
    pub translation: DVec3,
    /// R where no channel drives it.
    pub rotation: DQuat,
    /// S where no channel drives it.
    pub scale: DVec3,
    /// B: from the vertices' coordinates to the bone's.
    pub inverse_bind: DAffine3,
    /// What drives it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Channel>,
}

impl Default for Bone {
    fn default() -> Self {
        Self {
            parent: None,
            translation: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            scale: DVec3::ONE,
            inverse_bind: DAffine3::IDENTITY,
            channels: Vec::new(),
        }
    }
}

/// Keys of one property of a bone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// What it drives.
    pub drives: Property,
    /// What is between keys.
    #[serde(default)]
    pub between: Interpolation,
    /// Ascending. [s]
    pub times: Vec<f64>,
    /// One per time, of translations and scales the first three numbers; under `cubic` three per time:
    /// the tangent before, the value, the tangent after.
    pub values: Vec<DVec4>,
}

/// What a channel drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// T.
    Translation,
    /// R, as a quaternion x, y, z, w.
    Rotation,
    /// S.
    Scale,
}

/// What a channel is between keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Even.
    #[default]
    Linear,
    /// The earlier key's value.
    Step,
    /// A cubic with stored tangents.
    Cubic,
}

impl Channel {
    /// Values that belong to one time.
    pub fn values_per_time(&self) -> usize {
        if self.between == Interpolation::Cubic { 3 } else { 1 }
    }

    /// The value at a time of the clip; before the first and after the last key it is theirs.
    pub fn sample(&self, time: f64) -> DVec4 {
        let stride = self.values_per_time();
        let value = |key: usize| self.values[stride * key + stride / 2];
        let after = self.times.partition_point(|t| *t <= time);
        if after == 0 || after == self.times.len() {
            return value(after.saturating_sub(1));
        }
        let (from, to) = (after - 1, after);
        let length = self.times[to] - self.times[from];
        let s = (time - self.times[from]) / length;
        match self.between {
            Interpolation::Step => value(from),
            Interpolation::Linear if self.drives == Property::Rotation => {
                slerp(value(from), value(to), s)
            }
            Interpolation::Linear => value(from).lerp(value(to), s),
            Interpolation::Cubic => {
                let (leaving, arriving) = (self.values[3 * from + 2], self.values[3 * to]);
                let (s2, s3) = (s * s, s * s * s);
                (2.0 * s3 - 3.0 * s2 + 1.0) * value(from)
                    + length * (s3 - 2.0 * s2 + s) * leaving
                    + (3.0 * s2 - 2.0 * s3) * value(to)
                    + length * (s3 - s2) * arriving
            }
        }
    }
}

/// Part of the way from one rotation to another, the short way, with the same bits on every machine.
fn slerp(from: DVec4, to: DVec4, s: f64) -> DVec4 {
    let cosine = from.dot(to);
    let (to, cosine) = if cosine < 0.0 { (-to, -cosine) } else { (to, cosine) };
    // Where the sine is lost to rounding the chord is as good.
    if cosine > 1.0 - 1e-9 {
        return from.lerp(to, s);
    }
    let angle = libm::acos(cosine);
    (libm::sin((1.0 - s) * angle) * from + libm::sin(s * angle) * to) / libm::sin(angle)
}

impl Bone {
    /// T R S at a time of the clip.
    fn local(&self, time: f64) -> DAffine3 {
        let (mut scale, mut rotation, mut translation) =
            (self.scale, self.rotation, self.translation);
        for channel in &self.channels {
            let value = channel.sample(time);
            match channel.drives {
                Property::Translation => translation = value.truncate(),
                Property::Rotation => rotation = DQuat::from_vec4(value.normalize()),
                Property::Scale => scale = value.truncate(),
            }
        }
        DAffine3::from_scale_rotation_translation(scale, rotation, translation)
    }
}

impl Character {
    /// Length of the clip: the last key of all. [s]
    pub fn duration(&self) -> f64 {
        let channels = self.bones.iter().flat_map(|bone| &bone.channels);
        channels.filter_map(|channel| channel.times.last().copied()).fold(0.0, f64::max)
    }

    /// The clip's time at a time of the scene. [s]
    fn clip_time(&self, duration: f64, time: f64) -> f64 {
        let at = self.start + self.speed * time;
        if self.repeat && duration > 0.0 { at.rem_euclid(duration) } else { at }
    }

    /// Places the vertices as they are at a time of the scene, in the body's coordinates. `matrices` is
    /// storage for the bones'.
    pub fn place(&self, time: f64, matrices: &mut Vec<DAffine3>, out: &mut Vec<DVec3>) {
        let time = self.clip_time(self.duration(), time);
        matrices.clear();
        for bone in &self.bones {
            let local = bone.local(time);
            let place = bone.parent.map_or(local, |parent| matrices[parent as usize] * local);
            matrices.push(place);
        }
        for (matrix, bone) in matrices.iter_mut().zip(&self.bones) {
            *matrix *= bone.inverse_bind;
        }
        out.clear();
        out.extend(self.vertices.iter().zip(&self.weights).map(|(vertex, weights)| {
            let all: f64 = weights.iter().map(|(_, w)| w).sum();
            let moved = |&(bone, w): &(u32, f64)| {
                w / all * matrices[bone as usize].transform_point3(*vertex)
            };
            weights.iter().map(moved).sum::<DVec3>()
        }));
    }

    /// The vertices at a time of the scene, in the body's coordinates. [m]
    pub fn vertices_at(&self, time: f64) -> Vec<DVec3> {
        let (mut matrices, mut out) = (Vec::new(), Vec::new());
        self.place(time, &mut matrices, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{dvec3, dvec4};

    fn channel(drives: Property, between: Interpolation, values: Vec<DVec4>) -> Channel {
        Channel { drives, between, times: vec![1.0, 3.0], values }
    }

    #[test]
    fn channels_are_what_their_interpolation_says() {
        let (a, b) = (dvec4(1.0, 0.0, 0.0, 0.0), dvec4(3.0, 0.0, 0.0, 0.0));
        let linear = channel(Property::Translation, Interpolation::Linear, vec![a, b]);
        assert_eq!([0.0, 1.5, 9.0].map(|t| linear.sample(t).x), [1.0, 1.5, 3.0]);
        let step = channel(Property::Translation, Interpolation::Step, vec![a, b]);
        assert_eq!([2.9, 3.0].map(|t| step.sample(t).x), [1.0, 3.0]);
        // x = t³ has these values and tangents at 1 and 3.
        let one = |x: f64| dvec4(x, 0.0, 0.0, 0.0);
        let values = vec![one(0.0), one(1.0), one(3.0), one(27.0), one(27.0), one(0.0)];
        let cubic = channel(Property::Translation, Interpolation::Cubic, values);
        for t in [1.0, 1.3, 2.0, 2.9, 3.0] {
            assert!((cubic.sample(t).x - t * t * t).abs() < 1e-12);
        }
        let turn = |angle: f64| DVec4::from(DQuat::from_rotation_z(angle));
        let values = vec![turn(0.2), -turn(1.4)];
        let rotation = channel(Property::Rotation, Interpolation::Linear, values);
        assert!(rotation.sample(1.5).distance(turn(0.5)) < 1e-12);
    }

    #[test]
    fn a_bent_arm_is_where_trigonometry_has_it() {
        // A forearm that hangs at an elbow at (1, 0, 0) and turns by 90° in a second.
        let keys = Channel {
            drives: Property::Rotation,
            between: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![
                DVec4::from(DQuat::IDENTITY),
                DVec4::from(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2)),
            ],
        };
        let elbow = dvec3(1.0, 0.0, 0.0);
        let arm = Character {
            repeat: false,
            vertices: vec![dvec3(2.0, 0.0, 0.0); 3],
            triangles: vec![[0, 1, 2]],
            weights: vec![vec![(1, 1.0)], vec![(0, 2.0), (1, 2.0)], vec![(0, 1.0)]],
            bones: vec![
                Bone::default(),
                Bone {
                    parent: Some(0),
                    translation: elbow,
                    inverse_bind: DAffine3::from_translation(-elbow),
                    channels: vec![keys],
                    ..Bone::default()
                },
            ],
            ..Character::default()
        };
        for (time, angle) in [(0.0, 0.0), (0.5f64, 0.25), (1.0, 0.5), (7.0, 0.5)] {
            let angle: f64 = angle * std::f64::consts::PI;
            let bent = elbow + dvec3(angle.cos(), angle.sin(), 0.0);
            let still = dvec3(2.0, 0.0, 0.0);
            let placed = arm.vertices_at(time);
            for (found, wanted) in placed.iter().zip([bent, 0.5 * (bent + still), still]) {
                assert!(found.distance(wanted) < 1e-12, "{time}: {found}, not {wanted}");
            }
        }
    }
}
