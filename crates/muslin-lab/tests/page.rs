//! The page in a real browser: `web/tests/page.test.mjs` drives headless Chromium against a lab.
//!
//! Runs with `MUSLIN_BROWSER=1` only, and says so otherwise: it takes minutes where a browser draws in
//! software. Screenshots are left in the target folder for a look.

use muslin_lab::server::Lab;
use std::path::Path;
use std::process::Command;

fn missing() -> Option<&'static str> {
    if std::env::var_os("MUSLIN_BROWSER").is_none() {
        return Some("set MUSLIN_BROWSER=1 to run it");
    }
    let built = Path::new(env!("OUT_DIR")).join("web/dist/index.html");
    if !built.exists() {
        return Some("the page was not built, because npm is missing or failed");
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let found = names.into_iter().any(there);
    (!found).then_some("no Chromium was found; install the package chromium")
}

#[test]
fn the_page_works_in_a_browser() {
    if let Some(reason) = missing() {
        assert!(std::env::var_os("MUSLIN_BROWSER").is_none(), "{reason}");
        eprintln!("\nSKIPPED the test of the page in a browser: {reason}\n");
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let lab = runtime.block_on(Lab::bind(0)).unwrap();
    let url = lab.url();
    runtime.spawn(lab.serve(std::future::pending()));
    let screenshots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    let output = Command::new("node")
        .arg("tests/page.test.mjs")
        .args([&url, &screenshots.display().to_string()])
        .current_dir(Path::new(env!("OUT_DIR")).join("web"))
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    println!("{said}\nscreenshots in {}", screenshots.display());
    assert!(output.status.success(), "{said}");
}
