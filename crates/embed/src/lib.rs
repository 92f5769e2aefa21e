//! Tresse in another program.
//!
//! - [`Simulation`]: a network in simulated time, over which the program sends messages while it runs. It has
//!   what a simulator of training jobs needs from a network: sending, notification of arrivals, timers, and
//!   the time.
//! - `include/tresse.h` is the same for C and C++: about six calls in a shared library.
//! - [`experiment`] and [`lab`] are the basis of the command itself: load an experiment, plan its cases, run
//!   them, and observe them meanwhile, as in `examples/run.rs`.
//!
//! It depends on no terminal, no published numbers and no kernel.

mod c;
mod options;
mod simulation;

pub use tresse_experiment as experiment;
pub use tresse_lab as lab;
pub use tresse_units as units;

pub use options::Options;
pub use simulation::{Event, Simulation};
pub use tresse_sim::FlowRecord;
