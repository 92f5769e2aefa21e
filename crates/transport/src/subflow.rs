//! The sending half of one subflow: Linux's congestion states around a controller.

mod pacing;
mod plb;
mod prr;
mod rack;
mod state;

use std::ops::{AddAssign, Sub};

use serde::{Deserialize, Serialize};
use tresse_controllers::{self as controllers, Ack, Cause, Group, Hooks, State};

use self::pacing::Pacer;
use self::plb::Balancer;
use self::prr::Prr;
use self::rack::Rack;
use crate::rtt::{RttEstimator, eighths};
use crate::scoreboard::Scoreboard;
use crate::{Config, Echo, Recovery, Wire};
use tresse_units::{NEVER, Time};

/// The counters of a subflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Segments sent for the first time.
    pub sent: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Segments whose data another subflow had sent before; counted as sent too.
    pub reinjections: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries entered.
    pub recoveries: u64,
    /// Windows cut for an ECN mark.
    pub mark_cuts: u64,
    /// CE marks that ACKs echoed.
    pub marks: u64,
    /// Tail loss probes (RFC 8985 §7), new segments and retransmissions; counted there too.
    pub probes: u64,
    /// Rounds (XMP §2.1); each is counted when its first segment is ACKed, so that time without ACKs has none.
    pub rounds: u64,
    /// The windows under which these rounds were sent, summed, packets.
    pub windows: u64,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.retransmissions += other.retransmissions;
        self.reinjections += other.reinjections;
        self.timeouts += other.timeouts;
        self.recoveries += other.recoveries;
        self.mark_cuts += other.mark_cuts;
        self.marks += other.marks;
        self.probes += other.probes;
        self.rounds += other.rounds;
        self.windows += other.windows;
    }
}

impl Sub for Counters {
    type Output = Self;

    /// The counts since `before`.
    fn sub(self, before: Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            retransmissions: self.retransmissions - before.retransmissions,
            reinjections: self.reinjections - before.reinjections,
            timeouts: self.timeouts - before.timeouts,
            recoveries: self.recoveries - before.recoveries,
            mark_cuts: self.mark_cuts - before.mark_cuts,
            marks: self.marks - before.marks,
            probes: self.probes - before.probes,
            rounds: self.rounds - before.rounds,
            windows: self.windows - before.windows,
        }
    }
}

/// Duplicate ACKs or SACKed segments that make a loss (RFC 5681 §3.2), where packets keep their order.
const DUPLICATE_THRESHOLD: u32 = 3;

/// The current purpose of a subflow's only timer (RFC 8985 §8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alarm {
    Retransmission,
    Probe,
    Reordering,
}

#[derive(Debug)]
pub(crate) struct Subflow {
    pub board: Scoreboard,
    pub rtt: RttEstimator,
    /// Where the held state ends: the next segment to be sent when it began.
    high_seq: u32,
    /// With [`Recovery::RenoOnce`]: the least ACK that may begin a fast retransmit, one beyond RFC 6582's `recover`.
    recover_end: u32,
    /// A round ends when this segment is ACKed (XMP Figure 2, beg_seq).
    round_end: u32,
    /// A round has begun since `grow` was last called.
    round_seen: bool,
    prr: Prr,
    /// A retransmission that goes out regardless of the window: RFC 5681 §3.2, RFC 6582 §3.2.
    forced: bool,
    /// The next new segment reports to the receiver that the window was cut, for whatever reason (RFC 3168
    /// §6.1.2).
    pub cwr: bool,
    /// The window, not the application, stopped the last transmission.
    limited: bool,
    /// It has neither RACK nor pacing: their steps are skipped.
    plain: bool,
    /// With pacing: until this segment is ACKed the window counts as the limit, or as used by this
    /// many packets (Linux's `tcp_cwnd_validate`).
    usage_end: u32,
    most_out: u32,
    /// Duplicate ACKs or SACKed segments that make a loss on this subflow.
    pub duplicate_threshold: u32,
    deadline: Time,
    alarm: Alarm,
    rack: Option<Box<Rack>>,
    pacer: Option<Box<Pacer>>,
    balancer: Option<Box<Balancer>>,
    pub counters: Counters,
}

impl Subflow {
    /// The subflow with this number in its connection.
    pub fn new(config: &Config, number: usize) -> Self {
        let rack = config.recovery == Recovery::Rack;
        Self {
            board: if rack { Scoreboard::timed() } else { Scoreboard::new() },
            rtt: RttEstimator::new(),
            high_seq: 0,
            recover_end: 0,
            round_end: 0,
            round_seen: false,
            prr: Prr::default(),
            forced: false,
            cwr: false,
            limited: false,
            plain: !rack && !config.pacing,
            usage_end: 0,
            most_out: 0,
            duplicate_threshold: DUPLICATE_THRESHOLD,
            deadline: NEVER,
            alarm: Alarm::Retransmission,
            rack: rack.then(Box::default),
            pacer: config.pacing.then(Box::default),
            balancer: config.plb.map(|_| Box::new(Balancer::new(number))),
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
        if advanced {
            self.rtt.sample(now - wire.stamp);
            self.rtt.reset_backoff();
        }
        let racks = self.rack.is_some();
        let delivered =
            if racks { self.deliver_timed(now, wire) } else { self.deliver(wire, advanced, config) };
        if !racks && advanced {
            self.arm(now, config);
        }
        if racks && !advanced && delivered > 0 {
            // RACK cannot wait for the first sample: Linux takes those of SACKed segments too.
            self.rtt.sample(now - wire.stamp);
        }
        let marked = match config.echo {
            Echo::TwoBit => u32::from(wire.ce),
            Echo::Dctcp => delivered * u32::from(wire.ce),
            Echo::Rfc3168 => u32::from(wire.ce),
        };
        self.counters.marks += u64::from(marked);
        self.balance_after_ack(now, delivered, wire.ce, config);

        self.leave_cwr(wire.seq, config, group, i);
        let new_round = wire.seq > self.round_end;
        if new_round {
            self.round_end = self.board.nxt();
            self.round_seen = true;
            self.counters.rounds += 1;
            self.counters.windows += u64::from(group[i].cwnd);
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

        let losses = self.board.losses();
        if racks {
            self.handle_probe_ack(wire, advanced || delivered > 0, config, group, i);
        }
        self.leave_state(wire.seq, advanced, config, group, i);
        let retransmitted = self.board.retransmitted();
        let waits = racks && self.detect_losses(now, config, group[i].state);
        if group[i].state == State::Loss && self.board.retransmitted() < retransmitted {
            // A retransmission was lost again: one more cut (Linux's FLAG_LOST_RETRANS).
            self.enter_recovery(config, group, i);
        }
        self.enter_state(wire.seq, advanced, marked > 0, config, group, i);
        if racks && advanced && !waits {
            self.set_timer_after_ack(now, config, group[i].state);
        }
        let safe = advanced && self.board.losses() == losses;

        match group[i].state {
            State::Cwr | State::Recovery if self.uses_prr(config, group[i].state) => {
                self.reduce(delivered, safe, group, i);
            }
            State::Cwr if !config.grow_in_cwr => {}
            State::Recovery => {}
            State::Open | State::Disorder | State::Cwr | State::Loss => {
                if advanced && self.limited && delivered > 0 {
                    ack.new_round = std::mem::take(&mut self.round_seen).into();
                    group.grow(i, &ack);
                    group[i].cwnd = group[i].cwnd.min(config.receive_window);
                }
            }
        }
        self.set_pace(config, &group[i]);
    }

    /// Reports the RTT known before the first ACK of data to the controller: the handshake's sample.
    pub fn publish_rtt(&mut self, config: &Config, own: &mut controllers::Subflow) {
        own.srtt = self.rtt.srtt_eighths();
        own.min_rtt = self.rtt.min_eighths();
        if own.srtt > 0 {
            self.set_pace(config, own);
        }
    }

    /// The host's own port is congested: a reason for one cut per window, like a mark.
    pub fn handle_local_congestion(&mut self, config: &Config, group: &mut Group, i: usize) {
        if group[i].state <= State::Disorder && self.board.outstanding() > 0 {
            self.enter_cwr(Cause::Local, config, group, i);
        }
    }

    /// The deadline has passed; `more` says whether there is new data to send. If it was the pacing's, there
    /// is something to transmit, but nothing else to do.
    pub fn handle_timeout(&mut self, now: Time, config: &Config, group: &mut Group, i: usize, more: bool) {
        if now < self.deadline {
            return;
        }
        if self.board.outstanding() == 0 {
            self.deadline = NEVER;
            return;
        }
        match self.alarm {
            Alarm::Retransmission => self.handle_retransmission_timeout(now, config, group, i),
            Alarm::Probe => self.handle_probe_timeout(now, config, more),
            Alarm::Reordering => self.handle_reordering_timeout(now, config, group, i),
        }
    }

    /// When the timer fires or, with pacing, the next burst may leave.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.pacer {
            Some(pacer) if pacer.waiting => self.deadline.min(pacer.next()),
            _ => self.deadline,
        }
    }

    /// RFC 6298 §5; Linux's `tcp_enter_loss`.
    fn handle_retransmission_timeout(&mut self, now: Time, config: &Config, group: &mut Group, i: usize) {
        self.counters.timeouts += 1;
        self.cwr = true;
        let state = group[i].state;
        let goes_on = state == State::Loss && !self.rtt.backed_off();
        let asks = state <= State::Disorder || self.high_seq <= self.board.una() || goes_on;
        if asks {
            if let Some(window) = group.congestion(i, Cause::Loss) {
                group[i].ssthresh = window;
            }
        } else if state == State::Cwr {
            group.deepen(i, self.prr.prior_cwnd);
        }
        self.balance_after_timeout(now, asks, config);
        group[i].cwnd = if self.rack.is_some() {
            self.lose_by_time(now)
        } else {
            self.board.lose_all(config.recovery.uses_sack());
            1
        };
        group[i].state = State::Loss;
        group.timeout(i);
        self.high_seq = self.board.nxt();
        self.recover_end = self.board.nxt() + 1;
        self.forced = true;
        self.rtt.back_off();
        self.arm(now, config);
    }

    /// Resends a segment if one may be sent again now: its sequence number and data sequence number.
    #[inline(always)]
    pub fn retransmit(&mut self, now: Time, cwnd: u32, config: &Config) -> Option<(u32, u32)> {
        if self.plain && !self.forced && !self.board.has_lost() {
            return None;
        }
        self.poll_retransmission(now, cwnd, config)
    }

    fn poll_retransmission(&mut self, now: Time, cwnd: u32, config: &Config) -> Option<(u32, u32)> {
        if let Some(pacer) = &mut self.pacer {
            pacer.waiting = false;
        }
        let segment = if let Some(probe) = self.retransmit_probe(now) {
            probe
        } else {
            let room = self.board.has_lost() && self.board.in_flight() < cwnd;
            if !self.forced && (!room || self.must_wait(now)) {
                return None;
            }
            self.forced = false;
            let segment = self.board.retransmit(now)?;
            self.set_timer_after_retransmit(now, segment.0, config);
            segment
        };
        self.pace(now, config);
        self.counters.retransmissions += 1;
        self.prr.out += 1;
        Some(segment)
    }

    /// Sends a new segment. Returns its sequence number.
    #[inline]
    pub fn transmit(&mut self, now: Time, dsn: u32, config: &Config, state: State) -> u32 {
        self.pace(now, config);
        self.counters.sent += 1;
        self.prr.out += 1;
        let idle = self.board.outstanding() == 0;
        if idle {
            self.balance_before_start(now, config);
        }
        let seq = self.board.push(now, dsn);
        if self.rack.is_some() {
            self.set_timer_after_transmit(now, config, state, idle);
        } else if self.deadline == NEVER {
            self.arm(now, config);
        }
        seq
    }

    /// Whether a new segment may be sent now, if there is one (`more`). Notes what was the limit.
    #[inline(always)]
    pub fn check_room(&mut self, now: Time, own: &controllers::Subflow, more: bool) -> bool {
        let room = self.board.in_flight() < own.cwnd && !self.board.has_lost();
        if self.plain {
            self.limited = !room;
            return more && room;
        }
        if self.pacer.is_none() {
            self.limited = !room;
        } else {
            self.note_usage(room, own);
        }
        more && (self.probes_with_new_data() || (room && !self.must_wait(now)))
    }

    fn arm(&mut self, now: Time, config: &Config) {
        let idle = self.board.outstanding() == 0;
        self.deadline = if idle { NEVER } else { now.saturating_add(self.rtt.rto(config)) };
    }

    /// Updates the scoreboard. Returns how many segments the ACK delivers.
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
}
