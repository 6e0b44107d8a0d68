//! `muslin lab`, and `muslin` alone: serves the lab until interrupted.

use crate::arguments::LabArguments;
use crate::failure::Failure;
use anyhow::Context;
use muslin::scenes;
use std::sync::mpsc;

/// Serves the lab.
pub fn lab(arguments: &LabArguments) -> Result<(), Failure> {
    let hash = match &arguments.scene {
        Some(scene) => {
            scenes::named(scene)?;
            format!("#scene={scene}")
        }
        None => String::new(),
    };
    let (interrupted, stop) = mpsc::channel();
    ctrlc::set_handler(move || {
        let _ = interrupted.send(());
    })
    .context("cannot listen for Ctrl-C")?;
    let port = arguments.port;
    muslin_lab::server::run(port, &hash, !arguments.no_open, stop).map_err(|problem| {
        Failure::Wrong(format!(
            "--port {port}: cannot be served there: {problem}; choose another or 0"
        ))
    })
}
