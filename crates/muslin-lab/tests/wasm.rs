//! The engine as WebAssembly against the native one, in Node and in a browser.
//!
//! Needs `web/wasm/muslin.wasm`, newer than the sources (`npm run wasm` in `web/`), and says so otherwise. With
//! `MUSLIN_BROWSER=1` it must be there, and the site of static files is driven in headless Chromium too.

use muslin::solvers::presets::METHODS;
use muslin::solvers::{Guess, LinearSolver, Preconditioner};
use muslin::{Method, Scene, scenes};
use muslin_lab::{Limits, Message, Workbench};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// How long is simulated. [s]
const SECONDS: f64 = 2.0;

fn web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("web")
}

fn newest(path: &Path) -> SystemTime {
    if !path.is_dir() {
        return path.metadata().unwrap().modified().unwrap();
    }
    let entries = std::fs::read_dir(path).unwrap();
    entries.map(|entry| newest(&entry.unwrap().path())).max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Why the engine cannot be tried.
fn missing() -> Option<&'static str> {
    if Command::new("node").arg("--version").output().is_err() {
        return Some("node was not found");
    }
    let Ok(built) = web().join("wasm/muslin.wasm").metadata() else {
        return Some("there is no web/wasm/muslin.wasm; `npm run wasm` in web/ builds it");
    };
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let sources = ["muslin/src", "muslin-lab/src", "muslin-wasm/src"];
    let changed = sources.iter().map(|source| newest(&crates.join(source))).max().unwrap();
    let old = built.modified().unwrap() < changed;
    old.then_some(
        "web/wasm/muslin.wasm is older than the sources; `npm run wasm` in web/ builds it",
    )
}

fn skips(reason: Option<&str>) -> bool {
    if let Some(reason) = reason {
        assert!(std::env::var_os("MUSLIN_BROWSER").is_none(), "{reason}");
        eprintln!("\nSKIPPED a test of the engine as WebAssembly: {reason}\n");
    }
    reason.is_some()
}

/// A scene with at most so many particles along a side.
fn small(name: &str, most: usize) -> Scene {
    let mut scene = scenes::named(name).unwrap();
    for cloth in &mut scene.cloth {
        cloth.columns = cloth.columns.min(most);
        cloth.rows = cloth.rows.min(most);
    }
    scene
}

/// What to do to either engine, and where the native one's particles are then.
fn case(scene: &Scene, method: &Method) -> Value {
    let load = json!({ "type": "load", "scene": scene, "methods": [method] });
    let mut bench = Workbench::new(Limits::default(), || Duration::ZERO);
    let mut messages = bench.receive(&load.to_string());
    let start = positions(&messages);
    let frames = (SECONDS / scene.dt).round() as usize;
    for _ in 0..frames {
        messages = bench.receive(r#"{"type":"step"}"#);
    }
    let end = positions(&messages);
    let moved = start.iter().zip(&end).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    json!({
        "name": format!("{} on {}", method.id, scene.name), "load": load, "frames": frames,
        "tolerance": tolerance(method), "positions": end, "moved": moved,
    })
}

/// Coordinates in the last frame among the messages.
fn positions(messages: &[Message]) -> Vec<f32> {
    let frame = messages.iter().rev().find_map(|message| match message {
        Message::Binary(bytes) => Some(bytes),
        Message::Text(_) => None,
    });
    let frame = frame.unwrap_or_else(|| panic!("no frame: {messages:?}"));
    let n = u32::from_le_bytes(frame[8..12].try_into().unwrap()) as usize;
    let numbers = frame[24..24 + 12 * n].chunks_exact(4);
    numbers.map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// How far apart the engines may be. [m]
///
/// Not at all: additions and multiplications are in the same order and never fused on either side, roots and
/// quotients are rounded alike everywhere, sines come from one library. Only two things are not ours: the order of sums in
/// faer's Cholesky, which goes by the width of the machine's vectors, and the powers in the pyramid's filter, which are the
/// system's. They touch the last bit of doubles, which seldom moves a single; a tenth of a millimetre leaves room for
/// what two seconds make of that.
fn tolerance(method: &Method) -> f64 {
    let is_foreign = method.solver == LinearSolver::Cholesky
        || method.guess == Guess::Pyramid
        || method.preconditioner == Preconditioner::VCycle;
    if is_foreign { 1e-4 } else { 0.0 }
}

/// Runs a script of `web/tests` from `folder` and shows what it says.
fn run(folder: &Path, script: &str, arguments: &[&Path]) {
    let output =
        Command::new("node").arg(script).args(arguments).current_dir(folder).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    println!("{said}");
    assert!(output.status.success(), "{said}");
}

#[test]
fn webassembly_and_native_agree_for_every_method() {
    if skips(missing()) {
        return;
    }
    let scenes = [small("hang", 12), small("kim-2006-fall", 12), small("kang-flag", 12)];
    let presets = METHODS.iter().map(|preset| preset.method());
    let cases: Vec<Value> =
        presets.flat_map(|method| scenes.each_ref().map(|scene| case(scene, &method))).collect();
    for of_method in cases.chunks(scenes.len()) {
        let moved = of_method.iter().any(|case| case["moved"].as_f64() > Some(0.1));
        assert!(moved, "{}: nothing moves, so nothing is compared", of_method[0]["name"]);
    }
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wasm-cases.json");
    std::fs::write(&list, serde_json::to_vec(&cases).unwrap()).unwrap();
    run(&web(), "tests/wasm-agrees.mjs", &[&web().join("wasm/muslin.wasm"), &list]);
}

/// Why the site cannot be tried in a browser.
fn missing_in_browser() -> Option<&'static str> {
    if std::env::var_os("MUSLIN_BROWSER").is_none() {
        return Some("set MUSLIN_BROWSER=1 to run it in a browser");
    }
    if !built_page().join("index.html").exists() {
        return Some("the page was not built, because npm is missing or failed");
    }
    missing()
}

fn built_page() -> PathBuf {
    Path::new(env!("OUT_DIR")).join("web/dist")
}

#[test]
fn the_static_site_works_in_a_browser() {
    if skips(missing_in_browser()) {
        return;
    }
    let scene = small("hang", 12);
    let methods = ["kim-2006", "implicit-euler", "xpbd"].map(|id| Method::preset(id).unwrap());
    let cases = methods.each_ref().map(|method| case(&scene, method));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let list = folder.join("wasm-browser-cases.json");
    std::fs::write(&list, serde_json::to_vec(&cases).unwrap()).unwrap();
    // Beside the packages that were installed for the page's build.
    let installed = built_page().parent().unwrap().to_owned();
    run(&installed, "tests/wasm.test.mjs", &[&built_page(), &list, &folder.join("site")]);
}
