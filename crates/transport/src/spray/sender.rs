//! The sending half of a sprayed connection.

use std::collections::VecDeque;

use tresse_balancers::{Feedback, Spread};
use tresse_controllers::{Group, Hop, Report};
use tresse_units::{NEVER, Time};

use super::delivery::{Delivery, Snapshot};
use super::fields::Answer;
use super::{Spraying, tcp};
use crate::rtt::eighths;
use crate::subflow::Subflow;
use crate::{Config, Wire};

/// The fate of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
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
    fate: Fate,
    /// The amount delivered by then.
    known: Snapshot,
}

/// A packet that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Next {
    pub packet: u32,
    pub path: u32,
    /// It was sent before.
    pub again: bool,
    /// The receiver should ACK it at once: nothing more goes out until the sender hears about it.
    pub asks: bool,
}

/// The sending half of a sprayed connection, in addition to the parts of every connection: its controller, its RTT
/// and its counters.
#[derive(Debug)]
pub(crate) struct Sender {
    spread: Spread,
    base_rtt: u32,
    line_rate: u32,
    /// All packets below have arrived.
    una: u32,
    /// By number from `una` on.
    packets: VecDeque<Packet>,
    /// To be sent again, in the order in which they were lost. Packets that have arrived meanwhile are
    /// skipped.
    lost: VecDeque<u32>,
    /// Packets in the order in which they were sent, with the number of earlier transmissions of each. Older
    /// entries of packets that were sent again, or have arrived, are ignored.
    order: VecDeque<(u32, u32)>,
    in_flight: u32,
    /// Where a round of the controller ends, and the state for a TCP controller.
    pub(super) round: tcp::Round,
    /// bytes/us; 0 = none.
    pace: u32,
    /// With a pace: when the next packet may leave, and whether one waits for this.
    next: Time,
    waits: bool,
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

impl Sender {
    /// Reports to the controller before the first packet.
    pub fn new(spraying: Spraying, group: &mut Group) -> Self {
        let Spraying { balancer, paths, stream, base_rtt, line_rate } = spraying;
        let mut sender = Self {
            spread: Spread::new(balancer, paths, stream),
            base_rtt: u32::try_from(base_rtt / 1000).unwrap_or(u32::MAX).max(1),
            line_rate: u32::try_from(line_rate / 1_000_000).unwrap_or(u32::MAX).max(1),
            una: 0,
            packets: VecDeque::new(),
            lost: VecDeque::new(),
            order: VecDeque::new(),
            in_flight: 0,
            round: tcp::Round::default(),
            pace: 0,
            next: 0,
            waits: false,
            expiry: NEVER,
            backed_off: 0,
            app_limited: false,
            delivery: Delivery::new(),
            hops: Vec::new(),
        };
        sender.pace = group.report(0, &sender.report(0), &[]);
        sender
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
        if self.waits { self.expiry.min(self.next) } else { self.expiry }
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

    /// The packet to send now, from a message of which the application has written the packets below
    /// `written`: lost packets first, as far as the window of `cwnd` packets allows.
    pub fn poll(
        &mut self,
        now: Time,
        written: u32,
        cwnd: u32,
        own: &mut Subflow,
        config: &Config,
    ) -> Option<Next> {
        self.waits = false;
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
        if self.pace > 0 && now < self.next {
            self.waits = true;
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
        if self.pace > 0 {
            let bytes = u64::from(config.mss + config.header);
            self.next = self.next.max(now) + bytes * 1_000_000 / u64::from(self.pace);
        }
        self.order.push_back((packet, place));
        if self.expiry == NEVER {
            self.expiry = now.saturating_add(own.rtt.rto(config));
        }
        let more = !self.lost.is_empty() || self.sent() < written;
        Some(Next { packet, path, again, asks: self.in_flight >= cwnd || !more })
    }

    /// Records a transmission. Returns how many times the packet was sent before.
    fn transmit(&mut self, now: Time, packet: u32, path: u32) -> u32 {
        let known = self.delivery.send(now, self.in_flight == 0);
        self.in_flight += 1;
        let place = (packet - self.una) as usize;
        match self.packets.get_mut(place) {
            Some(own) => {
                *own = Packet { sent: now, path, again: own.again + 1, fate: Fate::InFlight, known };
                own.again
            }
            None => {
                self.packets.push_back(Packet { sent: now, path, again: 0, fate: Fate::InFlight, known });
                0
            }
        }
    }

    fn is_lost(&self, packet: u32) -> bool {
        let place = packet.checked_sub(self.una);
        place.and_then(|p| self.packets.get(p as usize)).is_some_and(|own| own.fate == Fate::Lost)
    }

    /// An ACK or a NACK has arrived.
    pub fn handle_answer(
        &mut self,
        now: Time,
        wire: &Wire,
        config: &Config,
        group: &mut Group,
        own: &mut Subflow,
    ) {
        if wire.seq > self.sent() {
            return;
        }
        let answer = Answer::of(wire);
        let is_nack = wire.flags & Wire::NACK != 0;
        let trimmed = u32::from(is_nack && self.lose(answer.packet));
        let delivered = self.acknowledge(wire.seq, &answer);
        let marked = u32::from(wire.ce != 0 && delivered > 0);
        if delivered > 0 && !is_nack {
            own.rtt.sample(now - wire.stamp);
            own.rtt.reset_backoff();
        }
        let feedback = match (is_nack, wire.ce != 0) {
            (true, _) => Feedback::Trim,
            (false, true) => Feedback::Ecn,
            (false, false) => Feedback::Good,
        };
        if delivered > 0 || trimmed > 0 {
            self.spread.feedback(now / 1000, answer.path, feedback);
        }
        own.counters.marks += u64::from(marked);
        let rtt = if is_nack || delivered == 0 { 0 } else { now - wire.stamp };
        let report = Report {
            delivered,
            marked,
            trimmed,
            rtt: u32::try_from(rtt / 1000).unwrap_or(u32::MAX),
            rate: self.delivery.sample(now, config.mss + config.header),
            last_hop: u8::from(wire.flags & Wire::LAST_HOP != 0),
            ..self.report(now)
        };
        self.steer(&report, eighths(rtt), config, group, own);
        self.set_expiry(now, config, own);
    }

    /// The timer has fired, or a packet may leave.
    pub fn handle_timeout(&mut self, now: Time, config: &Config, group: &mut Group, own: &mut Subflow) {
        if now < self.expiry {
            return;
        }
        let rto = own.rtt.rto(config);
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
            self.steer(&report, 0, config, group, own);
        }
        self.set_expiry(now, config, own);
    }

    /// Reports to the controller.
    fn steer(&mut self, report: &Report, rtt: u32, config: &Config, group: &mut Group, own: &mut Subflow) {
        let (una, sent) = (self.una, self.sent());
        let subflow = &mut group[0];
        subflow.srtt = own.rtt.srtt_eighths();
        subflow.min_rtt = own.rtt.min_eighths();
        subflow.in_flight = self.in_flight;
        subflow.cwnd_limited = u8::from(!self.app_limited);
        if self.round.is_over(una) {
            own.counters.rounds += 1;
            own.counters.windows += u64::from(group[0].cwnd);
        }
        if group.scheme().controller().reports() {
            self.pace = group.report(0, report, &self.hops);
            self.hops.clear();
            self.round.begin_if_over(una, sent);
        } else {
            self.round.steer(report, rtt, [una, sent], group, own);
        }
        group[0].cwnd = group[0].cwnd.min(config.receive_window);
        self.app_limited = false;
    }

    /// The oldest packet in flight: when it was sent, and on which path.
    fn oldest(&mut self) -> Option<(u32, Time, u32)> {
        while let Some(&(packet, again)) = self.order.front() {
            let place = packet.checked_sub(self.una);
            let own = place.and_then(|p| self.packets.get(p as usize));
            if let Some(own) = own.filter(|own| own.fate == Fate::InFlight && own.again == again) {
                return Some((packet, own.sent, own.path));
            }
            self.order.pop_front();
        }
        None
    }

    /// Sets the timer for the oldest packet. If an RTT sample has moved its end before now, it ends now.
    fn set_expiry(&mut self, now: Time, config: &Config, own: &Subflow) {
        let oldest = self.oldest();
        let end = |(_, sent, _): (u32, Time, u32)| sent.saturating_add(own.rtt.rto(config)).max(now);
        self.expiry = oldest.map_or(NEVER, end);
    }

    /// A packet is lost. Returns whether it was in flight.
    fn lose(&mut self, packet: u32) -> bool {
        let place = packet.checked_sub(self.una);
        let Some(own) = place.and_then(|p| self.packets.get_mut(p as usize)) else { return false };
        if own.fate != Fate::InFlight {
            return false;
        }
        own.fate = Fate::Lost;
        self.in_flight -= 1;
        self.lost.push_back(packet);
        true
    }

    /// Processes arrivals; returns the number of packets whose arrival was not yet known.
    fn acknowledge(&mut self, next: u32, answer: &Answer) -> u32 {
        let mut delivered = 0;
        let mut bits = answer.bitmap;
        while bits != 0 {
            delivered += self.arrive(answer.base.saturating_add(bits.trailing_zeros()));
            bits &= bits - 1;
        }
        while self.una < next {
            delivered += self.arrive(self.una);
            self.packets.pop_front();
            self.una += 1;
        }
        delivered
    }

    /// A packet has arrived; returns 1 if that was not yet known.
    fn arrive(&mut self, packet: u32) -> u32 {
        let place = packet.checked_sub(self.una);
        let Some(own) = place.and_then(|p| self.packets.get_mut(p as usize)) else { return 0 };
        if own.fate == Fate::InFlight {
            self.in_flight -= 1;
        }
        let is_new = std::mem::replace(&mut own.fate, Fate::Arrived) != Fate::Arrived;
        if is_new {
            self.delivery.deliver(own.sent, own.known);
        }
        u32::from(is_new)
    }
}
