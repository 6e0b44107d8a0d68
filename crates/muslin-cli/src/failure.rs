//! Why a command ended, and the exit code that says so.

use std::fmt;
use std::process::ExitCode;

/// The ways a command can fail.
#[derive(Debug)]
pub enum Failure {
    /// The request was wrong; the text names the key, the value and the remedy.
    Wrong(String),
    /// A file or the machine failed.
    Broken(anyhow::Error),
    /// The user stopped it; files are complete.
    Interrupted(String),
}

impl Failure {
    /// The exit code.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Broken(_) => 1,
            Self::Wrong(_) => 2,
            Self::Interrupted(_) => 130,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(message) => write!(f, "error: {message}"),
            Self::Broken(error) => write!(f, "error: {error:#}"),
            Self::Interrupted(message) => write!(f, "interrupted: {message}"),
        }
    }
}

impl From<muslin::Error> for Failure {
    fn from(error: muslin::Error) -> Self {
        Self::Wrong(error.to_string())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Broken(error)
    }
}
