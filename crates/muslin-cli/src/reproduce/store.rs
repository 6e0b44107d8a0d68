//! The folder of a reproduction: each experiment has a folder with what it found, plus its tables, plots and pictures
//! as files.
//!
//! A finding is used again only by the very program that made it, with the same settings: its key holds a checksum of
//! the program, because what an experiment does is code.

use super::finding::Finding;
use super::lab::Experiment;
use crate::failure::Failure;
use crate::output::Pending;
use crate::page::{raster, standalone};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

const FILE: &str = "finding.json";

/// A finding as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    seconds: f64,
    finding: Finding,
}

/// The folder.
pub struct Store {
    folder: PathBuf,
    key: String,
}

impl Store {
    /// Makes the folder if it is not there.
    pub fn open(folder: &Path, quick: bool) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::Wrong(format!("--out {}: {what}", folder.display()));
        if folder.exists() && !folder.is_dir() {
            return Err(wrong("is a file; give the name of a folder".into()));
        }
        std::fs::create_dir_all(folder).map_err(|error| {
            wrong(format!("cannot be made ({error}); choose a place you may write to"))
        })?;
        let length = if quick { "quick" } else { "full" };
        let key = format!("muslin {} {length} {:016x}", env!("CARGO_PKG_VERSION"), program()?);
        Ok(Self { folder: folder.to_owned(), key })
    }

    /// What this experiment found before, and how long that took.
    pub fn load(&self, experiment: &Experiment) -> Option<(Finding, f64)> {
        let folder = self.folder.join(experiment.id);
        let text = std::fs::read_to_string(folder.join(FILE)).ok()?;
        let Kept { key, seconds, mut finding } = serde_json::from_str(&text).ok()?;
        if key != self.key {
            return None;
        }
        for (index, picture) in finding.pictures.iter_mut().enumerate() {
            picture.png = std::fs::read(folder.join(name("picture", index, "png"))).ok()?;
        }
        Some((finding, seconds))
    }

    /// Writes the files of a finding, its own last: where that is, the others are complete.
    pub fn save(
        &self,
        experiment: &Experiment,
        finding: &Finding,
        seconds: f64,
    ) -> Result<(), Failure> {
        let folder = self.folder.join(experiment.id);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let write = |name: &str, bytes: &[u8]| -> Result<(), Failure> {
            Pending::create(&folder.join(name), "--out")?.commit_bytes(bytes)?;
            Ok(())
        };
        for (index, table) in finding.tables.iter().enumerate() {
            write(&name("table", index, "csv"), table.csv().as_bytes())?;
        }
        for (index, figure) in finding.figures.iter().enumerate() {
            write(&name("plot", index, "csv"), figure.csv.as_bytes())?;
            write(&name("plot", index, "svg"), standalone(&figure.svg).as_bytes())?;
            write(&name("plot", index, "png"), &raster::png(&figure.svg)?)?;
        }
        for (index, picture) in finding.pictures.iter().enumerate() {
            write(&name("picture", index, "png"), &picture.png)?;
        }
        let kept = Kept { key: self.key.clone(), seconds, finding: finding.clone() };
        write(FILE, &serde_json::to_vec(&kept).context("cannot write JSON")?)
    }
}

/// `kind-1.ending`, counting from one.
pub fn name(kind: &str, index: usize, ending: &str) -> String {
    format!("{kind}-{}.{ending}", index + 1)
}

/// A checksum of this program.
fn program() -> anyhow::Result<u64> {
    let path = std::env::current_exe().context("cannot find this program's own file")?;
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Ok(hasher.finish())
}
