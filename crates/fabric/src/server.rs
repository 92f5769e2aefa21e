//! A port with a real server: several classes, a shared buffer, a rate that changes, a link that fails.
//!
//! Where a plain port knows an arriving packet's departure at once, this one cannot: a later packet of
//! another class may go first, or the rate may change. So it keeps its queues, and each departure is an
//! event of its own.

use std::collections::VecDeque;

use crate::packet::Header;
use crate::port::{PortConfig, Threshold};
use crate::units::{BitsPerSecond, NEVER, Pace, SECOND, Time};

/// Classes of a port at most.
pub const MAX_CLASSES: usize = 8;

/// What a port with a real server has beyond a plain one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerConfig {
    /// The classes, by [`Header::class`]; packets of a class beyond wait in the last one.
    pub classes: [ClassConfig; MAX_CLASSES],
    /// How many of them there are, 1 to 8.
    pub count: u8,
    /// The shared buffer that it takes its memory from, by its place in the fabric's list.
    pub pool: Option<u32>,
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
    /// share of MQ-ECN, Bai et al., NSDI 2016): a busy class's share is that of its quantum in the quanta
    /// of all that are busy. K_i is at least two packets of 1500 bytes (catalogue 0.10).
    Share {
        /// The round-trip time.
        rtt: Time,
        /// Lambda, in parts of 1000.
        lambda: u32,
    },
}

impl ServerConfig {
    /// One class, with the limit and threshold of `port`: a plain port, but its link may change.
    pub fn plain(port: &PortConfig) -> Self {
        let class = ClassConfig { quantum: 1500, limit: port.limit, mark: ClassMark::Above(port.mark) };
        Self { classes: [class; MAX_CLASSES], count: 1, pool: None }
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

#[derive(Debug)]
pub(crate) struct Server {
    classes: Vec<Class>,
    /// Classes with packets, in the order in which they are served.
    active: VecDeque<u8>,
    /// The class at the head of `active` has got its quantum of this round.
    granted: bool,
    /// The packet in transmission.
    sending: Option<Packet>,
    /// When it will have left.
    departure: Time,
    /// How long all transmissions that were begun take.
    begun: Time,
    /// The link has failed since its transmission began.
    in_vain: bool,
    rate: BitsPerSecond,
    pace: Pace,
    delay: Time,
    up: bool,
    /// Packets on the wire: when they reach the far end, and which.
    wire: VecDeque<(Time, u32)>,
    pool: Option<u32>,
}

#[derive(Debug)]
struct Class {
    config: ClassConfig,
    queue: VecDeque<Packet>,
    bytes: u64,
    deficit: u64,
}

#[derive(Debug, Clone, Copy)]
struct Packet {
    id: u32,
    bytes: u32,
    class: u8,
}

impl Server {
    pub fn new(port: &PortConfig, config: &ServerConfig) -> Self {
        let classes = &config.classes[..config.count.into()];
        assert!(classes.iter().all(|c| c.quantum > 0) && !classes.is_empty(), "classes need a quantum");
        let class = |&config| Class { config, queue: VecDeque::new(), bytes: 0, deficit: 0 };
        Self {
            classes: classes.iter().map(class).collect(),
            active: VecDeque::new(),
            granted: false,
            sending: None,
            departure: 0,
            begun: 0,
            in_vain: false,
            rate: port.rate,
            pace: Pace::new(port.rate),
            delay: port.delay,
            up: true,
            wire: VecDeque::new(),
            pool: config.pool,
        }
    }

    /// The shared buffer that it belongs to.
    pub fn pool(&self) -> Option<u32> {
        self.pool
    }

    /// Whether a packet that arrives now finds no room.
    pub fn is_full(&self, now: Time, header: &Header, pool: Option<&Pool>) -> bool {
        let class = self.class(header);
        let own = &self.classes[class as usize];
        if pool.is_some_and(|pool| !pool.has_room(own.bytes, header.bytes)) {
            return true;
        }
        // An idle port lets in one packet, whatever the limit.
        let limit = own.config.limit;
        self.sending.is_some()
            && limit != Threshold::UNLIMITED
            && self.length(class, limit, now) >= limit.value()
    }

    /// Whether a packet that arrives now finds its class's queue above the marking threshold.
    pub fn is_above(&self, now: Time, header: &Header) -> bool {
        self.sending.is_some() && self.above(self.class(header), now)
    }

    /// Lets a packet in. When it departs, if it is in transmission at once.
    pub fn admit(&mut self, now: Time, id: u32, header: &Header, pool: Option<&mut Pool>) -> Option<Time> {
        let class = self.class(header);
        let packet = Packet { id, bytes: header.bytes, class };
        if let Some(pool) = pool {
            pool.used += u64::from(header.bytes);
        }
        if self.sending.is_none() {
            return Some(self.transmit(now, packet));
        }
        let own = &mut self.classes[class as usize];
        if own.queue.is_empty() {
            self.active.push_back(class);
        }
        own.queue.push_back(packet);
        own.bytes += u64::from(packet.bytes);
        None
    }

    /// The packet in transmission has left: which it is, when it reaches the far end, and which packet
    /// departs next, and when.
    pub fn depart(&mut self, now: Time, pool: Option<&mut Pool>) -> ((u32, Time), Option<(u32, Time)>) {
        let packet = self.sending.take().expect("a departure needs a packet in transmission");
        if let Some(pool) = pool {
            pool.used -= u64::from(packet.bytes);
        }
        let arrival = now + self.delay;
        while self.wire.front().is_some_and(|w| w.0 <= now) {
            self.wire.pop_front();
        }
        if !self.in_vain {
            self.wire.push_back((arrival, packet.id));
        }
        let next = self.dequeue().map(|next| (next.id, self.transmit(now, next)));
        ((packet.id, arrival), next)
    }

    /// The rate changes; the packet in transmission goes on at the old one.
    pub fn set_rate(&mut self, rate: BitsPerSecond) {
        self.rate = rate;
        self.pace = Pace::new(rate);
    }

    /// The link comes back.
    pub fn repair(&mut self) {
        self.up = true;
    }

    /// The link fails. `queued` gets the packets that waited: they are gone now; `under_way` those that
    /// were in transmission or on the wire: they will not arrive.
    pub fn fail(
        &mut self,
        now: Time,
        pool: Option<&mut Pool>,
        queued: &mut Vec<u32>,
        under_way: &mut Vec<u32>,
    ) {
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
        self.active.clear();
        self.granted = false;
        if !std::mem::replace(&mut self.in_vain, true) {
            under_way.extend(self.sending.map(|p| p.id));
        }
        under_way.extend(self.wire.drain(..).filter(|w| w.0 > now).map(|w| w.1));
    }

    /// Whether the link is up.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// How long nothing has been sent.
    pub fn idle(&self, now: Time) -> Time {
        if self.sending.is_some() { 0 } else { now - self.departure }
    }

    /// How long it has been sending until `now`.
    pub fn busy(&self, now: Time) -> Time {
        self.begun - if self.sending.is_some() { self.departure - now } else { 0 }
    }

    /// Packets that wait, of all classes.
    pub fn waiting(&self) -> u64 {
        self.classes.iter().map(|c| c.queue.len() as u64).sum()
    }

    /// Bytes that wait or are not yet on the wire, of all classes.
    pub fn backlog(&self, now: Time) -> u64 {
        self.classes.iter().map(|c| c.bytes).sum::<u64>() + self.rest(now)
    }

    /// Until when a class's queue is at least `fraction` parts of 1000 of its limit if nothing comes, leaves
    /// or fails; not later than now if none is.
    pub fn congested_until(&self, fraction: u32) -> Time {
        let until = |(number, class): (usize, &Class)| {
            let threshold = class.config.limit.fraction(fraction);
            if !threshold.is_bytes() {
                return if class.queue.len() as u64 >= threshold.value() { NEVER } else { 0 };
            }
            let Some(needed @ 1..) = threshold.value().checked_sub(class.bytes) else { return NEVER };
            // What is missing may still be in transmission.
            match self.sending {
                Some(p) if usize::from(p.class) == number => {
                    self.departure.saturating_sub(self.pace.total(needed - 1))
                }
                _ => 0,
            }
        };
        self.classes.iter().enumerate().map(until).max().unwrap_or(0)
    }

    fn class(&self, header: &Header) -> u8 {
        header.class.min(self.classes.len() as u8 - 1)
    }

    fn transmit(&mut self, now: Time, packet: Packet) -> Time {
        self.sending = Some(packet);
        self.in_vain = false;
        let time = self.pace.time(packet.bytes);
        self.begun += time;
        self.departure = now + time;
        self.departure
    }

    /// The next packet by deficit round robin.
    fn dequeue(&mut self) -> Option<Packet> {
        loop {
            let class = *self.active.front()?;
            let own = &mut self.classes[class as usize];
            if !std::mem::replace(&mut self.granted, true) {
                own.deficit += u64::from(own.config.quantum);
            }
            let head = *own.queue.front().expect("an active class has packets");
            if u64::from(head.bytes) > own.deficit {
                self.active.rotate_left(1);
                self.granted = false;
                continue;
            }
            own.deficit -= u64::from(head.bytes);
            own.bytes -= u64::from(head.bytes);
            own.queue.pop_front();
            if own.queue.is_empty() {
                own.deficit = 0;
                self.active.pop_front();
                self.granted = false;
            }
            return Some(head);
        }
    }

    /// Bytes of the packet in transmission that are not yet on the wire, rounded up.
    fn rest(&self, now: Time) -> u64 {
        let left = if self.sending.is_some() { self.departure - now } else { 0 };
        self.pace.bytes(left)
    }

    /// How long the queue of a class is, in the unit of `threshold`.
    fn length(&self, class: u8, threshold: Threshold, now: Time) -> u64 {
        let own = &self.classes[class as usize];
        if !threshold.is_bytes() {
            return own.queue.len() as u64;
        }
        let sends = self.sending.is_some_and(|p| p.class == class);
        own.bytes + if sends { self.rest(now) } else { 0 }
    }

    /// Whether the queue of a class is above its marking threshold.
    fn above(&self, class: u8, now: Time) -> bool {
        let own = &self.classes[class as usize];
        let threshold = match own.config.mark {
            ClassMark::Above(Threshold::UNLIMITED) => return false,
            ClassMark::Above(threshold) => threshold,
            ClassMark::Share { rtt, lambda } => {
                let busy = |c: &&Class| !c.queue.is_empty();
                let quanta: u64 = self.classes.iter().filter(busy).map(|c| u64::from(c.config.quantum)).sum();
                let quantum = u64::from(own.config.quantum);
                // A class without packets is about to be busy.
                let quanta = if own.queue.is_empty() { quanta + quantum } else { quanta };
                let product = u128::from(self.rate) * u128::from(rtt / 8) / u128::from(SECOND);
                let bytes = product * u128::from(lambda) * u128::from(quantum) / u128::from(1000 * quanta);
                Threshold::bytes((bytes as u64).max(2 * 1500))
            }
        };
        self.length(class, threshold, now) > threshold.value()
    }
}
