//! Builds the page in `web/` with npm and embeds it. Without Node.js the program still builds, and the
//! page says what is missing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Sources of the page and its tests; what is installed beside them does not go into the build.
const SOURCES: &[&str] = &[
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.js",
    "index.html",
    "src",
    "public",
    "tests",
    "wasm",
];

fn main() {
    // WebAssembly runs inside the page and carries none.
    if env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        return;
    }
    let web = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("web");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", web.join(source).display());
    }
    let built = build(&web, &out.join("web"));
    let files = match built {
        Ok(dist) => files_of(&dist).expect("the page was just built"),
        Err(problem) => {
            println!("cargo:warning=the lab's page was not built: {problem}");
            let page = out.join("index.html");
            fs::write(&page, apology(&problem)).expect("OUT_DIR can be written");
            vec![("index.html".to_owned(), page)]
        }
    };
    let entries: String = files
        .iter()
        .map(|(name, path)| {
            format!("    ({name:?}, include_bytes!({:?})),\n", path.display().to_string())
        })
        .collect();
    let text = format!("static FILES: &[(&str, &[u8])] = &[\n{entries}];\n");
    fs::write(out.join("assets.rs"), text).expect("OUT_DIR can be written");
}

/// Builds in a copy, so that the source tree stays as it is.
fn build(web: &Path, copy: &Path) -> Result<PathBuf, String> {
    run(Command::new("npm").arg("--version"))
        .map_err(|_| "npm was not found; install Node.js 20 or newer and build again".to_owned())?;
    let lock = fs::read(web.join("package-lock.json")).map_err(|e| e.to_string())?;
    let stamp = copy.join("installed");
    let installed = fs::read(&stamp).is_ok_and(|old| old == lock);
    for source in SOURCES {
        let (from, to) = (web.join(source), copy.join(source));
        let _ = fs::remove_dir_all(&to);
        if from.exists() {
            copy_all(&from, &to).map_err(|e| format!("{}: {e}", from.display()))?;
        }
    }
    if !installed {
        // Not `npm ci`: it refuses a lock file made where some platforms' optional packages were missing.
        let _ = fs::remove_file(&stamp);
        let install = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
        run(Command::new("npm").args(install).current_dir(copy))?;
        fs::write(&stamp, lock).map_err(|e| e.to_string())?;
    }
    let dist = copy.join("dist");
    let _ = fs::remove_dir_all(&dist);
    run(Command::new("npm").args(["run", "--silent", "build"]).current_dir(copy))?;
    Ok(dist)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let last: Vec<&str> = said.lines().rev().take(12).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("{command:?} failed: {}", last.join(" | ")))
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Every file below a folder: its path there with slashes, and where it is.
fn files_of(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let inside = files_of(&entry.path())?;
            files.extend(inside.into_iter().map(|(below, path)| (format!("{name}/{below}"), path)));
        } else {
            files.push((name, entry.path()));
        }
    }
    files.sort();
    Ok(files)
}

fn apology(problem: &str) -> String {
    let problem = problem.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!doctype html><meta charset=utf-8><title>Muslin</title>\
         <body style='font:16px system-ui;max-width:40em;margin:4em auto;padding:0 1em'>\
         <h1>The lab's page is not in this program</h1><p>When it was built, {problem}</p>\
         <p>Everything else works: <code>muslin --help</code>.</p>"
    )
}
