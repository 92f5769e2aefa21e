//! Queues by layer, against a model of two ports.

use std::collections::BTreeMap;
use std::sync::Arc;

use tresse_experiment::schema::metrics::HOSTS;
use tresse_fabric::Topology;
use tresse_lab::observe::queues::QueueSampler;
use tresse_results::record::lengths::Lengths;
use tresse_sim::Step;
use tresse_units::{MICROSECOND, Time};

use crate::alone::{GIGABIT, MSS, alone, leaf_spine};

const PACKETS: u64 = 300;
const INTERVAL: Time = 7 * MICROSECOND;
const INSTANTS: u64 = 2500;

fn sampled(topology: &Topology) -> QueueSampler {
    let mut world = alone(topology, 0, 3, PACKETS * u64::from(MSS));
    let mut sampler = QueueSampler::new(topology, INTERVAL, world.now());
    for instant in 1..=INSTANTS {
        while world.advance(sampler.until(), u64::MAX) != Step::Reached {}
        assert_eq!(world.now(), instant * INTERVAL);
        sampler.take(&world);
    }
    sampler
}

/// Queues at the instants, of a port at which packets arrive at these times and take `transmission`; the arrivals
/// at the next port, `delay` later.
fn port(arrivals: &[Time], transmission: Time, delay: Time) -> (Vec<u64>, Vec<Time>) {
    let mut busy_until = 0;
    let depart = |&arrival: &Time| {
        busy_until = arrival.max(busy_until) + transmission;
        busy_until
    };
    let departures: Vec<Time> = arrivals.iter().map(depart).collect();
    let waiting = |instant: Time| {
        let present = (0..arrivals.len()).filter(|&i| arrivals[i] <= instant && departures[i] > instant);
        (present.count() as u64).saturating_sub(1)
    };
    let queues = (1..=INSTANTS).map(|instant| waiting(instant * INTERVAL)).collect();
    (queues, departures.iter().map(|departure| departure + delay).collect())
}

#[test]
fn queues_are_those_of_two_ports() {
    let topology = leaf_spine(1, [GIGABIT, GIGABIT / 4]);
    let sampler = sampled(&topology);
    let layers: BTreeMap<Arc<str>, Lengths> = sampler.into_layers().into_iter().collect();
    assert_eq!(layers.keys().map(|name| &**name).collect::<Vec<_>>(), [HOSTS, "rack", "spine"]);

    // All packets stand in the host at once, and then before the leaf's slower link; nowhere else.
    let (host, arrivals) = port(&[0; PACKETS as usize], 12 * MICROSECOND, 10 * MICROSECOND);
    let (leaf, _) = port(&arrivals, 48 * MICROSECOND, 5 * MICROSECOND);
    for (layer, ports, queues) in
        [(HOSTS, 4, host), ("rack", 4, vec![0; INSTANTS as usize]), ("spine", 4, leaf)]
    {
        // The layer's other ports have no queue: ACKs are further apart than they take.
        let mut all = vec![0; (ports - 1) * INSTANTS as usize];
        all.extend(&queues);
        all.sort_unstable();
        let lengths = &layers[layer];
        assert_eq!(lengths.count(), all.len() as u64, "{layer}");
        assert_eq!(lengths.mean(), Some(all.iter().sum::<u64>() as f64 / all.len() as f64), "{layer}");
        for percent in [50, 80, 90, 99, 100] {
            let rank = (all.len() * percent).div_ceil(100);
            assert_eq!(lengths.percentile(percent as u64), Some(all[rank - 1]), "{layer} {percent}");
        }
    }
    // At 7 us the second packet is in transmission.
    assert_eq!(layers[HOSTS].percentile(100), Some(PACKETS - 1));
    assert!(layers["spine"].percentile(100).expect("instants") > 200);
}
