//! `tresse view`: the runs of a folder in a browser on this machine. It reads, and starts or changes nothing.

mod list;
mod server;

pub use server::{Viewer, serve};
