//! A queued port, one that keeps its queues: several classes, a shared buffer, a rate that changes, a link that fails.
//!
//! Where a plain port knows an arriving packet's departure at once, this one cannot: a later packet of
//! another class may go first, or the rate may change. So it keeps its queues, and a departure is a separate
//! event if something waits for it, unless the fabric finds a later time for it
//! ([`Fabric::with_late_departures`](crate::Fabric::with_late_departures)).

mod classes;
mod config;
mod late;
mod look;
mod pause;

pub use config::{ClassConfig, ClassMark, MAX_CLASSES, PoolConfig, QueuedPortConfig};

use classes::{Class, Order};
use smallvec::SmallVec;
use tresse_units::{BitsPerSecond, SECOND, Time};

use crate::carried::{CarriedHeader, Moving};
use crate::pace::Pace;
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
    fn has_room(&self, held: u64, bytes: u16) -> bool {
        let free = self.config.bytes - self.used;
        u64::from(bytes) <= free && u128::from(held) * 1000 < u128::from(self.config.alpha) * u128::from(free)
    }
}

/// A queued port. The fields that every packet touches come first, in one cache line; then its classes, a line each.
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
    sending: Sending,
    rare: Box<Rare>,
    /// The shared buffer; [`NO_POOL`] if there is none.
    pool: u32,
    /// The size to which packets are trimmed, bytes; 0 if none is trimmed.
    trim: u16,
    /// The last class.
    last: u8,
    /// A bit for each class: packets wait in it. So no other class's memory is touched to find the next packet.
    waits: u8,
    discipline: Discipline,
    up: bool,
    /// The packet in transmission continues at the pace before the last change of the rate.
    outdated: bool,
    /// Whether its departure is an event, because packets wait or a shared buffer must be notified.
    awaited: bool,
    /// Packets are marked by what waits behind them when their transmission begins.
    pub marks_behind: bool,
    /// Its plain port loses no packets, averages no queue, and no host takes time.
    pub quiet: bool,
    /// All classes but the one that goes before all others are paused.
    paused: bool,
    departures: Departures,
    /// The first two classes; the second one is unused if there is one class.
    two: [Class; 2],
}

const _: () = assert!(size_of::<QueuedPort>() == 3 * 64, "a cache line, and one for each of two classes");

/// A packet in transmission.
#[derive(Debug, Clone, Copy)]
struct Sending {
    bytes: u16,
    /// Its class's place.
    class: u8,
}

/// Data that few packets need, or none.
#[derive(Debug)]
struct Rare {
    /// Under deficit round robin: the classes with packets, in the order of service.
    active: Order,
    /// The class at the head of `active` has received its quantum for this round.
    granted: bool,
    /// The class that goes before all others; [`NO_PRIORITY`] if there is none.
    first: u8,
    rate: BitsPerSecond,
    /// If its rate has changed: the pace at which the packet in transmission then began.
    old_pace: Pace,
    marks: SmallVec<[ClassMark; 2]>,
    /// The classes after the first two.
    more: Box<[Class]>,
}

/// How the next packet is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Discipline {
    /// From the last of at most two classes as long as it has one, otherwise from the other.
    Strict,
    /// By deficit round robin, behind a class that goes before all others if there is one.
    Several,
}

/// Which departures are events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Departures {
    /// All: a shared buffer or flow control is notified.
    Events,
    /// Those for which a packet waits.
    EventsIfAwaited,
    /// None: they are carried out later, see [`Fabric::with_late_departures`](crate::Fabric::with_late_departures).
    Late,
}

const NO_PRIORITY: u8 = u8::MAX;
const NO_POOL: u32 = u32::MAX;

/// A packet whose transmission begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begun {
    pub packet: Moving,
    /// When it reaches the far end.
    pub arrival: Time,
    /// When it departs, if that is an event.
    pub departure: Option<Time>,
}

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
            sending: Sending { bytes: 0, class: 0 },
            rare: Box::new(Rare {
                active: Order::default(),
                granted: false,
                first: if config.priority { config.count - 1 } else { NO_PRIORITY },
                rate: port.rate,
                old_pace: pace,
                marks: classes.iter().map(|class| class.mark).collect(),
                more: classes.iter().skip(2).map(Class::new).collect(),
            }),
            pool: config.pool.unwrap_or(NO_POOL),
            trim: config.trim.unwrap_or(0),
            last: config.count - 1,
            waits: 0,
            discipline: match (config.count, config.priority) {
                (1, _) | (2, true) => Discipline::Strict,
                _ => Discipline::Several,
            },
            up: true,
            outdated: false,
            awaited: false,
            marks_behind: config.marks_behind,
            quiet: port.is_quiet(),
            paused: false,
            departures: match config.pool {
                Some(_) => Departures::Events,
                None => Departures::EventsIfAwaited,
            },
            two: [&classes[0], classes.get(1).unwrap_or(&classes[0])].map(Class::new),
        }
    }

    /// Prefetches the memory that a packet will touch when it arrives or leaves.
    #[inline]
    pub fn prefetch(own: *const Self) {
        for line in 0..3 {
            prefetch_line(own.cast::<u8>().wrapping_add(64 * line));
        }
    }

    /// The shared buffer that it belongs to.
    #[inline]
    pub fn pool(&self) -> Option<u32> {
        (self.pool != NO_POOL).then_some(self.pool)
    }

    /// The pace of transmissions that begin now.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The class that a packet waits in.
    #[inline]
    pub fn class(&self, packet: &Moving) -> u8 {
        packet.carried.header.service().min(self.last)
    }

    /// The size in bytes to which it cuts a packet for which there is no room, if it does.
    pub fn trims(&self, header: CarriedHeader) -> Option<u16> {
        (self.trim > 0 && header.is_trimmable() && header.bytes() > self.trim).then_some(self.trim)
    }

    /// The state for a packet that arrives now: `None` if there is no room, otherwise whether its class's
    /// queue is above the marking threshold.
    #[inline(always)]
    pub fn meets(&self, now: Time, packet: &Moving, pool: Option<&Pool>) -> Option<bool> {
        let class = self.class(packet);
        let own = self.class_of(class);
        if pool.is_some_and(|pool| !pool.has_room(own.bytes, packet.carried.header.bytes())) {
            return None;
        }
        // An idle port lets in one packet, whatever the limit.
        if self.departure <= now && !self.paused {
            return Some(false);
        }
        if own.limit != Threshold::UNLIMITED && self.is_at_least(class, own.limit, 0, now) {
            return None;
        }
        Some(!self.marks_behind && self.is_above(class, |mark| self.is_at_least(class, mark, 1, now)))
    }

    /// Whether the packets that wait in the class of the one in transmission exceed the marking threshold.
    #[inline]
    pub fn is_above_behind(&self) -> bool {
        let own = self.class_of(self.sending.class);
        self.is_above(self.sending.class, |mark| {
            mark.value() < if mark.is_bytes() { own.bytes } else { own.queue.len() as u64 }
        })
    }

    /// Whether a class's queue is above its marking threshold; `exceeds` says whether it is above a threshold.
    #[inline]
    fn is_above(&self, class: u8, exceeds: impl Fn(Threshold) -> bool) -> bool {
        match self.class_of(class).mark {
            Some(Threshold::UNLIMITED) => false,
            Some(mark) => exceeds(mark),
            None => exceeds(self.share(class)),
        }
    }

    /// Lets a packet in. Returns when it reaches the far end, if its transmission begins at once; and the
    /// time of its departure, or of the departure before it, if that is an event from now on.
    #[inline]
    pub fn admit(&mut self, now: Time, packet: &Moving, pool: Option<&mut Pool>) -> [Option<Time>; 2] {
        if let Some(pool) = pool {
            pool.used += u64::from(packet.carried.header.bytes());
        }
        if self.departure <= now {
            if self.holds(packet) {
                self.awaited = false;
                self.push(packet);
                return [None; 2];
            }
            self.awaited = self.departures == Departures::Events;
            return [Some(self.transmit(now, packet)), self.awaited.then_some(self.departure)];
        }
        self.push(packet);
        let awaited = std::mem::replace(&mut self.awaited, true);
        [None, (!awaited).then_some(self.departure)]
    }

    /// The packet in transmission has left. Returns the packet that is in transmission now.
    #[inline(always)]
    pub fn depart(&mut self, now: Time, pool: Option<&mut Pool>) -> Option<Begun> {
        if let Some(pool) = pool {
            pool.used -= u64::from(self.sending.bytes);
        }
        let next = match self.discipline {
            Discipline::Strict => self.take_strictly(),
            Discipline::Several => self.dequeue(),
        };
        self.awaited = match self.departures {
            Departures::Events => next.is_some(),
            Departures::EventsIfAwaited => self.waits != 0 && next.is_some(),
            Departures::Late => unreachable!("see `depart_late`"),
        };
        let packet = next?;
        let arrival = self.transmit(now, &packet);
        Some(Begun { packet, arrival, departure: self.awaited.then_some(self.departure) })
    }

    /// The rate changes; the packet in transmission continues at the old one.
    pub fn set_rate(&mut self, rate: BitsPerSecond) {
        if !std::mem::replace(&mut self.outdated, true) {
            self.rare.old_pace = self.pace;
        }
        self.rare.rate = rate;
        self.pace = Pace::new(rate);
    }

    /// The link comes back.
    pub fn repair(&mut self) {
        self.up = true;
    }

    /// The link fails. `queued` gets the packets that waited: they are gone now. The one in transmission
    /// departs, but arrives nowhere.
    pub fn fail(&mut self, pool: Option<&mut Pool>, queued: &mut Vec<Moving>) {
        self.up = false;
        let mut bytes = 0;
        for class in self.two.iter_mut().chain(&mut self.rare.more) {
            bytes += class.bytes;
            queued.extend(class.queue.drain(..));
            (class.bytes, class.deficit) = (0, 0);
        }
        if let Some(pool) = pool {
            pool.used -= bytes;
        }
        self.waits = 0;
        self.rare.active = Order::default();
        self.rare.granted = false;
    }

    /// Whether the link is up.
    #[inline]
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// When the packet reaches the far end.
    #[inline]
    fn transmit(&mut self, now: Time, packet: &Moving) -> Time {
        let bytes = packet.carried.header.bytes();
        self.sending = Sending { bytes, class: self.class(packet) };
        self.outdated = false;
        let time = self.pace.time(bytes.into());
        self.begun += time;
        self.departure = now + time;
        self.departure + self.delay
    }

    /// The pace of the packet in transmission: the one at which it began.
    #[inline]
    fn sending_pace(&self) -> Pace {
        if self.outdated { self.rare.old_pace } else { self.pace }
    }

    #[inline]
    fn class_of(&self, class: u8) -> &Class {
        match self.two.get(usize::from(class)) {
            Some(own) => own,
            None => &self.rare.more[usize::from(class) - 2],
        }
    }

    #[inline]
    fn class_mut(&mut self, class: u8) -> &mut Class {
        match self.two.get_mut(usize::from(class)) {
            Some(own) => own,
            None => &mut self.rare.more[usize::from(class) - 2],
        }
    }

    /// All classes; if there is one, also a second one that is always empty.
    fn classes(&self) -> impl Iterator<Item = &Class> {
        self.two.iter().chain(&self.rare.more)
    }

    /// Lets a packet wait.
    #[inline(always)]
    fn push(&mut self, packet: &Moving) {
        let class = self.class(packet);
        let bit = 1 << class;
        if self.discipline == Discipline::Several && self.waits & bit == 0 && class != self.rare.first {
            self.rare.active.push(class);
        }
        self.waits |= bit;
        self.class_mut(class).push(*packet);
    }

    /// The packet at the head of a class in which packets wait.
    #[inline(always)]
    fn take(&mut self, class: u8) -> Option<Moving> {
        let own = self.class_mut(class);
        let packet = own.take();
        if own.queue.is_empty() {
            self.waits &= !(1 << class);
        }
        packet
    }

    /// The next packet of at most two classes.
    #[inline(always)]
    fn take_strictly(&mut self) -> Option<Moving> {
        let class = self.waits >> 1;
        if self.waits == 0 || (class == 0 && self.paused) {
            return None;
        }
        self.take(class)
    }

    /// The next packet: of the class that goes before all others, then by deficit round robin.
    fn dequeue(&mut self) -> Option<Moving> {
        let first = self.rare.first;
        if first != NO_PRIORITY && self.waits & (1 << first) != 0 {
            return self.take(first);
        }
        loop {
            let class = self.rare.active.first()?;
            let granted = std::mem::replace(&mut self.rare.granted, true);
            let own = self.class_mut(class);
            if !granted {
                own.deficit += u64::from(own.quantum);
            }
            let head =
                u64::from(own.queue.front().expect("an active class has packets").carried.header.bytes());
            if head > own.deficit {
                self.rare.active.pop();
                self.rare.active.push(class);
                self.rare.granted = false;
                continue;
            }
            own.deficit -= head;
            let packet = self.take(class);
            if self.waits & (1 << class) == 0 {
                self.class_mut(class).deficit = 0;
                self.rare.active.pop();
                self.rare.granted = false;
            }
            return packet;
        }
    }

    /// Bytes of the packet in transmission that are not yet on the wire, rounded up.
    fn rest(&self, now: Time) -> u64 {
        self.sending_pace().bytes(self.departure.saturating_sub(now))
    }

    /// Whether a class's queue is at least `threshold` and `more` long.
    #[inline]
    fn is_at_least(&self, class: u8, threshold: Threshold, more: u64, now: Time) -> bool {
        let own = self.class_of(class);
        let needed = threshold.value() + more;
        if !threshold.is_bytes() {
            return own.queue.len() as u64 >= needed;
        }
        // Far below, no division is needed for the rest of one packet, even at a rate at which a byte takes no time.
        const LARGEST: u64 = 1 << 16;
        own.bytes >= needed
            || own.bytes + LARGEST >= needed
                && self.sending.class == class
                && own.bytes + self.rest(now) >= needed
    }

    /// The marking threshold that follows from a class's share.
    fn share(&self, class: u8) -> Threshold {
        let ClassMark::Share { rtt, lambda } = self.rare.marks[usize::from(class)] else {
            unreachable!("its threshold depends on its share")
        };
        let own = self.class_of(class);
        let busy = |c: &&Class| !c.queue.is_empty();
        let quanta: u64 = self.classes().filter(busy).map(|c| u64::from(c.quantum)).sum();
        let quantum = u64::from(own.quantum);
        // A class without packets is about to be busy.
        let quanta = if own.queue.is_empty() { quanta + quantum } else { quanta };
        let product = u128::from(self.rare.rate) * u128::from(rtt / 8) / u128::from(SECOND);
        let bytes = product * u128::from(lambda) * u128::from(quantum) / u128::from(1000 * quanta);
        Threshold::bytes((bytes as u64).max(2 * 1500))
    }
}
