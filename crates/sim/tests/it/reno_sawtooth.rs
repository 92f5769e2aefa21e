//! Reno's window is a sawtooth between W/2 and W, so 3/4 W on average over rounds.
//!
//! W is where the window stands when a packet is dropped; it does not rise any more before the loss
//! is known, for that takes one round and a rise takes one too, from the ACK before. As in
//! utilisation.rs, w packets in flight leave w - 1 - floor(B) waiting for the last of two packets that
//! go out together; with a queue of Q it is dropped at w - 1 - floor(B) = Q:
//!
//!   W = Q + 1 + floor(B)
//!
//! The rounds of a cycle are W/2, W/2 + 1, ..., W, where W/2 is rounded down. The round at W takes two
//! round trips, for its segments are ACKed only when the hole is filled, but it is one round.

use tresse_units::{MICROSECOND, MILLISECOND, SECOND};

use crate::common::{
    Acking, Bottleneck, ENDLESS, GIGABIT, Net, acked, flow, mean, run_until, sample, scheme,
};

/// The window at the start of each round from now until `until`.
fn windows_by_round(world: &mut tresse_sim::World, until: u64) -> Vec<f64> {
    let mut windows = Vec::new();
    let mut round_end = 0;
    // A round ends when the first segment that was sent in it is ACKed. The step is below a packet
    // time, so no ACK is overlooked.
    sample(world, until, 10 * MICROSECOND, |w| {
        if acked(w, 0, 0) > round_end {
            let sender = w.sender(0).expect("it lives");
            round_end = sender.counters(0).sent;
            windows.push(f64::from(sender.controller(0).expect("it is open").cwnd));
        }
    });
    windows
}

#[test]
fn reno_is_at_three_quarters_of_its_peak() {
    for (rtt_us, queue) in [(225, 20), (225, 50), (225, 100), (400, 10), (400, 30), (400, 100)] {
        let link = Bottleneck::drop_tail(GIGABIT, queue);
        let net = Net::new(rtt_us * MICROSECOND, &[link], 1);
        let mut world = net.world();
        world.start(flow(0, &scheme("reno", &[]), Acking::Each, ENDLESS, vec![net.path(0, 0)]));
        // Slow start overshoots by a window; its recovery repairs one packet a round.
        run_until(&mut world, 500 * MILLISECOND);
        let before = world.sender(0).expect("it lives").counters(0);
        let drops = world.packets().dropped;
        let windows = windows_by_round(&mut world, 2 * SECOND);
        let after = world.sender(0).expect("it lives").counters(0);

        let bdp = (rtt_us * MICROSECOND) as f64 / link.packet_time() as f64;
        let w = (queue + 1 + bdp as u64) as f64;
        let peak = windows.iter().copied().fold(0.0, f64::max);
        assert_eq!(peak, w, "{rtt_us} us, queue {queue}");
        // One drop a cycle, one recovery a drop, no timeout.
        let cycles = after.recoveries - before.recoveries;
        assert_eq!(after.timeouts, 0);
        assert!(world.packets().dropped - drops - cycles <= 1, "more than one drop in a cycle");

        let low = (w / 2.0).floor();
        let (measured, predicted) = (mean(&windows) / w, (low + w) / 2.0 / w);
        let rounds = windows.len() as f64 / cycles as f64;
        println!(
            "{rtt_us} us, queue {queue}: W = {w}, {cycles} cycles of {rounds:.2} rounds, mean {measured:.4} W, \
             predicted {predicted:.4}"
        );
        // The rise and the end of its round are one ACK apart at most, in either order, so that a
        // cycle may have a round more or less. That round is W/4 from the mean of W/2 of them: half a
        // packet. And the measurement cuts a cycle anywhere: half of one, W/8 from the mean.
        let cut = 1.0 / cycles as f64;
        assert!((rounds - (w - low + 1.0)).abs() < 1.0 + rounds * cut, "{rounds} rounds in a cycle");
        assert!((measured - predicted).abs() < 0.5 / w + cut / 16.0, "{measured}, not {predicted}");
        // Rounding W/2 down takes 1/4 packet from the mean: with the above 2 % of the smallest W.
        assert!((measured - 0.75).abs() < 0.75 / w + cut / 16.0, "{measured} is not 3/4");
    }
}
