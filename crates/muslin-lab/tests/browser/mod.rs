//! A lab and a headless browser that a script of `web/tests` drives.

mod chromium;

use muslin_lab::server::Lab;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The browser, or why the test cannot run.
fn browser() -> Result<PathBuf, &'static str> {
    let built = Path::new(env!("OUT_DIR")).join("web/dist/index.html");
    if !built.exists() {
        return Err("the page was not built, because npm is missing or failed");
    }
    chromium::found()
}

/// Runs `web/tests/NAME.test.mjs` against a lab of its own; returns the folder its screenshots
/// are left in. Skips loudly without a browser, and fails instead with `MUSLIN_BROWSER` set.
pub fn drive(name: &str) -> Option<PathBuf> {
    let browser = chromium::or_skip(name, browser())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let lab = runtime.block_on(Lab::bind(0)).unwrap();
    let url = lab.url();
    runtime.spawn(lab.serve(std::future::pending()));
    let screenshots = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new("node")
        .arg(format!("tests/{name}.test.mjs"))
        .args([&url, &screenshots.display().to_string()])
        .current_dir(Path::new(env!("OUT_DIR")).join("web"))
        .env("CHROMIUM", browser)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    println!("{said}\nscreenshots in {}", screenshots.display());
    assert!(output.status.success(), "{said}");
    Some(screenshots)
}
