//! Tresse's controllers as the coupled congestion control of a multipath QUIC connection.
//!
//! [`CoupledFactory`] is a `ControllerFactory` of [noq](https://docs.rs/noq). The controllers that one
//! factory builds are siblings of one [`Group`](tresse_controllers::Group): the same C files, unchanged, as
//! in the simulator and in the kernel. So each connection has its own factory: a client passes it with
//! `connect_with`, a server with `accept_with`. One factory for several connections would couple them with
//! each other.
//!
//! noq's reports are translated to the contract of `controllers/controller.h`:
//!
//! | noq | the contract |
//! |---|---|
//! | an ACK frame's packets, by their bytes | `ack`, with whole packets delivered; what is left over counts later |
//! | no limit by the application | `grow`, for packets sent since the last cut (RFC 9002 §7.3.2) |
//! | a loss, or ECN marks in an ACK | `congestion`, once per recovery period: for packets sent since the last cut |
//! | persistent congestion (RFC 9002 §7.6) | `congestion`, unless this period had it; then `timeout` |
//! | an ACK of a packet sent since the cut | the end of the recovery period; ACKs bound rounds the same way |
//! | the smoothed RTT of a path | `srtt`; the first ACK, for which noq has none yet, counts with its own sample |
//! | the path's MTU | the size of a packet |
//! | a path that is dropped | a subflow that leaves the group |
//!
//! Deviations:
//!
//! - noq reports an ACK before the losses and marks that it reveals. So an ACK is held until the next call, and `grow`
//!   is left out if it began a reduction, as in the other hosts.
//! - The window is cut at once, and noq paces. There is no proportional rate reduction.
//! - noq is never given less than two packets (RFC 9002 §7.2). The controller's own window may be one.
//! - noq sends ECN-capable packets, whatever the controller declares: a mark cuts its window too.
//! - A loss that turns out to be spurious remains a loss.
//! - A larger MTU makes the window fewer packets, not more bytes, as Linux does after a probe. A smaller one leaves the
//!   number of packets: only `grow` raises a window.
//! - noq clones a controller if the peer's port changes, and uses either the clone or the original. Both are the same
//!   subflow. If the peer's address changes, noq builds a new controller, and the old one counts as a sibling until noq
//!   drops it.
//! - noq keeps a closed path for three probe timeouts (RFC 9002 §6.2.1) after both ends have closed it. Until then it
//!   counts as a sibling.
//! - A path beyond [`MAX_SUBFLOWS`](tresse_controllers::MAX_SUBFLOWS) is not coupled with the others.

#![forbid(unsafe_code)]

mod connection;
mod path;

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use tresse_controllers::{ConfiguredController, Signal};

use crate::connection::Connection;
use crate::path::Event;

/// Builds the controllers of one connection's paths.
#[derive(Debug)]
pub struct CoupledFactory {
    scheme: Arc<ConfiguredController>,
    connection: Arc<Mutex<Connection>>,
}

/// Why a controller does not run over QUIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{controller} does not run over QUIC: {why}")]
pub struct Refused {
    /// The controller's name.
    pub controller: &'static str,
    /// What QUIC, or noq, lacks for it.
    pub why: &'static str,
}

impl CoupledFactory {
    /// A factory for one connection. Several connections can share a `scheme`, as an `Arc`.
    ///
    /// # Errors
    /// The controller needs a signal that noq does not give.
    pub fn new(scheme: impl Into<Arc<ConfiguredController>>) -> Result<Self, Refused> {
        let scheme = scheme.into();
        let controller = scheme.controller();
        if let Some(why) = controller.signals().into_iter().find_map(missing) {
            return Err(Refused { controller: controller.name(), why });
        }
        let connection = Arc::new(Mutex::new(Connection::new(&scheme)));
        Ok(Self { scheme, connection })
    }
}

/// What noq lacks for a signal, if anything.
fn missing(signal: Signal) -> Option<&'static str> {
    match signal {
        Signal::Loss | Signal::Ecn => None,
        Signal::CeExact => Some("it counts every CE mark, but noq only reports that an ACK had some"),
        Signal::NextHop => Some("no QUIC peer reports the congestion of the next hop"),
        Signal::Packets => Some("it governs one window over many paths, but each QUIC path has its own"),
        Signal::Telemetry => Some("QUIC packets do not carry the hops of their path"),
    }
}

impl ControllerFactory for CoupledFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mut connection = lock(&self.connection);
        if let Some(id) = connection.join(now, current_mtu) {
            return Box::new(Coupled(Arc::new(Member { connection: Arc::clone(&self.connection), id })));
        }
        let mut alone = Connection::new(&self.scheme);
        let id = alone.join(now, current_mtu).expect("a new connection has room");
        Box::new(Coupled(Arc::new(Member { connection: Arc::new(Mutex::new(alone)), id })))
    }
}

/// A path's place in its connection, which is freed at the end.
#[derive(Debug)]
struct Member {
    connection: Arc<Mutex<Connection>>,
    id: u64,
}

impl Drop for Member {
    fn drop(&mut self) {
        lock(&self.connection).leave(self.id);
    }
}

/// The controller of a path. A clone is the same subflow.
#[derive(Debug, Clone)]
struct Coupled(Arc<Member>);

impl Coupled {
    fn tell(&self, event: Event) {
        lock(&self.0.connection).tell(self.0.id, event);
    }
}

impl Controller for Coupled {
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _pn: u64,
        _app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.tell(Event::Acked { now, sent, bytes, srtt: rtt.get() });
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.tell(Event::EndOfAck { now, in_flight, limited: !app_limited });
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        self.tell(match (is_ecn, is_persistent_congestion) {
            (true, _) => Event::Marked { now, sent },
            (false, persistent) => Event::Lost { now, sent, persistent },
        });
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.tell(Event::PacketSize(new_mtu));
    }

    fn window(&self) -> u64 {
        lock(&self.0.connection).window(self.0.id)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut connection = lock(&self.0.connection);
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = connection.window(self.0.id);
        metrics.ssthresh = connection.ssthresh(self.0.id);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        lock(&self.0.connection).initial_window(self.0.id)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().expect("no holder of the lock panics")
}
