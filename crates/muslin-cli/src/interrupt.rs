//! Ctrl-C: the first asks to stop after the current frame, the second kills.

use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants to stop.
#[derive(Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Starts listening; once per process.
    pub fn listen() -> anyhow::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&asked);
        ctrlc::set_handler(move || {
            if handler.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        })
        .context("cannot listen for Ctrl-C")?;
        Ok(Self(asked))
    }

    /// Whether Ctrl-C was pressed.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
