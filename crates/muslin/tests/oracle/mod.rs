//! An independent reference in double precision: dense matrices, loops over springs, nothing fast.
//!
//! It reads the compiled [`Model`]'s arrays and a [`Method`]'s choices, and shares no formula code
//! with the engine: hinge gradients are numerical derivatives of an angle written differently,
//! linear systems are dense and solved by elimination.
//!
//! ```text
//!   law.rs     energies, forces, Jacobian models, damping       → World
//!   dense.rs   matrices, elimination, 3×3 eigenvectors
//!   step.rs    every integrator and linear solver               → World::step
//!   meshless.rs shape matching                              → World::shape_matching
//!   turning.rs 3D springs, their motion and stiffness matrix     → Body, Phase
//!   cases.rs   small perturbed cloths and the comparison with the engine
//! ```

// Each test binary uses a part of it.
#![allow(dead_code, unused_imports)]

pub mod cases;
pub mod dense;
pub mod law;
pub mod meshless;
pub mod step;
pub mod turning;

pub use dense::Dense;
pub use law::{Hinge, Spring, World};

use glam::{DVec3, Vec3};

/// Single-precision vectors, widened.
pub fn wide(values: &[Vec3]) -> Vec<DVec3> {
    values.iter().map(|v| v.as_dvec3()).collect()
}

/// The largest length of a vector.
pub fn largest(values: impl IntoIterator<Item = DVec3>) -> f64 {
    values.into_iter().fold(0.0, |m, v| m.max(v.length()))
}

/// The largest distance between matching vectors.
pub fn distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    largest(a.iter().zip(b).map(|(a, b)| *a - *b))
}

/// Reproducible random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Uniform in (−1, 1).
    pub fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        2.0 * ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    }

    /// Each coordinate uniform in (−size, size).
    pub fn vector(&mut self, size: f64) -> DVec3 {
        size * DVec3::new(self.signed(), self.signed(), self.signed())
    }
}
