//! The rules for every single call of a hook.

use std::sync::Arc;

use super::{Found, INITIAL_WINDOW, Invariant};
use crate::raw::{Ack, Cause, FAST_START_MOST, Hop, IGNORE_MARK, Report, Subflow};
use crate::trace::{Script, play_on};
use crate::{CWND_LIMIT, Claim, ConfiguredController, Exception, Group, Hooks};

/// One packet in Q48.
const ONE: i128 = 1 << 48;

/// Plays `script` and checks every call; returns the number of calls.
pub(super) fn watch(scheme: &Arc<ConfiguredController>, script: &Script) -> Result<u64, Found> {
    let mut watched = Watched::new(scheme, script.subflows);
    play_on(&mut watched, script, INITIAL_WINDOW);
    match watched.found {
        Some((invariant, message)) => {
            Err(Found { invariant, message, events: script.events.len(), other: None })
        }
        None => Ok(watched.calls),
    }
}

/// A group whose hooks are watched.
struct Watched {
    group: Group,
    /// The subflows before the call.
    before: Vec<Subflow>,
    exceptions: Vec<Exception>,
    not_above_reno: bool,
    floor: u32,
    /// The one RTT that every sample had so far; `None` before the first.
    rtt: Option<u32>,
    rtts_differ: bool,
    /// Of each subflow, what its window gained above Reno's, at most, over some of its last ACKs, Q48.
    excess: Vec<i128>,
    calls: u64,
    found: Option<(Invariant, String)>,
}

impl Watched {
    fn new(scheme: &Arc<ConfiguredController>, count: usize) -> Self {
        let controller = scheme.controller();
        let group = Group::new(Arc::clone(scheme), count, INITIAL_WINDOW);
        let mut watched = Self {
            before: group.subflows().to_vec(),
            group,
            exceptions: controller.exceptions(),
            not_above_reno: controller.claims().contains(&Claim::NotAboveReno),
            floor: controller.min_cwnd(),
            rtt: None,
            rtts_differ: false,
            excess: vec![0; count],
            calls: 0,
            found: None,
        };
        if watched.group.is_written_outside() {
            let message = || "`init` writes to a subflow that does not exist".to_owned();
            watched.broken(Invariant::OwnSubflow, message);
        }
        for i in 0..count {
            let mut new = Subflow::new(INITIAL_WINDOW, scheme.values().as_ptr());
            new.place(i as u8, count as u8);
            if new.with_controllers_part(&watched.group[i]) != watched.group[i] {
                watched.broken(Invariant::OwnFields, || format!("`init` writes {}", FIELDS));
            }
        }
        watched
    }

    /// Notes the first breach.
    fn broken(&mut self, invariant: Invariant, message: impl FnOnce() -> String) {
        if self.found.is_none() {
            self.found = Some((invariant, message()));
        }
    }

    /// Calls a hook of subflow `i` and checks what it wrote.
    fn call<R>(&mut self, name: &str, i: usize, hook: impl FnOnce(&mut Group) -> R) -> R {
        self.calls += 1;
        self.before.clone_from_slice(self.group.subflows());
        let result = hook(&mut self.group);
        if let Some(k) = (0..self.before.len()).find(|&k| k != i && self.before[k] != self.group[k]) {
            self.broken(Invariant::OwnSubflow, || format!("`{name}` of subflow {i} writes subflow {k}"));
        }
        if self.group.is_written_outside() {
            let count = self.before.len();
            self.broken(Invariant::OwnSubflow, || {
                format!(
                    "`{name}` of subflow {i} writes to a subflow that does not exist: there are {count}, numbered \
                     from 0"
                )
            });
        }
        let mut may = self.before[i].with_controllers_part(&self.group[i]);
        if name == "grow" || name == "report" {
            may.cwnd = self.group[i].cwnd;
        }
        if may != self.group[i] {
            let (was, is) = (may.cwnd, self.group[i].cwnd);
            self.broken(Invariant::OwnFields, || {
                if was == is {
                    format!("`{name}` of subflow {i} writes {FIELDS}")
                } else {
                    format!("`{name}` moves the window of subflow {i} from {was} to {is} packets")
                }
            });
        }
        result
    }

    fn has(&self, exception: Exception) -> bool {
        self.exceptions.contains(&exception)
    }

    /// Checks the window after `grow`.
    fn grown(&mut self, i: usize, ack: &Ack) {
        let (was, is) = (self.before[i].cwnd, self.group[i].cwnd);
        let (delivered, ssthresh) = (ack.delivered, self.before[i].ssthresh);
        if is < was && !self.has(Exception::Lowers) {
            self.broken(Invariant::NeverLowers, || {
                format!("`grow` lowers the window of subflow {i} from {was} to {is} packets")
            });
        }
        let floor = self.floor.min(was).max(1);
        if is < floor {
            self.broken(Invariant::NeverLowers, || {
                format!(
                    "`grow` takes the window of subflow {i} from {was} to {is} packets; .min_cwnd is {floor}"
                )
            });
        }
        let fast = self.has(Exception::FastStart) && was < ssthresh;
        // A packet delivered adds one; by FAST_START_MOST of controller.h it may add this many.
        let most = u64::from(delivered) * if fast { FAST_START_MOST } else { 1 };
        let leaps = self.has(Exception::Leaps) && self.rtts_differ;
        if u64::from(is.saturating_sub(was)) > most && !leaps {
            self.broken(Invariant::Growth, || {
                format!(
                    "an ACK of {delivered} raises the window of subflow {i} from {was} to {is} packets, \
                     by more than {most}"
                )
            });
        }
        if self.not_above_reno {
            self.beside_reno(i, was, is, delivered, ssthresh);
        }
    }

    /// A fraction of a packet, less than one, may be left from before any ACK, or by a cut: so over no run of ACKs
    /// without a cut may the gain be a whole packet above Reno's. A slow start at another pace ends between two
    /// packets: one more that finds the window below ssthresh, with its fraction, counts in full.
    fn beside_reno(&mut self, i: usize, was: u32, is: u32, delivered: u32, ssthresh: u32) {
        let room = ssthresh.saturating_sub(was);
        let slow = delivered.min(room);
        let between = if room > 0 && delivered > room { ONE } else { 0 };
        let window = i128::from(was) + i128::from(slow);
        let avoidance = i128::from(delivered - slow) * ((ONE + window - 1) / window);
        let reno = i128::from(slow) * ONE + between + avoidance;
        let gain = (i128::from(is) - i128::from(was)) * ONE;
        self.excess[i] = (self.excess[i] + gain - reno).max(0);
        if self.excess[i] >= ONE {
            let above = self.excess[i] as f64 / ONE as f64;
            self.broken(Invariant::NotAboveReno, || {
                format!("subflow {i} has gained {above:.3} packets more than Reno, with {is} packets now")
            });
        }
    }
}

/// The largest window of the contract, packets.
const WIDEST: u32 = CWND_LIMIT - 1;

impl Watched {
    /// Checks the window after `report`, and the pace that it answered.
    fn reported(&mut self, i: usize, report: &Report, pace: u32) {
        let (was, is) = (self.before[i].cwnd, self.group[i].cwnd);
        if !(1..=WIDEST).contains(&is) {
            self.broken(Invariant::Window, || {
                format!("`report` takes the window of subflow {i} from {was} to {is} packets: 1 to {WIDEST}")
            });
        }
        let most = report.line_rate.div_ceil(8);
        if pace > most {
            let mbps = report.line_rate;
            self.broken(Invariant::Pace, || {
                format!("`report` of subflow {i} answers {pace} bytes/us on a link of {mbps} Mbit/s: at most {most} are allowed")
            });
        }
        self.group[i].cwnd = is.clamp(1, WIDEST);
        self.nothing_again(i, report, pace);
    }

    /// Nothing has happened since, and no time has passed.
    fn nothing_again(&mut self, i: usize, report: &Report, pace: u32) {
        let saved = self.group[i].clone();
        let Report { base_rtt, line_rate, now, .. } = *report;
        let nothing = Report { base_rtt, line_rate, now, ..Report::default() };
        let again = self.group.report_unbounded(i, &nothing, &[]);
        let (was, is) = (saved.cwnd, self.group[i].cwnd);
        if (was, pace) != (is, again) {
            self.broken(Invariant::Nothing, || {
                format!(
                    "a report of nothing takes subflow {i} from {was} to {is} packets, from {pace} to {again} bytes/us"
                )
            });
        }
        self.group[i] = saved;
    }
}

/// The parts that a hook must not write.
const FIELDS: &str = "a field of the host";

impl Hooks for Watched {
    type Saved = Subflow;

    fn subflow(&mut self, i: usize) -> &mut Subflow {
        &mut self.group[i]
    }

    fn ack(&mut self, i: usize, ack: &Ack) {
        self.rtts_differ |= *self.rtt.get_or_insert(ack.rtt) != ack.rtt;
        self.call("ack", i, |group| group.ack(i, ack));
    }

    fn grow(&mut self, i: usize, ack: &Ack) {
        self.call("grow", i, |group| group.grow_unbounded(i, ack));
        self.grown(i, ack);
        self.group[i].cwnd = self.group[i].cwnd.max(1);
    }

    fn congestion(&mut self, i: usize, cause: Cause) -> Option<u32> {
        let answer = self.call("congestion", i, |group| group.congestion_unbounded(i, cause));
        let (cwnd, floor) = (self.before[i].cwnd, self.floor);
        self.excess[i] = 0;
        let ignores = cause == Cause::Mark && answer == IGNORE_MARK && self.has(Exception::IgnoresMark);
        let slow_start = cwnd < self.before[i].ssthresh;
        let told = || format!("`congestion` of subflow {i}, {cause:?}: {cwnd} packets become {answer}");
        if ignores && slow_start {
            self.broken(Invariant::Floor, || format!("{}: a mark is ignored in slow start", told()));
        } else if answer > cwnd.max(floor) {
            self.broken(Invariant::NeverRaisedByCongestion, told);
        } else if answer < floor.min(cwnd) && !ignores {
            self.broken(Invariant::Floor, || format!("{}; .min_cwnd is {floor}", told()));
        }
        self.group.scheme().controller().bound_cut(cause, cwnd, answer)
    }

    fn timeout(&mut self, i: usize) {
        self.call("timeout", i, |group| group.timeout(i));
    }

    fn report(&mut self, i: usize, report: &Report, hops: &[Hop]) -> u32 {
        let pace = self.call("report", i, |group| group.report_unbounded(i, report, hops));
        self.reported(i, report, pace);
        pace
    }

    fn save(&mut self, i: usize) -> Subflow {
        self.group[i].clone()
    }

    fn restore(&mut self, i: usize, saved: Subflow) {
        self.group[i] = saved;
    }
}
