//! What can be wrong with a scene or a method.

/// One problem, named by its key, with its value and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {remedy}")]
pub struct Error {
    /// Path of the key as `--set` takes it, for example `cloth.0.columns`.
    pub key: String,
    /// The value found.
    pub value: String,
    /// What is wrong and what would be right.
    pub remedy: String,
}

impl Error {
    /// An error for `key` holding `value`.
    pub fn new(
        key: impl Into<String>,
        value: impl std::fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self { key: key.into(), value: value.to_string(), remedy: remedy.into() }
    }
}
