//! The controllers in the kernel: real MPTCP sockets in network namespaces, with real traffic.
//!
//! Needs root, `ip`, `tc`, `ss` and a kernel with MPTCP; what is missing is said in one line on
//! standard error, and the test passes. Everything happens in network namespaces of this process
//! (`trk<pid>-…`), which go when their test ends, however it ends.

#![expect(unsafe_code, reason = "sockets and namespaces are made with C calls")]

mod clean;
mod clock;
mod control;
mod daemon;
mod ecmp;
mod flood;
mod flow;
mod life;
mod namespace;
mod probe;
mod quiet;
mod real;
mod repeat;
mod testbed;
