//! Tresse in another program.
//!
//! - [`Simulation`]: a network in simulated time, over which the program sends messages while it runs. It has
//!   what a simulator of training jobs needs from a network: sending, notification of arrivals, timers, and
//!   the time.
//! - `include/tresse.h` is the same for C and C++: about six calls in a shared library.
//! - [`workbench`] is what the command itself stands on: load an experiment, run its cases, and observe them meanwhile,
//!   as in `examples/run.rs`. [`experiment`] and [`lab`] are the types of its requests and reports.
//!
//! It depends on no terminal and no kernel.

mod c;
mod options;
mod simulation;

pub use tresse_experiment as experiment;
pub use tresse_lab as lab;
pub use tresse_units as units;
pub use tresse_workbench as workbench;

pub use options::Options;
pub use simulation::{Event, Simulation};
pub use tresse_sim::FlowRecord;
