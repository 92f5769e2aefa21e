//! Tresse in another program.
//!
//! - [`Simulation`]: a network in simulated time, whose messages the program sends while it runs. What a simulator of
//!   training jobs needs of a network: send, hear of the arrival, be woken at a time, know the time.
//! - `include/tresse.h` is the same for C and C++: about six calls in a shared library.
//! - [`experiment`] and [`lab`] are what the command itself stands on: load an experiment, plan its cases, run them,
//!   and observe them meanwhile. `examples/run.rs` does so.
//!
//! It knows no terminal, no published numbers and no kernel.

mod c;
mod options;
mod simulation;

pub use tresse_experiment as experiment;
pub use tresse_lab as lab;
pub use tresse_units as units;

pub use options::Options;
pub use simulation::{Event, Simulation};
pub use tresse_sim::FlowRecord;
