//! Quantities, their string forms, and random streams.

mod quantities;
mod random;
