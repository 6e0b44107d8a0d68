//! The states an animation will show.
//!
//! They are kept until the run is over, because the camera must see all of them.

use super::{Kind, Preview};
use glam::Vec3;

/// Frames of an animation at most.
const MOST: u64 = 120;
/// Frames per second where the scene's time allows it.
const RATE: f64 = 30.0;

/// Positions kept for drawing.
pub struct Film {
    /// Every how many frames of the run one is kept; `None` keeps the last only.
    stride: Option<u64>,
    seen: u64,
    frames: Vec<Vec<Vec3>>,
    wanted: bool,
    last: Vec<Vec3>,
    /// Time one picture is shown. [s]
    delay: f64,
}

impl Film {
    /// A film for these previews of a run of `frames` frames of `dt` seconds.
    pub fn new(previews: &[Preview], frames: u64, dt: f64) -> Self {
        let animated = previews.iter().any(|p| p.kind == Kind::Animation);
        let by_rate = (1.0 / (RATE * dt)).round().max(1.0) as u64;
        let stride = frames.div_ceil(MOST).max(by_rate);
        let seconds = stride as f64 * dt;
        Self {
            stride: animated.then_some(stride),
            seen: 0,
            frames: Vec::new(),
            wanted: !previews.is_empty(),
            last: Vec::new(),
            // Where real time would be a slide show, it is played fast.
            delay: if seconds <= 0.1 { seconds } else { 1.0 / RATE },
        }
    }

    /// A film that keeps everything.
    #[cfg(test)]
    pub fn every_frame(delay: f64) -> Self {
        let (frames, last) = (Vec::new(), Vec::new());
        Self { stride: Some(1), seen: 0, frames, wanted: true, last, delay }
    }

    /// Offers the next state.
    pub fn push(&mut self, x: &[Vec3]) {
        if self.wanted {
            self.last.clear();
            self.last.extend_from_slice(x);
        }
        if self.stride.is_some_and(|stride| self.seen.is_multiple_of(stride)) {
            self.frames.push(x.to_vec());
        }
        self.seen += 1;
    }

    /// The last state.
    pub fn last(&self) -> &[Vec3] {
        &self.last
    }

    /// The states of the animation.
    pub fn frames(&self) -> &[Vec<Vec3>] {
        &self.frames
    }

    /// Time one picture is shown. [s]
    pub fn delay(&self) -> f64 {
        self.delay
    }
}
