//! The receiving half of a TCP connection: reassembly, receive offload, delayed ACKs, the echo of CE marks.

use std::sync::Arc;

use tresse_units::{NEVER, Time};

use crate::message::Incoming;
use crate::reassembly::Reassembly;
use crate::tcp::ranges::Ranges;
use crate::tcp::space::Space;
use crate::{Ack, Block, BufferRule, Config, Echo, Gro, ReceiveBuffer, Recovery, Segment, Stamp};

/// The receiving half of a TCP connection.
// What every packet needs comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    config: Arc<Config>,
    subflows: Vec<Subflow>,
    pub(crate) messages: Incoming,
    /// The newest DATA_ACK that it has sent.
    told: u32,
    /// When it can say so many segments more, it does at once.
    opens: u32,
    /// With a buffer that grows.
    space: Option<Box<Space>>,
    duplicates: u64,
}

#[derive(Debug, Clone)]
#[repr(C)]
struct Subflow {
    /// The next segment in order.
    next: u32,
    /// Packets that no ACK covers yet.
    pending: u32,
    /// Segments that are still ACKed one by one.
    quick: u32,
    /// CE marks that no ACK has reported yet (XMP's cnt_ce).
    marks: u32,
    /// The timestamp of the first packet that no ACK covers.
    stamp: Stamp,
    deadline: Time,
    /// When the last packet came.
    heard: Time,
    /// The last packet was marked; with RFC 3168's echo: ECE is on until CWR.
    ece: bool,
    /// The message's last segment arrived on this subflow.
    last: bool,
    /// The data that the last packet brought a second time (RFC 2883).
    duplicate: Option<Block>,
    merged: Merged,
    out_of_order: Ranges,
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
    /// The other end of a [`Sender`](crate::tcp::Sender) with the same arguments.
    pub fn new(config: impl Into<Arc<Config>>, subflows: usize, bytes: u64) -> Self {
        let config = config.into();
        Self {
            subflows: vec![Subflow::new(&config); subflows],
            messages: Incoming::new(bytes, config.mss),
            duplicates: 0,
            told: 0,
            opens: opens(&config),
            space: space(&config, subflows),
            config,
        }
    }

    /// Opens one more subflow: its number, the next that was not used yet.
    pub fn open(&mut self) -> usize {
        self.subflows.reserve_exact(1);
        self.subflows.push(Subflow::new(&self.config));
        self.space.iter_mut().for_each(|space| space.open());
        self.subflows.len() - 1
    }

    /// A segment has arrived on `subflow`, marked CE or not. Returns the ACKs that it calls for, in this order.
    #[inline]
    pub fn handle_data(
        &mut self,
        now: Time,
        subflow: usize,
        segment: &Segment,
        ce: bool,
    ) -> [Option<Ack>; 2] {
        let mut acks = [None; 2];
        let missing = self.messages.data.next();
        let s = &mut self.subflows[subflow];
        if s.merged.count > 0
            && (segment.seq != s.merged.end || ce != s.merged.ce)
            && s.flush(now, &self.config)
        {
            acks[0] = Some(s.ack(missing, &self.config));
            self.told = missing;
        }
        let changed = match self.config.echo {
            Echo::Dctcp => {
                let changed = ce != s.ece;
                if changed && s.pending > 0 {
                    // RFC 8257 §3.2: the packets before the change get a separate ACK.
                    acks[0] = Some(s.ack(missing, &self.config));
                    self.told = missing;
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
                    acks[0] = Some(s.ack(missing, &self.config));
                    self.told = missing;
                }
                s.marks += u32::from(ce);
                changed
            }
            Echo::Rfc3168 => {
                let changed = ce && !s.ece;
                s.ece = ce || (s.ece && !segment.cwr);
                changed
            }
        };
        let before = self.duplicates;
        let in_order = s.accept(segment, &mut self.messages.data, &mut self.duplicates);
        let duplicate = self.duplicates > before;
        if self.config.recovery == Recovery::Rack && duplicate {
            s.note_duplicate(segment.seq);
        }
        let rule = &self.config.delayed_ack;
        if rule.quick_again && (duplicate || now - s.heard > self.config.rto_min) {
            s.quick = rule.quick;
        }
        s.heard = now;
        s.pending += 1;
        if s.pending == 1 {
            s.stamp = segment.stamp;
        }
        let last = segment.last;
        s.last |= last;
        let next = self.messages.data.next();
        let mut opened = next - self.told >= self.opens;
        if let Some(space) = &mut self.space {
            space.hear(now, subflow, segment.acked);
            opened = space.take(now, next - missing, next, self.messages.data.arrived() - next);
        }
        let urgent = !in_order | changed | last | opened;
        let gro = &self.config.gro;
        let due = if gro.segments == 1 {
            s.tell(now, urgent, &self.config)
        } else {
            s.merged.urgent |= urgent;
            (s.merge(now, segment.seq, ce, gro) || last) && s.flush(now, &self.config)
        };
        if due {
            acks[1] = Some(s.ack(next, &self.config));
            self.told = next;
        }
        if let Some(space) = &mut self.space {
            acks.iter_mut().flatten().for_each(|ack| ack.window = space.tell(now, subflow, ack.seq, ack.dsn));
        }
        acks
    }

    /// Calls `fetch` with the addresses of the cache lines, other than its own, that data on `subflow` will touch.
    #[inline]
    pub fn for_each_line(&self, subflow: usize, fetch: impl Fn(*const u8)) {
        let own: *const u8 = self.subflows.as_ptr().wrapping_add(subflow).cast();
        (0..3).for_each(|line| fetch(own.wrapping_add(64 * line)));
        fetch(self.messages.data.line());
    }

    /// The transport that it runs.
    #[inline]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The deadline of `subflow` has passed. Returns the ACK, if there is one to send.
    pub fn handle_timeout(&mut self, subflow: usize) -> Option<Ack> {
        let now = self.deadline(subflow);
        let s = &mut self.subflows[subflow];
        let poll = s.merged.poll;
        let due = if poll < s.deadline {
            s.merged.next_poll = poll + self.config.gro.interval;
            s.flush(poll, &self.config)
        } else {
            s.pending > 0
        };
        due.then(|| {
            self.told = self.messages.data.next();
            let mut ack = s.ack(self.told, &self.config);
            if let Some(space) = &mut self.space {
                ack.window = space.tell(now, subflow, ack.seq, ack.dsn);
            }
            ack
        })
    }

    /// When the next poll or the delayed ACK of `subflow` is due; `NEVER` if no packet waits.
    #[inline]
    pub fn deadline(&self, subflow: usize) -> Time {
        let s = &self.subflows[subflow];
        s.deadline.min(s.merged.poll)
    }

    /// The messages and the data that has arrived.
    pub fn messages(&self) -> &Incoming {
        &self.messages
    }

    /// As [`Self::messages`], to add one or to take one.
    pub fn messages_mut(&mut self) -> &mut Incoming {
        &mut self.messages
    }

    /// Payload that has arrived on `subflow`, bytes, in order or not; duplicates count once. With several
    /// messages, the last segments of all but the last message count as full ones.
    pub fn arrived(&self, subflow: usize) -> u64 {
        let s = &self.subflows[subflow];
        self.messages.payload(s.next + s.out_of_order.segments(), s.last)
    }

    /// Segments that arrived more than once on their subflow; data that came on two subflows is not counted.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }
}

/// Half of a fixed receive buffer: if the window has moved by that since the last ACK, the sender may wait for it, and is told at
/// once (RFC 9293 §3.8.6.2.2). Linux does so when the free part has doubled (`mptcp_cleanup_rbuf`).
fn opens(config: &Config) -> u32 {
    let fixed = config.receive_buffer.filter(|buffer| buffer.rule == BufferRule::Fixed);
    fixed.map_or(u32::MAX, |buffer| buffer.segments(config.mss).div_ceil(2))
}

fn space(config: &Config, subflows: usize) -> Option<Box<Space>> {
    let buffer = config.receive_buffer?;
    let BufferRule::Linux { most } = buffer.rule else { return None };
    let most = ReceiveBuffer { bytes: most, ..buffer }.segments(config.mss);
    Some(Box::new(Space::new(buffer.segments(config.mss), most, subflows)))
}

impl Subflow {
    fn new(config: &Config) -> Self {
        Self {
            next: 0,
            pending: 0,
            stamp: Stamp::default(),
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
    fn accept(&mut self, segment: &Segment, data: &mut Reassembly, duplicates: &mut u64) -> bool {
        if segment.seq == self.next {
            data.insert(segment.dsn);
            if self.out_of_order.is_empty() {
                self.next += 1;
                return true;
            }
            self.next = self.out_of_order.take_from(segment.seq + 1);
            return false; // it fills a gap: RFC 5681 §4.2
        }
        if segment.seq > self.next && self.out_of_order.insert(segment.seq) {
            data.insert(segment.dsn);
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
    fn ack(&mut self, missing: u32, config: &Config) -> Ack {
        let ce = match config.echo {
            Echo::TwoBit => self.marks.min(3),
            Echo::Dctcp | Echo::Rfc3168 => u32::from(self.ece),
        };
        // At a change of CE, `ece` reports DCTCP's marks; only XMP counts them down.
        self.marks -= if config.echo == Echo::TwoBit { ce } else { 0 };
        if self.merged.count > 0 {
            self.end_merge();
        }
        self.pending = 0;
        self.deadline = NEVER;
        let mut ack = Ack { stamp: self.stamp, seq: self.next, dsn: missing, ce: ce as u8, ..Ack::default() };
        if config.recovery.uses_sack() && !self.out_of_order.is_empty() {
            (ack.blocks, ack.count) = self.out_of_order.blocks();
        }
        if let Some(duplicate) = self.duplicate.take() {
            ack.push_front(duplicate);
        }
        ack
    }
}
