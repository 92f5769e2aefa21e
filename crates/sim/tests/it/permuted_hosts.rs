//! In a symmetric network no host is better off for its number.
//!
//! The flows of each scenario have one bottleneck, equal links, and start as a seed says. The one that differs
//! is put on every host in turn: what it gets is the same, but for what differs from seed to seed.

use tresse_fabric::{Loss, NonEct, Path, PortConfig, Processing, Threshold};
use tresse_sim::World;
use tresse_units::{MICROSECOND, MILLISECOND, Stream, Time};

use crate::common::{Acking, ENDLESS, GIGABIT, flow, goodputs, mean, run_until, scheme};

/// Hosts behind one switch and one bottleneck: links as in DCM's slides, 1 Gbit/s and 40 us, six of them there and
/// back; K = 10, the hosts' ports too.
fn world(hosts: u32, seed: u64) -> World {
    let port = |delay, mark| PortConfig {
        rate: GIGABIT,
        delay,
        limit: Threshold::packets(100),
        mark,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    };
    let marking = port(40 * MICROSECOND, Threshold::packets(10));
    let mut ports = vec![marking; hosts as usize + 2];
    ports.push(port(120 * MICROSECOND, Threshold::UNLIMITED));
    World::new(&ports, 3, seed)
}

/// Flows of these schemes, host by host, one subflow each: the rate of each, bit/s.
///
/// `start` says when the flow of a host begins.
fn rates(schemes: &[&str], seed: u64, start: impl Fn(u32) -> Time) -> Vec<f64> {
    let hosts = schemes.len() as u32;
    let mut world = world(hosts, seed);
    let mut starts: Vec<(Time, u32)> = (0..hosts).map(|host| (start(host), host)).collect();
    starts.sort_unstable();
    for (time, host) in starts {
        run_until(&mut world, time);
        let name = schemes[host as usize];
        let exact: &[_] = if name == "xmp" { &[] } else { &[("alpha_start", 0), ("exact", 1)] };
        let path = Path { there: vec![host, hosts, hosts + 1], back: vec![hosts + 2] };
        let mut spec = flow(host.into(), &scheme(name, exact), Acking::Each, ENDLESS, vec![path]);
        (spec.config.floor, spec.config.grow_in_cwr) = (Some(1), name != "xmp");
        world.start(spec);
    }
    run_until(&mut world, 300 * MILLISECOND);
    let ids: Vec<u64> = (0..hosts.into()).collect();
    goodputs(&mut world, &ids, 1300 * MILLISECOND)
}

/// How many runs there are for each host; `make test-all` takes twelve, whose means are closer to each other.
fn seeds() -> u64 {
    if std::env::var_os("TRESSE_TEST_ALL").is_some() { 12 } else { 4 }
}

/// The share of the flow of `odd` beside `others`, as a multiple of an equal one: by host, for each seed.
fn shares(odd: &str, others: &str, hosts: u32) -> Vec<Vec<f64>> {
    let share = |place: u32, seed: u64| {
        let schemes: Vec<&str> = (0..hosts).map(|host| if host == place { odd } else { others }).collect();
        // The odd one begins; each of the others has the same start wherever it is.
        let start = |host: u32| {
            let others = (host + hosts - place) % hosts;
            if others == 0 { 0 } else { Stream::new(seed, "start", others.into()).below(100 * MILLISECOND) }
        };
        let rates = rates(&schemes, seed, start);
        rates[place as usize] * f64::from(hosts) / rates.iter().sum::<f64>()
    };
    (0..hosts).map(|place| (1..=seeds()).map(|seed| share(place, seed)).collect()).collect()
}

/// The square of the standard error of the mean.
fn error_square(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    squares / (values.len() - 1) as f64 / values.len() as f64
}

#[test]
fn what_a_flow_gets_does_not_depend_on_its_host() {
    for (odd, others, hosts) in [
        ("dctcp", "dctcp", 3),
        ("dcm", "dctcp", 3),
        ("xmp", "dctcp", 3),
        ("xmp", "xmp", 4),
        ("dcm", "dcm", 4),
    ] {
        let shares = shares(odd, others, hosts);
        let what = || shares.iter().map(|s| format!("{:.3} ± {:.3}", mean(s), 2.0 * error_square(s).sqrt()));
        println!("{odd} beside {others}, by host: {}", what().collect::<Vec<_>>().join(", "));
        for (i, a) in shares.iter().enumerate() {
            for b in &shares[..i] {
                // Four standard errors of the difference: by chance once in some hundreds of such tests.
                let bound = 4.0 * (error_square(a) + error_square(b)).sqrt();
                let difference = (mean(a) - mean(b)).abs();
                assert!(
                    difference < bound,
                    "{odd} beside {others}: {difference:.3}, {bound:.3}, {a:.3?}, {b:.3?}"
                );
            }
        }
    }
}
