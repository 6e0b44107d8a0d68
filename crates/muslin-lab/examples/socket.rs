//! How many frames a second of 320² the lab's WebSocket carries on loopback:
//!
//! ```text
//! cargo run --release -p muslin-lab --example socket [seconds]
//! ```
//!
//! The scene has the fewest springs a cloth can have and a short frame, so that neither the engine nor the
//! clock holds frames back; the client takes each frame at once, as a page that draws infinitely fast.

use muslin_lab::server::Lab;
use serde_json::json;
use std::net::TcpStream;
use std::time::Instant;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: f64 = std::env::args().nth(1).map_or(Ok(5.0), |text| text.parse())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let lab = runtime.block_on(Lab::bind(0))?;
    let address = lab.url().replace("http", "ws");
    runtime.spawn(lab.serve(std::future::pending()));
    let (mut socket, _) = tungstenite::connect(format!("{address}socket"))?;
    let scene = json!({
        "dt": 1.0 / 1000.0, "gravity": [0, -1, 0],
        "cloth": [{
            "columns": 320, "rows": 320, "particle_mass": 0.001,
            "springs": { "structural": 1.0 }, "pins": [{ "place": "first-row" }],
        }],
    });
    let method = muslin::Method::preset("symplectic-euler")?;
    let load = json!({ "type": "load", "scene": scene, "methods": [method] });
    socket.send(Message::text(load.to_string()))?;
    // The first frames come from a cold start.
    let mut count = Count::default();
    while count.frames < 10 {
        count.read(&mut socket)?;
    }
    count = Count::default();
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < seconds {
        count.read(&mut socket)?;
    }
    let rate = f64::from(count.frames) / begun.elapsed().as_secs_f64();
    let size = count.bytes as f64 / f64::from(count.frames) / 1e6;
    let (flow, step) = (rate * size, count.step);
    println!(
        "{rate:.0} frames/s of 320 x 320, {size:.2} MB each: {flow:.0} MB/s; a step takes {step:.1} ms"
    );
    Ok(())
}

/// What has come so far.
#[derive(Default)]
struct Count {
    frames: u32,
    bytes: usize,
    /// Cost of a step, as last reported. [ms]
    step: f64,
}

impl Count {
    fn read(
        &mut self,
        socket: &mut WebSocket<MaybeTlsStream<TcpStream>>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        match socket.read()? {
            Message::Binary(frame) if frame[0] == 3 => {
                socket.send(Message::text(r#"{"type":"taken"}"#))?;
                self.frames += 1;
                self.bytes += frame.len();
            }
            Message::Text(text) => {
                let message: serde_json::Value = serde_json::from_str(&text)?;
                if message["type"] == "refused" {
                    return Err(message["message"].to_string().into());
                }
                self.step = message["ms"].as_f64().unwrap_or(self.step);
            }
            _ => {}
        }
        Ok(())
    }
}
