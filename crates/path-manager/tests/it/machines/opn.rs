//! MPTCP_OPN, case by case. RTTs are 100 us, so timer_1 has a period of 200 us unless a case says otherwise.

use std::collections::BTreeSet;

use tresse_path_manager::{
    Action, ConfiguredManager, LossRate, Memories, Memory, PathChoice, Priority, Sent,
};
use tresse_units::{NEVER, Time, Value};

use super::common::{Host, US, ack, data, opening, scheme};

/// A stream with which two or three paths are taken in their order, so that subflow i is on path i.
const IN_ORDER: u64 = 11;

fn opn(settings: &[(&str, Value)]) -> ConfiguredManager {
    scheme("opn", settings)
}

fn fixed_timer() -> [(&'static str, Value); 1] {
    [("timer_1", Value::Choice("fixed".to_owned()))]
}

fn ports(host: &Host) -> Vec<u16> {
    let port = |path| match path {
        PathChoice::Port(port) => port,
        path => panic!("{path:?} is not a path of OPN's"),
    };
    host.subflows.iter().map(|s| port(s.path)).collect()
}

/// A memory in which `lost` of 100 packets were lost in the first period, and the time after it.
fn memory_with_loss(scheme: &ConfiguredManager, lost: u64) -> (Memory, Time) {
    let mut memory = Memory::default();
    let mut host = Host::connected(scheme, &opening(0, 20, 1), &mut memory);
    host.send(1, &mut memory, Sent { retransmissions: lost, ..data(0, 100) });
    (memory, 10_000 * US)
}

#[test]
fn the_first_flow_takes_all_paths_and_never_more_than_32() {
    for (paths, expected) in [(1, 1), (20, 20), (32, 32), (40, 32)] {
        let host = Host::connected(&opn(&[]), &opening(0, paths, 9), &mut Memory::default());
        let ports: BTreeSet<_> = ports(&host).into_iter().collect();
        assert_eq!((host.subflows.len(), ports.len()), (expected, expected), "{paths} paths");
    }
}

#[test]
fn the_loss_rate_of_a_period_decides_for_the_flows_that_follow() {
    let scheme = opn(&[]);
    // Eq. (11): 16 subflows at a loss rate of 0.35, 4 at 0.5, 32 at 0.1.
    for (lost, expected) in [(35, 16), (50, 4), (10, 20)] {
        let (mut memory, after) = memory_with_loss(&scheme, lost);
        let early = Host::connected(&scheme, &opening(after - 1, 20, 5), &mut memory.clone());
        assert_eq!(early.subflows.len(), 20, "the period has not ended");
        let host = Host::connected(&scheme, &opening(after, 20, 5), &mut memory);
        assert_eq!(memory.loss(), Some(LossRate::new(lost, 100)));
        assert_eq!(host.subflows.len(), expected, "{lost} %");
    }
}

#[test]
fn a_period_without_packets_keeps_the_loss_rate() {
    let scheme = opn(&[]);
    let (mut memory, after) = memory_with_loss(&scheme, 50);
    Host::new(&scheme, &opening(after, 20, 1), &mut memory);
    Host::new(&scheme, &opening(7 * after, 20, 1), &mut memory);
    assert_eq!(memory.loss(), Some(LossRate::new(50, 100)));
}

#[test]
fn which_paths_follows_from_the_stream() {
    let scheme = opn(&[]);
    let (memory, after) = memory_with_loss(&scheme, 50);
    let choice = |stream| ports(&Host::connected(&scheme, &opening(after, 20, stream), &mut memory.clone()));
    assert_eq!(choice(3), choice(3));
    let choices: BTreeSet<_> = (0..100).map(choice).collect();
    assert!(choices.len() > 90, "4 of 20 paths in 116,280 orders: {}", choices.len());
}

#[test]
fn a_connection_begins_on_any_path() {
    let first = |stream| ports(&Host::new(&opn(&[]), &opening(0, 20, stream), &mut Memory::default()))[0];
    let firsts: BTreeSet<_> = (0..200).map(first).collect();
    assert_eq!(firsts.len(), 20, "{firsts:?}");
    let in_order =
        |paths| ports(&Host::connected(&opn(&[]), &opening(0, paths, IN_ORDER), &mut Memory::default()));
    assert_eq!((in_order(2), in_order(3)), (vec![0, 1], vec![0, 1, 2]));
}

#[test]
fn memories_are_kept_apart_by_name() {
    let mut memories = Memories::new();
    let (there, back) = (memories.id(("a", "b")), memories.id(("b", "a")));
    assert_ne!(there, back);
    assert_eq!(memories.id(("a", "b")), there);
    let scheme = opn(&[]);
    let mut host = Host::connected(&scheme, &opening(0, 20, 1), &mut memories[there]);
    host.send(1, &mut memories[there], Sent { retransmissions: 50, ..data(0, 100) });
    let after = 10_000 * US;
    let subflows =
        |memory: &mut Memory| Host::connected(&scheme, &opening(after, 20, 1), memory).subflows.len();
    assert_eq!((subflows(&mut memories[there]), subflows(&mut memories[back])), (4, 20));
}

#[test]
fn a_silent_path_turns_slow_and_its_data_goes_elsewhere() {
    let mut memory = Memory::default();
    let mut host = Host::connected(&opn(&fixed_timer()), &opening(0, 3, IN_ORDER), &mut memory);
    assert_eq!(host.deadline(), NEVER, "nothing is in flight");
    for subflow in 0..3 {
        host.send(10 * US, &mut memory, data(subflow, 5));
    }
    assert_eq!(host.deadline(), 210 * US);
    host.ack(110 * US, &mut memory, ack(0, 4, 100));
    host.ack(110 * US, &mut memory, ack(2, 0, 100));
    let actions: Vec<_> = host.timeout(210 * US, &mut memory).iter().map(|&(_, action)| action).collect();
    let slow = Action::SetPriority { subflow: 1, priority: Priority::Slow };
    assert_eq!(actions, [slow, Action::Reinject { subflow: 1 }]);
    assert!(memory.is_slow(1) && !memory.is_slow(0) && !memory.is_slow(2));
    // timer_2 ends it: 200 ms after the first connection.
    host.ack(220 * US, &mut memory, ack(0, 0, 100));
    assert_eq!(host.deadline(), 200_000 * US);
    let actions: Vec<_> = host.timeout(200_000 * US, &mut memory).iter().map(|&(_, action)| action).collect();
    assert_eq!(actions, [Action::SetPriority { subflow: 1, priority: Priority::Normal }]);
    assert!(!memory.is_slow(1));
}

#[test]
fn a_path_without_data_in_flight_stays_fast() {
    let mut memory = Memory::default();
    let mut host = Host::connected(&opn(&fixed_timer()), &opening(0, 2, IN_ORDER), &mut memory);
    host.send(0, &mut memory, data(0, 1));
    assert!(
        host.timeout(200 * US, &mut memory)
            .iter()
            .all(|(_, a)| !matches!(a, Action::SetPriority { subflow: 1, .. }))
    );
    assert!(memory.is_slow(0) && !memory.is_slow(1));
}

#[test]
fn data_that_was_sent_during_the_period_says_nothing_yet() {
    let mut memory = Memory::default();
    let mut host = Host::connected(&opn(&fixed_timer()), &opening(0, 2, IN_ORDER), &mut memory);
    host.send(0, &mut memory, data(0, 9));
    host.ack(100 * US, &mut memory, ack(0, 8, 100));
    host.send(150 * US, &mut memory, data(1, 1));
    assert!(host.timeout(200 * US, &mut memory).is_empty(), "50 us after it was sent");
    host.ack(300 * US, &mut memory, ack(0, 7, 100));
    host.timeout(400 * US, &mut memory);
    assert!(memory.is_slow(1) && !memory.is_slow(0));
}

#[test]
fn if_all_are_slow_all_are_used() {
    let mut memory = Memory::default();
    let mut host = Host::connected(&opn(&fixed_timer()), &opening(0, 2, IN_ORDER), &mut memory);
    host.send(0, &mut memory, data(0, 1));
    host.timeout(200 * US, &mut memory);
    assert_eq!(host.normal(), [1]);
    host.send(300 * US, &mut memory, data(1, 1));
    let actions: Vec<_> = host.timeout(500 * US, &mut memory).iter().map(|&(_, action)| action).collect();
    assert_eq!(actions, [Action::SetPriority { subflow: 0, priority: Priority::Normal }]);
    assert!(memory.is_slow(0) && memory.is_slow(1));
    // A new flow finds no FAST path either.
    let next = Host::connected(&opn(&fixed_timer()), &opening(501 * US, 2, IN_ORDER), &mut memory);
    assert_eq!(next.normal(), [0, 1]);
}

#[test]
fn the_last_fast_subflow_leaves_the_slow_ones_to_be_used() {
    let mut memory = Memory::default();
    let mut host = Host::connected(&opn(&fixed_timer()), &opening(0, 2, IN_ORDER), &mut memory);
    host.send(0, &mut memory, data(0, 1));
    host.timeout(200 * US, &mut memory);
    host.gone(201 * US, &mut memory, 1);
    assert_eq!(host.normal(), [0]);
}

#[test]
fn twice_the_mean_srtt_is_the_period() {
    let mut memory = Memory::default();
    let mut host = Host::connected(&opn(&[]), &opening(0, 2, IN_ORDER), &mut memory);
    host.send(0, &mut memory, data(0, 2));
    host.send(0, &mut memory, data(1, 2));
    assert_eq!(host.deadline(), NEVER, "no sample yet");
    host.ack(100 * US, &mut memory, ack(0, 1, 100));
    assert_eq!(host.deadline(), 300 * US);
    host.ack(150 * US, &mut memory, ack(1, 1, 300));
    assert_eq!(host.deadline(), 300 * US, "a period that runs is not changed");
    host.timeout(300 * US, &mut memory);
    assert_eq!(host.deadline(), (300 + 400) * US);
}

#[test]
fn a_verdict_holds_for_the_other_connections() {
    let mut memory = Memory::default();
    let scheme = opn(&fixed_timer());
    let mut one = Host::connected(&scheme, &opening(0, 2, IN_ORDER), &mut memory);
    let mut other = Host::connected(&scheme, &opening(0, 2, IN_ORDER), &mut memory);
    one.send(0, &mut memory, data(0, 1));
    one.timeout(200 * US, &mut memory);
    other.send(201 * US, &mut memory, data(1, 1));
    assert_eq!(other.normal(), [1]);
    // It stays off the paths of new flows until timer_2 expires.
    let next = Host::connected(&scheme, &opening(202 * US, 2, IN_ORDER), &mut memory);
    assert_eq!(ports(&next), [1]);
    let later = Host::connected(&scheme, &opening(200_000 * US, 2, IN_ORDER), &mut memory);
    assert_eq!(ports(&later), [0, 1]);
}

#[test]
fn each_module_works_alone() {
    let mut memory = Memory::default();
    let shifting = scheme("opn-shifting", &fixed_timer());
    let mut host = Host::connected(&shifting, &opening(0, 3, IN_ORDER), &mut memory);
    host.send(0, &mut memory, Sent { retransmissions: 50, ..data(0, 100) });
    host.timeout(200 * US, &mut memory);
    assert!(memory.is_slow(0));
    let next = Host::connected(&shifting, &opening(10_000 * US, 3, IN_ORDER), &mut memory);
    assert_eq!((memory.loss(), ports(&next)), (None, vec![1, 2]));

    let mut memory = Memory::default();
    let tuning = scheme("opn-tuning", &[("nstar", Value::Choice("product".to_owned()))]);
    let mut host = Host::connected(&tuning, &opening(0, 20, 1), &mut memory);
    host.send(0, &mut memory, Sent { retransmissions: 1, ..data(0, 100) });
    host.ack(100 * US, &mut memory, ack(0, 1, 100));
    assert_eq!(host.deadline(), NEVER);
    let next = Host::connected(&tuning, &opening(10_000 * US, 20, 1), &mut memory);
    assert_eq!(next.subflows.len(), 9);
}
