//! The command `tresse`: data to stdout, everything else to stderr.

mod bench;
pub mod catalogue;
mod chosen;
mod claims;
mod columns;
mod compare;
mod controller;
mod doctor;
mod export;
mod import;
mod interrupt;
mod linux;
mod list;
mod mark;
mod optimum;
mod paper;
mod parts;
mod progress;
mod run;
mod table;
mod topology;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tresse_controllers::LoadError;
use tresse_experiment::LabError;

/// One workbench for multipath congestion control in data centres
///
/// Start with `tresse run xmp/table1`, `tresse list controllers`, `tresse explain xmp`.
///
/// Exit codes: 0 fine, 1 a comparison or check failed, 2 bad input or usage, 3 the machine lacks
/// something, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "tresse", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Paper(paper::Args),
    Compare(compare::Args),
    Optimum(optimum::Args),
    #[command(subcommand)]
    Topology(topology::Command),
    Import(import::Args),
    Export(export::Args),
    List(list::ListArgs),
    Explain(list::ExplainArgs),
    #[command(subcommand)]
    Controller(controller::Command),
    #[command(subcommand)]
    Mark(mark::Command),
    Bench(bench::Args),
    Attach(linux::AttachArgs),
    Detach(linux::DetachArgs),
    Status(linux::StatusArgs),
    Doctor(doctor::Args),
    /// Print the JSON Schema of an experiment file
    ///
    /// Editors use it to complete and check experiment files.
    Schema,
}

/// What a command can end with beside success.
#[derive(Debug)]
enum Failure {
    /// Exit code 1: what was checked does not hold.
    Check(String),
    /// Exit code 2: bad input or usage.
    Input(String),
    /// Exit code 3: the machine lacks something.
    Machine(String),
    /// Exit code 130.
    Interrupted,
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
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

/// Runs the command that the command line says.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(args) => run::run(args),
        Command::Paper(args) => paper::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Optimum(args) => optimum::run(&args),
        Command::Topology(command) => topology::run(command),
        Command::Import(args) => import::run(&args),
        Command::Export(args) => export::run(&args),
        Command::List(args) => list::list(&args),
        Command::Explain(args) => list::explain(&args),
        Command::Controller(command) => controller::run(command),
        Command::Mark(command) => mark::run(command),
        Command::Bench(args) => bench::run(&args),
        Command::Attach(args) => linux::attach(&args),
        Command::Detach(args) => linux::detach(&args),
        Command::Status(args) => linux::status(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Schema => schema(),
    };
    let (code, message) = match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Check(message)) => (1, message),
        Err(Failure::Input(message)) => (2, message),
        Err(Failure::Machine(message)) => (3, message),
        Err(Failure::Interrupted) => (130, "interrupted".to_owned()),
    };
    // Standard error may be closed too.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::from(code)
}

fn schema() -> Result<(), Failure> {
    print_json(&tresse_experiment::schema())
}

/// One JSON object on stdout.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).expect("results are plain data");
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}
