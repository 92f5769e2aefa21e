//! The sizes of packets in another simulator.

use tresse_workload::too_large;

/// The sizes of packets, and their origin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packets {
    pub mss: u64,
    pub header: u64,
    pub ack: u64,
    pub origin: &'static str,
}

impl Packets {
    /// XMP's, for formats without sizes.
    pub const OURS: Self =
        Self { mss: 1460, header: 40, ack: 40, origin: "not in the file: Ethernet's 1500 B" };

    /// The error for a message of this many bytes, if it is too large.
    pub fn refuse(&self, bytes: u64) -> Option<String> {
        let most = self.largest();
        (bytes > most).then(|| too_large(bytes, most))
    }

    /// The largest message, bytes.
    pub fn largest(&self) -> u64 {
        self.mss * u64::from(u32::MAX)
    }
}
