//! The names of what may cause an event in the fabric.

/// Whatever may cause an event: a queued port, a port's far end. At one instant an entity has at most one event,
/// so time, the class of the entity and [`Ties`](crate::Ties) order all events (design rule 4).
///
/// There are two classes. Departures from queued ports count from 0, arrivals at ports' far ends from
/// [`ARRIVALS`]. So what leaves at an instant makes room for what arrives then. The caller's own events come
/// after them, and HOLNET's balancers update their shares after all.
pub type Entity = u32;

/// The arrival at port 0's far end.
pub const ARRIVALS: Entity = 1 << 23;
