//! Mean windows of a controller whose paths signal at random, for a comparison with the law that it declares.
//!
//! The host is that of scripts ([`crate::trace`]). A window that was cut takes one RTT to get there: until what was
//! outstanding at the cut is ACKed, ACKs come at the pace of the window before.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::check::generate::Random;
use crate::sandbox::{Apart, End, refuse_windows};
use crate::trace::{Event, Hosts};
use crate::{ConfiguredController, Group, Signal};

use super::INITIAL_WINDOW;

/// What a probability is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// That a packet is signalled, each independently of all others.
    Packets,
    /// That a round is: a mark on each of its packets, or the loss of its first.
    Rounds,
}

/// A path of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialPath {
    /// The RTT when it is empty, 1/8 us.
    pub rtt: u32,
    /// What queues add from the second round on, 1/8 us.
    pub queueing: u32,
    /// The probability of a signal.
    pub probability: f64,
}

/// A connection whose paths signal at random: marks if the controller needs ECN, else losses.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// One path for each subflow; the first signals, unless none does.
    pub ways: Vec<TrialPath>,
    /// What their probabilities are of.
    pub draw: Draw,
}

/// A trial of one path ends after this many signals …
const SIGNALS: u32 = 1000;
/// … one of several after this many of the first: between paths that signal alike a coupled flow wanders …
const SIGNALS_OF_SEVERAL: u32 = 5000;
/// … or packets of all paths.
const MOST_PACKETS: u32 = 20_000_000;
/// Packets of a trial without signals.
const WITHOUT_SIGNALS: u32 = 100_000;
/// The first part of a trial is not counted: slow start, and the way to the mean.
const WARM_UP: u32 = 10;

/// A connection in a trial: the code of a controller, or a law.
pub trait Connection {
    /// The window of subflow `i`, packets.
    fn window(&self, i: usize) -> f64;
    /// The window of subflow `i` before its last cut, as long as packets are outstanding that were sent before it.
    fn window_before_cut(&self, i: usize) -> Option<f64>;
    /// A packet of subflow `i` is ACKed after `rtt`, 1/8 us; `signalled` if it is marked, or lost before.
    fn packet(&mut self, i: usize, rtt: u32, signalled: bool);
}

/// A subflow on its way.
#[derive(Default)]
struct Sender {
    /// Its time, 1/8 us.
    clock: f64,
    /// Packets until its round ends.
    round_left: u32,
    /// Whether its round is signalled.
    congested: bool,
    /// Packets times 1/8 us, and 1/8 us, since the warm-up.
    area: f64,
    time: f64,
}

/// The windows of the subflows in `trial`, packets, averaged over time; `marks` if signals are marks, not losses.
pub fn mean_windows_of(connection: &mut impl Connection, trial: &Trial, marks: bool) -> Vec<f64> {
    let count = trial.ways.len();
    let mut random = Random::new(count as u64);
    let mut senders: Vec<Sender> = (0..count).map(|_| Sender::default()).collect();
    let most = if trial.ways[0].probability > 0.0 { MOST_PACKETS } else { WITHOUT_SIGNALS };
    let most_signals = if count == 1 { SIGNALS } else { SIGNALS_OF_SEVERAL };
    let (mut packets, mut signals) = (0, 0);
    while packets < most && signals < most_signals {
        // The one whose next packet is ACKed first.
        let first = (0..count).min_by(|&a, &b| senders[a].clock.total_cmp(&senders[b].clock));
        let i = first.expect("a trial has a path");
        let (way, sender) = (trial.ways[i], &mut senders[i]);
        let mut chance = || (random.next() >> 11) as f64 * 2f64.powi(-53) < way.probability;
        let begins = sender.round_left == 0;
        if begins {
            sender.round_left = connection.window(i).max(1.0) as u32;
            sender.congested = trial.draw == Draw::Rounds && chance();
        }
        let (signalled, counts) = match trial.draw {
            Draw::Packets => (chance(), true),
            Draw::Rounds => (sender.congested && (marks || begins), begins),
        };
        let rtt = way.rtt + if packets < INITIAL_WINDOW * count as u32 { 0 } else { way.queueing };
        connection.packet(i, rtt, signalled);
        let window = connection.window(i);
        let step = f64::from(rtt) / connection.window_before_cut(i).unwrap_or(window);
        sender.clock += step;
        sender.round_left -= 1;
        packets += 1;
        signals += u32::from(signalled && counts && i == 0);
        if signals * WARM_UP >= most_signals || packets * WARM_UP >= most {
            sender.area += window * step;
            sender.time += step;
        }
    }
    senders.iter().map(|s| s.area / s.time).collect()
}

/// The code of a controller in the host of scripts.
struct Code {
    group: Group,
    hosts: Hosts,
    marks: bool,
    /// Without marks: one that hears its next hop takes a drop in its own port for congestion, not a loss.
    local: bool,
}

impl Connection for Code {
    fn window(&self, i: usize) -> f64 {
        self.group[i].cwnd.into()
    }

    fn window_before_cut(&self, i: usize) -> Option<f64> {
        self.hosts.window_before_cut(i).map(f64::from)
    }

    fn packet(&mut self, i: usize, rtt: u32, signalled: bool) {
        if signalled && !self.marks {
            let drop = match self.local {
                true => Event::Local { subflow: i },
                false => Event::Loss { subflow: i },
            };
            self.hosts.play(&mut self.group, drop);
        }
        let marked = (signalled && self.marks).into();
        let ack = Event::Ack { packets: 1, marked, rtt: Some(rtt), limited: true, subflow: i };
        self.hosts.play(&mut self.group, ack);
    }
}

/// The windows of the subflows of `scheme` in `trial`, packets, averaged over time. They begin in congestion
/// avoidance, unless only delays signal.
pub fn mean_windows(scheme: &Arc<ConfiguredController>, trial: &Trial) -> Vec<f64> {
    let count = trial.ways.len();
    let mut group = Group::new(Arc::clone(scheme), count, INITIAL_WINDOW);
    let mut hosts = Hosts::new(count, INITIAL_WINDOW);
    if trial.ways[0].probability > 0.0 {
        for subflow in 0..count {
            let ssthresh = Some(INITIAL_WINDOW / 2);
            hosts.play(&mut group, Event::Window { cwnd: INITIAL_WINDOW, ssthresh, subflow });
        }
    }
    let marks = scheme.controller().needs_ecn();
    let local = scheme.controller().signals().contains(&Signal::NextHop);
    mean_windows_of(&mut Code { group, hosts, marks, local }, trial, marks)
}

/// Mean windows, packets, by trial and path.
pub type MeanWindows = Vec<Vec<f64>>;

/// Like [`mean_windows`] for each of `trials`, but for unknown code: in a separate process. Meanwhile this one does
/// `beside`.
///
/// # Errors
/// If no process can be made, or if a hook ended it (with how).
pub fn mean_windows_apart<T>(
    scheme: &Arc<ConfiguredController>,
    trials: &[Trial],
    beside: impl FnOnce() -> T,
) -> io::Result<Result<(MeanWindows, T), End>> {
    let child = Apart::start(AtomicUsize::new(0), |_, mut output| {
        refuse_windows();
        for window in trials.iter().flat_map(|trial| mean_windows(scheme, trial)) {
            // What is missing is noticed by the reader.
            let _ = output.write_all(&window.to_le_bytes());
        }
    })?;
    let done = beside();
    let mut bytes = Vec::new();
    child.output()?.read_to_end(&mut bytes)?;
    if let Some(end) = child.end()? {
        return Ok(Err(end));
    }
    let mut all = bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes")));
    let windows = trials.iter().map(|trial| all.by_ref().take(trial.ways.len()).collect());
    Ok(Ok((windows.collect(), done)))
}
