//! The command `tresse`: data to stdout, everything else to stderr.

#![forbid(unsafe_code)]

mod balancer;
mod bench;
mod challenge;
mod changed;
mod chart;
mod check;
mod claims;
mod columns;
mod compare;
mod controller;
mod ended;
mod evaluate;
mod export;
mod fidelity;
mod flowing;
mod import;
mod interrupt;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod kernel;
mod list;
mod manual;
mod optimum;
mod output;
mod page;
mod paper;
mod pictures;
mod plot;
mod points;
mod progress;
mod python;
mod report;
mod report_card;
mod result_tables;
mod run;
mod selection;
mod show;
mod sweep;
mod sweep_table;
mod table;
mod table_name;
mod topology;
mod tune;
mod user_code;
mod view;
mod width;
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
mod without_kernel;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Arg, FromArgMatches, Parser, Subcommand};
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
use without_kernel as kernel;

pub use manual::{Help, help};

/// One workbench for multipath congestion control in data centres
///
/// Start with `tresse run xmp/table1`, `tresse list controllers`, `tresse explain xmp`.
///
/// Exit codes: 0 success, 1 a comparison or check failed, 2 bad input or usage, 3 the machine lacks
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
    Check(check::Args),
    Show(show::Args),
    Paper(paper::Args),
    Compare(compare::Args),
    Report(page::Args),
    Plot(plot::Args),
    View(view::Args),
    Optimum(optimum::Args),
    Sweep(sweep::Args),
    Tune(tune::Args),
    Evaluate(evaluate::Args),
    Fidelity(fidelity::Args),
    ReportCard(report_card::Args),
    Challenge(challenge::Args),
    #[command(subcommand)]
    Topology(topology::Command),
    Import(import::Args),
    Export(export::Args),
    List(list::ListArgs),
    Explain(list::ExplainArgs),
    #[command(subcommand)]
    Controller(controller::Command),
    #[command(subcommand)]
    Balancer(balancer::Command),
    Bench(bench::Args),
    #[command(flatten)]
    Kernel(kernel::Command),
    /// Print the JSON Schema of an experiment file
    ///
    /// Editors use it to complete and check experiment files.
    Schema,
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Runs the command given on the command line.
pub fn main() -> ExitCode {
    ExitCode::from(command(std::env::args_os()))
}

/// Runs the command with these arguments, the first of which is the program's name; returns its exit code.
pub fn command(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let cli = Cli::from_arg_matches(&teaching(flowing::command()).get_matches_from(arguments));
    let cli = cli.unwrap_or_else(|e| e.exit());
    let result = match cli.command {
        Command::Run(args) => run::run(args),
        Command::Check(args) => check::run(args),
        Command::Show(args) => show::run(&args),
        Command::Paper(args) => paper::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Report(args) => page::run(&args),
        Command::Plot(args) => plot::run(&args),
        Command::View(args) => view::run(&args),
        Command::Optimum(args) => optimum::run(args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Fidelity(args) => fidelity::run(args),
        Command::ReportCard(args) => report_card::run(args),
        Command::Challenge(args) => challenge::run(args),
        Command::Topology(command) => topology::run(command),
        Command::Import(args) => import::run(args),
        Command::Export(args) => export::run(args),
        Command::List(args) => list::list(&args),
        Command::Explain(args) => list::explain(&args),
        Command::Controller(command) => controller::run(command),
        Command::Balancer(command) => balancer::run(command),
        Command::Bench(args) => bench::run(&args),
        Command::Kernel(command) => kernel::run(command),
        Command::Schema => output::print(&tresse_workbench::schema()),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    };
    let Err(ended) = result else { return 0 };
    // Standard error may be closed too.
    let _ = writeln!(io::stderr(), "error: {ended}");
    ended.exit_code()
}

/// A command that needs an argument and gets none prints its help.
fn teaching(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(teaching);
    let needs = command.get_positionals().any(Arg::is_required_set);
    if needs { command.arg_required_else_help(true) } else { command }
}
