//! In place of `kernel` and `ebpf` where the command is built without the feature `kernel`: the commands for real
//! hosts are known, and say why they do nothing.

use std::ffi::OsString;

use serde::Serialize;
use tresse_controllers::ConfiguredController;
use tresse_controllers::trace::{Script, Step};

use crate::failure::Failure;

/// What the kernel's verifier says of a hook; never made in this build.
#[derive(Debug, Serialize)]
pub struct Program {
    pub name: String,
    pub instructions: u32,
    pub verified_instructions: u32,
    pub machine_code_bytes: u32,
}

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
    Mark(Args),
    Attach(Args),
    Detach(Args),
    Status(Args),
    Daemon(Args),
    Doctor(Args),
}

pub fn run(_: Command) -> Result<(), Failure> {
    Err(lacks())
}

pub fn verify(_: &ConfiguredController) -> Result<Vec<Program>, Failure> {
    Err(lacks())
}

pub fn play(_: &ConfiguredController, _: &Script, _: u32) -> Result<Vec<Step>, Failure> {
    Err(lacks())
}

fn lacks() -> Failure {
    Failure::Machine(
        "this command was built without its kernel side\n\n\
         hint: on Linux, `cargo build --release --package tresse` builds it (the feature `kernel`, on by default)"
            .to_owned(),
    )
}
