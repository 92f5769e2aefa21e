//! Utilisation and queues by layer of the network.

use std::sync::Arc;

use serde::Serialize;
use tresse_fabric::{SECOND, Time, Topology};
use tresse_sim::World;

use crate::metrics::percentile;
use crate::unit::Link;

/// How much of their capacity the links of a layer carried, each direction for itself: bytes over what the link
/// can carry in the run (XMP §5.2.4, Fig. 11). Percentiles are values that occurred.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Utilisation {
    /// The layer, as the topology has it.
    pub layer: String,
    /// Links, each direction for itself, each in every seed.
    pub links: usize,
    /// The mean over links, 0 to 1, as the following.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// At least 10 % of the links carried no more.
    pub p10: f64,
    /// At least half.
    pub p50: f64,
    /// At least 90 %.
    pub p90: f64,
    /// The most.
    pub max: f64,
}

/// The utilisation of each layer, in the order of the layers' first ports. `runs` are the ports of a run and its
/// duration, ps; there may be several, such as one for each seed.
pub fn utilisation<'a>(runs: impl IntoIterator<Item = (&'a [Link], Time)>) -> Vec<Utilisation> {
    let mut layers: Vec<(&str, Vec<f64>)> = Vec::new();
    for (links, duration) in runs {
        for link in links {
            let share = share(link, duration);
            match layers.iter_mut().find(|(layer, _)| *layer == &*link.layer) {
                Some((_, shares)) => shares.push(share),
                None => layers.push((&link.layer, vec![share])),
            }
        }
    }
    let distribution = |(layer, mut shares): (&str, Vec<f64>)| {
        shares.sort_unstable_by(f64::total_cmp);
        let [min, p10, p50, p90, max] = [0, 10, 50, 90, 100].map(|percent| percentile(&shares, percent));
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        Utilisation { layer: layer.to_owned(), links: shares.len(), mean, min, p10, p50, p90, max }
    };
    layers.into_iter().map(distribution).collect()
}

/// What part of its capacity a link carried. What still waits at the end was let in too, but is not above it.
fn share(link: &Link, duration: Time) -> f64 {
    let capacity = link.rate as f64 * duration as f64 / (8 * SECOND) as f64;
    if capacity > 0.0 { (link.bytes as f64 / capacity).min(1.0) } else { 0.0 }
}

/// How long queues were at the instants at which they were looked at: a count for each length, so that whatever is
/// told of these instants is exact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lengths {
    /// By length, packets.
    counts: Vec<u64>,
}

impl Lengths {
    fn record(&mut self, length: u64) {
        let length = length as usize;
        if length >= self.counts.len() {
            self.counts.resize(length + 1, 0);
        }
        self.counts[length] += 1;
    }

    /// Adds those of other instants or ports.
    pub fn merge(&mut self, other: &Self) {
        let length = self.counts.len().max(other.counts.len());
        self.counts.resize(length, 0);
        for (own, more) in self.counts.iter_mut().zip(&other.counts) {
            *own += more;
        }
    }

    /// How many lengths there are: ports times instants.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The mean, packets; `None` if nobody looked.
    pub fn mean(&self) -> Option<f64> {
        let sum: u128 = (0..).zip(&self.counts).map(|(length, &count)| length * u128::from(count)).sum();
        let count = self.count();
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// The smallest length, packets, that at least `percent` per cent of them, at most 100, do not exceed; `None` if
    /// nobody looked. The largest is that of 100.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let mut rank = (u128::from(self.count()) * u128::from(percent)).div_ceil(100).max(1);
        let at = |(length, &count): (u64, &u64)| {
            let here = rank <= count.into();
            rank -= if here { 0 } else { count.into() };
            here.then_some(length)
        };
        (0..).zip(&self.counts).find_map(at)
    }
}

/// Looks at every port's queue at a fixed interval. The queues in hosts, which senders fill as their windows allow,
/// are told apart from those of switches.
#[derive(Debug)]
pub struct QueueSampler {
    interval: Time,
    next: Time,
    /// By port: its place in `layers`.
    places: Vec<u8>,
    layers: Vec<(Arc<str>, Lengths)>,
}

/// What the queues of hosts are called, which are in no switch's layer.
pub const HOSTS: &str = "hosts";

impl QueueSampler {
    /// For the ports of `topology`, every `interval` ps, for the first time an interval after `now`.
    ///
    /// # Panics
    /// If the interval is 0.
    pub fn new(topology: &Topology, interval: Time, now: Time) -> Self {
        assert!(interval > 0, "an interval of 0");
        let hosts = topology.network.hosts;
        let place = |(&[from, _], &layer): (&[u32; 2], &u8)| if from < hosts { 0 } else { layer + 1 };
        let names = std::iter::once(HOSTS.into()).chain(topology.layer_names.iter().cloned());
        Self {
            interval,
            next: now + interval,
            places: topology.network.ends.iter().zip(&topology.layers).map(place).collect(),
            layers: names.map(|name| (name, Lengths::default())).collect(),
        }
    }

    /// When to call [`QueueSampler::take`] next: time is to be turned until then.
    pub fn until(&self) -> Time {
        self.next
    }

    /// Looks at the queues as they are now. The packet in transmission is in none of them.
    pub fn take(&mut self, world: &World) {
        self.next = world.now() + self.interval;
        for (port, &place) in (0..).zip(&self.places) {
            self.layers[usize::from(place)].1.record(world.fabric().waiting(port));
        }
    }

    /// The name of each layer that has queues, [`HOSTS`] first, and how long its queues were.
    pub fn layers(&self) -> impl Iterator<Item = (&str, &Lengths)> {
        self.layers
            .iter()
            .filter(|(_, lengths)| lengths.count() > 0)
            .map(|(name, lengths)| (&**name, lengths))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link of 1 Gbit/s.
    fn link(layer: &str, bytes: u64) -> Link {
        Link { port: 0, layer: layer.into(), rate: 1_000_000_000, bytes, drops: 0, lost: 0, marks: 0 }
    }

    #[test]
    fn utilisation_is_bytes_over_capacity_by_layer() {
        // In 8 ms a link of 1 Gbit/s carries 1 MB.
        let tens: Vec<Link> = (1..=10).map(|i| link("core", i * 100_000)).collect();
        let rack = [link("rack", 250_000), link("rack", 2_000_000), link("core", 0)];
        let duration = 8_000_000_000;
        let layers = utilisation([(&tens[..], duration), (&rack[..], 2 * duration)]);
        let [core, rack] = &layers[..] else { panic!("{layers:?}") };
        // 0 of the second run, and 10 to 100 % of the first one.
        assert_eq!((&*core.layer, core.links), ("core", 11));
        assert_eq!([core.min, core.p10, core.p50, core.p90, core.max], [0.0, 0.1, 0.5, 0.9, 1.0]);
        assert!((core.mean - 0.5).abs() < 1e-12);
        assert_eq!((&*rack.layer, rack.min, rack.max, rack.mean), ("rack", 0.125, 1.0, 0.5625));
    }

    #[test]
    fn what_waits_at_the_end_was_not_carried() {
        let links = [link("rack", 3_000_000)];
        assert_eq!(utilisation([(&links[..], 8_000_000_000)])[0].max, 1.0);
        assert_eq!(utilisation([(&links[..], 0)])[0].mean, 0.0, "a run that never began");
        assert_eq!(utilisation([]), []);
    }

    #[test]
    fn lengths_add_up() {
        let of = |lengths: &[u64]| {
            let mut all = Lengths::default();
            lengths.iter().for_each(|&length| all.record(length));
            all
        };
        let (short, long) = (of(&[0, 0, 1]), of(&[7]));
        let mut merged = short.clone();
        merged.merge(&long);
        assert_eq!(merged, of(&[0, 0, 1, 7]));
        let mut merged = long;
        merged.merge(&short);
        assert_eq!((merged.count(), merged.mean()), (4, Some(2.0)));
        assert_eq!([50, 51, 75, 76, 100].map(|p| merged.percentile(p)), [0, 1, 1, 7, 7].map(Some));
        assert_eq!((of(&[]).mean(), of(&[]).percentile(50)), (None, None));
    }
}
