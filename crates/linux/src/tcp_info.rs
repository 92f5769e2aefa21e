//! The kernel's data about a TCP socket: `struct tcp_info` (include/uapi/linux/tcp.h).

/// A sender's state; counts are from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    /// `enum tcp_ca_state`: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u8,
    /// Its window, packets.
    pub cwnd: u32,
    /// Its smoothed RTT, us; 0: none yet.
    pub srtt: u32,
    /// Segments that are in flight.
    pub outstanding: u32,
    /// Payload that was ACKed, bytes.
    pub acked: u64,
    /// Data segments, retransmissions among them.
    pub segments: u64,
    /// Retransmissions.
    pub again: u64,
    /// CE marks that were echoed.
    pub marks: u64,
    /// Retransmission timeouts; 0 on kernels before 6.7, which do not count them.
    pub timeouts: u64,
}

impl TcpInfo {
    /// The part of the structure that is read, bytes: up to `tcpi_total_rto`.
    pub const SIZE: usize = 248;

    /// From the kernel's bytes; values that an older kernel does not report are 0. `None` if not even marks
    /// are reported (before 5.4).
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| crate::netlink::word(bytes, at);
        Some(Self {
            state: *bytes.get(1)?,
            outstanding: word(24)?,
            srtt: word(68)?,
            cwnd: word(80)?,
            again: word(100)?.into(),
            acked: u64::from_ne_bytes(bytes.get(120..128)?.try_into().ok()?),
            segments: word(156)?.into(),
            marks: word(196)?.into(),
            timeouts: bytes.get(240..242).map_or(0, |two| u64::from(u16::from_ne_bytes([two[0], two[1]]))),
        })
    }
}
