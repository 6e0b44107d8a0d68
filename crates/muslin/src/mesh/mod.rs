//! Topology only: which particles belong together. Knows no masses and no forces.

pub mod batches;
pub mod coarsening;
pub mod colouring;
pub mod geodesics;
pub mod grid;
pub mod incidence;
pub mod links;
pub mod pyramid;
pub mod triangles;

pub use coarsening::Hierarchy;
pub use colouring::Colouring;
pub use incidence::{Incidence, Made};
pub use links::Links;
pub use pyramid::{Interpolation, Pyramid};
