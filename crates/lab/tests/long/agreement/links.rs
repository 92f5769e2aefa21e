//! Two links as packets: a connection with a subflow over each and, if wanted, a competitor on the second.

use tresse_fabric::{Loss, NonEct, Path, PortConfig, Probability, Processing, Threshold};
use tresse_sim::World;
use tresse_transport::Recovery;
use tresse_units::{MILLISECOND, Time, seconds};

use crate::agreement::common::{Acking, ENDLESS, PACKET, flow, run_until, scheme};

/// The queue in front of a link.
#[derive(Debug, Clone, Copy)]
pub enum Queue {
    /// None ever; packets are lost with this probability.
    Losing(f64),
    /// It marks above K packets, and has room for all.
    Marking(u64),
    /// It drops when this many packets wait.
    DropTail(u64),
}

/// A network and who sends over it.
#[derive(Debug, Clone, Copy)]
pub struct Net {
    /// By link, bit/s.
    pub rates: [u64; 2],
    /// By link.
    pub queues: [Queue; 2],
    /// Of the two subflows and the competitor, when no packet waits, milliseconds.
    pub rtts_ms: [u64; 3],
    /// The connection's controller.
    pub controller: &'static str,
    /// The competitor's.
    pub competitor: Option<&'static str>,
}

/// Means over the last four fifths of a run.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Packets a second that enter the first link, the second, and those of the competitor.
    pub rates: [f64; 3],
    /// By link, packets that wait.
    pub waiting: [f64; 2],
}

/// The rate of what limits nothing, bit/s.
pub const FAST: u64 = 10_000_000_000;

/// What a flow takes: a link in the middle, an access port before it and a way back that are its own.
const LINK_OF: [u32; 3] = [0, 1, 1];

impl Net {
    fn ports(&self, seed: u64) -> Vec<PortConfig> {
        let plain = |rate, delay| PortConfig {
            rate,
            delay,
            limit: Threshold::UNLIMITED,
            mark: Threshold::UNLIMITED,
            non_ect: NonEct::Queue,
            drop_until: None,
            processing: Processing::NONE,
            red: None,
            loss: Loss::NONE,
        };
        let link = |i: usize| {
            let port = plain(self.rates[i], 0);
            match self.queues[i] {
                Queue::Losing(p) => {
                    let p = Probability::from_parts((p * Probability::ONE.parts() as f64).round() as u64);
                    PortConfig { loss: Loss::new(p, seed, i as u32), ..port }
                }
                Queue::Marking(k) => PortConfig { mark: Threshold::packets(k), ..port },
                Queue::DropTail(q) => PortConfig { limit: Threshold::packets(q), ..port },
            }
        };
        let own = self.rtts_ms.map(|ms| plain(FAST, ms * MILLISECOND / 2));
        [link(0), link(1)].into_iter().chain(own.into_iter().flat_map(|port| [port, port])).collect()
    }

    /// Runs for `time`. `seed` decides losses, and when the competitor starts.
    pub fn run(&self, seed: u64, time: Time) -> Measured {
        let mut world = World::new(&self.ports(seed), 2, seed);
        let path = |flow: u32| {
            let access = 2 + 2 * flow;
            Path { there: vec![access, LINK_OF[flow as usize]], back: vec![access + 1] }
        };
        let start = |world: &mut World, id, name, paths| {
            let mut spec = flow(id, &scheme(name, &[]), Acking::Each, ENDLESS, paths);
            spec.config.recovery = Recovery::Sack;
            world.start(spec);
        };
        start(&mut world, 0, self.controller, vec![path(0), path(1)]);
        if let Some(name) = self.competitor {
            run_until(&mut world, seed * 7_310_003_001);
            start(&mut world, 1, name, vec![path(2)]);
        }
        let sent = |w: &World| {
            [(0, 0), (0, 1), (1, 0)].map(|(id, subflow)| {
                w.sender(id).map_or(0, |s| s.counters(subflow).sent + s.counters(subflow).retransmissions)
            })
        };
        run_until(&mut world, time / 5);
        let (begin, before) = (world.now(), sent(&world));
        let (mut sums, mut looks) = ([0u64; 2], 0u64);
        while world.now() < time {
            // No common measure with a packet's time or an RTT.
            let next = world.now() + 7_310_003_771;
            run_until(&mut world, next);
            for (sum, port) in sums.iter_mut().zip(0..) {
                *sum += world.waiting(port);
            }
            looks += 1;
        }
        let (after, passed) = (sent(&world), seconds(world.now() - begin));
        Measured {
            rates: std::array::from_fn(|i| (after[i] - before[i]) as f64 / passed),
            waiting: sums.map(|sum| sum as f64 / looks as f64),
        }
    }

    /// The RTTs with the packets' own queues, seconds: those that a fluid must be told.
    pub fn rtts(&self, waiting: [f64; 2]) -> [f64; 3] {
        std::array::from_fn(|i| {
            let link = LINK_OF[i] as usize;
            let packet = f64::from(PACKET) * 8.0 / self.rates[link] as f64;
            self.rtts_ms[i] as f64 / 1e3 + (waiting[link] + 1.0) * packet
        })
    }
}

/// Means over runs, and the standard error of each.
pub fn mean_of<const N: usize>(runs: &[[f64; N]]) -> ([f64; N], [f64; N]) {
    let n = runs.len() as f64;
    let mean: [f64; N] = std::array::from_fn(|i| runs.iter().map(|r| r[i]).sum::<f64>() / n);
    let error = std::array::from_fn(|i| {
        let variance = runs.iter().map(|r| (r[i] - mean[i]).powi(2)).sum::<f64>() / (n - 1.0);
        (variance / n).sqrt()
    });
    (mean, error)
}
