//! Muslin's lab: a page in the browser where one pulls the cloth and sees the numbers.
//!
//! A [`Workbench`] takes commands and gives messages, and knows nothing of how they travel
//! (`PROTOCOL.md` lists them). [`server`] carries them over a WebSocket on loopback, beside the page
//! itself, which the build script made from `web/`.

mod assets;
mod frame;
mod recording;
pub mod server;
mod workbench;

pub use recording::{Act, Event, Recording};
pub use workbench::{Command, Limits, Message, Workbench};
