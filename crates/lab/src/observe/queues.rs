//! Utilisation and queues by layer of the network.

use std::sync::Arc;

use indexmap::IndexMap;
use tresse_experiment::schema::metrics::HOSTS;
use tresse_fabric::Topology;
use tresse_units::{SECOND, Time};

use crate::network::Network;
use crate::observe::Observer;
use tresse_results::record::flow::Link;
use tresse_results::record::lengths::Lengths;
use tresse_results::record::metric::{Metric, NamedMetrics, percentile};
use tresse_results::record::outcome::{Outcome, Rows};

/// The data of a run's ports: their totals, how long the run lasted, ps, and the queue lengths by layer, if queues
/// were observed.
pub(crate) type Run<'a> = (&'a [Link], Time, &'a [(Arc<str>, Lengths)]);

/// The metrics of all ports of these runs together, such as one run for each seed: utilisation is of every link,
/// queues are those of switches.
pub(crate) fn all<'a>(runs: impl Iterator<Item = Run<'a>> + Clone) -> NamedMetrics {
    let shares = runs.clone().flat_map(|(links, duration, _)| links.iter().map(move |l| share(l, duration)));
    let mut lengths = Lengths::default();
    let layers = runs.flat_map(|(_, _, layers)| layers);
    layers.filter(|(layer, _)| &**layer != HOSTS).for_each(|(_, own)| lengths.merge(own));
    utilisation(shares.collect()).chain(queue(&lengths)).collect()
}

/// The metrics of each layer: hosts' queues first, then the others in the order of their first ports.
pub(crate) fn by<'a>(runs: impl Iterator<Item = Run<'a>>) -> IndexMap<String, NamedMetrics> {
    let mut layers: IndexMap<&str, (Vec<f64>, Lengths)> = IndexMap::new();
    for (links, duration, queues) in runs {
        for (layer, lengths) in queues {
            layers.entry(layer).or_default().1.merge(lengths);
        }
        for link in links {
            layers.entry(&link.layer).or_default().0.push(share(link, duration));
        }
    }
    let metrics = |(shares, lengths)| utilisation(shares).chain(queue(&lengths)).collect();
    layers.into_iter().map(|(layer, of)| (layer.to_owned(), metrics(of))).collect()
}

/// The share of their capacity that links carried, each direction separately: bytes over the bytes that the link
/// can carry in the run (XMP §5.2.4, Fig. 11). Percentiles are values that occurred.
fn utilisation(mut shares: Vec<f64>) -> impl Iterator<Item = (&'static str, Metric)> {
    shares.sort_unstable_by(f64::total_cmp);
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let part = |percent| (!shares.is_empty()).then(|| percentile(&shares, percent));
    let values = [
        ("utilisation_mean_ratio", (!shares.is_empty()).then_some(mean)),
        ("utilisation_min_ratio", part(0)),
        ("utilisation_p10_ratio", part(10)),
        ("utilisation_p50_ratio", part(50)),
        ("utilisation_p90_ratio", part(90)),
        ("utilisation_max_ratio", part(100)),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name, Metric::Real(value?))))
}

/// The lengths of queues.
fn queue(lengths: &Lengths) -> impl Iterator<Item = (&'static str, Metric)> {
    let part = |percent| lengths.percentile(percent).map(Metric::Count);
    let values = [
        ("queue_mean_pkts", lengths.mean().map(Metric::Real)),
        ("queue_p50_pkts", part(50)),
        ("queue_p99_pkts", part(99)),
        ("queue_max_pkts", part(100)),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

/// The share of its capacity that a link carried, at most 1: data still waiting at the end was admitted too.
fn share(link: &Link, duration: Time) -> f64 {
    let capacity = link.rate as f64 * duration as f64 / (8 * SECOND) as f64;
    if capacity > 0.0 { (link.bytes as f64 / capacity).min(1.0) } else { 0.0 }
}

/// Observes every port's queue at a fixed interval. The queues in hosts, which senders fill as far as their windows
/// allow, are kept apart from those of switches.
#[derive(Debug)]
pub struct QueueSampler {
    interval: Time,
    next: Time,
    /// By port: the index of its layer in `layers`.
    places: Vec<u8>,
    layers: Vec<(Arc<str>, Lengths)>,
}

impl QueueSampler {
    /// For the ports of `topology`, every `interval` ps, the first time one interval after `now`.
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

    /// When to call [`QueueSampler::take`] next; time must have advanced to it.
    pub fn until(&self) -> Time {
        self.next
    }

    /// Observes the queues as they are now. The packet in transmission is not part of them.
    pub fn take(&mut self, world: &dyn Network) {
        self.next = world.now() + self.interval;
        for (port, &place) in (0..).zip(&self.places) {
            self.layers[usize::from(place)].1.record(world.waiting(port));
        }
    }

    /// The name of each layer that has queues, [`HOSTS`] first, and the lengths of its queues.
    pub fn into_layers(self) -> Vec<(Arc<str>, Lengths)> {
        self.layers.into_iter().filter(|(_, lengths)| lengths.count() > 0).collect()
    }
}

impl<'a> Observer<'a> for QueueSampler {
    fn deadline(&self) -> Time {
        self.until()
    }

    fn at(&mut self, world: &dyn Network) -> Option<Rows<'_>> {
        self.take(world);
        None
    }

    fn finish(self: Box<Self>, outcome: &mut Outcome) {
        outcome.queues = self.into_layers();
    }
}

#[cfg(test)]
mod tests {
    use tresse_experiment::schema::metrics::of_layers;

    use super::*;

    /// A link of 1 Gbit/s.
    fn link(layer: &str, bytes: u64) -> Link {
        Link {
            port: 0,
            layer: layer.into(),
            rate: 1_000_000_000,
            bytes,
            drops: 0,
            lost: 0,
            marks: 0,
            pfc: Default::default(),
        }
    }

    /// Queues of these lengths.
    fn of(lengths: &[u64]) -> Lengths {
        let mut all = Lengths::default();
        lengths.iter().for_each(|&length| all.record(length));
        all
    }

    #[test]
    fn utilisation_is_bytes_over_capacity_by_layer() {
        // In 8 ms a link of 1 Gbit/s carries 1 MB.
        let tens: Vec<Link> = (1..=10).map(|i| link("core", i * 100_000)).collect();
        let rack = [link("rack", 250_000), link("rack", 2_000_000), link("core", 0)];
        let runs = [(&tens[..], 8_000_000_000, &[][..]), (&rack[..], 16_000_000_000, &[][..])];
        let layers = by(runs.into_iter());
        assert_eq!(layers.keys().collect::<Vec<_>>(), ["core", "rack"]);
        let value =
            |layer: &str, name: &str| layers[layer][format!("utilisation_{name}_ratio").as_str()].value();
        // 0 of the second run, and 10 to 100 % of the first one.
        let of = |layer| ["min", "p10", "p50", "p90", "max"].map(|name| value(layer, name));
        assert_eq!(of("core"), [0.0, 0.1, 0.5, 0.9, 1.0]);
        assert!((value("core", "mean") - 0.5).abs() < 1e-12);
        assert_eq!(of("rack"), [0.125, 0.125, 0.125, 1.0, 1.0]);
        assert_eq!(value("rack", "mean"), 0.5625);
        let all = all(runs.into_iter());
        assert!((all["utilisation_mean_ratio"].value() - (5.5 + 1.125) / 13.0).abs() < 1e-12);
        assert_eq!(all.keys().copied().collect::<Vec<_>>(), of_layers().take(6).collect::<Vec<_>>());
    }

    #[test]
    fn what_waits_at_the_end_was_not_carried() {
        let links = [link("rack", 3_000_000)];
        let max =
            |duration| all([(&links[..], duration, &[][..])].into_iter())["utilisation_max_ratio"].value();
        assert_eq!(max(8_000_000_000), 1.0);
        assert_eq!(max(0), 0.0, "a run that never began");
        assert_eq!(all([].into_iter()), NamedMetrics::new());
    }

    #[test]
    fn queues_of_hosts_are_told_by_themselves() {
        let links = [link("rack", 0), link("core", 0)];
        let first = [(HOSTS.into(), of(&[90, 90])), ("rack".into(), of(&[1, 3])), ("core".into(), of(&[0]))];
        let second = [(HOSTS.into(), of(&[0])), ("rack".into(), of(&[6]))];
        let runs = [(&links[..], 1, &first[..]), (&links[..1], 1, &second[..])];
        let layers = by(runs.into_iter());
        assert_eq!(layers.keys().collect::<Vec<_>>(), [HOSTS, "rack", "core"]);
        let queue = |m: &NamedMetrics| of_layers().skip(6).map(|name| m[name].value()).collect::<Vec<_>>();
        assert_eq!(queue(&layers[HOSTS]), [60.0, 90.0, 90.0, 90.0]);
        assert_eq!(layers[HOSTS].len(), 4, "no link is in that layer");
        assert_eq!(queue(&layers["rack"]), [10.0 / 3.0, 3.0, 6.0, 6.0]);
        assert_eq!(queue(&all(runs.into_iter())), [2.5, 1.0, 6.0, 6.0]);
    }
}
