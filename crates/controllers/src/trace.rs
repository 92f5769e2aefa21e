//! Plays a script of ACKs, marks and losses through a controller and tells the window after each.
//!
//! The host here is as small as the contract allows: no packets. A round is a window of ACKed packets;
//! a reduction lasts until one window of packets is ACKed. Each subflow has its own time: an ACK of n
//! packets takes n/cwnd of the RTT that it samples.

use std::sync::Arc;

use crate::raw::{Ack, Cause, State, Subflow};
use crate::{CWND_LIMIT, Group, MAX_SUBFLOWS, SRTT_LEAST, SRTT_LIMIT, Scheme};

/// One event of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// `ack PKTS [marked=PKTS] [rtt=20us] [subflow=0]`
    Ack {
        /// Packets delivered.
        packets: u32,
        /// How many of them were CE-marked.
        marked: u32,
        /// The RTT sample, 1/8 us; as the last one if it is not given.
        rtt: Option<u32>,
        /// The subflow.
        subflow: usize,
    },
    /// `loss [subflow=0]`
    Loss {
        /// The subflow.
        subflow: usize,
    },
    /// `timeout [subflow=0]`
    Timeout {
        /// The subflow.
        subflow: usize,
    },
    /// `wait TIME [subflow=0]`
    Wait {
        /// How long nothing happens, us.
        us: u64,
        /// The subflow.
        subflow: usize,
    },
}

/// A script: the number of subflows and the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// `subflows N`; 1 if it is not given.
    pub subflows: usize,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// A subflow after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// `ack`, `mark`, `loss`, `timeout` or `wait`; an ACK whose mark began a reduction is a `mark`.
    pub event: &'static str,
    /// The subflow.
    pub subflow: usize,
    /// Its window, packets.
    pub cwnd: u32,
    /// Its slow-start threshold, packets.
    pub ssthresh: u32,
    /// Its state.
    pub state: State,
}

/// A line of a script that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}\n  {text}")]
pub struct ScriptError {
    /// Its number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What is wrong with it, and what was expected.
    pub message: String,
}

/// The RTT of a script that gives none: 100 us, in 1/8 us.
const DEFAULT_RTT: u32 = 800;

impl Script {
    /// Reads a script: one event a line, `#` begins a comment.
    ///
    /// # Errors
    /// The first line that cannot be understood.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut script = Self { subflows: 1, events: Vec::new() };
        for (i, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or("").trim();
            if content.is_empty() {
                continue;
            }
            parse_line(content, &mut script).map_err(|message| ScriptError {
                line: i + 1,
                text: line.trim_end().to_owned(),
                message,
            })?;
        }
        Ok(script)
    }
}

fn parse_line(line: &str, script: &mut Script) -> Result<(), String> {
    let mut words = line.split_whitespace();
    let verb = words.next().unwrap_or("");
    let expected = "expected `ack PKTS [marked=PKTS] [rtt=20us] [subflow=0]`, `loss [subflow=0]`, \
                    `timeout [subflow=0]`, `wait 10ms [subflow=0]` or `subflows N`";
    match verb {
        "subflows" => {
            let n = number(words.next().ok_or("`subflows` needs a number")?)?;
            if !(1..=MAX_SUBFLOWS as u32).contains(&n) {
                return Err(format!("1 to {MAX_SUBFLOWS} subflows, not {n}"));
            }
            if !script.events.is_empty() {
                return Err("`subflows` must come before the first event".to_owned());
            }
            script.subflows = n as usize;
        }
        "ack" => {
            let packets = number(words.next().ok_or("`ack` needs a number of packets")?)?;
            let (mut marked, mut rtt, mut subflow) = (0, None, 0);
            for word in words.by_ref() {
                match word.split_once('=') {
                    Some(("marked", v)) => marked = number(v)?,
                    Some(("rtt", v)) => rtt = Some(rtt_of(v)?),
                    Some(("subflow", v)) => subflow = place(v, script)?,
                    _ => return Err(format!("`{word}` is not a setting of `ack`; {expected}")),
                }
            }
            if packets == 0 || packets >= CWND_LIMIT {
                return Err(format!("an ACK delivers 1 to {} packets", CWND_LIMIT - 1));
            }
            if marked > packets {
                return Err(format!("{marked} marked packets in an ACK of {packets}"));
            }
            script.events.push(Event::Ack { packets, marked, rtt, subflow });
        }
        "loss" | "timeout" => {
            let mut subflow = 0;
            for word in words.by_ref() {
                match word.split_once('=') {
                    Some(("subflow", v)) => subflow = place(v, script)?,
                    _ => return Err(format!("`{word}` is not a setting of `{verb}`; {expected}")),
                }
            }
            script.events.push(if verb == "loss" {
                Event::Loss { subflow }
            } else {
                Event::Timeout { subflow }
            });
        }
        "wait" => {
            let eighths = eighths(words.next().ok_or("`wait` needs a time")?)?;
            let mut subflow = 0;
            for word in words.by_ref() {
                match word.split_once('=') {
                    Some(("subflow", v)) => subflow = place(v, script)?,
                    _ => return Err(format!("`{word}` is not a setting of `wait`; {expected}")),
                }
            }
            script.events.push(Event::Wait { us: (eighths / 8.0).round() as u64, subflow });
        }
        _ => return Err(format!("`{verb}` is not an event; {expected}")),
    }
    match words.next() {
        Some(word) => Err(format!("`{word}` is too much")),
        None => Ok(()),
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

fn place(text: &str, script: &Script) -> Result<usize, String> {
    let i = number(text)? as usize;
    if i >= script.subflows {
        return Err(format!("there is no subflow {i}: the script has {} (`subflows N`)", script.subflows));
    }
    Ok(i)
}

/// An RTT, in 1/8 us.
fn rtt_of(text: &str) -> Result<u32, String> {
    let eighths = eighths(text)?.round();
    if !(f64::from(SRTT_LEAST)..f64::from(SRTT_LIMIT)).contains(&eighths) {
        return Err(format!("`{text}` is not an RTT: 1 us to 16 s"));
    }
    Ok(eighths as u32)
}

/// A duration such as `20us` or `1.5ms`, in 1/8 us.
fn eighths(text: &str) -> Result<f64, String> {
    let bad = || format!("`{text}` is not a time; expected for instance `20us` or `1.5ms`");
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(bad)?;
    let (value, unit) = text.split_at(unit);
    let value: f64 = value.parse().map_err(|_| bad())?;
    let factor = match unit {
        "ns" => 8e-3,
        "us" => 8.0,
        "ms" => 8e3,
        "s" => 8e6,
        _ => return Err(bad()),
    };
    if !(0.0..1e9).contains(&value) {
        return Err(bad());
    }
    Ok(value * factor)
}

/// What the small host remembers of a subflow.
struct Host {
    rtt: u32,
    /// ACKed packets until the round ends.
    round_left: u32,
    /// ACKed packets until the reduction ends.
    reduction_left: u32,
    /// A round has begun since the last `grow`.
    round_seen: bool,
    /// The subflow's time, ns.
    clock: u64,
}

/// The subflows of one connection with the hooks of their controller: those of [`Group`], wherever
/// the controller runs.
pub trait Hooks {
    /// Subflow `i`, as its controller sees it.
    fn subflow(&mut self, i: usize) -> &mut Subflow;
    /// See [`Group::ack`].
    fn ack(&mut self, i: usize, ack: &Ack);
    /// See [`Group::grow`].
    fn grow(&mut self, i: usize, ack: &Ack);
    /// See [`Group::congestion`].
    fn congestion(&mut self, i: usize, cause: Cause) -> Option<u32>;
    /// See [`Group::timeout`].
    fn timeout(&mut self, i: usize);
}

impl Hooks for Group {
    fn subflow(&mut self, i: usize) -> &mut Subflow {
        &mut self[i]
    }

    fn ack(&mut self, i: usize, ack: &Ack) {
        Self::ack(self, i, ack);
    }

    fn grow(&mut self, i: usize, ack: &Ack) {
        Self::grow(self, i, ack);
    }

    fn congestion(&mut self, i: usize, cause: Cause) -> Option<u32> {
        Self::congestion(self, i, cause)
    }

    fn timeout(&mut self, i: usize) {
        Self::timeout(self, i);
    }
}

/// Plays `script` with the native build, each subflow starting with `initial_window` packets.
pub fn play(scheme: Arc<Scheme>, script: &Script, initial_window: u32) -> Vec<Step> {
    play_on(&mut Group::new(scheme, script.subflows, initial_window), script, initial_window)
}

/// Plays `script` on `group`, whose subflows are new and have `initial_window` packets each.
pub fn play_on(group: &mut impl Hooks, script: &Script, initial_window: u32) -> Vec<Step> {
    let mut hosts: Vec<Host> = (0..script.subflows)
        .map(|_| Host {
            rtt: DEFAULT_RTT,
            round_left: initial_window,
            reduction_left: 0,
            round_seen: false,
            clock: 0,
        })
        .collect();
    script
        .events
        .iter()
        .map(|&event| {
            let (event, i) = match event {
                Event::Ack { packets, marked, rtt, subflow } => {
                    let cut = on_ack(group, &mut hosts[subflow], subflow, packets, marked, rtt);
                    (if cut { "mark" } else { "ack" }, subflow)
                }
                Event::Loss { subflow } => {
                    if group.subflow(subflow).state < State::Cwr {
                        reduce(group, &mut hosts[subflow], subflow, Cause::Loss, State::Recovery);
                    } else if group.subflow(subflow).state == State::Cwr {
                        group.subflow(subflow).state = State::Recovery; // a window is cut once
                    }
                    ("loss", subflow)
                }
                Event::Timeout { subflow } => {
                    let host = &mut hosts[subflow];
                    if group.subflow(subflow).state != State::Loss {
                        reduce(group, host, subflow, Cause::Loss, State::Loss);
                    }
                    group.timeout(subflow);
                    host.reduction_left = group.subflow(subflow).cwnd.max(1);
                    host.round_left = 1;
                    group.subflow(subflow).cwnd = 1;
                    ("timeout", subflow)
                }
                Event::Wait { us, subflow } => {
                    hosts[subflow].clock += us * 1000;
                    ("wait", subflow)
                }
            };
            let s = group.subflow(i);
            Step { event, subflow: i, cwnd: s.cwnd, ssthresh: s.ssthresh, state: s.state }
        })
        .collect()
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
    s.in_flight = s.cwnd;
    group.ack(i, &Ack { new_round: new_round.into(), ..ack });

    if group.subflow(i).state >= State::Cwr {
        host.reduction_left = host.reduction_left.saturating_sub(packets);
        if host.reduction_left == 0 {
            group.subflow(i).state = State::Open;
        }
    }
    if marked > 0 && group.subflow(i).state < State::Cwr && reduce(group, host, i, Cause::Mark, State::Cwr) {
        return true;
    }
    if !matches!(group.subflow(i).state, State::Cwr | State::Recovery) {
        let new_round = std::mem::take(&mut host.round_seen).into();
        group.grow(i, &Ack { new_round, ..ack });
        group.subflow(i).cwnd = group.subflow(i).cwnd.min(CWND_LIMIT - 1);
    }
    false
}

/// Whether there is a reduction: not if a mark is ignored.
fn reduce(group: &mut impl Hooks, host: &mut Host, i: usize, cause: Cause, state: State) -> bool {
    let Some(window) = group.congestion(i, cause) else { return false };
    host.reduction_left = group.subflow(i).cwnd;
    let s = group.subflow(i);
    s.ssthresh = window;
    s.cwnd = s.cwnd.min(window);
    s.state = state;
    true
}
