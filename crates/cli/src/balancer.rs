//! `tresse balancer`.

mod check;
mod new;

use crate::ended::Ended;

/// Work with one host balancer
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    New(new::Args),
    Check(check::Args),
}

pub fn run(command: Command) -> Result<(), Ended> {
    match command {
        Command::New(args) => new::run(&args),
        Command::Check(args) => check::run(&args),
    }
}
