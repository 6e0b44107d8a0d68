//! Muslin: real-time cloth, with every published real-time method on one equation.
//!
//! ```
//! use muslin::{Fabric, Method, Scene, Sheet, Sim, vec3};
//!
//! # fn main() -> Result<(), muslin::Error> {
//! let mut scene = Scene::new();
//! scene.air.density = 1.2;
//! let sheet = scene.add_cloth(Sheet::square(1.0, 32), Fabric::cotton());
//! scene.pin(sheet.corner(0, 0));
//! scene.pin(sheet.corner(0, 1));
//! let mut sim = Sim::new(scene.compile()?, Method::preset("muslin")?)?;
//! sim.inputs.wind = vec3(3.0, 0.0, 1.0);
//! for _frame in 0..10 {
//!     let report = sim.step(1.0 / 60.0);
//!     assert!(report.solver.strain_left.unwrap() < 1e-3);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A [`Scene`] is what a user describes, a [`Model`] what it compiles to, a [`State`] what changes,
//! [`Inputs`] what the outside may change between steps. [`Sim::advance`] is the step. A [`Method`]
//! says how: [`solvers::presets::METHODS`] lists them by name.
//!
//! The library opens no file and prints nothing.

pub mod clock;
pub mod collide;
pub mod compile;
pub mod conformance;
mod error;
pub mod fabric;
pub mod forces;
mod inputs;
mod lanes;
pub mod limits;
pub mod linalg;
pub mod mesh;
pub mod model;
mod pace;
mod par;
mod report;
pub mod scene;
pub mod scenes;
mod sim;
pub mod solvers;
mod state;

pub use error::Error;
pub use fabric::Fabric;
pub use glam::{DVec3, Vec3, dvec3, vec3};
pub use inputs::{Effort, Hold, Inputs, Placement, Pull};
pub use model::{Model, Pose};
pub use par::Par;
pub use report::{Energy, Report, SolverReport, Stages, Warning, Warnings};
pub use scene::{Cloth, Collider, Scene, Sheet};
pub use sim::{Advance, Sim};
pub use solvers::Method;
pub use state::{Motion, Press, State, Touch};
