//! The one place where the engine reads a clock. Only costs are taken from it, never results.

use std::sync::OnceLock;
use std::time::Instant;

/// Seconds since the first call. [s]
pub fn now() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}
