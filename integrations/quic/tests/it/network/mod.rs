//! noq's state machines in simulated time: pairs of endpoints, links of fixed rate with drop-tail queues.

mod pair;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noq_proto::Connection;
use noq_proto::congestion::ControllerFactory;

use pair::{Packet, Pair};

pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// A port: packets wait for up to `room` bytes' time.
pub struct Link {
    pub rate: u64,
    pub room: u64,
    /// From this many waiting bytes on, packets are marked.
    pub mark: u64,
    free: u64,
}

impl Link {
    /// `rate` in bit/s; `room` in bytes.
    pub fn new(rate: u64, room: u64) -> Self {
        Self { rate, room, mark: u64::MAX, free: 0 }
    }

    fn wire_time(&self, bytes: u64) -> u64 {
        bytes * 8 * 1_000_000_000 / self.rate
    }

    /// When a packet has left, ns, and whether it is marked; `None` if it is dropped.
    fn pass(&mut self, now: u64, bytes: u64) -> Option<(u64, bool)> {
        let start = self.free.max(now);
        if start - now > self.wire_time(self.room) {
            return None;
        }
        self.free = start + self.wire_time(bytes);
        Some((self.free, self.mark < u64::MAX && start - now > self.wire_time(self.mark)))
    }
}

/// A start time. Only differences count.
#[expect(clippy::disallowed_methods, reason = "an `Instant` comes from nowhere else")]
pub fn now() -> Instant {
    Instant::now()
}

pub struct Network {
    start: Instant,
    now: u64,
    links: Vec<Link>,
    pairs: Vec<Pair>,
    flying: BTreeMap<(u64, u64), Packet>,
    sent: u64,
}

impl Network {
    pub fn new(links: Vec<Link>) -> Self {
        Self { start: now(), now: 0, links, pairs: Vec::new(), flying: BTreeMap::new(), sent: 0 }
    }

    /// A client that sends without end from now on: over one path for each of `routes`, which are links.
    /// Returns its number.
    pub fn add(&mut self, factory: Factory, routes: &[usize], delay: Duration) -> usize {
        let pair = Pair::new(self.instant(), self.pairs.len(), factory, routes, delay);
        self.pairs.push(pair);
        let number = self.pairs.len() - 1;
        self.pump(number, 0);
        number
    }

    /// Advances time by this much.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time.as_nanos() as u64;
        loop {
            let arrival = self.flying.first_key_value().map_or(u64::MAX, |(key, _)| key.0);
            let (timer, number, side) = self.next_timer();
            if arrival.min(timer) > end {
                break;
            }
            self.now = self.now.max(arrival.min(timer));
            let now = self.instant();
            if arrival <= timer {
                let (_, packet) = self.flying.pop_first().expect("one flies");
                let (number, side) = (packet.pair, packet.side);
                self.pairs[number].receive(now, packet);
                self.pump(number, side);
            } else {
                self.pairs[number].connection(side).expect("it has a timer").handle_timeout(now);
                self.pump(number, side);
            }
        }
        self.now = end;
    }

    /// Bytes that the links have carried for each path of a pair.
    pub fn carried(&self, pair: usize) -> Vec<u64> {
        self.pairs[pair].carried.clone()
    }

    /// The sender's connection.
    pub fn sender(&mut self, pair: usize) -> &mut Connection {
        self.pairs[pair].connection(0).expect("clients have one")
    }

    pub fn instant(&self) -> Instant {
        self.start + Duration::from_nanos(self.now)
    }

    fn next_timer(&mut self) -> (u64, usize, usize) {
        let mut first = (u64::MAX, 0, 0);
        for (number, pair) in self.pairs.iter_mut().enumerate() {
            for side in 0..2 {
                let deadline = pair.connection(side).and_then(|connection| connection.poll_timeout());
                let ns = deadline.map(|t| t.saturating_duration_since(self.start).as_nanos() as u64);
                first = first.min((ns.unwrap_or(u64::MAX), number, side));
            }
        }
        first
    }

    /// Lets a side send what it can.
    fn pump(&mut self, number: usize, side: usize) {
        let now = self.instant();
        for mut packet in self.pairs[number].pump(now, side) {
            let pair = &mut self.pairs[number];
            let mut leaves = self.now;
            if packet.side == 1 {
                let bytes = packet.data.len() as u64;
                let Some((left, marked)) = self.links[pair.routes[packet.path]].pass(self.now, bytes) else {
                    continue;
                };
                leaves = left;
                pair.carried[packet.path] += bytes;
                if marked {
                    packet.ecn = packet.ecn.map(|_| noq_proto::EcnCodepoint::Ce);
                }
            }
            self.sent += 1;
            self.flying.insert((leaves + pair.delay.as_nanos() as u64, self.sent), packet);
        }
    }
}
