//! Files a run writes. Each goes to a neighbour named `….part` first and is renamed when it is
//! complete, so a failed run never leaves half a file under the name asked for.

mod npy;
mod obj;

pub use npy::Positions;
pub use obj::MeshSequence;

use crate::failure::Failure;
use anyhow::Context;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is not there yet.
pub struct Pending {
    path: PathBuf,
    part: PathBuf,
    /// Present until committed.
    file: Option<BufWriter<File>>,
}

impl Pending {
    /// Opens the neighbour; a folder that is missing or closed to us is found out here, before
    /// anything was simulated.
    pub fn create(path: &Path, option: &str) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::Wrong(format!("{option} {}: {what}", path.display()));
        if path.is_dir() || path.file_name().is_none() {
            return Err(wrong("is a folder; give the name of a file".into()));
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(|error| {
            wrong(format!(
                "cannot be written ({error}); choose an existing folder you may write to"
            ))
        })?;
        Ok(Self { path: path.to_owned(), part, file: Some(BufWriter::new(file)) })
    }

    /// Where to write.
    pub fn writer(&mut self) -> anyhow::Result<&mut BufWriter<File>> {
        self.file.as_mut().context("the file is closed already")
    }

    /// Writes everything and gives the file its name.
    pub fn commit_bytes(mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let written = self.writer()?.write_all(bytes);
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.commit()
    }

    /// Gives the file its name.
    pub fn commit(mut self) -> anyhow::Result<()> {
        self.writer()?.flush().with_context(|| format!("cannot write {}", self.path.display()))?;
        self.file = None;
        std::fs::rename(&self.part, &self.path)
            .with_context(|| format!("cannot rename to {}", self.path.display()))
    }

    /// The name the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// The extension in lower case.
pub fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Fails if two outputs have the same name.
pub fn check_distinct(paths: &[&Path]) -> Result<(), Failure> {
    for (i, path) in paths.iter().enumerate() {
        if paths[..i].contains(path) {
            let message =
                format!("{}: two outputs have this name; give each its own", path.display());
            return Err(Failure::Wrong(message));
        }
    }
    Ok(())
}
