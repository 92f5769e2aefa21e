//! What the physics tests share: small networks, XMP's ns-3 transport, and measurements.
//!
//! A [`Net`] is a row of bottlenecks. Every sender has an access link of its own, and every
//! bottleneck a way back. Both are too fast to queue, so that a bottleneck is the only queue.

use std::sync::Arc;

use tresse_balancers::ConfiguredBalancer;
use tresse_controllers::{ConfiguredController, find};
use tresse_fabric::{Loss, NonEct, Path, PortConfig, Processing, Threshold};
use tresse_sim::{FlowRecord, FlowSpec, Manager, Sprayed, Step, World};
use tresse_transport::{Config, DelayedAck, Echo};
use tresse_units::{MILLISECOND, SECOND, Stream, Time, seconds};

/// Payload of a full segment, bytes.
pub const MSS: u32 = 1460;
/// A full segment on the wire, bytes.
pub const PACKET: u32 = MSS + HEADER;
/// Headers, and an ACK that is nothing but headers, bytes.
pub const HEADER: u32 = 40;
/// 1 Gbit/s.
pub const GIGABIT: u64 = 1_000_000_000;
/// More than any test sends.
pub const ENDLESS: u64 = 1 << 40;
/// "Until something happens": no test has this many packets.
pub const UNBOUNDED: u64 = u64::MAX;
/// Access links and ways back are this many times as fast as the fastest bottleneck.
const FASTER: u64 = 20;

/// All of `items` in `make test-all`, else every other one: of offsets, over which a mean is judged.
pub fn some_of<T: Copy>(items: &[T]) -> Vec<T> {
    let step = if std::env::var_os("TRESSE_TEST_ALL").is_some() { 1 } else { 2 };
    items.iter().step_by(step).copied().collect()
}

/// The numbers below `count` in `make test-all`, else the first half of them: of cases that are drawn at random.
pub fn first_of(count: u64) -> std::ops::Range<u64> {
    0..if std::env::var_os("TRESSE_TEST_ALL").is_some() { count } else { count / 2 }
}

/// One bottleneck.
#[derive(Debug, Clone, Copy)]
pub struct Bottleneck {
    /// Bit/s.
    pub rate: u64,
    /// The queue's size, packets.
    pub limit: u64,
    /// K, packets; `None` never marks.
    pub mark: Option<u64>,
}

impl Bottleneck {
    /// One that marks above K and is large enough not to drop.
    pub fn marking(rate: u64, mark: u64) -> Self {
        Self { rate, limit: 10 * mark + 1000, mark: Some(mark) }
    }

    /// One that only drops.
    pub fn drop_tail(rate: u64, limit: u64) -> Self {
        Self { rate, limit, mark: None }
    }

    /// How long a full packet takes.
    pub fn packet_time(&self) -> Time {
        transmission(PACKET, self.rate)
    }
}

fn transmission(bytes: u32, rate: u64) -> Time {
    u64::from(bytes) * 8 * SECOND / rate
}

/// Senders, bottlenecks, ways back.
#[derive(Debug, Clone)]
pub struct Net {
    /// The ports: bottleneck and way back for each link, then the senders' access links.
    pub ports: Vec<PortConfig>,
    links: u32,
}

impl Net {
    /// `senders` in front of `links`. `base_rtt` is that of a full packet and its ACK when every
    /// queue is empty, transmission times included.
    pub fn new(base_rtt: Time, links: &[Bottleneck], senders: u32) -> Self {
        let fast = FASTER * links.iter().map(|l| l.rate).max().expect("a net has a link");
        let unlimited = Threshold::UNLIMITED;
        let port = |rate, delay, limit, mark| PortConfig {
            rate,
            delay,
            limit,
            mark,
            non_ect: NonEct::Queue,
            drop_until: None,
            processing: Processing::NONE,
            red: None,
            loss: Loss::NONE,
        };
        let mut ports = Vec::new();
        for l in links {
            let wires = transmission(PACKET, fast) + l.packet_time() + transmission(HEADER, fast);
            let delay = base_rtt.checked_sub(wires).expect("the RTT is longer than the transmission");
            let mark = l.mark.map_or(unlimited, Threshold::packets);
            ports.push(port(l.rate, delay / 2, Threshold::packets(l.limit), mark));
            ports.push(port(fast, delay - delay / 2, unlimited, unlimited));
        }
        ports.extend((0..senders).map(|_| port(fast, 0, unlimited, unlimited)));
        Self { ports, links: links.len() as u32 }
    }

    /// The port of a bottleneck.
    pub fn bottleneck(link: u32) -> u32 {
        2 * link
    }

    /// How long a packet of `bytes` takes over these ports when their queues are empty.
    pub fn latency(&self, route: &[u32], bytes: u32) -> Time {
        let ports = route.iter().map(|&p| &self.ports[p as usize]);
        ports.map(|p| transmission(bytes, p.rate) + p.delay).sum()
    }

    /// From a sender over a link, and back.
    pub fn path(&self, sender: u32, link: u32) -> Path {
        Path { there: vec![2 * self.links + sender, 2 * link], back: vec![2 * link + 1] }
    }

    /// The world on it.
    pub fn world(&self) -> World {
        World::new(&self.ports, 2, 1)
    }
}

/// When the receiver sends ACKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acking {
    /// One a packet.
    Each,
    /// One for two packets, or after 40 ms; the first 16 segments one by one (catalogue 0.2).
    Delayed,
}

/// A controller by its name, with settings.
pub fn scheme(name: &str, settings: &[(&str, u64)]) -> Arc<ConfiguredController> {
    let controller = find(name).unwrap_or_else(|| panic!("no controller {name}"));
    Arc::new(
        ConfiguredController::new(controller, settings.iter().copied()).expect("settings of the controller"),
    )
}

/// The transport of XMP's ns-3 experiments for this scheme (catalogue D1-D6).
pub fn transport(scheme: &ConfiguredController, acks: Acking) -> Config {
    let controller = scheme.controller();
    let (every, quick) = match acks {
        Acking::Each => (1, 0),
        Acking::Delayed => (2, 16),
    };
    Config {
        initial_window: 1,
        ecn: controller.needs_ecn(),
        echo: if controller.name() == "xmp" { Echo::TwoBit } else { Echo::Dctcp },
        delayed_ack: DelayedAck { every, timer: 40 * MILLISECOND, quick, quick_again: false },
        ..Config::default()
    }
}

/// A connection with a subflow for each path.
pub fn flow(
    id: u64,
    scheme: &Arc<ConfiguredController>,
    acks: Acking,
    bytes: u64,
    paths: Vec<Path>,
) -> FlowSpec {
    FlowSpec::on_paths(id, transport(scheme, acks), scheme.clone(), bytes, paths)
}

/// The connection as one that a random balancer sprays.
pub fn sprayed(spec: FlowSpec, random: &mut Stream) -> FlowSpec {
    let all = tresse_balancers::all();
    let balancer = all[random.below(all.len() as u64) as usize];
    let balancer = Arc::new(ConfiguredBalancer::new(balancer, []).expect("its defaults"));
    let paths = 1 + random.below(300) as u32;
    let config = Config { handshake: false, plb: None, ..spec.config };
    FlowSpec { config, manager: Manager::fixed(1), sprayed: Some(Sprayed { balancer, paths }), ..spec }
}

/// Turns time until `until`; connections that finish meanwhile.
pub fn run_until(world: &mut World, until: Time) -> Vec<FlowRecord> {
    let mut finished = Vec::new();
    loop {
        match world.advance(until, UNBOUNDED) {
            Step::Finished(record) => finished.push(record),
            Step::Budget => {}
            Step::Reached => return finished,
        }
    }
}

/// Turns time until `until` and stops every `step`.
pub fn sample(world: &mut World, until: Time, step: Time, mut look: impl FnMut(&World)) {
    while world.now() < until {
        let next = (world.now() + step).min(until);
        run_until(world, next);
        look(world);
    }
}

/// The mean queue in a port, sampled in time until `until`, packets.
///
/// The step has no common measure with any packet time here, so the samples do not keep pace with
/// the departures.
pub fn mean_queue(world: &mut World, port: u32, until: Time) -> f64 {
    let (mut sum, mut count) = (0u64, 0u64);
    sample(world, until, 7_310_003, |w| {
        sum += w.waiting(port);
        count += 1;
    });
    sum as f64 / count as f64
}

/// Payload that each connection delivers from now until `until`, bit/s.
pub fn goodputs(world: &mut World, ids: &[u64], until: Time) -> Vec<f64> {
    let segments = |w: &World| -> Vec<u32> {
        ids.iter().map(|&id| w.delivered_segments(id).expect("the connection lives")).collect()
    };
    let (start, before) = (world.now(), segments(world));
    run_until(world, until);
    let bits = f64::from(MSS) * 8.0 / seconds(until - start);
    segments(world).iter().zip(&before).map(|(after, before)| f64::from(after - before) * bits).collect()
}

/// What fraction of a link's time the segments of each subflow, (connection, subflow), take from now
/// until `until`. All of them fill it at 1: then payload moves at 1460/1500 of the rate.
pub fn shares(world: &mut World, link: &Bottleneck, subflows: &[(u64, usize)], until: Time) -> Vec<f64> {
    let acked = |w: &World| -> Vec<u64> { subflows.iter().map(|&(id, i)| acked(w, id, i)).collect() };
    let (start, before) = (world.now(), acked(world));
    run_until(world, until);
    let packet = link.packet_time() as f64 / (until - start) as f64;
    acked(world).iter().zip(&before).map(|(after, before)| (after - before) as f64 * packet).collect()
}

/// Segments of one subflow that were cumulatively ACKed.
pub fn acked(world: &World, id: u64, subflow: usize) -> u64 {
    let sender = world.sender(id).expect("the connection lives");
    sender.counters(subflow).sent - u64::from(sender.outstanding(subflow))
}

/// Jain's index: 1 when all are equal, 1/n when one has everything.
pub fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|r| r * r).sum();
    sum * sum / (rates.len() as f64 * squares)
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
