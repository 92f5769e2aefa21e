//! The wall clock: how long something took is told beside results, never in them.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "how long a run took is told beside its results, not in them")]
pub(crate) fn clock() -> Instant {
    Instant::now()
}
