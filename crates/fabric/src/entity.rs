//! The names of whatever may cause an event in the fabric.

/// Whatever may cause an event: a queued port, a port's far end. At one instant an entity has at most one
/// event, so time, the class of the entity and [`Ties`](crate::Ties) order all events (design rule 4). A
/// queued port under flow control may receive a pause frame as its packet departs: in place of a packet's id,
/// a departure has 0 and a frame has more, so the departure comes first.
///
/// There are two classes. Departures from queued ports count from 0, arrivals at ports' far ends from
/// [`ARRIVALS`]. So packets that leave at an instant make room for those that arrive then. The caller's own
/// events come after both, and HOLNET's balancers update their shares last.
pub type Entity = u32;

/// The arrival at port 0's far end.
pub const ARRIVALS: Entity = 1 << 23;
