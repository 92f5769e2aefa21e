//! A sender and a receiver joined by a pipe for each subflow: a chosen delay, chosen losses, chosen
//! marks, no queue. It keeps a record of all that passes, so that a test can say what it expects.

use std::collections::BTreeMap;
use std::sync::Arc;

use tresse_controllers::{ConfiguredController, State, find};
use tresse_transport::tcp::{Receiver, Sender};
use tresse_transport::{Ack, Config, Gro, Segment, Transmit};
use tresse_units::{NEVER, Time};

pub const MICROSECOND: Time = 1_000_000;
pub const MILLISECOND: Time = 1_000_000_000;
pub const SECOND: Time = 1_000_000_000_000;

/// Payload of a full segment.
pub const MSS: u32 = 1460;

/// NewReno, immediate cuts, a window of 10, an ACK for every packet: the basis of most scenarios.
pub fn config() -> Config {
    Config { ecn: true, ..Config::default() }
}

/// A built-in controller with its defaults.
pub fn scheme(name: &str) -> Arc<ConfiguredController> {
    let controller = find(name).expect("it is built in");
    Arc::new(ConfiguredController::new(controller, []).expect("defaults lie in their ranges"))
}

/// A sender of `segments` full segments on `subflows` subflows.
pub fn sender(config: Config, subflows: usize, segments: u32) -> Sender {
    Sender::new(config, scheme("reno"), subflows, u64::from(segments) * u64::from(MSS))
}

/// A data packet on subflow 0 that carries segment `seq` of the only subflow.
pub fn data(seq: u32, stamp: Time) -> Segment {
    Segment { stamp: stamp.into(), seq, dsn: seq, last: false, cwr: false, again: false, acked: 0 }
}

/// An ACK that expects `seq` next, for a packet sent at `stamp`, and echoes `ce`.
pub fn ack(seq: u32, stamp: Time, ce: u8) -> Ack {
    Ack { stamp: stamp.into(), seq, ce, ..Ack::default() }
}

/// The header of a segment that is sent.
pub fn header(t: &Transmit) -> Segment {
    *t.segment().expect("a segment of TCP")
}

/// Everything that the sender has to send now, as (subflow, seq).
pub fn poll(sender: &mut Sender, now: Time) -> Vec<(usize, u32)> {
    std::iter::from_fn(|| sender.poll_transmit(now)).map(|t| (t.subflow, header(&t).seq)).collect()
}

/// The fate of a packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Pass,
    /// Marked CE; an ACK just passes.
    Mark,
    Drop,
    /// It arrives twice.
    Twice,
    /// It takes this much longer, and others may pass it.
    Late(Time),
}

/// A data packet that was sent.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    pub now: Time,
    pub subflow: usize,
    pub seq: u32,
    pub dsn: u32,
    pub payload: u32,
    pub cwr: bool,
    /// 1 for the first transmission.
    pub attempt: u32,
}

/// The state of a subflow after an ACK or a timeout has been handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    pub now: Time,
    pub subflow: usize,
    pub timeout: bool,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub state: State,
}

/// One subflow's path: one-way delay, and the time between two data packets of a burst.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    pub delay: Time,
    pub gap: Time,
}

#[derive(Debug, Clone, Copy)]
enum OnWay {
    Data(Segment, bool),
    Ack(Ack),
}

type DataFate = Box<dyn FnMut(&Sent) -> Fate>;
type AckFate = Box<dyn FnMut(&Ack) -> Fate>;

pub struct Pipe {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Time,
    /// Every data packet that was sent.
    pub data: Vec<Sent>,
    /// Every ACK that was sent, and when.
    pub acks: Vec<(Time, Ack)>,
    pub trace: Vec<Sample>,
    /// Marked data packets that arrived.
    pub marks: u64,
    links: Vec<Link>,
    /// When the last data packet of each subflow has left.
    busy: Vec<Time>,
    /// By arrival and number, with the subflow.
    on_way: BTreeMap<(Time, u64), (usize, OnWay)>,
    packets: u64,
    /// The receiver merges segments.
    gro: bool,
    attempts: BTreeMap<(usize, u32), u32>,
    data_fate: DataFate,
    ack_fate: AckFate,
}

impl Pipe {
    pub fn new(config: Config, scheme: &Arc<ConfiguredController>, links: &[Link], bytes: u64) -> Self {
        Self {
            sender: Sender::new(config, scheme.clone(), links.len(), bytes),
            receiver: Receiver::new(config, links.len(), bytes),
            now: 0,
            data: Vec::new(),
            acks: Vec::new(),
            trace: Vec::new(),
            marks: 0,
            links: links.to_vec(),
            busy: vec![0; links.len()],
            on_way: BTreeMap::new(),
            packets: 0,
            gro: config.gro != Gro::OFF,
            attempts: BTreeMap::new(),
            data_fate: Box::new(|_| Fate::Pass),
            ack_fate: Box::new(|_| Fate::Pass),
        }
    }

    /// One Reno subflow with an RTT of 1 ms on which packets follow each other by 1 us.
    pub fn single(config: Config, segments: u32) -> Self {
        let link = Link { delay: 500 * MICROSECOND, gap: MICROSECOND };
        Self::new(config, &scheme("reno"), &[link], u64::from(segments) * u64::from(MSS))
    }

    /// Sets the fates of data packets.
    pub fn data_fate(mut self, fate: impl FnMut(&Sent) -> Fate + 'static) -> Self {
        self.data_fate = Box::new(fate);
        self
    }

    /// Sets the fates of ACKs.
    pub fn ack_fate(mut self, fate: impl FnMut(&Ack) -> Fate + 'static) -> Self {
        self.ack_fate = Box::new(fate);
        self
    }

    /// Drops the first `times` transmissions of some segments.
    pub fn lose(self, lost: &[(u32, u32)]) -> Self {
        let lost = lost.to_vec();
        self.data_fate(move |s| {
            let drop = lost.iter().any(|&(seq, times)| s.seq == seq && s.attempt <= times);
            if drop { Fate::Drop } else { Fate::Pass }
        })
    }

    /// Runs until the message has arrived; panics if that is not before `limit`.
    pub fn run(mut self, limit: Time) -> Self {
        self.transmit();
        while !self.receiver.messages().complete() {
            assert!(self.step(), "nothing will happen any more, and the message has not arrived");
            assert!(self.now <= limit, "not complete by {limit}");
        }
        self
    }

    /// Continues after `run` until nothing happens any more.
    pub fn settle(mut self, limit: Time) -> Self {
        while self.step() {
            assert!(self.now <= limit, "not quiet by {limit}");
        }
        self
    }

    /// Handles the next event; false if there is none.
    pub fn step(&mut self) -> bool {
        let subflows = self.links.len();
        let timers = (0..subflows)
            .map(|i| (self.sender.deadline(i), i, false))
            .chain((0..subflows).map(|i| (self.receiver.deadline(i), i, true)));
        let (deadline, i, of_receiver) = timers.min().expect("at least one subflow");
        match self.on_way.first_key_value().map(|(&key, &packet)| (key, packet)) {
            Some((key, packet)) if key.0 <= deadline => {
                self.on_way.remove(&key);
                self.now = key.0;
                let (subflow, packet) = packet;
                self.arrive(subflow, &packet);
            }
            _ if deadline == NEVER => return false,
            _ => {
                assert!(deadline >= self.now, "a deadline in the past");
                self.now = deadline;
                if of_receiver {
                    // Without receive offload every deadline has an ACK to send.
                    match self.receiver.handle_timeout(i) {
                        Some(ack) => self.send_ack(i, ack),
                        None => assert!(self.receiver.deadline(i) > self.now && self.gro),
                    }
                } else {
                    let timeouts = self.sender.counters(i).timeouts;
                    self.sender.handle_timeout(self.now, i);
                    self.transmit();
                    self.record(i, self.sender.counters(i).timeouts > timeouts);
                    assert!(self.sender.deadline(i) > self.now, "a timer that has fired is set anew");
                }
            }
        }
        true
    }

    fn arrive(&mut self, i: usize, packet: &OnWay) {
        match packet {
            OnWay::Ack(ack) => {
                self.sender.handle_ack(self.now, i, ack);
                self.transmit();
                self.record(i, false);
            }
            OnWay::Data(segment, marked) => {
                self.marks += u64::from(*marked);
                let before = self.receiver.messages().delivered();
                let acks = self.receiver.handle_data(self.now, i, segment, *marked);
                let delivered = self.receiver.messages().delivered();
                assert!(delivered >= before, "what was delivered stays delivered");
                for ack in acks.into_iter().flatten() {
                    self.send_ack(i, ack);
                }
            }
        }
    }

    /// Records the state of subflow `i`, and checks the invariants.
    fn record(&mut self, i: usize, timeout: bool) {
        let (own, counters) = (&self.sender.group()[i], self.sender.counters(i));
        assert!(own.in_flight <= self.sender.outstanding(i), "more in flight than was sent");
        assert!(u64::from(self.sender.outstanding(i)) <= counters.sent);
        assert!(own.cwnd >= 1, "a window of 0 would stand still");
        let idle = self.sender.outstanding(i) == 0;
        let paced = self.sender.config().pacing;
        let runs = self.sender.deadline(i) != NEVER;
        assert!(if idle { !runs || paced } else { runs }, "a timer runs while data is outstanding");
        self.trace.push(Sample {
            now: self.now,
            subflow: i,
            timeout,
            cwnd: own.cwnd,
            ssthresh: own.ssthresh,
            state: own.state,
        });
    }

    pub fn transmit(&mut self) {
        while let Some(t) = self.sender.poll_transmit(self.now) {
            let segment = header(&t);
            let attempt = self.attempts.entry((t.subflow, segment.seq)).or_default();
            *attempt += 1;
            let sent = Sent {
                now: self.now,
                subflow: t.subflow,
                seq: segment.seq,
                dsn: segment.dsn,
                payload: t.payload,
                cwr: segment.cwr,
                attempt: *attempt,
            };
            self.data.push(sent);
            assert!(self.data.len() < 1_000_000, "a sender that cannot stop");
            let link = self.links[t.subflow];
            self.busy[t.subflow] = self.busy[t.subflow].max(self.now) + link.gap;
            let fate = (self.data_fate)(&sent);
            let packet = OnWay::Data(segment, fate == Fate::Mark);
            self.put(t.subflow, packet, self.busy[t.subflow] + link.delay, fate);
        }
    }

    fn send_ack(&mut self, i: usize, ack: Ack) {
        self.acks.push((self.now, ack));
        let fate = (self.ack_fate)(&ack);
        self.put(i, OnWay::Ack(ack), self.now + self.links[i].delay, fate);
    }

    fn put(&mut self, i: usize, packet: OnWay, arrival: Time, fate: Fate) {
        let (copies, arrival) = match fate {
            Fate::Drop => (0, arrival),
            Fate::Pass | Fate::Mark => (1, arrival),
            Fate::Twice => (2, arrival),
            Fate::Late(more) => (1, arrival + more),
        };
        for _ in 0..copies {
            self.on_way.insert((arrival, self.packets), (i, packet));
            self.packets += 1;
        }
    }

    /// The segments that were sent again, in order, and when.
    pub fn retransmissions(&self) -> Vec<(Time, u32)> {
        self.data.iter().filter(|s| s.attempt > 1).map(|s| (s.now, s.seq)).collect()
    }

    /// When the timer of the only subflow fired.
    pub fn timeouts(&self) -> Vec<Time> {
        self.trace.iter().filter(|s| s.timeout).map(|s| s.now).collect()
    }

    /// The states of the only subflow, each once for every time that it was entered.
    pub fn states(&self) -> Vec<State> {
        let mut states = vec![State::Open];
        states.extend(self.trace.iter().map(|s| s.state));
        states.dedup();
        states
    }
}
