//! The page of a run, which opens from disk, and the viewer of a folder of runs.
//!
//! - [`page`] writes one HTML file with everything in it; `page/` at the root of the project is what it shows.
//! - [`run`] reads a folder of results; [`tables`] makes columns of it that the page reads at once.
//! - [`twin`] knows the folder of a twin, which represents two runs.
//! - [`view`] serves the same page for every run of a folder.

#![forbid(unsafe_code)]

mod cases;
pub mod head;
pub mod network;
pub mod page;
pub mod run;
pub mod tables;
pub mod twin;
pub mod view;
