//! The packets of a sprayed connection on their paths.

use std::collections::VecDeque;

use tresse_balancers::{Feedback, Spread};
use tresse_controllers::{Hop, Report};
use tresse_units::{NEVER, Time};

use super::delivery::{Delivery, Snapshot};
use super::{Spraying, tcp};
use crate::rtt::eighths;
use crate::spray::sender::Connection;
use crate::{Answer, Body, Fate, Origin, SprayedPacket, Transmit};

/// What is known about a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    InFlight,
    Arrived,
    /// It is to be sent again.
    Lost,
}

/// The last transmission of a packet.
#[derive(Debug, Clone, Copy)]
struct Packet {
    sent: Time,
    path: u32,
    /// How many times it was sent before.
    again: u32,
    status: Status,
    /// The amount delivered by then.
    known: Snapshot,
}

/// When packets may leave at a pace.
#[derive(Debug, Default)]
struct Pacing {
    /// Bytes/us; 0: none.
    rate: u32,
    /// When the next packet may leave.
    next: Time,
    /// A packet waits for this.
    waits: bool,
}

/// The packets of a connection on their paths.
#[derive(Debug)]
pub(super) struct Spreading {
    spread: Spread,
    base_rtt: u32,
    line_rate: u32,
    /// All packets below have arrived.
    una: u32,
    /// By number from `una` on.
    packets: VecDeque<Packet>,
    /// Bit j is set if packet `una` + j has arrived, as far as this is known here: answers repeat it again and again, and
    /// then the packet itself is not looked at.
    arrived: u64,
    /// To be sent again, in the order in which they were lost. Packets that have arrived meanwhile are
    /// skipped.
    lost: VecDeque<u32>,
    /// Packets in the order in which they were sent, with the number of earlier transmissions of each. Older
    /// entries of packets that were sent again, or have arrived, are ignored.
    order: VecDeque<(u32, u32)>,
    in_flight: u32,
    /// Where a round of the controller ends, and the state for a TCP controller.
    round: tcp::Round,
    pacing: Pacing,
    /// The time at which the oldest packet in flight is given up.
    expiry: Time,
    /// When the timer last backed off. Packets sent before then do not make it back off again.
    backed_off: Time,
    /// The application had nothing more to send.
    app_limited: bool,
    delivery: Delivery,
    /// The hops of the packet that the next ACK answers.
    hops: Vec<Hop>,
}

impl Spreading {
    /// Reports to the controller before the first packet.
    pub fn new(spraying: Spraying, own: &mut Connection) -> Self {
        let Spraying { balancer, paths, stream, base_rtt, line_rate } = spraying;
        let mut spreading = Self {
            spread: Spread::new(balancer, paths, stream),
            base_rtt: u32::try_from(base_rtt / 1000).unwrap_or(u32::MAX).max(1),
            line_rate: u32::try_from(line_rate / 1_000_000).unwrap_or(u32::MAX).max(1),
            una: 0,
            packets: VecDeque::new(),
            arrived: 0,
            lost: VecDeque::new(),
            order: VecDeque::new(),
            in_flight: 0,
            round: tcp::Round::default(),
            pacing: Pacing::default(),
            expiry: NEVER,
            backed_off: 0,
            app_limited: false,
            delivery: Delivery::new(),
            hops: Vec::new(),
        };
        spreading.pacing.rate = own.group.report(0, &spreading.report(0), &[]);
        spreading
    }

    /// The data that switches have written into the packet that the next ACK answers.
    pub fn hear_hops(&mut self, hops: impl Iterator<Item = Hop>) {
        self.hops.clear();
        self.hops.extend(hops);
    }

    /// All packets below have arrived.
    pub fn una(&self) -> u32 {
        self.una
    }

    /// Calls `fetch` with the cache lines outside of itself that an answer will touch.
    pub fn for_each_line(&self, fetch: impl Fn(*const u8)) {
        if let Some(first) = self.packets.front() {
            fetch(std::ptr::from_ref(first).cast());
        }
        if let Some(oldest) = self.order.front() {
            fetch(std::ptr::from_ref(oldest).cast());
        }
    }

    /// The packet after the last one that was sent.
    pub fn sent(&self) -> u32 {
        self.una + self.packets.len() as u32
    }

    /// Packets that were sent and not reported yet.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// When the timer fires or, with a pace, the next packet may leave.
    pub fn deadline(&self) -> Time {
        if self.pacing.waits { self.expiry.min(self.pacing.next) } else { self.expiry }
    }

    fn report(&self, now: Time) -> Report {
        Report {
            base_rtt: self.base_rtt,
            line_rate: self.line_rate,
            app_limited: self.app_limited.into(),
            now: now / 1000,
            ..Report::default()
        }
    }

    /// The packet to send now, from a message that is written up to here: lost packets first, as far as the window
    /// allows.
    pub fn poll(&mut self, now: Time, own: &mut Connection) -> Option<Transmit> {
        let (written, cwnd) = (own.messages.written(), own.group[0].cwnd);
        self.pacing.waits = false;
        while self.lost.front().is_some_and(|&packet| !self.is_lost(packet)) {
            self.lost.pop_front();
        }
        let packet = self.lost.front().copied().unwrap_or(self.sent());
        let again = packet < self.sent();
        if !again && packet >= written {
            self.app_limited |= self.in_flight < cwnd;
            return None;
        }
        if self.in_flight >= cwnd {
            self.app_limited = false;
            return None;
        }
        if self.pacing.rate > 0 && now < self.pacing.next {
            self.pacing.waits = true;
            return None;
        }
        let path =
            self.spread.pick(now / 1000, cwnd, (own.counters.sent + own.counters.retransmissions) as u32);
        let place = self.transmit(now, packet, path);
        if again {
            self.lost.pop_front();
            own.counters.retransmissions += 1;
        } else {
            own.counters.sent += 1;
        }
        if self.pacing.rate > 0 {
            let bytes = u64::from(own.config.mss + own.config.header);
            self.pacing.next = self.pacing.next.max(now) + bytes * 1_000_000 / u64::from(self.pacing.rate);
        }
        self.order.push_back((packet, place));
        if self.expiry == NEVER {
            self.expiry = now.saturating_add(own.rtt.rto(&own.config));
        }
        let more = !self.lost.is_empty() || self.sent() < written;
        let asks = self.in_flight >= cwnd || !more;
        let (payload, last) = own.messages.payload(packet);
        let header = SprayedPacket { stamp: now.into(), number: packet, path, last, asks, again };
        let origin = if again { Origin::Retransmitted } else { Origin::New };
        Some(Transmit { subflow: 0, origin, payload, body: Body::Sprayed(header) })
    }

    /// The host's own port, not the window, keeps it from sending now.
    pub fn hold(&mut self, own: &Connection) {
        self.pacing.waits = false;
        self.app_limited |= self.in_flight < own.group[0].cwnd;
    }

    /// Records a transmission. Returns how many times the packet was sent before.
    fn transmit(&mut self, now: Time, packet: u32, path: u32) -> u32 {
        let known = self.delivery.send(now, self.in_flight == 0);
        self.in_flight += 1;
        let place = (packet - self.una) as usize;
        match self.packets.get_mut(place) {
            Some(own) => {
                *own = Packet { sent: now, path, again: own.again + 1, status: Status::InFlight, known };
                own.again
            }
            None => {
                self.packets.push_back(Packet { sent: now, path, again: 0, status: Status::InFlight, known });
                0
            }
        }
    }

    fn is_lost(&self, packet: u32) -> bool {
        let place = packet.checked_sub(self.una);
        place.and_then(|p| self.packets.get(p as usize)).is_some_and(|own| own.status == Status::Lost)
    }

    /// An ACK or a NACK has arrived.
    pub fn handle_answer(&mut self, now: Time, answer: &Answer, own: &mut Connection) {
        if answer.next > self.sent() {
            return;
        }
        let (is_nack, last_hop, ce) = match answer.fate {
            Fate::Arrived { ce } => (false, false, ce),
            Fate::Trimmed { last_hop } => (true, last_hop, false),
        };
        let stamp = answer.stamp.time();
        let trimmed = u32::from(is_nack && self.lose(answer.packet));
        let delivered = self.acknowledge(answer);
        let marked = u32::from(ce && delivered > 0);
        if delivered > 0 && !is_nack {
            own.rtt.sample(now - stamp);
            own.rtt.reset_backoff();
        }
        let feedback = match (is_nack, ce) {
            (true, _) => Feedback::Trim,
            (false, true) => Feedback::Ecn,
            (false, false) => Feedback::Good,
        };
        if delivered > 0 || trimmed > 0 {
            self.spread.feedback(now / 1000, answer.path, feedback);
        }
        own.counters.marks += u64::from(marked);
        let rtt = if is_nack || delivered == 0 { 0 } else { now - stamp };
        let report = Report {
            delivered,
            marked,
            trimmed,
            rtt: u32::try_from(rtt / 1000).unwrap_or(u32::MAX),
            rate: self.delivery.sample(now, own.config.mss + own.config.header),
            last_hop: last_hop.into(),
            ..self.report(now)
        };
        self.steer(&report, eighths(rtt), own);
        self.set_expiry(now, own);
    }

    /// The timer has fired, or a packet may leave.
    pub fn handle_timeout(&mut self, now: Time, own: &mut Connection) {
        if now < self.expiry {
            return;
        }
        let rto = own.rtt.rto(&own.config);
        let (mut lost, mut again) = (0, false);
        while let Some((packet, sent, path)) = self.oldest()
            && sent.saturating_add(rto) <= now
        {
            self.lose(packet);
            self.spread.feedback(now / 1000, path, Feedback::Timeout);
            lost += 1;
            again |= sent >= self.backed_off;
        }
        if lost > 0 {
            own.counters.timeouts += 1;
            if again {
                own.rtt.back_off();
                self.backed_off = now;
            }
            let report = Report { lost, ..self.report(now) };
            self.steer(&report, 0, own);
        }
        self.set_expiry(now, own);
    }

    /// Reports to the controller.
    fn steer(&mut self, report: &Report, rtt: u32, own: &mut Connection) {
        let (una, sent) = (self.una, self.sent());
        let Connection { config, group, rtt: known, counters, .. } = own;
        let subflow = &mut group[0];
        subflow.srtt = known.srtt_eighths();
        subflow.min_rtt = known.min_eighths();
        subflow.in_flight = self.in_flight;
        subflow.cwnd_limited = u8::from(!self.app_limited);
        if self.round.is_over(una) {
            counters.rounds += 1;
            counters.windows += u64::from(group[0].cwnd);
        }
        if group.scheme().controller().reports() {
            self.pacing.rate = group.report(0, report, &self.hops);
            self.hops.clear();
            self.round.begin_if_over(una, sent);
        } else {
            self.round.steer(report, rtt, [una, sent], group, counters);
        }
        group[0].cwnd = group[0].cwnd.min(config.receive_window);
        self.app_limited = false;
    }

    /// The oldest packet in flight: when it was sent, and on which path.
    fn oldest(&mut self) -> Option<(u32, Time, u32)> {
        while let Some(&(packet, again)) = self.order.front() {
            let place = packet.checked_sub(self.una);
            let own = place.and_then(|p| self.packets.get(p as usize));
            if let Some(own) = own.filter(|own| own.status == Status::InFlight && own.again == again) {
                return Some((packet, own.sent, own.path));
            }
            self.order.pop_front();
        }
        None
    }

    /// Sets the timer for the oldest packet. If an RTT sample has moved its end before now, it ends now.
    fn set_expiry(&mut self, now: Time, own: &Connection) {
        let oldest = self.oldest();
        let end = |(_, sent, _): (u32, Time, u32)| sent.saturating_add(own.rtt.rto(&own.config)).max(now);
        self.expiry = oldest.map_or(NEVER, end);
    }

    /// A packet is lost. Returns whether it was in flight.
    fn lose(&mut self, packet: u32) -> bool {
        let place = packet.checked_sub(self.una);
        let Some(own) = place.and_then(|p| self.packets.get_mut(p as usize)) else { return false };
        if own.status != Status::InFlight {
            return false;
        }
        own.status = Status::Lost;
        self.in_flight -= 1;
        self.lost.push_back(packet);
        true
    }

    /// Processes arrivals; returns the number of packets whose arrival was not yet known.
    fn acknowledge(&mut self, answer: &Answer) -> u32 {
        let mut delivered = 0;
        let known = answer.base.checked_sub(self.una).and_then(|shift| self.arrived.checked_shr(shift));
        let mut bits = answer.bits() & !known.unwrap_or(0);
        while bits != 0 {
            delivered += self.arrive(answer.base.saturating_add(bits.trailing_zeros()));
            bits &= bits - 1;
        }
        while self.una < answer.next {
            delivered += self.arrive(self.una);
            self.packets.pop_front();
            self.arrived >>= 1;
            self.una += 1;
        }
        delivered
    }

    /// A packet has arrived; returns 1 if that was not yet known.
    fn arrive(&mut self, packet: u32) -> u32 {
        let Some(place) = packet.checked_sub(self.una) else { return 0 };
        let Some(own) = self.packets.get_mut(place as usize) else { return 0 };
        self.arrived |= 1u64.checked_shl(place).unwrap_or(0);
        if own.status == Status::InFlight {
            self.in_flight -= 1;
        }
        let is_new = std::mem::replace(&mut own.status, Status::Arrived) != Status::Arrived;
        if is_new {
            self.delivery.deliver(own.sent, own.known);
        }
        u32::from(is_new)
    }
}
