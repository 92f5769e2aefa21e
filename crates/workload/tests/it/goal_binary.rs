//! GOAL's binary form: it agrees with the text, and damage is reported with its rank and operation.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::sample::Index;
use tresse_workload::Goal;

use crate::ideal::Ideal;

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Send,
    Recv,
    Calc,
}

/// An operation of a rank, and the earlier ones that it requires, or whose beginning it requires.
#[derive(Debug, Clone)]
struct Op {
    kind: Kind,
    peer: u32,
    size: u64,
    tag: u32,
    requires: Vec<(u32, bool)>,
}

/// The operations of each rank.
type Ranks = Vec<Vec<Op>>;

/// As `schedgen` writes it.
fn text(ranks: &Ranks) -> String {
    let mut text = format!("num_ranks {}\n", ranks.len());
    for (rank, ops) in ranks.iter().enumerate() {
        writeln!(text, "rank {rank} {{").unwrap();
        for (i, Op { kind, peer, size, tag, .. }) in ops.iter().enumerate() {
            match kind {
                Kind::Send => writeln!(text, "l{i}: send {size}b to {peer} tag {tag} cpu 1").unwrap(),
                Kind::Recv => writeln!(text, "l{i}: recv {size}b from {peer} tag {tag} cpu 1").unwrap(),
                Kind::Calc => writeln!(text, "l{i}: calc {size} cpu 1").unwrap(),
            }
        }
        for (i, op) in ops.iter().enumerate() {
            for (other, begun) in &op.requires {
                let word = if *begun { "irequires" } else { "requires" };
                writeln!(text, "l{i} {word} l{other}").unwrap();
            }
        }
        writeln!(text, "}}").unwrap();
    }
    text
}

/// As LogGOPSim's `Graph::serialize_mmap` writes it.
fn binary(ranks: &Ranks) -> Vec<u8> {
    let mut blocks = Vec::new();
    let mut table = Vec::new();
    let first = 6 + 16 * ranks.len();
    for ops in ranks {
        table.extend(((first + blocks.len()) as u64).to_le_bytes());
        let roots: Vec<u32> =
            (0..).zip(ops).filter(|(_, op)| op.requires.is_empty()).map(|(i, _)| i).collect();
        for number in [ops.len() as u32, roots.len() as u32].into_iter().chain(roots) {
            blocks.extend(number.to_le_bytes());
        }
        let mut appendix: Vec<u32> = Vec::new();
        for (i, op) in (0u32..).zip(ops) {
            blocks.extend((op.requires.len() as u32).to_le_bytes());
            blocks.push(1 + op.kind as u8);
            blocks.extend(op.peer.to_le_bytes());
            blocks.extend(op.size.to_le_bytes());
            blocks.extend(op.tag.to_le_bytes());
            blocks.extend([1, 0]);
            for begun in [false, true] {
                let begin = appendix.len() as u32;
                for (task, op) in (0..).zip(ops) {
                    appendix.extend(op.requires.iter().filter(|r| **r == (i, begun)).map(|_| task));
                }
                blocks.extend((appendix.len() as u32 - begin).to_le_bytes());
                blocks.extend(begin.to_le_bytes());
            }
        }
        blocks.extend(appendix.iter().flat_map(|number| number.to_le_bytes()));
        table.extend(((first + blocks.len()) as u64).to_le_bytes());
    }
    let mut file = 4223u64.to_le_bytes().to_vec();
    file.extend((ranks.len() as u32).to_le_bytes());
    file.extend([2, 1]);
    file.extend(table);
    file.extend(blocks);
    file
}

fn op(kind: Kind, peer: u32, size: u64, requires: &[(u32, bool)]) -> Op {
    Op { kind, peer, size, tag: 7, requires: requires.to_vec() }
}

/// Rank 0 computes and sends, rank 1 sends on to rank 2 when that has begun to arrive.
fn three() -> Ranks {
    vec![
        vec![op(Kind::Calc, 0, 500, &[]), op(Kind::Send, 1, 100, &[(0, false)])],
        vec![
            op(Kind::Recv, 0, 100, &[]),
            op(Kind::Send, 2, 0, &[(0, false), (2, true)]),
            op(Kind::Calc, 0, 9, &[]),
        ],
        vec![op(Kind::Recv, 1, 0, &[])],
    ]
}

#[test]
fn the_binary_form_says_what_the_text_says() {
    let (text, binary) = (text(&three()), binary(&three()));
    assert!(Goal::is_binary(&binary) && !Goal::is_binary(text.as_bytes()) && !Goal::is_binary(b""));
    let mut goal = Goal::read_binary(&binary, u64::MAX).unwrap();
    assert_eq!(goal.ranks, 3);
    let text = Goal::read(&text, u64::MAX).unwrap().tasks;
    assert_eq!(format!("{:?}", goal.tasks), format!("{text:?}"));
    let run = Ideal { alpha: 10_000, beta: 1000 }.run(&mut goal.tasks);
    let starts: Vec<u64> = run.flows.iter().map(|f| f.at / 1000).collect();
    assert_eq!((starts, run.end / 1000), (vec![500, 610], 621));
}

/// Random numbers from which a trace is made.
type Draw = (Index, Index, Index, u64, u32, Vec<(Index, bool)>);

/// A trace that ends: an operation requires only earlier ones, and a message is sent before it is received.
fn trace(ranks: usize, draws: &[Draw]) -> Ranks {
    let mut all: Ranks = vec![Vec::new(); ranks];
    for (what, from, to, size, tag, requires) in draws {
        let (from, mut to) = (from.index(ranks), to.index(ranks - 1));
        to += usize::from(to >= from);
        let mut add = |rank: usize, kind, peer: usize| {
            let there = all[rank].len();
            let requires = requires.iter().filter(|_| there > 0);
            let requires =
                requires.map(|(other, begun)| (other.index(there.max(1)) as u32, *begun)).collect();
            all[rank].push(Op { kind, peer: peer as u32, size: *size, tag: *tag, requires });
        };
        match what.index(3) {
            0 => add(from, Kind::Calc, 0),
            _ => {
                add(from, Kind::Send, to);
                add(to, Kind::Recv, from);
            }
        }
    }
    all
}

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let requires = prop::collection::vec((any::<Index>(), any::<bool>()), 0..3);
    let draw = (any::<Index>(), any::<Index>(), any::<Index>(), 0u64..5000, 0u32..3, requires);
    prop::collection::vec(draw, 0..40)
}

proptest! {
    #[test]
    fn random_traces_are_the_same_in_both_forms(ranks in 2usize..6, draws in draws()) {
        let ranks = trace(ranks, &draws);
        let from_text = Goal::read(&text(&ranks), 5000).unwrap();
        let from_binary = Goal::read_binary(&binary(&ranks), 5000).unwrap();
        prop_assert_eq!(from_text.ranks, from_binary.ranks);
        prop_assert_eq!(format!("{:?}", from_text.tasks), format!("{:?}", from_binary.tasks));
    }

    /// It is read or rejected: no panic, and no memory for data that is only claimed to exist.
    #[test]
    fn bytes_that_are_changed_do_no_harm(
        draws in draws(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>(), any::<bool>()), 1..6),
        cut in prop::option::of(any::<Index>()),
    ) {
        let mut bytes = binary(&trace(3, &draws));
        for (at, byte, whole) in changes {
            let at = at.index(bytes.len());
            // The largest number, or any byte.
            let end = if whole { bytes.len().min(at + 4) } else { at + 1 };
            bytes[at..end].fill(if whole { 0xff } else { byte });
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Err(e) = Goal::read_binary(&bytes, u64::MAX) {
            prop_assert!(!e.to_string().is_empty());
        }
    }
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let whole = binary(&three());
    for end in 0..whole.len() {
        let error = Goal::read_binary(&whole[..end], u64::MAX).expect_err("it is cut off");
        assert!(end < 8 || error.to_string().contains("truncated"), "{end} of {}: {error}", whole.len());
        assert!(end == 0 || Goal::is_binary(&whole[..end]));
    }
}

#[track_caller]
fn refused(ranks: &Ranks, message: &str) {
    let error = Goal::read_binary(&binary(ranks), 1000).unwrap_err().to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn what_is_wrong_is_told_with_its_rank_and_operation() {
    let two = |zero: &[Op], one: &[Op]| vec![zero.to_vec(), one.to_vec()];
    let (calc, send) = (op(Kind::Calc, 0, 1, &[]), op(Kind::Send, 1, 5, &[]));
    refused(
        &two(&[calc.clone(), send.clone()], &[]),
        "rank 0, operation 1: no receive matches this send from rank 0 to rank 1 with tag 7",
    );
    refused(
        &two(std::slice::from_ref(&send), &[calc.clone(), op(Kind::Recv, 0, 6, &[])]),
        "rank 1, operation 1: this receive has 6 bytes; its send in rank 0, operation 0 has 5",
    );
    refused(&two(&[calc.clone(), op(Kind::Send, 5, 5, &[])], &[]), "rank 0, operation 1: there is no rank 5");
    refused(&two(&[op(Kind::Send, 0, 5, &[])], &[]), "rank 0 and itself");
    refused(&two(&[op(Kind::Send, 1, 1001, &[])], &[]), "operation 0: 1001B is too large");
    refused(&two(&[op(Kind::Recv, u32::MAX, 5, &[])], &[]), "operation 0: a receive from any rank");
    let any = Op { tag: u32::MAX, ..op(Kind::Recv, 1, 5, &[]) };
    refused(&two(&[any], &[]), "operation 0: any tag");
    refused(&two(&[op(Kind::Calc, 0, u64::MAX, &[])], &[]), "is too long");
    // Each sends only when it has got the other's message.
    let each = |peer| [op(Kind::Recv, peer, 1, &[]), op(Kind::Send, peer, 1, &[(0, false)])];
    let error = Goal::read_binary(&binary(&two(&each(1), &each(0))), 1000).unwrap_err().to_string();
    assert!(error.contains("it waits for itself, through rank "), "{error}");
    assert!([0, 1].iter().all(|r| error.contains(&format!("rank {r}, operation 1"))), "{error}");
    refused(&two(&[op(Kind::Calc, 0, 1, &[(0, false)])], &[]), "rank 0, operation 0: it waits for itself");
}

/// The file of `three`, with these bytes at this place.
#[track_caller]
fn damaged(at: usize, bytes: &[u8], message: &str) {
    let mut file = binary(&three());
    file[at..at + bytes.len()].copy_from_slice(bytes);
    let error = Goal::read_binary(&file, u64::MAX).unwrap_err().to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn numbers_that_do_not_fit_each_other_are_told() {
    const MOST: &[u8] = &[0xff; 4];
    // Magic number, ranks, CPUs and NICs, the table of 3 ranks: rank 0 begins at 62, its operations at 74.
    damaged(0, &[1], "GOAL's magic number");
    damaged(8, MOST, "it claims to have 4294967295 ranks, but ends after");
    damaged(14, &[0; 16], "rank 0 is missing");
    damaged(14, &[1], "rank 0, bytes 1 to ");
    damaged(22, &[0xff; 8], "rank 0 ends at byte 18446744073709551615");
    damaged(30, &54u64.to_le_bytes(), "rank 1, bytes 54 to ");
    damaged(62, MOST, "rank 0 has 94 bytes, but its 4294967295 operations, 1 of them roots");
    damaged(66, MOST, "2 operations, 4294967295 of them roots");
    damaged(70, &[1], "rank 0: its roots are not the operations without dependencies");
    damaged(74, &[1], "rank 0, operation 0: it depends on 0 operations, but claims 1");
    damaged(78, &[9], "rank 0, operation 0: its kind is 9");
    damaged(97, MOST, "rank 0 has 4294967295 dependencies, but 4 bytes for them");
    damaged(101, MOST, "rank 0, operation 0: its dependents are beyond the end of the rank");
    damaged(152, &[2], "rank 0, operation 0: operation 2 depends on it, but there are only 2, from 0");
}
