//! Errors, by who has to act.

/// Why something could not be done; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The caller asked for something that is invalid or does not exist.
    #[error("{0}")]
    Input(String),
    /// The machine lacks something: a permission, a feature of the kernel, a tool.
    #[error("{0}")]
    Machine(String),
}
