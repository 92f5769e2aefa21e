//! The commands for real hosts: what needs `tresse-linux` and `tresse-testbed`. [`crate::without_kernel`] takes this
//! module's place in a command that is built without the feature `kernel`.

mod daemon;
mod doctor;
mod linux;
mod mark;
mod testbed;
mod twin;

use tresse_controllers::ConfiguredController;
use tresse_controllers::trace::{Script, Step};
use tresse_linux::trace::Player;

use crate::failure::Failure;

pub use tresse_linux::Program;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    #[command(subcommand)]
    Testbed(testbed::Command),
    Twin(twin::Args),
    #[command(subcommand)]
    Mark(mark::Command),
    Attach(linux::AttachArgs),
    Detach(linux::DetachArgs),
    Status(linux::StatusArgs),
    Daemon(daemon::Args),
    Doctor(doctor::Args),
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Testbed(command) => testbed::run(command),
        Command::Twin(args) => twin::run(args),
        Command::Mark(command) => mark::run(command),
        Command::Attach(args) => linux::attach(&args),
        Command::Detach(args) => linux::detach(&args),
        Command::Status(args) => linux::status(&args),
        Command::Daemon(args) => daemon::run(&args),
        Command::Doctor(args) => doctor::run(&args),
    }
}

/// Submits a controller's eBPF build to the kernel's verifier.
///
/// # Errors
/// [`Failure::Machine`] if this machine cannot do that, another one if the verifier or the compiler refuses it.
pub fn verify(scheme: &ConfiguredController) -> Result<Vec<Program>, Failure> {
    Ok(tresse_linux::check(scheme)?)
}

/// Plays a script with a controller's eBPF build.
///
/// # Errors
/// [`Failure::Machine`] if this machine cannot do that, another one if the compiler refuses the controller.
pub fn play(
    scheme: &ConfiguredController,
    script: &Script,
    initial_window: u32,
) -> Result<Vec<Step>, Failure> {
    Ok(Player::new(scheme)?.play(script, initial_window))
}

impl From<tresse_linux::Error> for Failure {
    fn from(error: tresse_linux::Error) -> Self {
        match error {
            tresse_linux::Error::Input(message) => Self::Input(message),
            tresse_linux::Error::Machine(message) => Self::Machine(message),
        }
    }
}
