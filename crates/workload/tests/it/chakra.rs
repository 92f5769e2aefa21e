//! Chakra traces: what nodes wait for, which collectives belong together, and errors with names.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tresse_workload::chakra::{Action, Chakra, Groups, Kind, Node};
use tresse_workload::{Collective, Operation, Tasks};

use crate::ideal::{Ideal, Run};

/// A message takes 10 ns plus 1 ns a byte.
const NET: Ideal = Ideal { alpha: 10_000, beta: 1000 };

const NS: u64 = 1000;

fn node(id: u64, action: Action, after: &[u64]) -> Node {
    Node { id, name: format!("n{id}"), action, after: after.to_vec() }
}

fn wait(id: u64, ns: u64, after: &[u64]) -> Node {
    node(id, Action::Wait(ns * NS), after)
}

fn send(id: u64, to: u32, bytes: u64, after: &[u64]) -> Node {
    node(id, Action::Send { to, tag: 3, bytes }, after)
}

fn receive(id: u64, from: u32, bytes: u64, after: &[u64]) -> Node {
    node(id, Action::Receive { from, tag: 3, bytes }, after)
}

fn collective(id: u64, kind: Kind, bytes: u64, group: &str, after: &[u64]) -> Node {
    node(id, Action::Collective { kind, bytes, group: group.to_owned() }, after)
}

fn groups(groups: &[(&str, &[u32])]) -> Groups {
    groups.iter().map(|(name, ranks)| ((*name).to_owned(), ranks.to_vec())).collect()
}

/// A trace of these nodes, with groups for all ranks.
fn read(ranks: Vec<Vec<Node>>, common: Groups) -> Result<Tasks, String> {
    let mut trace = Chakra::new(ranks.len() as u32, common, Operation::RingAllReduce, 1_000_000)
        .map_err(|e| e.to_string())?;
    for nodes in ranks {
        trace.add(nodes, Groups::new()).map_err(|e| e.to_string())?;
    }
    trace.finish().map_err(|e| e.to_string())
}

fn run(ranks: Vec<Vec<Node>>, common: Groups) -> Run {
    NET.run(&mut read(ranks, common).unwrap())
}

#[test]
fn nodes_wait_for_what_they_depend_on() {
    let r = run(
        vec![
            vec![wait(1, 500, &[]), wait(2, 200, &[]), send(7, 1, 100, &[1, 2])],
            // A number that comes later in the file, and a message that arrives before its receive.
            vec![
                wait(5, 1000, &[9]),
                node(9, Action::Nothing, &[]),
                receive(6, 0, 100, &[5]),
                send(8, 2, 0, &[6]),
            ],
            vec![receive(1, 1, 0, &[])],
        ],
        Groups::new(),
    );
    let starts: Vec<_> = r.flows.iter().map(|f| (f.at / NS, f.start.from, f.start.bytes)).collect();
    assert_eq!(starts, [(500, 0, Some(100)), (1000, 1, Some(1))]);
    assert_eq!((r.end / NS, r.jobs.len()), (1011, 1));
}

/// A single collective of everyone, and each rank's contribution for S bytes.
fn alone(kind: Kind, n: u32, bytes: u64) -> Run {
    let ranks = (0..n).map(|_| vec![collective(1, kind, bytes, "", &[])]).collect();
    run(ranks, Groups::new())
}

#[test]
fn a_collective_is_that_of_the_pattern_of_its_name() {
    let kinds = [
        (Kind::AllReduce, Operation::RingAllReduce, 8000),
        (Kind::AllGather, Operation::AllGather, 1000),
        (Kind::ReduceScatter, Operation::ReduceScatter, 8000),
        (Kind::AllToAll, Operation::AllToAll, 8000),
        (Kind::Broadcast, Operation::Broadcast, 8000),
    ];
    for (kind, operation, brings) in kinds {
        let ranks = (0..8).collect();
        let own = Collective {
            operation,
            ranks,
            bytes: 8000,
            chunks: 1,
            parallel: None,
            iterations: 1,
            compute: 0,
        };
        let own = NET.run(&mut own.source().unwrap());
        let as_trace = alone(kind, 8, brings);
        let messages = |r: &Run| -> Vec<_> {
            r.flows.iter().map(|f| (f.at, f.start.from, f.start.to, f.start.bytes)).collect()
        };
        assert_eq!(messages(&as_trace), messages(&own), "{kind:?}");
        assert_eq!(as_trace.end, own.end, "{kind:?}");
    }
    // Up and down a tree of 8: three steps each.
    assert_eq!(alone(Kind::Barrier, 8, 0).end / NS, 6 * 11);
    // Every part has a byte.
    let small = alone(Kind::AllReduce, 8, 4);
    assert_eq!((small.flows.len(), small.end / NS), (2 * 7 * 8, 14 * 11));
    assert_eq!(alone(Kind::AllGather, 1, 4).flows.len(), 0, "nobody else is there");
}

#[test]
fn a_rank_takes_part_when_its_node_begins_and_goes_on_when_it_has_everything() {
    // In a broadcast from 0 to 1 and 2, rank 1 comes late, which does not affect rank 2; all send on to rank
    // 3.
    let rank = |ns, to: Option<u32>| {
        let mut nodes = vec![wait(1, ns, &[]), collective(2, Kind::Broadcast, 90, "tp", &[1])];
        nodes.extend(to.map(|to| send(3, to, 1, &[2])));
        nodes
    };
    let last = vec![receive(1, 1, 1, &[]), receive(2, 2, 1, &[])];
    let r = run(
        vec![rank(0, None), rank(5000, Some(3)), rank(0, Some(3)), last],
        groups(&[("tp", &[0, 1, 2]), ("dp", &[])]),
    );
    let to_last: BTreeMap<u32, u64> =
        r.flows.iter().filter(|f| f.start.to == 3).map(|f| (f.start.from, f.at / NS)).collect();
    assert_eq!(to_last, [(1, 5000), (2, 100)].into());
    // A late root holds up everyone.
    let r = run(vec![rank(5000, None), rank(0, None)], groups(&[("tp", &[0, 1])]));
    assert_eq!((r.flows[0].at / NS, r.end / NS), (5000, 5100));
    // In the order of the group the ring goes 2, 0, 1.
    let nodes = || vec![collective(1, Kind::AllGather, 5, "g", &[])];
    let r = run(vec![nodes(), nodes(), nodes()], groups(&[("g", &[2, 0, 1])]));
    let pairs: BTreeSet<_> = r.flows.iter().map(|f| (f.start.from, f.start.to)).collect();
    assert_eq!(pairs, [(2, 0), (0, 1), (1, 2)].into());
}

#[test]
fn the_nth_collective_of_a_group_is_the_same_on_each_rank() {
    // Two groups over the same ranks keep their own count.
    let kinds = [("a", Kind::AllToAll, 20), ("b", Kind::AllGather, 7), ("a", Kind::Broadcast, 9)];
    let rank = |order: [usize; 3]| -> Vec<Node> {
        let place = |(id, place): (u64, usize)| {
            let (group, kind, bytes) = kinds[place];
            collective(id, kind, bytes, group, &[])
        };
        (1..).zip(order).map(place).collect()
    };
    let both = groups(&[("a", &[0, 1]), ("b", &[0, 1])]);
    let r = run(vec![rank([0, 1, 2]), rank([1, 0, 2])], both.clone());
    let sizes: BTreeSet<_> = r.flows.iter().map(|f| f.start.bytes.unwrap()).collect();
    assert_eq!(sizes, [7, 9, 10].into());
    let error = read(vec![rank([0, 1, 2]), rank([2, 1, 0])], both).unwrap_err();
    assert_eq!(
        error,
        "node 1 (`n1`) of rank 0 is ALL_TO_ALL of 20 bytes, and node 1 (`n1`) of rank 1 is BROADCAST of 9 bytes, \
         both number 1 of their group; the collectives of group `a` are matched by their order in the files"
    );
}

#[test]
fn groups_may_be_the_ranks_own() {
    let mut trace = Chakra::new(4, Groups::new(), Operation::TreeAllReduce, u64::MAX).unwrap();
    for rank in 0..4 {
        // Both pairs call their group "1", and the group of all is in PyTorch's notation.
        let pair = [rank / 2 * 2, rank / 2 * 2 + 1];
        let own = groups(&[("0", &[]), ("1", &pair)]);
        let nodes = vec![
            collective(1, Kind::AllReduce, 100, "1", &[]),
            collective(2, Kind::AllReduce, 10, "0", &[1]),
        ];
        trace.add(nodes, own).unwrap();
    }
    let r = NET.run(&mut trace.finish().unwrap());
    assert_eq!(r.flows.iter().filter(|f| f.start.bytes == Some(100)).count(), 4);
    assert_eq!(r.flows.iter().filter(|f| f.start.bytes == Some(10)).count(), 6);
    // Pairs up and down, then a tree of four.
    assert_eq!(r.end / NS, 2 * 110 + 4 * 20);
}

#[track_caller]
fn refused(ranks: Vec<Vec<Node>>, common: Groups, message: &str) {
    let error = read(ranks, common).unwrap_err();
    assert!(error.contains(message), "{error}");
}

#[test]
fn what_would_never_end_is_refused_with_names() {
    let none = Groups::new;
    refused(
        vec![vec![send(4, 1, 5, &[])], vec![]],
        none(),
        "node 4 (`n4`) of rank 0: no receive matches this send from rank 0 to rank 1 with tag 3",
    );
    refused(
        vec![vec![send(4, 1, 5, &[])], vec![receive(8, 0, 6, &[])]],
        none(),
        "node 8 (`n8`) of rank 1: this receive has 6 bytes; its send in node 4 (`n4`) of rank 0 has 5",
    );
    refused(
        vec![vec![send(4, 2, 5, &[])], vec![]],
        none(),
        "node 4 (`n4`) of rank 0: there is no rank 2: the trace has 2",
    );
    refused(vec![vec![send(4, 0, 5, &[])]], none(), "rank 0 and itself");
    refused(vec![vec![wait(4, 5, &[7])]], none(), "node 4 (`n4`) of rank 0: it depends on node 7, which");
    refused(vec![vec![wait(4, 5, &[]), wait(4, 6, &[])]], none(), "the file has two nodes with this number");
    refused(
        vec![vec![], vec![wait(1, 5, &[3]), wait(2, 5, &[1]), wait(3, 5, &[2])]],
        none(),
        "waits for itself, through node ",
    );
    refused(vec![vec![wait(1, 5, &[1])]], none(), "node 1 (`n1`) of rank 0: it waits for itself");
    let all = |id, after: &[u64]| collective(id, Kind::AllReduce, 8, "", after);
    refused(
        vec![vec![all(1, &[]), all(2, &[])], vec![all(5, &[])]],
        none(),
        "node 2 (`n2`) of rank 0 is ALL_REDUCE of 8 bytes, number 2 of its group, but rank 1 has only 1; the \
         collectives of group `0` are matched",
    );
    refused(vec![vec![all(1, &[])], vec![]], none(), "number 1 of its group, but rank 1 has only 0");
    refused(
        vec![
            vec![collective(1, Kind::Broadcast, 1_000_001, "", &[])],
            vec![collective(1, Kind::Broadcast, 1_000_001, "", &[])],
        ],
        none(),
        "node 1 (`n1`) of rank 0: a message of 1000001B is too large",
    );
    let huge = || vec![collective(1, Kind::AllGather, u64::MAX, "", &[])];
    refused(vec![huge(), huge()], none(), "is too large");
    // Rank 0 sends after the collective, to rank 1, which takes part when this has arrived.
    let error =
        read(vec![vec![all(1, &[]), send(2, 1, 5, &[1])], vec![receive(3, 0, 5, &[]), all(4, &[3])]], none())
            .unwrap_err();
    for name in ["node 1 (`n1`) of rank 0", "node 2 (`n2`) of rank 0", "node 3 (`n3`) of rank 1", "`n4`"] {
        assert!(error.contains(name) && error.contains("it waits for itself"), "{error}");
    }
}

#[test]
fn groups_that_cannot_be_are_refused() {
    let call = |group: &str| vec![collective(1, Kind::AllReduce, 8, group, &[])];
    refused(
        vec![call("x"), vec![]],
        groups(&[("a", &[0])]),
        "there is no group `x`: groups are defined in comm_group.json",
    );
    refused(vec![call("x"), vec![]], groups(&[("x", &[1])]), "rank 0 is not in its group `x`");
    refused(vec![vec![]], groups(&[("x", &[0, 1])]), "group `x` has rank 1, but the trace has 1, from 0");
    refused(vec![vec![]], groups(&[("x", &[0, 0])]), "group `x` has rank 0 twice");
    let mut trace = Chakra::new(1, Groups::new(), Operation::RingAllReduce, 1).unwrap();
    let error = trace.add(vec![], groups(&[("x", &[7])])).unwrap_err();
    assert_eq!(error.to_string(), "rank 0: group `x` has rank 7, but the trace has 1, from 0");
    // Rejected before they are drawn.
    let many = || (0..101).map(|id| collective(id, Kind::AllToAll, 8, "", &[])).collect();
    refused(
        (0..1000).map(|_| many()).collect(),
        Groups::new(),
        "its 101 collectives have 100899000 messages",
    );
}

proptest! {
    /// With any dependencies, it ends or is rejected.
    #[test]
    fn a_random_trace_ends_or_is_refused(
        draws in prop::collection::vec((0u8..4, 0usize..3, 0u32..3, 1u64..50, prop::collection::vec(0u64..30, 0..3)), 1..30),
    ) {
        let mut ranks = vec![Vec::new(); 3];
        for (id, (what, rank, peer, bytes, after)) in (0..).zip(draws) {
            match what {
                0 => ranks[rank].push(wait(id, bytes, &after)),
                1 => for (rank, nodes) in (0u64..).zip(&mut ranks) {
                    nodes.push(collective(100 * (rank + 1) + id, Kind::AllReduce, bytes, "", &[]));
                },
                2 => {
                    ranks[rank].push(send(id, peer, bytes, &after));
                    ranks[peer as usize].push(receive(500 + id, rank as u32, bytes, &[]));
                }
                _ => ranks[rank].push(wait(id, bytes, &[])),
            }
        }
        if let Ok(mut tasks) = read(ranks, Groups::new()) {
            NET.run(&mut tasks);
        }
    }
}
