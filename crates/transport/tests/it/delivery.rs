//! With any finite number of losses, duplicates, delays and marks, the message arrives completely, each
//! segment once, in finite time, and both ends come to rest.
//!
//! The development profile checks overflows, so a count that falls below zero panics here.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tresse_controllers::built_in;
use tresse_transport::{Config, DelayedAck, Echo, Gro, Recovery, Reduction};
use tresse_units::{NEVER, Time};

use crate::pipe::{Fate, Link, MICROSECOND, MILLISECOND, MSS, Pipe, SECOND, config, scheme};

#[derive(Debug, Clone)]
struct Scenario {
    config: Config,
    controller: &'static str,
    links: Vec<Link>,
    bytes: u64,
    /// The fates of the first data packets and ACKs; those after them pass.
    data: Vec<Fate>,
    acks: Vec<Fate>,
}

/// Fates in runs, as losses come in bursts.
fn fates(length: usize) -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        6 => Just(Fate::Pass),
        3 => Just(Fate::Drop),
        2 => Just(Fate::Mark),
        1 => Just(Fate::Twice),
        1 => (0..2 * MILLISECOND).prop_map(Fate::Late),
        1 => (0..SECOND).prop_map(Fate::Late),
    ];
    let run = (fate, prop_oneof![3 => 1..3usize, 1 => 1..20usize]);
    prop::collection::vec(run, 0..length)
        .prop_map(|runs| runs.iter().flat_map(|&(fate, n)| std::iter::repeat_n(fate, n)).collect())
}

fn transport() -> impl Strategy<Value = Config> {
    let recovery = prop::sample::select(vec![
        Recovery::Reno,
        Recovery::RenoOnce,
        Recovery::NewReno,
        Recovery::Sack,
        Recovery::Rack,
    ]);
    let reduction = prop::sample::select(vec![Reduction::Immediate, Reduction::Prr]);
    let echo = prop::sample::select(vec![Echo::Rfc3168, Echo::Dctcp, Echo::TwoBit]);
    let delayed_ack = (1..9u32, 0..20u32, any::<bool>()).prop_map(|(every, quick, quick_again)| DelayedAck {
        every,
        timer: 40 * MILLISECOND,
        quick,
        quick_again,
    });
    let gro = prop_oneof![
        Just(Gro::OFF),
        (1..45u32, 0..100 * MICROSECOND).prop_map(|(segments, interval)| Gro { segments, interval }),
    ];
    let pace = (any::<bool>(), 1..45u32);
    (recovery, reduction, echo, delayed_ack, 1..50u32, gro, pace).prop_map(
        |(recovery, reduction, echo, delayed_ack, initial_window, gro, (pacing, tso))| Config {
            recovery,
            reduction,
            echo,
            delayed_ack,
            initial_window,
            gro,
            pacing,
            tso,
            ..config()
        },
    )
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let link = (
        prop_oneof![10 * MICROSECOND..MILLISECOND, MILLISECOND..60 * MILLISECOND],
        prop_oneof![Just(0), 0..10 * MICROSECOND],
    )
        .prop_map(|(delay, gap)| Link { delay, gap });
    let of_tcp: Vec<_> = built_in().into_iter().filter(|c| !c.reports()).map(|c| c.name()).collect();
    let controller = prop::sample::select(of_tcp);
    let bytes = prop_oneof![1..4 * u64::from(MSS), 1..400 * u64::from(MSS)];
    (transport(), controller, prop::collection::vec(link, 1..5), bytes, fates(60), fates(40)).prop_map(
        |(config, controller, links, bytes, data, acks)| Scenario {
            config,
            controller,
            links,
            bytes,
            data,
            acks,
        },
    )
}

/// 600 losses, each after a timeout that has backed off to its 60 s.
const FOREVER: Time = 40_000 * SECOND;

fn play(scenario: &Scenario) -> Pipe {
    let (mut data, mut acks) = (scenario.data.clone().into_iter(), scenario.acks.clone().into_iter());
    Pipe::new(scenario.config, &scheme(scenario.controller), &scenario.links, scenario.bytes)
        .data_fate(move |_| data.next().unwrap_or(Fate::Pass))
        .ack_fate(move |_| acks.next().unwrap_or(Fate::Pass))
        .run(FOREVER)
        .settle(FOREVER)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order(scenario in scenario()) {
        let pipe = play(&scenario);
        let segments = scenario.bytes.div_ceil(u64::from(MSS));
        prop_assert!(pipe.receiver.messages().complete());
        prop_assert_eq!(u64::from(pipe.receiver.messages().delivered()), segments);

        // Each segment was sent for the first time once, on one subflow, and all its
        // retransmissions carry the same data.
        let mut carried = BTreeMap::new();
        let first: Vec<_> = pipe.data.iter().filter(|s| s.attempt == 1).collect();
        prop_assert_eq!(first.iter().map(|s| u64::from(s.payload)).sum::<u64>(), scenario.bytes);
        prop_assert!((0..).zip(&first).all(|(dsn, sent)| sent.dsn == dsn));
        prop_assert_eq!(first.len() as u64, segments);
        for sent in &pipe.data {
            let content = (sent.dsn, sent.payload);
            prop_assert_eq!(*carried.entry((sent.subflow, sent.seq)).or_insert(content), content);
        }

        // Both ends are at rest, and the counters add up.
        let (mut sent, mut again) = (0, 0);
        for i in 0..scenario.links.len() {
            prop_assert_eq!(pipe.sender.outstanding(i), 0);
            prop_assert_eq!((pipe.sender.deadline(i), pipe.receiver.deadline(i)), (NEVER, NEVER));
            sent += pipe.sender.counters(i).sent;
            again += pipe.sender.counters(i).retransmissions;
        }
        prop_assert_eq!((sent, sent + again), (segments, pipe.data.len() as u64));
    }

    /// Without losses nothing is declared lost, and no retransmission timer fires. Only probes send anything
    /// twice: an ACK that waits for the delayed-ACK timer may come after a probe.
    #[test]
    fn without_losses_nothing_is_repaired(scenario in scenario()) {
        let mut clean = scenario;
        clean.data.iter_mut().for_each(|f| if *f != Fate::Mark { *f = Fate::Pass });
        clean.acks.clear();
        let pipe = play(&clean);
        let mut again = 0;
        for i in 0..clean.links.len() {
            let c = pipe.sender.counters(i);
            prop_assert_eq!((c.recoveries, c.timeouts), (0, 0));
            prop_assert!(c.retransmissions <= c.probes);
            again += c.retransmissions;
        }
        prop_assert_eq!(pipe.receiver.duplicates(), again);
    }

    /// The same input gives the same packets at the same times (design rule 4).
    #[test]
    fn a_run_repeats(scenario in scenario()) {
        let packets = |pipe: &Pipe| pipe.data.iter().map(|s| (s.now, s.subflow, s.seq)).collect::<Vec<_>>();
        prop_assert_eq!(packets(&play(&scenario)), packets(&play(&scenario)));
    }
}
