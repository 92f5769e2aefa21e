//! The layout of `controllers/controller.h`, seen from Rust.

use std::ffi::c_char;

use serde::{Deserialize, Serialize};

use crate::law::raw::{RawLaw, RawObjective};
use crate::parameters::RawParameter;

/// `TRESSE_CONTROLLER_ABI`: raised whenever the layout or the meaning of the contract changes.
pub(crate) const ABI: u32 = 5;

/// The default payload of a full packet, bytes.
const DEFAULT_MSS: u32 = 1460;

/// `IGNORE_MARK`: the answer of `congestion` to a mark that does not mean congestion.
pub(crate) const IGNORE_MARK: u32 = 0;

/// `FAST_START_MOST`: the packets that one packet delivered in slow start may add with `EXCEPTION_FAST_START`.
pub(crate) const FAST_START_MOST: u64 = 3;

/// Words of private state that a controller has, u64.
pub const PRIVATE_WORDS: usize = 9;

/// One subflow, as its controller sees it; `struct subflow`.
#[repr(C)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subflow {
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Slow-start threshold, packets.
    pub ssthresh: u32,
    /// Smoothed RTT, 1/8 us; 0 = unknown.
    pub srtt: u32,
    /// Smallest RTT sample, 1/8 us; 0 = unknown.
    pub min_rtt: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Payload of a full packet, bytes; at least 1.
    pub mss: u32,
    /// The sender's state.
    pub state: State,
    /// 1 if the window, not the application, was the limit.
    pub cwnd_limited: u8,
    /// 1 if the next hop reports that it is congested.
    pub next_hop: u8,
    /// The controller's request: 1 if new data shall only go on siblings that also set this.
    pub alone: u8,
    index: u8,
    count: u8,
    unused: u16,
    /// The value that the subflow publishes to its siblings; each controller defines its meaning.
    pub word: u64,
    private: [u64; PRIVATE_WORDS],
    parameters: *const u64,
}

/// The size that `controller.h` asserts for `struct subflow`.
const _: () = assert!(size_of::<Subflow>() == 32 + 8 + 8 * PRIVATE_WORDS + size_of::<*const u64>());

impl Subflow {
    /// A subflow whose controller runs elsewhere: its shared fields, without siblings, private state or parameters.
    pub fn outside(cwnd: u32) -> Self {
        Self::new(cwnd, std::ptr::null())
    }

    /// Sets its index among `count` siblings, itself included.
    pub(crate) fn place(&mut self, index: u8, count: u8) {
        (self.index, self.count) = (index, count);
    }

    /// `self` with the fields that belong to the controller, not the host, taken from `other`.
    pub(crate) fn with_controllers_part(&self, other: &Self) -> Self {
        Self { private: other.private, word: other.word, alone: other.alone, ..self.clone() }
    }

    /// A subflow without siblings yet.
    pub(crate) fn new(cwnd: u32, parameters: *const u64) -> Self {
        Self {
            cwnd,
            ssthresh: crate::INFINITE_SSTHRESH,
            srtt: 0,
            min_rtt: 0,
            in_flight: 0,
            mss: DEFAULT_MSS,
            state: State::Open,
            cwnd_limited: 1,
            next_hop: 0,
            alone: 0,
            index: 0,
            count: 1,
            unused: 0,
            word: 0,
            private: [0; PRIVATE_WORDS],
            parameters,
        }
    }
}

/// The sender's states, with Linux's names and numbers (`TCP_CA_*`).
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum State {
    /// Nothing unusual.
    Open,
    /// Duplicate ACKs or SACKs were seen, no loss is declared yet.
    Disorder,
    /// The window is being reduced after an ECN mark or a local drop.
    Cwr,
    /// Fast recovery after a loss.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

impl State {
    /// The name that `--json` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Disorder => "disorder",
            Self::Cwr => "cwr",
            Self::Recovery => "recovery",
            Self::Loss => "loss",
        }
    }
}

/// The contents of an ACK; `struct ack`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Ack {
    /// Packets newly delivered.
    pub delivered: u32,
    /// CE marks that the ACK echoes.
    pub marked: u32,
    /// RTT sample, 1/8 us; 0 = none.
    pub rtt: u32,
    /// 1 if this is the first ACK of a new round; for `grow`: if a round began since the last `grow`.
    pub new_round: u32,
    /// Time, us; only differences within the same subflow have a meaning.
    pub now: u64,
}

/// A hop of a packet's path; `struct hop`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hop {
    /// Bytes that the port had sent.
    pub bytes: u64,
    /// The time, ns, by the port's clock.
    pub time: u64,
    /// Bytes waiting in the port.
    pub queue: u32,
    /// The rate of the port, Mbit/s.
    pub rate: u32,
}

/// The report of a sprayed transport's host: `struct report` without its hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Packets newly delivered.
    pub delivered: u32,
    /// Those of them that came with CE.
    pub marked: u32,
    /// Packets that a switch trimmed to their header for lack of room.
    pub trimmed: u32,
    /// Packets that a timer has given up.
    pub lost: u32,
    /// The newest sample, ns; 0 = none.
    pub rtt: u32,
    /// The RTT of the empty path with a full packet, ns; at least 1.
    pub base_rtt: u32,
    /// The rate of the host's links, Mbit/s; at least 1.
    pub line_rate: u32,
    /// Delivery-rate sample, Mbit/s; 0 = none.
    pub rate: u32,
    /// 1: the port that trimmed leads to the receiver.
    pub last_hop: u8,
    /// 1: the application, not the window, was the limit.
    pub app_limited: u8,
    /// ns.
    pub now: u64,
}

impl Default for Report {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Report {
    /// Nothing has happened, on a path of 1 ns and 1 Mbit/s, at 0.
    pub const NOTHING: Self = Self {
        delivered: 0,
        marked: 0,
        trimmed: 0,
        lost: 0,
        rtt: 0,
        base_rtt: 1,
        line_rate: 1,
        rate: 0,
        last_hop: 0,
        app_limited: 0,
        now: 0,
    };
}

/// `struct report`.
#[repr(C)]
pub(crate) struct RawReport {
    delivered: u32,
    marked: u32,
    trimmed: u32,
    lost: u32,
    rtt: u32,
    base_rtt: u32,
    line_rate: u32,
    rate: u32,
    last_hop: u8,
    app_limited: u8,
    hop_count: u8,
    unused: u8,
    now: u64,
    hops: *const Hop,
}

impl RawReport {
    /// The report with these hops, at most 255.
    pub fn new(report: &Report, hops: &[Hop]) -> Self {
        let Report { delivered, marked, trimmed, lost, rtt, base_rtt, line_rate, rate, .. } = *report;
        Self {
            delivered,
            marked,
            trimmed,
            lost,
            rtt,
            base_rtt,
            line_rate,
            rate,
            last_hop: report.last_hop,
            app_limited: report.app_limited,
            hop_count: u8::try_from(hops.len()).expect("at most 255 hops"),
            unused: 0,
            now: report.now,
            hops: hops.as_ptr(),
        }
    }
}

/// Why the window must shrink; `enum cause`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// An ECN echo without loss.
    Mark,
    /// A loss, including one before a timeout.
    Loss,
    /// Congestion of the host's own port; in Linux a drop in its queueing discipline.
    Local,
}

#[repr(C)]
pub(crate) struct RawController {
    pub abi: u32,
    pub signals: u32,
    pub exceptions: u32,
    pub claims: u32,
    pub coupled: u32,
    pub min_cwnd: u32,
    pub parameter_count: u32,
    pub objective_count: u32,
    pub law_count: u32,
    pub name: *const c_char,
    pub title: *const c_char,
    pub source: *const c_char,
    pub single: *const c_char,
    pub parameters: *const RawParameter,
    pub objectives: *const RawObjective,
    pub laws: *const RawLaw,
    pub init: Option<unsafe extern "C" fn(*mut Subflow)>,
    pub ack: Option<unsafe extern "C" fn(*mut Subflow, *const Ack)>,
    pub grow: Option<unsafe extern "C" fn(*mut Subflow, *const Ack)>,
    pub congestion: Option<unsafe extern "C" fn(*mut Subflow, Cause) -> u32>,
    pub timeout: Option<unsafe extern "C" fn(*mut Subflow)>,
    pub report: Option<unsafe extern "C" fn(*mut Subflow, *const RawReport) -> u32>,
}

/// A second name for a controller; `struct alias`.
#[repr(C)]
pub(crate) struct RawAlias {
    pub of: &'static RawController,
    pub name: *const c_char,
    pub title: *const c_char,
    pub source: *const c_char,
    pub objectives: *const RawObjective,
    pub objective_count: u32,
}

/// `SIGNAL_PACKETS` and `SIGNAL_TELEMETRY`.
const PACKETS: u32 = 16;
const TELEMETRY: u32 = 32;

impl RawController {
    /// Whether the hooks match each other and the signals: those of TCP, or `report`.
    pub fn check_hooks(&self) -> Result<(), String> {
        let has = |signal| self.signals & signal != 0;
        if self.report.is_none() {
            return match () {
                () if has(PACKETS) => {
                    Err("SIGNAL_PACKETS is for the hook .report, which is missing".to_owned())
                }
                () if has(TELEMETRY) => Err("SIGNAL_TELEMETRY needs the hook .report".to_owned()),
                () => Ok(()),
            };
        }
        let of_tcp = [
            (".ack", self.ack.is_some()),
            (".grow", self.grow.is_some()),
            (".congestion", self.congestion.is_some()),
            (".timeout", self.timeout.is_some()),
        ];
        let others: Vec<&str> = of_tcp.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
        match others.is_empty() {
            false => Err(format!(
                ".report replaces the hooks for TCP: leave out {}, or .report",
                others.join(", ")
            )),
            true if has(PACKETS) => Ok(()),
            true => Err(".report needs SIGNAL_PACKETS among its .signals".to_owned()),
        }
    }
}

// SAFETY: a declaration is constant data and functions without state of their own.
unsafe impl Sync for RawController {}
// SAFETY: as above.
unsafe impl Send for RawController {}
// SAFETY: constant data.
unsafe impl Sync for RawAlias {}
// SAFETY: as above.
unsafe impl Send for RawAlias {}
