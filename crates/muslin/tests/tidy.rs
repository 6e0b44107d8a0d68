//! The rules of ARCHITECTURE.md that a machine can check.

use std::path::{Path, PathBuf};

fn sources() -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut out = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut out);
    out
}

/// A file's code without its tests and comments.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or("");
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_library_prints_nothing_and_opens_no_file() {
    for (path, text) in sources() {
        for word in ["println!", "eprintln!", "print!", "dbg!", "std::fs", "std::env", "std::net"] {
            assert!(!code(&text).contains(word), "{} uses {word}", path.display());
        }
    }
}

#[test]
fn dependencies_point_one_way() {
    // Each layer may use those before it and itself.
    let layers: &[&[&str]] = &[
        &["par", "lanes", "error", "clock"],
        &["mesh"],
        &["linalg"],
        &["model", "state", "inputs"],
        &["forces", "collide"],
        &["scene", "fabric", "compile", "report"],
        &["solvers"],
        &["limits", "pace"],
        &["sim"],
        &["scenes", "conformance"],
    ];
    let layer_of = |module: &str| layers.iter().position(|layer| layer.contains(&module));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, text) in sources() {
        let inside = path.strip_prefix(&root).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_string_lossy().to_string();
        let module = first.trim_end_matches(".rs");
        let Some(own) = layer_of(module) else { continue };
        for used in code(&text).split("crate::").skip(1) {
            let name: String =
                used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if let Some(other) = layer_of(&name) {
                assert!(other <= own, "{}: {module} must not use {name}", inside.display());
            }
        }
    }
}

#[test]
fn the_step_fits_on_one_screen() {
    let (_, text) = sources().into_iter().find(|(path, _)| path.ends_with("sim.rs")).unwrap();
    let start = text.find("fn advance_and").unwrap();
    let lines = text[start..].split("\n    }\n").next().unwrap().lines().count();
    assert!(lines <= 50, "the step function has {lines} lines");
}

#[test]
fn every_file_says_what_it_computes_and_stays_readable() {
    for (path, text) in sources() {
        assert!(text.starts_with("//!"), "{} has no header", path.display());
        let lines = text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines; make it a folder", path.display());
    }
}
