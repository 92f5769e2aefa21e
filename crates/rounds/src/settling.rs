//! What the links have done to a batch: its marks, its losses, when its ACKs come.

use tresse_units::Time;

use crate::connection::{Batch, Connection, Outgoing, Subflow, Way};
use crate::events::Kind;
use crate::link::Shares;
use crate::sending::Place;

/// What the links have done to a batch.
struct Fate {
    /// The shares of its packets that have arrived, and that were not marked.
    kept: f64,
    unmarked: f64,
    /// Whether the queue that marked most is above its threshold now.
    rising: bool,
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

impl Place<'_> {
    /// The batch is out, and its first ACK comes later. Returns how many packets follow it.
    pub fn sent(&mut self, c: &mut Connection) -> u32 {
        let Some(acked) = self.settle(c) else { return 0 };
        let s = &mut c.subflows[self.i];
        s.acked_at = s.acked_at.max(acked);
        let (number, at) = (s.next - 1, s.acked_at);
        if !s.is_open || !self.hold(c) {
            self.plan(c, at, Kind::Acked(number));
        }
        self.send(c)
    }

    /// The batch is out: what has become of it. Returns when its first ACK arrives.
    pub(crate) fn settle(&mut self, c: &mut Connection) -> Option<Time> {
        let out = c.subflows[self.i].outgoing.take()?;
        self.release(&c.subflows[self.i].way, &out);
        let lasted = (out.end - out.start) as f64;
        let Fate { kept, unmarked, rising } = self.fate(c, &out);
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
        let starts = c.subflows[self.i].is_open && c.own(self.i).cwnd < c.own(self.i).ssthresh;
        let takes_round = lasted > out.rtt / 2.0 && !starts;
        let fresh = c.pass(self.i, arrived);
        let s = &mut c.subflows[self.i];
        let marked = if takes_round { s.shift(marked, arrived, rising) } else { [0, marked] };
        let now_rtt = self.trip(&s.way);
        let spread = (lasted + now_rtt - out.rtt).max(s.way.least_gap * f64::from(out.packets));
        let gap = spread / f64::from(out.packets);
        let growth = now_rtt - out.rtt;
        s.batches.push_back(Batch {
            number: s.next,
            packets: out.packets,
            fresh,
            marked,
            lost,
            rtt: out.rtt,
            growth,
            gap,
        });
        s.next += 1;
        if fresh > 0 {
            c.passed += u64::from(fresh);
            let last = out.start + (out.forward + spread - s.way.least_gap).max(0.0) as Time;
            c.last = c.last.max(last).max(self.now);
        }
        if c.passed >= c.packets {
            self.plan(c, c.last, Kind::Finished);
        }
        Some((out.start + out.rtt as Time).max(self.now))
    }

    /// What the links have done to a batch that is out.
    fn fate(&mut self, c: &Connection, out: &Outgoing) -> Fate {
        let s = &c.subflows[self.i];
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
        Fate { kept, unmarked, rising }
    }

    /// Whether the last batch is a single packet whose ACK waits for the receiver's timer, because no other packet
    /// follows: then that, or the sender's timer before it, is planned.
    pub(crate) fn hold(&mut self, c: &mut Connection) -> bool {
        let delayed = c.config.delayed_ack;
        let window = c.window(self.i);
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
}
