//! The queue of N DCTCP flows swings about K as the DCTCP paper says (Alizadeh et al., SIGCOMM 2010,
//! §3.3).
//!
//! N synchronised flows share a bottleneck of rate C. Their windows sum to C RTT + K when the queue
//! is K, and each is w* = (C RTT + K)/N there. A round later, when the marks are echoed, each has
//! grown by one, so the queue turns at K + N. With alpha = sqrt(2/w*) it then falls by
//!
//!   A = N (w* + 1) alpha/2 = 1/2 sqrt(2 N (C RTT + K))
//!
//! and rises from K + N - A in a straight line, so that its mean lies A/2 below its peak. N, A/2 and
//! the flows' being out of step (which shrinks the swing) all move the mean by less than A from K.

use tresse_units::{MICROSECOND, MILLISECOND, NANOSECOND};

use crate::common::{
    Acking, Bottleneck, ENDLESS, GIGABIT, Net, flow, mean_queue, run_until, sample, scheme, shares, some_of,
};

/// Rate, RTT, K: K well above C RTT/7, below which the queue runs empty (DCTCP paper eq. (13)), and
/// g = 1/16 below 1.386/sqrt(2 (C RTT + K)), above which alpha does not average over cycles (eq. (15)).
const LINKS: [(u64, u64, u64); 5] = [
    (GIGABIT, 225, 20),
    (GIGABIT, 225, 40),
    (GIGABIT, 400, 40),
    (10 * GIGABIT, 100, 65),
    (10 * GIGABIT, 100, 130),
];

#[test]
fn the_mean_queue_of_dctcp_lies_about_k() {
    for acking in [Acking::Each, Acking::Delayed] {
        for (rate, rtt_us, k) in LINKS {
            for flows in some_of(&[1, 2, 3, 4, 6, 8]) {
                measure(acking, rate, rtt_us, k, flows);
            }
        }
    }
}

fn measure(acking: Acking, rate: u64, rtt_us: u64, k: u64, flows: u32) {
    let link = Bottleneck::marking(rate, k);
    let net = Net::new(rtt_us * MICROSECOND, &[link], flows);
    let dctcp = scheme("dctcp", &[]);
    let mut world = net.world();
    for i in 0..flows {
        // Starts that are no multiple of any round: the flows are not in step by construction.
        run_until(&mut world, u64::from(i) * 3_100_007 * NANOSECOND);
        world.start(flow(u64::from(i), &dctcp, acking, ENDLESS, vec![net.path(i, 0)]));
    }
    // alpha has forgotten its start after a few 16 rounds, 16 * 0.9 ms at most.
    run_until(&mut world, 100 * MILLISECOND);
    // A cycle is sqrt(2 w*) rounds, below 15 * 0.9 ms; 200 ms hold enough of them.
    let queue = mean_queue(&mut world, Net::bottleneck(0), 300 * MILLISECOND);

    let bdp = (rtt_us * MICROSECOND) as f64 / link.packet_time() as f64;
    let swing = 0.5 * (2.0 * f64::from(flows) * (bdp + k as f64)).sqrt();
    let case = format!("{acking:?}, {rate} bit/s, {rtt_us} us, K = {k}, {flows} flows");
    assert!((queue - k as f64).abs() < swing, "{case}: {queue:.2}, not within {swing:.2} of K");

    let subflows: Vec<_> = (0..u64::from(flows)).map(|id| (id, 0)).collect();
    let until = world.now() + 50 * MILLISECOND;
    let used: f64 = shares(&mut world, &link, &subflows, until).iter().sum();
    // The queue never runs empty. Up to a window of ACKs may wait for the delayed-ACK timer or come
    // in bunches at either end: 100 packets in 50 ms are 2.4 % at 1 Gbit/s, so one window is allowed.
    let window = (bdp + k as f64) * link.packet_time() as f64 / (50 * MILLISECOND) as f64;
    assert!((used - 1.0).abs() < window, "{case}: {used:.4} of the link");
    println!(
        "{case}: mean queue {queue:.2}, K - A = {:.2}, K + A = {:.2}",
        k as f64 - swing,
        k as f64 + swing
    );
}

/// Flows that start together are in step: the queue's peak, and how far it falls.
#[test]
fn the_peak_and_the_swing_of_dctcp_are_those_of_the_paper() {
    for (rate, rtt_us, k, flows) in [
        (10 * GIGABIT, 100, 40, 1),
        (10 * GIGABIT, 100, 40, 2),
        (10 * GIGABIT, 100, 65, 4),
        (10 * GIGABIT, 500, 130, 1),
        (GIGABIT, 400, 40, 2),
    ] {
        let link = Bottleneck::marking(rate, k);
        let net = Net::new(rtt_us * MICROSECOND, &[link], flows);
        let dctcp = scheme("dctcp", &[]);
        let mut world = net.world();
        for i in 0..flows {
            world.start(flow(u64::from(i), &dctcp, Acking::Each, ENDLESS, vec![net.path(i, 0)]));
        }
        run_until(&mut world, 100 * MILLISECOND);
        let mut queue = Vec::new();
        sample(&mut world, 200 * MILLISECOND, link.packet_time() / 2, |w| {
            queue.push(w.waiting(Net::bottleneck(0)) as f64);
        });
        let (min, max) = queue.iter().fold((f64::MAX, 0.0_f64), |(a, b), &q| (a.min(q), b.max(q)));
        let bdp = (rtt_us * MICROSECOND) as f64 / link.packet_time() as f64;
        let swing = 0.5 * (2.0 * f64::from(flows) * (bdp + k as f64)).sqrt();
        let case = format!("{rate} bit/s, {rtt_us} us, K = {k}, {flows} flows: {min} to {max}");
        println!("{case}; K + N = {}, A = {swing:.1}", k + u64::from(flows));
        assert!((max - (k + u64::from(flows)) as f64).abs() <= 2.0, "{case}");
        // A packet at either end is a quarter of the smallest swing. It is 0.76 to 1.03 of A; why it is not nearer, also with
        // one flow, was not traced.
        assert!((0.7..1.1).contains(&((max - min) / swing)), "{case}: A = {swing:.2}");
    }
}
