//! Whether coupling has the effect required by RFC 6356 §2, on noq's own state machines in simulated time.

use std::time::Duration;

use noq_proto::PathId;

use crate::factory;
use crate::network::{Link, Network};

const RATE: u64 = 10_000_000;
const DELAY: Duration = Duration::from_millis(10);
const WARM_UP: Duration = Duration::from_secs(10);

/// A link with a queue of one bandwidth-delay product, bytes.
fn link() -> Link {
    Link::new(RATE, 25_000)
}

/// The rate of each path of each pair during `seconds`, Mbit/s.
fn rates(network: &mut Network, pairs: usize, seconds: u64) -> Vec<Vec<f64>> {
    network.run(WARM_UP);
    let before: Vec<_> = (0..pairs).map(|pair| network.carried(pair)).collect();
    network.run(Duration::from_secs(seconds));
    let mbits = |bytes: u64| bytes as f64 * 8e-6 / seconds as f64;
    let paths = |pair: usize| network.carried(pair).into_iter().zip(before[pair].clone());
    (0..pairs).map(|pair| paths(pair).map(|(after, before)| mbits(after - before)).collect()).collect()
}

/// The total rate of two paths over one bottleneck, as a multiple of the rate of a Reno flow next to them.
fn share(name: &str) -> f64 {
    let mut network = Network::new(vec![link()]);
    network.add(factory("reno"), &[0], DELAY);
    network.add(factory(name), &[0, 0], DELAY);
    let rates = rates(&mut network, 2, 60);
    let share = rates[1].iter().sum::<f64>() / rates[0][0];
    println!(
        "{name}: {share:.2} of a Reno flow ({:.2} + {:.2} beside {:.2} Mbit/s)",
        rates[1][0], rates[1][1], rates[0][0]
    );
    share
}

#[test]
fn coupled_paths_share_a_bottleneck_like_one_flow_and_uncoupled_ones_like_two() {
    let uncoupled = share("reno");
    assert!((1.5..2.7).contains(&uncoupled), "{uncoupled}");
    for name in ["lia", "olia", "balia"] {
        let coupled = share(name);
        assert!((0.6..1.5).contains(&coupled), "{name}: {coupled}");
    }
}

#[test]
fn coupled_paths_fill_two_bottlenecks() {
    for name in ["lia", "olia", "balia"] {
        let mut network = Network::new(vec![link(), link()]);
        network.add(factory(name), &[0, 1], DELAY);
        let rates = rates(&mut network, 1, 20);
        println!("{name}: {:.2} and {:.2} of 10 Mbit/s", rates[0][0], rates[0][1]);
        assert!(rates[0].iter().all(|&rate| rate > 8.0), "{name}: {rates:?}");
    }
}

#[test]
fn marks_keep_the_queue_short_without_losses() {
    let mut marking = link();
    marking.mark = 12_000;
    let mut network = Network::new(vec![marking]);
    network.add(factory("lia"), &[0, 0], DELAY);
    network.run(WARM_UP);
    let lost = |network: &mut Network| network.sender(0).stats().lost_packets;
    let before = lost(&mut network);
    let rates = rates(&mut network, 1, 20);
    assert_eq!(lost(&mut network), before);
    let cuts = network.sender(0).path_stats(PathId::ZERO).expect("it is open").congestion_events;
    assert!(cuts > 10, "{cuts}");
    assert!(rates[0].iter().sum::<f64>() > 8.0, "{rates:?}");
}

#[test]
fn a_path_that_is_closed_leaves_the_other_the_whole_share() {
    let mut network = Network::new(vec![link()]);
    network.add(factory("reno"), &[0], DELAY);
    network.add(factory("lia"), &[0, 0], DELAY);
    network.run(WARM_UP);
    let now = network.instant();
    let second = network.sender(1).paths()[1];
    network.sender(1).close_path(now, second, 0u32.into()).expect("it is open");
    let rates = rates(&mut network, 2, 40);
    let share = rates[1][0] / rates[0][0];
    assert!((0.6..1.6).contains(&share), "{rates:?}");
}
