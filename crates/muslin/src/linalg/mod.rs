//! Linear algebra on 3×3 blocks. Knows links and elements, but nothing of cloth.

pub mod cholesky;
pub mod conjugate_gradient;
pub mod multigrid;
mod pattern;
pub mod relaxation;
pub mod sliced;
mod sym3;
mod system;
pub mod vectors;

pub use sym3::{ProductSum, Sym3, WeightedSum, Wide};
pub use system::{Coupling, RankOne, System, Topology, add_missing};
