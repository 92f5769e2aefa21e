//! The command `tresse`: data to stdout, everything else to stderr.

#![forbid(unsafe_code)]

mod bench;
pub mod catalogue;
mod changed;
mod chosen;
mod claims;
mod columns;
mod compare;
mod controller;
mod doctor;
mod export;
mod failure;
mod import;
mod interrupt;
mod linux;
mod list;
mod mark;
mod memory;
mod optimum;
mod output;
mod page;
mod paper;
mod plot;
mod points;
mod progress;
mod report;
mod result_tables;
mod run;
mod show;
mod table;
mod topology;
mod view;
mod width;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

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
    Show(show::Args),
    Paper(paper::Args),
    Compare(compare::Args),
    Report(page::Args),
    View(view::Args),
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

/// Runs the command that the command line says.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(args) => run::run(args),
        Command::Show(args) => show::run(&args),
        Command::Paper(args) => paper::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Report(args) => page::run(&args),
        Command::View(args) => view::run(&args),
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
        Command::Schema => output::print(&schema()),
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

/// The JSON Schema of an experiment file, as `tresse schema` prints it.
pub fn schema() -> String {
    output::pretty(&tresse_experiment::schema())
}
