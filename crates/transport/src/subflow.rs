//! The sending half of one subflow: Linux's congestion states around a controller.

use tresse_controllers::{Ack, CWND_LIMIT, Cause, Group, INFINITE_SSTHRESH, State};

use crate::rtt::{RttEstimator, eighths};
use crate::scoreboard::Scoreboard;
use crate::{Config, Echo, NEVER, Recovery, Reduction, Time, Wire};

/// What a subflow has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent for the first time.
    pub sent: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries entered.
    pub recoveries: u64,
    /// Windows cut for an ECN mark.
    pub mark_cuts: u64,
    /// CE marks that ACKs echoed.
    pub marks: u64,
}

/// Duplicate ACKs or SACKed segments that make a loss (RFC 5681 §3.2).
const DUPLICATE_THRESHOLD: u32 = 3;

/// Proportional rate reduction (RFC 6937; Linux's `tcp_cwnd_reduction`).
#[derive(Debug, Clone, Copy, Default)]
struct Prr {
    prior_cwnd: u32,
    delivered: u32,
    out: u32,
}

#[derive(Debug)]
pub(crate) struct Subflow {
    pub board: Scoreboard,
    rtt: RttEstimator,
    /// Where the state that is held ends: the next segment to be sent when it began.
    high_seq: u32,
    /// A round ends when this segment is ACKed (XMP Figure 2, beg_seq).
    round_end: u32,
    /// A round has begun since `grow` was last called.
    round_seen: bool,
    prr: Prr,
    /// A retransmission that goes out whatever the window is: RFC 5681 §3.2, RFC 6582 §3.2.
    forced: bool,
    /// The next new segment tells the receiver that the window was cut, for whatever reason (RFC 3168
    /// §6.1.2).
    pub cwr: bool,
    /// The window, not the application, stopped the last transmission.
    pub limited: bool,
    pub deadline: Time,
    pub counters: Counters,
}

impl Subflow {
    pub fn new() -> Self {
        Self {
            board: Scoreboard::new(),
            rtt: RttEstimator::new(),
            high_seq: 0,
            round_end: 0,
            round_seen: false,
            prr: Prr::default(),
            forced: false,
            cwr: false,
            limited: false,
            deadline: NEVER,
            counters: Counters::default(),
        }
    }

    /// An ACK for subflow `i` of `group`.
    pub fn handle_ack(&mut self, now: Time, wire: &Wire, config: &Config, group: &mut Group, i: usize) {
        let prior_una = self.board.una();
        if wire.seq < prior_una || wire.seq > self.board.nxt() {
            return;
        }
        let advanced = wire.seq > prior_una;
        let delivered = self.deliver(wire, advanced, config);
        if advanced {
            self.rtt.sample(now - wire.stamp);
            self.rtt.reset_backoff();
            self.arm(now, config);
        }
        let marked = match config.echo {
            Echo::TwoBit => u32::from(wire.ce),
            Echo::Dctcp => delivered * u32::from(wire.ce),
            Echo::Rfc3168 => u32::from(wire.ce),
        };
        self.counters.marks += u64::from(marked);

        let new_round = wire.seq > self.round_end;
        if new_round {
            self.round_end = self.board.nxt();
            self.round_seen = true;
        }
        let rtt = if advanced { eighths(now - wire.stamp) } else { 0 };
        let mut ack = Ack { delivered, marked, rtt, new_round: new_round.into(), now: now / 1_000_000 };
        let own = &mut group[i];
        own.srtt = self.rtt.srtt_eighths();
        own.min_rtt = self.rtt.min_eighths();
        own.in_flight = self.board.in_flight();
        own.cwnd_limited = self.limited.into();
        if delivered > 0 {
            group.ack(i, &ack);
        }

        self.change_state(wire.seq, advanced, marked > 0, config, group, i);

        match group[i].state {
            State::Cwr | State::Recovery => {
                if self.uses_prr(config, group[i].state) {
                    self.reduce(delivered, advanced, group, i);
                }
            }
            State::Open | State::Disorder | State::Loss => {
                if advanced && self.limited && delivered > 0 {
                    ack.new_round = std::mem::take(&mut self.round_seen).into();
                    group.grow(i, &ack);
                    group[i].cwnd = group[i].cwnd.min(CWND_LIMIT - 1);
                }
            }
        }
    }

    /// The retransmission timer has fired (RFC 6298 §5; Linux's `tcp_enter_loss`).
    pub fn handle_timeout(&mut self, now: Time, config: &Config, group: &mut Group, i: usize) {
        if self.board.outstanding() == 0 {
            self.deadline = NEVER;
            return;
        }
        self.counters.timeouts += 1;
        self.cwr = true;
        let state = group[i].state;
        let again = state == State::Loss && self.rtt.backed_off();
        let asks =
            state <= State::Disorder || self.high_seq <= self.board.una() || (state == State::Loss && !again);
        if asks && let Some(window) = group.congestion(i, Cause::Loss) {
            group[i].ssthresh = window;
        }
        group.timeout(i);
        self.board.lose_all(config.recovery.uses_sack());
        group[i].cwnd = 1;
        group[i].state = State::Loss;
        self.high_seq = self.board.nxt();
        self.forced = true;
        self.rtt.back_off();
        self.arm(now, config);
    }

    /// A lost segment that may be sent again now: its sequence number and data sequence number.
    #[inline]
    pub fn retransmit(&mut self, cwnd: u32) -> Option<(u32, u32)> {
        if !self.forced && (!self.board.has_lost() || self.board.in_flight() >= cwnd) {
            return None;
        }
        self.forced = false;
        let segment = self.board.retransmit()?;
        self.counters.retransmissions += 1;
        self.prr.out += 1;
        Some(segment)
    }

    /// Sends a new segment: its sequence number.
    #[inline]
    pub fn transmit(&mut self, now: Time, dsn: u32, config: &Config) -> u32 {
        self.counters.sent += 1;
        self.prr.out += 1;
        let seq = self.board.push(dsn);
        if self.deadline == NEVER {
            self.arm(now, config);
        }
        seq
    }

    /// Whether a new segment may be sent.
    #[inline]
    pub fn has_room(&self, cwnd: u32) -> bool {
        self.board.in_flight() < cwnd && !self.board.has_lost()
    }

    fn arm(&mut self, now: Time, config: &Config) {
        let idle = self.board.outstanding() == 0;
        self.deadline = if idle { NEVER } else { now + self.rtt.rto(config) };
    }

    /// Brings the scoreboard up to date: how many segments the ACK delivers.
    #[inline]
    fn deliver(&mut self, wire: &Wire, advanced: bool, config: &Config) -> u32 {
        if config.recovery.uses_sack() {
            let mut delivered = if advanced { self.board.acknowledge(wire.seq) } else { 0 };
            for block in &wire.blocks[..wire.block_count.into()] {
                delivered += self.board.sack(block.start, block.end);
            }
            delivered
        } else if advanced {
            self.board.acknowledge_reno(wire.seq)
        } else if self.board.outstanding() > 0 && config.recovery != Recovery::GoBackN {
            self.board.duplicate_ack()
        } else {
            0
        }
    }

    /// Linux's `tcp_fastretrans_alert`, without undo.
    fn change_state(
        &mut self,
        seq: u32,
        advanced: bool,
        marked: bool,
        config: &Config,
        group: &mut Group,
        i: usize,
    ) {
        let reno = !config.recovery.uses_sack();
        // Without SACK, duplicate ACKs for what lies below high_seq would start a false recovery:
        // hold the state until something above it is ACKed (RFC 6582 §4.1).
        let passed = if reno { seq > self.high_seq } else { seq >= self.high_seq };
        match group[i].state {
            State::Open | State::Disorder => {}
            State::Cwr if seq > self.high_seq => Self::end_reduction(group, i),
            State::Recovery if passed || (advanced && config.recovery == Recovery::Reno) => {
                Self::end_reduction(group, i);
            }
            State::Loss if passed => group[i].state = State::Open,
            State::Cwr | State::Recovery | State::Loss => {}
        }
        // Duplicates stood for segments that are ACKed now; those of a go-back-N stand for nothing.
        if reno && advanced && group[i].state != State::Recovery {
            self.board.forget_duplicates();
        }
        match group[i].state {
            State::Loss => {
                if !reno {
                    self.board.judge(DUPLICATE_THRESHOLD);
                }
            }
            State::Recovery => {
                if !reno {
                    self.board.judge(DUPLICATE_THRESHOLD);
                } else if advanced && seq < self.high_seq {
                    // A partial ACK: the segment after it is a hole too (RFC 6582 §3.2 step 3).
                    self.board.lose_head();
                    self.forced = true;
                }
            }
            State::Open | State::Disorder | State::Cwr => {
                if self.board.sacked() >= DUPLICATE_THRESHOLD {
                    self.enter_recovery(config, group, i);
                } else if group[i].state != State::Cwr && !(marked && self.enter_cwr(config, group, i)) {
                    let sacked = self.board.sacked() > 0;
                    group[i].state = if sacked { State::Disorder } else { State::Open };
                }
            }
        }
    }

    fn enter_recovery(&mut self, config: &Config, group: &mut Group, i: usize) {
        self.counters.recoveries += 1;
        if group[i].state != State::Cwr {
            self.start_reduction(Cause::Loss, State::Recovery, config, group, i);
        }
        group[i].state = State::Recovery;
        self.high_seq = self.board.nxt();
        if config.recovery.uses_sack() {
            self.board.judge(DUPLICATE_THRESHOLD);
        } else {
            self.board.lose_head();
        }
        self.forced = true;
    }

    fn enter_cwr(&mut self, config: &Config, group: &mut Group, i: usize) -> bool {
        if !self.start_reduction(Cause::Mark, State::Cwr, config, group, i) {
            return false;
        }
        self.counters.mark_cuts += 1;
        self.high_seq = self.board.nxt();
        group[i].state = State::Cwr;
        true
    }

    /// Whether there is one: not if the mark is ignored.
    fn start_reduction(
        &mut self,
        cause: Cause,
        to: State,
        config: &Config,
        group: &mut Group,
        i: usize,
    ) -> bool {
        let Some(window) = group.congestion(i, cause) else { return false };
        self.cwr = true;
        self.prr = Prr { prior_cwnd: group[i].cwnd, delivered: 0, out: 0 };
        let own = &mut group[i];
        own.ssthresh = window;
        if !self.uses_prr(config, to) {
            own.cwnd = own.cwnd.min(window);
        }
        true
    }

    fn end_reduction(group: &mut Group, i: usize) {
        let own = &mut group[i];
        if own.ssthresh < INFINITE_SSTHRESH {
            own.cwnd = own.ssthresh;
        }
        own.state = State::Open;
    }

    fn uses_prr(&self, config: &Config, state: State) -> bool {
        config.reduction == Reduction::Prr || (state == State::Recovery && config.recovery.uses_sack())
    }

    /// RFC 6937 §3: the window that lets go as many packets as the reduction allows now.
    fn reduce(&mut self, delivered: u32, advanced: bool, group: &mut Group, i: usize) {
        if delivered == 0 || self.prr.prior_cwnd == 0 {
            return;
        }
        self.prr.delivered += delivered;
        let own = &mut group[i];
        let in_flight = self.board.in_flight();
        let send = if in_flight > own.ssthresh {
            let target = u64::from(own.ssthresh) * u64::from(self.prr.delivered);
            let target = target.div_ceil(u64::from(self.prr.prior_cwnd)) as u32;
            target.saturating_sub(self.prr.out)
        } else {
            let bound = self.prr.delivered.saturating_sub(self.prr.out).max(delivered) + u32::from(advanced);
            bound.min(own.ssthresh - in_flight)
        };
        // The first transmission of a recovery always goes out.
        let send = send.max(u32::from(self.prr.out == 0));
        own.cwnd = in_flight + send;
    }
}
