//! A port that was full drops everything until its queue is short.

use tresse_fabric::{Ecn, Loss, NonEct, Port, PortConfig, Processing, RedConfig, Threshold};
use tresse_units::Time;

const GIGABIT: u64 = 1_000_000_000;

fn port(limit: Threshold, until: Option<Threshold>) -> PortConfig {
    PortConfig {
        rate: GIGABIT,
        delay: 0,
        limit,
        drop_until: until,
        processing: Processing::NONE,
        mark: Threshold::packets(2),
        non_ect: NonEct::Queue,
        red: None,
        loss: Loss::NONE,
    }
}

/// The fates of packets of 1500 bytes, of which three arrive whenever one has left, for `rounds`: `x` is
/// dropped, `m` marked, `-` neither.
fn fates(config: PortConfig, rounds: u64) -> String {
    let mut port = Port::new(config);
    let one = port.transmission(1500);
    let mut fates = String::new();
    let mut admitted = 0;
    for round in 0..rounds {
        for _ in 0..3 {
            let mut ecn = Ecn::Ect;
            let fate = port.admit(round * one, 1500, &mut ecn);
            admitted += u64::from(fate.is_some());
            fates.push(match (fate, ecn) {
                (None, _) => 'x',
                (_, Ecn::Ce) => 'm',
                _ => '-',
            });
        }
        fates.push(' ');
    }
    let counters = port.counters();
    assert_eq!(counters.bytes, 1500 * admitted);
    assert_eq!(counters.drops + admitted, 3 * rounds, "each packet is let in or dropped");
    fates.trim_end().to_owned()
}

/// One packet of a burst is in transmission and five wait; the next is dropped. Others that come while five,
/// four, three and two wait are dropped too. With one waiting the port takes packets again.
#[test]
fn a_full_port_drops_until_the_queue_is_short() {
    let five = Threshold::packets(5);
    assert_eq!(fates(port(five, None), 8), "--- --m mmx mxx mxx mxx mxx mxx");
    assert_eq!(fates(port(five, Some(Threshold::packets(2))), 9), "--- --m mmx xxx xxx xxx --m mmx xxx");
    // A queue of 5 packets in bytes holds the one in transmission too.
    let bytes = |n: u64| Threshold::bytes(1500 * n);
    assert_eq!(fates(port(bytes(6), Some(bytes(2))), 9), "--- --m mmx xxx xxx xxx xxx --- -mm");
}

/// There is room at the instant that the packet has left, as with a limit alone.
#[test]
fn a_port_opens_to_the_picosecond() {
    for (limit, until, left) in [
        (Threshold::packets(5), Threshold::packets(3), 3),
        (Threshold::packets(300), Threshold::packets(100), 201),
        (Threshold::bytes(9000), Threshold::bytes(4501), 3),
    ] {
        let opens = |at: fn(Time) -> Time| {
            let mut port = Port::new(port(limit, Some(until)));
            while port.admit(0, 1500, &mut Ecn::Ect).is_some() {}
            port.admit(at(left * port.transmission(1500)), 1500, &mut Ecn::Ect).is_some()
        };
        assert!(!opens(|t| t - 1), "{limit:?}");
        assert!(opens(|t| t), "{limit:?}");
    }
}

/// RED averages over dropped packets too: without averaging and with one threshold it is K.
#[test]
fn red_sees_what_is_dropped() {
    let red = RedConfig {
        min: Threshold::packets(3),
        max: Threshold::packets(3),
        probability: 1 << 16,
        weight: 0,
        gentle: false,
        uniform: true,
        stream: (1, 1),
    };
    let with_mark = port(Threshold::packets(5), Some(Threshold::packets(2)));
    let with_red = PortConfig { mark: Threshold::UNLIMITED, red: Some(red), ..with_mark };
    assert_eq!(fates(with_red, 40), fates(with_mark, 40));
}
