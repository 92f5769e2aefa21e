//! The sending half of one subflow: Linux's congestion states around a controller.

mod pacing;
mod plb;
mod prr;
mod rack;
mod state;

use tresse_controllers::{self as controllers, Cause, Group, Hooks, State};

use self::pacing::Pacer;
use self::plb::Balancer;
use self::prr::Prr;
use self::rack::Rack;
use crate::rtt::{RttEstimator, eighths};
use crate::tcp::scoreboard::Scoreboard;
use crate::{Ack, Config, Counters, Echo, Recovery, TimeoutCut};
use tresse_units::{NEVER, Time};

/// Duplicate ACKs or SACKed segments that make a loss (RFC 5681 §3.2), where packets keep their order.
const DUPLICATE_THRESHOLD: u32 = 3;

/// The current purpose of a subflow's only timer (RFC 8985 §8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alarm {
    Retransmission,
    Probe,
    Reordering,
}

/// The first cache line is what an ACK of this subflow needs; the second is what any packet of the connection needs,
/// because the scheduler looks at every subflow.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Subflow {
    pub rtt: RttEstimator,
    /// Where the held state ends: the next segment to be sent when it began.
    high_seq: u32,
    /// A round ends when this segment is ACKed (XMP Figure 2, beg_seq).
    round_end: u32,
    rack: Option<Box<Rack>>,
    pacer: Option<Box<Pacer>>,
    balancer: Option<Box<Balancer>>,
    deadline: Time,
    alarm: Alarm,
    /// A round has begun since `grow` was last called.
    round_seen: bool,
    /// A retransmission that goes out regardless of the window: RFC 5681 §3.2, RFC 6582 §3.2.
    forced: bool,
    /// The next new segment reports to the receiver that the window was cut, for whatever reason (RFC 3168
    /// §6.1.2).
    pub cwr: bool,
    /// The window, not the application, stopped the last transmission.
    limited: bool,
    /// It has neither RACK nor pacing: their steps are skipped.
    plain: bool,
    pub board: Scoreboard,
    prr: Prr,
    /// With pacing: until this segment is ACKed the window counts as the limit, or as used by this
    /// many packets (Linux's `tcp_cwnd_validate`).
    usage_end: u32,
    most_out: u32,
    /// With [`Recovery::RenoOnce`]: the least ACK that may begin a fast retransmit, one beyond RFC 6582's `recover`.
    recover_end: u32,
    /// Duplicate ACKs or SACKed segments that make a loss on this subflow.
    pub duplicate_threshold: u32,
    pub counters: Counters,
}

const _: () = assert!(std::mem::offset_of!(Subflow, deadline) == 64, "the second cache line begins here");

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
    pub fn handle_ack(&mut self, now: Time, header: &Ack, config: &Config, group: &mut Group, i: usize) {
        let (prior_una, stamp) = (self.board.una(), header.stamp.time());
        if header.seq < prior_una || header.seq > self.board.nxt() {
            return;
        }
        let advanced = header.seq > prior_una;
        if advanced {
            self.rtt.sample(now - stamp);
            self.rtt.reset_backoff();
        }
        let racks = self.rack.is_some();
        let delivered =
            if racks { self.deliver_timed(now, header) } else { self.deliver(header, advanced, config) };
        if !racks && advanced {
            self.arm(now, config);
        }
        if racks && !advanced && delivered > 0 {
            // RACK cannot wait for the first sample: Linux takes those of SACKed segments too.
            self.rtt.sample(now - stamp);
        }
        let marked = match config.echo {
            Echo::TwoBit => u32::from(header.ce),
            Echo::Dctcp => delivered * u32::from(header.ce),
            Echo::Rfc3168 => u32::from(header.ce),
        };
        if marked > 0 {
            self.counters.marks += u64::from(marked);
        }
        self.balance_after_ack(now, delivered, header.ce, config);

        self.leave_cwr(header.seq, config, group, i);
        let new_round = header.seq > self.round_end;
        if new_round {
            self.round_end = self.board.nxt();
            self.round_seen = true;
            self.counters.rounds += 1;
            self.counters.windows += u64::from(group[i].cwnd);
        }
        let rtt = if advanced { eighths(now - stamp) } else { 0 };
        let mut ack =
            controllers::Ack { delivered, marked, rtt, new_round: new_round.into(), now: now / 1_000_000 };
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
            self.handle_probe_ack(header, advanced || delivered > 0, config, group, i);
        }
        self.leave_state(header.seq, advanced, config, group, i);
        let retransmitted = self.board.retransmitted();
        let waits = racks && self.detect_losses(now, config, group[i].state);
        if group[i].state == State::Loss && self.board.retransmitted() < retransmitted {
            // A retransmission was lost again: one more cut (Linux's FLAG_LOST_RETRANS).
            self.enter_recovery(config, group, i);
        }
        self.enter_state(header.seq, advanced, marked > 0, config, group, i);
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
        let as_loss = config.timeout_cut == TimeoutCut::AsLoss;
        let state = group[i].state;
        let goes_on = state == State::Loss && (as_loss || !self.rtt.backed_off());
        let asks = state <= State::Disorder || self.high_seq <= self.board.una() || goes_on;
        if asks {
            if let Some(window) = group.congestion(i, Cause::Loss) {
                group[i].ssthresh = window;
            }
        } else if state == State::Cwr {
            group.deepen(i, self.prr.prior_cwnd);
        }
        self.balance_after_timeout(now, asks, config);
        let restart = if self.rack.is_some() {
            self.lose_by_time(now)
        } else {
            self.board.lose_all(config.recovery.uses_sack());
            1
        };
        if as_loss {
            Self::end_reduction(group, i);
        } else {
            group[i].cwnd = restart;
        }
        group[i].state = State::Loss;
        if !as_loss {
            group.timeout(i);
        }
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
    fn deliver(&mut self, header: &Ack, advanced: bool, config: &Config) -> u32 {
        if config.recovery.uses_sack() {
            let mut delivered = if advanced { self.board.acknowledge(header.seq) } else { 0 };
            for block in header.sack() {
                delivered += self.board.sack(block.start, block.end);
            }
            delivered
        } else if advanced {
            self.board.acknowledge_reno(header.seq)
        } else if self.board.outstanding() > 0 && config.recovery != Recovery::GoBackN {
            self.board.duplicate_ack()
        } else {
            0
        }
    }
}
