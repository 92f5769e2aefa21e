//! Controllers that answer marks, on bottlenecks that mark.

use std::ops::Range;

use crate::clock::sleep;
use crate::control::{Control, Controller, attachable};
use crate::flow::{Flow, Protocol, measure};
use crate::probe::{ready, say};
use crate::repeat::{attached, holds, mean, once, together};
use crate::testbed::{Path, Plan, Testbed};

/// The threshold of the marking queues, in packets. Windows must be large enough that a whole packet is
/// a small part of a cut: XMP cuts by floor(w / 4), which at w = 6 is a sixth of the window, and so two
/// small windows beside a large one would be cut less.
const K: u32 = 60;

/// Mbit/s. A packet of 1514 bytes takes 0.6 ms.
const RATE: u32 = 20;

/// What two subflows of XMP took per rate of one subflow beside them, and the queue meanwhile.
struct Marked {
    ratio: f64,
    /// Mean packets in the queue.
    queue: f64,
    drops: u64,
    /// The largest of the smoothed round-trip times at the end.
    srtt_ms: f64,
}

fn two_beside_one(control: &Control) -> Marked {
    let bed =
        Testbed::new(&Plan { paths: &[Path::marking(RATE, K)], subflows: &[0, 0], control: control.name() });
    let (two, one) = (bed.connect(), bed.compete(0, Protocol::Mptcp, control.name()));
    sleep(3.0);
    let before = bed.bottleneck(0);
    let (rates, queue) = std::thread::scope(|scope| {
        let samples = scope.spawn(|| (0..80).map(|_| backlog_in_a_while(&bed)).sum::<f64>() / 80.0);
        let rates = measure(&[&two, &one], 9.0);
        (rates, samples.join().expect("tc answers"))
    });
    let srtt_ms = two.subflows().iter().chain(&one.subflows()).map(|s| s.srtt_ms).fold(0.0, f64::max);
    let ratio = rates[0].iter().sum::<f64>() / rates[1][0];
    Marked { ratio, queue, drops: bed.bottleneck(0).drops - before.drops, srtt_ms }
}

fn backlog_in_a_while(bed: &Testbed) -> f64 {
    sleep(0.1);
    bed.bottleneck(0).backlog as f64
}

#[test]
fn marked_bottleneck() {
    if !ready("marked_bottleneck") || attachable("marked_bottleneck", &["xmp"]).is_empty() {
        return;
    }
    attached("xmp", two_beside_one, |runs| {
        let ratio = mean("two subflows of XMP per one beside them", runs.iter().map(|run| run.ratio));
        let queue = mean("packets in the queue that marks above 60", runs.iter().map(|run| run.queue));
        let srtt = mean("largest smoothed round-trip time, ms", runs.iter().map(|run| run.srtt_ms));
        let drops = mean("drops", runs.iter().map(|run| run.drops as f64));
        // The simulator says 1.11 for this bottleneck; subflows that are not coupled take twice one's rate. Means of five
        // runs are 1.05 to 1.18, but 1.30 and 1.32 were seen too.
        holds((0.9..=1.5).contains(&ratio), || format!("two subflows of XMP take {ratio} times one's rate"))?;
        holds((0.5..1.5).contains(&(queue / f64::from(K))), || {
            format!("the queue stands at {queue} packets")
        })?;
        holds(drops == 0.0, || format!("{drops} drops"))?;
        // Twice the threshold.
        holds(srtt < 72.0, || format!("the round trip takes {srtt} ms"))
    });
}

/// Rates of the first path's subflow: alone, beside two competitors, and alone again.
fn visited(control: &Control) -> [f64; 3] {
    let paths = [Path::marking(RATE, K), Path::marking(RATE, K)];
    let bed = Testbed::new(&Plan { paths: &paths, subflows: &[0, 1], control: control.name() });
    let flow = bed.connect();
    let phase = |flow: &Flow, settle: f64| {
        sleep(settle);
        measure(&[flow], 3.0)[0][0]
    };
    let alone = phase(&flow, 1.5);
    let visitors = [(); 2].map(|()| bed.compete(0, Protocol::Mptcp, control.name()));
    // Small cuts bring flows together slowly: one that kept 6.9 Mbit/s beside DCM's visitors from the fifth to the
    // eighth second kept 3.5 from the twelfth on.
    let beside = phase(&flow, 12.0);
    drop(visitors);
    [alone, beside, phase(&flow, 2.0)]
}

#[test]
#[ignore = "measures for a minute: `make test-all`"]
fn leaves_and_comes_back() {
    if !ready("leaves_and_comes_back") {
        return;
    }
    together(attachable("leaves_and_comes_back", &["xmp", "dcm"]), |Controller { name, .. }| {
        attached(&name, visited, |runs| {
            let phase = |when: &str, i: usize| mean(&format!("{name} {when}"), runs.iter().map(|run| run[i]));
            let alone = phase("alone on a path of 20 Mbit/s", 0);
            let beside = phase("beside two competitors", 1);
            let again = phase("alone again", 2);
            // Uncoupled it would keep a third of the path, as one of three.
            holds(beside < 0.8 * alone / 3.0, || format!("{name} keeps {beside} of {alone} Mbit/s"))?;
            holds(again > 0.8 * alone, || format!("{name} comes back to {again} of {alone} Mbit/s"))
        });
    });
}

/// The share of one subflow of XMP beside one flow under `reno` in a queue that marks, with or without
/// ECN.
fn beside_reno(control: &Control, reno: &str, ecn: bool) -> f64 {
    let bed =
        Testbed::new(&Plan { paths: &[Path::marking(RATE, K)], subflows: &[0], control: control.name() });
    bed.other.sysctl("ipv4/tcp_ecn", if ecn { "1" } else { "0" });
    let (flow, reno) = (bed.connect(), bed.compete(0, Protocol::Tcp, reno));
    assert_eq!(reno.subflows()[0].ecn, ecn, "{:?}", reno.subflows());
    sleep(3.0);
    let rates = measure(&[&flow, &reno], 8.0);
    rates[0].iter().sum::<f64>() / (rates[0].iter().sum::<f64>() + rates[1][0])
}

#[test]
#[ignore = "measures for a minute: `make test-all`"]
fn limits() {
    if !ready("limits") || attachable("limits", &["xmp"]).is_empty() {
        return;
    }
    let share = |what: &str, reno: &str, ecn: bool, expected: Range<f64>| {
        attached(
            "xmp",
            |control| beside_reno(control, reno, ecn),
            |runs| {
                let share = mean(&format!("XMP's share beside {what}"), runs.iter().map(|share| **share));
                say(&format!("that is {:.2} times its rate", share / (1.0 - share)));
                holds(expected.contains(&share), || format!("XMP takes {share} beside {what}"))
            },
        );
    };
    // Reno fills the 600 packets of the queue, XMP keeps its 2.
    share("a Reno without ECN", "reno", false, 0.001..0.1);
    // A quarter is cut against a half: (4 - 1/2) / (2 - 1/2) = 2.3 times its rate if they are cut together.
    // The simulator says 2.4 for this bottleneck with an ACK for each packet, 3.1 with delayed ACKs.
    share("a Reno with ECN", "reno", true, 0.6..0.82);
}

/// The mean smoothed round-trip time, ms, of a subflow of which every fifth packet is marked, on a path
/// with room for 120.
fn every_fifth_marked(control: &Control) -> f64 {
    let bed =
        Testbed::new(&Plan { paths: &[Path::drop_tail(RATE, 120)], subflows: &[0], control: control.name() });
    bed.mark_every(5);
    let flow = bed.connect();
    sleep(5.0);
    let samples: Vec<f64> = (0..40)
        .map(|_| {
            sleep(0.1);
            flow.subflows()[0].srtt_ms
        })
        .collect();
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// O-DCTCP ignores marks on fewer than half of the packets. They bring the kernel into CWR in every round
/// all the same, where it would never grow: so this shows that the window rises there.
#[test]
fn odctcp_grows_in_spite_of_few_marks() {
    const TEST: &str = "odctcp_grows_in_spite_of_few_marks";
    if !ready(TEST) {
        return;
    }
    if !crate::probe::has("nft") {
        say(&format!("skipped: {TEST}: nft is missing (apt-get install nftables)"));
        return;
    }
    together(attachable(TEST, &["dctcp", "odctcp"]), |Controller { name, .. }| {
        // A packet takes 0.6 ms. DCTCP gains a packet a round and loses w/10: 10 packets, 6 ms; 4.4 is usual, and 1.8, a
        // window of 3, was seen. O-DCTCP rises to 120 packets, 72 ms, and is halved by their loss.
        let expected = if name == "dctcp" { 1.0..15.0 } else { 35.0..75.0 };
        let Some(run) = once(&name, |time| expected.contains(time), every_fifth_marked) else { return };
        let time = mean(&format!("{name}'s smoothed round-trip time, ms"), [run]);
        assert!(expected.contains(&time), "{name}: {time} ms");
    });
}
