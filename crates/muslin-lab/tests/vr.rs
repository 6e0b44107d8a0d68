//! Virtual reality with an emulated headset in a real browser, against the engine.

mod browser;

#[test]
fn virtual_reality_works_with_an_emulated_headset() {
    browser::drive("vr");
}
