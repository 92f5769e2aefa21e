//! The time that a host spends on a packet: random, and no packet overtakes another.

use tresse_fabric::{
    Arrival, Ecn, Fabric, Header, Loss, NonEct, Port, PortConfig, Processing, QueuedPortConfig, Threshold,
};
use tresse_units::{MICROSECOND, MILLISECOND, Time};

const BELOW: Time = 10 * MICROSECOND;

fn config(processing: Processing) -> PortConfig {
    PortConfig {
        rate: 10_000_000_000,
        delay: 3 * MICROSECOND,
        limit: Threshold::UNLIMITED,
        drop_until: None,
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        red: None,
        loss: Loss::NONE,
        processing,
    }
}

/// By how much packets are later than without processing; one comes every `gap`.
fn delays(processing: Processing, gap: Time, packets: u64) -> Vec<Time> {
    let (mut slow, mut plain) = (Port::new(config(processing)), Port::new(config(Processing::NONE)));
    let mut last = 0;
    let arrivals =
        (0..packets).map(|n| [&mut slow, &mut plain].map(|p| p.admit(n * gap, 1500, &mut Ecn::Ect)));
    let delay = |[slow, plain]: [Option<Time>; 2]| {
        let [slow, plain] = [slow, plain].map(|time| time.expect("there is room"));
        assert!(slow > last, "one packet after the other");
        last = slow;
        slow.checked_sub(plain).expect("not sooner than without")
    };
    arrivals.map(delay).collect()
}

#[test]
fn single_packets_are_uniformly_later() {
    let delays = delays(Processing::new(BELOW, 1, 2), MILLISECOND, 20_000);
    assert!(delays.iter().all(|&delay| delay < BELOW));
    let mean = delays.iter().sum::<Time>() / 20_000;
    // The standard error is 0.02 us.
    assert!(mean.abs_diff(BELOW / 2) < MICROSECOND / 10, "{mean} ps");
    for tenth in 0..10 {
        let within = |&&delay: &&Time| delay * 10 / BELOW == tenth;
        let count = delays.iter().filter(within).count();
        assert!((1800..2200).contains(&count), "{count} of 20000 in tenth {tenth}");
    }
}

/// Packets back to back wait for the slowest before them, and the rate stays what it is.
#[test]
fn packets_back_to_back_stay_in_order() {
    let delays = delays(Processing::new(BELOW, 1, 2), 0, 10_000);
    assert!(delays.iter().all(|&delay| delay < BELOW));
    let mean = delays.iter().sum::<Time>() / 10_000;
    assert!(mean > BELOW / 2, "{mean} ps");
}

#[test]
fn seed_and_port_name_the_times() {
    let of = |seed, port| delays(Processing::new(BELOW, seed, port), MILLISECOND, 100);
    assert_eq!(of(1, 2), of(1, 2));
    assert_ne!(of(1, 2), of(2, 2));
    assert_ne!(of(1, 2), of(1, 3));
    assert!(delays(Processing::new(0, 1, 2), MICROSECOND, 100).iter().all(|&delay| delay == 0));
}

/// A port whose link may change takes the same times as one whose link does not.
#[test]
fn a_queued_port_takes_the_same_times() {
    let arrivals = |is_queued: bool| {
        let ports = [config(Processing::new(BELOW, 4, 0))];
        let queued_ports = [(0, QueuedPortConfig::plain(&ports[0]))];
        let queued_ports = if is_queued { &queued_ports[..] } else { &[] };
        let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(queued_ports, &[]);
        let route = fabric.add_route(&[0]);
        let mut arrived = Vec::new();
        for n in 0..2000u64 {
            // Bursts of 8, and time to send them.
            let now = n / 8 * 12 * MICROSECOND;
            while let Some(arrival) = fabric.advance(now, &()) {
                let Arrival::Delivered(packet) = arrival else { panic!("nothing is dropped") };
                arrived.push((fabric.now(), packet.payload));
            }
            fabric.set_now(now);
            assert!(fabric.send(route, Header::new(1500, Ecn::Ect), n));
        }
        arrived
    };
    let plain = arrivals(false);
    assert!(plain.len() > 1900 && plain.is_sorted());
    assert_eq!(arrivals(true), plain);
}
