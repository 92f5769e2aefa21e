//! A port decides like a plain queue of packets: drops, marks, and arrival times.

use std::collections::VecDeque;

use proptest::prelude::*;
use tresse_fabric::{Ecn, Loss, NonEct, Port, PortConfig, PortCounters, Probability, Processing, Threshold};
use tresse_units::{MICROSECOND, SECOND, Time};

use crate::cases;

/// A queue length as the tests write it; `Threshold` hides its value.
#[derive(Debug, Clone, Copy)]
enum Length {
    Packets(u64),
    Bytes(u64),
    Unlimited,
}

impl Length {
    fn threshold(self) -> Threshold {
        match self {
            Self::Packets(n) => Threshold::packets(n),
            Self::Bytes(n) => Threshold::bytes(n),
            Self::Unlimited => Threshold::UNLIMITED,
        }
    }
}

/// The reference: the packets that have not left, each with its departure and size.
struct Plain {
    config: PortConfig,
    limit: Length,
    mark: Length,
    until: Option<Length>,
    /// It has been full, and drops all.
    shut: bool,
    present: VecDeque<(Time, u32)>,
    counters: PortCounters,
}

/// A yes, a no, or a backlog so close to the threshold that rounding to whole bytes decides.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Yes,
    No,
    Edge,
}

impl Plain {
    /// Whether the queue is longer than `length`, or at least as long if `or_equal`. In packets the
    /// one in transmission does not count; in bytes its rest does.
    fn exceeds(&self, now: Time, length: Length, or_equal: bool) -> Verdict {
        let Some(&(head_departure, head_bytes)) = self.present.front() else { return Verdict::No };
        let yes = |b| if b { Verdict::Yes } else { Verdict::No };
        match length {
            Length::Unlimited => Verdict::No,
            Length::Packets(n) => {
                let waiting = self.present.len() as u64 - 1;
                yes(waiting > n || (or_equal && waiting == n))
            }
            Length::Bytes(n) => {
                let rest = u128::from(head_departure - now) * u128::from(self.config.rate);
                let rest = rest.min(u128::from(head_bytes) * u128::from(8 * SECOND));
                let waiting: u128 = self.present.iter().skip(1).map(|p| u128::from(p.1)).sum();
                // In units of 1 / (8 s) byte, so that nothing is rounded here.
                let backlog = waiting * u128::from(8 * SECOND) + rest;
                let whole = u128::from(8 * SECOND);
                let n = u128::from(n) * whole;
                // At odd rates a transmission is a fraction of a picosecond too short.
                let exact = (8 * SECOND).is_multiple_of(self.config.rate);
                let slack = whole + if exact { 0 } else { backlog / 100_000 + whole };
                if exact && backlog.is_multiple_of(whole) {
                    yes(backlog > n || (or_equal && backlog == n))
                } else if backlog.abs_diff(n) <= slack {
                    Verdict::Edge
                } else {
                    yes(backlog > n)
                }
            }
        }
    }

    /// The decision about a packet; `transmission` is how long it takes on the wire. `port` decides if the
    /// backlog is at the edge.
    fn admit(
        &mut self,
        now: Time,
        bytes: u32,
        ecn: &mut Ecn,
        transmission: Time,
        port: (Option<Time>, Ecn),
    ) -> Option<Time> {
        while self.present.front().is_some_and(|&(departure, _)| departure <= now) {
            self.present.pop_front();
        }
        let end = self.until.filter(|_| self.shut).unwrap_or(self.limit);
        let dropped = match self.exceeds(now, end, true) {
            Verdict::Edge => port.0.is_none(),
            verdict => verdict == Verdict::Yes,
        };
        self.shut = dropped;
        if dropped {
            self.counters.drops += 1;
            return None;
        }
        let above_k = match self.exceeds(now, self.mark, false) {
            Verdict::Edge => port.0.is_none() || port.1 != *ecn,
            verdict => verdict == Verdict::Yes,
        };
        match *ecn {
            Ecn::Ect if above_k => {
                self.counters.marks += 1;
                *ecn = Ecn::Ce;
            }
            Ecn::NotEct if above_k && self.config.non_ect == NonEct::Drop => {
                self.counters.drops += 1;
                return None;
            }
            _ => {}
        }
        let start = self.present.back().map_or(now, |&(departure, _)| departure);
        self.present.push_back((start + transmission, bytes));
        self.counters.bytes += u64::from(bytes);
        Some(start + transmission + self.config.delay)
    }
}

fn length() -> impl Strategy<Value = Length> {
    prop_oneof![
        4 => (0..40u64).prop_map(Length::Packets),
        1 => (0..400u64).prop_map(Length::Packets),
        4 => (0..60_000u64).prop_map(Length::Bytes),
        1 => (0..40u64).prop_map(|n| Length::Bytes(n * 1500)),
        2 => Just(Length::Unlimited),
    ]
}

fn rate() -> impl Strategy<Value = u64> {
    prop_oneof![
        // A byte takes a whole number of picoseconds.
        4 => prop::sample::select(vec![
            1_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 40_000_000_000, 100_000_000_000,
            400_000_000_000, 800_000_000_000u64,
        ]),
        2 => 1_000_000..800_000_000_000u64,
    ]
}

/// A packet: how long after the one before it, in parts of a full packet's time; size; ECN field.
fn packet() -> impl Strategy<Value = (u64, u32, Ecn)> {
    let gap = prop_oneof![4 => Just(0), 4 => 0..100u64, 2 => 100..300u64, 1 => 0..5000u64];
    let bytes = prop_oneof![4 => Just(1500u32), 2 => Just(40u32), 2 => 1..9001u32];
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect, Ecn::Ect, Ecn::Ce]);
    (gap, bytes, ecn)
}

fn config(rate: u64, limit: Length, mark: Length) -> PortConfig {
    PortConfig {
        rate,
        delay: 20 * MICROSECOND,
        limit: limit.threshold(),
        mark: mark.threshold(),
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_port_decides_as_a_plain_queue_does(
        rate in rate(),
        delay in prop_oneof![Just(0), 0..10 * SECOND],
        limit in length(),
        mark in length(),
        percent in prop::option::of(0..100u64),
        drop_non_ect in any::<bool>(),
        packets in prop::collection::vec(packet(), 1..600),
    ) {
        let until = percent.and_then(|percent| match limit {
            Length::Packets(n @ 2..) => Some(Length::Packets((n * percent / 100).max(1))),
            Length::Bytes(n @ 2..) => Some(Length::Bytes((n * percent / 100).max(1))),
            _ => None,
        });
        // A limit in bytes that rounding decides must not be mistaken for K.
        let non_ect = if drop_non_ect && until.is_none() { NonEct::Drop } else { NonEct::Queue };
        let drop_until = until.map(Length::threshold);
        let config = PortConfig { delay, non_ect, drop_until, ..config(rate, limit, mark) };
        let mut port = Port::new(config);
        let (present, counters) = (VecDeque::new(), PortCounters::default());
        let mut plain = Plain { config, limit, mark, until, shut: false, present, counters };
        let mut now = 0;
        for (gap, bytes, ecn) in packets {
            now += gap * port.transmission(1500) / 100;
            let (mut got, mut expected) = (ecn, ecn);
            let arrival = port.admit(now, bytes, &mut got);
            let reference =
                plain.admit(now, bytes, &mut expected, port.transmission(bytes), (arrival, got));
            prop_assert_eq!(arrival, reference, "at {}", now);
            prop_assert_eq!(got, expected, "at {}", now);
            prop_assert_eq!(port.waiting(now), (plain.present.len() as u64).saturating_sub(1));
        }
        prop_assert_eq!(port.counters(), plain.counters);
    }

    /// From 1 kbit/s to 100 Tbit/s; never 0. Packets beyond 65 536 bytes may be off by another one.
    #[test]
    fn a_transmission_is_exact_to_a_picosecond(
        rate in prop_oneof![2 => rate(), 1 => 1000..1_000_000u64, 1 => Just(1000), 1 => 1_000_000..100_000 * GIGABIT],
        bytes in prop_oneof![3 => 1..9001u32, 1 => 1..70_000u32, 1 => 1..20u32],
    ) {
        let port = Port::new(config(rate, Length::Unlimited, Length::Unlimited));
        let exact = (u128::from(bytes) * u128::from(8 * SECOND) / u128::from(rate)).max(1);
        let got = u128::from(port.transmission(bytes));
        let slack = 1 + u128::from(bytes >> 16);
        prop_assert!((1..=exact).contains(&got) && exact - got <= slack, "{} ps instead of {}", got, exact);
    }
}

/// Sends `count` full packets at time 0. Returns the mark of each, `None` if dropped.
fn burst(port: &mut Port, count: usize, bytes: u32) -> Vec<Option<Ecn>> {
    (0..count)
        .map(|_| {
            let mut ecn = Ecn::Ect;
            port.admit(0, bytes, &mut ecn).map(|_| ecn)
        })
        .collect()
}

const GIGABIT: u64 = 1_000_000_000;

/// XMP §2.1: marked when the queue is "larger than K". One packet is in transmission, so packet
/// n (from 0) of a burst finds n - 1 waiting; the first to find 11 is packet 12.
#[test]
fn k_of_ten_marks_the_packet_that_finds_eleven_waiting() {
    let mut port = Port::new(config(GIGABIT, Length::Packets(100), Length::Packets(10)));
    let fate = burst(&mut port, 20, 1500);
    assert_eq!(fate.iter().position(|f| *f == Some(Ecn::Ce)), Some(12));
    assert_eq!(fate.iter().filter(|f| **f == Some(Ecn::Ce)).count(), 8);
    assert_eq!(port.counters().marks, 8);

    // One packet's time later 18 wait; when 10 wait, nothing is marked any more.
    for (left, expected) in [(1, Ecn::Ce), (9, Ecn::Ce), (10, Ecn::Ect)] {
        let mut port = Port::new(config(GIGABIT, Length::Packets(100), Length::Packets(10)));
        burst(&mut port, 21, 1500);
        let now = left * port.transmission(1500);
        assert_eq!(port.waiting(now), 20 - left);
        let mut ecn = Ecn::Ect;
        port.admit(now, 1500, &mut ecn).expect("there is room");
        assert_eq!(ecn, expected, "{left} have left");
    }
}

#[test]
fn a_limit_of_a_hundred_holds_a_hundred_and_the_one_in_transmission() {
    let mut port = Port::new(config(GIGABIT, Length::Packets(100), Length::Unlimited));
    let fate = burst(&mut port, 105, 1500);
    assert_eq!(fate.iter().filter(|f| f.is_some()).count(), 101);
    assert_eq!(port.waiting(0), 100);
    assert_eq!(port.counters(), PortCounters { bytes: 101 * 1500, drops: 4, trims: 0, lost: 0, marks: 0 });
    // There is room again at the moment that the first packet has left, not a picosecond sooner.
    let departure = port.transmission(1500);
    assert_eq!(port.admit(departure - 1, 1500, &mut Ecn::Ect), None);
    assert!(port.admit(departure, 1500, &mut Ecn::Ect).is_some());
}

/// Whatever the rate: 100 full packets fill a queue of 150 000 bytes, the 101st finds it full.
#[test]
fn a_limit_in_bytes_holds_as_many_packets_at_every_rate() {
    for rate in [1, 3, 7, 10, 25, 100].map(|n| n * GIGABIT) {
        let mut port = Port::new(config(rate, Length::Bytes(150_000), Length::Unlimited));
        let held = burst(&mut port, 110, 1500).iter().filter(|f| f.is_some()).count();
        assert_eq!(held, 100, "at {rate} bit/s");
    }
}

/// 2^48 ps are 281 s: 35 MB at 1 Mbit/s, which a threshold in bytes may well exceed.
#[test]
fn a_backlog_of_many_minutes_is_still_a_backlog() {
    let mut port = Port::new(config(GIGABIT / 1000, Length::Bytes(60_000_000), Length::Bytes(1000)));
    let fate = burst(&mut port, 1200, 60_000);
    assert_eq!(fate.iter().filter(|f| f.is_some()).count(), 1000);
    assert_eq!(fate.iter().filter(|f| **f == Some(Ecn::Ce)).count(), 999);
}

#[test]
fn a_packet_that_is_not_ecn_capable_queues_or_drops_at_k() {
    for (non_ect, admitted) in [(NonEct::Queue, 31), (NonEct::Drop, 12)] {
        let config = PortConfig { non_ect, ..config(GIGABIT, Length::Packets(30), Length::Packets(10)) };
        let mut port = Port::new(config);
        let taken = (0..40).filter(|_| port.admit(0, 1500, &mut Ecn::NotEct).is_some()).count();
        assert_eq!(taken, admitted);
        assert_eq!(port.counters().marks, 0);
    }
}

/// A busy port sends back to back, and an idle one at once: nothing is lost between packets.
#[test]
fn a_busy_port_does_not_rest() {
    let mut port = Port::new(config(10 * GIGABIT, Length::Unlimited, Length::Unlimited));
    let mut clear = 0; // when the port will have sent everything
    for n in 0..10_000u64 {
        // 60 to 100 % load in bursts, with sizes that change; now and then it runs empty.
        let now = (n / 32) * 32 * 1100 * 800;
        let bytes = 40 + (n * 7919 % 1461) as u32;
        let start = clear.max(now);
        clear = start + port.transmission(bytes);
        assert_eq!(port.admit(now, bytes, &mut Ecn::Ect), Some(clear + 20 * MICROSECOND));
    }
}

/// At 100 Tbit/s 12 bytes take 0.96 ps: each packet has its own instant.
#[test]
fn the_smallest_packets_leave_one_after_the_other() {
    let mut port = Port::new(config(100_000 * GIGABIT, Length::Unlimited, Length::Unlimited));
    let arrivals: Vec<_> = (0..100).filter_map(|_| port.admit(5, 12, &mut Ecn::Ect)).collect();
    assert_eq!(arrivals, (6..106).map(|t| t + 20 * MICROSECOND).collect::<Vec<_>>());
    assert!(port.busy(5) <= 100);
}

/// At 1 Gbit/s 1250 B take 10 us. Every 100 us come one, two or three packets.
#[test]
fn a_port_knows_how_long_it_was_busy() {
    let mut port = Port::new(config(1_000_000_000, Length::Unlimited, Length::Unlimited));
    assert_eq!(port.busy(MICROSECOND), 0);
    let mut sent = 0;
    for i in 1..=99 {
        let (now, packets) = (i * 100 * MICROSECOND, 1 + i % 3);
        for _ in 0..packets {
            port.admit(now, 1250, &mut Ecn::NotEct);
        }
        assert_eq!(port.busy(now), sent);
        assert_eq!(port.busy(now + 3 * MICROSECOND), sent + 3 * MICROSECOND);
        sent += packets * 10 * MICROSECOND;
        assert_eq!(port.busy(now + 50 * MICROSECOND), sent);
    }
}

#[test]
#[should_panic(expected = "a port needs a rate")]
fn a_port_without_a_rate_is_refused() {
    Port::new(config(0, Length::Unlimited, Length::Unlimited));
}

proptest! {
    #![proptest_config(cases(400))]

    /// A lost packet leaves no trace in the queue: the others are treated as if it had never come.
    #[test]
    fn lost_packets_take_no_place(
        parts in 0..1u64 << 32,
        seed in any::<u64>(),
        limit in length(),
        mark in length(),
        packets in prop::collection::vec(packet(), 1..600),
    ) {
        let without = config(GIGABIT, limit, mark);
        let loss = Loss::new(Probability::from_parts(parts), seed, 7);
        let (mut lossy, mut plain) = (Port::new(PortConfig { loss, ..without }), Port::new(without));
        // The same draws, from a port without a limit.
        let free = config(GIGABIT, Length::Unlimited, Length::Unlimited);
        let mut draws = Port::new(PortConfig { loss, ..free });
        let (mut now, mut count) = (0, 0);
        for (gap, bytes, ecn) in packets {
            count += 1;
            now += gap * plain.transmission(1500) / 100;
            let (mut got, mut expected) = (ecn, ecn);
            let arrival = lossy.admit(now, bytes, &mut got);
            if draws.admit(now, bytes, &mut ecn.clone()).is_none() {
                prop_assert_eq!((arrival, got), (None, ecn));
            } else {
                prop_assert_eq!(arrival, plain.admit(now, bytes, &mut expected));
                prop_assert_eq!(got, expected);
            }
            prop_assert_eq!(lossy.waiting(now), plain.waiting(now));
        }
        let lost = draws.counters().lost;
        prop_assert_eq!(lossy.counters(), PortCounters { lost, ..plain.counters() });
        prop_assert!(lost + plain.counters().drops <= count);
    }
}
