//! Batches: how they begin, what the links do to them, and what their ACKs say.

use std::iter;

use tresse_controllers::trace::{Event as Told, Hosts};
use tresse_controllers::{Group, State};
use tresse_transport::{Config, Recovery};
use tresse_units::{MICROSECOND, Time};

use crate::RESOLUTION;
use crate::connection::{Batch, Connection, Outgoing, Subflow};
use crate::events::{Event, Events, Kind};
use crate::link::{Link, Shares};

/// Duplicate ACKs after which a packet counts as lost.
const DUPLICATES: u32 = 3;

impl Subflow {
    /// The round trip of a packet that leaves now, ps. The links are up to date.
    fn rtt(&self, links: &[Link]) -> f64 {
        self.way.base[0] + self.way.base[1] + waits(links, &self.way.there) + waits(links, &self.way.back)
    }
}

fn waits(links: &[Link], path: &[u32]) -> f64 {
    path.iter().map(|&link| links[link as usize].wait()).sum()
}

/// The events of subflow `i` of the connection in `slot`.
pub(crate) struct Place<'a> {
    pub links: &'a mut [Link],
    pub events: &'a mut Events,
    pub now: Time,
    pub slot: u32,
    pub i: usize,
}

impl Place<'_> {
    fn plan(&mut self, connection: &Connection, time: Time, kind: Kind) {
        let (slot, name, subflow) = (self.slot, connection.spec.id, self.i as u16);
        self.events.plan(time, Event { slot, name, subflow, kind });
    }

    /// Sends what window and data allow.
    pub fn send(&mut self, c: &mut Connection) {
        let in_all: u32 = c.subflows.iter().map(|s| s.in_flight).sum();
        let config = &c.spec.config;
        let s = &mut c.subflows[self.i];
        if s.outgoing.is_some() || s.repair.stalled || !s.is_open {
            return;
        }
        let window = c.group[self.i].cwnd.min(config.receive_window);
        let mut room = window.saturating_sub(s.in_flight);
        if let Some(buffer) = config.receive_buffer {
            let segments = (buffer.bytes / u64::from(config.mss)).max(1);
            room = room.min(segments.saturating_sub(in_all.into()) as u32);
        }
        let fresh = if s.takes_data { c.unsent } else { 0 };
        let wanted = u64::from(s.repair.resend) + fresh;
        s.limited = u64::from(room) <= wanted;
        let packets = u64::from(room).min(wanted) as u32;
        if packets == 0 {
            return;
        }
        let path = s.way.there.iter().chain(&s.way.back);
        path.for_each(|&link| self.links[link as usize].advance(self.now));
        let forward = s.way.base[0] + waits(self.links, &s.way.there);
        let rtt = s.rtt(self.links);
        // Not faster than the slowest link: what is sent in a burst waits there, and its ACKs come at that pace.
        let first = self.links[s.way.there[0] as usize].transmission(c.wire);
        let gap = s.gap.max(first);
        let most = (rtt / (gap * RESOLUTION as f64)) as u32;
        let packets = packets.min(most.max(1));
        let lasts = gap * f64::from(packets);
        let rate = f64::from(packets) * c.wire / lasts;
        let ack = rate * f64::from(config.ack) / c.wire;
        // The host's own port passes on no more than its rate, of all of the host's subflows together.
        let mut passed = rate;
        for (place, (&link, before)) in s.way.there.iter().zip(&mut s.before).enumerate() {
            let link = &mut self.links[link as usize];
            *before = link.begin(passed);
            if place == 0 {
                passed *= link.passes();
            }
        }
        for &link in &s.way.back {
            self.links[link as usize].begin(ack);
        }
        let again = s.repair.resend.min(packets);
        s.repair.resend -= again;
        c.unsent -= u64::from(packets - again);
        s.counters.retransmissions += u64::from(again);
        s.counters.sent += u64::from(packets - again);
        s.in_flight += packets;
        let end = self.now + (lasts as Time).max(1);
        s.last_sent = end;
        s.outgoing = Some(Outgoing { packets, start: self.now, end, rate, passed, forward, rtt });
        self.plan(c, end, Kind::Sent);
    }

    /// The batch is out: what has become of it.
    pub fn sent(&mut self, c: &mut Connection) {
        let s = &mut c.subflows[self.i];
        let Some(out) = s.outgoing.take() else { return };
        self.release(&c.spec.config, s, &out, c.wire);
        let lasted = (out.end - out.start) as f64;
        let (mut unmarked, mut kept) = (1.0, 1.0);
        for (&number, before) in s.way.there.iter().zip(&s.before) {
            let link = &mut self.links[number as usize];
            let Shares { marked, lost } = link.shares();
            let (mut marked, lost) = ((marked - before.marked) / lasted, (lost - before.lost) / lasted);
            let mut dropped = lost.clamp(0.0, 1.0);
            marked = marked.clamp(0.0, 1.0);
            if !c.spec.config.ecn {
                if link.drops_non_ect {
                    dropped = dropped.max(marked);
                }
                marked = 0.0;
            }
            let n = f64::from(out.packets) * kept;
            link.count(n * marked, n * dropped, n * link.random_loss);
            unmarked *= 1.0 - marked;
            kept *= (1.0 - dropped) * (1.0 - link.random_loss);
        }
        let lost =
            if kept < 1.0 { (0..out.packets).filter(|_| c.stream.unit() >= kept).count() as u32 } else { 0 };
        let arrived = out.packets - lost;
        let marks = f64::from(arrived) * (1.0 - unmarked);
        let marked = if marks > 0.0 { ((marks + c.stream.unit()) as u32).min(arrived) } else { 0 };
        let now_rtt = s.rtt(self.links);
        let spread = (lasted + now_rtt - out.rtt).max(s.way.least_gap * f64::from(out.packets));
        let gap = spread / f64::from(out.packets);
        s.batches.push_back(Batch { packets: out.packets, marked, lost, rtt: out.rtt, gap });
        let acked = (out.start + out.rtt as Time).max(self.now);
        if arrived > 0 {
            c.passed += u64::from(arrived);
            c.last = c
                .last
                .max(out.start + (out.forward + spread - s.way.least_gap).max(0.0) as Time)
                .max(self.now);
        }
        self.plan(c, acked, Kind::Acked);
        if c.passed >= c.packets {
            self.plan(c, c.last, Kind::Finished);
        }
        self.send(c);
    }

    /// The batch no longer flows.
    pub fn release(&mut self, config: &Config, s: &Subflow, out: &Outgoing, wire: f64) {
        let ack = out.rate * f64::from(config.ack) / wire;
        let rates = iter::once(out.rate).chain(iter::repeat(out.passed));
        for (&number, rate) in s.way.there.iter().zip(rates).chain(s.way.back.iter().map(|link| (link, ack)))
        {
            let link = &mut self.links[number as usize];
            link.advance(self.now);
            link.end(rate);
        }
    }

    /// The first ACK of the oldest batch: the controller hears of the whole batch.
    pub fn acked(&mut self, c: &mut Connection) {
        let s = &mut c.subflows[self.i];
        let Some(batch) = s.batches.pop_front() else { return };
        s.in_flight -= batch.packets;
        let arrived = batch.packets - batch.lost;
        s.repair.holes += batch.lost;
        if arrived > 0 {
            s.arrived += u64::from(arrived);
            c.arrived += u64::from(arrived);
            s.repair.timer += 1;
            s.repair.backoff = 0;
            s.span = batch.gap * f64::from(arrived);
            s.repair.since = if s.repair.holes > 0 { s.repair.since + arrived } else { 0 };
            s.counters.marks += u64::from(batch.marked);
            let rtt = (batch.rtt * 8.0 / MICROSECOND as f64) as u32;
            let told = Told::Ack {
                packets: arrived,
                marked: batch.marked,
                rtt: Some(rtt.max(1)),
                limited: s.limited,
                subflow: self.i,
            };
            let cut = c.hosts.play(&mut c.group, told).event == "mark";
            s.counters.mark_cuts += u64::from(cut);
            self.repair(c);
            // What the ACKs allow, more in slow start and less after a cut, leaves while they arrive.
            let window = c.group[self.i].cwnd.min(c.spec.config.receive_window);
            let s = &mut c.subflows[self.i];
            let room = window.saturating_sub(s.in_flight);
            s.gap = s.span / f64::from(room.max(1));
        }
        self.send(c);
        self.arm(c);
    }

    /// Enough duplicate ACKs: the window is cut, and what is lost is sent again.
    fn repair(&mut self, c: &mut Connection) {
        let recovery = c.spec.config.recovery;
        let s = &mut c.subflows[self.i];
        let told = s.repair.since >= DUPLICATES || s.repair.next_at > 0 && self.now >= s.repair.next_at;
        if s.repair.holes == 0 {
            s.repair.next_at = 0;
        }
        if s.repair.holes == 0 || !told || self.now < s.repair.next_at || recovery == Recovery::GoBackN {
            return;
        }
        if c.group[self.i].state < State::Recovery {
            s.counters.recoveries += 1;
        }
        c.hosts.play(&mut c.group, Told::Loss { subflow: self.i });
        // Without SACK a round repairs one hole: by partial ACKs the next round repairs the next one (RFC 6582), without
        // them the timer repairs all others (RFC 5681).
        let repaired = if recovery.uses_sack() { s.repair.holes } else { 1 };
        s.repair.resend += repaired;
        s.repair.holes -= repaired;
        s.repair.since = 0;
        s.repair.stalled = s.repair.holes > 0 && recovery != Recovery::NewReno;
        s.repair.next_at = self.now + u64::from(c.group[self.i].srtt) * (MICROSECOND / 8);
    }

    /// Starts the timer if nothing is left that would say what was lost.
    fn arm(&mut self, c: &mut Connection) {
        let s = &mut c.subflows[self.i];
        let silent = s.batches.is_empty() && s.outgoing.is_none();
        if s.repair.holes == 0 || !(silent || s.repair.stalled) {
            return;
        }
        s.repair.timer += 1;
        let (timer, config) = (s.repair.timer, &c.spec.config);
        let srtt = u64::from(c.group[self.i].srtt) * (MICROSECOND / 8);
        let rto = if srtt == 0 { config.rto_initial } else { config.rto_min.max(2 * srtt) };
        let rto = rto.saturating_mul(1 << s.repair.backoff.min(16)).min(config.rto_max);
        let at = (s.last_sent + rto).max(self.now);
        self.plan(c, at, Kind::Timeout(timer));
    }

    /// The retransmission timer.
    pub fn timeout(&mut self, c: &mut Connection, timer: u32) {
        let s = &mut c.subflows[self.i];
        if timer != s.repair.timer || s.repair.holes == 0 {
            return;
        }
        s.counters.timeouts += 1;
        s.repair.backoff += 1;
        s.repair.stalled = false;
        s.repair.resend += s.repair.holes;
        (s.repair.holes, s.repair.since, s.repair.next_at) = (0, 0, 0);
        s.gap = 0.0;
        c.hosts.play(&mut c.group, Told::Timeout { subflow: self.i });
        self.send(c);
    }
}

/// A new subflow of a connection, whose window is the transport's initial one.
pub(crate) fn admit(group: &mut Group, hosts: &mut Hosts, i: usize, config: &Config) {
    group.insert(i, config.initial_window);
    group[i].ssthresh = config.initial_ssthresh;
    group[i].mss = config.mss;
    hosts.open(config.initial_window);
}
