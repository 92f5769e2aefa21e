//! Every controller against an independent reading of its paper in real numbers.
//!
//! `readings/` holds the equations, `checks/` what is compared: the increments of single events
//! tightly, whole trajectories loosely, and what one paper alone promises.

mod checks;
mod host;
mod readings;
