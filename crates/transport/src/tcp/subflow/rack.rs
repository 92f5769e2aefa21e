//! RACK-TLP (RFC 8985): losses by time, and a probe before the timeout. Sections are the RFC's;
//! differences from Linux are stated.

use tresse_controllers::{Cause, Group, State};

use tresse_units::{NEVER, Time};

use super::{Alarm, Subflow};
use crate::tcp::scoreboard::{Delivered, sent_after};
use crate::{Ack, Block, Config};

/// Recoveries without a DSACK after which the reordering window is small again (§6.2 step 4).
const PERSIST: u32 = 16;

/// The most quarters of the shortest RTT in the reordering window (Linux; the only bound in the RFC is the
/// smoothed RTT).
const MOST_STEPS: u32 = 255;

/// §5.2 and §7.1: the state of RACK-TLP for a connection.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// `RACK.xmit_ts` and `RACK.end_seq`: the latest transmission of those that have arrived.
    newest: (Time, u32),
    /// `RACK.rtt`: the RTT of that transmission.
    rtt: Time,
    /// `RACK.fack`: one after the highest segment that has arrived.
    fack: u32,
    reordering_seen: bool,
    /// `RACK.dsack_round`: a DSACK counts again when this segment is ACKed.
    dsack_round: Option<u32>,
    /// `RACK.reo_wnd_mult` less 1.
    more_steps: u32,
    persist: u32,
    probe: Probe,
}

#[derive(Debug, Default)]
struct Probe {
    /// It is time to send one: a new segment, or the last one again.
    due: Option<Due>,
    /// `TLP.end_seq`: a probe is in flight until this is ACKed.
    end: Option<u32>,
    /// `TLP.is_retrans`.
    again: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    New,
    Last,
}

impl Rack {
    /// §6.2 steps 2 and 3, for a segment that this ACK delivers: `RACK_update`, `RACK_detect_reordering`.
    fn deliver(&mut self, now: Time, segment: Delivered, echo: Time, min_rtt: Time) {
        let Delivered { seq, time, again } = segment;
        if seq >= self.fack {
            self.fack = seq + 1;
        } else if !again {
            self.reordering_seen = true;
        }
        let rtt = now - time;
        if again && (echo < time || rtt < min_rtt) {
            return; // an earlier transmission may have arrived
        }
        self.rtt = rtt;
        if sent_after((time, seq), self.newest) {
            self.newest = (time, seq);
        }
    }

    /// §6.2 step 4, when an ACK brings a DSACK. As in Linux, a DSACK does not affect the reordering window
    /// before reordering was seen.
    fn widen(&mut self, una: u32, nxt: u32, dsack: bool) {
        if self.dsack_round.is_some_and(|round| una >= round) {
            self.dsack_round = None;
        }
        if dsack && self.reordering_seen && self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.more_steps = (self.more_steps + 1).min(MOST_STEPS - 1);
            self.persist = PERSIST;
        }
    }

    /// §6.2 step 4, when a recovery ends.
    pub(super) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.more_steps = 0;
        }
    }

    /// §6.2 step 4: `RACK.reo_wnd`; `sure` says that something is lost, as far as counting can tell.
    fn reordering_window(&self, sure: bool, min_rtt: Time, srtt: Time) -> Time {
        if !self.reordering_seen && sure {
            return 0;
        }
        (min_rtt / 4).saturating_mul(u64::from(self.more_steps) + 1).min(srtt)
    }
}

/// The duplicate that an ACK reports: RFC 2883 §4, its first block is below the cumulative ACK or within the
/// second.
fn dsack(header: &Ack) -> Option<Block> {
    let blocks = header.sack();
    let first = *blocks.first()?;
    let within = blocks.get(1).is_some_and(|b| b.start <= first.start && first.end <= b.end);
    (first.start < header.seq || within).then_some(first)
}

impl Subflow {
    /// The number of segments that an ACK delivers, with RACK.
    pub(super) fn deliver_timed(&mut self, now: Time, header: &Ack) -> u32 {
        let Some(rack) = &mut self.rack else { return 0 };
        let min_rtt = self.rtt.min();
        let mut each = |segment| rack.deliver(now, segment, header.stamp.time(), min_rtt);
        let mut delivered = self.board.acknowledge_timed(header.seq, &mut each);
        // In order, because a block below another in the same ACK is no reordering.
        let mut blocks = header.blocks;
        let blocks = &mut blocks[..header.count as usize];
        blocks.sort_unstable_by_key(|b| b.start);
        for block in blocks {
            delivered += self.board.sack_timed(block.start, block.end, &mut each);
        }
        delivered
    }

    /// §7.4.2, `TLP_process_ack`, and the DSACK of §6.2 step 4.
    pub(super) fn handle_probe_ack(
        &mut self,
        header: &Ack,
        fresh: bool,
        config: &Config,
        group: &mut Group,
        i: usize,
    ) {
        let Some(rack) = &mut self.rack else { return };
        rack.probe.due = None;
        let dsack = dsack(header);
        let Some(end) = rack.probe.end else {
            rack.widen(header.seq, self.board.nxt(), dsack.is_some());
            return;
        };
        let of_probe = rack.probe.again && dsack.is_some_and(|b| b.end == end);
        rack.widen(header.seq, self.board.nxt(), dsack.is_some() && !of_probe);
        if header.seq < end {
            return;
        }
        // The probe repaired a loss if its segment arrived only once: then more than it is ACKed, and neither
        // a DSACK nor a duplicate ACK has reported a second arrival.
        let repaired = rack.probe.again && !of_probe;
        if !repaired || header.seq > end || !fresh {
            rack.probe.end = None;
        }
        if repaired && header.seq > end && group[i].state < State::Recovery {
            self.reduce_at_once(config, group, i);
        }
    }

    /// §6.2 step 5, on every ACK (Linux: on those that deliver something): marks losses. Sets the timer if
    /// more may follow later, and returns whether it did.
    pub(super) fn detect_losses(&mut self, now: Time, config: &Config, state: State) -> bool {
        let Some(rack) = &mut self.rack else { return false };
        let sure = state >= State::Recovery || self.board.sacked() >= self.duplicate_threshold;
        let window = rack.reordering_window(sure, self.rtt.min(), self.rtt.srtt());
        let Some(due) = self.board.lose_older(now, rack.newest, rack.rtt + window) else { return false };
        self.alarm = Alarm::Reordering;
        self.deadline = due.saturating_add(config.timer_slack).min(now.saturating_add(self.rtt.rto(config)));
        true
    }

    /// The reordering timer has fired (§6.2 step 5; Linux's `tcp_rack_reo_timeout`).
    pub(super) fn handle_reordering_timeout(
        &mut self,
        now: Time,
        config: &Config,
        group: &mut Group,
        i: usize,
    ) {
        let before = self.board.losses();
        let waits = self.detect_losses(now, config, group[i].state);
        if self.board.losses() > before {
            if group[i].state != State::Recovery {
                self.enter_recovery(config, group, i);
            }
            self.reduce(1, false, group, i);
        }
        if !waits {
            self.restore_rto(now, config);
        }
    }

    /// §7.3: sends a probe, unless one is in flight; `more` says whether there is new data to send.
    pub(super) fn handle_probe_timeout(&mut self, now: Time, config: &Config, more: bool) {
        let Some(rack) = &mut self.rack else { return };
        if rack.probe.end.is_some() {
            self.restore_rto(now, config);
            return;
        }
        rack.probe.due = Some(if more { Due::New } else { Due::Last });
        self.alarm = Alarm::Retransmission;
        self.deadline = now.saturating_add(self.rtt.rto(config));
    }

    /// The last segment, if a probe is to send it again.
    pub(super) fn retransmit_probe(&mut self, now: Time) -> Option<(u32, u32)> {
        let probe = &mut self.rack.as_mut()?.probe;
        if probe.due != Some(Due::Last) {
            return None;
        }
        probe.due = None;
        let segment = self.board.probe_last(now)?;
        (probe.end, probe.again) = (Some(self.board.nxt()), true);
        self.counters.probes += 1;
        Some(segment)
    }

    /// Whether a probe waits for new data.
    pub(super) fn probes_with_new_data(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.probe.due == Some(Due::New))
    }

    /// A new segment was sent, perhaps as a probe: sets the timer (§7.2). `idle` says that it is the
    /// only one.
    pub(super) fn set_timer_after_transmit(&mut self, now: Time, config: &Config, state: State, idle: bool) {
        if let Some(rack) = &mut self.rack
            && rack.probe.due.take() == Some(Due::New)
        {
            (rack.probe.end, rack.probe.again) = (Some(self.board.nxt()), false);
            self.counters.probes += 1;
            return;
        }
        if self.alarm == Alarm::Reordering {
            return;
        }
        if let Some(probe) = self.probe_time(now, config, state) {
            let expiry = self.board.time(self.board.una()).saturating_add(self.rtt.rto(config));
            self.alarm = Alarm::Probe;
            self.deadline = if expiry > now { probe.min(expiry) } else { probe };
        } else if idle || self.alarm == Alarm::Probe {
            self.restore_rto(now, config);
        }
    }

    /// `seq` was sent again. If it is the first one, the timeout counts from now, unless the reordering
    /// timer runs (Linux's `tcp_xmit_retransmit_queue`).
    #[inline]
    pub(super) fn set_timer_after_retransmit(&mut self, now: Time, seq: u32, config: &Config) {
        if self.rack.is_some() && seq == self.board.una() && self.alarm != Alarm::Reordering {
            self.alarm = Alarm::Retransmission;
            self.deadline = now.saturating_add(self.rtt.rto(config));
        }
    }

    /// An ACK has advanced and no reordering window is open: sets the timer (§7.2, §8).
    pub(super) fn set_timer_after_ack(&mut self, now: Time, config: &Config, state: State) {
        let rto = now.saturating_add(self.rtt.rto(config));
        (self.alarm, self.deadline) = if self.board.outstanding() == 0 {
            (Alarm::Retransmission, NEVER)
        } else if let Some(probe) = self.probe_time(now, config, state) {
            (Alarm::Probe, probe.min(rto))
        } else {
            (Alarm::Retransmission, rto)
        };
    }

    /// §7.2, `TLP_calc_PTO`: when to probe, if at all. Linux allows for a delayed ACK by its smallest
    /// retransmission timeout, 200 ms, the RFC's example of a worst case.
    fn probe_time(&self, now: Time, config: &Config, state: State) -> Option<Time> {
        if !matches!(state, State::Open | State::Cwr) || self.board.sacked() > 0 {
            return None;
        }
        Some(match (self.rtt.srtt(), self.board.outstanding()) {
            (0, _) => now.saturating_add(config.rto_initial),
            (srtt, 1) => now.saturating_add(2 * srtt + config.rto_min),
            (srtt, _) => now.saturating_add(2 * srtt + config.timer_slack),
        })
    }

    /// The timer is a retransmission timeout again, counted from the first segment's transmission.
    fn restore_rto(&mut self, now: Time, config: &Config) {
        self.alarm = Alarm::Retransmission;
        let expiry = self.board.time(self.board.una()).saturating_add(self.rtt.rto(config));
        self.deadline = expiry.max(now.saturating_add(1));
    }

    /// The window goes down for a loss that a probe has repaired (§7.4.2).
    fn reduce_at_once(&mut self, config: &Config, group: &mut Group, i: usize) {
        if self.start_reduction(Cause::Loss, State::Cwr, config, group, i) {
            self.high_seq = self.board.nxt();
            Self::end_reduction(group, i);
        }
    }

    /// §6.3, after a timeout: marks losses, and returns the resulting window (Linux's `tcp_enter_loss`).
    pub(super) fn lose_by_time(&mut self, now: Time) -> u32 {
        if let Some(rack) = &mut self.rack {
            rack.probe = Probe::default();
            self.board.lose_on_timeout(now, rack.rtt);
        }
        self.board.in_flight() + 1
    }

    /// A recovery or a reduction begins: no probe is in flight any more (Linux's
    /// `tcp_init_cwnd_reduction`).
    pub(super) fn forget_probe(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.probe = Probe::default();
        }
    }
}

#[cfg(test)]
mod tests;
