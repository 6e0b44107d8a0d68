//! The page in a real browser: `web/tests/page.test.mjs` drives headless Chromium against a lab.
//!
//! Runs wherever Chromium and Node.js are, and says loudly when they are not; with `MUSLIN_BROWSER=1`, as in
//! `.ci/run`, their absence is a failure. Screenshots are left in the target folder for a look.

mod browser;
mod common;

#[test]
fn the_page_works_in_a_browser() {
    let Some(screenshots) = browser::drive("page") else { return };
    // What the browser saved, replayed by the engine alone.
    for name in ["saved", "gust"] {
        let file = std::fs::read_to_string(screenshots.join(format!("{name}.toml"))).unwrap();
        let shown = std::fs::read(screenshots.join(format!("{name}.positions"))).unwrap();
        let again: Vec<u8> = common::replayed(&file).iter().flat_map(|c| c.to_le_bytes()).collect();
        assert!(again == shown, "{name}.toml replays other positions than the page showed");
    }
}
