//! The configuration of a queued port.

use tresse_units::Time;

use crate::port::PortConfig;
use crate::threshold::Threshold;

/// The most classes of a port.
pub const MAX_CLASSES: usize = 8;

/// The options of a queued port that a plain one does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedPortConfig {
    /// The classes, by [`Header::class`](crate::Header::class); packets of higher classes wait in the last
    /// one.
    pub classes: [ClassConfig; MAX_CLASSES],
    /// How many of them there are, 1 to 8.
    pub count: u8,
    /// The shared buffer that it takes its memory from, by its place in the fabric's list.
    pub pool: Option<u32>,
    /// The last class goes before all others, as soon as it has a packet.
    pub priority: bool,
    /// A packet for which there is no room, and which may be trimmed, is cut to this many bytes and waits in the last
    /// class (packet trimming: Ultra Ethernet, SONiC; after Cheng et al., NSDI 2014).
    pub trim: Option<u16>,
    /// A packet is marked by the queue behind it when its transmission begins, not by the queue that it meets
    /// on arrival.
    pub marks_behind: bool,
}

/// A class of a port, under deficit round robin (Shreedhar and Varghese, SIGCOMM 1995).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassConfig {
    /// Bytes that it may send in a round; at least 1. Busy classes share the rate as their quanta.
    pub quantum: u32,
    /// An arriving packet is dropped if the class's queue is at least this long.
    pub limit: Threshold,
    /// When its packets are marked.
    pub mark: ClassMark,
}

/// When the packets of a class are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassMark {
    /// If the class's queue is longer than this.
    Above(Threshold),
    /// If it is longer than K_i = (the class's share of the rate) x RTT x lambda (vMCC eq. (1), with the
    /// share of MQ-ECN, Bai et al., NSDI 2016): a busy class's share is its quantum divided by the quanta of
    /// all busy classes. K_i is at least two packets of 1500 bytes (catalogue 0.10).
    Share {
        /// The round-trip time.
        rtt: Time,
        /// Lambda, in parts of 1000.
        lambda: u32,
    },
}

impl QueuedPortConfig {
    /// One class, with the limit and threshold of `port`: a plain port, but its link may change.
    pub fn plain(port: &PortConfig) -> Self {
        let class = ClassConfig { quantum: 1500, limit: port.limit, mark: ClassMark::Above(port.mark) };
        Self {
            classes: [class; MAX_CLASSES],
            count: 1,
            pool: None,
            priority: false,
            trim: None,
            marks_behind: false,
        }
    }
}

/// A buffer that ports share, with dynamic thresholds (Choudhury and Hahne, ToN 1998): a class may hold
/// `alpha` times what is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolConfig {
    /// Bytes.
    pub bytes: u64,
    /// Alpha, in parts of 1000.
    pub alpha: u32,
}
