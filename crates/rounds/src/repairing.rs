//! Losses: how they are noticed, and what is sent again.

use tresse_controllers::State;
use tresse_controllers::trace::Event as Told;
use tresse_transport::Recovery;
use tresse_units::{MICROSECOND, Time};

use crate::connection::Connection;
use crate::events::Kind;
use crate::sending::Place;

impl Place<'_> {
    /// Enough duplicate ACKs: the window is cut, and what is lost is sent again.
    pub(crate) fn repair(&mut self, c: &mut Connection) {
        let recovery = c.config.recovery;
        let s = &mut c.subflows[self.i];
        let told =
            s.repair.since >= s.repair.duplicates || s.repair.next_at > 0 && self.now >= s.repair.next_at;
        if s.repair.holes == 0 {
            s.repair.next_at = 0;
        }
        if s.repair.holes == 0 || !told || self.now < s.repair.next_at || recovery == Recovery::GoBackN {
            return;
        }
        if c.group[s.place].state < State::Recovery {
            s.counters.recoveries += 1;
        }
        c.hosts.play(&mut c.group, Told::Loss { subflow: s.place });
        // Without SACK a round repairs one hole: by partial ACKs the next round repairs the next one (RFC 6582),
        // without them the timer repairs all others (RFC 5681).
        let repaired = if recovery.uses_sack() { s.repair.holes } else { 1 };
        s.repair.resend += repaired;
        s.repair.holes -= repaired;
        s.repair.since = 0;
        s.repair.stalled = s.repair.holes > 0 && recovery != Recovery::NewReno;
        s.repair.next_at = self.now + u64::from(c.group[s.place].srtt) * (MICROSECOND / 8);
    }

    /// Starts the timer if nothing is left that would say what was lost.
    pub(crate) fn arm(&mut self, c: &mut Connection) {
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
    pub(crate) fn timeout_after(&self, c: &Connection) -> Time {
        let (config, s) = (&c.config, &c.subflows[self.i]);
        let (srtt, variation) = (s.rtt.smoothed as Time, s.rtt.variation as Time);
        let rto = if srtt == 0 { config.rto_initial } else { config.rto(srtt, variation) };
        rto.saturating_mul(1 << s.repair.backoff.min(16)).min(config.rto_max)
    }

    /// The retransmission timer. Returns how many packets are sent.
    pub fn timeout(&mut self, c: &mut Connection, timer: u32) -> u32 {
        if c.sprayed.is_some() {
            return self.timeout_sprayed(c);
        }
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
        c.hosts.play(&mut c.group, Told::Timeout { subflow: s.place });
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
