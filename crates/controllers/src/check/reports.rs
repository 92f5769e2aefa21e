//! Random scripts for a controller with the hook `report`, and how to simplify them.

use super::generate::{Kind, Random};
use super::shrink::smaller;
use crate::trace::{Event, Path, ReportEvent, Script};
use crate::{CWND_LIMIT, Hop};

/// The most events of a script.
const MOST_EVENTS: usize = 200;
/// The largest count of a report, packets.
const MOST_PACKETS: u32 = CWND_LIMIT - 1;
/// Link rates, Mbit/s.
const RATES: [u32; 6] = [1_000, 10_000, 25_000, 100_000, 400_000, 800_000];
/// Times of ports; later ones could not be written in a script.
const MOST_TIME: u64 = 1 << 53;

/// Script number `i` of `of`: later ones are longer. `Corners` has the smallest and the largest values that there
/// are, `Ratios` no hops, `Single` one subflow.
pub(super) fn script(random: &mut Random, kind: Kind, i: usize, of: usize) -> Script {
    let most = 5 + MOST_EVENTS * i / of.max(1);
    let subflows = if kind == Kind::Single { 1 } else { random.between(1, 3) as usize };
    let mut flows: Vec<Flow> = (0..subflows).map(|_| Flow::new(random, kind)).collect();
    let mut events: Vec<Event> = flows.iter().enumerate().map(|(i, flow)| path(flow.path, i)).collect();
    let length = random.between(1, most as u32) as usize;
    while events.len() < length + subflows {
        let subflow = random.between(0, subflows as u32 - 1) as usize;
        let flow = &mut flows[subflow];
        if random.chance(2) {
            *flow = Flow::new(random, kind);
            events.push(path(flow.path, subflow));
        }
        let told = if kind == Kind::Corners { extreme(random) } else { flow.told(random) };
        if kind != Kind::Ratios {
            let hops = flow.hops(random, kind, told.after.unwrap_or(flow.path.base_rtt));
            events.extend(hops.into_iter().map(|hop| Event::Hop { hop, subflow }));
        }
        events.push(Event::Report { told, subflow });
    }
    Script { subflows, events }
}

fn path(path: Path, subflow: usize) -> Event {
    Event::Path { path, subflow }
}

/// A sprayed flow with the ports on its path.
struct Flow {
    path: Path,
    ports: Vec<Hop>,
}

impl Flow {
    fn new(random: &mut Random, kind: Kind) -> Self {
        let path = match kind {
            Kind::Corners => Path {
                base_rtt: random.one_of(&[1, 2, 1000, u32::MAX - 1, u32::MAX]),
                line_rate: random.one_of(&[1, 7, 8, 100_000, u32::MAX - 1, u32::MAX]),
            },
            Kind::EqualRtts => Path::default(),
            _ => {
                Path { base_rtt: random.logarithmic(1_000, 1_000_000_000), line_rate: random.one_of(&RATES) }
            }
        };
        let port = |random: &mut Random| Hop {
            bytes: random.next() >> random.between(0, 63),
            time: random.next() % MOST_TIME,
            queue: 0,
            rate: random.one_of(&RATES),
        };
        let count = random.between(0, 7);
        let ports = (0..count).map(|_| port(random)).collect();
        Self { path, ports }
    }

    /// Mostly ACKs of a few packets, so that a window has time to grow between two cuts.
    fn told(&self, random: &mut Random) -> ReportEvent {
        let base = self.path.base_rtt;
        let mut told = ReportEvent {
            after: random.chance(70).then(|| random.logarithmic(1, base.saturating_mul(2))),
            limited: !random.chance(5),
            ..ReportEvent::default()
        };
        match random.between(1, 100) {
            1..=3 => told.lost = random.between(1, 4),
            4..=10 => {
                told.trimmed = random.between(1, 4);
                told.last_hop = random.chance(50);
            }
            11..=13 => {}
            _ => {
                told.delivered =
                    if random.chance(10) { random.logarithmic(1, 100_000) } else { random.between(1, 4) };
                told.marked = if random.chance(15) { random.between(1, told.delivered) } else { 0 };
                let above = random.logarithmic(1, base.saturating_mul(8)) - 1;
                told.rtt = if random.chance(5) { 0 } else { base.saturating_add(above) };
            }
        }
        told
    }

    /// The hops of the packet, after this many ns.
    fn hops(&mut self, random: &mut Random, kind: Kind, after: u32) -> Vec<Hop> {
        if random.chance(40) {
            return Vec::new();
        }
        for port in &mut self.ports {
            let passed = u64::from(after) + u64::from(random.between(0, 100));
            let most = u64::from(port.rate) * passed / 8000;
            port.time = (port.time + passed) % MOST_TIME;
            port.bytes = port.bytes.wrapping_add(most - random.next() % (most + 1) / 2);
            port.queue = if random.chance(50) { 0 } else { random.logarithmic(1, 10_000_000) };
        }
        let mut hops = self.ports.clone();
        if random.chance(5) || kind == Kind::Corners {
            // Of other ports.
            for hop in &mut hops {
                *hop = Hop {
                    bytes: random.one_of(&[0, u64::MAX, hop.bytes]),
                    time: random.one_of(&[0, hop.time, MOST_TIME - 1]),
                    queue: random.one_of(&[0, 1, u32::MAX]),
                    rate: random.one_of(&[1, hop.rate, u32::MAX]),
                };
            }
        }
        hops
    }
}

fn extreme(random: &mut Random) -> ReportEvent {
    let count = |random: &mut Random| random.one_of(&[0, 0, 0, 1, 2, MOST_PACKETS - 1, MOST_PACKETS]);
    let delivered = count(random);
    ReportEvent {
        delivered,
        marked: random.one_of(&[0, 0, delivered / 2, delivered]),
        trimmed: if random.chance(20) { count(random) } else { 0 },
        lost: if random.chance(10) { count(random) } else { 0 },
        rtt: random.one_of(&[0, 1, 2, 12_000, u32::MAX - 1, u32::MAX]),
        after: random.one_of(&[None, Some(0), Some(1), Some(12_000), Some(u32::MAX)]),
        limited: !random.chance(10),
        last_hop: random.chance(10),
    }
}

/// Simpler paths, the usual one first.
pub(super) fn simpler_paths(path: Path) -> impl Iterator<Item = Path> {
    let usual = Path::default();
    let all = [usual, Path { line_rate: usual.line_rate, ..path }, Path { base_rtt: usual.base_rtt, ..path }];
    all.into_iter().filter(move |simpler| *simpler != path)
}

/// Simpler hops.
pub(super) fn simpler_hops(hop: Hop) -> impl Iterator<Item = Hop> {
    let queues = smaller(hop.queue, 0).into_iter().map(move |queue| Hop { queue, ..hop });
    let rate = Hop { rate: 100_000, ..hop };
    let bytes = Hop { bytes: hop.bytes / 2, ..hop };
    let time = Hop { time: hop.time / 2, ..hop };
    queues.chain([rate, bytes, time]).filter(move |simpler| *simpler != hop)
}

/// Reports that contain less, the least first.
pub(super) fn simpler(told: ReportEvent) -> impl Iterator<Item = ReportEvent> {
    let nothing = ReportEvent::default();
    let mut all = vec![
        ReportEvent { marked: 0, ..told },
        ReportEvent { trimmed: 0, last_hop: false, ..told },
        ReportEvent { last_hop: false, ..told },
        ReportEvent { lost: 0, ..told },
        ReportEvent { delivered: 0, marked: 0, ..told },
        ReportEvent { rtt: 0, ..told },
        ReportEvent { after: nothing.after, ..told },
        ReportEvent { limited: true, ..told },
    ];
    let delivered = smaller(told.delivered, 1).into_iter();
    all.extend(delivered.map(|delivered| ReportEvent {
        delivered,
        marked: told.marked.min(delivered),
        ..told
    }));
    all.extend(smaller(told.marked, 1).into_iter().map(|marked| ReportEvent { marked, ..told }));
    all.extend(smaller(told.trimmed, 1).into_iter().map(|trimmed| ReportEvent { trimmed, ..told }));
    all.extend(smaller(told.lost, 1).into_iter().map(|lost| ReportEvent { lost, ..told }));
    all.extend(smaller(told.rtt, 1).into_iter().map(|rtt| ReportEvent { rtt, ..told }));
    let after = told.after.into_iter().flat_map(|after| smaller(after, 0));
    all.extend(after.map(|after| ReportEvent { after: Some(after), ..told }));
    all.into_iter().filter(move |simpler| *simpler != told)
}
