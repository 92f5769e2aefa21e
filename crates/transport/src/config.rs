//! The transport options of an experiment.

use tresse_controllers::{CWND_LIMIT, INFINITE_SSTHRESH};
use tresse_units::{MILLISECOND, SECOND, Time};

/// How losses are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// No fast retransmit: every loss waits for the timeout, which sends everything again
    /// (HOLNET-UTA, thesis §2.5; the worst that loss recovery can be).
    GoBackN,
    /// RFC 5681 §3.2: the first ACK of new data ends a recovery, so a second loss in the window needs three
    /// further duplicate ACKs, or a timeout.
    Reno,
    /// [`Reno`](Self::Reno) with RFC 6582 §3.2 step 2 (ns-2's Reno with its default `bugFix_`): no second
    /// fast retransmit until more is ACKed than had been sent when the last one, or a timeout, began. Other
    /// losses in that window wait for the timeout.
    RenoOnce,
    /// RFC 6582, as Linux does it without SACK: duplicate ACKs stand for segments that arrived; a
    /// partial ACK retransmits the next hole and restarts the timer ("slow but steady").
    NewReno,
    /// RFC 6675's loss rule on SACK blocks, paced by PRR (RFC 6937), as Linux does it.
    Sack,
    /// RACK-TLP (RFC 8985) on SACK blocks, paced by PRR, as Linux does it since 4.18: a segment is lost
    /// when one that was sent later has arrived and a reordering window has passed, and a probe is sent
    /// before the timeout.
    Rack,
}

impl Recovery {
    /// Whether ACKs carry SACK blocks.
    #[inline]
    pub fn uses_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }

    /// Whether the first ACK of new data ends a fast recovery (RFC 5681 §3.2).
    #[inline]
    pub(crate) fn ends_with_first_ack(self) -> bool {
        matches!(self, Self::Reno | Self::RenoOnce)
    }
}

/// How the window is reduced to the value from the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// At once (XMP Algorithm 1, ns-3). SACK recovery is still paced by PRR: otherwise one ACK could release
    /// a burst that loses its own retransmissions.
    Immediate,
    /// Over a round, by proportional rate reduction (RFC 6937), as Linux does it.
    Prr,
}

/// How the receiver reports CE marks to the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// ECE on every ACK until the sender says CWR (RFC 3168 §6.1.3).
    Rfc3168,
    /// ECE says whether the packets of this ACK were marked; a change is ACKed at once (RFC 8257 §3.2).
    Dctcp,
    /// ECE and CWR together count up to three marks per ACK; further marks wait (XMP §2.1).
    TwoBit,
}

/// How the timeout follows from the RTT's mean and its variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rto {
    /// The larger of srtt + 4 rttvar and `rto_min` (RFC 6298 §2.3, §2.4).
    Rfc6298,
    /// srtt + the larger of 4 rttvar and `rto_min` (Linux's `__tcp_set_rto` and `tcp_rtt_estimator`).
    Linux,
}

/// What a retransmission timeout does to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutCut {
    /// One packet, and slow start up to what the controller answers a loss with (RFC 5681 §3.1, Linux).
    Restart,
    /// What three duplicate ACKs do: the controller's answer to a loss is the window, and the controller hears of no
    /// timeout. If it answers no losses, the window stays (THESIS §2.4.1, §2.5, §3.4).
    AsLoss,
}

/// When a connection's further subflows begin their handshakes, counted from the first one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// When it is complete.
    Established,
    /// When the first ACK of data has arrived: before that the other host need not have the keys (RFC 8684 §3.1, "fully
    /// established"; Linux's `check_fully_established`).
    FirstAck,
}

/// Which of several subflows with room gets the next data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// The one with the lowest smoothed RTT, one without a sample first (the old MPTCP kernel's default).
    LowestRtt,
    /// The one after the last chosen one (the slides' author's).
    RoundRobin,
    /// The one that would finish its queued data first, whether or not its window has room: data is given to
    /// subflows in bursts up to their send buffers, and waits there (Linux's `mptcp_subflow_get_send`). A
    /// controller's request to be alone is ignored.
    Linux,
}

/// The receive buffer of a whole connection (RFC 8684 §3.3.1). The application reads at once, so only data that is out of
/// the connection's order takes room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// Its size, bytes of payload; at least a full segment. Only whole segments go in, and a message's last one takes as
    /// much room as the others.
    pub bytes: u64,
    /// Whether it grows.
    pub rule: BufferRule,
    /// What the sender does about data that keeps its window closed.
    pub blocked: Blocked,
}

/// How large a receive buffer is while the connection lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferRule {
    /// As large as at the start. New data may be in flight up to this much beyond the DATA_ACK.
    Fixed,
    /// It grows, and data that waits for its order takes room from the window, as in Linux 6.18 (`mptcp_rcv_space_adjust`,
    /// `mptcp_rcvbuf_grow`, `__mptcp_space`).
    Linux {
        /// The largest size, bytes of payload.
        most: u64,
    },
}

/// The payload in a byte of Linux's buffer, in 1/256: 1448 bytes are charged 2304, which are a packet's 2048 and its
/// `sk_buff` (`scaling_ratio`).
const PAYLOAD: u64 = 160;

impl ReceiveBuffer {
    /// With Linux's `tcp_rmem`: 131072 bytes at the start, and at most `most` bytes of payload, by default those of 6 MiB.
    pub fn linux(most: Option<u64>, blocked: Blocked) -> Self {
        let payload = |bytes: u64| bytes * PAYLOAD / 256;
        let most = most.unwrap_or(payload(6 << 20));
        Self { bytes: payload(131_072).min(most), rule: BufferRule::Linux { most }, blocked }
    }

    /// The size of Linux's buffer that holds this much payload, bytes.
    pub fn linux_bytes(payload: u64) -> u64 {
        payload.saturating_mul(256) / PAYLOAD
    }

    /// How many segments it holds.
    pub(crate) fn segments(self, mss: u32) -> u32 {
        u32::try_from(self.bytes / u64::from(mss)).unwrap_or(u32::MAX).max(1)
    }
}

/// What a sender does when data on one subflow keeps the connection's receive window closed, and others have room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocked {
    /// It waits. If a retransmission timeout passes on the subflow with the first missing data, a subflow without
    /// anything in flight sends this data too (Linux's `__mptcp_retrans`).
    Wait,
    /// A subflow with room sends the first missing data too, if it is much faster than the one that had it, which gets
    /// half its window; after a timeout, all data in flight on a subflow goes on others (`mptcp_rcv_buf_optimization` and
    /// `mptcp_sub_retransmit_timer` in the MPTCP kernel 0.8x; Raiciu et al., NSDI 2012, §4.2).
    Reinject,
}

/// When the receiver sends an ACK (catalogue 0.2). A gap, a change of CE (with RFC 3168's echo:
/// the first mark) and the last segment of a message are ACKed at once in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayedAck {
    /// An ACK for this many packets.
    pub every: u32,
    /// Or after this long.
    pub timer: Time,
    /// The first segments of a subflow that are ACKed one by one (Linux's quick-ACK).
    pub quick: u32,
    /// As many again after a duplicate, and after a pause of more than `rto_min`, as Linux does it
    /// (`tcp_enter_quickack_mode`, `tcp_event_data_recv`).
    pub quick_again: bool,
}

/// Generic receive offload: segments that arrive close together reach TCP as one.
///
/// The network card's queue is polled at once if the last poll is at least `interval` ago, otherwise as soon
/// as it is. The segments found by a poll are merged as long as the sequence numbers follow each other and CE
/// stays the same, and TCP decides about an ACK once for all of them. Each subflow is polled separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gro {
    /// The most segments that are merged; 1 turns it off.
    pub segments: u32,
    /// The least time between two polls (a network card's interrupt throttling).
    pub interval: Time,
}

impl Gro {
    /// Every segment reaches TCP separately and at once.
    pub const OFF: Self = Self { segments: 1, interval: 0 };
}

/// Protective Load Balancing: when a subflow asks for another path (Qureshi et al., SIGCOMM 2022; Linux's
/// `tcp_plb_*`). The defaults are declared with the load balancers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plb {
    /// K, `tcp_plb_cong_thresh`: a round is congested if at least this many 256ths of the segments delivered
    /// in it were marked; 1 to 256.
    pub cong_thresh: u32,
    /// N, `tcp_plb_rehash_rounds`: congested rounds on end after which it asks; at least 1.
    pub rehash_rounds: u32,
    /// M, `tcp_plb_idle_rehash_rounds`: the same while nothing is outstanding; 0 turns this off.
    pub idle_rehash_rounds: u32,
    /// `tcp_plb_suspend_rto_sec`: after a timeout no congestion makes it ask for 1 to 2 times as long.
    pub suspend: Time,
    /// The seed for the random part of a suspension; should differ for each connection.
    pub seed: u64,
}

/// The transport of one scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Headers of a data packet, bytes.
    pub header: u32,
    /// Size of an ACK, bytes.
    pub ack: u32,
    /// Whether subflows are opened by handshakes, with packets of the size of an ACK (RFC 8684 §3.1, §3.2).
    pub handshake: bool,
    /// With `handshake`: when the other subflows begin theirs.
    pub join: Join,
    /// After this many timeouts in a row, the data in flight on a subflow is also sent on others, and it gets
    /// no new data until it is heard from again (Linux's `stale_loss_cnt`); 0: never.
    pub stale_after: u32,
    /// Initial window, packets.
    pub initial_window: u32,
    /// The slow-start threshold of a new subflow, packets; at least 1.
    pub initial_ssthresh: u32,
    /// How the retransmission timeout is made.
    pub rto_rule: Rto,
    /// The smallest retransmission timeout.
    pub rto_min: Time,
    /// The timeout before there is an RTT sample.
    pub rto_initial: Time,
    /// The largest timeout, even after back-off.
    pub rto_max: Time,
    /// What a timeout does to the window.
    pub timeout_cut: TimeoutCut,
    /// Added to the timeouts of probes and of the reordering window, which are RACK-TLP's: two ticks of
    /// the clock in Linux (`TCP_TIMEOUT_MIN`), nothing in RFC 8985.
    pub timer_slack: Time,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Window reduction.
    pub reduction: Reduction,
    /// The floor to which marks may cut a window, packets, instead of the controller's own. If the
    /// controller's is higher, each mark at that floor takes one more packet.
    pub floor: Option<u32>,
    /// With [`Reduction::Immediate`]: the controller may raise the window even in the round after a cut for a
    /// mark, in which Linux and XMP's Algorithm 1 hold it (the slides' author's DCTCP).
    pub grow_in_cwr: bool,
    /// The most segments in flight on a subflow, a fixed receive window; at least 1.
    pub receive_window: u32,
    /// The receive buffer of the connection; `None`: unlimited. Sprayed connections have none.
    pub receive_buffer: Option<ReceiveBuffer>,
    /// A subflow waits when this many bytes of its packets wait in a host's port that serves subflows in turn; at least
    /// 1, which is one packet. For TCP, what takes 1 ms at its pacing rate is enough (Linux's `tcp_small_queue_check`).
    pub port_limit: u64,
    /// Where new data goes.
    pub scheduler: Scheduler,
    /// With [`Scheduler::Linux`]: a subflow's send buffer grows to hold two windows of segments of this many bytes
    /// (`per_mss` in Linux's `tcp_sndbuf_expand`).
    pub send_segment: u64,
    /// Whether data packets are ECN-capable.
    pub ecn: bool,
    /// Whether ACKs are ECN-capable: then they pass queues that drop packets that they cannot mark, and their
    /// marks are ignored.
    pub ect_acks: bool,
    /// The echo of CE marks.
    pub echo: Echo,
    /// Whether the segments of a window are spread over the round trip (Linux's `tcp_update_pacing_rate`).
    pub pacing: bool,
    /// With pacing: the most segments that leave in one burst (`gso_max_segs`).
    pub tso: u32,
    /// When a subflow asks for another path; `None`: never.
    pub plb: Option<Plb>,
    /// When ACKs are sent.
    pub delayed_ack: DelayedAck,
    /// The receiver's merging of segments.
    pub gro: Gro,
}

/// One TCP connection as the papers' simulators have it: NewReno, an ACK per packet, no ECN, no handshake, and no limit
/// to the receive window but the window's own.
impl Default for Config {
    fn default() -> Self {
        Self {
            mss: 1460,
            header: 40,
            ack: 40,
            handshake: false,
            join: Join::Established,
            stale_after: 0,
            initial_window: 10,
            initial_ssthresh: INFINITE_SSTHRESH,
            rto_rule: Rto::Rfc6298,
            rto_min: 200 * MILLISECOND,
            rto_initial: SECOND,
            rto_max: 60 * SECOND,
            timeout_cut: TimeoutCut::Restart,
            timer_slack: 0,
            recovery: Recovery::NewReno,
            reduction: Reduction::Immediate,
            floor: None,
            grow_in_cwr: false,
            receive_window: CWND_LIMIT - 1,
            receive_buffer: None,
            port_limit: 1 << 20,
            scheduler: Scheduler::LowestRtt,
            send_segment: 4352,
            ecn: false,
            ect_acks: false,
            echo: Echo::Dctcp,
            pacing: false,
            tso: 44,
            plb: None,
            delayed_ack: DelayedAck { every: 1, timer: 40 * MILLISECOND, quick: 0, quick_again: false },
            gro: Gro::OFF,
        }
    }
}

impl Config {
    /// The retransmission timeout, without back-off, from the smoothed RTT and its variation.
    #[inline]
    pub fn rto(&self, srtt: Time, variation: Time) -> Time {
        match self.rto_rule {
            Rto::Rfc6298 => (srtt + 4 * variation).max(self.rto_min),
            Rto::Linux => srtt + (4 * variation).max(self.rto_min),
        }
    }
}
