//! The wall clock: how long something took is reported along with results, never in them.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

/// The time, to measure how long something took.
#[expect(
    clippy::disallowed_methods,
    reason = "how long a run took is reported along with its results, not in them"
)]
pub fn clock() -> Instant {
    Instant::now()
}

/// When a run began is reported along with its results.
#[expect(
    clippy::disallowed_methods,
    reason = "the date of a run is reported along with its results, not in them"
)]
pub fn date() -> SystemTime {
    SystemTime::now()
}

/// Seconds since the first call.
pub fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(clock).elapsed().as_secs_f64()
}
