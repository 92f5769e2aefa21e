//! The wall clock, in the simulator's unit.

use nix::time::{ClockId, clock_gettime};
use tresse_units::Time;

/// A clock that stood at 0 when it was made. It does not go back, and all processes of the machine can tell its time.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: u64,
}

impl Clock {
    /// A clock that stands at 0 now.
    pub fn start() -> Self {
        Self { start: monotonic() }
    }

    /// Picoseconds since then.
    pub fn now(&self) -> Time {
        self.at(monotonic())
    }

    /// What it shows when the kernel's `CLOCK_MONOTONIC` is this, ns.
    pub fn at(&self, monotonic: u64) -> Time {
        monotonic.saturating_sub(self.start) * 1000
    }
}

/// The kernel's `CLOCK_MONOTONIC`, ns.
///
/// # Panics
/// If the kernel has none.
pub fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has it");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}
