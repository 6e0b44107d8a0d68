//! Reads meshes, bones and clips of glTF and GLB files.
//!
//! Every node of the file's scene becomes a bone. A mesh without a skin hangs at its node's bone with all
//! its weight; the joints of a skin are bones of their own below their nodes, with the skin's inverse bind
//! matrices. So a mesh that is not skinned, one whose node is animated and a skinned one are the same thing,
//! and all node transforms are applied by placing the bones. Morph targets are not read.

use glam::{DAffine3, DMat4, DQuat, DVec3, DVec4, dvec3};
use gltf::accessor::{DataType, Dimensions};
use gltf::animation::{Interpolation as Between, Property as Target};
use gltf::buffer::Source;
use gltf::mesh::{Mode, Semantic};
use gltf::{Accessor, Document, Gltf, Node, Primitive, Skin};
use muslin::scene::{Bone, Channel, Character, Interpolation, Property};
use std::collections::HashMap;
use std::path::Path;

/// Whether a file is one of these, by its name.
pub fn is_gltf(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    extension.eq_ignore_ascii_case("gltf") || extension.eq_ignore_ascii_case("glb")
}

/// What clip of a file is wanted.
#[derive(Clone, Copy)]
pub enum Clip<'a> {
    /// None: as the file stands.
    Still,
    /// The only one, if there is any.
    Only,
    /// The one of this name.
    Named(&'a str),
}

/// The character in a file, or what is wrong with it.
pub fn read(path: &Path, clip: Clip<'_>) -> Result<Character, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
    let file = Gltf::from_slice(&bytes)
        .map_err(|e| format!("is no glTF 2.0 file: {e}; export it again as .glb"))?;
    let buffers = read_buffers(&file, path.parent().unwrap_or(Path::new("")))?;
    let mut reading = Reading { buffers, bone_of: HashMap::new(), character: Character::default() };
    for node in roots(&file.document) {
        reading.add_bones(&node, None)?;
    }
    reading.add_clip(&file.document, clip)?;
    reading.add_meshes(&file.document)?;
    if reading.character.triangles.is_empty() {
        return Err("holds no triangles in its scene; export a mesh with faces".into());
    }
    Ok(reading.character)
}

/// The nodes of the scene that the file shows, or all that hang nowhere.
fn roots(document: &Document) -> Vec<Node<'_>> {
    if let Some(scene) = document.default_scene().or_else(|| document.scenes().next()) {
        return scene.nodes().collect();
    }
    let children: Vec<usize> = document
        .nodes()
        .flat_map(|n| n.children().map(|c| c.index()).collect::<Vec<_>>())
        .collect();
    document.nodes().filter(|n| !children.contains(&n.index())).collect()
}

fn read_buffers(file: &Gltf, folder: &Path) -> Result<Vec<Vec<u8>>, String> {
    let read = |buffer: gltf::Buffer<'_>| match buffer.source() {
        Source::Bin => file.blob.clone().ok_or_else(|| "has no binary part".to_string()),
        Source::Uri(uri) => match uri.strip_prefix("data:") {
            Some(data) => data
                .split_once(";base64,")
                .and_then(|(_, text)| decode(text))
                .ok_or_else(|| format!("buffer {}: is no base64 data", buffer.index())),
            None => std::fs::read(folder.join(uri.replace("%20", " ")))
                .map_err(|e| format!("buffer {} = {uri}: cannot be read: {e}", buffer.index())),
        },
    };
    file.document.buffers().map(read).collect()
}

/// Bytes of base64 text.
fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut out, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = bits << 6 | u32::from(digit(c)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

/// A corner as welding compares it: seams of texture coordinates must not open a mesh.
type Corner = ([u64; 3], Vec<(u32, u64)>);

struct Reading {
    buffers: Vec<Vec<u8>>,
    /// Bones of nodes.
    bone_of: HashMap<usize, u32>,
    character: Character,
}

impl Reading {
    /// The node and all below it as bones, parents first.
    fn add_bones(&mut self, node: &Node<'_>, parent: Option<u32>) -> Result<(), String> {
        let bones = &mut self.character.bones;
        let own = bones.len() as u32;
        if self.bone_of.insert(node.index(), own).is_some() {
            return Err(format!("node {}: hangs at two others; export it as a tree", node.index()));
        }
        let (translation, rotation, scale) = node.transform().decomposed();
        let rotation = DQuat::from_array(rotation.map(f64::from)).normalize();
        bones.push(Bone {
            parent,
            translation: DVec3::from_array(translation.map(f64::from)),
            rotation,
            scale: DVec3::from_array(scale.map(f64::from)),
            ..Bone::default()
        });
        node.children().try_for_each(|child| self.add_bones(&child, Some(own)))
    }

    fn add_clip(&mut self, document: &Document, wanted: Clip<'_>) -> Result<(), String> {
        let names = || {
            let names: Vec<_> = document.animations().map(|a| a.name().unwrap_or("")).collect();
            format!("\"{}\"", names.join("\", \""))
        };
        let clip = match wanted {
            Clip::Still => return Ok(()),
            Clip::Only if document.animations().count() > 1 => {
                return Err(format!("holds several clips; name one, clip = {}", names()));
            }
            Clip::Only => document.animations().next(),
            Clip::Named(name) => {
                let found = document.animations().find(|a| a.name() == Some(name));
                Some(found.ok_or_else(|| format!("has no clip \"{name}\"; it has {}", names()))?)
            }
        };
        for (i, channel) in clip.iter().flat_map(|clip| clip.channels()).enumerate() {
            let wrong = |what: String| format!("channel {i} of the clip: {what}");
            let (drives, numbers) = match channel.target().property() {
                Target::Translation => (Property::Translation, 3),
                Target::Rotation => (Property::Rotation, 4),
                Target::Scale => (Property::Scale, 3),
                Target::MorphTargetWeights => continue,
            };
            let Some(bone) = self.bone_of.get(&channel.target().node().index()) else { continue };
            let between = match channel.sampler().interpolation() {
                Between::Linear => Interpolation::Linear,
                Between::Step => Interpolation::Step,
                Between::CubicSpline => Interpolation::Cubic,
            };
            let times = self.numbers(&channel.sampler().input(), 1).map_err(wrong)?;
            let values = self.numbers(&channel.sampler().output(), numbers).map_err(wrong)?;
            let value =
                |v: &[f64]| DVec4::new(v[0], v[1], v[2], v.get(3).copied().unwrap_or_default());
            let values = values.chunks_exact(numbers).map(value).collect();
            let channel = Channel { drives, between, times, values };
            self.character.bones[*bone as usize].channels.push(channel);
        }
        Ok(())
    }

    fn add_meshes(&mut self, document: &Document) -> Result<(), String> {
        let mut known: HashMap<Corner, u32> = HashMap::new();
        for node in document.nodes() {
            let Some(&bone) = self.bone_of.get(&node.index()) else { continue };
            let Some(mesh) = node.mesh() else { continue };
            let joints = node.skin().map(|skin| self.add_joints(&skin)).transpose()?;
            for primitive in mesh.primitives() {
                let name = mesh.name().unwrap_or("");
                self.add_primitive(&primitive, bone, joints.as_deref(), &mut known)
                    .map_err(|what| format!("mesh {} \"{name}\": {what}", mesh.index()))?;
            }
        }
        Ok(())
    }

    /// The joints of a skin as bones below their nodes.
    fn add_joints(&mut self, skin: &Skin<'_>) -> Result<Vec<u32>, String> {
        let binds = match skin.inverse_bind_matrices() {
            Some(accessor) => self.numbers(&accessor, 16)?,
            None => Vec::new(),
        };
        let add = |(i, joint): (usize, Node<'_>)| {
            let parent = self.bone_of.get(&joint.index()).copied().ok_or_else(|| {
                format!("skin {}: joint {} is not in the scene", skin.index(), joint.index())
            })?;
            let bind = binds.chunks_exact(16).nth(i).and_then(|bind| bind.try_into().ok());
            let bind =
                bind.map_or(DMat4::IDENTITY, |bind: [f64; 16]| DMat4::from_cols_array(&bind));
            let bones = &mut self.character.bones;
            bones.push(Bone {
                parent: Some(parent),
                inverse_bind: DAffine3::from_mat4(bind),
                ..Bone::default()
            });
            Ok(bones.len() as u32 - 1)
        };
        skin.joints().enumerate().map(add).collect()
    }

    fn add_primitive(
        &mut self,
        primitive: &Primitive<'_>,
        bone: u32,
        joints: Option<&[u32]>,
        known: &mut HashMap<Corner, u32>,
    ) -> Result<(), String> {
        match primitive.mode() {
            Mode::Triangles => {}
            Mode::TriangleStrip | Mode::TriangleFan => {
                return Err("holds strips; export it as triangles".into());
            }
            // Points and lines stop no cloth.
            _ => return Ok(()),
        }
        let accessor = primitive.get(&Semantic::Positions).ok_or("has no positions")?;
        let places = self.numbers(&accessor, 3)?;
        let count = places.len() / 3;
        let mut weights: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
        for set in 0.. {
            let pair =
                (primitive.get(&Semantic::Joints(set)), primitive.get(&Semantic::Weights(set)));
            let ((Some(of), Some(by)), Some(joints)) = (pair, joints) else { break };
            let (of, by) = (self.numbers(&of, 4)?, self.numbers(&by, 4)?);
            for (k, (joint, weight)) in of.iter().zip(&by).enumerate() {
                if *weight > 0.0 && k / 4 < count {
                    let joint = joints.get(*joint as usize).ok_or_else(|| {
                        format!("joint {joint}: the skin has only {}", joints.len())
                    })?;
                    weights[k / 4].push((*joint, *weight));
                }
            }
        }
        let corner = |(place, weights): (&[f64], Vec<(u32, f64)>)| {
            let weights = if weights.is_empty() { vec![(bone, 1.0)] } else { weights };
            // 0 and −0 are one place.
            let place = dvec3(place[0], place[1], place[2]) + DVec3::ZERO;
            let bits = weights.iter().map(|(bone, weight)| (*bone, weight.to_bits())).collect();
            *known.entry((place.to_array().map(f64::to_bits), bits)).or_insert_with(|| {
                self.character.vertices.push(place);
                self.character.weights.push(weights);
                self.character.vertices.len() as u32 - 1
            })
        };
        let vertices: Vec<u32> = places.chunks_exact(3).zip(weights).map(corner).collect();
        let indices = match primitive.indices() {
            Some(accessor) => self.numbers(&accessor, 1)?.iter().map(|i| *i as usize).collect(),
            None => (0..count).collect::<Vec<_>>(),
        };
        for corners in indices.chunks_exact(3) {
            let at = |i: usize| vertices.get(i).copied();
            let (Some(a), Some(b), Some(c)) = (at(corners[0]), at(corners[1]), at(corners[2]))
            else {
                return Err(format!("triangle {corners:?}: there are only {count} vertices"));
            };
            // Welding may have made a triangle a line.
            if a != b && b != c && c != a {
                self.character.triangles.push([a, b, c]);
            }
        }
        Ok(())
    }

    /// The numbers of an accessor, `each` per element.
    fn numbers(&self, accessor: &Accessor<'_>, each: usize) -> Result<Vec<f64>, String> {
        let wrong = |what: &str| format!("accessor {}: {what}", accessor.index());
        let found = match accessor.dimensions() {
            Dimensions::Scalar => 1,
            Dimensions::Vec2 => 2,
            Dimensions::Vec3 => 3,
            Dimensions::Vec4 | Dimensions::Mat2 => 4,
            Dimensions::Mat3 => 9,
            Dimensions::Mat4 => 16,
        };
        if found != each {
            return Err(wrong(&format!("has {found} numbers per element, not {each}")));
        }
        let cut_off = || wrong("reaches beyond its buffer; the file is cut off or damaged");
        let (kind, normalized) = (accessor.data_type(), accessor.normalized());
        let mut out = match accessor.view() {
            Some(view) => {
                let start = view.offset().checked_add(accessor.offset()).ok_or_else(cut_off)?;
                let stride = view.stride().unwrap_or(each * kind.size());
                let place = (view.buffer().index(), start, stride);
                self.elements(place, accessor.count(), each, kind, normalized)
                    .ok_or_else(cut_off)?
            }
            None if accessor.sparse().is_some() && accessor.count() < 1 << 26 => {
                vec![0.0; each * accessor.count()]
            }
            None => return Err(wrong("has no data")),
        };
        if let Some(sparse) = accessor.sparse() {
            let (indices, values) = (sparse.indices(), sparse.values());
            let kind_of_index = match indices.index_type() {
                gltf::accessor::sparse::IndexType::U8 => DataType::U8,
                gltf::accessor::sparse::IndexType::U16 => DataType::U16,
                gltf::accessor::sparse::IndexType::U32 => DataType::U32,
            };
            let start = |view: &gltf::buffer::View<'_>, offset: usize, size: usize| {
                (view.buffer().index(), view.offset() + offset, view.stride().unwrap_or(size))
            };
            let place = start(&indices.view(), indices.offset(), kind_of_index.size());
            let at = self.elements(place, sparse.count(), 1, kind_of_index, false);
            let place = start(&values.view(), values.offset(), each * kind.size());
            let new = self.elements(place, sparse.count(), each, kind, normalized);
            let (at, new) = (at.ok_or_else(cut_off)?, new.ok_or_else(cut_off)?);
            for (i, value) in at.iter().zip(new.chunks_exact(each)) {
                let old = out.get_mut(*i as usize * each..(*i as usize + 1) * each);
                old.ok_or_else(cut_off)?.copy_from_slice(value);
            }
        }
        if out.iter().any(|x| !x.is_finite()) {
            return Err(wrong("holds a number that is not finite"));
        }
        Ok(out)
    }

    /// Numbers of a buffer from `start` on, elements `stride` bytes apart; `None` if it ends before.
    fn elements(
        &self,
        (buffer, start, stride): (usize, usize, usize),
        count: usize,
        each: usize,
        kind: DataType,
        normalized: bool,
    ) -> Option<Vec<f64>> {
        let bytes = self.buffers.get(buffer)?;
        let size = kind.size();
        let mut out = Vec::new();
        for element in 0..count {
            let first = element.checked_mul(stride)?.checked_add(start)?;
            for k in 0..each {
                let at = first.checked_add(k * size)?;
                let raw = bytes.get(at..at.checked_add(size)?)?;
                let (value, full) = match kind {
                    DataType::I8 => (f64::from(raw[0] as i8), 127.0),
                    DataType::U8 => (f64::from(raw[0]), 255.0),
                    DataType::I16 => (f64::from(i16::from_le_bytes(raw.try_into().ok()?)), 32767.0),
                    DataType::U16 => (f64::from(u16::from_le_bytes(raw.try_into().ok()?)), 65535.0),
                    DataType::U32 => (f64::from(u32::from_le_bytes(raw.try_into().ok()?)), 1.0),
                    DataType::F32 => (f64::from(f32::from_le_bytes(raw.try_into().ok()?)), 1.0),
                };
                out.push(if normalized { (value / full).max(-1.0) } else { value });
            }
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests;
