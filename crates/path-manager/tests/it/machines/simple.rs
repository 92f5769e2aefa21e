//! Fixed numbers of subflows, and MMPTCP, action by action.

use super::common::{Host, ack, data, opening, scheme};
use tresse_path_manager::{Action, Memory, Opening, PathChoice, Priority};
use tresse_units::{NEVER, Value};

fn paths(host: &Host) -> Vec<PathChoice> {
    host.subflows.iter().map(|s| s.path).collect()
}

#[test]
fn joins_wait_for_the_first_handshake() {
    let mut memory = Memory::default();
    let fixed = scheme("fixed", &[("subflows", Value::Whole(3)), ("by", Value::Choice("port".to_owned()))]);
    let mut host = Host::new(&fixed, &opening(0, 1, 0), &mut memory);
    assert_eq!(paths(&host), [PathChoice::Port(0)]);
    host.establish(5, &mut memory, 0);
    assert_eq!(paths(&host), [PathChoice::Port(0), PathChoice::Port(1), PathChoice::Port(2)]);
    assert!(host.establish(6, &mut memory, 0).is_empty(), "once");
    assert_eq!(host.deadline(), NEVER);
}

#[test]
fn by_address_there_are_as_many_subflows_as_address_pairs() {
    let mut memory = Memory::default();
    let memories = |host: &Host| -> Vec<_> {
        let ends = |path| match path {
            PathChoice::Addresses { local, remote } => (local, remote),
            path => panic!("{path:?} has no addresses"),
        };
        paths(host).into_iter().map(ends).collect()
    };
    let fixed = scheme("fixed", &[("subflows", Value::Whole(8))]);
    let two_by_two = Host::connected(&fixed, &opening(0, 1, 0), &mut memory);
    assert_eq!(memories(&two_by_two), [(0, 0), (1, 1), (0, 1), (1, 0)]);
    let two_by_four = Opening { locals: 2, remotes: 4, ..opening(0, 1, 0) };
    let host = Host::connected(&fixed, &two_by_four, &mut memory);
    assert_eq!(memories(&host), [(0, 0), (1, 1), (0, 2), (1, 3), (0, 1), (1, 2), (0, 3), (1, 0)]);
}

#[test]
fn mmptcp_sprays_opens_at_the_threshold_and_drains_the_sprayed_subflow() {
    let mut memory = Memory::default();
    let mmptcp = scheme("mmptcp", &[("threshold", Value::Whole(2920)), ("subflows", Value::Whole(2))]);
    let mut host = Host::connected(&mmptcp, &opening(0, 1, 0), &mut memory);
    assert_eq!(paths(&host), [PathChoice::Spray]);
    assert!(host.send(1, &mut memory, data(0, 2)).is_empty(), "the threshold itself is not above it");
    let retransmission = tresse_path_manager::Sent { new_bytes: 0, retransmissions: 1, ..data(0, 1) };
    assert!(host.send(2, &mut memory, retransmission).is_empty(), "no new data");
    let opened: Vec<_> = host.send(3, &mut memory, data(0, 1)).iter().map(|&(_, action)| action).collect();
    let expected = |subflow, port| Action::Open { subflow, path: PathChoice::Port(port) };
    assert_eq!(opened, [expected(1, 0), expected(2, 1)]);
    assert_eq!(host.normal(), [0], "until another one stands");
    host.establish(4, &mut memory, 2);
    assert_eq!(host.normal(), [2]);
    assert_eq!(host.subflows[0].priority, Priority::Backup);
    host.ack(5, &mut memory, ack(0, 1, 100));
    assert!(!host.subflows[0].closed, "a packet is in flight");
    let last = host.ack(6, &mut memory, ack(0, 0, 100)).to_vec();
    assert_eq!(last, [(6, Action::Close { subflow: 0 })]);
}

#[test]
fn mmptcp_sprays_again_if_it_has_nothing_else() {
    let mut memory = Memory::default();
    let mmptcp = scheme("mmptcp", &[("threshold", Value::Whole(0)), ("subflows", Value::Whole(1))]);
    let mut host = Host::connected(&mmptcp, &opening(0, 1, 0), &mut memory);
    host.send(1, &mut memory, data(0, 1));
    host.establish(2, &mut memory, 1);
    assert_eq!(host.normal(), [1]);
    host.gone(3, &mut memory, 1);
    assert_eq!(host.normal(), [0]);
}
