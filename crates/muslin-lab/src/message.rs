//! What goes between the page and the workbench.

use muslin::{Method, Scene, Vec3};
use serde::Deserialize;

/// What the page asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// A built-in scene under built-in methods.
    Open {
        /// Name of the scene.
        scene: String,
        /// Names of the methods, one per pane.
        methods: Vec<String>,
    },
    /// A whole scene under whole methods.
    Load {
        /// The scene.
        scene: Box<Scene>,
        /// One per pane.
        methods: Vec<Method>,
        /// Carry positions and velocities over where the particles are as many.
        #[serde(default)]
        keep: bool,
    },
    /// Run or pause.
    Play {
        /// Whether to run.
        playing: bool,
    },
    /// One frame while paused.
    Step,
    /// Back to the start.
    Reset,
    /// Gravity and wind. [m/s², m/s]
    Inputs {
        /// Gravity.
        gravity: Vec3,
        /// Wind.
        wind: Vec3,
    },
    /// Drag a particle.
    Pull {
        /// With which hand.
        #[serde(default)]
        hand: usize,
        /// The particle.
        particle: usize,
        /// Where to. [m]
        target: Vec3,
        /// With which stiffness. [N/m]
        stiffness: f32,
    },
    /// End of the drag.
    Release {
        /// Of which hand.
        #[serde(default)]
        hand: usize,
    },
    /// Put a body somewhere.
    Collider {
        /// The body, in scene order.
        collider: usize,
        /// Where to. [m]
        position: muslin::DVec3,
        /// How turned.
        rotation: glam::DQuat,
    },
    /// Hold a particle where it is, or let it go.
    Pin {
        /// The particle.
        particle: usize,
        /// Whether to hold it.
        held: bool,
    },
    /// The run so far as a file.
    Save {
        /// Which pane's method goes into it.
        pane: usize,
    },
    /// A set of frames was drawn.
    Taken,
}

/// What the page is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// JSON.
    Text(String),
    /// Topology or a frame.
    Binary(Vec<u8>),
}
