//! Files written here and read again: the same motion, and messages that say what is wrong.

use super::*;
use muslin::scene::Shape;
use serde_json::{Value, json};

/// The binary part of a file and what describes it.
#[derive(Default)]
struct Binary {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Binary {
    /// Adds floats, `each` per element, and returns the accessor.
    fn floats(&mut self, numbers: &[f64], kind: &str, each: usize) -> usize {
        let bytes = numbers.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect();
        let least = |k: usize| numbers.iter().skip(k).step_by(each).copied().fold(1e30, f64::min);
        let most = |k: usize| numbers.iter().skip(k).step_by(each).copied().fold(-1e30, f64::max);
        let at = self.add(bytes, json!(5126), kind, numbers.len() / each);
        self.accessors[at]["min"] = (0..each).map(least).map(|x| x as f32).collect();
        self.accessors[at]["max"] = (0..each).map(most).map(|x| x as f32).collect();
        at
    }

    fn shorts(&mut self, numbers: &[u16], kind: &str, each: usize) -> usize {
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.add(bytes, json!(5123), kind, numbers.len() / each)
    }

    fn add(&mut self, bytes: Vec<u8>, component: Value, kind: &str, count: usize) -> usize {
        let (offset, length) = (self.bytes.len(), bytes.len());
        self.views.push(json!({ "buffer": 0, "byteOffset": offset, "byteLength": length }));
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let view = self.views.len() - 1;
        self.accessors.push(json!({
            "bufferView": view, "componentType": component, "type": kind, "count": count,
        }));
        self.accessors.len() - 1
    }

    /// The file, as GLB.
    fn glb(self, mut description: Value) -> Vec<u8> {
        description["asset"] = json!({ "version": "2.0" });
        description["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        description["bufferViews"] = Value::Array(self.views);
        description["accessors"] = Value::Array(self.accessors);
        let mut text = description.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let length = 12 + 8 + text.len() + 8 + self.bytes.len();
        let word = |n: usize| (n as u32).to_le_bytes();
        let mut out = [&b"glTF"[..], &word(2), &word(length)].concat();
        out.extend([&word(text.len())[..], b"JSON", &text].concat());
        out.extend([&word(self.bytes.len())[..], b"BIN\0", &self.bytes].concat());
        out
    }
}

/// A character as a GLB file with a clip "Walk".
fn written(character: &Character) -> Vec<u8> {
    let mut binary = Binary::default();
    let flat = |v: &[DVec3]| v.iter().flat_map(|v| v.to_array()).collect::<Vec<_>>();
    let places = binary.floats(&flat(&character.vertices), "VEC3", 3);
    let corners: Vec<u16> = character.triangles.iter().flatten().map(|i| *i as u16).collect();
    let indices = binary.shorts(&corners, "SCALAR", 1);
    let mut attributes = json!({ "POSITION": places });
    for set in 0..2 {
        let four = |weights: &Vec<(u32, f64)>| -> [(u32, f64); 4] {
            std::array::from_fn(|k| weights.get(4 * set + k).copied().unwrap_or_default())
        };
        let all: Vec<(u32, f64)> = character.weights.iter().flat_map(four).collect();
        let joints: Vec<u16> = all.iter().map(|(bone, _)| *bone as u16).collect();
        let weights: Vec<f64> = all.iter().map(|(_, weight)| *weight).collect();
        attributes[format!("JOINTS_{set}")] = binary.shorts(&joints, "VEC4", 4).into();
        attributes[format!("WEIGHTS_{set}")] = binary.floats(&weights, "VEC4", 4).into();
    }
    let bind = |bone: &Bone| DMat4::from(bone.inverse_bind).to_cols_array();
    let binds: Vec<f64> = character.bones.iter().flat_map(bind).collect();
    let binds = binary.floats(&binds, "MAT4", 16);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (node, bone) in character.bones.iter().enumerate() {
        for channel in &bone.channels {
            let (path, kind, each) = match channel.drives {
                Property::Translation => ("translation", "VEC3", 3),
                Property::Rotation => ("rotation", "VEC4", 4),
                Property::Scale => ("scale", "VEC3", 3),
            };
            let numbers = |v: &DVec4| v.to_array().into_iter().take(each).collect::<Vec<_>>();
            let values: Vec<f64> = channel.values.iter().flat_map(numbers).collect();
            let (input, output) =
                (binary.floats(&channel.times, "SCALAR", 1), binary.floats(&values, kind, each));
            let target = json!({ "node": node, "path": path });
            channels.push(json!({ "sampler": samplers.len(), "target": target }));
            samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
        }
    }
    let count = character.bones.len();
    let mut nodes: Vec<Value> =
        (0..count).map(|i| json!({ "name": format!("bone {i}") })).collect();
    // Where the mesh of a skin hangs does not matter.
    nodes.push(json!({ "mesh": 0, "skin": 0, "translation": [7.0, 0.0, 0.0] }));
    binary.glb(json!({
        "scene": 0, "scenes": [{ "nodes": (0..=count).collect::<Vec<_>>() }], "nodes": nodes,
        "meshes": [{ "primitives": [{ "attributes": attributes, "indices": indices }] }],
        "skins": [{ "joints": (0..count).collect::<Vec<_>>(), "inverseBindMatrices": binds }],
        "animations": [{ "name": "Walk", "channels": channels, "samplers": samplers }],
    }))
}

/// A file in a folder of its own.
fn file(name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("muslin-gltf-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn the_mannequin_walks_from_a_file_as_it_does_from_code() {
    let scene = muslin::scenes::named("dressed-walk").unwrap();
    let Shape::Character(own) = &scene.colliders[0].shape else { panic!("no character") };
    let path = file("walk.glb", &written(own));
    let mut read = read(&path, Clip::Named("Walk")).unwrap();
    read.repeat = own.repeat;
    assert_eq!(read.triangles, own.triangles);
    for time in [0.0, 0.31, 1.7, 3.2, 9.0] {
        for (a, b) in read.vertices_at(time).iter().zip(own.vertices_at(time)) {
            assert!(a.distance(b) < 2e-6, "{time}: {a}, not {b}");
        }
    }
}

/// A square of two triangles, its corners doubled along the diagonal as texture seams do, below a node
/// that moves and turns it and one that scales.
fn square() -> (Binary, Value) {
    let mut binary = Binary::default();
    let corners = [[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]];
    let places: Vec<f64> =
        corners.iter().flat_map(|&[x, y]| [f64::from(x), f64::from(y), 0.0]).collect();
    let places = binary.floats(&places, "VEC3", 3);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let description = json!({
        "scenes": [{ "nodes": [1] }],
        "nodes": [
            { "mesh": 0, "scale": [2.0, 2.0, 2.0] },
            { "children": [0], "translation": [0.0, 0.0, 5.0], "rotation": [0.0, 0.0, half, half] },
        ],
        "meshes": [{ "name": "square", "primitives": [{ "attributes": { "POSITION": places } }] }],
    });
    (binary, description)
}

#[test]
fn node_transforms_are_applied_and_seams_closed() {
    let (binary, description) = square();
    let path = file("square.glb", &binary.glb(description));
    let mesh = crate::mesh_file::read(&path, false).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    let wanted = [[0.0, 0.0], [0.0, 2.0], [-2.0, 2.0], [-2.0, 0.0]];
    for (found, [x, y]) in mesh.vertices.iter().zip(wanted) {
        assert!(found.distance(dvec3(x, y, 5.0)) < 1e-6, "{found}");
    }
}

#[test]
fn buffers_within_the_text_and_beside_it() {
    let (binary, mut description) = square();
    let bytes = binary.bytes.clone();
    description["asset"] = json!({ "version": "2.0" });
    description["bufferViews"] = Value::Array(binary.views);
    description["accessors"] = Value::Array(binary.accessors);
    description["buffers"] = json!([{ "byteLength": bytes.len(), "uri": "square part.bin" }]);
    file("square part.bin", &bytes);
    let beside = file("beside.gltf", description.to_string().as_bytes());
    assert_eq!(crate::mesh_file::read(&beside, false).unwrap().vertices.len(), 4);
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |three: &[u8]| {
        let all = three.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte))
            << (8 * (3 - three.len()));
        let shown = three.len() + 1;
        let digit = |k: usize| {
            if k < shown { DIGITS[(all >> (18 - 6 * k)) as usize & 63] as char } else { '=' }
        };
        (0..4).map(digit).collect::<String>()
    };
    let text: String = bytes.chunks(3).map(digits).collect();
    description["buffers"][0]["uri"] =
        format!("data:application/octet-stream;base64,{text}").into();
    let within = file("within.gltf", description.to_string().as_bytes());
    assert_eq!(crate::mesh_file::read(&within, false).unwrap().vertices.len(), 4);
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let refused =
        |name: &str, bytes: &[u8], clip: Clip<'_>| read(&file(name, bytes), clip).unwrap_err();
    let begins = |message: String, wanted: &str| {
        assert!(message.starts_with(wanted), "{message}\nis not\n{wanted}");
    };
    begins(refused("text.glb", b"v 0 0 0\n", Clip::Only), "is no glTF 2.0 file: ");
    let (binary, mut description) = square();
    description["nodes"][0]["mesh"] = 7.into();
    begins(refused("index.glb", &binary.glb(description), Clip::Only), "is no glTF 2.0 file: ");
    let (mut binary, description) = square();
    binary.views[0]["byteOffset"] = 60.into();
    let message = refused("short.glb", &binary.glb(description), Clip::Only);
    begins(message, "mesh 0 \"square\": accessor 0: reaches beyond its buffer");
    let (mut binary, description) = square();
    binary.bytes[0..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let message = refused("nan.glb", &binary.glb(description), Clip::Only);
    begins(message, "mesh 0 \"square\": accessor 0: holds a number that is not finite");
    let (binary, mut description) = square();
    description["meshes"][0]["primitives"][0]["mode"] = 5.into();
    let message = refused("strip.glb", &binary.glb(description), Clip::Only);
    begins(message, "mesh 0 \"square\": holds strips");
    let (binary, mut description) = square();
    description["nodes"][0].as_object_mut().unwrap().remove("mesh");
    begins(refused("empty.glb", &binary.glb(description), Clip::Only), "holds no triangles");
    let clips = |count: usize| {
        let (mut binary, mut description) = square();
        let times = binary.floats(&[0.0, 1.0], "SCALAR", 1);
        let values = binary.floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], "VEC3", 3);
        let names = ["Walk", "Run"];
        let clip = |k: usize| {
            json!({
                "name": names[k],
                "channels": [{ "sampler": 0, "target": { "node": 1, "path": "translation" } }],
                "samplers": [{ "input": times, "output": values }],
            })
        };
        description["animations"] = (0..count).map(clip).collect();
        binary.glb(description)
    };
    begins(
        refused("two.glb", &clips(2), Clip::Only),
        "holds several clips; name one, clip = \"Walk\", \"Run\"",
    );
    begins(
        refused("one.glb", &clips(1), Clip::Named("walk")),
        "has no clip \"walk\"; it has \"Walk\"",
    );
    let only = read(&file("one.glb", &clips(1)), Clip::Only).unwrap();
    assert_eq!(only.bones[0].channels.len(), 1);
    // The clip drives the node that turns and lifts: its own place no longer counts.
    let moved = only.vertices_at(0.5)[0];
    assert!(moved.distance(dvec3(0.5, 0.0, 0.0)) < 1e-6, "{moved}");
}

#[test]
fn a_scene_names_a_character_and_its_clip() {
    let scene = muslin::scenes::named("dressed-walk").unwrap();
    let Shape::Character(own) = &scene.colliders[0].shape else { panic!("no character") };
    let path = file("named.glb", &written(own));
    let load = |shape: &str| {
        let text = format!("[[cloth]]\nfabric = \"cotton\"\n[[collider]]\nshape = {shape}\n");
        let mut scene: muslin::Scene = toml::from_str(&text).unwrap();
        let loaded = crate::scene_file::load_meshes(&mut scene, path.parent().unwrap());
        loaded.map(|()| scene)
    };
    let shape = "{ kind = \"character\", file = \"named.glb\", clip = \"Walk\", speed = 2.0 }";
    let Ok(scene) = load(shape) else { panic!("not loaded") };
    let model = scene.compile().unwrap();
    let Shape::Character(read) = &model.colliders[0].shape else { panic!("no character") };
    assert_eq!((read.speed, read.repeat, read.vertices.len()), (2.0, true, own.vertices.len()));
    let refused = |shape: &str| match load(shape) {
        Err(crate::failure::Failure::Wrong(message)) => message,
        _ => panic!("{shape} was not refused"),
    };
    let message = refused("{ kind = \"character\", file = \"named.glb\", clip = \"Run\" }");
    assert!(message.starts_with("collider.0.shape.file = named.glb: "), "{message}");
    assert!(message.ends_with("has no clip \"Run\"; it has \"Walk\""), "{message}");
    let message = refused("{ kind = \"character\", file = \"named.obj\" }");
    assert!(
        message.ends_with("is no .gltf or .glb file; export the character as one"),
        "{message}"
    );
    let message = refused("{ kind = \"mesh\", file = \"nowhere.glb\" }");
    assert!(message.contains("nowhere.glb cannot be read: "), "{message}");
    assert!(load("{ kind = \"mesh\", file = \"named.glb\" }").is_ok());
    assert!(load("{ kind = \"hull\", file = \"named.glb\" }").is_ok());
}
