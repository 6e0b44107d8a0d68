//! The page in a real browser: `web/tests/page.test.mjs` drives headless Chromium against a lab.
//!
//! Runs wherever Chromium and Node.js are, and says loudly when they are not; with `MUSLIN_BROWSER=1`, as in
//! `.ci/run`, their absence is a failure. Screenshots are left in the target folder for a look.

mod common;

use muslin_lab::server::Lab;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The browser, or why the test cannot run.
fn chromium() -> Result<PathBuf, &'static str> {
    let built = Path::new(env!("OUT_DIR")).join("web/dist/index.html");
    if !built.exists() {
        return Err("the page was not built, because npm is missing or failed");
    }
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path);
    let found = folders.flat_map(|folder| names.map(|name| folder.join(name)));
    found.into_iter().find(|file| file.is_file()).ok_or(
        "no Chromium was found; install the package chromium, or name one in the variable CHROMIUM",
    )
}

#[test]
fn the_page_works_in_a_browser() {
    let browser = match chromium() {
        Ok(browser) => browser,
        Err(reason) => {
            assert!(std::env::var_os("MUSLIN_BROWSER").is_none(), "{reason}");
            // Past the test harness, which hides what passing tests say.
            let line = format!("\nSKIPPED, the page was not tested in a browser: {reason}\n\n");
            std::io::stderr().write_all(line.as_bytes()).unwrap();
            return;
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let lab = runtime.block_on(Lab::bind(0)).unwrap();
    let url = lab.url();
    runtime.spawn(lab.serve(std::future::pending()));
    let screenshots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    let output = Command::new("node")
        .arg("tests/page.test.mjs")
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
    // What the browser saved, replayed by the engine alone.
    for name in ["saved", "gust"] {
        let file = std::fs::read_to_string(screenshots.join(format!("{name}.toml"))).unwrap();
        let shown = std::fs::read(screenshots.join(format!("{name}.positions"))).unwrap();
        let again: Vec<u8> = common::replayed(&file).iter().flat_map(|c| c.to_le_bytes()).collect();
        assert!(again == shown, "{name}.toml replays other positions than the page showed");
    }
}
