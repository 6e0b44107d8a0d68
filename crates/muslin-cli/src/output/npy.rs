//! Positions as a NumPy array of float32, shape (frames + 1, particles, 3).
//!
//! The number of frames is known only at the end (a run may be interrupted), so the header has a
//! fixed size and is written again when the file is finished.

use super::Pending;
use crate::failure::Failure;
use anyhow::Context;
use glam::Vec3;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes before the data; a multiple of 64, as the format asks.
const HEADER: usize = 128;

/// An array that grows by one frame at a time.
pub struct Positions {
    pending: Pending,
    particles: usize,
    frames: usize,
    bytes: Vec<u8>,
}

impl Positions {
    /// An empty array.
    pub fn create(path: &Path, particles: usize) -> Result<Self, Failure> {
        let mut pending = Pending::create(path, "--positions")?;
        let empty = header(0, particles);
        pending.writer()?.write_all(&empty).context("cannot write positions")?;
        Ok(Self { pending, particles, frames: 0, bytes: Vec::with_capacity(12 * particles) })
    }

    /// Appends one frame.
    pub fn push(&mut self, x: &[Vec3]) -> anyhow::Result<()> {
        self.bytes.clear();
        self.bytes.extend(x.iter().flat_map(|p| p.to_array()).flat_map(f32::to_le_bytes));
        self.frames += 1;
        self.pending.writer()?.write_all(&self.bytes).context("cannot write positions")
    }

    /// Completes the header and gives the file its name.
    pub fn finish(mut self) -> anyhow::Result<()> {
        let complete = header(self.frames, self.particles);
        let file = self.pending.writer()?;
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&complete))
            .context("cannot write positions")?;
        self.pending.commit()
    }
}

fn header(frames: usize, particles: usize) -> Vec<u8> {
    let length = HEADER - 10;
    let shape = format!("({frames}, {particles}, 3)");
    let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{text:<width$}\n", width = length - 1).into_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    #[test]
    fn header_has_its_fixed_size() {
        for (frames, particles) in [(0, 1), (100_000_000, 4_000_000)] {
            assert_eq!(super::header(frames, particles).len(), super::HEADER);
        }
    }
}
