//! The browser that tests drive, or a loud word that there is none. Other crates' tests include this file by its path.

use std::io::Write;
use std::path::PathBuf;

/// The browser, or what to do about its absence.
pub fn found() -> Result<PathBuf, &'static str> {
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

/// What was found; otherwise skips loudly, and fails instead with `MUSLIN_BROWSER` set.
pub fn or_skip(name: &str, found: Result<PathBuf, &'static str>) -> Option<PathBuf> {
    match found {
        Ok(browser) => Some(browser),
        Err(reason) => {
            assert!(std::env::var_os("MUSLIN_BROWSER").is_none(), "{reason}");
            // Past the test harness, which hides what passing tests say.
            let line = format!("\nSKIPPED, {name} was not tested in a browser: {reason}\n\n");
            std::io::stderr().write_all(line.as_bytes()).unwrap();
            None
        }
    }
}
