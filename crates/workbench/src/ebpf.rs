//! A controller's eBPF build, without attaching it: the kernel's verifier, and traces. Built without the feature
//! `kernel`, it only says that it cannot.

#[cfg(all(feature = "kernel", target_os = "linux"))]
mod built;
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
mod without;

#[cfg(all(feature = "kernel", target_os = "linux"))]
use built as host;
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
use without as host;

pub use host::Program;
pub(crate) use host::{play, verify};
