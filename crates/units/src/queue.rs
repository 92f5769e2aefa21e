//! Lengths of queues.

use std::fmt;
use std::str::FromStr;

use crate::quantity::{PACKETS, SIZES};
use crate::text::{parse, show, text_form};

/// A queue length, in packets or in bytes, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
    /// Never reached.
    Unlimited,
}

impl FromStr for Queue {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        length(text, &[])
    }
}

/// Reads a queue length; `more` are the units that may stand there too, for messages.
fn length(text: &str, more: &[(&str, u64)]) -> Result<Queue, String> {
    if text.trim() == "unlimited" {
        return Ok(Queue::Unlimited);
    }
    if text.trim_end().ends_with("pkt") {
        return parse(text, PACKETS, "a queue length", "100pkt").map(Queue::Packets);
    }
    let units: Vec<_> = PACKETS.iter().chain(SIZES).chain(more).copied().collect();
    parse(text, &units, "a queue length", "100pkt").map(Queue::Bytes)
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Packets(n) => f.write_str(&show(n, PACKETS)),
            Self::Bytes(n) => f.write_str(&show(n, SIZES)),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

text_form!(Queue, r"^([0-9.]+ *(pkt|B|kB|MB|GB|TB|KiB|MiB|GiB)|unlimited)$", "100pkt");

/// The queue length from which on packets are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// As it is given.
    Length(Queue),
    /// A multiple of the network's bandwidth-delay product, in parts of [`Mark::PARTS`]; above 0.
    Bdp(u64),
}

/// The unit of multiples of a bandwidth-delay product.
const BDP: &[(&str, u64)] = &[("BDP", Mark::PARTS)];

impl Mark {
    /// The parts of one bandwidth-delay product.
    pub const PARTS: u64 = 1_000_000_000;

    /// Never reached.
    pub const UNLIMITED: Self = Self::Length(Queue::Unlimited);

    /// The length; unlimited as long as it is a multiple of a product that is not known.
    pub fn length(self) -> Queue {
        match self {
            Self::Length(length) => length,
            Self::Bdp(_) => Queue::Unlimited,
        }
    }
}

impl FromStr for Mark {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let Some(number) = text.trim().strip_suffix("BDP") else {
            return length(text, BDP).map(Self::Length);
        };
        // Decimals beyond the parts are cut off.
        let end = number.find('.').map_or(number.len(), |dot| (dot + 10).min(number.trim_end().len()));
        let kept = number.get(..end).unwrap_or(number);
        let units: Vec<_> = PACKETS.iter().chain(SIZES).chain(BDP).copied().collect();
        match parse(&format!("{kept}BDP"), &units, "a queue length", "100pkt")? {
            0 => Err(format!("\"{text}\" is no threshold: expected more than 0, such as \"0.17BDP\"")),
            parts => Ok(Self::Bdp(parts)),
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length(length) => length.fmt(f),
            Self::Bdp(parts) => {
                let decimals = format!("{:09}", parts % Self::PARTS);
                let number = format!("{}.{decimals}", parts / Self::PARTS);
                write!(f, "{}BDP", number.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

text_form!(Mark, r"^([0-9.]+ *(pkt|B|kB|MB|GB|TB|KiB|MiB|GiB|BDP)|unlimited)$", "100pkt");

/// The queue in a host's NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostQueue {
    /// One for each subflow.
    Fq,
    /// One for all, with this limit.
    Fifo(Queue),
}

impl FromStr for HostQueue {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "fq" => Ok(Self::Fq),
            limit => match limit.parse() {
                Ok(limit) => Ok(Self::Fifo(limit)),
                Err(wrong) => Err(format!("{wrong}, \"unlimited\", or \"fq\": a queue for each subflow")),
            },
        }
    }
}

impl fmt::Display for HostQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fq => f.write_str("fq"),
            Self::Fifo(limit) => limit.fmt(f),
        }
    }
}

text_form!(HostQueue, r"^([0-9.]+ *(pkt|B|kB|MB|GB|TB|KiB|MiB|GiB)|unlimited|fq)$", "fq");
