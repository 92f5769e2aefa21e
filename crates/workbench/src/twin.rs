//! An experiment in simulation and on real hosts, side by side.

#[cfg(all(feature = "kernel", target_os = "linux"))]
mod both;
mod rows;
mod sampled;

#[cfg(all(feature = "kernel", target_os = "linux"))]
pub use both::{Request, Twin, run};
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) use both::{kernel, slowdown};
pub use rows::{Number, Row, Target, TwinCase, compare};
