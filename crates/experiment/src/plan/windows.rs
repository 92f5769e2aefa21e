//! Windows of time, for which results report what flows got in them.

use tresse_units::Time;

/// A window of time, counted from the start of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub name: String,
    /// When it begins, ps.
    pub from: Time,
    /// When it ends, ps; after `from`.
    pub to: Time,
}
