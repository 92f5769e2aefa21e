//! In place of `built` where there is no kernel side.

use serde::Serialize;
use tresse_controllers::ConfiguredController;
use tresse_controllers::trace::{Script, Step};

use crate::failure::Failure;

/// What the kernel's verifier says of a hook; never made in this build.
#[derive(Debug, Serialize)]
pub struct Program {
    pub name: String,
    pub instructions: u32,
    /// How many the verifier walked through.
    pub verified_instructions: u32,
    /// Its machine code, bytes.
    pub machine_code_bytes: u32,
}

pub fn verify(_: &ConfiguredController) -> Result<Vec<Program>, Failure> {
    Err(Failure::without_kernel())
}

pub fn play(_: &ConfiguredController, _: &Script, _: u32) -> Result<Vec<Step>, Failure> {
    Err(Failure::without_kernel())
}
