//! The one place where the engine reads a clock. Only costs are taken from it, never results.

use std::sync::OnceLock;

static CLOCK: OnceLock<fn() -> f64> = OnceLock::new();

/// Seconds since some moment. [s]
pub fn now() -> f64 {
    CLOCK.get().map_or_else(own, |clock| clock())
}

/// Takes the time from elsewhere, for a machine without a clock of its own. The first call counts.
pub fn set(clock: fn() -> f64) {
    CLOCK.get_or_init(|| clock);
}

#[cfg(not(target_arch = "wasm32"))]
fn own() -> f64 {
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// There is none.
#[cfg(target_arch = "wasm32")]
fn own() -> f64 {
    0.0
}
