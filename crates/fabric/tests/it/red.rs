//! Random early detection against its closed forms, and what it averages when.

use tresse_fabric::{
    Arrival, Ecn, Fabric, Header, Loss, NonEct, Port, PortConfig, Processing, QueuedPortConfig, RedConfig,
    Threshold,
};
use tresse_units::{MICROSECOND, NEVER};

const GIGABIT: u64 = 1_000_000_000;

fn port(rate: u64) -> PortConfig {
    PortConfig {
        rate,
        delay: 0,
        limit: Threshold::UNLIMITED,
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    }
}

fn red(min: u64, max: u64, probability: f64, weight: u32) -> RedConfig {
    RedConfig {
        min: Threshold::packets(min),
        max: Threshold::packets(max),
        probability: (probability * 65536.0) as u32,
        weight,
        gentle: false,
        uniform: true,
        stream: (9, 0),
    }
}

/// A port whose queue is held at `length` packets: which of `count` arrivals it marks.
fn marks_at(config: RedConfig, length: u64, count: u64) -> Vec<u64> {
    let mut p = Port::new(PortConfig { red: Some(config), ..port(GIGABIT) });
    let gap = p.transmission(1500);
    // One more is in transmission, and one leaves just before each arrival.
    for _ in 0..length + 2 {
        p.admit(0, 1500, &mut Ecn::Ce);
    }
    let marked = |n: &u64| {
        let mut ecn = Ecn::Ect;
        p.admit(n * gap, 1500, &mut ecn);
        ecn == Ecn::Ce
    };
    (1..=count).filter(marked).collect()
}

/// Floyd and Jacobson §4: gaps between marks are uniform on 1 to 1/p, so their mean is (1/p + 1) / 2 and their
/// variance (1/p^2 - 1) / 12.
#[test]
fn red_spreads_its_marks_evenly() {
    // p = 0.1 (15 - 10) / (20 - 10) = 1/20.
    let marks = marks_at(red(10, 20, 0.1, 0), 15, 400_000);
    let gaps: Vec<f64> = marks.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / count;
    assert!((mean - 10.5).abs() < 0.1, "mean gap {mean}");
    assert!((variance / 33.25 - 1.0).abs() < 0.02, "variance {variance}");
    assert!(gaps.iter().all(|&g| (1.0..=21.0).contains(&g)));
}

/// With geometric gaps each packet is marked with the probability, whatever came before: the mean gap is 1/p and its variance
/// (1 - p) / p^2.
#[test]
fn red_may_mark_each_packet_by_itself() {
    let config = RedConfig { uniform: false, ..red(10, 20, 0.1, 0) };
    let marks = marks_at(config, 15, 400_000);
    let gaps: Vec<f64> = marks.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / count;
    // Five standard deviations of 20,000 gaps.
    assert!((mean - 20.0).abs() < 0.7, "mean gap {mean}");
    assert!((variance / 380.0 - 1.0).abs() < 0.1, "variance {variance}");
    assert!(gaps.iter().any(|&g| g > 21.0));
}

/// The average follows L (1 - (1 - w)^n): the first mark comes when it reaches a minimum that is the maximum too.
#[test]
fn reds_average_follows_the_queue() {
    for (weight, length, min) in [(1, 40, 20), (4, 40, 20), (9, 30, 12)] {
        let w = 0.5f64.powi(weight);
        // The packets that fill the queue count as well: the n-th of them finds n - 1 waiting, the first none.
        let mut average = 0.0;
        let fill = (0..length + 2).map(|n: i32| f64::from((n - 1).max(0)));
        for sample in fill {
            average += w * (sample - average);
        }
        let mut expected = 0;
        while average < f64::from(min) {
            average += w * (f64::from(length) - average);
            expected += 1;
        }
        let marks = marks_at(red(min as u64, min as u64, 1.0, weight as u32), length as u64, 100_000);
        let first = marks.first().copied().expect("a mark");
        assert!(first.abs_diff(expected.max(1)) <= 1, "weight {weight}: {first} instead of {expected}");
        assert_eq!(marks.len() as u64, 100_000 - first + 1, "all from then on");
    }
}

/// The trick that makes RED a threshold: no averaging, minimum = maximum = K + 1 marks above K.
#[test]
fn red_without_averaging_is_a_threshold() {
    let config = red(11, 11, 1.0, 0);
    assert!(marks_at(config, 10, 100).is_empty());
    assert_eq!(marks_at(config, 11, 100).len(), 100);
}

/// While a queue is empty the average decays as if packets had come: by (1 - w) a packet's time.
#[test]
fn reds_average_decays_while_the_queue_is_empty() {
    let config = red(5, 5, 1.0, 5);
    let marked_after = |idle: u64| {
        let mut p = Port::new(PortConfig { red: Some(config), ..port(GIGABIT) });
        let gap = p.transmission(1500);
        for _ in 0..=20 {
            p.admit(0, 1500, &mut Ecn::Ce);
        }
        for n in 1..1000 {
            p.admit(n * gap, 1500, &mut Ecn::Ce);
        }
        // The average is 20; the queue runs empty 20 packets' times after the last one.
        let mut ecn = Ecn::Ect;
        p.admit((999 + 21 + idle) * gap, 1500, &mut ecn);
        ecn == Ecn::Ce
    };
    // 20 (31/32)^(m + 1) = 5 at m + 1 = 43.7: the packet that comes counts once itself.
    assert!(marked_after(40));
    assert!(!marked_after(46));
}

/// Packets that meet a full queue are averaged too: the first packet that finds room again meets the average
/// of many full queues.
#[test]
fn red_averages_what_meets_a_full_queue() {
    let marked_after = |dropped: u32| {
        let config =
            PortConfig { limit: Threshold::packets(5), red: Some(red(4, 4, 1.0, 3)), ..port(GIGABIT) };
        let mut p = Port::new(config);
        // One in transmission and five that wait; the average of 0, 0, 1, 2, 3 and 4 is still below 2.
        for n in 0..6 + dropped {
            assert_eq!(p.admit(0, 1500, &mut Ecn::Ce).is_some(), n < 6);
        }
        let mut ecn = Ecn::Ect;
        p.admit(p.transmission(1500), 1500, &mut ecn).expect("one has left");
        ecn == Ecn::Ce
    };
    assert!(!marked_after(0));
    // 5 (1 - (7/8)^n) + 1.2 (7/8)^n = 4 at n = 10.
    assert!(!marked_after(7));
    assert!(marked_after(14));
}

/// While the queue is empty the average decays with the packets that the link could send now, not with those
/// that it could send at first.
#[test]
fn reds_average_decays_at_the_present_rate() {
    let marked_at = |first: u64, then: u64| {
        let config = PortConfig { red: Some(red(2, 2, 1.0, 1)), ..port(first) };
        let mut fabric =
            Fabric::new(&[config], 1, 1).with_queued_ports(&[(0, QueuedPortConfig::plain(&config))], &[]);
        let route = fabric.add_route(&[0]);
        // The last one meets 39, so that the average is 38.
        for _ in 0..41 {
            fabric.send(route, Header::new(1500, Ecn::Ce), ());
        }
        while fabric.advance(NEVER, &()).is_some() {}
        fabric.set_rate(0, then);
        fabric.set_now(fabric.now() + 60 * MICROSECOND);
        fabric.send(route, Header::new(1500, Ecn::Ect), ());
        let Some(Arrival::Delivered(packet)) = fabric.advance(NEVER, &()) else { panic!("a packet") };
        packet.header.ecn == Ecn::Ce
    };
    // 60 us are five packets' times at 1 Gbit/s: 38 / 2^6 is below 2. At a tenth of it they are none: 38 / 2.
    let tenth = GIGABIT / 10;
    assert_eq!([marked_at(GIGABIT, GIGABIT), marked_at(tenth, tenth)], [false, true]);
    assert_eq!([marked_at(tenth, GIGABIT), marked_at(GIGABIT, tenth)], [false, true]);
}
