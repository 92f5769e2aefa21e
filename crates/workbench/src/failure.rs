//! How a request ends when it does not succeed.

use std::fmt;

use tresse_controllers::LoadError;
use tresse_experiment::Diagnostic;
use tresse_experiment::diagnostic::Kind;

/// What a request can end with other than success.
#[derive(Debug)]
pub enum Failure {
    /// Something that was checked does not hold.
    Check(String),
    /// Bad input or usage.
    Input(String),
    /// An error in an experiment or one of its files, with the location.
    Wrong(Box<Diagnostic>),
    /// The machine lacks something.
    Machine(String),
    /// It was asked to end before it was done.
    Interrupted,
}

impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Self {
        Self::Wrong(Box::new(error))
    }
}

impl From<Failure> for Diagnostic {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Wrong(diagnostic) => *diagnostic,
            failure => Self::input(failure.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    /// The message, with a hint if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(message) | Self::Input(message) | Self::Machine(message) => f.write_str(message),
            Self::Wrong(diagnostic) => diagnostic.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl Failure {
    /// What a build without the feature `kernel` says of requests that need one.
    pub fn without_kernel() -> Self {
        Self::Machine(
            "this command was built without its kernel side\n\n\
             hint: on Linux, `cargo build --release --package tresse` builds it (the feature `kernel`, on by default)"
                .to_owned(),
        )
    }

    /// The cause in one word.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Check(_) => "check",
            Self::Input(_) => "input",
            Self::Wrong(diagnostic) => match diagnostic.kind {
                Kind::Input => "input",
                Kind::Io => "io",
            },
            Self::Machine(_) => "machine",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Compiler(_) | LoadError::Machine { .. } => Self::Machine(error.to_string()),
            error => Self::Input(error.to_string()),
        }
    }
}
