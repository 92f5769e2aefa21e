//! How a command ends when it does not succeed.

use std::{fmt, io};

use tresse_controllers::LoadError;
use tresse_experiment::Diagnostic;
use tresse_experiment::diagnostic::Kind;

/// What a command can end with other than success.
#[derive(Debug)]
pub enum Failure {
    /// Exit code 1: something that was checked does not hold.
    Check(String),
    /// Exit code 2: bad input or usage.
    Input(String),
    /// Exit code 2: an error in an experiment or one of its files, with the location.
    Wrong(Box<Diagnostic>),
    /// Exit code 3: the machine lacks something.
    Machine(String),
    /// Exit code 130.
    Interrupted,
}

impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Self {
        Self::Wrong(Box::new(error))
    }
}

impl fmt::Display for Failure {
    /// The text after `error: `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(message) | Self::Input(message) | Self::Machine(message) => f.write_str(message),
            Self::Wrong(diagnostic) => diagnostic.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl Failure {
    /// The exit code of the command.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Check(_) => 1,
            Self::Input(_) | Self::Wrong(_) => 2,
            Self::Machine(_) => 3,
            Self::Interrupted => 130,
        }
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

impl From<clap::Error> for Failure {
    /// An error in the arguments, as the command prints it.
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        Self::Input(text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned())
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

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // Whoever read our output has gone: nothing is left to be said.
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        Self::Input(format!("standard output: {error}"))
    }
}
