//! Sprayed connections: what is sent, what ACKs and NACKs report, and that each packet is delivered.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use tresse_balancers::ConfiguredBalancer;
use tresse_controllers::State;
use tresse_transport::spray::{Receiver, Sender, Spraying};
use tresse_transport::{Answer, Body, Config, DelayedAck, Fate, Origin, SprayedPacket, Transmit};
use tresse_units::{NEVER, Time};

use crate::pipe::{MICROSECOND, MILLISECOND, MSS, SECOND, config, scheme};

const BASE_RTT: Time = 10 * MICROSECOND;

fn sprayed() -> Config {
    let delayed_ack = DelayedAck { every: 4, timer: 20 * MICROSECOND, quick: 0, quick_again: false };
    Config { rto_min: 100 * MICROSECOND, rto_initial: MILLISECOND, delayed_ack, ..config() }
}

fn sender(config: Config, controller: &str, balancer: &str, segments: u32) -> Sender {
    let mut sender = Sender::new(config, scheme(controller), u64::from(segments) * u64::from(MSS));
    let balancer = tresse_balancers::find(balancer).expect("it is built in");
    let balancer = Arc::new(ConfiguredBalancer::new(balancer, []).expect("its defaults"));
    sender.open(Spraying { balancer, paths: 16, stream: 7, base_rtt: BASE_RTT, line_rate: 10_000_000_000 });
    sender
}

fn receiver(config: Config, segments: u32) -> Receiver {
    Receiver::new(config, u64::from(segments) * u64::from(MSS))
}

fn poll(sender: &mut Sender, now: Time) -> Vec<Transmit> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

fn header(t: &Transmit) -> SprayedPacket {
    match t.body {
        Body::Sprayed(packet) => packet,
        _ => panic!("a sprayed packet"),
    }
}

/// The ACKs of these packets, which arrive at once.
fn deliver(receiver: &mut Receiver, now: Time, packets: &[(Transmit, bool)]) -> Vec<Answer> {
    packets.iter().filter_map(|(t, ce)| receiver.handle_data(now, &header(t), *ce)).collect()
}

#[test]
fn four_packets_make_an_ack_and_the_last_of_a_window_asks_for_one() {
    let mut sender = sender(sprayed(), "reno", "oblivious", 100);
    let mut receiver = receiver(sprayed(), 100);
    let window = poll(&mut sender, 0);
    assert_eq!(window.len(), 10);
    let asks: Vec<bool> = window.iter().map(|t| header(t).asks).collect();
    assert_eq!(asks, [false, false, false, false, false, false, false, false, false, true]);
    let window: Vec<_> = window.into_iter().map(|t| (t, false)).collect();
    let acks = deliver(&mut receiver, BASE_RTT, &window);
    assert_eq!(acks.iter().map(|a| a.next).collect::<Vec<_>>(), [4, 8, 10]);
    assert_eq!(receiver.deadline(), NEVER, "nothing waits");
    let before = sender.group()[0].cwnd;
    acks.iter().for_each(|ack| sender.handle_answer(BASE_RTT, ack));
    assert_eq!((sender.in_flight(), sender.outstanding()), (0, 0));
    assert_eq!(sender.group()[0].cwnd, before + 10, "slow start");
    assert_eq!(sender.srtt(), BASE_RTT);
}

#[test]
fn a_few_packets_are_acked_when_the_timer_has_passed() {
    let mut receiver = receiver(sprayed(), 100);
    let mut sender = sender(sprayed(), "reno", "oblivious", 100);
    let window: Vec<_> = poll(&mut sender, 0)[..3].iter().map(|t| (*t, false)).collect();
    assert_eq!(deliver(&mut receiver, BASE_RTT, &window), []);
    assert_eq!(receiver.deadline(), BASE_RTT + 20 * MICROSECOND);
    let ack = receiver.handle_timeout().expect("three packets wait");
    assert_eq!((ack.next, receiver.deadline()), (3, NEVER));
}

/// The order of packets does not matter: the bitmap reports those that have overtaken others, and nothing is
/// sent again.
#[test]
fn packets_that_overtake_are_no_loss() {
    let mut sender = sender(sprayed(), "reno", "oblivious", 100);
    let mut receiver = receiver(sprayed(), 100);
    let window = poll(&mut sender, 0);
    let late: Vec<_> = window[2..].iter().rev().map(|t| (*t, false)).collect();
    let mut acks = deliver(&mut receiver, BASE_RTT, &late);
    acks.extend(receiver.handle_timeout());
    acks.iter().for_each(|ack| sender.handle_answer(BASE_RTT, ack));
    assert_eq!(sender.in_flight(), 2);
    let next = poll(&mut sender, BASE_RTT);
    assert!(next.iter().all(|t| t.origin == Origin::New));
    assert_eq!(sender.counters().retransmissions, 0);
}

/// A marked packet is ACKed at once, and cuts the window once in a round.
#[test]
fn marks_cut_once_a_round() {
    let mut sender = sender(sprayed(), "reno", "oblivious", 100);
    let mut receiver = receiver(sprayed(), 100);
    let window: Vec<_> = poll(&mut sender, 0).into_iter().map(|t| (t, true)).collect();
    let acks = deliver(&mut receiver, BASE_RTT, &window);
    assert_eq!(acks.len(), 10);
    acks.iter().for_each(|ack| sender.handle_answer(BASE_RTT, ack));
    let counters = sender.counters();
    assert_eq!((counters.marks, counters.mark_cuts), (10, 1));
    assert_eq!(sender.group()[0].cwnd, 5);
}

#[test]
fn a_trimmed_packet_goes_again_first_and_a_loss_deepens_the_cut_of_a_mark() {
    let mut sender = sender(sprayed(), "reno", "oblivious", 100);
    let mut receiver = receiver(sprayed(), 100);
    let window = poll(&mut sender, 0);
    let nack = receiver.handle_trimmed(&header(&window[3]), true);
    assert_eq!(nack.fate, Fate::Trimmed { last_hop: true });
    sender.handle_answer(BASE_RTT, &nack);
    assert_eq!((sender.group()[0].cwnd, sender.group()[0].state), (5, State::Recovery));
    assert_eq!(poll(&mut sender, BASE_RTT), [], "nine are in flight, of five");
    let rest: Vec<_> = window.iter().filter(|t| header(t).number != 3).map(|t| (*t, false)).collect();
    for ack in deliver(&mut receiver, BASE_RTT, &rest) {
        sender.handle_answer(BASE_RTT, &ack);
    }
    let next = poll(&mut sender, BASE_RTT);
    assert_eq!((next[0].origin, header(&next[0]).number), (Origin::Retransmitted, 3));
    assert_eq!(next.iter().filter(|t| t.origin == Origin::New).count(), 4);
}

/// Packets without any report are given up by the time when they were sent, not by their number.
#[test]
fn the_timer_gives_up_what_is_old() {
    let mut sender = sender(sprayed(), "reno", "oblivious", 100);
    let mut receiver = receiver(sprayed(), 100);
    let window = poll(&mut sender, 0);
    let some: Vec<_> = window[4..8].iter().map(|t| (*t, false)).collect();
    for ack in deliver(&mut receiver, BASE_RTT, &some) {
        sender.handle_answer(BASE_RTT, &ack);
    }
    let more = poll(&mut sender, BASE_RTT);
    assert_eq!(more.len(), 8, "slow start: four ACKed packets make room for eight");
    let deadline = sender.deadline();
    assert_eq!(deadline, 100 * MICROSECOND, "of the packets sent at 0");
    sender.handle_timeout(deadline);
    assert_eq!(sender.in_flight(), 8);
    let counters = sender.counters();
    assert_eq!((counters.timeouts, counters.recoveries), (1, 1));
    let again: Vec<u32> = poll(&mut sender, deadline).iter().map(|t| header(t).number).collect();
    assert_eq!(again, [] as [u32; 0], "seven of the window's packets, eight in flight");
    assert_eq!(sender.deadline(), BASE_RTT + 200 * MICROSECOND, "the timer backs off");
}

/// The fate of a packet on its way.
#[derive(Debug, Clone, Copy)]
enum Journey {
    Arrives(u64),
    Marked(u64),
    Trimmed(u64),
    Dropped,
}

fn fate() -> impl Strategy<Value = Journey> {
    let late = 1..80u64;
    prop_oneof![
        8 => late.clone().prop_map(Journey::Arrives),
        2 => late.clone().prop_map(Journey::Marked),
        2 => late.prop_map(Journey::Trimmed),
        1 => Just(Journey::Dropped),
    ]
}

proptest! {
    /// With any marks, trimming, drops and overtaking, each packet is delivered, and a timer runs while one
    /// is in flight.
    #[test]
    fn every_packet_is_delivered(
        segments in 1..200u32,
        controller in prop::sample::select(vec!["reno", "dctcp", "xmp", "amp"]),
        balancer in prop::sample::select(vec!["oblivious", "bitmap", "reps", "mixed", "mrc", "plb"]),
        fates in prop::collection::vec(fate(), 64),
        lost_acks in prop::collection::vec(0..10u32, 64),
    ) {
        let mut sender = sender(sprayed(), controller, balancer, segments);
        let mut receiver = receiver(sprayed(), segments);
        let (mut now, mut events, mut count, mut acks) = (0, BTreeMap::new(), 0usize, 0usize);
        loop {
            for packet in poll(&mut sender, now) {
                prop_assert!(packet.body.path().is_some_and(|path| path < 16));
                let fate = fates[count % fates.len()];
                count += 1;
                prop_assert!(count < 100_000, "a sender that cannot stop");
                if let Journey::Arrives(late) | Journey::Marked(late) | Journey::Trimmed(late) = fate {
                    events.insert((now + late * MICROSECOND, count), (header(&packet), fate));
                }
            }
            prop_assert!(sender.in_flight() == 0 || sender.deadline() != NEVER);
            prop_assert!(sender.deadline() >= now, "a deadline in the past");
            if receiver.messages().complete() {
                break;
            }
            let next = events.first_key_value().map_or(NEVER, |(key, _)| key.0);
            let timer = sender.deadline().min(receiver.deadline());
            prop_assert!(next.min(timer) < 1000 * SECOND, "nothing will happen any more");
            if timer < next {
                now = timer;
                if receiver.deadline() == timer {
                    let ack = receiver.handle_timeout();
                    ack.iter().for_each(|ack| sender.handle_answer(now, ack));
                } else {
                    sender.handle_timeout(now);
                }
                continue;
            }
            let (key, (packet, fate)) = events.pop_first().expect("it is next");
            now = key.0;
            let answer = match fate {
                Journey::Trimmed(_) => Some(receiver.handle_trimmed(&packet, false)),
                _ => receiver.handle_data(now, &packet, matches!(fate, Journey::Marked(_))),
            };
            if let Some(answer) = answer {
                acks += 1;
                if lost_acks[acks % lost_acks.len()] != 0 {
                    sender.handle_answer(now, &answer);
                }
            }
        }
        prop_assert_eq!(receiver.messages().arrived(), segments);
        prop_assert_eq!(sender.counters().sent, u64::from(segments));
    }
}
