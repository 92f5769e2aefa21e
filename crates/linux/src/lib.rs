//! The controllers in a stock Linux kernel, as eBPF.
//!
//! [`attach`] registers a controller as a TCP congestion control that outlives the process,
//! [`status`] shows it at work, [`detach`] takes it back; [`doctor`] says what the machine can do.
//! [`check`] and [`trace`] put a controller's eBPF build to the test without attaching it, and
//! [`mark`] sets ECN marks where no queue does.
//!
//! The programs themselves are in `bpf/`; a controller is the same file of `controllers/` that the
//! simulator runs.

mod check;
mod compile;
mod diagnosis;
mod error;
mod object;
pub mod trace;

pub use check::{Program, check};
pub use error::Error;
