//! The commands for real hosts: what needs `tresse-linux` and `tresse-testbed`. [`crate::without_kernel`] takes this
//! module's place in a command that is built without the feature `kernel`.

mod calibrate;
pub mod challenge;
mod daemon;
mod doctor;
mod linux;
mod mark;
mod testbed;
mod twin;

use tresse_workbench::Failure;

use crate::ended::Ended;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    #[command(subcommand)]
    Testbed(testbed::Command),
    Twin(twin::Args),
    Calibrate(calibrate::Args),
    #[command(subcommand)]
    Mark(mark::Command),
    Attach(linux::AttachArgs),
    Detach(linux::DetachArgs),
    Status(linux::StatusArgs),
    Daemon(daemon::Args),
    Doctor(doctor::Args),
}

pub fn run(command: Command) -> Result<(), Ended> {
    match command {
        Command::Testbed(command) => testbed::run(command),
        Command::Twin(args) => twin::run(args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Mark(command) => mark::run(command),
        Command::Attach(args) => linux::attach(&args),
        Command::Detach(args) => linux::detach(&args),
        Command::Status(args) => linux::status(&args),
        Command::Daemon(args) => daemon::run(&args),
        Command::Doctor(args) => doctor::run(&args),
    }
}

impl From<tresse_linux::Error> for Ended {
    fn from(error: tresse_linux::Error) -> Self {
        Failure::from(error).into()
    }
}
