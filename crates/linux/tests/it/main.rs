//! Tests of the kernel's side. Those that need a kernel and root are skipped elsewhere, with a line that says why.

mod hosts;
mod kernel;
mod mark;
mod packets;
