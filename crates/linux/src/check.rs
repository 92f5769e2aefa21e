//! A controller's eBPF build, checked by the kernel's verifier without being attached.

use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::Object;
use serde::Serialize;
use tresse_controllers::ConfiguredController;

use crate::Error;
use crate::object::{self, Wrapper};

/// The kernel's result for one hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Program {
    /// The hook's function in `bpf/controller.bpf.c`.
    pub name: String,
    /// Instructions of the program.
    pub instructions: u32,
    /// Instructions that the verifier walked through; it gives up at a million.
    pub verified_instructions: u32,
    /// Bytes of machine code; 0 without a JIT.
    pub machine_code_bytes: u32,
}

/// Loads the controller's hooks into the kernel, reads their sizes, and unloads them.
///
/// # Errors
/// If a user's file does not compile for the BPF machine, if the verifier rejects it, or if the machine
/// cannot load eBPF.
pub fn check(scheme: &ConfiguredController) -> Result<Vec<Program>, Error> {
    let controller = scheme.controller();
    let mut open = object::open(&object::bytes(controller, Wrapper::Hooks)?, controller.file())?;
    object::set_parameters(&mut open, scheme);
    Ok(sizes(&object::load(open, controller.file())?))
}

fn sizes(object: &Object) -> Vec<Program> {
    object
        .progs()
        .map(|program| {
            let mut info = libbpf_sys::bpf_prog_info::default();
            let mut size = size_of_val(&info) as u32;
            // SAFETY: `info` is `size` bytes of memory for the kernel to fill.
            unsafe {
                libbpf_sys::bpf_prog_get_info_by_fd(program.as_fd().as_raw_fd(), &mut info, &mut size);
            }
            Program {
                name: program.name().to_string_lossy().into_owned(),
                instructions: info.xlated_prog_len / 8,
                verified_instructions: info.verified_insns,
                machine_code_bytes: info.jited_prog_len,
            }
        })
        .collect()
}
