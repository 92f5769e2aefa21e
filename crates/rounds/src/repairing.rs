//! Losses: how they are noticed, and what is sent again.

use tresse_controllers::State;
use tresse_controllers::trace::Event as Told;
use tresse_transport::Recovery;
use tresse_units::Time;

use crate::connection::Connection;
use crate::events::Kind;
use crate::sending::Place;

impl Place<'_> {
    /// After the ACKs of the batch of this number: if enough are duplicates, the window is cut, and what is lost is sent again;
    /// or it waits for the timer, if fast retransmission may not repair it.
    pub(crate) fn repair(&mut self, c: &mut Connection, number: u32, may_repair: bool) {
        let recovery = c.config.recovery;
        let s = &mut c.subflows[self.i];
        if s.repair.holes == 0 {
            s.repair.answer = None;
        }
        let answered = s.repair.answer.map(|first| number >= first);
        let told = match recovery {
            // A partial ACK shows the next hole (RFC 6582 §3.2).
            Recovery::NewReno if answered.is_some() => answered == Some(true),
            _ => s.repair.since >= s.repair.duplicates && answered != Some(false),
        };
        if s.repair.holes == 0 || !told || recovery == Recovery::GoBackN {
            return;
        }
        // While there is a hole, no ACK is beyond what had been sent.
        if recovery == Recovery::RenoOnce && (s.repair.stalled || !may_repair) {
            let holes = s.repair.holes;
            return self.stall(c, holes);
        }
        let before = c.group[s.place].cwnd;
        if std::mem::take(&mut s.repair.stalled) {
            // The ACK of the packet that was sent again has ended the last recovery (RFC 5681 §3.2), and started the timer
            // anew.
            s.repair.forgotten = 0;
            c.hosts.end_recovery(&mut c.group, s.place);
        }
        if c.group[s.place].state < State::Recovery {
            s.counters.recoveries += 1;
        }
        c.hosts.play(&mut c.group, Told::Loss { subflow: s.place });
        // Without SACK a round repairs one hole: by partial ACKs the next round repairs the next one (RFC 6582),
        // without them further duplicate ACKs do, or the timer (RFC 5681).
        let repaired = if recovery.uses_sack() { s.repair.holes } else { 1 };
        s.repair.resend += repaired;
        s.repair.holes -= repaired;
        s.repair.since = 0;
        s.repair.once = s.in_flight + s.repair.resend + s.repair.holes;
        // What is out now was sent before the cut, and is no reason for another one.
        c.hosts.extend_recovery(s.place, s.repair.once);
        s.repair.answer = Some(u32::MAX);
        if s.repair.holes > 0 && recovery != Recovery::NewReno {
            // The ACK of the packet that was sent again leads to the next hole. What has arrived beyond that counts as in flight
            // again, because its duplicate ACKs have gone by: the holes are anywhere in the window that was cut.
            let beyond = libm::pow(c.stream.unit(), 1.0 / f64::from(s.repair.holes));
            let forgotten = (f64::from(before) * beyond) as u32;
            self.stall(c, forgotten);
        }
    }

    /// What is lost waits for the timer, which runs since the last packet was sent again. Until then so many packets count as in
    /// flight that will not be heard of.
    fn stall(&mut self, c: &mut Connection, forgotten: u32) {
        let s = &mut c.subflows[self.i];
        s.repair.forgotten = s.repair.forgotten.max(forgotten);
        if std::mem::replace(&mut s.repair.stalled, true) {
            return;
        }
        s.repair.timer += 1;
        let (timer, at) = (s.repair.timer, self.now + self.timeout_after(c));
        self.plan(c, at, Kind::Timeout(timer));
    }

    /// Starts the timer if nothing is left that would say what was lost, unless it runs since then.
    pub(crate) fn arm(&mut self, c: &mut Connection) {
        let s = &mut c.subflows[self.i];
        let silent = s.batches.is_empty() && s.outgoing.is_none();
        if s.repair.holes == 0 || !silent || s.repair.stalled {
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
        if std::mem::take(&mut s.repair.stalled) {
            // The ACK of the packet that was sent again has ended the recovery (RFC 5681 §3.2).
            c.hosts.end_recovery(&mut c.group, s.place);
        }
        s.repair.resend += s.repair.holes;
        s.repair.once = s.repair.resend + s.in_flight;
        s.repair.forgotten = 0;
        (s.repair.holes, s.repair.since, s.repair.answer) = (0, 0, None);
        s.leaving.gap = 0.0;
        let held = std::mem::take(&mut s.echo.held);
        c.hosts.play(&mut c.group, Told::Timeout { subflow: s.place });
        if held { self.repeat(c) } else { self.send(c) }
    }

    /// The only packet in flight, whose ACK is held back, is sent once more: the receiver answers a duplicate at once.
    fn repeat(&mut self, c: &mut Connection) -> u32 {
        let s = &mut c.subflows[self.i];
        self.advance(&s.way);
        let rtt = self.trip(&s.way, c.wire);
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
