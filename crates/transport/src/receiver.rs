//! The receiving half of a connection: reassembly, receive offload, delayed ACKs, the echo of CE marks.

use std::sync::Arc;

use tresse_units::{NEVER, Time};

use crate::message::{Message, Messages};
use crate::ranges::Ranges;
use crate::reassembly::Reassembly;
use crate::spray;
use crate::{Block, Config, Echo, Gro, Recovery, Wire};

/// The ACKs that a packet calls for, in this order: up to two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Acks(pub [Option<Wire>; 2]);

/// The receiving half of a connection.
#[derive(Debug)]
pub struct Receiver {
    config: Arc<Config>,
    data: Reassembly,
    message: Message,
    /// The messages after it ([`Receiver::append`]).
    later: Option<Box<Messages>>,
    /// Nothing is awaited: all messages were taken.
    is_idle: bool,
    duplicates: u64,
    subflows: Vec<Subflow>,
    /// The state of a sprayed connection.
    spray: Option<Box<spray::Receiver>>,
}

#[derive(Debug, Clone)]
struct Subflow {
    /// The next segment in order.
    next: u32,
    /// Packets that no ACK covers yet.
    pending: u32,
    /// The timestamp of the first of them.
    stamp: Time,
    /// Segments that are still ACKed one by one.
    quick: u32,
    /// CE marks that no ACK has reported yet (XMP's cnt_ce).
    marks: u32,
    /// The last packet was marked; with RFC 3168's echo: ECE is on until CWR.
    ece: bool,
    /// The message's last segment arrived on this subflow.
    last: bool,
    deadline: Time,
    out_of_order: Ranges,
    /// The data that the last packet brought a second time (RFC 2883).
    duplicate: Option<Block>,
    /// When the last packet came.
    heard: Time,
    merged: Merged,
}

/// Segments that wait in the network card for the next poll.
#[derive(Debug, Clone)]
struct Merged {
    count: u32,
    /// The segment after them, and whether they are marked CE.
    end: u32,
    ce: bool,
    /// One of them calls for an ACK at once.
    urgent: bool,
    /// When they are polled.
    poll: Time,
    /// The earliest time of the next poll.
    next_poll: Time,
}

impl Receiver {
    /// The other end of a [`crate::Sender`] with the same arguments.
    pub fn new(config: impl Into<Arc<Config>>, subflows: usize, bytes: u64) -> Self {
        let config = config.into();
        Self {
            subflows: vec![Subflow::new(&config); subflows],
            data: Reassembly::default(),
            message: Message::first(bytes, config.mss),
            later: None,
            is_idle: false,
            duplicates: 0,
            spray: config.sprayed.then(|| Box::new(spray::Receiver::new())),
            config,
        }
    }

    /// One more message of `bytes`, as [`crate::Sender::append`].
    ///
    /// # Panics
    /// As there.
    pub fn append(&mut self, bytes: u64) {
        let Messages(later) = &mut **self.later.get_or_insert_default();
        let last = later.back().unwrap_or(&self.message);
        later.push_back(last.next(bytes, self.config.mss));
        if self.is_idle {
            self.take_message();
        }
    }

    /// The application takes the message that has arrived, or gives it up; the next one is awaited, if there is one.
    pub fn take_message(&mut self) {
        let next = self.later.as_mut().and_then(|later| later.0.pop_front());
        self.is_idle = next.is_none();
        self.message = next.unwrap_or(self.message);
    }

    /// Opens one more subflow: its number, the next that was not used yet.
    pub fn open(&mut self) -> usize {
        self.subflows.reserve_exact(1);
        self.subflows.push(Subflow::new(&self.config));
        self.subflows.len() - 1
    }

    /// A data packet has arrived on `subflow`, marked CE or not.
    #[inline]
    pub fn handle_data(&mut self, now: Time, subflow: usize, wire: &Wire, ce: bool) -> Acks {
        if self.spray.is_some() {
            return self.handle_sprayed(now, wire, ce);
        }
        let mut acks = Acks::default();
        let missing = self.data.next();
        let s = &mut self.subflows[subflow];
        if s.merged.count > 0 && (wire.seq != s.merged.end || ce != s.merged.ce) && s.flush(now, &self.config)
        {
            acks.0[0] = Some(s.ack(wire.subflow, missing, &self.config));
        }
        let changed = match self.config.echo {
            Echo::Dctcp => {
                let changed = ce != s.ece;
                if changed && s.pending > 0 {
                    // RFC 8257 §3.2: the packets before the change get a separate ACK.
                    acks.0[0] = Some(s.ack(wire.subflow, missing, &self.config));
                }
                s.ece = ce;
                changed
            }
            Echo::TwoBit => {
                let changed = ce != s.ece;
                s.ece = ce;
                if changed && s.pending > 0 {
                    // As above: a mark of this window must not come with an ACK for the next one,
                    // where the sender would take it for a second event.
                    acks.0[0] = Some(s.ack(wire.subflow, missing, &self.config));
                }
                s.marks += u32::from(ce);
                changed
            }
            Echo::Rfc3168 => {
                let changed = ce && !s.ece;
                s.ece = ce || (s.ece && wire.flags & Wire::CWR == 0);
                changed
            }
        };
        let before = self.duplicates;
        let in_order = s.accept(wire, &mut self.data, &mut self.duplicates);
        let duplicate = self.duplicates > before;
        if self.config.recovery == Recovery::Rack && duplicate {
            s.note_duplicate(wire.seq);
        }
        let rule = &self.config.delayed_ack;
        if rule.quick_again && (duplicate || now - s.heard > self.config.rto_min) {
            s.quick = rule.quick;
        }
        s.heard = now;
        s.pending += 1;
        if s.pending == 1 {
            s.stamp = wire.stamp;
        }
        let last = wire.flags & Wire::LAST != 0;
        s.last |= last;
        let urgent = !in_order || changed || last;
        let gro = &self.config.gro;
        let due = if gro.segments == 1 {
            s.tell(now, urgent, &self.config)
        } else {
            s.merged.urgent |= urgent;
            (s.merge(now, wire.seq, ce, gro) || last) && s.flush(now, &self.config)
        };
        if due {
            acks.0[1] = Some(s.ack(wire.subflow, self.data.next(), &self.config));
        }
        acks
    }

    fn handle_sprayed(&mut self, now: Time, wire: &Wire, ce: bool) -> Acks {
        let Some(spray) = &mut self.spray else { return Acks::default() };
        let new = self.data.insert(wire.dsn);
        self.duplicates += u64::from(!new);
        let ack = spray.handle_data(now, wire, ce, new, &self.data, &self.config.delayed_ack);
        Acks([ack, None])
    }

    /// The header of a packet of a sprayed connection has arrived; `last_hop`: the port that trimmed it leads
    /// here. Returns the NACK; `None` if the connection is not sprayed.
    pub fn handle_trimmed(&mut self, wire: &Wire, last_hop: bool) -> Option<Wire> {
        let spray = self.spray.as_mut()?;
        Some(spray.handle_trimmed(wire, last_hop, &self.data))
    }

    /// The transport that it runs.
    #[inline]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The deadline of `subflow` has passed. Returns the ACK, if there is one to send. `name` is the host's
    /// name for the subflow.
    pub fn handle_timeout(&mut self, subflow: usize, name: u32) -> Option<Wire> {
        if let Some(spray) = &mut self.spray {
            return spray.handle_timeout(name, &self.data);
        }
        let s = &mut self.subflows[subflow];
        let poll = s.merged.poll;
        let due = if poll < s.deadline {
            s.merged.next_poll = poll + self.config.gro.interval;
            s.flush(poll, &self.config)
        } else {
            s.pending > 0
        };
        due.then(|| s.ack(name, self.data.next(), &self.config))
    }

    /// When the next poll or the delayed ACK of `subflow` is due; `NEVER` if no packet waits.
    #[inline]
    pub fn deadline(&self, subflow: usize) -> Time {
        if let Some(spray) = &self.spray {
            return spray.deadline;
        }
        let s = &self.subflows[subflow];
        s.deadline.min(s.merged.poll)
    }

    /// Whether the whole message has arrived, and was not taken.
    #[inline]
    pub fn complete(&self) -> bool {
        self.data.next() >= self.message.end && !self.is_idle
    }

    /// Segments that were delivered to the application, in order.
    pub fn delivered(&self) -> u32 {
        self.data.next()
    }

    /// Whether all of the message may have arrived with `more` segments; never if none is awaited.
    pub fn may_end_with(&self, more: i64) -> bool {
        i64::from(self.message.end) - i64::from(self.data.arrived()) <= more && !self.is_idle
    }

    /// Segments of the message, and of those before it, that have arrived on any subflow, in order or not.
    #[inline]
    pub fn distinct(&self) -> u32 {
        self.data.arrived()
    }

    /// Segments of the message, or of later ones, that have arrived.
    pub fn distinct_of_message(&self) -> u32 {
        self.data.arrived().saturating_sub(self.message.start)
    }

    /// Payload that has arrived on `subflow`, bytes, in order or not; duplicates count once. With several
    /// messages, the last segments of all but the last message count as full ones.
    pub fn arrived(&self, subflow: usize) -> u64 {
        let s = &self.subflows[subflow];
        let (segments, last) = match self.spray {
            Some(_) => (self.data.arrived(), self.complete()),
            None => (s.next + s.out_of_order.segments(), s.last),
        };
        u64::from(segments) * u64::from(self.config.mss)
            - if last { u64::from(self.message.short) } else { 0 }
    }

    /// Segments that arrived more than once on their subflow; data that came on two subflows is not counted.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }
}

impl Subflow {
    fn new(config: &Config) -> Self {
        Self {
            next: 0,
            pending: 0,
            stamp: 0,
            quick: config.delayed_ack.quick,
            marks: 0,
            ece: false,
            last: false,
            deadline: NEVER,
            out_of_order: Ranges::default(),
            duplicate: None,
            heard: 0,
            merged: Merged { count: 0, end: 0, ce: false, urgent: false, poll: NEVER, next_poll: 0 },
        }
    }

    /// Takes a segment in. Returns whether it came in order, with nothing waiting behind it.
    #[inline]
    fn accept(&mut self, wire: &Wire, data: &mut Reassembly, duplicates: &mut u64) -> bool {
        if wire.seq == self.next {
            data.insert(wire.dsn);
            if self.out_of_order.is_empty() {
                self.next += 1;
                return true;
            }
            self.next = self.out_of_order.take_from(wire.seq + 1);
            return false; // it fills a gap: RFC 5681 §4.2
        }
        if wire.seq > self.next && self.out_of_order.insert(wire.seq) {
            data.insert(wire.dsn);
        } else {
            *duplicates += 1;
        }
        false
    }

    /// A segment joins those that wait for the next poll. Returns whether they go to TCP now.
    #[inline]
    fn merge(&mut self, now: Time, seq: u32, ce: bool, gro: &Gro) -> bool {
        let m = &mut self.merged;
        if m.count == 0 {
            m.poll = now.max(m.next_poll);
        }
        m.count += 1;
        (m.end, m.ce) = (seq + 1, ce);
        if m.poll <= now {
            m.next_poll = now.saturating_add(gro.interval);
            return true;
        }
        m.count >= gro.segments
    }

    /// TCP gets the merged segments. Returns whether an ACK is due.
    #[inline]
    fn flush(&mut self, now: Time, config: &Config) -> bool {
        let urgent = self.merged.urgent;
        self.end_merge();
        self.tell(now, urgent, config)
    }

    /// TCP gets segments that no ACK covers yet. Returns whether an ACK is due. If not, the delayed ACK's
    /// timer runs.
    #[inline]
    fn tell(&mut self, now: Time, urgent: bool, config: &Config) -> bool {
        let rule = &config.delayed_ack;
        let due = self.pending >= rule.every || urgent || self.quick > 0;
        self.quick = self.quick.saturating_sub(1);
        if !due && self.deadline == NEVER {
            self.deadline = now.saturating_add(rule.timer);
        }
        due
    }

    #[inline]
    fn end_merge(&mut self) {
        (self.merged.count, self.merged.urgent, self.merged.poll) = (0, false, NEVER);
    }

    /// RFC 2883 §4: the segments of the last packet that had arrived before.
    fn note_duplicate(&mut self, seq: u32) {
        let start = self.duplicate.filter(|b| b.end == seq).map_or(seq, |b| b.start);
        self.duplicate = Some(Block { start, end: seq + 1 });
    }

    /// An ACK for all that has arrived; `missing` is the first data of the connection that has not.
    #[inline]
    fn ack(&mut self, name: u32, missing: u32, config: &Config) -> Wire {
        let ce = match config.echo {
            Echo::TwoBit => self.marks.min(3),
            Echo::Dctcp | Echo::Rfc3168 => u32::from(self.ece),
        };
        // At a change of CE, `ece` reports DCTCP's marks; only XMP counts them down.
        self.marks -= if config.echo == Echo::TwoBit { ce } else { 0 };
        let (mut blocks, mut block_count) = if config.recovery.uses_sack() && !self.out_of_order.is_empty() {
            self.out_of_order.blocks()
        } else {
            Default::default()
        };
        if let Some(duplicate) = self.duplicate.take() {
            blocks = [duplicate, blocks[0], blocks[1]];
            block_count = (block_count + 1).min(3);
        }
        if self.merged.count > 0 {
            self.end_merge();
        }
        self.pending = 0;
        self.deadline = NEVER;
        Wire {
            subflow: name,
            seq: self.next,
            dsn: missing,
            flags: Wire::ACK,
            ce: ce as u8,
            block_count,
            stamp: self.stamp,
            blocks,
        }
    }
}
