//! Tests that need a kernel and root: skipped elsewhere, with a line that says why.

mod kernel;
mod mark;
mod packets;
