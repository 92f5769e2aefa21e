//! Time, rates and the names of what may cause an event.

/// Simulated time, picoseconds since the start (design rule 3): 213 days fit.
pub type Time = u64;

/// A rate, bit/s.
pub type BitsPerSecond = u64;

/// Whatever may cause an event: a port's far end, a host timer. At one instant an entity has at most one event, so (time, entity) orders all events (design rule 4).
///
/// Ports count from 0, timers from [`TIMER_ENTITIES`].
pub type Entity = u32;

/// The first timer.
pub const TIMER_ENTITIES: Entity = 1 << 30;

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
