//! Muslin's lab: a page in the browser where one pulls the cloth and sees the numbers.
//!
//! A [`Workbench`] takes commands and gives messages, and knows nothing of how they travel
//! (`PROTOCOL.md` lists them). [`server`] carries them over a WebSocket on loopback, beside the page
//! itself, which the build script made from `web/`. `muslin-wasm` carries them to the page that runs the
//! engine as WebAssembly; server and embedded page are left out there.

#[cfg(not(target_family = "wasm"))]
mod assets;
mod frame;
mod message;
mod recording;
#[cfg(not(target_family = "wasm"))]
pub mod server;
mod workbench;

pub use message::{Command, Message};
pub use recording::{Act, Event, Recording};
pub use workbench::{Limits, Workbench};
