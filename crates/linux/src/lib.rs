//! The controllers in a stock Linux kernel, as eBPF.
//!
//! [`attach()`] registers a controller as a TCP congestion control that outlives the process, [`status()`]
//! shows it at work, [`detach()`] removes it; [`doctor`] checks what the machine can do. [`check`] and
//! [`trace`] test a controller's eBPF build without attaching it, and [`mark`] sets ECN marks if no queue
//! does.
//!
//! The programs themselves are in `bpf/`; a controller is the same file of `controllers/` that the
//! simulator runs.

#![expect(unsafe_code, reason = "libbpf and system calls are C")]

pub mod attach;
mod attached;
mod bpffs;
mod check;
mod compile;
mod counters;
pub mod daemon;
mod default;
pub mod detach;
mod diagnosis;
pub mod doctor;
mod error;
pub mod mark;
mod netlink;
mod netns;
mod object;
pub mod path_manager;
mod silence;
mod sock_diag;
mod sockets;
pub mod status;
pub mod tcp_info;
pub mod trace;

pub use attach::attach;
pub use attached::{Hook, counts};
pub use check::{Program, check};
pub use counters::COUNTERS;
pub use detach::detach;
pub use error::Error;
pub use status::status;
