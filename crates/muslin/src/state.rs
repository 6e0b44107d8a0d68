//! Everything needed to continue a simulation.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Positions, velocities and time. Restoring a saved state continues bit for bit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Simulated time. [s]
    pub time: f64,
    /// Positions in scene order. [m]
    pub x: Vec<Vec3>,
    /// Velocities. [m/s]
    pub v: Vec<Vec3>,
    /// Velocity change of the last step, the start of a warm-started solve. [m/s]
    pub last_change: Vec<Vec3>,
}

impl State {
    /// Copies without allocating when the sizes match.
    pub fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.x.clone_from(&other.x);
        self.v.clone_from(&other.v);
        self.last_change.clone_from(&other.last_change);
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        // x·0 is 0 for a finite x and NaN otherwise: a sum that vectorises.
        let poison = |values: &[Vec3]| -> f32 {
            bytemuck::cast_slice::<_, f32>(values)
                .iter()
                .map(|v| v * 0.0)
                .sum()
        };
        poison(&self.x) + poison(&self.v) + poison(&self.last_change) == 0.0
    }
}
