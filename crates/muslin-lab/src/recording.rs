//! What hands did to a scene, frame by frame: enough to run it again bit for bit.
//!
//! A saved run is a scene file with a `[method]` table and a `[recording]` table; `muslin run` replays it.

use muslin::{Effort, Hold, Inputs, Method, Placement, Pose, Pull, Scene, Sim, State, Vec3};
use serde::{Deserialize, Serialize};

/// Hands that can drag at the same time.
pub const HANDS: usize = 2;

/// A hand that drags nothing.
const IDLE: Pull = Pull { particle: 0, target: Vec3::ZERO, stiffness: 0.0 };

/// Something done between two frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Frames simulated before it.
    pub frame: u64,
    /// What was done.
    pub act: Act,
}

/// What can be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Act {
    /// Gravity and wind are set.
    Inputs {
        /// Gravity. [m/s²]
        gravity: Vec3,
        /// Wind. [m/s]
        wind: Vec3,
    },
    /// One particle is dragged.
    Pull {
        /// By which hand, 0 or 1.
        #[serde(default)]
        hand: usize,
        /// The particle.
        particle: usize,
        /// Where to. [m]
        target: Vec3,
        /// How strongly. [N/m]
        stiffness: f32,
    },
    /// The drag of a hand ends.
    Release {
        /// Which hand.
        #[serde(default)]
        hand: usize,
    },
    /// A body is put somewhere.
    Collider {
        /// The body, in scene order.
        collider: usize,
        /// Where it is at the end of the frame.
        pose: Pose,
    },
    /// A particle is held at a place.
    Hold {
        /// The particle.
        particle: usize,
        /// The place. [m]
        target: Vec3,
    },
    /// The solver may spend this much on each step.
    Effort {
        /// At most.
        effort: Effort,
    },
    /// A particle is let go, by hands and by the scene's pins.
    LetGo {
        /// The particle.
        particle: usize,
    },
}

impl Act {
    /// Does it to a simulation.
    pub fn apply(&self, sim: &mut Sim) {
        let inputs = &mut sim.inputs;
        match *self {
            Self::Inputs { gravity, wind } => (inputs.gravity, inputs.wind) = (gravity, wind),
            Self::Pull { hand, particle, target, stiffness } => {
                set_pull(inputs, hand, Pull { particle, target, stiffness });
            }
            Self::Release { hand } => set_pull(inputs, hand, IDLE),
            Self::Collider { collider, pose } => {
                inputs.colliders.retain(|placed| placed.collider != collider);
                inputs.colliders.push(Placement { collider, pose });
            }
            Self::Effort { effort } => inputs.effort = effort,
            Self::Hold { particle, target } => {
                inputs.held.retain(|hold| hold.particle != particle);
                inputs.released.retain(|released| *released != particle);
                inputs.held.push(Hold { particle, target });
            }
            Self::LetGo { particle } => {
                inputs.held.retain(|hold| hold.particle != particle);
                inputs.released.retain(|released| *released != particle);
                inputs.released.push(particle);
            }
        }
    }
}

/// The pulls are the hands' in order; a file may name others, which are ignored.
fn set_pull(inputs: &mut Inputs, hand: usize, pull: Pull) {
    inputs.pulls.resize(HANDS, IDLE);
    if let Some(place) = inputs.pulls.get_mut(hand) {
        *place = pull;
    }
    if inputs.pulls.iter().all(|pull| *pull == IDLE) {
        inputs.pulls.clear();
    }
}

/// The drags that would bring a simulation's hands to where they are.
pub fn pulls(inputs: &Inputs) -> impl Iterator<Item = Act> {
    let hands = inputs.pulls.iter().enumerate().filter(|(_, pull)| **pull != IDLE);
    hands.map(|(hand, &Pull { particle, target, stiffness })| Act::Pull {
        hand,
        particle,
        target,
        stiffness,
    })
}

/// A run so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recording {
    /// Frames simulated.
    pub frames: u64,
    /// What was done, in order.
    pub events: Vec<Event>,
    /// The state it began with, if that is not the scene's start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<State>,
}

impl Recording {
    /// Remembers what is done now. Of several drags of a hand or a body, or winds, between two frames
    /// only the last counts.
    pub fn push(&mut self, act: Act) {
        let frame = self.frames;
        let replaced = |last: &Act| match (last, &act) {
            (Act::Pull { hand: last, .. }, Act::Pull { hand, .. }) => last == hand,
            (Act::Collider { collider: last, .. }, Act::Collider { collider, .. }) => {
                last == collider
            }
            (Act::Inputs { .. }, Act::Inputs { .. }) => true,
            _ => false,
        };
        // Anything else in between is to happen between them.
        let passes = |last: &Act| {
            matches!(last, Act::Pull { .. } | Act::Inputs { .. } | Act::Collider { .. })
        };
        let now = self.events.iter_mut().rev().take_while(|event| event.frame == frame);
        let mut now = now.map(|event| &mut event.act).take_while(|last| passes(last));
        if let Some(last) = now.find(|last| replaced(last)) {
            *last = act;
            return;
        }
        self.events.push(Event { frame, act });
    }

    /// The recording with the efforts that a budget chose, each with the frames simulated before it.
    pub fn with_efforts(mut self, efforts: &[(u64, Effort)]) -> Self {
        let spent = efforts.iter();
        let spent = spent.map(|&(frame, effort)| Event { frame, act: Act::Effort { effort } });
        self.events.extend(spent);
        self.events.sort_by_key(|event| event.frame);
        self
    }

    /// Does to a simulation what was done before its frame number `frame`.
    pub fn apply(&self, frame: u64, sim: &mut Sim) {
        let first = self.events.partition_point(|event| event.frame < frame);
        let now = self.events[first..].iter().take_while(|event| event.frame == frame);
        now.for_each(|event| event.act.apply(sim));
    }

    /// The scene file that runs it again.
    pub fn to_toml(&self, scene: &Scene, method: &Method) -> Result<String, toml::ser::Error> {
        let mut file = toml::Table::try_from(scene)?;
        file.insert("method".into(), toml::Value::try_from(method)?);
        file.insert("recording".into(), toml::Value::try_from(self)?);
        toml::to_string(&file)
    }
}
