//! Linux's congestion states: when they begin and end, and their effect on the window.

use tresse_controllers::{Cause, Group, Hooks, INFINITE_SSTHRESH, State};

use super::{Prr, Subflow};
use crate::{Config, Recovery, Reduction};

impl Subflow {
    /// CWR ends with the first ACK beyond the window that was cut, before the controller hears of that ACK: so the
    /// round that it ends may grow, and its own mark may cut again. Linux leaves CWR at the start of
    /// `tcp_fastretrans_alert`, before `cong_avoid` and before it looks at the ACK's ECE.
    #[inline]
    pub(super) fn leave_cwr(&self, seq: u32, config: &Config, group: &mut Group, i: usize) {
        if group[i].state != State::Cwr || seq <= self.high_seq {
            return;
        }
        if config.grow_in_cwr {
            // The growth since the cut stays.
            group[i].state = State::Open;
        } else {
            Self::end_reduction(group, i);
        }
    }

    /// Linux's `tcp_fastretrans_alert`, without undo: first, the other states that an ACK ends.
    pub(super) fn leave_state(
        &mut self,
        seq: u32,
        advanced: bool,
        config: &Config,
        group: &mut Group,
        i: usize,
    ) {
        let reno = !config.recovery.uses_sack();
        // Without SACK, duplicate ACKs for segments below high_seq would start a false recovery: hold the
        // state until something above it is ACKed (RFC 6582 §4.1).
        let passed = if reno { seq > self.high_seq } else { seq >= self.high_seq };
        match group[i].state {
            State::Recovery if passed || (advanced && config.recovery.ends_with_first_ack()) => {
                Self::end_reduction(group, i);
                self.note_recovered();
            }
            State::Loss if passed => {
                group[i].state = State::Open;
                self.note_recovered();
            }
            State::Open | State::Disorder | State::Cwr | State::Recovery | State::Loss => {}
        }
        // Duplicates represented segments that are ACKed now; those of a go-back-N mean nothing.
        if reno && advanced && group[i].state != State::Recovery {
            self.board.forget_duplicates();
        }
    }

    /// Second, the states that it begins; with RACK, losses have already been marked.
    pub(super) fn enter_state(
        &mut self,
        seq: u32,
        advanced: bool,
        marked: bool,
        config: &Config,
        group: &mut Group,
        i: usize,
    ) {
        match group[i].state {
            State::Loss => self.judge(config),
            State::Recovery => {
                if config.recovery.uses_sack() {
                    self.judge(config);
                } else if advanced && seq < self.high_seq {
                    // A partial ACK: the segment after it is a hole too (RFC 6582 §3.2 step 3).
                    self.board.lose_head();
                    self.forced = true;
                }
            }
            State::Open | State::Disorder | State::Cwr => {
                if self.has_loss() && (config.recovery != Recovery::RenoOnce || seq >= self.recover_end) {
                    self.enter_recovery(config, group, i);
                } else if group[i].state != State::Cwr
                    && !(marked && self.enter_cwr(Cause::Mark, config, group, i))
                {
                    let sacked = self.board.sacked() > 0;
                    group[i].state = if sacked { State::Disorder } else { State::Open };
                }
            }
        }
    }

    /// Whether a recovery has to begin.
    #[inline]
    pub(super) fn has_loss(&self) -> bool {
        if self.rack.is_some() {
            self.board.lost() > 0
        } else {
            self.board.sacked() >= self.duplicate_threshold
        }
    }

    /// With RFC 6675: marks losses.
    pub(super) fn judge(&mut self, config: &Config) {
        if config.recovery == Recovery::Sack {
            self.board.judge(self.duplicate_threshold);
        }
    }

    pub(super) fn enter_recovery(&mut self, config: &Config, group: &mut Group, i: usize) {
        self.counters.recoveries += 1;
        let cut = group[i].state == State::Cwr;
        if cut {
            self.deepen_reduction(config, group, i);
        } else {
            self.start_reduction(Cause::Loss, State::Recovery, config, group, i);
        }
        group[i].state = State::Recovery;
        // Linux's `tcp_enter_recovery` keeps the end of the window that a mark has cut; RFC 6675 and 6582 do not.
        if !(cut && config.recovery == Recovery::Rack && self.high_seq > self.board.una()) {
            self.high_seq = self.board.nxt();
        }
        self.recover_end = self.board.nxt() + 1;
        self.forget_probe();
        match config.recovery {
            // The reduction releases the first retransmission.
            Recovery::Rack => return,
            Recovery::Sack => self.board.judge(self.duplicate_threshold),
            Recovery::GoBackN | Recovery::Reno | Recovery::RenoOnce | Recovery::NewReno => {
                self.board.lose_head();
            }
        }
        self.forced = true;
    }

    #[inline]
    pub(super) fn note_recovered(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.recovered();
        }
    }

    /// A mark, or congestion in this host (Linux's `tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self, cause: Cause, config: &Config, group: &mut Group, i: usize) -> bool {
        if !self.start_reduction(cause, State::Cwr, config, group, i) {
            return false;
        }
        self.counters.mark_cuts += u64::from(cause == Cause::Mark);
        self.high_seq = self.board.nxt();
        group[i].state = State::Cwr;
        true
    }

    /// Returns whether a reduction begins: not if the mark is ignored.
    pub(super) fn start_reduction(
        &mut self,
        cause: Cause,
        to: State,
        config: &Config,
        group: &mut Group,
        i: usize,
    ) -> bool {
        let Some(window) = group.congestion(i, cause) else { return false };
        let window = match config.floor {
            Some(floor) if cause == Cause::Mark => with_floor(floor, window, group, i),
            _ => window,
        };
        self.cwr = true;
        self.forget_probe();
        self.prr = Prr { prior_cwnd: group[i].cwnd, delivered: 0, out: 0 };
        let own = &mut group[i];
        own.ssthresh = window;
        if !self.uses_prr(config, to) {
            own.cwnd = own.cwnd.min(window);
        }
        true
    }

    /// A recovery begins in the round after a cut for a mark, which may have been smaller than the loss
    /// requires.
    fn deepen_reduction(&mut self, config: &Config, group: &mut Group, i: usize) {
        if !group.deepen(i, self.prr.prior_cwnd) {
            return;
        }
        let own = &mut group[i];
        if !self.uses_prr(config, State::Recovery) {
            own.cwnd = own.cwnd.min(own.ssthresh);
        } else if !self.uses_prr(config, State::Cwr) {
            // The mark's cut was made at once: PRR begins with the resulting window.
            self.prr = Prr { prior_cwnd: own.cwnd, delivered: 0, out: 0 };
        }
    }

    pub(super) fn end_reduction(group: &mut Group, i: usize) {
        let own = &mut group[i];
        if own.ssthresh < INFINITE_SSTHRESH {
            own.cwnd = own.ssthresh;
        }
        own.state = State::Open;
    }

    pub(super) fn uses_prr(&self, config: &Config, state: State) -> bool {
        config.reduction == Reduction::Prr || (state == State::Recovery && config.recovery.uses_sack())
    }

    /// The window that releases as many packets as the reduction allows now; `safe` as in [`Prr::allowance`].
    pub(super) fn reduce(&mut self, delivered: u32, safe: bool, group: &mut Group, i: usize) {
        if delivered == 0 || self.prr.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.board.in_flight();
        let own = &mut group[i];
        own.cwnd = in_flight + self.prr.allowance(delivered, safe, in_flight, own.ssthresh);
    }
}

/// The window after a mark with a floor other than the controller's. With a lower one: one packet less, if
/// the controller's own floor keeps the window from going down. A mark that only ends slow start still makes
/// no cut.
fn with_floor(floor: u32, window: u32, group: &Group, i: usize) -> u32 {
    let (own, least) = (&group[i], group.scheme().controller().min_cwnd());
    let held = own.cwnd <= least && own.cwnd >= own.ssthresh;
    if floor >= least {
        window.max(floor.min(own.cwnd))
    } else if held && window >= own.cwnd {
        (own.cwnd - 1).max(floor)
    } else {
        window
    }
}
