//! Scenes by name or from TOML files, with the meshes they name.

use crate::failure::Failure;
use crate::gltf_file::{self, Clip};
use crate::mesh_file;
use crate::setting::remedy;
use muslin::scene::{Character, Shape};
use muslin::{Scene, scenes};
use muslin_lab::Recording;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, Deserializer};

/// A scene as it was found, before settings and meshes.
pub struct Found {
    /// The scene.
    pub scene: Scene,
    /// The `[method]` table of a file.
    pub method: Option<toml::Table>,
    /// The `[recording]` of a run saved in the lab.
    pub recording: Recording,
    /// The folder that mesh files are relative to.
    pub folder: PathBuf,
}

/// The scene a user asked for.
pub fn find(source: &str) -> Result<Found, Failure> {
    if !source.ends_with(".toml") {
        let scene = scenes::named(source)?;
        let (recording, folder) = (Recording::default(), PathBuf::new());
        return Ok(Found { scene, method: None, recording, folder });
    }
    let path = Path::new(source);
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Wrong(format!("scene = {source}: cannot be read: {error}")))?;
    let Parsed { mut scene, method, recording } = parse(&text)
        .map_err(|error| Failure::Wrong(format!("{source}{}", place(&text, &error))))?;
    if scene.name == Scene::default().name {
        scene.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    Ok(Found { scene, method, recording, folder })
}

/// What a scene file holds.
struct Parsed {
    scene: Scene,
    method: Option<toml::Table>,
    recording: Recording,
}

/// Takes the `[method]` and `[recording]` tables out and reads the rest as a scene, keeping lines for
/// messages.
fn parse(text: &str) -> Result<Parsed, toml::de::Error> {
    let mut table = DeTable::parse(text)?;
    let method = table.get_mut().remove("method");
    let recording = match table.get_mut().remove("recording") {
        Some(value) => Recording::deserialize(value.into_deserializer())?,
        None => Recording::default(),
    };
    let scene = Scene::deserialize(Deserializer::from(table))?;
    // Read the method from the whole text: only its place in the table is of interest above.
    let method = match method {
        None => None,
        Some(_) => {
            let mut whole: toml::Table = toml::from_str(text)?;
            match whole.remove("method") {
                Some(toml::Value::Table(table)) => Some(table),
                _ => {
                    let message = "`method` must be a table: [method]";
                    return Err(serde::de::Error::custom(message));
                }
            }
        }
    };
    Ok(Parsed { scene, method, recording })
}

/// `:line:column: found: remedy` of an error.
fn place(text: &str, error: &toml::de::Error) -> String {
    let Some(span) = error.span() else {
        return format!(": {}", remedy(error.message()));
    };
    let before = &text[..span.start.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let found: String = text.get(span).unwrap_or_default().lines().next().unwrap_or("").into();
    let found = if found.is_empty() { found } else { format!("{found}: ") };
    format!(":{line}:{column}: {found}{}", remedy(error.message()))
}

/// Reads the mesh files that the scene names.
pub fn load_meshes(scene: &mut Scene, folder: &Path) -> Result<(), Failure> {
    for (index, cloth) in scene.cloth.iter_mut().enumerate() {
        let Some(mesh) = &mut cloth.mesh else { continue };
        let Some(file) = mesh.file.take() else { continue };
        let path = folder.join(&file);
        // 3D springs need no diagonals to hold a polygon in shape.
        let polygons = cloth.turning.stiffness > 0.0;
        let read = mesh_file::read(&path, polygons).map_err(|problem| {
            let key = format!("cloth.{index}.mesh.file");
            Failure::Wrong(format!("{key} = {file}: {} {problem}", path.display()))
        })?;
        *mesh = read;
    }
    for (index, body) in scene.colliders.iter_mut().enumerate() {
        let (Shape::Hull { file, .. } | Shape::Mesh { file, .. }) = &mut body.shape else {
            load_character(&mut body.shape, index, folder)?;
            continue;
        };
        let Some(file) = file.take() else { continue };
        let path = folder.join(&file);
        let read = mesh_file::read(&path, false).map_err(|problem| {
            let key = format!("collider.{index}.shape.file");
            Failure::Wrong(format!("{key} = {file}: {} {problem}", path.display()))
        })?;
        match &mut body.shape {
            Shape::Hull { points, .. } => *points = read.vertices,
            Shape::Mesh { vertices, triangles, .. } => {
                *vertices = read.vertices;
                *triangles =
                    read.triangles.iter().map(|corners| corners.map(|i| i as u32)).collect();
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads the file that a character names, and the clip in it.
fn load_character(shape: &mut Shape, index: usize, folder: &Path) -> Result<(), Failure> {
    let Shape::Character(character) = shape else { return Ok(()) };
    let Some(file) = character.file.take() else { return Ok(()) };
    let path = folder.join(&file);
    let wrong = |problem: String| {
        let key = format!("collider.{index}.shape.file");
        Failure::Wrong(format!("{key} = {file}: {} {problem}", path.display()))
    };
    if !gltf_file::is_gltf(&path) {
        return Err(wrong("is no .gltf or .glb file; export the character as one".into()));
    }
    let clip = character.clip.take();
    let clip = clip.as_deref().map_or(Clip::Only, Clip::Named);
    let read = gltf_file::read(&path, clip).map_err(wrong)?;
    let (repeat, start, speed) = (character.repeat, character.start, character.speed);
    **character = Character { repeat, start, speed, ..read };
    Ok(())
}
