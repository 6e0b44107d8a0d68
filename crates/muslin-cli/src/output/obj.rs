//! One OBJ file per frame: NAME.0000.obj, NAME.0001.obj, … One object per cloth; a cloth without
//! triangles (a chain) is written as lines along its structural springs.

use super::{Pending, extension};
use crate::failure::Failure;
use glam::Vec3;
use muslin::Model;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Meshes that share all but their positions.
pub struct MeshSequence {
    stem: PathBuf,
    /// Faces and lines, the same in every file.
    elements: String,
    /// The first file, opened early so that a folder closed to us is found out in time.
    first: Option<Pending>,
    frames: usize,
}

impl MeshSequence {
    /// A sequence named after `path`.
    pub fn create(path: &Path, model: &Model) -> Result<Self, Failure> {
        if extension(path) != "obj" {
            let message =
                format!("--out {}: not yet a format Muslin writes; use .obj", path.display());
            return Err(Failure::Wrong(message));
        }
        let stem = path.with_extension("");
        let first = Some(Pending::create(&numbered(&stem, 0), "--out")?);
        Ok(Self { stem, elements: elements(model), first, frames: 0 })
    }

    /// Writes one frame.
    pub fn push(&mut self, x: &[Vec3]) -> anyhow::Result<()> {
        let mut text = String::with_capacity(40 * x.len() + self.elements.len());
        for p in x {
            // Writing to a string cannot fail. The shortest digits that read back the same.
            let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
        }
        text.push_str(&self.elements);
        let pending = match self.first.take() {
            Some(first) => first,
            None => Pending::create(&numbered(&self.stem, self.frames), "--out")
                .map_err(|failure| anyhow::anyhow!("{failure}"))?,
        };
        self.frames += 1;
        pending.commit_bytes(text.as_bytes())
    }
}

fn numbered(stem: &Path, frame: usize) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(format!(".{frame:04}.obj"));
    name.into()
}

fn elements(model: &Model) -> String {
    let mut text = String::new();
    for cloth in &model.cloths {
        let _ = writeln!(text, "o {}", cloth.name.replace(char::is_whitespace, "_"));
        for [a, b, c] in &model.triangles[cloth.triangles.clone()] {
            let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
        }
        if cloth.triangles.is_empty() {
            let springs = model.topology.links.ends().iter().zip(&model.springs.structural);
            for ([a, b], structural) in springs {
                if *structural && cloth.particles.contains(&(*a as usize)) {
                    let _ = writeln!(text, "l {} {}", a + 1, b + 1);
                }
            }
        }
    }
    text
}
