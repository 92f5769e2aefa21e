//! A link as a fluid: what is sent flows in at a rate, waits in one queue, and flows out at the link's rate.

use tresse_fabric::{NonEct, PortConfig, PortCounters, Threshold};
use tresse_units::{BitsPerSecond, SECOND, Time};

use crate::red::{Red, Span};

/// The room of a link that has failed.
const DOWN: f32 = -1.0;

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

/// One direction of a link with the queue in front of it: what every batch through it needs is in one cache line.
///
/// Between two changes of its inflow the backlog is linear in time, so that the time above a threshold and what
/// overflows are exact.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(crate) struct Link {
    /// Bytes per ps.
    rate: f64,
    /// Room for waiting bytes; [`DOWN`] while the link has failed.
    limit: f32,
    /// Bytes above which packets are marked; infinite if RED decides.
    mark: f32,
    /// Bytes per ps.
    inflow: f64,
    /// Bytes that wait.
    pub backlog: f64,
    /// When it was last brought up to date.
    at: Time,
    shares: Shares,
    /// Bytes that it has let in.
    taken: f64,
}
const _: () = assert!(size_of::<Link>() == 64);

/// The rest of a link.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub nominal: BitsPerSecond,
    /// The time a bit takes to the far end.
    pub delay: Time,
    /// Room for waiting bytes.
    limit: f32,
    /// Packets that cannot be marked are dropped above the threshold.
    pub drops_non_ect: bool,
    /// The share of packets that is lost whatever the queue.
    pub random_loss: f64,
    /// Packets, in parts.
    drops: f64,
    lost: f64,
    marks: f64,
    /// How long it was busy, ps, and how many bytes had left it, when its rate changed last.
    busy: f64,
    left: f64,
}

impl Link {
    /// An empty link, and its RED if it has one; a threshold in packets stands for packets of `packet` bytes.
    pub fn new(config: &PortConfig, packet: f64) -> (Self, Option<Red>) {
        // A packet sees the packets that wait, not the one in transmission, of which half is left on average: with n
        // waiting packets there are n + 1/2 in the fluid. It is marked if more than K wait, K + 1 at least, and dropped
        // if the limit's number waits.
        let bytes = |threshold: Threshold, waiting: f64| match threshold {
            Threshold::UNLIMITED => f64::INFINITY,
            bytes if bytes.is_bytes() => bytes.value() as f64,
            packets => (packets.value() as f64 + waiting) * packet,
        };
        let mark = bytes(config.mark, 1.5);
        let red = config.red.as_ref().map(|red| Red::new(red, packet, mark));
        let link = Self {
            rate: fluid(config.rate),
            limit: bytes(config.limit, 0.5).max(packet) as f32,
            mark: if red.is_some() { f32::INFINITY } else { mark as f32 },
            inflow: 0.0,
            backlog: 0.0,
            at: 0,
            shares: Shares::default(),
            taken: 0.0,
        };
        (link, red)
    }

    /// Brings it and its RED to the time `now`.
    #[inline]
    pub fn advance(&mut self, now: Time, red: Option<&mut Red>) {
        let left = (now - self.at) as f64;
        if left <= 0.0 {
            return;
        }
        self.at = now;
        if self.is_down() {
            self.shares.lost += left;
            return;
        }
        let net = self.inflow - self.rate;
        if net <= 0.0 && self.backlog <= 0.0 {
            self.taken += self.inflow * left;
            if let Some(red) = red {
                self.detect(red, 0.0, 0.0, [left, 0.0]);
            }
            return;
        }
        // The backlog moves to an end, empty or full, and stays there.
        let limit = f64::from(self.limit);
        let (end, most) = if net > 0.0 { (limit, limit - self.backlog) } else { (0.0, self.backlog) };
        let moves = if net == 0.0 { left } else { (most / net.abs()).min(left) };
        let from = self.backlog;
        let to = if moves < left { end } else { (from + net * moves).clamp(0.0, limit) };
        self.backlog = to;
        let rests = left - moves;
        if let Some(red) = red {
            self.detect(red, from, to, [moves, rests]);
        } else {
            let mark = f64::from(self.mark);
            self.shares.marked += moves * above(mark, from, to) + if to > mark { rests } else { 0.0 };
        }
        if net > 0.0 {
            self.shares.lost += rests * net / self.inflow;
            self.taken += self.inflow * moves + self.rate * rests;
        } else {
            self.taken += self.inflow * left;
        }
    }

    /// RED signals while the backlog moves from one value to another, and then rests: for so long, ps.
    #[cold]
    fn detect(&mut self, red: &mut Red, from: f64, to: f64, [moves, rests]: [f64; 2]) {
        // While nothing waits, the average falls as if packets came at the link's rate.
        let samples = |waits: bool| if waits { self.inflow } else { self.rate };
        let moving = Span { from, to, lasts: moves, samples: samples(from > 0.0 || to > 0.0) };
        let resting = Span { from: to, to, lasts: rests, samples: samples(to > 0.0) };
        self.shares.marked += red.pass(moving) + red.pass(resting);
    }

    /// What flows out for each byte that flows in: less than one where more comes than leaves.
    #[inline]
    pub fn passes(&self) -> f64 {
        if self.inflow > self.rate { self.rate / self.inflow } else { 1.0 }
    }

    /// So many bytes arrive at once. What has no room is lost. It is up to date.
    pub fn pour(&mut self, bytes: f64) {
        let room = (f64::from(self.limit) - self.backlog).max(0.0).min(bytes);
        self.backlog += room;
        self.taken += room;
    }

    /// More flows in from now on, bytes per ps.
    #[inline]
    pub fn begin(&mut self, rate: f64) {
        self.inflow += rate;
    }

    /// What [`begin`](Self::begin) added ends.
    #[inline]
    pub fn end(&mut self, rate: f64) {
        self.inflow -= rate;
        // What is left of the last sender's rate is the error of rounding.
        if self.inflow < self.rate * 1e-10 {
            self.inflow = 0.0;
        }
    }

    /// Bytes per ps.
    #[inline]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// From now on nothing is dropped or marked.
    pub fn make_endless(&mut self) {
        (self.limit, self.mark) = (f32::INFINITY, f32::INFINITY);
    }

    /// Whether its queue is above the marking threshold.
    #[inline]
    pub fn is_above(&self) -> bool {
        self.backlog > f64::from(self.mark)
    }

    /// The share of a batch that has sent at rate `own` until now in what has flowed in.
    pub fn share(&self, own: f64) -> f64 {
        own / (self.inflow + own)
    }

    /// Of a batch that has sent at rate `own` until now, and of which it has dropped this share: the share that was sent before
    /// the queue was full. If it is not full any more, it was at the start.
    pub fn before_full(&self, own: f64, dropped: f64) -> f64 {
        let inflow = self.inflow + own;
        if self.backlog < f64::from(self.limit) * 0.999 || inflow <= self.rate {
            return 0.0;
        }
        let while_full = 1.0 - self.rate / inflow;
        (1.0 - dropped / while_full).max(0.0)
    }

    /// Whether it has failed, and what is sent into it is lost.
    #[inline]
    pub fn is_down(&self) -> bool {
        self.limit < 0.0
    }

    /// What it has done until now.
    #[inline]
    pub fn shares(&self) -> Shares {
        self.shares
    }

    /// How long a byte that arrives now waits, ps.
    #[inline]
    pub fn wait(&self) -> f64 {
        if self.backlog > 0.0 { self.backlog / self.rate } else { 0.0 }
    }

    /// The most that is left of a packet of these bytes that is in transmission, times the chance that one is, ps.
    #[inline]
    pub fn rest(&self, bytes: f64) -> f64 {
        if self.backlog > 0.0 || self.inflow == 0.0 {
            return 0.0;
        }
        self.inflow.min(self.rate) * bytes / (self.rate * self.rate)
    }

    /// Bytes above the marking threshold, and above the limit, if what takes `held` ps waits besides.
    #[inline]
    pub fn beyond(&self, held: f64) -> [f64; 2] {
        let waiting = self.backlog + held * self.rate;
        [self.mark, self.limit].map(|most| (waiting - f64::from(most)).max(0.0))
    }

    /// How long `bytes` take, ps.
    #[inline]
    pub fn transmission(&self, bytes: f64) -> f64 {
        bytes / self.rate
    }
}

/// The part of the way from one backlog to another that is above `mark`.
#[inline]
fn above(mark: f64, from: f64, to: f64) -> f64 {
    let (low, high) = if from < to { (from, to) } else { (to, from) };
    if low > mark {
        1.0
    } else if high <= mark {
        0.0
    } else {
        (high - mark) / (high - low)
    }
}

impl Record {
    /// That of a new `link`.
    pub fn new(config: &PortConfig, link: &Link) -> Self {
        Self {
            nominal: config.rate,
            limit: link.limit,
            delay: config.delay,
            drops_non_ect: config.non_ect == NonEct::Drop,
            random_loss: config.loss.probability().parts() as f64 / (1u64 << 32) as f64,
            drops: 0.0,
            lost: 0.0,
            marks: 0.0,
            busy: 0.0,
            left: 0.0,
        }
    }

    /// See [`Link::make_endless`].
    pub fn make_endless(&mut self) {
        self.limit = f32::INFINITY;
    }

    /// Counts packets, in parts.
    pub fn count(&mut self, marks: f64, drops: f64, lost: f64) {
        self.marks += marks;
        self.drops += drops;
        self.lost += lost;
    }

    /// How long `link` has been busy, ps, and how many bytes have left it. It is up to date.
    fn served(&self, link: &Link) -> (f64, f64) {
        let left = link.taken - link.backlog;
        (self.busy + (left - self.left) / link.rate, left)
    }

    /// The rate of `link` changes. It is up to date.
    pub fn set_rate(&mut self, link: &mut Link, rate: BitsPerSecond) {
        (self.busy, self.left) = self.served(link);
        (link.rate, self.nominal) = (fluid(rate), rate);
    }

    /// `link` fails, and what waits is lost; or it comes back. It is up to date.
    pub fn set_up(&mut self, link: &mut Link, up: bool, packet: f64) {
        link.limit = if up { self.limit } else { DOWN };
        if !up {
            self.lost += link.backlog / packet;
            // It was let in, and never sent.
            self.left += link.backlog;
            link.backlog = 0.0;
        }
    }

    /// The rate of `link`, its counters and its busy time, ps. It is up to date.
    pub fn observe(&self, link: &Link) -> (BitsPerSecond, PortCounters, Time) {
        let counters = PortCounters {
            bytes: link.taken as u64,
            drops: self.drops as u64,
            lost: self.lost as u64,
            marks: self.marks as u64,
            trims: 0,
        };
        (self.nominal, counters, self.served(link).0 as Time)
    }
}
