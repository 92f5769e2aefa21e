//! The wall clock: how long something took is reported beside results, never in them.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

#[expect(clippy::disallowed_methods, reason = "how long a run took is told beside its results, not in them")]
pub(crate) fn clock() -> Instant {
    Instant::now()
}

/// When a run began is reported beside its results.
#[expect(clippy::disallowed_methods, reason = "the date of a run is told beside its results, not in them")]
pub(crate) fn date() -> SystemTime {
    SystemTime::now()
}

/// Seconds since this was called first.
pub(crate) fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(clock).elapsed().as_secs_f64()
}
