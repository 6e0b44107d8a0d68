//! The `muslin` command: run, compare and measure cloth scenes.
//!
//! Exit codes: 0 done, 1 a file or the machine failed, 2 the request was wrong (nothing was
//! written), 130 interrupted (what was simulated is written).

mod arguments;
mod bench;
mod compare;
mod demo;
mod experiment;
mod failure;
mod gltf_file;
mod interrupt;
mod lab;
mod list;
mod machine;
mod mesh_file;
mod output;
mod page;
mod picture;
mod progress;
mod record;
mod reproduce;
mod run;
mod scene_file;
mod setting;
mod summary;
mod text;
mod threads;

use arguments::{Arguments, Command, LabArguments};
use clap::Parser;
use std::process::ExitCode;

/// Counts what is allocated, so that `muslin bench` can tell bytes per particle. Stepping
/// allocates nothing, so the counting costs no time there.
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        None => lab::lab(&LabArguments { scene: None, port: 0, no_open: false }),
        Some(Command::Lab(arguments)) => lab::lab(&arguments),
        Some(Command::Demo) => demo::demo(),
        Some(Command::List(arguments)) => list::list(&arguments),
        Some(Command::Run(arguments)) => run::run(&arguments).map(|_| ()),
        Some(Command::Compare(arguments)) => compare::compare(&arguments),
        Some(Command::Bench(arguments)) => bench::bench(&arguments),
        Some(Command::Reproduce(arguments)) => reproduce::reproduce(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.code()
        }
    }
}
