//! Range checks that name the key.

use crate::error::Error;
use glam::DVec3;

/// Checks keys below a prefix such as `cloth.0.`.
pub struct Check {
    prefix: String,
}

impl Check {
    pub fn new(prefix: &str) -> Self {
        Self { prefix: prefix.into() }
    }

    pub fn error(&self, key: &str, value: impl std::fmt::Display, remedy: &str) -> Error {
        Error::new(format!("{}{key}", self.prefix), value, remedy)
    }

    pub fn range(&self, key: &str, value: f64, low: f64, high: f64) -> Result<(), Error> {
        // Written so that NaN fails.
        if value >= low && value <= high {
            return Ok(());
        }
        let (low, high) = (plain(low), plain(high));
        Err(self.error(key, value, &format!("must be a number between {low} and {high}")))
    }

    pub fn count(&self, key: &str, value: usize, low: usize, high: usize) -> Result<(), Error> {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        Err(self.error(key, value, &format!("must be between {low} and {high}")))
    }

    pub fn vector(&self, key: &str, value: DVec3, largest: f64) -> Result<(), Error> {
        if value.is_finite() && value.abs().max_element() <= largest {
            return Ok(());
        }
        let largest = plain(largest);
        let remedy = format!("must be three numbers between -{largest} and {largest}");
        Err(self.error(key, value, &remedy))
    }

    pub fn direction(&self, key: &str, value: DVec3) -> Result<DVec3, Error> {
        self.vector(key, value, 1e6)?;
        value.try_normalize().ok_or_else(|| self.error(key, value, "must not be the zero vector"))
    }
}

/// A number as people write it.
fn plain(value: f64) -> String {
    let small = value != 0.0 && value.abs() < 1e-3;
    if small || value.abs() > 1e6 { format!("{value:e}") } else { value.to_string() }
}
