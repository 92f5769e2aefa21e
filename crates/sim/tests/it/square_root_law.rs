//! Reno's rate under random losses: where each packet is lost with probability p, its mean window over time tends to
//! 1.31/sqrt(p) as p goes to 0 (Ott, Kemperman and Mathis 1996: the constant of AIMD with 1 and 1/2 is 1.3098; with a loss
//! once a period it would be sqrt(3/2) = 1.22).
//!
//! The round of a recovery adds nothing. So each loss leaves a packet less than in that walk, which the next loss halves: two
//! packets in the mean. Several losses of one window are one event, and p is the rate of events.

use tresse_fabric::{Loss, Probability};
use tresse_transport::Recovery;
use tresse_units::{MICROSECOND, SECOND, seconds};

use crate::common::{Acking, Bottleneck, ENDLESS, GIGABIT, Net, acked, flow, run_until, scheme};

/// Losses that a mean is over.
const LOSSES: f64 = 2000.0;

#[test]
fn reno_follows_the_square_root_law() {
    for parts in [1_u32 << 22, 1 << 23] {
        let p = f64::from(parts) / 2f64.powi(32);
        // So fast that nothing queues, and so that a round takes the RTT.
        let rtt = 1000 * MICROSECOND;
        let link = Bottleneck::drop_tail(100 * GIGABIT, 100_000);
        let mut net = Net::new(rtt, &[link], 1);
        net.ports[Net::bottleneck(0) as usize].loss = Loss::new(Probability::from_parts(parts.into()), 1, 0);
        let mut world = net.world();
        let mut spec = flow(0, &scheme("reno", &[]), Acking::Each, ENDLESS, vec![net.path(0, 0)]);
        spec.config.recovery = Recovery::Sack;
        world.start(spec);
        run_until(&mut world, SECOND);
        let (start, before) = (world.now(), acked(&world, 0, 0));
        // A mean window of 1.31/sqrt(p) has 1.31 sqrt(p) losses a round.
        let rounds = LOSSES / (1.31 * p.sqrt());
        run_until(&mut world, start + (rounds * rtt as f64) as u64);
        let packets = (acked(&world, 0, 0) - before) as f64;
        let window = packets * seconds(rtt) / seconds(world.now() - start);
        let counters = world.sender(0).expect("it lives").counters(0);
        let events = (counters.recoveries + counters.timeouts) as f64 / counters.sent as f64;
        assert!((0.85..1.0).contains(&(events / p)), "p = {p}: {events} events a packet");
        let theory = 1.3098 / events.sqrt() - 2.0;
        println!("p = {p:.6}: {window:.2} packets, {theory:.2} by the law");
        assert!((window / theory - 1.0).abs() < 0.03, "p = {p}: {window} packets, {theory} by the law");
    }
}
