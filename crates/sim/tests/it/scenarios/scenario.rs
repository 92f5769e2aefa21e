//! A small network with connections on it, run and measured, or drawn.

use std::path::Path;

use tresse_controllers::Controller;
use tresse_sim::World;
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Time, seconds};

use super::figure::{Figure, Panel};
use crate::common::{Acking, Bottleneck, ENDLESS, Net, PACKET, acked, flow, mean, sample, scheme};

/// Slow start, its overshoot, repaired one packet a round, and a few sawtooths.
const SETTLE: Time = 3 * SECOND;
/// No common measure with a packet's time, so that samples do not keep pace with departures.
const STEP: Time = 173 * MICROSECOND + 17;
/// Between the points of a figure, which end after four seconds.
const POINTS: Time = 2 * MILLISECOND;
const DRAWN: Time = 4 * SECOND;

/// A connection: its controller with what is set of its parameters, whether its packets are ECN-capable, the link of each subflow.
#[derive(Debug, Clone)]
pub struct Cast {
    pub controller: &'static str,
    pub settings: &'static [(&'static str, u64)],
    pub ecn: bool,
    pub links: Vec<u32>,
}

impl Cast {
    /// As the controller needs it.
    pub fn new(controller: &Controller, links: &[u32]) -> Self {
        Self {
            controller: controller.name(),
            settings: &[],
            ecn: controller.needs_ecn(),
            links: links.to_vec(),
        }
    }

    /// One subflow on link 0, under `controller` with its defaults.
    pub fn rival(controller: &'static str, ecn: bool) -> Self {
        Self { controller, settings: &[], ecn, links: vec![0] }
    }
}

/// Links with their base RTTs, and connections that start one after another.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub links: Vec<(Bottleneck, Time)>,
    pub cast: Vec<Cast>,
    pub offset: Time,
    pub measure: Time,
}

/// From the end of `SETTLE` on.
#[derive(Debug, PartialEq)]
pub struct Measured {
    /// What part of its link's time each subflow's segments take, by connection.
    pub shares: Vec<Vec<f64>>,
    pub links: Vec<Link>,
}

#[derive(Debug, PartialEq)]
pub struct Link {
    /// The mean, packets.
    pub queue: f64,
    /// Of the packets that came, percent.
    pub marked: f64,
    pub dropped: f64,
}

impl Scenario {
    pub fn run(&self) -> Measured {
        self.run_and_look(|_| {})
    }

    fn run_and_look(&self, mut look: impl FnMut(&World)) -> Measured {
        let bottlenecks: Vec<_> = self.links.iter().map(|&(link, _)| link).collect();
        let shortest = self.links.iter().map(|&(_, rtt)| rtt).min().expect("a link");
        let mut net = Net::new(shortest, &bottlenecks, self.cast.len() as u32);
        for (i, &(_, rtt)) in self.links.iter().enumerate() {
            net.ports[Net::bottleneck(i as u32) as usize].delay += rtt - shortest;
        }
        let mut world = net.world();
        for (id, cast) in self.cast.iter().enumerate() {
            sample(&mut world, id as u64 * self.offset, STEP, &mut look);
            let paths = cast.links.iter().map(|&link| net.path(id as u32, link)).collect();
            let mut spec =
                flow(id as u64, &scheme(cast.controller, cast.settings), Acking::Each, ENDLESS, paths);
            spec.config.ecn = cast.ecn;
            world.start(spec);
        }
        let start = world.now() + SETTLE;
        sample(&mut world, start, STEP, &mut look);

        let count = |world: &World| -> Vec<Vec<u64>> {
            let subflows = |(id, cast): (usize, &Cast)| {
                (0..cast.links.len()).map(|i| acked(world, id as u64, i)).collect()
            };
            self.cast.iter().enumerate().map(subflows).collect()
        };
        let ports = |world: &World| -> Vec<_> {
            let counters = |i| world.port(Net::bottleneck(i)).counters();
            (0..self.links.len() as u32).map(counters).collect()
        };
        let (before, ports_before) = (count(&world), ports(&world));
        let mut queues = vec![Vec::new(); self.links.len()];
        sample(&mut world, start + self.measure, STEP, |w| {
            for (i, queue) in queues.iter_mut().enumerate() {
                queue.push(w.waiting(Net::bottleneck(i as u32)) as f64);
            }
            look(w);
        });
        let (after, ports_after) = (count(&world), ports(&world));

        let share = |id: usize, i: usize| {
            let packet = bottlenecks[self.cast[id].links[i] as usize].packet_time();
            (after[id][i] - before[id][i]) as f64 * packet as f64 / self.measure as f64
        };
        let link = |i: usize| {
            let (before, after) = (ports_before[i], ports_after[i]);
            let drops = after.drops - before.drops;
            let came = (after.bytes - before.bytes) / u64::from(PACKET) + drops;
            let percent = |n: u64| 100.0 * n as f64 / came.max(1) as f64;
            Link {
                queue: mean(&queues[i]),
                marked: percent(after.marks - before.marks),
                dropped: percent(drops),
            }
        };
        Measured {
            shares: (0..self.cast.len())
                .map(|id| (0..self.cast[id].links.len()).map(|i| share(id, i)).collect())
                .collect(),
            links: (0..self.links.len()).map(link).collect(),
        }
    }

    /// Writes a figure of windows and queues.
    pub fn draw(&self, title: &str, file: &Path) {
        let mut times = Vec::new();
        let mut windows: Vec<(String, Vec<f64>)> = Vec::new();
        for (id, cast) in self.cast.iter().enumerate() {
            for i in 0..cast.links.len() {
                windows.push((format!("{} {id}.{i}", cast.controller), Vec::new()));
            }
        }
        let mut queues: Vec<(String, Vec<f64>)> =
            (0..self.links.len()).map(|i| (format!("link {i}"), Vec::new())).collect();
        self.run_and_look(|world| {
            let now = world.now();
            if now > DRAWN || now < times.len() as u64 * POINTS {
                return;
            }
            times.push(seconds(now));
            let mut line = windows.iter_mut();
            for (id, cast) in self.cast.iter().enumerate() {
                for i in 0..cast.links.len() {
                    let (_, values) = line.next().expect("a line for each subflow");
                    values.push(
                        world
                            .sender(id as u64)
                            .and_then(|s| s.controller(i))
                            .map_or(0.0, |own| f64::from(own.cwnd)),
                    );
                }
            }
            for (i, (_, values)) in queues.iter_mut().enumerate() {
                values.push(world.waiting(Net::bottleneck(i as u32)) as f64);
            }
        });
        let panels = vec![
            Panel { label: "window, packets".to_owned(), lines: windows },
            Panel { label: "queue, packets".to_owned(), lines: queues },
        ];
        Figure { title: format!("{title} (connection.subflow)"), times, panels }.write(file);
    }
}
