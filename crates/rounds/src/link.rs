//! A link as a fluid: what is sent flows in at a rate, waits in one queue, and flows out at the link's rate.

use tresse_fabric::{NonEct, PortConfig, PortCounters, Threshold};
use tresse_units::{BitsPerSecond, SECOND, Time};

/// Bytes per picosecond of a rate.
fn fluid(rate: BitsPerSecond) -> f64 {
    rate as f64 / (8.0 * SECOND as f64)
}

/// What a link has done to the fluid that has flowed in, as integrals over time, ps. The difference of two, divided by
/// the time between them, is a mean share.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shares {
    /// Time in which the queue was above the marking threshold.
    pub marked: f64,
    /// The share of the inflow for which there was no room, times time.
    pub lost: f64,
}

/// One direction of a link with the queue in front of it.
///
/// Between two changes of its inflow the backlog is linear in time, so that the time above a threshold and what
/// overflows are exact.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// Bytes per ps.
    rate: f64,
    nominal: BitsPerSecond,
    /// The time a bit takes to the far end.
    pub delay: Time,
    /// Room for waiting bytes.
    limit: f64,
    /// Bytes above which packets are marked.
    mark: f64,
    /// Packets that cannot be marked are dropped above the threshold.
    pub drops_non_ect: bool,
    /// The share of packets that is lost whatever the queue.
    pub random_loss: f64,
    /// Bytes per ps.
    inflow: f64,
    /// How many senders that is the sum of: 0 ends the error of rounding.
    senders: u32,
    backlog: f64,
    /// When it was last brought up to date.
    at: Time,
    shares: Shares,
    counts: Counts,
}

/// What has happened on a link: bytes, ps, and packets in parts.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    bytes: f64,
    busy: f64,
    drops: f64,
    lost: f64,
    marks: f64,
}

impl Link {
    /// An empty link; a threshold in packets stands for packets of `packet` bytes.
    pub fn new(config: &PortConfig, packet: f64) -> Self {
        // A packet sees the packets that wait, not the one in transmission, of which half is left on average: with n
        // waiting packets there are n + 1/2 in the fluid. It is marked if more than K wait, K + 1 at least, and dropped
        // if the limit's number waits.
        let bytes = |threshold: Threshold, waiting: f64| match threshold {
            Threshold::UNLIMITED => f64::INFINITY,
            bytes if bytes.is_bytes() => bytes.value() as f64,
            packets => (packets.value() as f64 + waiting) * packet,
        };
        Self {
            rate: fluid(config.rate),
            nominal: config.rate,
            delay: config.delay,
            limit: bytes(config.limit, 0.5).max(packet),
            mark: bytes(config.mark, 1.5),
            drops_non_ect: config.non_ect == NonEct::Drop,
            random_loss: config.loss.probability().parts() as f64 / (1u64 << 32) as f64,
            inflow: 0.0,
            senders: 0,
            backlog: 0.0,
            at: 0,
            shares: Shares::default(),
            counts: Counts::default(),
        }
    }

    /// Brings it to the time `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        let left = (now - self.at) as f64;
        if left <= 0.0 {
            return;
        }
        self.at = now;
        let net = self.inflow - self.rate;
        if net <= 0.0 && self.backlog <= 0.0 {
            self.counts.bytes += self.inflow * left;
            self.counts.busy += self.inflow / self.rate * left;
            return;
        }
        // The backlog moves to an end, empty or full, and stays there.
        let (end, most) =
            if net > 0.0 { (self.limit, self.limit - self.backlog) } else { (0.0, self.backlog) };
        let moves = if net == 0.0 { left } else { (most / net.abs()).min(left) };
        let from = self.backlog;
        let to = if moves < left { end } else { (from + net * moves).clamp(0.0, self.limit) };
        self.backlog = to;
        let rests = left - moves;
        self.shares.marked += moves * self.above(from, to) + if to > self.mark { rests } else { 0.0 };
        if net > 0.0 {
            self.shares.lost += rests * net / self.inflow;
            self.counts.bytes += self.inflow * moves + self.rate * rests;
            self.counts.busy += left;
        } else {
            self.counts.bytes += self.inflow * left;
            self.counts.busy += moves + self.inflow / self.rate * rests;
        }
    }

    /// The part of the way from one backlog to the other that is above the marking threshold.
    #[inline]
    fn above(&self, from: f64, to: f64) -> f64 {
        let (low, high) = if from < to { (from, to) } else { (to, from) };
        if low > self.mark {
            1.0
        } else if high <= self.mark {
            0.0
        } else {
            (high - self.mark) / (high - low)
        }
    }

    /// What flows out for each byte that flows in: less than one where more comes than leaves, more where a queue drains.
    #[inline]
    pub fn passes(&self) -> f64 {
        if self.backlog > 0.0 || self.inflow > self.rate { self.rate / self.inflow } else { 1.0 }
    }

    /// More flows in from now on, bytes per ps.
    #[inline]
    pub fn begin(&mut self, rate: f64) -> Shares {
        self.senders += 1;
        self.inflow += rate;
        self.shares
    }

    /// What [`begin`](Self::begin) added ends.
    #[inline]
    pub fn end(&mut self, rate: f64) {
        self.senders -= 1;
        self.inflow = if self.senders == 0 { 0.0 } else { (self.inflow - rate).max(0.0) };
    }

    /// What it has done until now.
    #[inline]
    pub fn shares(&self) -> Shares {
        self.shares
    }

    /// How long a byte that arrives now waits, ps.
    #[inline]
    pub fn wait(&self) -> f64 {
        self.backlog / self.rate
    }

    /// How long `bytes` take, ps.
    #[inline]
    pub fn transmission(&self, bytes: f64) -> f64 {
        bytes / self.rate
    }

    /// Counts packets, in parts.
    pub fn count(&mut self, marks: f64, drops: f64, lost: f64) {
        self.counts.marks += marks;
        self.counts.drops += drops;
        self.counts.lost += lost;
    }

    /// The rate changes. The link is up to date.
    pub fn set_rate(&mut self, rate: BitsPerSecond) {
        (self.rate, self.nominal) = (fluid(rate), rate);
    }

    /// Bytes that wait.
    pub fn backlog(&self) -> f64 {
        self.backlog
    }

    /// Its rate, counters and busy time, ps, at `now`.
    pub fn observe(&self, now: Time) -> (BitsPerSecond, PortCounters, Time) {
        let mut own = self.clone();
        own.advance(now);
        let counters = PortCounters {
            bytes: own.counts.bytes as u64,
            drops: own.counts.drops as u64,
            lost: own.counts.lost as u64,
            marks: own.counts.marks as u64,
            trims: 0,
        };
        (own.nominal, counters, own.counts.busy as Time)
    }
}
