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
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if text.trim_end().ends_with("pkt") {
            return parse(text, PACKETS, "a queue length", "100pkt").map(Self::Packets);
        }
        let units: Vec<_> = PACKETS.iter().chain(SIZES).copied().collect();
        parse(text, &units, "a queue length", "100pkt").map(Self::Bytes)
    }
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
