//! The page of a run, which opens from disk, and the viewer of a folder of runs.
//!
//! - [`page`] writes one HTML file with everything in it; its source is in `page/` at the root of the project.
//! - [`figures`] owns the key `figures` of an experiment.
//! - [`run`] reads a folder of results; [`tables`] turns it into columns that the page reads directly.
//! - [`twin`] handles the folder of a twin, which represents two runs.
//! - [`view`] serves the same page for every run of a folder.

#![forbid(unsafe_code)]

mod cases;
pub mod contract;
pub mod figures;
pub mod head;
pub mod network;
pub mod page;
pub mod run;
pub mod tables;
pub mod twin;
pub mod view;
