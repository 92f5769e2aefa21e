//! One path: translates noq's reports about it into the hooks of its controller.

use std::time::{Duration, Instant};

use tresse_controllers::{
    Ack, CWND_LIMIT, Cause, Group, Hooks, INFINITE_SSTHRESH, SRTT_LEAST, SRTT_LIMIT, State,
};

/// An event on a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// An ACK frame has this packet; the frame's others follow.
    Acked { now: Instant, sent: Instant, bytes: u64, srtt: Duration },
    /// The end of the ACK frame; `limited` by the window, not by the application.
    EndOfAck { now: Instant, in_flight: u64, limited: bool },
    /// Packets are lost; the last of them was sent at `sent`.
    Lost { now: Instant, sent: Instant, persistent: bool },
    /// The ACK frame, whose last packet was sent at `sent`, has more marks than the one before.
    Marked { now: Instant, sent: Instant },
    /// The payload of a full UDP datagram, bytes.
    PacketSize(u16),
}

/// The packets of an ACK frame.
#[derive(Debug, Clone, Copy)]
struct Frame {
    bytes: u64,
    /// The bytes of packets that may raise the window.
    growing: u64,
    newest: Instant,
    rtt: Duration,
    srtt: Duration,
}

/// An ACK frame that may still reveal a loss or a mark.
#[derive(Debug)]
struct Held {
    frame: Frame,
    now: Instant,
    in_flight: u64,
    limited: bool,
}

#[derive(Debug)]
pub(crate) struct Path {
    id: u64,
    made: Instant,
    /// The ACK frame being read.
    frame: Option<Frame>,
    held: Option<Held>,
    /// Acknowledged bytes that do not make a whole packet yet: those delivered, and those of them that may
    /// raise the window.
    delivered_rest: u64,
    growing_rest: u64,
    /// A packet sent from here on begins the next round.
    round: Instant,
    /// A round has begun that was not reported to `ack`, or to `grow`.
    new_to_ack: bool,
    new_to_grow: bool,
    /// When the window was last cut. Packets sent before are no reason for another cut.
    cut: Option<Instant>,
    /// The window before that, packets.
    before: u32,
}

impl Path {
    pub fn new(id: u64, now: Instant) -> Self {
        Self {
            id,
            made: now,
            frame: None,
            held: None,
            delivered_rest: 0,
            growing_rest: 0,
            round: now,
            new_to_ack: false,
            new_to_grow: false,
            cut: None,
            before: 0,
        }
    }

    pub fn id(&self) -> u64 {
        self.id
    }

    /// `event` happens on this path, which is subflow `i` of `group`.
    pub fn tell(&mut self, group: &mut Group, i: usize, event: Event) {
        match event {
            Event::Acked { now, sent, bytes, srtt } => {
                self.settle(group, i);
                let grows = group[i].state == State::Loss || self.is_after_cut(sent);
                let rtt = now.saturating_duration_since(sent);
                let frame = self.frame.get_or_insert(Frame { bytes: 0, growing: 0, newest: sent, rtt, srtt });
                frame.bytes += bytes;
                frame.growing += if grows { bytes } else { 0 };
                if sent >= frame.newest {
                    (frame.newest, frame.rtt) = (sent, rtt);
                }
            }
            Event::EndOfAck { now, in_flight, limited } => {
                self.settle(group, i);
                self.held = self.frame.take().map(|frame| Held { frame, now, in_flight, limited });
            }
            Event::Lost { now, sent, persistent } => {
                self.handle_congestion(group, i, now, 0, |path, group| {
                    if persistent {
                        path.time_out(group, i, now, sent);
                        true
                    } else {
                        path.lose(group, i, now, sent)
                    }
                });
            }
            Event::Marked { now, sent } => {
                self.handle_congestion(group, i, now, 1, |path, group| {
                    path.is_after_cut(sent) && path.reduce(group, i, now, Cause::Mark)
                });
            }
            Event::PacketSize(bytes) => {
                self.settle(group, i);
                resize(&mut group[i], bytes.max(1).into());
            }
        }
    }

    /// The held ACK frame showed neither a loss nor a mark.
    pub fn settle(&mut self, group: &mut Group, i: usize) {
        if let Some(held) = self.held.take() {
            let ack = self.deliver(group, i, &held, 0);
            self.grow(group, i, &held, ack);
        }
    }

    /// `respond` says whether the congestion began or deepened a reduction. If not, the ACK frame that showed it may
    /// raise the window.
    fn handle_congestion(
        &mut self,
        group: &mut Group,
        i: usize,
        now: Instant,
        marked: u32,
        respond: impl FnOnce(&mut Self, &mut Group) -> bool,
    ) {
        // noq reports losses and marks of an ACK frame with the same time as the frame.
        let shown_by = self.held.take_if(|held| held.now == now);
        self.settle(group, i);
        let delivered = shown_by.map(|held| (self.deliver(group, i, &held, marked), held));
        if !respond(self, group)
            && let Some((ack, held)) = delivered
        {
            self.grow(group, i, &held, ack);
        }
    }

    fn is_after_cut(&self, sent: Instant) -> bool {
        self.cut.is_none_or(|cut| sent > cut)
    }

    fn deliver(&mut self, group: &mut Group, i: usize, held: &Held, marked: u32) -> Ack {
        let Held { frame, now, in_flight, limited } = *held;
        let own = &mut group[i];
        let rtt = eighths(frame.rtt);
        // Before its first sample noq passes the RTT that it assumes.
        own.srtt = if own.srtt == 0 { rtt } else { eighths(frame.srtt) };
        own.min_rtt = if own.min_rtt == 0 { rtt } else { own.min_rtt.min(rtt) };
        own.in_flight = in_flight.div_ceil(own.mss.into()).min(u32::MAX.into()) as u32;
        own.cwnd_limited = limited.into();
        let delivered = whole_packets(&mut self.delivered_rest, frame.bytes, own.mss);
        if frame.newest >= self.round {
            self.round = now;
            (self.new_to_ack, self.new_to_grow) = (true, true);
        }
        let us = now.saturating_duration_since(self.made).as_micros() as u64;
        let mut ack = Ack { delivered, marked, rtt, new_round: 0, now: us };
        if delivered > 0 {
            ack.new_round = std::mem::take(&mut self.new_to_ack).into();
            group.ack(i, &ack);
        }
        if self.is_after_cut(frame.newest) {
            group[i].state = State::Open;
        }
        ack
    }

    fn grow(&mut self, group: &mut Group, i: usize, held: &Held, ack: Ack) {
        if !held.limited || matches!(group[i].state, State::Cwr | State::Recovery) {
            return;
        }
        let delivered = whole_packets(&mut self.growing_rest, held.frame.growing, group[i].mss);
        if delivered > 0 {
            let new_round = std::mem::take(&mut self.new_to_grow).into();
            group.grow(i, &Ack { delivered, new_round, ..ack });
            group[i].cwnd = group[i].cwnd.min(CWND_LIMIT - 1);
        }
    }

    fn lose(&mut self, group: &mut Group, i: usize, now: Instant, sent: Instant) -> bool {
        if self.is_after_cut(sent) {
            return self.reduce(group, i, now, Cause::Loss);
        }
        if group[i].state != State::Cwr {
            return false;
        }
        group.deepen(i, self.before);
        let own = &mut group[i];
        own.cwnd = own.cwnd.min(own.ssthresh);
        own.state = State::Recovery;
        true
    }

    /// As after a retransmission timeout.
    fn time_out(&mut self, group: &mut Group, i: usize, now: Instant, sent: Instant) {
        if self.is_after_cut(sent) {
            self.reduce(group, i, now, Cause::Loss);
        } else if group[i].state == State::Cwr {
            group.deepen(i, self.before);
        }
        group.timeout(i);
        group[i].cwnd = 1;
        group[i].state = State::Loss;
        self.cut = Some(now);
    }

    /// Returns whether there is a reduction: not if a mark is ignored.
    fn reduce(&mut self, group: &mut Group, i: usize, now: Instant, cause: Cause) -> bool {
        let Some(window) = group.congestion(i, cause) else { return false };
        self.cut = Some(now);
        self.growing_rest = 0;
        let own = &mut group[i];
        self.before = own.cwnd;
        own.ssthresh = window;
        own.cwnd = own.cwnd.min(window);
        own.state = if cause == Cause::Mark { State::Cwr } else { State::Recovery };
        true
    }
}

/// A full packet has `bytes` from now on.
fn resize(own: &mut tresse_controllers::Subflow, bytes: u32) {
    let scaled = |packets: u32| {
        let packets = u64::from(packets) * u64::from(own.mss) / u64::from(bytes);
        packets.max(1) as u32
    };
    if bytes > own.mss {
        own.cwnd = scaled(own.cwnd);
        own.ssthresh =
            if own.ssthresh == INFINITE_SSTHRESH { INFINITE_SSTHRESH } else { scaled(own.ssthresh) };
    }
    own.mss = bytes;
}

/// The whole packets in `bytes` together with the rest of the earlier ones.
fn whole_packets(rest: &mut u64, bytes: u64, packet: u32) -> u32 {
    let packet = u64::from(packet);
    *rest += bytes;
    let packets = (*rest / packet).min(u64::from(CWND_LIMIT - 1));
    *rest %= packet;
    packets as u32
}

/// 1/8 us, within what a controller's arithmetic can take; a sample is never 0.
fn eighths(rtt: Duration) -> u32 {
    (rtt.as_nanos() / 125).clamp(SRTT_LEAST.into(), u128::from(SRTT_LIMIT - 1)) as u32
}
