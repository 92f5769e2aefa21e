//! The names of what may cause an event.

/// Whatever may cause an event: a queued port, a port's far end, a host timer. At one instant an entity
/// has at most one event, so (time, entity) orders all events (design rule 4).
///
/// Departures from queued ports count from 0, arrivals at ports' far ends from [`ARRIVALS`],
/// timers from [`TIMER_ENTITIES`]. So what leaves at an instant makes room for what arrives then. HOLNET's
/// balancers update their shares after all of them.
pub type Entity = u32;

/// The arrival at port 0's far end.
pub const ARRIVALS: Entity = 1 << 23;

/// The first timer.
pub const TIMER_ENTITIES: Entity = 1 << 30;
