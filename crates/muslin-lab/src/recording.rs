//! What hands did to a scene, frame by frame: enough to run it again bit for bit.
//!
//! A saved run is a scene file with a `[method]` table and a `[recording]` table; `muslin run` replays it.

use muslin::{Hold, Method, Pull, Scene, Sim, State, Vec3};
use serde::{Deserialize, Serialize};

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
        /// The particle.
        particle: usize,
        /// Where to. [m]
        target: Vec3,
        /// How strongly. [N/m]
        stiffness: f32,
    },
    /// The drag ends.
    Release {},
    /// A particle is held at a place.
    Hold {
        /// The particle.
        particle: usize,
        /// The place. [m]
        target: Vec3,
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
            Self::Pull { particle, target, stiffness } => {
                inputs.pulls.clear();
                inputs.pulls.push(Pull { particle, target, stiffness });
            }
            Self::Release {} => inputs.pulls.clear(),
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
    /// Remembers what is done now. Of several drags or winds between two frames only the last counts.
    pub fn push(&mut self, act: Act) {
        let frame = self.frames;
        let replaces = matches!(act, Act::Pull { .. } | Act::Inputs { .. });
        if let Some(last) = self.events.last_mut()
            && replaces
            && last.frame == frame
            && std::mem::discriminant(&last.act) == std::mem::discriminant(&act)
        {
            last.act = act;
            return;
        }
        self.events.push(Event { frame, act });
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
