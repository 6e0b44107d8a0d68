//! What the page calls, and the two functions it must provide.
//!
//! A command: `reserve` its length, write its text there, `receive`. Then, and after `start` and
//! `advance`: `next` until it is 0; each message lies at `message` and is `message_length` bytes long
//! until the next call.

use muslin_lab::{Limits, Message, Workbench};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Milliseconds since any fixed moment.
    safe fn now() -> f64;
    /// Takes the text of a panic, after which nothing here may be called again.
    safe fn panicked(text: *const u8, length: usize);
}

/// What `next` says of the message it brings.
const NOTHING: u32 = 0;
const TEXT: u32 = 1;
const BINARY: u32 = 2;

struct Desk {
    bench: Workbench,
    command: Vec<u8>,
    waiting: VecDeque<Message>,
    /// The message being read.
    current: Vec<u8>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::new(Desk {
        bench: Workbench::new(Limits::default(), clock),
        command: Vec::new(),
        waiting: VecDeque::new(),
        current: Vec::new(),
    });
}

fn clock() -> Duration {
    Duration::from_secs_f64(now() / 1e3)
}

fn desk<T>(work: impl FnOnce(&mut Desk) -> T) -> T {
    DESK.with_borrow_mut(work)
}

/// To be called first, once; its message is the catalogue.
#[unsafe(no_mangle)]
extern "C" fn start() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        panicked(text.as_ptr(), text.len());
    }));
    muslin::clock::set(|| now() / 1e3);
    desk(|desk| desk.waiting.push_back(Workbench::catalogue()));
}

/// Where to write a command of so many bytes of UTF-8.
#[unsafe(no_mangle)]
extern "C" fn reserve(length: usize) -> *mut u8 {
    desk(|desk| {
        desk.command.resize(length, 0);
        desk.command.as_mut_ptr()
    })
}

/// Carries out the command that was written.
#[unsafe(no_mangle)]
extern "C" fn receive() {
    desk(|Desk { bench, command, waiting, .. }| {
        waiting.extend(bench.receive(&String::from_utf8_lossy(command)));
    });
}

/// Simulates the frame that is due, if one is.
#[unsafe(no_mangle)]
extern "C" fn advance() {
    desk(|desk| desk.waiting.extend(desk.bench.advance()));
}

/// Milliseconds until a frame is due; negative while paused.
#[unsafe(no_mangle)]
extern "C" fn idle() -> f64 {
    desk(|desk| desk.bench.idle().map_or(-1.0, |idle| 1e3 * idle.as_secs_f64()))
}

/// Brings the next message: 0 none, 1 text, 2 binary.
#[unsafe(no_mangle)]
extern "C" fn next() -> u32 {
    desk(|desk| {
        let (kind, bytes) = match desk.waiting.pop_front() {
            None => (NOTHING, Vec::new()),
            Some(Message::Text(text)) => (TEXT, text.into_bytes()),
            Some(Message::Binary(bytes)) => (BINARY, bytes),
        };
        desk.current = bytes;
        kind
    })
}

/// Where the message is.
#[unsafe(no_mangle)]
extern "C" fn message() -> *const u8 {
    desk(|desk| desk.current.as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
extern "C" fn message_length() -> usize {
    desk(|desk| desk.current.len())
}

/// One frame and nothing else: what a benchmark times.
#[unsafe(no_mangle)]
extern "C" fn bare_frame() {
    desk(|desk| desk.bench.bare_frame());
}
