//! GOAL traces: the output of LogGOPSim's schedule generators runs unchanged, and errors are reported with
//! their line.

use std::fmt::Write;

use tresse_workload::Goal;

use crate::ideal::{Ideal, Run};

/// A message takes 10 ns plus 1 ns a byte.
const NET: Ideal = Ideal { alpha: 10_000, beta: 1000 };

fn run(text: &str) -> Run {
    NET.run(&mut Goal::read(text, u64::MAX).unwrap().tasks)
}

/// When each message started, in ns, in the order of the file.
fn starts(run: &Run) -> Vec<u64> {
    let mut flows: Vec<_> = run.flows.iter().map(|f| (f.start.name, f.at / 1000)).collect();
    flows.sort_unstable();
    flows.into_iter().map(|(_, at)| at).collect()
}

/// A dissemination barrier, exactly as LogGOPSim's schedgen writes it (`dissemination_16.goal`).
fn dissemination(n: u32) -> String {
    let mut text = format!("num_ranks {n}\n\n");
    for rank in 0..n {
        writeln!(text, "rank {rank} {{").unwrap();
        let (mut label, mut distance) = (1, 1);
        while distance < n {
            writeln!(text, "l{label}: send 1b to {} tag 0", (rank + distance) % n).unwrap();
            if label > 1 {
                writeln!(text, "l{label} requires l{}", label - 1).unwrap();
            }
            writeln!(text, "l{}: recv 1b from {} tag 0", label + 1, (rank + n - distance) % n).unwrap();
            (label, distance) = (label + 2, distance * 2);
        }
        writeln!(text, "}}\n").unwrap();
    }
    text
}

#[test]
fn the_dissemination_barrier_takes_as_many_rounds_as_its_ranks_have_bits() {
    let sixteen = dissemination(16);
    assert!(sixteen.starts_with(
        "num_ranks 16\n\nrank 0 {\nl1: send 1b to 1 tag 0\nl2: recv 1b from 15 tag 0\nl3: send 1b to 2 tag 0\n\
         l3 requires l2\nl4: recv 1b from 14 tag 0\n"
    ));
    for (n, rounds) in [(2, 1), (16, 4), (100, 7)] {
        let r = run(&dissemination(n));
        assert_eq!(r.flows.len() as u32, n * rounds);
        assert_eq!(r.end, u64::from(rounds) * 11_000, "{n} ranks");
        assert_eq!(r.jobs.len(), 1);
        assert_eq!((r.jobs[0].end, r.jobs[0].flows), (r.end, n * rounds));
    }
}

#[test]
fn sends_wait_for_what_they_require() {
    let text = "num_ranks 3
        // the first computes, then sends to both
        rank 0 {
        c: calc 500 cpu 0
        a: send 100b to 1 tag 7 cpu 0 nic 1
        b: send 200b to 2
        a requires c
        b requires a /* after the first has
        arrived */
        }
        rank 1 {
        r: recv 100b from 0 tag 7
        s: send 50 b to 2
        s requires r
        }
        rank 2 {
        recv 200b from 0
        recv 50b from 1
        }";
    let goal = Goal::read(text, u64::MAX).unwrap();
    assert_eq!((goal.ranks, goal.tasks.messages()), (3, 3));
    let r = run(text);
    assert_eq!(starts(&r), [500, 610, 610]);
    // The last task is rank 2's receive of 200 bytes.
    assert_eq!(r.end / 1000, 820);
}

#[test]
fn irequires_waits_for_the_beginning_only() {
    let text = |word| {
        format!(
            "num_ranks 2
            rank 0 {{
            first: calc 1000
            long: calc 5000
            long requires first
            s: send 10b to 1
            s {word} long
            }}
            rank 1 {{
            recv 10b from 0
            }}"
        )
    };
    assert_eq!(starts(&run(&text("requires"))), [6000]);
    // It has begun, but its cpu computes.
    assert_eq!(starts(&run(&text("irequires"))), [6000]);
    let other = |word| text(word).replace("send 10b to 1", "send 10b to 1 cpu 1");
    assert_eq!(starts(&run(&other("requires"))), [6000]);
    assert_eq!(starts(&run(&other("irequires"))), [1000]);
}

/// LogGOPSim's `nexto[host][proc]`, by hand: the time of each message's start, ns.
#[test]
fn a_cpu_does_one_thing_at_a_time_in_the_order_in_which_they_can_begin() {
    let text = |operations: &str, messages: usize| {
        let receives = "recv 10b from 0\n".repeat(messages);
        format!("num_ranks 2\nrank 0 {{\n{operations}\n}}\nrank 1 {{\n{receives}}}\n")
    };
    let both = "a: calc 1000 cpu A\nb: calc 1000 cpu B\ns: send 10b to 1\ns requires a\ns requires b";
    for (a, b, expected) in [("0", "0", 2000), ("3", "3", 2000), ("0", "1", 1000)] {
        let text = text(&both.replace("cpu A", &format!("cpu {a}")).replace("cpu B", &format!("cpu {b}")), 1);
        assert_eq!(starts(&run(&text)), [expected], "cpus {a} and {b}");
    }
    // Without a `cpu` it is 0.
    assert_eq!(starts(&run(&text(&both.replace(" cpu A", "").replace("cpu B", "cpu 0"), 1))), [2000]);
    // A message waits for its cpu as well, but takes no time of it.
    let sends = "calc 500\nsend 10b to 1\nsend 10b to 1\ncalc 500\nsend 10b to 1\nsend 10b to 1 cpu 1";
    assert_eq!(starts(&run(&text(sends, 4))), [500, 500, 1000, 0]);
    // What can begin first is first, even if the cpu is not idle then: b at 600, before c, which can begin at 700.
    let order = "l: calc 1000\nx: calc 700 cpu 1\ny: calc 600 cpu 2\nc: calc 10\nb: calc 20\n\
                 c requires x\nb requires y\ns: send 10b to 1 cpu 3\ns requires b\nt: send 10b to 1 cpu 3\nt requires c";
    assert_eq!(starts(&run(&text(order, 2))), [1020, 1030]);
    // A receive is done when its cpu is idle: rank 1 computes when the message arrives, and answers after that.
    let receive = "num_ranks 2\nrank 0 {\nsend 10b to 1\nrecv 10b from 1\n}\n\
                   rank 1 {\ncalc 5000\nr: recv 10b from 0\ns: send 10b to 0 cpu 1\ns requires r\n}\n";
    assert_eq!(starts(&run(receive)), [0, 5000]);
    // An operation that waits for a beginning waits for the cpu that this needs.
    let begun = "a: calc 1000\nb: calc 1000\nd: calc 1 cpu 2\nc: calc 1000\nc requires d\ns: send 10b to 1 cpu 1\ns irequires b\n\
                 t: send 10b to 1 cpu 1\nt requires c";
    assert_eq!(starts(&run(&text(begun, 2))), [1000, 3000]);
}

#[test]
fn what_a_run_does_not_do_is_counted() {
    let goal = Goal::read(
        "num_ranks 2\nrank 0 {\nsend 0b to 1 nic 1\ncalc 5 nic 1\n}\nrank 1 {\nrecv 0b from 0\n}\n",
        u64::MAX,
    );
    let goal = goal.unwrap();
    assert_eq!((goal.empty, goal.other_nics), (1, 1));
}

#[test]
fn a_receive_gets_the_messages_of_its_pair_and_tag_in_order() {
    // Rank 1 answers the second message with tag 1, which is sent before all others, with tag 2 in between.
    let text = "num_ranks 2
        rank 0 {
        a: send 100b to 1 tag 1
        send 1b to 1 tag 2
        b: send 5b to 1 tag 1
        }
        rank 1 {
        recv 100b from 0 tag 1
        x: recv 5b from 0 tag 1
        recv 1b from 0 tag 2
        s: send 1b to 0
        s requires x
        }";
    let error = Goal::read(text, u64::MAX).unwrap_err();
    assert_eq!(
        (error.line, &*error.message),
        (11, "no receive matches this send from rank 1 to rank 0 with tag 0")
    );
    let r = run(&text.replace("b: send", "recv 1b from 1\n b: send"));
    assert_eq!(starts(&r), [0, 0, 0, 15]);
}

#[test]
fn an_empty_message_has_one_byte_and_a_calc_may_take_no_time() {
    let r = run(
        "num_ranks 2\nrank 0 {\na: calc 0\nb: send 0b to 1\nb requires a\n}\nrank 1 {\nrecv 0b from 0\n}\n",
    );
    assert_eq!((r.flows[0].start.bytes, r.end), (Some(1), 11_000));
}

#[track_caller]
fn refused(text: &str, line: usize, message: &str) {
    let error = Goal::read(text, u64::MAX).unwrap_err();
    assert!(error.line == line && error.message.contains(message), "{error}");
}

#[test]
fn what_is_broken_is_told_with_its_line() {
    let two = |zero: &str, one: &str| format!("num_ranks 2\nrank 0 {{\n{zero}}}\nrank 1 {{\n{one}}}\n");
    refused("", 1, "empty");
    refused("// nothing\n\n", 2, "empty");
    refused("Nodes 16\nConnections 3\n", 1, "is this a GOAL trace");
    refused("num_ranks x\n", 1, "expected the number of ranks");
    refused("num_ranks 2\nl1: calc 5\n", 2, "expected `rank N {`");
    refused("num_ranks 2\nrank 2 {\n}\n", 2, "there is no rank 2");
    refused("num_ranks 2\nrank 0 {\n}\nrank 0 {\n", 4, "already has a block");
    refused("num_ranks 2\nrank 0 {\n}\n", 3, "rank 1 is missing");
    refused("num_ranks 2\nrank 0 {\ncalc 5\n", 3, "truncated");
    refused("num_ranks 2\nrank 0 {\nrank 1 {\n", 3, "rank 0, which began in line 2, has no closing");
    refused(&two("calc\n", ""), 3, "the line ends here; expected a time in ns");
    refused(&two("calc 99999999999999999\n", ""), 3, "too long");
    refused(&two("calc 5 tag 3\n", ""), 3, "expected `cpu`, `nic`");
    refused(&two("sned 5b to 1\n", ""), 3, "found `sned`");
    refused(&two("send 5 to 1\n", ""), 3, "a size such as 1024b");
    refused(&two("send 5b from 1\n", ""), 3, "expected `to`");
    refused(&two("send 5b to 5\n", ""), 3, "there is no rank 5");
    refused(&two("send 5b to 0\n", ""), 3, "itself");
    refused(&two("send 5b to 1 tag\n", ""), 3, "expected a number");
    refused(&two("recv 5b from -1\n", ""), 3, "any rank");
    refused(&two("recv 5b from 1 tag -1\n", ""), 3, "any tag");
    refused(&two("send 5b to 1 tag 1 tag 2\n", ""), 3, "found `tag`");
    refused(&two("a: calc 1\na: calc 2\n", ""), 4, "twice");
    refused(&two("a: calc 1\na requires b\n", ""), 4, "the label `b`");
    refused(&two("a: calc 1\n", "b: calc 1\nb requires a\n"), 7, "the label `a`");
    refused(&two("a:\n", ""), 3, "after the label");
    refused(&two("send 5b to 1\n", ""), 3, "no receive matches this send");
    refused(&two("", "calc 1\nrecv 5b from 0\n"), 6, "no send matches this receive");
    refused(&two("send 5b to 1\n", "recv 6b from 0\n"), 6, "has 6 bytes; its send in line 3 has 5");
    // Each sends only when it has got the other's message.
    let each = "r: recv 1b from X\ns: send 1b to X\ns requires r\n";
    let text = two(&each.replace('X', "1"), &each.replace('X', "0"));
    let error = Goal::read(&text, u64::MAX).unwrap_err();
    assert!(error.message.contains("waits for itself"), "{error}");
    let place = text.lines().nth(error.line - 1).unwrap();
    assert!(place.contains("recv") || place.contains("send"), "{place}");
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let whole = dissemination(8);
    assert!(Goal::read(&whole, u64::MAX).is_ok());
    // The last two characters are a newline and an empty line.
    for end in 0..whole.len() - 2 {
        assert!(Goal::read(&whole[..end], u64::MAX).is_err(), "{end} of {}", whole.len());
    }
}
