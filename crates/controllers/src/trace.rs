//! Plays a script of ACKs, marks and losses through a controller and returns the window after each.
//!
//! The host here is as small as the contract allows: no packets, only how many are outstanding. A round is a window
//! of ACKed packets; congestion states begin and end as in Linux (`tcp_fastretrans_alert`, `tcp_enter_loss`). Each
//! subflow has its own time: an ACK of n packets takes n/cwnd of the RTT that it samples.

mod script;
mod sprayed;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::raw::{Ack, Cause, State};
use crate::sandbox::{ALL_SCRIPTS, End, refuse_windows, try_apart};
use crate::{CWND_LIMIT, ConfiguredController, Group, Hooks, SRTT_LEAST, SRTT_LIMIT};

pub(crate) use script::DEFAULT_RTT;
pub use script::{Event, Script, ScriptError};
pub use sprayed::{Path, ReportEvent};

/// A subflow after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The kind of event in the script; an ACK whose mark began a reduction is a `mark`.
    pub event: &'static str,
    /// The subflow.
    pub subflow: usize,
    /// Its window, packets.
    pub cwnd: u32,
    /// Its slow-start threshold, packets.
    pub ssthresh: u32,
    /// Its state.
    pub state: State,
    /// The last answer of `report`, bytes/us; 0 = no pace.
    pub pace: u32,
}

/// The number of hops that a report can have.
const MOST_HOPS: usize = u8::MAX as usize;

/// What the small host knows of a subflow.
#[derive(Debug)]
pub struct Host {
    rtt: u32,
    /// ACKed packets until the round ends.
    round_left: u32,
    /// Packets sent and not ACKed.
    outstanding: u32,
    /// Those of them that were outstanding when the state began (Linux's `high_seq - snd_una`).
    reduction_left: u32,
    /// The window before the reduction.
    before: u32,
    /// The least window and ssthresh after an undo; `None`: what was cut cannot be undone.
    prior: Option<(u32, u32)>,
    /// A timeout, and nothing ACKed since.
    backed_off: bool,
    /// Whether a round has begun since the last `grow`.
    round_seen: bool,
    /// The subflow's time, ns.
    clock: u64,
    sprayed: sprayed::Sprayed,
}

/// Plays `script` with the native build, each subflow starting with `initial_window` packets.
pub fn play(scheme: Arc<ConfiguredController>, script: &Script, initial_window: u32) -> Vec<Step> {
    play_on(&mut Group::new(scheme, script.subflows, initial_window), script, initial_window)
}

/// Like [`play`], but for unknown code: it first runs in a separate process, so that code that divides by 0 or
/// never returns is reported with its line.
///
/// # Errors
/// If no process can be made, or if a hook ended it (with how).
pub fn play_apart(
    scheme: Arc<ConfiguredController>,
    script: &Script,
    initial_window: u32,
) -> io::Result<Result<Vec<Step>, End>> {
    let limit = ALL_SCRIPTS + Duration::from_millis(1) * script.events.len() as u32;
    let tried = try_apart(limit, |_| {
        refuse_windows();
        play(Arc::clone(&scheme), script, initial_window);
    })?;
    Ok(match tried.end {
        Some(end) => Err(end),
        None => Ok(play(scheme, script, initial_window)),
    })
}

/// Plays `script` on `group`, whose subflows are new and have `initial_window` packets each.
pub fn play_on(group: &mut impl Hooks, script: &Script, initial_window: u32) -> Vec<Step> {
    let mut hosts = Hosts::new(script.subflows, initial_window);
    script.events.iter().map(|&event| hosts.play(group, event)).collect()
}

/// The small host's state of a connection's subflows, from one event to the next.
#[derive(Debug)]
pub struct Hosts(Vec<Host>);

impl Hosts {
    /// For this many new subflows with `initial_window` packets each.
    pub fn new(subflows: usize, initial_window: u32) -> Self {
        let mut hosts = Self(Vec::with_capacity(subflows));
        (0..subflows).for_each(|i| hosts.insert(i, initial_window));
        hosts
    }

    /// What is known of subflow `i`: a host of many connections fetches it into the cache.
    ///
    /// # Panics
    /// If there is no such subflow.
    pub fn host(&self, i: usize) -> &Host {
        &self.0[i]
    }

    /// As [`Group::insert`].
    pub fn insert(&mut self, i: usize, initial_window: u32) {
        let host = Host {
            rtt: DEFAULT_RTT,
            round_left: initial_window,
            outstanding: initial_window,
            reduction_left: 0,
            before: 0,
            prior: None,
            backed_off: false,
            round_seen: false,
            clock: 0,
            sprayed: sprayed::Sprayed::default(),
        };
        self.0.insert(i, host);
    }

    /// As [`Group::remove`].
    pub fn remove(&mut self, i: usize) {
        self.0.remove(i);
    }

    /// The recovery of subflow `i`, if it is in one, lasts until this many more packets are ACKed, or longer.
    pub fn extend_recovery(&mut self, i: usize, packets: u32) {
        self.0[i].reduction_left = self.0[i].reduction_left.max(packets);
    }

    /// The recovery of subflow `i`, if it is in one, is over, whatever was lost besides: another loss asks for a window of its
    /// own.
    pub fn end_recovery(&mut self, group: &mut impl Hooks, i: usize) {
        let s = group.subflow(i);
        if s.state == State::Recovery {
            s.state = State::Open;
            (self.0[i].reduction_left, self.0[i].prior) = (0, None);
        }
    }

    /// The window of subflow `i` before its last cut, as long as packets are outstanding that were sent before it.
    pub(crate) fn window_before_cut(&self, i: usize) -> Option<u32> {
        let host = &self.0[i];
        (host.reduction_left > 0).then_some(host.before.max(1))
    }

    /// Plays `event` on the `group` whose subflows these are.
    ///
    /// # Panics
    /// If it has no such subflow.
    pub fn play(&mut self, group: &mut impl Hooks, event: Event) -> Step {
        let (event, i) = match event {
            Event::Ack { packets, marked, rtt, limited, subflow } => {
                group.subflow(subflow).cwnd_limited = limited.into();
                let cut = on_ack(group, &mut self.0[subflow], subflow, packets, marked, rtt);
                (if cut { "mark" } else { "ack" }, subflow)
            }
            Event::Loss { subflow } => {
                on_loss(group, &mut self.0[subflow], subflow);
                ("loss", subflow)
            }
            Event::Timeout { subflow } => {
                on_timeout(group, &mut self.0[subflow], subflow);
                ("timeout", subflow)
            }
            Event::Undo { subflow } => {
                on_undo(group, &mut self.0[subflow], subflow);
                ("undo", subflow)
            }
            Event::Local { subflow } => {
                on_local(group, &mut self.0[subflow], subflow);
                ("local", subflow)
            }
            Event::Window { cwnd, ssthresh, subflow } => {
                let s = group.subflow(subflow);
                s.cwnd = cwnd;
                s.ssthresh = ssthresh.unwrap_or(s.ssthresh);
                s.state = State::Open;
                let host = &mut self.0[subflow];
                (host.round_left, host.outstanding, host.reduction_left, host.prior) = (0, cwnd, 0, None);
                ("window", subflow)
            }
            Event::NextHop { congested, subflow } => {
                group.subflow(subflow).next_hop = congested.into();
                ("next_hop", subflow)
            }
            Event::Wait { us, subflow } => {
                self.0[subflow].clock += us * 1000;
                ("wait", subflow)
            }
            Event::Path { path, subflow } => {
                self.0[subflow].sprayed.path = path;
                ("path", subflow)
            }
            Event::Hop { hop, subflow } => {
                let hops = &mut self.0[subflow].sprayed.hops;
                hops.extend((hops.len() < MOST_HOPS).then_some(hop));
                ("hop", subflow)
            }
            Event::Report { told, subflow } => {
                let Host { sprayed, clock, .. } = &mut self.0[subflow];
                sprayed.report(group, subflow, &told, clock);
                ("report", subflow)
            }
        };
        let pace = self.0[i].sprayed.pace;
        let s = group.subflow(i);
        Step { event, subflow: i, cwnd: s.cwnd, ssthresh: s.ssthresh, state: s.state, pace }
    }
}

fn on_ack(
    group: &mut impl Hooks,
    host: &mut Host,
    i: usize,
    packets: u32,
    marked: u32,
    rtt: Option<u32>,
) -> bool {
    host.rtt = rtt.unwrap_or(host.rtt);
    // An ACK that reaches into the next window of packets begins its round.
    let new_round = packets > host.round_left;
    host.round_left = if new_round {
        group.subflow(i).cwnd.saturating_sub(packets - host.round_left)
    } else {
        host.round_left - packets
    };
    host.round_seen |= new_round;
    host.clock += u64::from(host.rtt) * 125 * u64::from(packets) / u64::from(group.subflow(i).cwnd.max(1));
    let ack = Ack { delivered: packets, marked, rtt: host.rtt, new_round: 0, now: host.clock / 1000 };

    let s = group.subflow(i);
    s.srtt = if s.srtt == 0 { host.rtt } else { s.srtt - s.srtt / 8 + host.rtt / 8 }
        .clamp(SRTT_LEAST, SRTT_LIMIT - 1);
    s.min_rtt = if s.min_rtt == 0 { host.rtt } else { s.min_rtt.min(host.rtt) };
    let limited = s.cwnd_limited == 1;
    s.in_flight = if limited { s.cwnd } else { s.cwnd / 2 };
    // The ACK beyond the window that was cut: Linux leaves CWR before the growth and the mark of the same ACK.
    if s.state == State::Cwr && packets > host.reduction_left {
        s.state = State::Open;
    }
    group.ack(i, &Ack { new_round: new_round.into(), ..ack });

    host.backed_off = false;
    host.outstanding = host.outstanding.saturating_sub(packets);
    host.reduction_left = host.reduction_left.saturating_sub(packets);
    if group.subflow(i).state > State::Cwr && host.reduction_left == 0 {
        group.subflow(i).state = State::Open;
        host.prior = None;
    }
    if marked > 0 {
        keep_cut(host);
    }
    let cuts =
        marked > 0 && group.subflow(i).state < State::Cwr && reduce(group, host, i, Cause::Mark, State::Cwr);
    if limited && !matches!(group.subflow(i).state, State::Cwr | State::Recovery) {
        let new_round = std::mem::take(&mut host.round_seen).into();
        group.grow(i, &Ack { new_round, ..ack });
        group.subflow(i).cwnd = group.subflow(i).cwnd.min(CWND_LIMIT - 1);
    }
    host.outstanding = host.outstanding.max(group.subflow(i).cwnd);
    cuts
}

/// Enough duplicate ACKs.
fn on_loss(group: &mut impl Hooks, host: &mut Host, i: usize) {
    match group.subflow(i).state {
        State::Open | State::Disorder => {
            let prior = (group.subflow(i).cwnd, ssthresh_before(group, i));
            reduce(group, host, i, Cause::Loss, State::Recovery);
            host.prior = Some(prior);
        }
        State::Cwr => {
            group.deepen(i, host.before);
            let s = group.subflow(i);
            s.cwnd = s.cwnd.min(s.ssthresh);
            s.state = State::Recovery;
            // The mark's cut stays.
            host.prior = Some((0, 0));
            if host.reduction_left == 0 {
                host.reduction_left = host.outstanding;
            }
        }
        State::Recovery | State::Loss => {}
    }
}

/// An undo restores no window after an ECE or a local drop (Linux sets `prior_ssthresh` to 0).
fn keep_cut(host: &mut Host) {
    host.prior = host.prior.map(|_| (0, 0));
}

/// Linux's `tcp_enter_cwr`.
fn on_local(group: &mut impl Hooks, host: &mut Host, i: usize) {
    if group.subflow(i).state < State::Cwr {
        reduce(group, host, i, Cause::Local, State::Cwr);
    } else {
        keep_cut(host);
    }
}

/// Linux's `tcp_enter_loss`: the controller is asked for a window only if the window was not yet cut for what is
/// outstanding; but the hook `timeout` is always called.
fn on_timeout(group: &mut impl Hooks, host: &mut Host, i: usize) {
    let state = group.subflow(i).state;
    let asks =
        state <= State::Disorder || host.reduction_left == 0 || (state == State::Loss && !host.backed_off);
    if asks {
        let prior = (group.subflow(i).cwnd, ssthresh_before(group, i));
        reduce(group, host, i, Cause::Loss, State::Loss);
        host.prior = Some(prior);
    } else if state == State::Cwr {
        group.deepen(i, host.before);
    }
    let s = group.subflow(i);
    (s.cwnd, s.state) = (1, State::Loss);
    group.timeout(i);
    host.reduction_left = host.outstanding;
    host.round_left = 1;
    host.backed_off = true;
}

/// Linux's `tcp_undo_cwnd_reduction`: the packets were not lost. A cut for a mark is not undone.
fn on_undo(group: &mut impl Hooks, host: &mut Host, i: usize) {
    let Some((cwnd, ssthresh)) = host.prior.take() else { return };
    let s = group.subflow(i);
    s.cwnd = s.cwnd.max(cwnd);
    s.ssthresh = s.ssthresh.max(ssthresh);
    s.state = State::Open;
    host.reduction_left = 0;
    host.outstanding = host.outstanding.max(s.cwnd);
}

/// Linux's `tcp_current_ssthresh`.
fn ssthresh_before(group: &mut impl Hooks, i: usize) -> u32 {
    let s = group.subflow(i);
    s.ssthresh.max(s.cwnd / 2 + s.cwnd / 4)
}

/// Whether there is a reduction; there is none if a mark is ignored.
fn reduce(group: &mut impl Hooks, host: &mut Host, i: usize, cause: Cause, state: State) -> bool {
    let Some(window) = group.congestion(i, cause) else { return false };
    host.before = group.subflow(i).cwnd;
    host.reduction_left = host.outstanding;
    host.prior = None;
    let s = group.subflow(i);
    s.ssthresh = window;
    s.cwnd = s.cwnd.min(window);
    s.state = state;
    true
}
