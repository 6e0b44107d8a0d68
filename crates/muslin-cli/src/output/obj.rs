//! One OBJ file per frame: NAME.0000.obj, NAME.0001.obj, … One object per cloth; a cloth without
//! triangles (a chain) is written as lines along its structural springs.
//!
//! Files that an older, longer run left behind the last frame are removed, so that a sequence is
//! never half old; files that Muslin did not write are left alone.

use super::{Pending, extension};
use crate::failure::Failure;
use anyhow::Context;
use glam::Vec3;
use muslin::Model;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The first words of every file.
const HEAD: &str = "# Written by Muslin ";

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
        let mut text = String::with_capacity(40 * x.len() + self.elements.len() + 64);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{HEAD}{}, frame {}", env!("CARGO_PKG_VERSION"), self.frames);
        for p in x {
            // The shortest digits that read back the same.
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

    /// Removes what an older, longer run left, and tells what was done.
    pub fn finish(self) -> anyhow::Result<Vec<String>> {
        let name = |frame: usize| numbered(&self.stem, frame).display().to_string();
        let last = self.frames.saturating_sub(1);
        let mut lines = vec![format!("wrote {}", span(&name(0), &name(last), self.frames))];
        let (own, foreign): (Vec<usize>, Vec<usize>) = (self.later().into_iter())
            .partition(|frame| is_own(&numbered(&self.stem, *frame)).unwrap_or(false));
        for frame in &own {
            let path = numbered(&self.stem, *frame);
            std::fs::remove_file(&path)
                .with_context(|| format!("cannot remove {} of an older run", path.display()))?;
        }
        if let (Some(first), Some(last)) = (own.first(), own.last()) {
            let names = span(&name(*first), &name(*last), own.len());
            lines.push(format!("removed {names}, left by an older, longer run"));
        }
        if let (Some(first), Some(last)) = (foreign.first(), foreign.last()) {
            let names = span(&name(*first), &name(*last), foreign.len());
            lines.push(format!("left {names} alone: not written by Muslin, not of this run"));
        }
        Ok(lines)
    }

    /// Numbers of the files behind the last frame.
    fn later(&self) -> Vec<usize> {
        let folder = match self.stem.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let stem = self.stem.file_name().unwrap_or_default().to_string_lossy();
        let number = |name: &str| {
            let digits = name.strip_prefix(&*stem)?.strip_prefix('.')?.strip_suffix(".obj")?;
            let number: usize = digits.parse().ok()?;
            (format!("{number:04}") == digits && number >= self.frames).then_some(number)
        };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut later: Vec<usize> =
            entries.filter_map(|entry| number(&entry.file_name().to_string_lossy())).collect();
        later.sort_unstable();
        later
    }
}

/// The name of one file or the range of several.
fn span(first: &str, last: &str, count: usize) -> String {
    match count {
        0 | 1 => first.to_owned(),
        2 => format!("{first} and {last}"),
        _ => format!("{first} … {last} ({count} files)"),
    }
}

/// Whether a file is a plain one that begins with Muslin's words.
fn is_own(path: &Path) -> std::io::Result<bool> {
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut head = [0; HEAD.len()];
    std::fs::File::open(path)?.read_exact(&mut head)?;
    Ok(head == *HEAD.as_bytes())
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
