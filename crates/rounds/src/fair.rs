//! Hosts' ports that serve subflows in turn (`host_queue = "fq"`), as fluids.

use tresse_units::Time;

use crate::connection::{Connection, Outgoing, Way};
use crate::events::Kind;
use crate::sending::{Flow, Place};

/// A batch that is late by less than this share of its time only has later ACKs.
const LITTLE: f64 = 1.0 / 16.0;

/// Tells a share from the slightly larger one that rounding makes.
const EQUAL: f64 = 1.0 + 1e-9;

/// A port with a queue for each subflow. Subflows that send less than their share have what they send, and divide what
/// is left evenly: generalized processor sharing (Parekh and Gallager 1993), of batches instead of packets. ACKs do not
/// wait.
#[derive(Debug, Clone)]
pub(crate) struct FairPort {
    /// Bytes per ps.
    rate: f64,
    /// What those that need less than their share send, ACKs among them, bytes per ps.
    modest: f64,
    /// Batches of subflows that send as much as the port lets them; and of all.
    greedy: u32,
    senders: u32,
    /// What each of the greedy has been served until `at`, bytes.
    served: f64,
    at: Time,
}

/// A batch in a fair port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// Whether it takes all that the port leaves it.
    greedy: bool,
    /// Whether its subflow has a queue in the port, so that it also takes what others leave later.
    waits: bool,
    /// What the port had served each of the greedy when it began, bytes.
    served: f64,
}

impl FairPort {
    /// One of this rate, bytes per ps.
    pub fn new(rate: f64) -> Self {
        Self { rate, modest: 0.0, greedy: 0, senders: 0, served: 0.0, at: 0 }
    }

    /// What each of the greedy gets, of which there are `greedy` among so many senders, bytes per ps.
    fn share(&self, greedy: u32, senders: u32) -> f64 {
        let left = (self.rate - self.modest).max(0.0) / f64::from(greedy.max(1));
        // Those that need less never take the share of others.
        left.max(self.rate / f64::from(senders.max(1)))
    }

    /// Brings it to the time `now`.
    pub fn advance(&mut self, now: Time) {
        self.served += (now - self.at) as f64 * self.share(self.greedy, self.senders);
        self.at = now;
    }

    /// What one more batch may take, bytes per ps.
    pub fn offer(&self) -> f64 {
        self.share(self.greedy + 1, self.senders + 1)
    }

    /// How long a packet of these bytes waits for its turn, ps.
    pub fn wait(&self, bytes: f64) -> f64 {
        bytes / self.offer() - bytes / self.rate
    }

    /// The most that is left of a packet of these bytes that is in transmission, times the chance that one is, ps.
    pub fn rest(&self, bytes: f64) -> f64 {
        let busy = if self.greedy > 0 { self.rate } else { self.modest.min(self.rate) };
        busy * bytes / (self.rate * self.rate)
    }

    /// A batch begins, at this rate, bytes per ps; `waits`: its subflow has a queue here. The port is up to date.
    pub fn begin(&mut self, rate: f64, waits: bool) -> Turn {
        let greedy = waits || rate * EQUAL >= self.offer();
        self.senders += 1;
        self.greedy += u32::from(greedy);
        self.modest += if greedy { 0.0 } else { rate };
        Turn { greedy, waits, served: self.served }
    }

    /// It ends. The port is up to date.
    pub fn end(&mut self, turn: Turn, rate: f64) {
        self.senders -= 1;
        self.greedy -= u32::from(turn.greedy);
        self.add_acks(if turn.greedy { 0.0 } else { -rate });
    }

    /// How much longer a batch of `bytes` takes, whose time is over, because others have come meanwhile, or how much
    /// shorter it would have been because others have left, ps. The port is up to date.
    pub fn late(&self, turn: Turn, bytes: f64) -> f64 {
        let late = (bytes - (self.served - turn.served)) / self.share(self.greedy, self.senders);
        match turn {
            Turn { greedy: false, .. } => 0.0,
            Turn { waits: true, .. } => late,
            // ACKs come no sooner.
            Turn { waits: false, .. } => late.max(0.0),
        }
    }

    /// ACKs come at this rate too, or with a negative one no longer, bytes per ps.
    pub fn add_acks(&mut self, rate: f64) {
        self.modest += rate;
        if self.modest < self.rate * 1e-10 {
            self.modest = 0.0; // the error of rounding
        }
    }

    /// Its rate changes. It is up to date.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
    }
}

impl Place<'_> {
    /// How much longer a batch takes because others have come to its host's port meanwhile, ps; negative if others have
    /// left.
    pub fn late(&mut self, way: &Way, out: &Outgoing, bytes: f64) -> f64 {
        let sent = f64::from(out.packets) * bytes;
        let mut late = 0.0;
        for ((link, share), &turn) in way.first_hop().zip(&out.turns) {
            if let Some(fair) = self.links.fair_at(link, self.now) {
                late += share * fair.late(turn, sent * share);
            }
        }
        late
    }

    /// Whether a batch whose time is over is not out yet, because others have come to its host's port. Then it goes on with
    /// the share that it has now, and `kind` is planned for when that lets it end.
    pub fn prolong(&mut self, c: &mut Connection, kind: Kind) -> bool {
        let s = &mut c.subflows[self.i];
        let Some(mut out) = s.outgoing.take_if(|out| !out.turns.is_empty()) else { return false };
        let late = self.late(&s.way, &out, c.wire);
        if late <= ((self.now - out.start) as f64 * LITTLE).max(s.way.first_gap(self.links, c.wire)) {
            s.outgoing = Some(out);
            return false;
        }
        self.release(&s.way, &mut out);
        let slower = c.wire / s.way.first_gap(self.links, c.wire) / out.rate;
        (out.rate, out.acks) = (out.rate * slower, out.acks * slower);
        // What of it has not left the port yet.
        let left = f64::from(out.packets) * c.wire - out.beyond.bytes;
        let Flow { passed, turns, .. } = self.flow(&s.way, [out.rate, out.acks], true, |_| left / late);
        (out.beyond.rate, out.beyond.since) = (passed, self.now);
        for (turn, now) in out.turns.iter_mut().zip(turns) {
            *turn = Turn { served: turn.served, waits: turn.waits, ..now };
        }
        out.end = self.now + late as Time;
        if kind != Kind::Sent {
            s.acked_at = out.end;
        }
        let end = out.end;
        s.last_sent = end;
        s.outgoing = Some(out);
        self.plan(c, end, kind);
        true
    }
}
