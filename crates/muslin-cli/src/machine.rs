//! What a measurement ran on.

use serde::Serialize;

/// The machine, for reports.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Processor, if its name can be read.
    pub processor: Option<String>,
    /// Logical cores this process may use.
    pub logical_cores: usize,
    /// Operating system and architecture.
    pub system: String,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
        Self {
            processor,
            logical_cores: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}
