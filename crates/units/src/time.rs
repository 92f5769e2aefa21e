//! Time and rates as plain numbers (design rule 3).

/// Simulated time, picoseconds since the start (design rule 3): 213 days fit.
pub type Time = u64;

/// A rate, bit/s.
pub type BitsPerSecond = u64;

/// One nanosecond.
pub const NANOSECOND: Time = 1_000;
/// One microsecond.
pub const MICROSECOND: Time = 1_000_000;
/// One millisecond.
pub const MILLISECOND: Time = 1_000_000_000;
/// One second.
pub const SECOND: Time = 1_000_000_000_000;
/// Later than everything.
pub const NEVER: Time = Time::MAX;

/// `t` in seconds, for people to read.
pub fn seconds(t: Time) -> f64 {
    t as f64 / SECOND as f64
}
