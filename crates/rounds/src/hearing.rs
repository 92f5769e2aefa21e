//! ACKs: what they tell the controller.

use tresse_controllers::State;
use tresse_controllers::trace::Event as Told;
use tresse_fabric::Histogram;
use tresse_units::{MICROSECOND, Time};

use crate::connection::{Acks, Batch, Connection};
use crate::events::Kind;
use crate::sending::Place;

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
    /// The first ACK of the batch of this number: the controller hears of the whole batch. Returns how many packets
    /// follow.
    pub fn acked(&mut self, c: &mut Connection, number: u32) -> u32 {
        if c.subflows[self.i].next == number {
            if self.prolong(c, Kind::Acked(number)) {
                return 0;
            }
            let at = self.settle(c);
            if c.subflows[self.i].is_open && c.sprayed.is_none() && self.hold(c) {
                return 0;
            }
            let waits = c.subflows[self.i].leaving.behind > 0.0;
            if let Some(at) = at.filter(|&at| waits && at > self.now) {
                self.plan(c, at, Kind::Acked(number));
                return self.send(c);
            }
        }
        let s = &mut c.subflows[self.i];
        if s.batches.front().is_none_or(|batch| batch.number != number) {
            return 0; // it was sent again, and this is the ACK that its first copy would have had
        }
        let Some(batch) = s.batches.pop_front() else { return 0 };
        c.arrived += u64::from(batch.fresh);
        if !s.is_open {
            return 0; // it was closed meanwhile
        }
        s.echo.held = false;
        let arrived = batch.packets - batch.lost;
        if arrived > 0 {
            let late = (s.arrived - s.arrived_by(self.now)) as u32;
            s.arrived += u64::from(arrived);
            // However ACKs come, packets arrive no faster than the slowest link lets them.
            let gap = batch.gap.max(s.way.least_gap);
            let until = self.now + (gap * f64::from(late + arrived)) as Time;
            s.acks = Acks { packets: late + arrived, since: self.now, until };
            s.repair.backoff = 0;
            s.counters.marks += batch.marked.map(u64::from).iter().sum::<u64>();
            if let Some(rtts) = self.rtts.get_mut(c.spec.group as usize) {
                batch.record(arrived, rtts);
            }
        }
        match c.sprayed {
            Some(_) => self.hear_sprayed(c, &batch),
            None => self.take(c, arrived, &batch),
        }
        if arrived > 0 {
            // What the ACKs allow, more in slow start and less after a cut, leaves while they arrive.
            let window = c.window(self.i);
            let s = &mut c.subflows[self.i];
            let room = window.saturating_sub(s.in_flight);
            s.leaving.gap = batch.gap * f64::from(arrived) / f64::from(room.max(1));
        }
        // Where a link has failed, there are no other ACKs that would let something leave.
        let sent = if arrived > 0 || !self.links.any_down() { self.send(c) } else { 0 };
        self.arm(c);
        sent
    }

    /// What the ACKs of a batch, of which `arrived` packets have arrived, do to TCP.
    fn take(&mut self, c: &mut Connection, arrived: u32, batch: &Batch) {
        let s = &mut c.subflows[self.i];
        s.in_flight -= batch.packets;
        s.repair.holes += batch.lost;
        let may_repair = s.repair.once == 0;
        s.repair.once = s.repair.once.saturating_sub(batch.packets);
        if arrived == 0 {
            return;
        }
        s.repair.timer += u32::from(!s.repair.stalled);
        s.repair.since = if s.repair.holes > 0 { s.repair.since + arrived } else { 0 };
        s.rtt.sample(batch.rtt);
        if s.repair.holes > 0 && c.group[s.place].state == State::Recovery {
            // It ends when the last hole is filled (RFC 6582 §3.2), and a window is cut once for all of them.
            c.hosts.extend_recovery(s.place, arrived + s.repair.holes);
        }
        // ACKs of packets that were sent after a lost one are duplicates: the window does not grow by them.
        let notices = batch.lost > 0 && c.group[c.subflows[self.i].place].state < State::Recovery;
        if notices {
            self.repair(c, batch.number, may_repair);
        }
        if !c.subflows[self.i].repair.stalled {
            self.hear(c, arrived, batch);
        }
        if !notices {
            self.repair(c, batch.number, may_repair);
        }
    }

    /// The controller hears of `arrived` packets of a batch, and first of the marks of the batch before.
    fn hear(&mut self, c: &mut Connection, arrived: u32, batch: &Batch) {
        let (limited, subflow) = (c.subflows[self.i].limited, c.subflows[self.i].place);
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
                    c.hosts.extend_recovery(s.place, s.echo.late.max(arrived / 2));
                }
            }
        }
    }
}
