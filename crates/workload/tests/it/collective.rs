//! Collectives: the textbook's bytes, steps and times, and that everyone ends with the promised data.

use std::collections::{BTreeMap, BTreeSet};

use Operation::{AllGather, AllToAll, Broadcast, ReduceScatter, RingAllReduce, TreeAllReduce};
use proptest::prelude::*;
use tresse_workload::{Collective, CollectiveError, GraphError, Operation, Start, shuffled, strided};

use crate::ideal::{Ideal, Run};

fn collective(operation: Operation, n: u32, bytes: u64) -> Collective {
    let ranks = (0..n).collect();
    Collective { operation, ranks, bytes, chunks: 1, parallel: None, iterations: 1, compute: 0 }
}

fn run(c: &Collective, net: Ideal) -> Run {
    net.run(&mut c.source().unwrap())
}

/// The bytes that each rank sends, by host.
fn sent(run: &Run) -> BTreeMap<u32, u64> {
    let mut sent = BTreeMap::new();
    for flow in &run.flows {
        *sent.entry(flow.start.from).or_default() += flow.start.bytes.unwrap();
    }
    sent
}

const NET: Ideal = Ideal { alpha: 1000, beta: 8 };

#[test]
fn ranks_of_a_ring_send_the_textbooks_bytes_in_the_textbooks_time() {
    for n in [2, 3, 8, 13] {
        // n divides it, so that all parts are equal.
        let bytes = 1000 * u64::from(n);
        let step = NET.alpha + 1000 * NET.beta;
        for (operation, steps) in [(RingAllReduce, 2), (AllGather, 1), (ReduceScatter, 1)] {
            let steps = steps * (u64::from(n) - 1);
            let r = run(&collective(operation, n, bytes), NET);
            assert_eq!(r.end, steps * step, "{operation:?} of {n}: T = steps (alpha + S/n/beta)");
            assert_eq!(sent(&r), (0..n).map(|rank| (rank, steps * 1000)).collect(), "{operation:?}");
            assert!(r.flows.iter().all(|f| f.start.to == (f.start.from + 1) % n));
            assert_eq!(r.flows.len() as u128, collective(operation, n, bytes).messages());
        }
    }
}

#[test]
fn chunks_of_a_ring_travel_side_by_side() {
    let c = Collective { chunks: 4, ..collective(RingAllReduce, 8, 8000) };
    let r = run(&c, NET);
    assert_eq!(r.most, 4);
    assert_eq!(r.end, 14 * (NET.alpha + 250 * NET.beta));
    assert_eq!(sent(&r).values().copied().collect::<BTreeSet<_>>(), [2 * 7 * 1000].into());
}

#[test]
fn a_tree_takes_its_depth_and_one_step_more_for_each_further_chunk() {
    for (n, depth) in [(2, 1), (3, 1), (4, 2), (7, 2), (8, 3), (100, 6)] {
        for chunks in [1, 5] {
            let step = NET.alpha + 10_000 / chunks * NET.beta;
            let with = |operation| Collective { chunks: chunks as u32, ..collective(operation, n, 10_000) };
            let down = run(&with(Broadcast), NET);
            assert_eq!(down.end, (depth + chunks - 1) * step, "broadcast to {n} in {chunks} chunks");
            let both = run(&with(TreeAllReduce), NET);
            assert_eq!(both.end, (2 * depth + chunks - 1) * step, "all-reduce of {n} in {chunks} chunks");
            let total: u64 = sent(&both).values().sum();
            assert_eq!(total, 2 * (u64::from(n) - 1) * 10_000);
        }
    }
}

#[test]
fn an_all_to_all_sends_each_part_once_and_no_more_at_a_time_than_it_may() {
    for parallel in [None, Some(1), Some(3), Some(100)] {
        let r = run(&Collective { parallel, ..collective(AllToAll, 9, 9000) }, NET);
        let pairs: BTreeSet<_> = r.flows.iter().map(|f| (f.start.from, f.start.to)).collect();
        assert_eq!((pairs.len(), r.flows.len()), (72, 72));
        assert!(sent(&r).values().all(|&bytes| bytes == 8000));
        let most = parallel.map_or(8, |p| p.min(8));
        assert_eq!(r.most, most as usize);
        // 8 messages in lanes; the longest lane decides the number of steps.
        assert_eq!(r.end, u64::from(8u32.div_ceil(most)) * (NET.alpha + 1000 * NET.beta));
    }
    // In the first rotation everyone sends to the next.
    let r = run(&collective(AllToAll, 9, 9000), NET);
    assert!(r.flows[..9].iter().all(|f| f.start.to == (f.start.from + 1) % 9));
}

#[test]
fn an_iteration_is_a_job_and_ranks_compute_between_two() {
    let c = Collective { iterations: 3, compute: 5000, ..collective(RingAllReduce, 4, 4000) };
    let took = 6 * (NET.alpha + 1000 * NET.beta);
    let r = run(&c, NET);
    let jobs: Vec<_> = r.jobs.iter().map(|j| (j.number, j.start, j.end - j.start, j.flows)).collect();
    let at = |i: u64| i * (took + 5000);
    assert_eq!(jobs, [(0, at(0), took, 24), (1, at(1), took, 24), (2, at(2), took, 24)]);
    assert!(r.flows.iter().all(|f| f.start.job == Some(f.start.round)));
    assert_eq!(c.messages() * 3, 72);
}

#[test]
fn ranks_may_be_any_hosts_in_any_order() {
    assert_eq!(strided(8, 4), [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!(strided(7, 3), [0, 3, 6, 1, 4, 2, 5]);
    assert_eq!(strided(3, 10), [0, 1, 2]);
    let mixed = shuffled((0..50).collect(), 1);
    assert_ne!(mixed, shuffled((0..50).collect(), 2));
    assert_eq!(mixed, shuffled((0..50).collect(), 1));
    assert_eq!(mixed.iter().copied().collect::<BTreeSet<_>>(), (0..50).collect());
    let c = Collective { ranks: vec![7, 2, 5], ..collective(RingAllReduce, 0, 30) };
    let r = run(&c, NET);
    let pairs: Vec<_> = r.flows[..3].iter().map(|f| (f.start.from, f.start.to)).collect();
    assert_eq!(pairs, [(7, 2), (2, 5), (5, 7)]);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |c: Collective| c.source().unwrap_err();
    let ring = |n, bytes| collective(RingAllReduce, n, bytes);
    assert_eq!(refused(ring(1, 100)), CollectiveError::Alone);
    assert_eq!(refused(Collective { ranks: vec![3, 1, 3], ..ring(0, 9) }), CollectiveError::Twice(3));
    assert_eq!(refused(Collective { chunks: 0, ..ring(2, 9) }), CollectiveError::NoChunks);
    assert_eq!(refused(Collective { parallel: Some(0), ..ring(2, 9) }), CollectiveError::NoParallel);
    let parallel = Collective { parallel: Some(2), ..ring(2, 9) };
    assert_eq!(refused(parallel), CollectiveError::Parallel("ring-all-reduce"));
    let chunks = Collective { chunks: 2, ..collective(AllToAll, 4, 400) };
    assert_eq!(refused(chunks), CollectiveError::Chunks);
    let small = Collective { chunks: 3, ..ring(4, 11) };
    assert_eq!(refused(small), CollectiveError::TooSmall { bytes: 11, parts: 12 });
    assert!(Collective { chunks: 3, ..ring(4, 12) }.source().is_ok());
    // At once, not after it has filled the memory.
    let huge = Collective { chunks: 1000, ..ring(10_000, 1 << 50) };
    assert!(matches!(refused(huge), CollectiveError::Graph(GraphError::TooManyFlows(_))));
    let never = Collective { iterations: 0, ..ring(2, 9) };
    assert_eq!(refused(never), CollectiveError::Graph(GraphError::NoIterations));
}

/// Runs a collective; `carries` selects the parts in a message, among those that its sender holds when it
/// starts, and the receiver adds them to its own. A part is (block, chunk), and its value is the set of
/// contributors.
fn data_flow(
    c: &Collective,
    net: Ideal,
    mut held: Vec<BTreeMap<(u64, u64), BTreeSet<u32>>>,
    carries: impl Fn(&Start) -> (u64, u64),
) -> Vec<BTreeMap<(u64, u64), BTreeSet<u32>>> {
    let underway = std::cell::RefCell::new(BTreeMap::new());
    let cell = std::cell::RefCell::new(&mut held);
    net.run_with(
        &mut c.source().unwrap(),
        |start| {
            let part = carries(start);
            let cargo = cell.borrow()[start.from as usize].get(&part).cloned().unwrap_or_default();
            underway.borrow_mut().insert(start.name, (part, cargo));
        },
        |start| {
            let (part, cargo) = underway.borrow_mut().remove(&start.name).unwrap();
            cell.borrow_mut()[start.to as usize].entry(part).or_default().extend(cargo);
        },
    );
    held
}

fn everything(n: u32, blocks: u64, chunks: u64) -> BTreeMap<(u64, u64), BTreeSet<u32>> {
    (0..blocks).flat_map(|b| (0..chunks).map(move |k| ((b, k), (0..n).collect()))).collect()
}

proptest! {
    #[test]
    fn after_an_all_reduce_everyone_has_everyones(n in 2u32..12, chunks in 1u32..4, alpha in 0u64..50, beta in 1u64..3) {
        let net = Ideal { alpha, beta };
        let (wide, k) = (u64::from(n), u64::from(chunks));
        // Parts have different sizes, so that ranks are not in step.
        let bytes = wide * k + 7;
        let own = |blocks: u64| (0..n).map(|r| {
            (0..blocks).flat_map(|b| (0..k).map(move |c| ((b, c), BTreeSet::from([r])))).collect()
        }).collect::<Vec<BTreeMap<_, _>>>();

        let ring = Collective { chunks, ..collective(RingAllReduce, n, bytes) };
        let block = |s: &Start| {
            let (step, rank, chunk) = (s.name / k / wide, s.name / k % wide, s.name % k);
            ((rank + 2 * wide - step) % wide, chunk)
        };
        for held in data_flow(&ring, net, own(wide), block) {
            prop_assert_eq!(held, everything(n, wide, k));
        }

        let scatter = Collective { operation: ReduceScatter, ..ring.clone() };
        for (rank, held) in data_flow(&scatter, net, own(wide), block).iter().enumerate() {
            // Rank r ends with block r + 1.
            for chunk in 0..k {
                prop_assert_eq!(held[&((rank as u64 + 1) % wide, chunk)].len(), n as usize);
            }
        }

        let gather = Collective { operation: AllGather, ..ring.clone() };
        let parts = (0..n).map(|r| (0..k).map(|c| ((u64::from(r), c), BTreeSet::from([r]))).collect());
        for held in data_flow(&gather, net, parts.collect(), block) {
            let all = (0..n).flat_map(|r| (0..k).map(move |c| ((u64::from(r), c), BTreeSet::from([r]))));
            prop_assert_eq!(held, all.collect::<BTreeMap<_, _>>());
        }

        let tree = Collective { operation: TreeAllReduce, ..ring.clone() };
        let piece = |s: &Start| (0, s.name / (wide - 1) % k);
        for held in data_flow(&tree, net, own(1), piece) {
            prop_assert_eq!(held, everything(n, 1, k));
        }

        let broadcast = Collective { operation: Broadcast, ..ring };
        let mut root = vec![BTreeMap::new(); n as usize];
        root[0] = (0..k).map(|c| ((0, c), BTreeSet::from([0]))).collect();
        for held in data_flow(&broadcast, net, root.clone(), piece) {
            prop_assert_eq!(&held, &root[0]);
        }
    }
}
