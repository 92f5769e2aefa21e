//! How a command ends when it does not succeed.

use std::io;

use tresse_controllers::LoadError;
use tresse_experiment::Diagnostic;

/// What a command can end with beside success.
#[derive(Debug)]
pub enum Failure {
    /// Exit code 1: what was checked does not hold.
    Check(String),
    /// Exit code 2: bad input or usage.
    Input(String),
    /// Exit code 3: the machine lacks something.
    Machine(String),
    /// Exit code 130.
    Interrupted,
}

impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Machine { .. } => Self::Machine(error.to_string()),
            error => Self::Input(error.to_string()),
        }
    }
}

impl From<tresse_linux::Error> for Failure {
    fn from(error: tresse_linux::Error) -> Self {
        match error {
            tresse_linux::Error::Input(message) => Self::Input(message),
            tresse_linux::Error::Machine(message) => Self::Machine(message),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // Whoever read our output has gone: nothing is left to be said.
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        Self::Input(format!("standard output: {error}"))
    }
}
