//! `tresse view`: the runs in a folder, in a browser on this machine. It only reads, and never starts or changes
//! anything.

mod connections;
mod http;
mod list;
mod server;

pub(crate) use list::RunList;
pub use server::{Viewer, serve};
