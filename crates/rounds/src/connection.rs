//! A connection: its message, its controllers, its subflows.

use std::collections::VecDeque;

use tresse_controllers::Group;
use tresse_controllers::trace::Hosts;
use tresse_path_manager::PathManager;
use tresse_sim::{FlowRecord, FlowSpec};
use tresse_transport::Counters;
use tresse_units::{Stream, Time};

use crate::link::Shares;

/// A connection with its whole message.
#[derive(Debug)]
pub(crate) struct Connection {
    pub spec: FlowSpec,
    pub start: Time,
    pub group: Group,
    /// The states of congestion control, as in `tresse controller trace`.
    pub hosts: Hosts,
    pub manager: Box<dyn PathManager>,
    /// The memory of its path manager.
    pub named: [u32; 3],
    pub subflows: Vec<Subflow>,
    /// Packets that no subflow has sent yet.
    pub unsent: u64,
    /// Packets of the message.
    pub packets: u64,
    /// Packets that were ACKed.
    pub arrived: u64,
    /// Packets that no link will lose any more, and when the last of them arrives.
    pub passed: u64,
    pub last: Time,
    /// Bytes of a packet on the wire, a mean.
    pub wire: f64,
    pub stream: Stream,
    pub opened: u32,
}

impl Connection {
    /// Delivered payload, bytes.
    pub fn delivered(&self) -> u64 {
        if self.arrived >= self.packets {
            return self.spec.bytes;
        }
        self.arrived * u64::from(self.spec.config.mss)
    }

    /// Packets that subflow `i` has sent, each time that it has.
    pub fn sent(&self, i: usize) -> u64 {
        self.subflows.get(i).map_or(0, |s| s.counters.sent + s.counters.retransmissions)
    }

    /// Its record, if it ends at `end`.
    pub fn record(&self, end: Time) -> FlowRecord {
        let complete = self.passed >= self.packets && self.last <= end;
        let mut counters = Counters::default();
        self.subflows.iter().for_each(|s| counters += s.counters);
        FlowRecord {
            id: self.spec.id,
            bytes: if complete { self.spec.bytes } else { self.delivered() },
            complete,
            start: self.start,
            end,
            opened: self.opened,
            closed: 0,
            counters,
        }
    }
}

/// Packets that were sent together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch {
    pub packets: u32,
    pub marked: u32,
    pub lost: u32,
    /// The round trip of its first packet, ps.
    pub rtt: f64,
    /// The time between its ACKs, a packet, ps.
    pub gap: f64,
}

/// The batch that a subflow is sending.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub packets: u32,
    pub start: Time,
    pub end: Time,
    /// Bytes per ps, into the host's port and into the links beyond it.
    pub rate: f64,
    pub passed: f64,
    /// The way of its first packet to the receiver, and its round trip, ps.
    pub forward: f64,
    pub rtt: f64,
}

/// The links of a subflow.
#[derive(Debug)]
pub(crate) struct Way {
    /// Those that data flows through, then those of the ACKs.
    pub there: Box<[u32]>,
    pub back: Box<[u32]>,
    /// From the first bit of a packet to its last at the far end, on empty links, ps; and of an ACK.
    pub base: [f64; 2],
    /// The time between two packets at the slowest link, ps.
    pub least_gap: f64,
}

/// What a subflow has lost, and how it repairs it.
#[derive(Debug, Default)]
pub(crate) struct Repair {
    /// Lost packets that are not yet to be sent again.
    pub holes: u32,
    /// Packets that have arrived since the first hole.
    pub since: u32,
    /// When a partial ACK shows the next hole; 0 outside a recovery.
    pub next_at: Time,
    /// Packets to be sent again.
    pub resend: u32,
    /// Sends nothing until its timer expires: a loss that fast retransmission does not repair.
    pub stalled: bool,
    /// The number of the timer that counts.
    pub timer: u32,
    /// Timeouts in a row.
    pub backoff: u32,
}

/// A subflow.
#[derive(Debug)]
pub(crate) struct Subflow {
    pub way: Way,
    pub repair: Repair,
    pub is_open: bool,
    pub takes_data: bool,
    pub outgoing: Option<Outgoing>,
    /// The shares of the links to the receiver when the last batch began.
    pub before: Box<[Shares]>,
    /// The batches in flight, the oldest first.
    pub batches: VecDeque<Batch>,
    /// Packets in flight.
    pub in_flight: u32,
    /// The time in which the ACKs of the last batch arrive, ps.
    pub span: f64,
    /// The time between two packets that ACKs allow, ps.
    pub gap: f64,
    /// Whether the window, not the data, limited what was sent last.
    pub limited: bool,
    pub last_sent: Time,
    /// Packets that have arrived.
    pub arrived: u64,
    pub counters: Counters,
}
