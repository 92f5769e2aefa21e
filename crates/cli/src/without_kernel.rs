//! In place of `kernel` where the command is built without the feature `kernel`: the commands for real hosts are known,
//! and say why they do nothing.

use std::ffi::OsString;

use tresse_workbench::Failure;

use crate::ended::Ended;

/// Not in this build: it has no kernel side
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<OsString>,
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Testbed(Args),
    Twin(Args),
    Calibrate(Args),
    Mark(Args),
    Attach(Args),
    Detach(Args),
    Status(Args),
    Daemon(Args),
    Doctor(Args),
}

pub fn run(_: Command) -> Result<(), Ended> {
    Err(Failure::without_kernel().into())
}

/// `tresse challenge --replay DIR --testbed`.
pub mod challenge {
    use std::path::Path;

    use tresse_workbench::{Failure, Interrupt};

    use crate::ended::Ended;

    pub fn replay(_: &Path, _: bool, _: &Interrupt) -> Result<(), Ended> {
        Err(Failure::without_kernel().into())
    }
}
