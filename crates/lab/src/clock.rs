//! The clock of the machine.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "how long a run took is told beside its results, not in them")]
pub(crate) fn clock() -> Instant {
    Instant::now()
}
