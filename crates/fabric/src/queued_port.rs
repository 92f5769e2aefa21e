//! A queued port, one that keeps its queues: several classes, a shared buffer, a rate that changes, a link that fails.
//!
//! Where a plain port knows an arriving packet's departure at once, this one cannot: a later packet of
//! another class may go first, or the rate may change. So it keeps its queues, and a departure is a separate
//! event if something waits for it.

mod classes;
mod config;
mod look;
mod pause;

pub(crate) use classes::Packet;
pub use config::{ClassConfig, ClassMark, MAX_CLASSES, PoolConfig, QueuedPortConfig};

use classes::{Class, Order};
use smallvec::SmallVec;
use tresse_units::{BitsPerSecond, SECOND, Time};

use crate::pace::Pace;
use crate::packet::Header;
use crate::port::PortConfig;
use crate::prefetch::prefetch_line;
use crate::threshold::Threshold;

/// A shared buffer.
#[derive(Debug)]
pub(crate) struct Pool {
    config: PoolConfig,
    /// Bytes of packets that wait or are in transmission.
    pub used: u64,
}

impl Pool {
    pub fn new(config: PoolConfig) -> Self {
        Self { config, used: 0 }
    }

    /// Whether a class that holds `held` bytes may take `bytes` more.
    fn has_room(&self, held: u64, bytes: u32) -> bool {
        let free = self.config.bytes - self.used;
        u64::from(bytes) <= free && u128::from(held) * 1000 < u128::from(self.config.alpha) * u128::from(free)
    }
}

/// A queued port. The fields that every packet touches come first, in one cache line; then its classes, the
/// first two of them without a separate allocation.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct QueuedPort {
    /// When the packet in transmission will have left; not later than now if there is none. At that instant
    /// it has: departures come before arrivals.
    departure: Time,
    delay: Time,
    pace: Pace,
    /// The total time of all transmissions so far, including the current one.
    begun: Time,
    /// The packet that is, or was last, in transmission.
    sending: Packet,
    /// The size to which packets are trimmed, bytes; 0 if none is trimmed.
    trim: u16,
    /// The class that goes before all others; [`NO_PRIORITY`] if there is none.
    first: u8,
    discipline: Discipline,
    up: bool,
    /// Whether its departure is an event, because packets wait or a shared buffer must be notified.
    awaited: bool,
    /// The class at the head of `active` has received its quantum for this round.
    granted: bool,
    /// Packets are marked by what waits behind them when their transmission begins.
    pub marks_behind: bool,
    /// Its plain port loses no packets, averages no queue, and no host takes time.
    pub quiet: bool,
    /// All classes but the one that goes before all others are paused.
    paused: bool,
    /// Whether it is under flow control, which is notified of every departure.
    obeys: bool,
    classes: SmallVec<[Class; 2]>,
    /// If there are several classes: those with packets, in the order of service.
    active: Order,
    /// The shared buffer.
    pool: Option<u32>,
    /// The pace of the packet in transmission: the one at which it began.
    sending_pace: Pace,
    rate: BitsPerSecond,
}

/// How the next packet is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Discipline {
    /// There is one class.
    One,
    /// From the last of two classes as long as it has one, otherwise from the other.
    PriorityOfTwo,
    /// By deficit round robin, behind a class that goes before all others if there is one.
    Several,
}

const NO_PRIORITY: u8 = u8::MAX;

impl QueuedPort {
    pub fn new(port: &PortConfig, config: &QueuedPortConfig) -> Self {
        let classes = &config.classes[..config.count.into()];
        assert!(classes.iter().all(|c| c.quantum > 0) && !classes.is_empty(), "classes need a quantum");
        let pace = Pace::new(port.rate);
        Self {
            departure: 0,
            delay: port.delay,
            pace,
            begun: 0,
            sending: Packet { id: 0, bytes: 0, class: 0 },
            trim: config.trim.unwrap_or(0),
            first: if config.priority { config.count - 1 } else { NO_PRIORITY },
            discipline: match (config.count, config.priority) {
                (1, _) => Discipline::One,
                (2, true) => Discipline::PriorityOfTwo,
                _ => Discipline::Several,
            },
            up: true,
            awaited: false,
            granted: false,
            marks_behind: config.marks_behind,
            quiet: port.is_quiet(),
            paused: false,
            obeys: false,
            classes: classes.iter().map(|&config| Class::new(config)).collect(),
            active: Order::default(),
            pool: config.pool,
            sending_pace: pace,
            rate: port.rate,
        }
    }

    /// Prefetches the memory that a packet will touch when it arrives or leaves.
    #[inline]
    pub fn prefetch(own: *const Self) {
        (0..size_of::<Self>().div_ceil(64))
            .for_each(|line| prefetch_line(own.cast::<u8>().wrapping_add(64 * line)));
    }

    /// The shared buffer that it belongs to.
    #[inline]
    pub fn pool(&self) -> Option<u32> {
        self.pool
    }

    /// The pace of transmissions that begin now.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The class that a packet waits in.
    #[inline]
    pub fn class(&self, header: &Header) -> u8 {
        header.service().min(self.classes.len() as u8 - 1)
    }

    /// The size in bytes to which it cuts a packet for which there is no room, if it does.
    pub fn trims(&self, header: &Header) -> Option<u16> {
        (self.trim > 0 && header.is_trimmable() && header.bytes > self.trim).then_some(self.trim)
    }

    /// The state for a packet that arrives now: `None` if there is no room, otherwise whether its class's
    /// queue is above the marking threshold.
    #[inline]
    pub fn meets(&self, now: Time, packet: Packet, pool: Option<&Pool>) -> Option<bool> {
        let own = &self.classes[usize::from(packet.class)];
        if pool.is_some_and(|pool| !pool.has_room(own.bytes, packet.bytes)) {
            return None;
        }
        // An idle port lets in one packet, whatever the limit.
        if self.departure <= now && !self.paused {
            return Some(false);
        }
        let limit = own.config.limit;
        if limit != Threshold::UNLIMITED && self.length(packet.class, limit, now) >= limit.value() {
            return None;
        }
        Some(!self.marks_behind && self.is_above(own, |mark| self.length(packet.class, mark, now)))
    }

    /// Whether the waiting packets of a class, without the one in transmission, exceed the marking threshold.
    pub fn is_above_behind(&self, class: u8) -> bool {
        let own = &self.classes[usize::from(class)];
        self.is_above(own, |mark| if mark.is_bytes() { own.bytes } else { own.queue.len() as u64 })
    }

    /// Whether a class's queue of this `length` is above its marking threshold.
    #[inline]
    fn is_above(&self, own: &Class, length: impl Fn(Threshold) -> u64) -> bool {
        match own.config.mark {
            ClassMark::Above(Threshold::UNLIMITED) => false,
            ClassMark::Above(mark) => length(mark) > mark.value(),
            ClassMark::Share { rtt, lambda } => {
                let share = self.share(own, rtt, lambda);
                length(share) > share.value()
            }
        }
    }

    /// Lets a packet in. Returns when it reaches the far end, if its transmission begins at once; and the
    /// time of its departure, or of the departure before it, if that is an event from now on.
    #[inline]
    pub fn admit(&mut self, now: Time, packet: Packet, pool: Option<&mut Pool>) -> [Option<Time>; 2] {
        let awaited = std::mem::replace(&mut self.awaited, true);
        let shared = pool.is_some() || self.obeys;
        if let Some(pool) = pool {
            pool.used += u64::from(packet.bytes);
        }
        if self.departure <= now {
            if self.holds(packet) {
                self.awaited = false;
                self.classes[usize::from(packet.class)].push(packet);
                return [None; 2];
            }
            self.awaited = shared;
            return [Some(self.transmit(now, packet)), shared.then_some(self.departure)];
        }
        let own = &mut self.classes[usize::from(packet.class)];
        if self.discipline == Discipline::Several && own.queue.is_empty() && packet.class != self.first {
            self.active.push(packet.class.into());
        }
        own.push(packet);
        [None, (!awaited).then_some(self.departure)]
    }

    /// The packet in transmission has left. Returns which packet is in transmission now and when it reaches
    /// the far end; and when it departs, if that is an event.
    #[inline]
    pub fn depart(&mut self, now: Time, pool: Option<&mut Pool>) -> Option<(u32, Time, Option<Time>)> {
        let shared = pool.is_some() || self.obeys;
        if let Some(pool) = pool {
            pool.used -= u64::from(self.sending.bytes);
        }
        let (next, more) = match (self.discipline, &mut self.classes[..]) {
            (Discipline::One, [only]) => (only.take(), !only.queue.is_empty()),
            (Discipline::PriorityOfTwo, [last, first]) => {
                let next = first.take().or_else(|| if self.paused { None } else { last.take() });
                (next, !(first.queue.is_empty() && last.queue.is_empty()))
            }
            _ => (self.dequeue(), self.active.count > 0 || self.first_waits()),
        };
        self.awaited = next.is_some() && (more || shared);
        let next = next?;
        let far_end = self.transmit(now, next);
        Some((next.id, far_end, self.awaited.then_some(self.departure)))
    }

    /// The rate changes; the packet in transmission continues at the old one.
    pub fn set_rate(&mut self, rate: BitsPerSecond) {
        self.rate = rate;
        self.pace = Pace::new(rate);
    }

    /// The link comes back.
    pub fn repair(&mut self) {
        self.up = true;
    }

    /// The link fails. `queued` gets the packets that waited: they are gone now. The one in transmission
    /// departs, but arrives nowhere.
    pub fn fail(&mut self, pool: Option<&mut Pool>, queued: &mut Vec<u32>) {
        self.up = false;
        let mut bytes = 0;
        for class in &mut self.classes {
            bytes += class.bytes;
            queued.extend(class.queue.drain(..).map(|p| p.id));
            (class.bytes, class.deficit) = (0, 0);
        }
        if let Some(pool) = pool {
            pool.used -= bytes;
        }
        self.active = Order::default();
        self.granted = false;
    }

    /// Whether the link is up.
    #[inline]
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// When the packet reaches the far end.
    fn transmit(&mut self, now: Time, packet: Packet) -> Time {
        self.sending = packet;
        self.sending_pace = self.pace;
        let time = self.pace.time(packet.bytes);
        self.begun += time;
        self.departure = now + time;
        self.departure + self.delay
    }

    /// Whether the class that goes before all others has packets.
    fn first_waits(&self) -> bool {
        self.classes.get(usize::from(self.first)).is_some_and(|class| !class.queue.is_empty())
    }

    /// The next packet: of the class that goes before all others, then by deficit round robin.
    fn dequeue(&mut self) -> Option<Packet> {
        if let Some(first) = self.classes.get_mut(usize::from(self.first))
            && let Some(packet) = first.take()
        {
            return Some(packet);
        }
        loop {
            let class = self.active.first()?;
            let own = &mut self.classes[class];
            if !std::mem::replace(&mut self.granted, true) {
                own.deficit += u64::from(own.config.quantum);
            }
            let head = u64::from(own.queue.front().expect("an active class has packets").bytes);
            if head > own.deficit {
                self.active.pop();
                self.active.push(class);
                self.granted = false;
                continue;
            }
            own.deficit -= head;
            let packet = own.take();
            if own.queue.is_empty() {
                own.deficit = 0;
                self.active.pop();
                self.granted = false;
            }
            return packet;
        }
    }

    /// Bytes of the packet in transmission that are not yet on the wire, rounded up.
    fn rest(&self, now: Time) -> u64 {
        self.sending_pace.bytes(self.departure.saturating_sub(now))
    }

    /// The length of a class's queue, in the unit of `threshold`.
    #[inline]
    fn length(&self, class: u8, threshold: Threshold, now: Time) -> u64 {
        let own = &self.classes[usize::from(class)];
        if !threshold.is_bytes() {
            return own.queue.len() as u64;
        }
        own.bytes + if self.sending.class == class { self.rest(now) } else { 0 }
    }

    /// The marking threshold that follows from the share of the class `own`.
    fn share(&self, own: &Class, rtt: Time, lambda: u32) -> Threshold {
        let busy = |c: &&Class| !c.queue.is_empty();
        let quanta: u64 = self.classes.iter().filter(busy).map(|c| u64::from(c.config.quantum)).sum();
        let quantum = u64::from(own.config.quantum);
        // A class without packets is about to be busy.
        let quanta = if own.queue.is_empty() { quanta + quantum } else { quanta };
        let product = u128::from(self.rate) * u128::from(rtt / 8) / u128::from(SECOND);
        let bytes = product * u128::from(lambda) * u128::from(quantum) / u128::from(1000 * quanta);
        Threshold::bytes((bytes as u64).max(2 * 1500))
    }
}
