//! An experiment in simulation and on real hosts, side by side.

#[cfg(all(feature = "kernel", target_os = "linux"))]
mod both;
mod judging;
mod orders;
mod quantities;
mod sampled;
mod verdicts;

#[cfg(all(feature = "kernel", target_os = "linux"))]
pub use both::{Request, Twin, run};
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) use both::{kernel, slowdown};
pub use judging::{Number, Predicted, Prediction, Row, Target, TwinCase};
pub use orders::Order;
pub use verdicts::Verdicts;
