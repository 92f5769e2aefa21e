//! The events of scripts about sprayed transports, and the part of the small host that passes them to `report`.

use std::fmt;

use tresse_units::{Bytes, Duration, Rate};

use crate::raw::{Hop, Report};
use crate::{CWND_LIMIT, Hooks};

/// `path [base=12us] [rate=100Gbps]`: what the host reports about the path from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// RTT of the empty path, ns; at least 1.
    pub base_rtt: u32,
    /// The rate of the host's links, Mbit/s; at least 1.
    pub line_rate: u32,
}

impl Default for Path {
    fn default() -> Self {
        Self { base_rtt: 12_000, line_rate: 100_000 }
    }
}

/// `report [delivered=PKTS] [marked=PKTS] [trimmed=PKTS] [lost=PKTS] [rtt=15us] [after=1us] [limited=no]
/// [last_hop=yes]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportEvent {
    /// Packets newly delivered.
    pub delivered: u32,
    /// Those of them that came with CE.
    pub marked: u32,
    /// Packets that a switch trimmed to their header for lack of room.
    pub trimmed: u32,
    /// Packets that a timer has given up.
    pub lost: u32,
    /// RTT sample, ns; 0 = none.
    pub rtt: u32,
    /// The time since the last report of the subflow, ns. Default: the part of an RTT that this many packets take.
    pub after: Option<u32>,
    /// Whether the window was the limit, and not the application.
    pub limited: bool,
    /// Whether the port that trimmed leads to the receiver.
    pub last_hop: bool,
}

impl Default for ReportEvent {
    fn default() -> Self {
        Self {
            delivered: 0,
            marked: 0,
            trimmed: 0,
            lost: 0,
            rtt: 0,
            after: None,
            limited: true,
            last_hop: false,
        }
    }
}

impl Path {
    /// Applies a setting; returns false if there is none with that name.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "base" => match nanoseconds(value)? {
                0 => return Err(format!("`{value}` is not the RTT of a path")),
                ns => self.base_rtt = ns,
            },
            "rate" => self.line_rate = megabits(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl ReportEvent {
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "delivered" => self.delivered = packets(value)?,
            "marked" => self.marked = packets(value)?,
            "trimmed" => self.trimmed = packets(value)?,
            "lost" => self.lost = packets(value)?,
            "rtt" => self.rtt = nanoseconds(value)?,
            "after" => self.after = Some(nanoseconds(value)?),
            "limited" => self.limited = yes(value)?,
            "last_hop" => self.last_hop = yes(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// # Errors
    /// If more packets are marked than delivered.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.marked > self.delivered {
            return Err(format!("{} marked packets of {} delivered", self.marked, self.delivered));
        }
        Ok(())
    }
}

/// `hop [sent=BYTES] [at=10us] [queue=BYTES] [rate=100Gbps]`: a hop of the packet that the next report is about, in
/// order from the sender.
pub(super) fn set_hop(hop: &mut Hop, key: &str, value: &str) -> Result<bool, String> {
    match key {
        "sent" => hop.bytes = value.parse::<Bytes>()?.0,
        "at" => hop.time = value.parse::<Duration>()?.0 / 1000,
        "queue" => {
            let bytes = value.parse::<Bytes>()?.0;
            hop.queue = bytes.try_into().map_err(|_| format!("`{value}` is more than a queue holds"))?;
        }
        "rate" => hop.rate = megabits(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The hop of a `hop` without settings: empty, with 100 Gbit/s.
pub(super) const USUAL_HOP: Hop = Hop { bytes: 0, time: 0, queue: 0, rate: 100_000 };

fn packets(text: &str) -> Result<u32, String> {
    let number = text.parse().map_err(|_| format!("`{text}` is not a whole number"))?;
    if number >= CWND_LIMIT {
        return Err(format!("a report covers at most {} packets", CWND_LIMIT - 1));
    }
    Ok(number)
}

fn nanoseconds(text: &str) -> Result<u32, String> {
    let ns = text.parse::<Duration>()?.0 / 1000;
    ns.try_into().map_err(|_| format!("`{text}` is longer than {} ns", u32::MAX))
}

fn megabits(text: &str) -> Result<u32, String> {
    let rate = text.parse::<Rate>()?.0 / 1_000_000;
    match u32::try_from(rate) {
        Ok(0) | Err(_) => Err(format!("`{text}` is not 1 to {} Mbit/s", u32::MAX)),
        Ok(rate) => Ok(rate),
    }
}

fn yes(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        other => Err(format!("`{other}` is neither yes nor no")),
    }
}

fn time(ns: u32) -> Duration {
    Duration(u64::from(ns) * 1000)
}

fn rate(mbps: u32) -> Rate {
    Rate(u64::from(mbps) * 1_000_000)
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path base={} rate={}", time(self.base_rtt), rate(self.line_rate))
    }
}

impl fmt::Display for ReportEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "report")?;
        let Self { delivered, marked, trimmed, lost, .. } = *self;
        let counts = [("delivered", delivered), ("marked", marked), ("trimmed", trimmed), ("lost", lost)];
        for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
            write!(f, " {name}={count}")?;
        }
        if self.rtt > 0 {
            write!(f, " rtt={}", time(self.rtt))?;
        }
        if let Some(after) = self.after {
            write!(f, " after={}", time(after))?;
        }
        if !self.limited {
            write!(f, " limited=no")?;
        }
        if self.last_hop {
            write!(f, " last_hop=yes")?;
        }
        Ok(())
    }
}

pub(super) fn show_hop(hop: &Hop, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let at = Duration(hop.time.saturating_mul(1000));
    write!(f, "hop sent={} at={at} queue={}", Bytes(hop.bytes), Bytes(hop.queue.into()))?;
    write!(f, " rate={}", rate(hop.rate))
}

/// The small host's state of a sprayed subflow.
#[derive(Debug, Default)]
pub(super) struct Sprayed {
    pub path: Path,
    /// The hops of the packet that the next report is about.
    pub hops: Vec<Hop>,
    /// The last answer of `report`, bytes/us.
    pub pace: u32,
    /// The report before the first packet was made.
    opened: bool,
}

impl Sprayed {
    /// Makes a report of subflow `i`, whose time is `clock`, ns. Before the first report, it makes an empty one.
    pub fn report(&mut self, group: &mut impl Hooks, i: usize, told: &ReportEvent, clock: &mut u64) {
        let Path { base_rtt, line_rate } = self.path;
        let nothing = Report { base_rtt, line_rate, now: *clock, ..Report::default() };
        if !std::mem::replace(&mut self.opened, true) {
            self.pace = group.report(i, &nothing, &[]);
        }
        let s = group.subflow(i);
        let packets = u64::from(told.delivered) + u64::from(told.trimmed) + u64::from(told.lost);
        let rtt = if told.rtt > 0 { told.rtt } else { base_rtt };
        let usual = u64::from(rtt) * packets / u64::from(s.cwnd.max(1));
        *clock += told.after.map_or(usual, u64::from);
        s.cwnd_limited = told.limited.into();
        s.in_flight = if told.limited { s.cwnd } else { s.cwnd / 2 };
        let report = Report {
            delivered: told.delivered,
            marked: told.marked,
            trimmed: told.trimmed,
            lost: told.lost,
            rtt: told.rtt,
            last_hop: told.last_hop.into(),
            app_limited: (!told.limited).into(),
            now: *clock,
            ..nothing
        };
        self.pace = group.report(i, &report, &self.hops);
        self.hops.clear();
    }
}
