//! What the links have done to a batch: its marks, its losses, when its ACKs come.

use tresse_units::Time;

use crate::connection::{Batch, Connection, Outgoing, Subflow, Way};
use crate::events::Kind;
use crate::link::Shares;
use crate::links::Links;
use crate::sending::Place;

/// What the links have done to a batch.
struct Fate {
    /// The share of its packets that found a full queue, and in its host's port alone.
    overflow: f64,
    overflow_at_host: f64,
    /// The shares of the others that no chance has lost, and that were not marked.
    kept: f64,
    unmarked: f64,
    /// Which of its packets the queue that marked most has marked.
    marks: Which,
    /// The share of its packets that were sent before the queue that dropped most was full.
    before: f64,
    /// The batch's share of what has flowed into that queue.
    share: f64,
}

/// Which packets of a batch are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// The first ones: the queue is below K at its end.
    First,
    /// The last ones: it is above K.
    Last,
    /// Any: RED marks them.
    Any,
}

impl Which {
    fn of(links: &Links, link: u32) -> Self {
        match links[link].is_above() {
            _ if links.is_early(link) => Self::Any,
            true => Self::Last,
            false => Self::First,
        }
    }
}

impl Batch {
    /// Its first packets, none of which is lost, and the others, if there are both.
    fn divide(self, before: u32) -> (Self, Option<Self>) {
        if before == 0 || before == self.packets {
            return (self, None);
        }
        let part = self.growth * f64::from(before) / f64::from(self.packets);
        let [late, own] = self.marked;
        let fits = [late.min(before), own.min(before - late.min(before))];
        let first = Self {
            packets: before,
            fresh: self.fresh.min(before),
            marked: fits,
            lost: 0,
            growth: part,
            ..self
        };
        let second = Self {
            number: self.number + 1,
            packets: self.packets - before,
            fresh: self.fresh - first.fresh,
            marked: [late - fits[0], own - fits[1]],
            rtt: self.rtt + part,
            growth: self.growth - part,
            ..self
        };
        (first, Some(second))
    }
}

impl Fate {
    /// Of what is left, a hop marks these shares, has no room for them, and loses them by chance.
    fn pass(&mut self, [marked, full, lost]: [f64; 3]) {
        self.unmarked *= 1.0 - marked;
        self.overflow += (1.0 - self.overflow) * full;
        self.kept *= 1.0 - lost;
    }

    /// The share of its packets that have arrived.
    fn arrived(&self) -> f64 {
        (1.0 - self.overflow) * self.kept
    }
}

impl Subflow {
    /// Of `marked` packets of a batch that takes a round: those that are heard of with its first ACK. That comes half a
    /// round before its middle, so that of its first half is heard, and before that of the second half of the batch
    /// before: how many were marked of each. `chance` decides where half a packet belongs.
    fn shift(&mut self, marked: u32, arrived: u32, which: Which, chance: bool) -> [u32; 2] {
        let half = arrived.div_ceil(2);
        let (fills, rests) = (marked.min(half), marked.saturating_sub(half));
        let early = match which {
            Which::First => fills,
            Which::Last => rests,
            Which::Any => (marked + u32::from(chance)) / 2,
        };
        let late = marked - early;
        let before = std::mem::replace(&mut self.echo.late, late).min(arrived);
        [before, early.min(arrived - before)]
    }
}

/// More packets than this that a queue drops of all flows together: their chances even out.
const MANY: f64 = 64.0;

/// How many packets of a batch are lost: as many as find a full queue, and of the others all but a share that is `kept`.
fn lost(c: &mut Connection, packets: u32, fate: &Fate) -> u32 {
    // A full queue lets in one packet for each that leaves. Packets come evenly spaced, at the pace of ACKs: so it drops
    // every so-many-th, not each with the same chance. Whose that is, is chance: the batch has its share of the inflow.
    let mean = f64::from(packets) * fate.overflow;
    let all = mean / fate.share;
    let full = if mean == 0.0 {
        0
    } else if fate.share > 0.999 || all > MANY {
        (mean + c.stream.unit()) as u32
    } else {
        let dropped = (all + c.stream.unit()) as u32;
        (0..dropped).filter(|_| c.stream.unit() < fate.share).count() as u32
    };
    let full = full.min(packets);
    if fate.kept >= 1.0 {
        return full;
    }
    full + (full..packets).filter(|_| c.stream.unit() >= fate.kept).count() as u32
}

impl Place<'_> {
    /// The batch is out, and its first ACK comes later. Returns how many packets follow it.
    pub fn sent(&mut self, c: &mut Connection) -> u32 {
        let number = c.subflows[self.i].next;
        if self.prolong(c, Kind::Sent) {
            return 0;
        }
        let Some(at) = self.settle(c) else { return 0 };
        let s = &c.subflows[self.i];
        if !s.is_open || c.sprayed.is_some() || !self.hold(c) {
            self.plan(c, at, Kind::Acked(number));
        }
        self.send(c)
    }

    /// The batch is out: what has become of it. Returns when its first ACK arrives. If packets were sent before the first one
    /// that was lost, their ACKs let others leave before it is noticed: they are a batch of their own.
    pub(crate) fn settle(&mut self, c: &mut Connection) -> Option<Time> {
        let mut out = c.subflows[self.i].outgoing.take()?;
        let late = self.late(&c.subflows[self.i].way, &out, c.wire);
        self.release(&c.subflows[self.i].way, &mut out);
        let lasted = (out.end - out.start) as f64;
        let fate = self.fate(c, &out);
        let lost = lost(c, out.packets, &fate);
        let Fate { unmarked, marks: which, before, .. } = fate;
        let [marked_at_host, lost_at_host] = out.at_host.map(|n| n.min(out.packets));
        // Its own port has no room for more from where it is full on. A queue that is full loses packets evenly.
        let at_host = 1.0 - f64::from(lost_at_host) / f64::from(out.packets) / (1.0 - out.clocked);
        let first = before + (1.0 - before) / f64::from(lost + 1);
        let before = if lost_at_host > lost { at_host.max(0.0) } else { first };
        let more = lost_at_host.saturating_sub(lost);
        self.links.record_mut(c.subflows[self.i].way.links[0]).count(0.0, more.into(), 0.0);
        let lost = lost + more;
        let arrived = out.packets - lost;
        let marks = f64::from(arrived) * (1.0 - unmarked);
        let marks = if which == Which::Any { marks * (1.0 - out.pause) } else { marks };
        let marked = if marks > 0.0 { ((marks + c.stream.unit()) as u32).min(arrived) } else { 0 };
        let marked = if c.config.ecn { marked.max(marked_at_host.min(arrived)) } else { marked };
        // After a cut nothing is sent until so many fewer are in flight. Here the batch begins at once, and its first
        // packets find the queue of before.
        let paused = if which == Which::First { f64::from(out.packets) * out.pause } else { 0.0 };
        let marked = marked.saturating_sub(paused.round() as u32);
        // Not in slow start, where the window that such a delay adds would be as large as all before it.
        let starts = c.subflows[self.i].is_open && c.own(self.i).cwnd < c.own(self.i).ssthresh;
        let takes_round = lasted > out.rtt / 2.0 && !starts;
        let fresh = c.pass(self.i, arrived);
        let chance = which == Which::Any && c.stream.unit() < 0.5;
        let s = &mut c.subflows[self.i];
        let marked = if takes_round { s.shift(marked, arrived, which, chance) } else { [0, marked] };
        let now_rtt = self.trip(&s.way, c.wire) + late;
        let back = s.way.links[s.way.hops];
        let ack = self.links[back].transmission(f64::from(c.config.ack * out.packets));
        // Without what waits in the hosts: where that is longer than what was expected, the first ACK comes later.
        let alone = out.rtt - out.behind - out.held;
        let spread = (lasted + now_rtt - alone).max(s.way.least_gap * f64::from(out.packets));
        let [behind, behind_last] = self.links.behind_bursts(&s.way, &out, spread, self.now);
        s.leaving.behind = behind;
        s.leaving.in_burst = behind > behind_last;
        let gap = (spread + behind_last - behind).max(ack) / f64::from(out.packets);
        let out_rtt = if out.held > 0.0 { (alone + behind).max(out.rtt) } else { alone + behind };
        let growth = now_rtt + behind_last - (alone + behind);
        let (number, packets, rtt) = (s.next, out.packets, out_rtt + out.queue);
        let all = Batch { number, packets, fresh, marked, lost, rtt, growth, gap };
        s.acked_at = s.acked_at.max(out.start + out_rtt as Time).max(self.now);
        let at = s.acked_at;
        let before = if lost > 0 { ((before * f64::from(out.packets)) as u32).min(arrived) } else { 0 };
        let (first, second) = all.divide(before);
        s.batches.push_back(first);
        s.next += 1;
        if let Some(second) = second {
            s.batches.push_back(second);
            s.next += 1;
            s.acked_at += (gap * f64::from(before)) as Time;
        }
        let noticed = second.map(|second| (s.acked_at, second.number));
        if fresh > 0 {
            let last = out.start + (out.forward + spread - s.way.least_gap).max(0.0) as Time;
            let (last, before) = (last.max(self.now), c.passed.packets);
            c.passed.packets += u64::from(fresh);
            c.passed.last = c.passed.last.max(last);
            self.complete(c, &out, [before, fresh.into()], last);
        }
        if let Some((at, number)) = noticed {
            self.plan(c, at, Kind::Acked(number));
        }
        if c.passed.packets >= c.packets && c.messages.is_none() {
            self.plan(c, c.passed.last, Kind::Finished);
        }
        let lost_at_host = f64::from(lost_at_host).max(f64::from(out.packets) * fate.overflow_at_host);
        self.hand_on(c, &out, lost_at_host);
        Some(at)
    }

    /// What the links have done to a batch that is out. Where its packets are divided over the links of a hop, each has its
    /// share.
    fn fate(&mut self, c: &Connection, out: &Outgoing) -> Fate {
        let way = &c.subflows[self.i].way;
        let lasted = (out.end - out.start) as f64;
        let mut fate = Fate {
            overflow: 0.0,
            overflow_at_host: 0.0,
            kept: 1.0,
            unmarked: 1.0,
            marks: Which::First,
            before: 0.0,
            share: 1.0,
        };
        let (mut most, mut most_dropped, mut hop, mut of_hop) = (0.0, 0.0, 0, [0.0; 3]);
        for (place, (&number, before)) in way.there().iter().zip(&out.before).enumerate() {
            if way.hop(place) != hop {
                fate.pass(std::mem::take(&mut of_hop));
                fate.overflow_at_host = if hop == 0 { fate.overflow } else { fate.overflow_at_host };
                hop = way.hop(place);
            }
            let Shares { marked, lost } = self.links[number].shares();
            let mut marked = ((marked - before.marked) / lasted).clamp(0.0, 1.0);
            let mut dropped = ((lost - before.lost) / lasted).clamp(0.0, 1.0);
            if marked == 0.0 && dropped == 0.0 && !way.loses {
                continue;
            }
            let (is_down, which) = (self.links[number].is_down(), Which::of(self.links, number));
            let share = way.share(place);
            let own = share * if way.hop(place) == 0 { out.rate } else { out.beyond.rate };
            let (before, of_inflow) =
                (self.links[number].before_full(own, dropped), self.links[number].share(own));
            let record = self.links.record_mut(number);
            let n = f64::from(out.packets) * fate.arrived() * share;
            if is_down {
                // It has lost all since it failed.
                (most_dropped, fate.before) = (share, 1.0 - dropped);
                record.count(0.0, 0.0, n * dropped);
                of_hop[1] += share * dropped;
                continue;
            }
            if !c.config.ecn {
                dropped = if record.drops_non_ect { dropped.max(marked) } else { dropped };
                marked = 0.0;
            }
            if share * dropped > most_dropped {
                (most_dropped, fate.before, fate.share) = (share * dropped, before, of_inflow);
            }
            if share * marked > most {
                (most, fate.marks) = (share * marked, which);
            }
            record.count(n * marked, n * dropped, n * record.random_loss);
            of_hop[0] += share * marked;
            of_hop[1] += share * dropped;
            of_hop[2] += share * record.random_loss;
        }
        fate.pass(of_hop);
        if self.links.any_down() {
            // Without ACKs all counts as lost.
            let down = |place: &usize| self.links[way.links[*place]].is_down();
            let back = (way.hops..way.links.len()).filter(down).map(|place| way.share(place));
            fate.kept *= (1.0 - back.sum::<f64>()).max(0.0);
        }
        fate
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

    /// What of a batch that is over has not flowed into the links beyond its host's port, which has dropped `lost` packets of it,
    /// follows with the next batch, and at once if there is none.
    fn hand_on(&mut self, c: &mut Connection, out: &Outgoing, lost: f64) {
        let is_last = c.unsent == 0;
        let s = &mut c.subflows[self.i];
        s.leaving.owed += (f64::from(out.packets) - lost) * c.wire - out.beyond.bytes;
        if !is_last || s.repair.resend > 0 {
            return;
        }
        let owed = std::mem::take(&mut s.leaving.owed).max(0.0);
        for (place, &link) in s.way.there().iter().enumerate().filter(|(place, _)| s.way.hop(*place) > 0) {
            self.links[link].pour(owed * s.way.share(place));
        }
    }

    /// The batch no longer flows. Its links are up to date then.
    pub fn release(&mut self, way: &Way, out: &mut Outgoing) {
        out.beyond.bytes += out.beyond.rate * (self.now - out.beyond.since) as f64;
        for (place, &link) in way.links.iter().enumerate() {
            let rate = match place < way.hops {
                true if way.hop(place) == 0 => out.rate,
                true => out.beyond.rate,
                false => out.acks,
            };
            let rate = rate * way.share(place);
            self.links.advance(link, self.now).end(rate);
            if let Some(fair) = self.links.fair_at(link, self.now) {
                match out.turns.get(place) {
                    Some(&turn) if place < way.hops => fair.end(turn, rate),
                    _ => fair.add_acks(-rate),
                }
            }
        }
    }
}
