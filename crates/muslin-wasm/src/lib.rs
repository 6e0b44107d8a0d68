//! The lab's workbench as WebAssembly: messages of `PROTOCOL.md` through linear memory, no other tools.
//!
//! Built by `crates/muslin-lab/web/wasm/build.mjs`; `crates/muslin-lab/web/src/wasm.js` is the other side.
//! On other targets there is nothing here.

#[cfg(target_family = "wasm")]
mod interface;
