//! The language of scripts: its events, reading and writing.

use std::fmt;

use super::sprayed::{Path, ReportEvent, USUAL_HOP, set_hop, show_hop};
use crate::{CWND_LIMIT, Controller, Hop, INFINITE_SSTHRESH, MAX_SUBFLOWS, SRTT_LEAST, SRTT_LIMIT};

/// One event of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// `ack PKTS [marked=PKTS] [rtt=20us] [limited=no] [subflow=0]`
    Ack {
        /// Packets delivered.
        packets: u32,
        /// How many of them were CE-marked.
        marked: u32,
        /// The RTT sample, 1/8 us. Default: the last one.
        rtt: Option<u32>,
        /// Whether the window was the limit; if the application was, the window does not rise.
        limited: bool,
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
    /// `undo [subflow=0]`: the losses of this recovery, or of this timeout, were none
    Undo {
        /// The subflow.
        subflow: usize,
    },
    /// `local [subflow=0]`: a drop in the host's own queueing discipline
    Local {
        /// The subflow.
        subflow: usize,
    },
    /// `wait TIME [subflow=0]`
    Wait {
        /// The time for which nothing happens, us.
        us: u64,
        /// The subflow.
        subflow: usize,
    },
    /// `window PKTS [ssthresh=PKTS] [subflow=0]`: the window is set from outside, a reduction ends, and
    /// the next ACK begins a round
    Window {
        /// The window, packets.
        cwnd: u32,
        /// The slow-start threshold, packets. Default: unchanged.
        ssthresh: Option<u32>,
        /// The subflow.
        subflow: usize,
    },
    /// `next_hop 0|1 [subflow=0]`: whether the next hop reports, from now on, that it is congested
    NextHop {
        /// Whether the next hop is congested.
        congested: bool,
        /// The subflow.
        subflow: usize,
    },
    /// `path …`, for a controller that gets a report of every packet
    Path {
        /// What the reports say about the path.
        path: Path,
        /// The subflow.
        subflow: usize,
    },
    /// `hop …`: the next report has this hop too
    Hop {
        /// The hop.
        hop: Hop,
        /// The subflow.
        subflow: usize,
    },
    /// `report …`
    Report {
        /// The contents of the report.
        told: ReportEvent,
        /// The subflow.
        subflow: usize,
    },
}

/// The possible events, for the message about an unknown one.
const EXPECTED: &str = "expected `ack PKTS [marked=PKTS] [rtt=20us] [limited=no] [subflow=0]`, \
                        `loss [subflow=0]`, `timeout [subflow=0]`, `undo [subflow=0]`, `local [subflow=0]`, \
                        `wait 10ms [subflow=0]`, `window PKTS [ssthresh=PKTS] [subflow=0]`, \
                        `next_hop 0|1 [subflow=0]` or `subflows N`; for a controller with the hook `report`, \
                        `report [delivered=PKTS] [marked=PKTS] [trimmed=PKTS] [lost=PKTS] [rtt=15us] [after=1us] \
                        [limited=no] [last_hop=yes] [subflow=0]`, `path [base=12us] [rate=100Gbps] [subflow=0]` or \
                        `hop [sent=1500B] [at=10us] [queue=3kB] [rate=100Gbps] [subflow=0]`";

/// The RTT of a script without RTTs: 100 us, in 1/8 us.
pub(crate) const DEFAULT_RTT: u32 = 800;

impl Event {
    /// The subflow of the event.
    pub fn subflow(&self) -> usize {
        match *self {
            Self::Ack { subflow, .. }
            | Self::Loss { subflow }
            | Self::Timeout { subflow }
            | Self::Undo { subflow }
            | Self::Local { subflow }
            | Self::Wait { subflow, .. }
            | Self::Window { subflow, .. }
            | Self::NextHop { subflow, .. }
            | Self::Path { subflow, .. }
            | Self::Hop { subflow, .. }
            | Self::Report { subflow, .. } => subflow,
        }
    }

    /// The same event on `subflow`.
    #[must_use]
    pub fn on(mut self, place: usize) -> Self {
        match &mut self {
            Self::Ack { subflow, .. }
            | Self::Loss { subflow }
            | Self::Timeout { subflow }
            | Self::Undo { subflow }
            | Self::Local { subflow }
            | Self::Wait { subflow, .. }
            | Self::Window { subflow, .. }
            | Self::NextHop { subflow, .. }
            | Self::Path { subflow, .. }
            | Self::Hop { subflow, .. }
            | Self::Report { subflow, .. } => *subflow = place,
        }
        self
    }

    /// Whether it is for the hook `report`, and not for those of TCP.
    pub fn is_report(&self) -> bool {
        matches!(self, Self::Path { .. } | Self::Hop { .. } | Self::Report { .. })
    }

    /// Applies a setting that only such an event has; returns false if this event has none with that name.
    fn tell(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match self {
            Self::Path { path, .. } => path.set(key, value),
            Self::Hop { hop, .. } => set_hop(hop, key, value),
            Self::Report { told, .. } => told.set(key, value),
            _ => Ok(false),
        }
    }
}

/// The event as a line of a script.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ack { packets, marked, rtt, limited, .. } => {
                write!(f, "ack {packets}")?;
                if marked > 0 {
                    write!(f, " marked={marked}")?;
                }
                if let Some(rtt) = rtt {
                    write!(f, " rtt={}us", f64::from(rtt) / 8.0)?;
                }
                if !limited {
                    write!(f, " limited=no")?;
                }
            }
            Self::Loss { .. } => write!(f, "loss")?,
            Self::Timeout { .. } => write!(f, "timeout")?,
            Self::Undo { .. } => write!(f, "undo")?,
            Self::Local { .. } => write!(f, "local")?,
            Self::Wait { us, .. } => write!(f, "wait {us}us")?,
            Self::Window { cwnd, ssthresh, .. } => {
                write!(f, "window {cwnd}")?;
                if let Some(ssthresh) = ssthresh {
                    write!(f, " ssthresh={ssthresh}")?;
                }
            }
            Self::NextHop { congested, .. } => write!(f, "next_hop {}", u8::from(congested))?,
            Self::Path { path, .. } => write!(f, "{path}")?,
            Self::Hop { hop, .. } => show_hop(&hop, f)?,
            Self::Report { told, .. } => write!(f, "{told}")?,
        }
        match self.subflow() {
            0 => Ok(()),
            i => write!(f, " subflow={i}"),
        }
    }
}

/// A script: the number of subflows and the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// `subflows N`. Default: 1.
    pub subflows: usize,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// A line of a script that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}\n  {text}")]
pub struct ScriptError {
    /// Its number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// The mistake, and what was expected.
    pub message: String,
}

impl Script {
    /// Reads a script: one event per line; `#` begins a comment.
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

    /// Whether `controller` has the hooks that the script calls.
    ///
    /// # Errors
    /// The missing hooks, in words.
    pub fn suits(&self, controller: Controller) -> Result<(), String> {
        let name = controller.name();
        match (
            self.events.iter().find(|event| event.is_report() != controller.reports()),
            controller.reports(),
        ) {
            (None, _) => Ok(()),
            (Some(event), true) => {
                Err(format!("{name} has only the hook `report`, and `{event}` is not one of its events"))
            }
            (Some(event), false) => Err(format!("{name} has no hook `report`, which `{event}` needs")),
        }
    }
}

/// The script's text, as [`Script::parse`] reads it.
impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.subflows > 1 {
            writeln!(f, "subflows {}", self.subflows)?;
        }
        self.events.iter().try_for_each(|event| writeln!(f, "{event}"))
    }
}

fn parse_line(line: &str, script: &mut Script) -> Result<(), String> {
    let mut words = line.split_whitespace();
    let verb = words.next().unwrap_or("");
    if verb == "subflows" {
        return parse_subflows(words, script);
    }
    let mut event = event(verb, &mut words)?;
    for word in words {
        if let Some((key, value)) = word.split_once('=')
            && event.tell(key, value)?
        {
            continue;
        }
        match (&mut event, word.split_once('=')) {
            (event, Some(("subflow", v))) => *event = event.on(place(v, script)?),
            (Event::Ack { packets, marked, .. }, Some(("marked", v))) => {
                *marked = number(v)?;
                if marked > packets {
                    return Err(format!("{marked} marked packets in an ACK of {packets}"));
                }
            }
            (Event::Ack { rtt, .. }, Some(("rtt", v))) => *rtt = Some(rtt_of(v)?),
            (Event::Ack { limited, .. }, Some(("limited", v))) => {
                *limited = match v {
                    "yes" => true,
                    "no" => false,
                    other => return Err(format!("`{other}` is neither yes nor no")),
                };
            }
            (Event::Window { ssthresh, .. }, Some(("ssthresh", v))) => {
                let packets = number(v)?;
                if !(1..=INFINITE_SSTHRESH).contains(&packets) {
                    return Err(format!("a threshold has 1 to {INFINITE_SSTHRESH} packets"));
                }
                *ssthresh = Some(packets);
            }
            _ => return Err(format!("`{word}` is not a setting of `{verb}`; {EXPECTED}")),
        }
    }
    if let Event::Report { told, .. } = &event {
        told.check()?;
    }
    script.events.push(event);
    Ok(())
}

/// The first of `words`, which `verb` needs.
fn argument<'a>(
    verb: &str,
    words: &mut impl Iterator<Item = &'a str>,
    what: &str,
) -> Result<&'a str, String> {
    words.next().ok_or_else(|| format!("`{verb}` needs {what}"))
}

fn parse_subflows<'a>(mut words: impl Iterator<Item = &'a str>, script: &mut Script) -> Result<(), String> {
    let n = number(argument("subflows", &mut words, "a number")?)?;
    if let Some(word) = words.next() {
        return Err(format!("`{word}` is one word too many"));
    }
    if !(1..=MAX_SUBFLOWS as u32).contains(&n) {
        return Err(format!("1 to {MAX_SUBFLOWS} subflows, not {n}"));
    }
    if !script.events.is_empty() {
        return Err("`subflows` must come before the first event".to_owned());
    }
    script.subflows = n as usize;
    Ok(())
}

/// The event of a verb with its argument, if it has one. The rest of `words` are settings.
fn event<'a>(verb: &str, words: &mut impl Iterator<Item = &'a str>) -> Result<Event, String> {
    let mut argument = |what| argument(verb, words, what);
    Ok(match verb {
        "ack" => {
            let packets = number(argument("a number of packets")?)?;
            if packets == 0 || packets >= CWND_LIMIT {
                return Err(format!("an ACK delivers 1 to {} packets", CWND_LIMIT - 1));
            }
            Event::Ack { packets, marked: 0, rtt: None, limited: true, subflow: 0 }
        }
        "loss" => Event::Loss { subflow: 0 },
        "timeout" => Event::Timeout { subflow: 0 },
        "undo" => Event::Undo { subflow: 0 },
        "local" => Event::Local { subflow: 0 },
        "wait" => {
            let eighths = eighths(argument("a time")?)?;
            Event::Wait { us: (eighths / 8.0).round() as u64, subflow: 0 }
        }
        "window" => {
            let cwnd = number(argument("a number of packets")?)?;
            if cwnd == 0 || cwnd >= CWND_LIMIT {
                return Err(format!("a window has 1 to {} packets", CWND_LIMIT - 1));
            }
            Event::Window { cwnd, ssthresh: None, subflow: 0 }
        }
        "next_hop" => {
            let congested = match argument("0 or 1")? {
                "0" => false,
                "1" => true,
                other => return Err(format!("`{other}` is neither 0 nor 1")),
            };
            Event::NextHop { congested, subflow: 0 }
        }
        "path" => Event::Path { path: Path::default(), subflow: 0 },
        "hop" => Event::Hop { hop: USUAL_HOP, subflow: 0 },
        "report" => Event::Report { told: ReportEvent::default(), subflow: 0 },
        _ => return Err(format!("`{verb}` is not an event; {EXPECTED}")),
    })
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
        return Err(format!("`{text}` is not an RTT from 1 us to 16 s"));
    }
    Ok(eighths as u32)
}

/// A duration such as `20us` or `1.5ms`, in 1/8 us.
fn eighths(text: &str) -> Result<f64, String> {
    let bad = || format!("`{text}` is not a time; expected a value such as `20us` or `1.5ms`");
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
