//! Batches: how they begin, what the links do to them, and what their ACKs say.

use smallvec::SmallVec;
use tresse_controllers::trace::{Event as Told, Hosts};
use tresse_controllers::{Group, State};
use tresse_fabric::{Fabric, Histogram};
use tresse_transport::{Config, Recovery};
use tresse_units::{MICROSECOND, Time};

use crate::connection::{Batch, Connection, Outgoing, Subflow, Way};
use crate::events::{Event, Events, Kind};
use crate::link::{Link, Record, Shares};

/// Duplicate ACKs after which a packet counts as lost.
const DUPLICATES: u32 = 3;

/// A batch that would take more than this share of its round trip takes all of it: then one event ends it and hears of
/// it.
const NEARLY: f64 = 7.0 / 8.0;

/// The events of subflow `i` of the connection in `slot`.
pub(crate) struct Place<'a> {
    pub links: &'a mut [Link],
    pub records: &'a mut [Record],
    pub events: &'a mut Events,
    /// The RTTs of packets by group, if they are recorded.
    pub rtts: &'a mut [Histogram],
    /// Whether a link has failed.
    pub any_down: bool,
    pub now: Time,
    pub slot: u32,
    pub i: usize,
}

impl Subflow {
    /// Of `marked` packets of a batch that takes a round: those that are heard of with its first ACK. That comes half a
    /// round before its middle, so that of its first half is heard, and before that of the second half of the batch
    /// before: how many were marked of each. If its queue is above K at its end (`rising`), the last packets are marked,
    /// otherwise the first.
    fn shift(&mut self, marked: u32, arrived: u32, rising: bool) -> [u32; 2] {
        let half = arrived.div_ceil(2);
        let (fills, rests) = (marked.min(half), marked.saturating_sub(half));
        let (early, late) = if rising { (rests, fills) } else { (fills, rests) };
        let before = std::mem::replace(&mut self.echo.late, late).min(arrived);
        [before, early.min(arrived - before)]
    }
}

impl Batch {
    /// Records the RTTs of the `arrived` packets that have arrived: they grow evenly, in eight steps at most.
    fn record(&self, arrived: u32, rtts: &mut Histogram) {
        let steps = arrived.min(8);
        for step in 0..steps {
            let packets = arrived * (step + 1) / steps - arrived * step / steps;
            let rtt = self.rtt + self.growth * (f64::from(step) + 0.5) / f64::from(steps);
            rtts.record_several(rtt.max(0.0) as u64, packets.into());
        }
    }
}

impl Place<'_> {
    fn plan(&mut self, connection: &Connection, time: Time, kind: Kind) {
        let (slot, generation, subflow) = (self.slot, connection.generation, self.i as u16);
        self.events.plan(time, Event { slot, generation, subflow, kind });
    }

    fn advance(&mut self, way: &Way) {
        way.links.iter().for_each(|&link| self.links[link as usize].advance(self.now));
    }

    /// The round trip of a packet that leaves now, ps. The links are up to date.
    fn trip(&self, way: &Way) -> f64 {
        let waits: f64 = way.links.iter().map(|&link| self.links[link as usize].wait()).sum();
        way.base[0] + way.base[1] + waits
    }

    /// Packets that window and data allow.
    fn allowed(&self, c: &mut Connection) -> u32 {
        let in_all = || c.subflows.iter().map(|s| u64::from(s.in_flight)).sum();
        let buffer = c.config.receive_buffer.map(|buffer| {
            let segments = (buffer.bytes / u64::from(c.config.mss)).max(1);
            segments.saturating_sub(in_all()) as u32
        });
        let window = c.group[self.i].cwnd.min(c.config.receive_window);
        let s = &mut c.subflows[self.i];
        let room = window.saturating_sub(s.in_flight).min(buffer.unwrap_or(u32::MAX));
        let fresh = if s.takes_data { c.unsent } else { 0 };
        let wanted = u64::from(s.repair.resend) + fresh;
        s.limited = u64::from(room) <= wanted;
        u64::from(room).min(wanted) as u32
    }

    /// The handshake of the subflow is complete, unless a link of its path has failed: then its packet is sent again.
    /// Returns how many packets follow it.
    pub fn establish(&mut self, c: &mut Connection, fabric: &mut Fabric<()>) -> u32 {
        let mut s = &mut c.subflows[self.i];
        if s.way.hops == 0 || self.any_down && s.way.is_cut(self.links) && !s.is_open {
            let choice = s.choice;
            if let Some(way) = Way::find(fabric, self.links, self.records, c, choice) {
                c.subflows[self.i].way = way;
            }
            s = &mut c.subflows[self.i];
            let wait =
                c.config.rto_initial.saturating_mul(1 << s.repair.backoff.min(16)).min(c.config.rto_max);
            s.repair.backoff += 1;
            s.counters.handshake_timeouts += 1;
            self.plan(c, self.now + wait, Kind::Established);
            return 0;
        }
        (s.is_open, s.repair.backoff) = (true, 0);
        self.send(c)
    }

    /// Sends what window and data allow. Returns the number of packets.
    pub fn send(&mut self, c: &mut Connection) -> u32 {
        let s = &c.subflows[self.i];
        if s.outgoing.is_some() || s.repair.stalled || !s.is_open {
            return 0;
        }
        let packets = self.allowed(c);
        if packets == 0 {
            return 0;
        }
        let s = &mut c.subflows[self.i];
        if let Some(way) = s.moves.take() {
            s.way = *way;
        }
        let (mut waits, mut rests) = ([0.0; 2], 0.0);
        for (place, &link) in s.way.links.iter().enumerate() {
            let link = &mut self.links[link as usize];
            link.advance(self.now);
            waits[usize::from(place >= s.way.hops)] += link.wait();
            // A packet finds another one in transmission as often as a link is busy, and waits for what is left of it.
            rests += link.rest(c.wire);
        }
        let forward = s.way.base[0] + waits[0];
        let rtt = forward + s.way.base[1] + waits[1] + rests * c.stream.unit();
        // Not faster than the slowest link: what is sent in a burst waits there, and its ACKs come at that pace.
        let first = self.links[s.way.links[0] as usize].transmission(c.wire);
        let gap = s.gap.max(first);
        // A window of more than the host's port sends in a round trip waits in that port.
        let held = if s.gap <= first { (first * f64::from(packets) - rtt).max(0.0) } else { 0.0 };
        let rtt = rtt + held;
        let [over_mark, over_limit] = self.links[s.way.links[0] as usize].beyond(held);
        let at_host = [over_mark, over_limit].map(|bytes| (bytes / c.wire) as u32);
        let packets = packets.min(((rtt / gap) as u32).max(1));
        let lasts = gap * f64::from(packets);
        let is_round = lasts > NEARLY * rtt;
        let end = self.now + (if is_round { rtt } else { lasts } as Time).max(1);
        let end = if is_round { end.max(s.acked_at) } else { end };
        let rate = f64::from(packets) * c.wire / (end - self.now) as f64;
        let acks = rate * f64::from(c.config.ack) / c.wire / f64::from(c.config.delayed_ack.every);
        // The host's own port passes on no more than its rate, of all of the host's subflows together.
        let (mut passed, mut before) = (rate, SmallVec::new());
        for (place, &link) in s.way.there().iter().enumerate() {
            let link = &mut self.links[link as usize];
            before.push(link.shares());
            link.begin(passed);
            if place == 0 {
                passed *= link.passes();
            }
        }
        for &link in s.way.back() {
            self.links[link as usize].begin(acks);
        }
        let again = s.repair.resend.min(packets);
        s.repair.resend -= again;
        c.unsent -= u64::from(packets - again);
        s.counters.retransmissions += u64::from(again);
        s.counters.sent += u64::from(packets - again);
        s.in_flight += packets;
        s.last_sent = end;
        let (start, pause) = (self.now, std::mem::take(&mut s.echo.cut));
        s.outgoing =
            Some(Outgoing { packets, start, end, rate, passed, acks, forward, rtt, at_host, pause, before });
        let number = s.next;
        if is_round {
            s.acked_at = end;
        }
        self.plan(c, end, if is_round { Kind::Acked(number) } else { Kind::Sent });
        packets
    }

    /// The batch is out, and its first ACK comes later. Returns how many packets follow it.
    pub fn sent(&mut self, c: &mut Connection) -> u32 {
        let Some(acked) = self.settle(c) else { return 0 };
        let s = &mut c.subflows[self.i];
        s.acked_at = s.acked_at.max(acked);
        let (number, at) = (s.next - 1, s.acked_at);
        if !self.hold(c) {
            self.plan(c, at, Kind::Acked(number));
        }
        self.send(c)
    }

    /// The batch is out: what has become of it. Returns when its first ACK arrives.
    fn settle(&mut self, c: &mut Connection) -> Option<Time> {
        let s = &mut c.subflows[self.i];
        let out = s.outgoing.take()?;
        self.release(&s.way, &out);
        let lasted = (out.end - out.start) as f64;
        let (mut unmarked, mut kept, mut most, mut rising) = (1.0, 1.0, 0.0, false);
        for (&number, before) in s.way.there().iter().zip(&out.before) {
            let Shares { marked, lost } = self.links[number as usize].shares();
            let mut marked = ((marked - before.marked) / lasted).clamp(0.0, 1.0);
            let mut dropped = ((lost - before.lost) / lasted).clamp(0.0, 1.0);
            if marked == 0.0 && dropped == 0.0 && !s.way.loses {
                continue;
            }
            let record = &mut self.records[number as usize];
            if self.any_down && self.links[number as usize].is_down() {
                record.count(0.0, 0.0, f64::from(out.packets) * kept * dropped);
                kept *= 1.0 - dropped;
                continue;
            }
            if !c.config.ecn {
                if record.drops_non_ect {
                    dropped = dropped.max(marked);
                }
                marked = 0.0;
            }
            if marked > most {
                (most, rising) = (marked, self.links[number as usize].is_above());
            }
            let n = f64::from(out.packets) * kept;
            record.count(n * marked, n * dropped, n * record.random_loss);
            unmarked *= 1.0 - marked;
            kept *= (1.0 - dropped) * (1.0 - record.random_loss);
        }
        if self.any_down && s.way.back().iter().any(|&link| self.links[link as usize].is_down()) {
            kept = 0.0; // without ACKs all counts as lost
        }
        let lost =
            if kept < 1.0 { (0..out.packets).filter(|_| c.stream.unit() >= kept).count() as u32 } else { 0 };
        let [marked_at_host, lost_at_host] = out.at_host.map(|n| n.min(out.packets));
        let lost = lost.max(lost_at_host);
        let arrived = out.packets - lost;
        let marks = f64::from(arrived) * (1.0 - unmarked);
        let marked = if marks > 0.0 { ((marks + c.stream.unit()) as u32).min(arrived) } else { 0 };
        let marked = if c.config.ecn { marked.max(marked_at_host.min(arrived)) } else { marked };
        // After a cut nothing is sent until so many fewer are in flight. Here the batch begins at once, and its first
        // packets find the queue of before.
        let paused = if rising { 0 } else { (f64::from(out.packets) * out.pause).round() as u32 };
        let marked = marked.saturating_sub(paused);
        // Not in slow start, where the window that such a delay adds would be as large as all before it.
        let starts = c.group[self.i].cwnd < c.group[self.i].ssthresh;
        let takes_round = lasted > out.rtt / 2.0 && !starts;
        let marked = if takes_round { s.shift(marked, arrived, rising) } else { [0, marked] };
        let now_rtt = self.trip(&s.way);
        let spread = (lasted + now_rtt - out.rtt).max(s.way.least_gap * f64::from(out.packets));
        let gap = spread / f64::from(out.packets);
        let growth = now_rtt - out.rtt;
        s.batches.push_back(Batch {
            number: s.next,
            packets: out.packets,
            marked,
            lost,
            rtt: out.rtt,
            growth,
            gap,
        });
        s.next += 1;
        if arrived > 0 {
            c.passed += u64::from(arrived);
            let last = out.start + (out.forward + spread - s.way.least_gap).max(0.0) as Time;
            c.last = c.last.max(last).max(self.now);
        }
        if c.passed >= c.packets {
            self.plan(c, c.last, Kind::Finished);
        }
        Some((out.start + out.rtt as Time).max(self.now))
    }

    /// Whether the last batch is a single packet whose ACK waits for the receiver's timer, because no other packet
    /// follows: then that, or the sender's timer before it, is planned.
    fn hold(&mut self, c: &mut Connection) -> bool {
        let delayed = c.config.delayed_ack;
        let window = c.group[self.i].cwnd.min(c.config.receive_window);
        let s = &mut c.subflows[self.i];
        let Some(&batch) = s.batches.back() else { return false };
        let is_marked = batch.marked != [0; 2];
        let changed = is_marked != std::mem::replace(&mut s.echo.was_marked, is_marked);
        let lone = batch.packets == 1 && s.in_flight == 1 && window == 1 && batch.lost == 0;
        let quick = changed || delayed.every == 1 || s.arrived < u64::from(delayed.quick);
        if !lone || quick || c.unsent == 0 {
            return false;
        }
        s.echo.held = true;
        s.repair.timer += 1;
        if let Some(batch) = s.batches.back_mut() {
            batch.rtt += delayed.timer as f64;
        }
        let (timer, rtt) = (s.repair.timer, batch.rtt as Time);
        let held = (s.last_sent + rtt).max(self.now) + delayed.timer;
        s.acked_at = held;
        let expires = (s.last_sent + self.timeout_after(c)).max(self.now);
        self.plan(c, held, Kind::Acked(batch.number));
        if expires < held {
            self.plan(c, expires, Kind::Timeout(timer));
        }
        true
    }

    /// The batch no longer flows. Its links are up to date then.
    pub fn release(&mut self, way: &Way, out: &Outgoing) {
        for (place, &link) in way.links.iter().enumerate() {
            let rate = match place {
                0 => out.rate,
                _ if place < way.hops => out.passed,
                _ => out.acks,
            };
            let link = &mut self.links[link as usize];
            link.advance(self.now);
            link.end(rate);
        }
    }

    /// The first ACK of the batch of this number: the controller hears of the whole batch. Returns how many packets
    /// follow.
    pub fn acked(&mut self, c: &mut Connection, number: u32) -> u32 {
        if c.subflows[self.i].next == number {
            self.settle(c);
            if self.hold(c) {
                return 0;
            }
        }
        let s = &mut c.subflows[self.i];
        if s.batches.front().is_none_or(|batch| batch.number != number) {
            return 0; // it was sent again, and this is the ACK that its first copy would have had
        }
        let Some(batch) = s.batches.pop_front() else { return 0 };
        s.echo.held = false;
        s.in_flight -= batch.packets;
        let arrived = batch.packets - batch.lost;
        s.repair.holes += batch.lost;
        if arrived > 0 {
            s.arrived += u64::from(arrived);
            c.arrived += u64::from(arrived);
            s.repair.timer += 1;
            s.repair.backoff = 0;
            s.repair.since = if s.repair.holes > 0 { s.repair.since + arrived } else { 0 };
            if let Some(rtts) = self.rtts.get_mut(c.spec.group as usize) {
                batch.record(arrived, rtts);
            }
            s.counters.marks += batch.marked.map(u64::from).iter().sum::<u64>();
            s.rtt.sample(batch.rtt);
            if s.repair.holes > 0 && c.group[self.i].state == State::Recovery {
                // It ends when the last hole is filled (RFC 6582 §3.2), and a window is cut once for all of them.
                c.hosts.extend_recovery(self.i, arrived + s.repair.holes);
            }
            self.hear(c, arrived, &batch);
            self.repair(c);
            // What the ACKs allow, more in slow start and less after a cut, leaves while they arrive.
            let window = c.group[self.i].cwnd.min(c.config.receive_window);
            let s = &mut c.subflows[self.i];
            let room = window.saturating_sub(s.in_flight);
            s.gap = batch.gap * f64::from(arrived) / f64::from(room.max(1));
        }
        // Where a link has failed, there are no other ACKs that would let something leave.
        let sent = if arrived > 0 || !self.any_down { self.send(c) } else { 0 };
        self.arm(c);
        sent
    }

    /// The controller hears of `arrived` packets of a batch, and first of the marks of the batch before.
    fn hear(&mut self, c: &mut Connection, arrived: u32, batch: &Batch) {
        let (limited, subflow) = (c.subflows[self.i].limited, self.i);
        let rtt = Some(((batch.rtt * 8.0 / MICROSECOND as f64) as u32).max(1));
        let [before, own] = batch.marked;
        let first = if before > 0 { before.max(arrived / 2) } else { 0 };
        for (packets, marked) in [(first, before), (arrived - first, own)] {
            if packets == 0 {
                continue;
            }
            let told = Told::Ack { packets, marked, rtt, limited, subflow };
            let window = c.group[subflow].cwnd.max(1);
            if c.hosts.play(&mut c.group, told).event == "mark" {
                let s = &mut c.subflows[self.i];
                s.counters.mark_cuts += 1;
                s.echo.cut = 1.0 - f64::from(c.group[subflow].cwnd) / f64::from(window);
                if packets == arrived - first && s.echo.late > 0 {
                    // The marks that come late are of packets that were sent before the cut.
                    c.hosts.extend_recovery(self.i, s.echo.late.max(arrived / 2));
                }
            }
        }
    }

    /// Enough duplicate ACKs: the window is cut, and what is lost is sent again.
    fn repair(&mut self, c: &mut Connection) {
        let recovery = c.config.recovery;
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
        // Without SACK a round repairs one hole: by partial ACKs the next round repairs the next one (RFC 6582),
        // without them the timer repairs all others (RFC 5681).
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
        let (timer, last_sent) = (s.repair.timer, s.last_sent);
        let at = (last_sent + self.timeout_after(c)).max(self.now);
        self.plan(c, at, Kind::Timeout(timer));
    }

    /// The retransmission timeout.
    fn timeout_after(&self, c: &Connection) -> Time {
        let (config, s) = (&c.config, &c.subflows[self.i]);
        let (srtt, variation) = (s.rtt.smoothed as Time, s.rtt.variation as Time);
        let rto = if srtt == 0 { config.rto_initial } else { config.rto(srtt, variation) };
        rto.saturating_mul(1 << s.repair.backoff.min(16)).min(config.rto_max)
    }

    /// The retransmission timer. Returns how many packets are sent.
    pub fn timeout(&mut self, c: &mut Connection, timer: u32) -> u32 {
        let s = &mut c.subflows[self.i];
        if timer != s.repair.timer || s.repair.holes == 0 && !s.echo.held {
            return 0;
        }
        s.counters.timeouts += 1;
        s.repair.backoff += 1;
        s.repair.stalled = false;
        s.repair.resend += s.repair.holes;
        (s.repair.holes, s.repair.since, s.repair.next_at) = (0, 0, 0);
        s.gap = 0.0;
        let held = std::mem::take(&mut s.echo.held);
        c.hosts.play(&mut c.group, Told::Timeout { subflow: self.i });
        if held { self.repeat(c) } else { self.send(c) }
    }

    /// The only packet in flight, whose ACK is held back, is sent once more: the receiver answers a duplicate at once.
    fn repeat(&mut self, c: &mut Connection) -> u32 {
        let s = &mut c.subflows[self.i];
        self.advance(&s.way);
        let rtt = self.trip(&s.way);
        let Some(batch) = s.batches.front_mut() else { return 0 };
        // The receiver echoes the time of the first copy: its ACK was held back.
        (batch.number, batch.rtt) = (s.next, (self.now - s.last_sent) as f64 + rtt);
        s.next += 1;
        s.counters.retransmissions += 1;
        s.last_sent = self.now;
        s.acked_at = self.now + rtt as Time;
        let (number, at) = (s.next - 1, s.acked_at);
        self.plan(c, at, Kind::Acked(number));
        1
    }
}

/// A new subflow of a connection, whose window is the transport's initial one.
pub(crate) fn admit(group: &mut Group, hosts: &mut Hosts, i: usize, config: &Config) {
    group.insert(i, config.initial_window);
    group[i].ssthresh = config.initial_ssthresh;
    group[i].mss = config.mss;
    hosts.open(config.initial_window);
}
