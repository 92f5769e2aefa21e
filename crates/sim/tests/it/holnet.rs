//! The thesis's case studies of HOLNET's host controllers, §2.4: who gets how much.
//!
//! Marks reach every flow that has packets in the queue while it is long, so that all sense the same
//! congestion, as the theory has it. Two effects remain, and the bounds are theirs:
//!
//! - An equation's x is the rate at which congestion comes, the top of the sawtooth. The mean lies half a
//!   cut lower, and the smaller flow has the larger cut: at 20 and 80 Mbit/s it is 0.32 and 0.17 of
//!   the window (alpha = 0.5), so the means are not as 4:1 but as 4.4:1, and for alpha = 0.75 as 6.1:1.
//! - A drop hits one packet, and with it rather the flow that has more of them. "A flow which has a higher
//!   flow rate generally senses more congestion": the thesis, which has only losses, measured 3.61 for 4,
//!   5.24 for 5.59 and 73 Mbit/s for 80.

use tresse_units::{MILLISECOND, SECOND, Time};

use crate::common::{
    Acking, Bottleneck, ENDLESS, Net, flow, goodputs, mean, run_until, scheme, shares, some_of,
};

/// Offsets between the starts of two flows.
const OFFSETS_MS: [u64; 4] = [0, 7, 100, 333];

/// RTT and queue at 100 Mbit/s; ports that mark do so from half of it on.
const NETS: [(u64, u64); 3] = [(10, 80), (20, 80), (20, 160)];

const MEASURE: Time = 10 * SECOND;

/// With losses slow start loses hundreds of packets, which NewReno repairs one a round trip.
fn settle(name: &str) -> Time {
    if name.ends_with("_ecn") { 10 * SECOND } else { 30 * SECOND }
}

/// The nets for `name`: with losses not the last one, whose slow start overshoots by so much that the repairs
/// reach into the measurement.
fn nets(name: &str) -> &'static [(u64, u64)] {
    if name.ends_with("_ecn") { &NETS } else { &NETS[..2] }
}

/// A link for the packets of controller `name`: it marks if they can be marked.
fn link(name: &str, megabits: u64, queue: u64) -> Bottleneck {
    let rate = megabits * 1_000_000;
    if name.ends_with("_ecn") {
        Bottleneck::marking(rate, queue / 2)
    } else {
        Bottleneck::drop_tail(rate, queue)
    }
}

/// Goodputs of two flows at one 100 Mbit/s link, Mbit/s: means over the offsets.
fn two_flows(name: &str, settings: [&[(&str, u64)]; 2], (rtt_ms, queue): (u64, u64)) -> [f64; 2] {
    let one = |offset| {
        let net = Net::new(rtt_ms * MILLISECOND, &[link(name, 100, queue)], 2);
        let mut world = net.world();
        world.start(flow(0, &scheme(name, settings[0]), Acking::Each, ENDLESS, vec![net.path(0, 0)]));
        run_until(&mut world, offset * MILLISECOND);
        world.start(flow(1, &scheme(name, settings[1]), Acking::Each, ENDLESS, vec![net.path(1, 0)]));
        run_until(&mut world, settle(name));
        goodputs(&mut world, &[0, 1], settle(name) + MEASURE)
    };
    let rates: Vec<_> = some_of(&OFFSETS_MS).into_iter().map(one).collect();
    [0, 1].map(|i| mean(&rates.iter().map(|r| r[i] / 1e6).collect::<Vec<_>>()))
}

/// Ratios of two flows' rates to the optimum must lie between `low` and `high` in all [`nets`].
fn judge_ratio(name: &str, settings: [&[(&str, u64)]; 2], optimum: f64, (low, high): (f64, f64)) {
    for &net in nets(name) {
        let [first, second] = two_flows(name, settings, net);
        let ratio = first / second;
        println!("{name}, {net:?}: {first:.1} and {second:.1} Mbit/s, {ratio:.2} for {optimum}");
        let within = (low * optimum..high * optimum).contains(&ratio);
        assert!(within, "{name}, {net:?}: {first:.1} and {second:.1} Mbit/s, {ratio:.2} for {optimum}");
        // 97.3 Mbit/s is the payload of a full link.
        assert!((85.0..97.5).contains(&(first + second)), "{name}, {net:?}: {first:.1} and {second:.1}");
    }
}

const CASE_1: [&[(&str, u64)]; 2] = [&[("alpha", 500), ("weight", 2000)], &[("alpha", 500)]];
const CASE_2: [&[(&str, u64)]; 2] =
    [&[("alpha", 750), ("weight", 3630), ("min_rate", 20_000)], &[("alpha", 750)]];

/// Figure 2.3 (b): alpha = 0.5 and weights of 2:1, the optimum is 80:20.
#[test]
fn weights_of_two_to_one_give_four_to_one() {
    judge_ratio("holnet_cc_ecn", CASE_1, 4.0, (0.95, 1.25));
}

/// The same with losses alone, as the thesis had it.
#[test]
fn with_losses_the_larger_flow_senses_more() {
    judge_ratio("holnet_cc", CASE_1, 4.0, (0.6, 1.0));
}

/// Figure 2.3 (c): alpha = 0.75 and weights of 3.63:1, the optimum is 84.8:15.2.
#[test]
fn weights_of_3_63_give_5_59() {
    judge_ratio("holnet_cc_cos_ecn", CASE_2, 5.59, (0.95, 1.25));
}

/// The same with losses alone.
#[test]
fn with_losses_the_larger_flow_senses_more_in_case_2() {
    judge_ratio("holnet_cc_cos", CASE_2, 5.59, (0.6, 1.0));
}

/// Eq. (2.14): two flows of one weight, of which one wants 70 Mbit/s at least. The bound is soft: below it
/// the flow races back, but it is cut there like any other; so that its mean lies near the bound.
#[test]
fn a_least_rate_is_nearly_kept() {
    for net in NETS {
        let [first, second] = two_flows("holnet_cc_cos_ecn", [&[("min_rate", 70_000)], &[]], net);
        println!("{net:?}: {first:.1} and {second:.1} Mbit/s");
        assert!((65.0..75.0).contains(&first), "{net:?}: {first:.1} Mbit/s, {second:.1} for the other");
    }
}

/// The thesis's Figure 2.2 (b): one path of 60 Mbit/s, and one of 100 Mbit/s shared with a single flow.
/// What x_11, x_12 and x_2 take of their links, Mbit/s with headers: means over the offsets.
fn figure_2_4(name: &str, (rtt_ms, queue): (u64, u64)) -> [f64; 3] {
    let links = [link(name, 60, queue), link(name, 100, queue)];
    let one = |offset| {
        let net = Net::new(rtt_ms * MILLISECOND, &links, 2);
        let mut world = net.world();
        let paths = vec![net.path(0, 0), net.path(0, 1)];
        world.start(flow(0, &scheme(name, &[]), Acking::Each, ENDLESS, paths));
        run_until(&mut world, offset * MILLISECOND);
        world.start(flow(1, &scheme(name, &[]), Acking::Each, ENDLESS, vec![net.path(1, 1)]));
        run_until(&mut world, settle(name));
        shares(&mut world, &links[1], &[(0, 0), (0, 1), (1, 0)], settle(name) + MEASURE)
    };
    let taken: Vec<_> = some_of(&OFFSETS_MS).into_iter().map(one).collect();
    [0, 1, 2].map(|i| mean(&taken.iter().map(|t| t[i] * 100.0).collect::<Vec<_>>()))
}

/// The optimum is 60, 20 and 80; the thesis has nearly 60, nearly 20 and 73. x_2 halves a window four
/// times as large as that of x_12, so that the link stands idle for a while: a tenth is allowed for that.
#[test]
fn mcc_equalises_a_flow_of_two_paths_and_one() {
    for net in NETS {
        let [x11, x12, x2] = figure_2_4("holnet_mcc_ecn", net);
        println!("{net:?}: x_11 {x11:.1}, x_12 {x12:.1}, x_2 {x2:.1} Mbit/s");
        let near = (54.0..60.5).contains(&x11) && (10.0..22.0).contains(&x12) && (72.0..88.0).contains(&x2);
        assert!(near, "{net:?}: x_11 {x11:.1}, x_12 {x12:.1}, x_2 {x2:.1} Mbit/s");
    }
}

/// With losses alone x_12 takes more than it should, for few of the packets lost are its own: what
/// holds is only that x_2 has the larger part of the link.
#[test]
fn mcc_with_losses_leaves_the_single_flow_the_larger_part() {
    for &net in nets("holnet_mcc") {
        let [x11, x12, x2] = figure_2_4("holnet_mcc", net);
        println!("{net:?}: x_11 {x11:.1}, x_12 {x12:.1}, x_2 {x2:.1} Mbit/s");
        assert!(x11 > 57.0 && x2 > 1.25 * x12, "{net:?}: x_11 {x11:.1}, x_12 {x12:.1}, x_2 {x2:.1} Mbit/s");
    }
}
