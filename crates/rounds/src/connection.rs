//! A connection: its message, its controllers, its subflows.

use std::collections::VecDeque;
use std::sync::Arc;

use smallvec::SmallVec;
use tresse_controllers::Group;
use tresse_controllers::trace::Hosts;
use tresse_path_manager::{PathChoice, PathManager};
use tresse_sim::{FlowRecord, FlowSpec};
use tresse_transport::{Config, Counters};
use tresse_units::{MILLISECOND, Stream, Time};

use crate::copies::{Pieces, Run};
use crate::fair::{FairPort, Turn};
use crate::lasting::Messages;
use crate::link::Shares;
use crate::links::Links;
use crate::spraying::Sprayed;

/// Linux's pacing rate over what a subflow gets: 120 % outside of slow start (`tcp_pacing_ca_ratio`), of which 1/1024 s may
/// wait in a port.
const PACED: f64 = 1.2 * 1000.0 / 1024.0;

/// A connection with its whole message.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Tells it from others that have been in its slot.
    pub generation: u32,
    /// The transport, which many share.
    pub config: Arc<Config>,
    pub spec: Box<FlowSpec>,
    pub start: Time,
    pub group: Group,
    /// The states of congestion control, as in `tresse controller trace`.
    pub hosts: Hosts,
    pub manager: Box<dyn PathManager>,
    /// Whether its path manager hears of packets and ACKs.
    pub observed: bool,
    /// When its path manager's next event is planned.
    pub due: Time,
    /// The memory of its path manager.
    pub named: [u32; 3],
    pub subflows: Vec<Subflow>,
    /// Those that its path manager has closed: bit i stands for subflow i.
    pub closed: u64,
    /// Its messages, if it stays.
    pub messages: Option<Box<Messages>>,
    /// What it knows if it is sprayed.
    pub sprayed: Option<Box<Sprayed>>,
    /// What subflows send once more for others.
    pub runs: Vec<Run>,
    /// Packets that no subflow has sent yet.
    pub unsent: u64,
    /// Packets of the message.
    pub packets: u64,
    /// Packets that were ACKed.
    pub arrived: u64,
    pub passed: Passed,
    /// Bytes of a packet on the wire, a mean.
    pub wire: f64,
    pub stream: Stream,
}

impl Connection {
    /// Delivered payload, bytes.
    pub fn delivered(&self) -> u64 {
        (self.arrived * u64::from(self.config.mss)).min(self.spec.bytes)
    }

    /// All that is on its way at `now` has arrived, and its ACKs too. Returns a subflow with packets of which that is true, if
    /// there is one.
    pub fn arrive(&mut self, now: Time) -> Option<usize> {
        let mut last = None;
        for (i, s) in self.subflows.iter_mut().enumerate() {
            let before = s.arrived_by(now);
            s.arrived += s.batches.drain(..).map(|batch| u64::from(batch.packets - batch.lost)).sum::<u64>();
            s.acks.until = 0;
            last = if s.arrived > before { Some(i) } else { last };
        }
        self.arrived = self.packets;
        last
    }

    /// Subflow `i` may send from now on, after a handshake of this round trip, ps (0: none): it has the transport's initial
    /// window, and its siblings see it.
    pub fn admit(&mut self, i: usize, round_trip: f64, links: &Links) {
        let config = &self.config;
        let place = self.subflows[..i].iter().filter(|s| s.is_open).count();
        self.group.insert(place, config.initial_window);
        let own = &mut self.group[place];
        (own.ssthresh, own.mss) = (config.initial_ssthresh, config.mss);
        self.hosts.insert(place, config.initial_window);
        if round_trip > 0.0 {
            self.subflows[i].rtt.sample(round_trip);
        }
        self.subflows[i].is_open = true;
        self.number();
        if self.spec.sprayed.is_some() {
            let full = f64::from(self.config.mss + self.config.header);
            self.begin_spraying(Sprayed::new(&self.subflows[i].way, links, full));
        }
    }

    /// Subflow `i` sends nothing any more, and its siblings no longer see it. Others send what it has in flight.
    pub fn close(&mut self, i: usize) {
        let was_open = std::mem::replace(&mut self.subflows[i].is_open, false);
        self.closed |= 1 << i;
        if !was_open {
            return;
        }
        self.repeat_elsewhere(i);
        self.hand_back(i);
        let s = &mut self.subflows[i];
        self.group.remove(s.place);
        self.hosts.remove(s.place);
        s.in_flight = 0;
        s.repair = Repair { timer: s.repair.timer + 1, ..Repair::default() };
        self.number();
    }

    /// Subflow `i`, which is open, as its controller sees it.
    pub fn own(&self, i: usize) -> &tresse_controllers::Subflow {
        &self.group[self.subflows[i].place]
    }

    /// The packets that subflow `i` may have in flight.
    pub fn window(&self, i: usize) -> u32 {
        self.own(i).cwnd.min(self.config.receive_window)
    }

    /// Whether its path manager has closed subflow `i`.
    pub fn is_closed(&self, i: usize) -> bool {
        self.closed >> i & 1 == 1
    }

    fn number(&mut self) {
        self.subflows.iter_mut().filter(|s| s.is_open).zip(0..).for_each(|(s, place)| s.place = place);
    }

    /// Its record, if it ends at `end`.
    pub fn record(&self, end: Time) -> FlowRecord {
        let complete = self.passed.packets >= self.packets && self.passed.last <= end;
        let mut counters = Counters::default();
        self.subflows.iter().for_each(|s| counters += s.counters);
        FlowRecord {
            id: self.spec.id,
            bytes: if complete { self.spec.bytes } else { self.delivered() },
            complete,
            start: self.start,
            end,
            opened: self.subflows.len() as u32,
            closed: self.closed,
            counters,
        }
    }
}

/// Packets that no link will lose any more, and when the last of them arrives.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Passed {
    pub packets: u64,
    pub last: Time,
}

/// Packets that were sent together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch {
    /// Its number in its subflow.
    pub number: u32,
    pub packets: u32,
    /// Packets that have arrived, and that the receiver did not have.
    pub fresh: u32,
    /// Marked packets that its ACKs tell of: those of the batch before, then its own.
    pub marked: [u32; 2],
    pub lost: u32,
    /// The round trip of its first packet, ps.
    pub rtt: f64,
    /// How much longer that of its last packet is, ps.
    pub growth: f64,
    /// The time between its ACKs, a packet, ps.
    pub gap: f64,
}

/// The batch that a subflow is sending.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub packets: u32,
    pub start: Time,
    pub end: Time,
    /// Bytes per ps, into the host's port; of ACKs, into the links back.
    pub rate: f64,
    pub acks: f64,
    pub beyond: Beyond,
    /// The way of its first packet to the receiver, and its round trip, ps.
    pub forward: f64,
    pub rtt: f64,
    /// How long its packets wait behind those of their own subflow before, in a port that serves subflows in turn, ps.
    pub queue: f64,
    /// How long its packets wait there at least, because its window is more than the port sends in a round trip, ps.
    pub held: f64,
    /// How long the ACK of its first packet was thought to wait behind what the receiver's host sends, ps.
    pub behind: f64,
    /// Packets that were marked in the host's own port, and lost there, because of its own window.
    pub at_host: [u32; 2],
    /// The time between two ACKs that let a packet leave, over that between two packets at the host's port; 0 if all leave at
    /// once, below 1 if they are more than the port lets through.
    pub clocked: f64,
    /// The share of its time in which nothing is sent by packets, because the window was cut.
    pub pause: f64,
    /// By link to the receiver: its shares at the start.
    pub before: SmallVec<[Shares; 6]>,
    /// By link of the first hop, if those serve subflows in turn.
    pub turns: SmallVec<[Turn; 1]>,
}

/// What of a batch flows into each hop beyond its host's port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beyond {
    /// Bytes per ps, and since when.
    pub rate: f64,
    pub since: Time,
    /// Bytes until then.
    pub bytes: f64,
}

/// How the next batch of a subflow leaves its host.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    /// The time between two packets that ACKs allow, ps.
    pub gap: f64,
    /// Whether the last batch's ACKs came in a burst, because the first had waited longer than the last.
    pub in_burst: bool,
    /// How long the first of them waited behind what the receiver's host sent, ps.
    pub behind: f64,
    /// Bytes of batches that are over and have not flowed into the links beyond the host's port: with a negative number too many
    /// have.
    pub owed: f64,
}

/// The links of a subflow; none while no path leads to the other host.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// Those that data flows through, then those of the ACKs.
    pub links: SmallVec<[u32; 12]>,
    /// How many of them data flows through.
    pub hops: usize,
    /// From the first bit of a packet to its last at the far end, on empty links, ps; and of an ACK.
    pub base: [f64; 2],
    /// The time between two packets at the slowest link, ps.
    pub least_gap: f64,
    /// Whether a link loses packets by chance.
    pub loses: bool,
    /// If packets are divided over several paths: the hop and the share of packets of each link. Otherwise empty: all take
    /// all links.
    pub shares: Box<[(u16, f32)]>,
}

impl Way {
    /// The share of packets that take the link in this place.
    #[inline]
    pub fn share(&self, place: usize) -> f64 {
        self.shares.get(place).map_or(1.0, |&(_, share)| share.into())
    }

    /// The hop, there or back, that the link in this place is of.
    #[inline]
    pub fn hop(&self, place: usize) -> usize {
        let all = if place < self.hops { place } else { place - self.hops };
        self.shares.get(place).map_or(all, |&(hop, _)| hop.into())
    }

    /// The hops of a packet and its ACK.
    pub fn length(&self) -> u64 {
        if self.shares.is_empty() {
            return self.links.len() as u64;
        }
        self.shares.iter().map(|&(_, share)| f64::from(share)).sum::<f64>().round() as u64
    }

    /// The time between two packets of `bytes` that the links of the first hop let through together, ps.
    #[inline]
    pub fn first_gap(&self, links: &Links, bytes: f64) -> f64 {
        self.first_hop().fold(0.0, |gap, (link, share)| {
            let rate = links.fair(link).map_or_else(|| links[link].rate(), FairPort::offer);
            f64::max(gap, bytes * share / rate)
        })
    }

    /// How long packets of these bytes wait in their host's port at most, ps, if that serves subflows in turn and leaves
    /// the time `first` between two of a subflow: the others wait in the socket (`tcp_small_queue_check`). `None`: any time.
    pub fn port_room(
        &self,
        links: &Links,
        config: &Config,
        is_tcp: bool,
        [bytes, first]: [f64; 2],
    ) -> Option<f64> {
        links.fair(*self.links.first()?)?;
        let most = config.port_limit as f64 / bytes * first;
        let paced = if is_tcp { PACED * MILLISECOND as f64 } else { f64::INFINITY };
        Some(paced.min(most).max(2.0 * first))
    }

    /// The links of the first hop, and the share of packets that takes each.
    pub fn first_hop(&self) -> impl Iterator<Item = (u32, f64)> {
        let first = (0..self.hops).take_while(|&place| self.hop(place) == 0);
        first.map(|place| (self.links[place], self.share(place)))
    }

    /// The links that data flows through.
    pub fn there(&self) -> &[u32] {
        &self.links[..self.hops]
    }
}

/// Packets that were heard of last and have arrived, and between which times their ACKs come.
#[derive(Debug, Default)]
pub(crate) struct Acks {
    pub packets: u32,
    pub since: Time,
    pub until: Time,
}

/// What a subflow has lost, and how it repairs it.
#[derive(Debug, Default)]
pub(crate) struct Repair {
    /// Lost packets that are not yet to be sent again.
    pub holes: u32,
    /// Packets that have arrived since the first hole.
    pub since: u32,
    /// The batch with which the last repaired hole was sent again, if that has been: its ACK is the first that may show the
    /// next one. The greatest number until then; none outside a recovery.
    pub answer: Option<u32>,
    /// ACKs for packets beyond a hole that show it.
    pub duplicates: u32,
    /// Packets to be sent again.
    pub resend: u32,
    /// Lost packets wait for the timer, because fast retransmission repairs one. Until then all ACKs are duplicates, each of
    /// which lets a packet leave, and the window does not grow.
    pub stalled: bool,
    /// Packets that count as in flight until then, lost or not.
    pub forgotten: u32,
    /// Packets until fast retransmission may repair another one, if the transport does that once a window (RFC 6582 §3.2
    /// step 2).
    pub once: u32,
    /// The number of the timer that counts.
    pub timer: u32,
    /// Timeouts in a row.
    pub backoff: u32,
}

/// What the receiver's ACKs are about to say.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    /// Whether the last packet that arrived was marked.
    pub was_marked: bool,
    /// The ACK of the only packet in flight waits for another packet, or for the receiver's timer.
    pub held: bool,
    /// Marked packets of the second half of the last batch, if it took a round.
    pub late: u32,
    /// The share by which the window was cut for a mark, if nothing has been sent since.
    pub cut: f64,
}

/// Round trips, ps (RFC 6298 §2).
#[derive(Debug, Default)]
pub(crate) struct Rtt {
    /// 0 before there is a sample.
    pub smoothed: f64,
    pub variation: f64,
}

impl Rtt {
    /// One more round trip.
    pub fn sample(&mut self, rtt: f64) {
        if self.smoothed == 0.0 {
            (self.smoothed, self.variation) = (rtt, rtt / 2.0);
        } else {
            self.variation += ((self.smoothed - rtt).abs() - self.variation) / 4.0;
            self.smoothed += (rtt - self.smoothed) / 8.0;
        }
    }
}

impl Subflow {
    /// Packets whose ACKs have come by `now`: those of a batch come one after the other.
    pub fn arrived_by(&self, now: Time) -> u64 {
        if now >= self.acks.until {
            return self.arrived;
        }
        let left = (self.acks.until - now) as f64 / (self.acks.until - self.acks.since) as f64;
        self.arrived - (f64::from(self.acks.packets) * left) as u64
    }
}

/// A subflow.
#[derive(Debug)]
pub(crate) struct Subflow {
    pub way: Way,
    /// Which of the paths between the hosts it takes.
    pub choice: PathChoice,
    /// The way that its next batch takes, if links have changed.
    pub moves: Option<Box<Way>>,
    /// Whether it may send: its handshake is complete, and it was not closed.
    pub is_open: bool,
    /// Its place among those that are open.
    pub place: usize,
    /// A round trip of its handshake, ps; 0: it has none.
    pub shake: f64,
    pub takes_data: bool,
    /// Whether the window, not the data, limited what was sent last.
    pub limited: bool,
    pub echo: Echo,
    /// Packets in flight.
    pub in_flight: u32,
    pub rtt: Rtt,
    /// The number of the next batch.
    pub next: u32,
    pub leaving: Leaving,
    pub last_sent: Time,
    /// When the first ACK of the last batch arrives, if that is known.
    pub acked_at: Time,
    pub acks: Acks,
    /// Packets that have arrived.
    pub arrived: u64,
    pub outgoing: Option<Outgoing>,
    /// The batches in flight, the oldest first.
    pub batches: VecDeque<Batch>,
    pub repair: Repair,
    pub pieces: Pieces,
    pub counters: Counters,
}
