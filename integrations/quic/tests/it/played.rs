//! A path whose ACKs and losses are made up, and the RTT estimates that noq would pass with them.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory};
use tresse_quic::CoupledFactory;

use crate::network::{Link, Network};

/// A UDP payload, bytes.
pub const PACKET: u64 = 1200;

pub struct Played {
    pub controller: Box<dyn Controller>,
    /// What noq reports as in flight, packets.
    pub in_flight: u32,
    now: Instant,
    /// When the window was last cut, or earlier.
    cut: Instant,
    sent: Instant,
    estimate: RttEstimator,
}

impl Played {
    pub fn new(factory: &Arc<CoupledFactory>, start: Instant, rtt: Duration) -> Self {
        let controller = Arc::clone(factory).build(start, PACKET as u16);
        Self { controller, in_flight: 0, now: start, cut: start, sent: start, estimate: estimate(rtt) }
    }

    /// An ACK of whole packets that were sent since the last cut, or before it.
    pub fn ack(&mut self, packets: u32, since_cut: bool, limited: bool) {
        let rtt = self.estimate.get();
        self.now += if since_cut { 2 * rtt } else { Duration::from_nanos(1) };
        self.sent = if since_cut { self.now - rtt } else { self.cut.min(self.now - rtt) };
        for _ in 0..packets {
            self.controller.on_ack(self.now, self.sent, PACKET, 0, !limited, &self.estimate);
        }
        self.controller.on_end_acks(self.now, u64::from(self.in_flight) * PACKET, !limited, None);
    }

    /// The last ACK has a mark.
    pub fn mark(&mut self) {
        self.controller.on_congestion_event(self.now, self.sent, false, true, 0, 0);
        if self.sent > self.cut {
            self.cut = self.now;
        }
    }

    /// The last ACK shows that a packet sent since the last cut is lost.
    pub fn lose_with_ack(&mut self) {
        self.controller.on_congestion_event(self.now, self.sent, false, false, PACKET, 0);
        self.cut = self.now;
    }

    /// A packet sent since the last cut, or before it, is lost.
    pub fn lose(&mut self, since_cut: bool, persistent: bool) {
        self.now += Duration::from_nanos(1);
        let sent = if since_cut { self.now } else { self.cut };
        self.controller.on_congestion_event(self.now, sent, persistent, false, PACKET, 0);
        if since_cut || persistent {
            self.cut = self.now;
        }
    }

    /// The RTT estimate that noq passes for the path.
    pub fn estimate(&self) -> RttEstimator {
        self.estimate
    }

    /// The window, packets.
    pub fn packets(&self) -> u64 {
        self.controller.window() / PACKET
    }
}

/// noq's estimator for a path whose samples were all `rtt`. Only noq can make one, so a separate connection
/// does it.
fn estimate(rtt: Duration) -> RttEstimator {
    static KNOWN: Mutex<BTreeMap<Duration, RttEstimator>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("no holder panics");
    *known.entry(rtt).or_insert_with(|| {
        let spy = Spy::default();
        let mut network = Network::new(vec![Link::new(1_000_000_000_000, 1_000_000)]);
        network.add(Arc::new(spy.clone()), &[0], rtt / 2);
        network.run(3 * rtt);
        let seen = spy.0.lock().expect("no holder panics").expect("the handshake has ACKs");
        assert_eq!(seen.get().as_nanos() / 125, rtt.as_nanos() / 125, "{seen:?}");
        seen
    })
}

/// Keeps the newest estimator that it sees.
#[derive(Debug, Default, Clone)]
struct Spy(Arc<Mutex<Option<RttEstimator>>>);

impl ControllerFactory for Spy {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new((*self).clone())
    }
}

impl Controller for Spy {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.lock().expect("no holder panics") = Some(*rtt);
    }
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: bool, _: u64, _: u64) {}
    fn on_mtu_update(&mut self, _: u16) {}
    fn window(&self) -> u64 {
        10 * PACKET
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
    fn initial_window(&self) -> u64 {
        10 * PACKET
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
