//! What the engine drives: a network with flows on it, simulated or real; and the words in which it is told about flows.

mod rounds;

use std::fmt::Debug;

use tresse_controllers::State;
use tresse_fabric::{Deadlock, Histogram, PfcCounters, PortCounters};
pub use tresse_sim::{Ahead, FlowRecord, FlowSpec, Paths};
use tresse_sim::{Mechanisms, ObservedPacket, OpenedSubflow, World};
use tresse_transport::Counters;
use tresse_units::{BitsPerSecond, MICROSECOND, Time};

/// A network with flows on it, and its own time.
pub trait Network: Debug {
    /// Its time.
    fn now(&self) -> Time;

    /// Lets time pass until `until`, until a flow has finished, or for a while: `budget` packet-hops, or what the
    /// network considers equally long. What happens in it may be carried out later: see [`Network::settle`].
    fn advance(&mut self, until: Time, budget: u64) -> Ahead;

    /// Carries out all that has happened until now. To be called before a look at flows, at ports, at mechanisms or at
    /// [`Network::hops`], and before links change.
    fn settle(&mut self) {}

    /// The record of a flow that [`Ahead::Ended`] has named without one, if all has been carried out up to its end; in the
    /// order of their ends.
    fn take_record(&mut self) -> Option<FlowRecord> {
        None
    }

    /// Starts a connection, with its whole message.
    fn start(&mut self, spec: FlowSpec);

    /// Starts a persistent connection, which stays when its message has arrived.
    fn start_lasting(&mut self, spec: FlowSpec);

    /// One more message of `bytes`, `id`, for a persistent connection, which is named by its first message.
    fn append(&mut self, connection: u64, id: u64, bytes: u64);

    /// Starts a connection to which data is written later.
    fn start_unwritten(&mut self, spec: FlowSpec);

    /// An application writes this many bytes.
    fn write(&mut self, id: u64, bytes: u64);

    /// Starts a flow of datagrams, which are sent later.
    fn start_datagrams(&mut self, spec: FlowSpec);

    /// Sends a datagram with this many bytes of payload.
    fn send_datagram(&mut self, id: u64, payload: u32);

    /// Ends a flow.
    ///
    /// # Panics
    /// If it has ended before.
    fn stop(&mut self, id: u64) -> FlowRecord;

    /// Payload of a connection that was delivered in order, bytes.
    fn delivered(&self, id: u64) -> u64;

    /// Payload of datagrams that has arrived, bytes; `None` of a connection.
    fn received(&self, id: u64) -> Option<u64>;

    /// The subflows of a connection that were opened so far, closed ones included.
    fn subflows(&self, id: u64) -> Vec<SubflowNow>;

    /// Payload of all flows that was delivered, bytes.
    fn delivered_bytes(&self) -> u64;

    /// Packet-hops until now.
    fn hops(&self) -> u64;

    /// Packet-hops until shortly before now: the same whenever what happens has been carried out.
    fn steady_hops(&self) -> u64 {
        self.hops()
    }

    /// Every port, by number.
    fn ports(&self) -> Vec<PortNow>;

    /// Packets that wait in a port.
    fn waiting(&self, port: u32) -> u64;

    /// The ports that wait for each other forever, if it is known that some do.
    fn deadlock(&self) -> Option<Deadlock> {
        None
    }

    /// How often mechanisms have acted, as far as it is known.
    fn mechanisms(&self) -> Mechanisms {
        Mechanisms::default()
    }

    /// The mean share of each port under a balancer that has shares, in parts of 2^32; `None` where nothing is balanced.
    /// Empty without such a balancer.
    fn mean_shares(&self) -> Vec<Option<u64>> {
        Vec::new()
    }

    /// The RTTs of each group's packets, if they are recorded, ps.
    fn rtts(&self) -> Vec<Histogram>;

    /// The rate of a port changes.
    fn set_rate(&mut self, port: u32, rate: BitsPerSecond);

    /// The link of a port fails or comes back.
    fn set_link(&mut self, port: u32, up: bool);

    /// The nodes recompute their shortest paths.
    fn reroute(&mut self);

    /// How many packets of recorded hosts wait to be taken.
    fn recorded(&self) -> usize {
        0
    }

    /// Packets of recorded hosts, and subflows that were opened: see [`World::take_recorded`].
    fn take_recorded(&mut self, _is_end: bool) -> (Vec<OpenedSubflow>, Vec<ObservedPacket>) {
        (Vec::new(), Vec::new())
    }
}

/// A subflow as it is now.
#[derive(Debug, Clone, Default)]
pub struct SubflowNow {
    /// Its payload that has arrived, bytes.
    pub arrived: u64,
    /// What it has counted.
    pub counters: Counters,
    /// What it is while it is open.
    pub open: Option<OpenSubflow>,
    /// The ports that its packets leave by, if they are known.
    pub path: Option<Vec<u32>>,
}

#[derive(Debug, Clone, Copy)]
pub struct OpenSubflow {
    /// Its window, packets.
    pub cwnd: u32,
    /// Its smoothed RTT, ps; `None` before there is one.
    pub srtt: Option<Time>,
    /// The state of its congestion control.
    pub state: State,
}

/// A port as it is now.
#[derive(Debug, Clone, Copy)]
pub struct PortNow {
    pub rate: BitsPerSecond,
    /// What it has counted.
    pub counters: PortCounters,
    /// For how long it has been sending, ps.
    pub busy: Time,
    /// What flow control has done to it.
    pub pfc: PfcCounters,
}

impl Network for World {
    fn now(&self) -> Time {
        self.now()
    }

    fn advance(&mut self, until: Time, budget: u64) -> Ahead {
        self.advance_ahead(until, budget)
    }

    fn settle(&mut self) {
        self.settle();
    }

    fn take_record(&mut self) -> Option<FlowRecord> {
        self.take_record()
    }

    fn start(&mut self, spec: FlowSpec) {
        self.start(spec);
    }

    fn start_lasting(&mut self, spec: FlowSpec) {
        self.start_lasting(spec);
    }

    fn append(&mut self, connection: u64, id: u64, bytes: u64) {
        self.append(connection, id, bytes);
    }

    fn start_unwritten(&mut self, spec: FlowSpec) {
        self.start_unwritten(spec);
    }

    fn write(&mut self, id: u64, bytes: u64) {
        self.write(id, bytes);
    }

    fn start_datagrams(&mut self, spec: FlowSpec) {
        self.start_datagrams(spec);
    }

    fn send_datagram(&mut self, id: u64, payload: u32) {
        self.send_datagram(id, payload);
    }

    fn stop(&mut self, id: u64) -> FlowRecord {
        self.stop(id)
    }

    fn delivered(&self, id: u64) -> u64 {
        self.delivered(id)
    }

    fn received(&self, id: u64) -> Option<u64> {
        self.received(id)
    }

    fn subflows(&self, id: u64) -> Vec<SubflowNow> {
        let Some((sender, receiver)) = self.ends(id) else { return Vec::new() };
        let subflow = |place: usize| {
            let own = sender.controller(place);
            SubflowNow {
                arrived: receiver.arrived(place),
                counters: sender.counters(place),
                open: own.map(|own| OpenSubflow {
                    cwnd: own.cwnd,
                    // In eighths of a microsecond there.
                    srtt: (own.srtt > 0).then(|| u64::from(own.srtt) * (MICROSECOND / 8)),
                    state: own.state,
                }),
                path: self.path(id, place),
            }
        };
        (0..sender.subflows()).map(subflow).collect()
    }

    fn mechanisms(&self) -> Mechanisms {
        self.mechanisms()
    }

    fn mean_shares(&self) -> Vec<Option<u64>> {
        self.mean_shares()
    }

    fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes()
    }

    fn hops(&self) -> u64 {
        self.hops()
    }

    fn steady_hops(&self) -> u64 {
        self.steady_hops()
    }

    fn ports(&self) -> Vec<PortNow> {
        let port = |(number, port): (u32, &tresse_fabric::Port)| PortNow {
            rate: port.config().rate,
            counters: port.counters(),
            busy: self.busy(number),
            pfc: self.pfc_counters(number),
        };
        (0..).zip(self.ports()).map(port).collect()
    }

    fn waiting(&self, port: u32) -> u64 {
        self.waiting(port)
    }

    fn deadlock(&self) -> Option<Deadlock> {
        self.deadlock()
    }

    fn rtts(&self) -> Vec<Histogram> {
        self.rtts()
    }

    fn set_rate(&mut self, port: u32, rate: BitsPerSecond) {
        self.set_rate(port, rate);
    }

    fn set_link(&mut self, port: u32, up: bool) {
        self.set_link(port, up);
    }

    fn reroute(&mut self) {
        self.reroute();
    }

    fn recorded(&self) -> usize {
        self.recorded()
    }

    fn take_recorded(&mut self, is_end: bool) -> (Vec<OpenedSubflow>, Vec<ObservedPacket>) {
        self.take_recorded(is_end)
    }
}
