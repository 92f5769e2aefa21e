//! How a command ends when it does not succeed.

use std::{fmt, io};

use tresse_experiment::Diagnostic;
use tresse_workbench::Failure;

/// The failure that a command ends with.
#[derive(Debug)]
pub struct Ended(Failure);

impl Ended {
    /// The exit code of the command.
    pub fn exit_code(&self) -> u8 {
        match &self.0 {
            Failure::Check(_) => 1,
            Failure::Input(_) | Failure::Wrong(_) => 2,
            Failure::Machine(_) => 3,
            Failure::Interrupted => 130,
        }
    }
}

impl fmt::Display for Ended {
    /// The text after `error: `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<Diagnostic> for Ended {
    fn from(error: Diagnostic) -> Self {
        Self(error.into())
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        // Whoever read our output has gone: nothing is left to be said.
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        Self(Failure::Input(format!("standard output: {error}")))
    }
}
