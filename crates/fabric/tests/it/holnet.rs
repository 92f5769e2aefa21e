//! HOLNET's load balancers at work: packets follow shares, shares move away from congestion, flowlets keep
//! their order, and observation changes nothing.

use proptest::prelude::*;
use tresse_fabric::{
    Arrival, Balancing, Ecn, Fabric, Feedback, FlagConfig, Header, HolnetConfig, Loss, Network, NonEct,
    PortConfig, Processing, QueuedPortConfig, RouteId, Threshold,
};
use tresse_units::{MICROSECOND, NEVER, Time};

use crate::cases;

const GIGABIT: u64 = 1_000_000_000;
/// All shares of a node together.
const ONE: f64 = (1u64 << 32) as f64;

const HOLNET: HolnetConfig =
    HolnetConfig { r_min: 100, r_max: 1500, kappa: 50, period: 40 * MICROSECOND, flowlet_gap: None };

const FLAGS: FlagConfig =
    FlagConfig { fraction: 800, unlimited: Threshold::UNLIMITED, feedback: Feedback::Backward };

fn port(rate: u64) -> PortConfig {
    PortConfig {
        rate,
        delay: 10 * MICROSECOND,
        limit: Threshold::packets(50),
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    }
}

fn header(hash: u32) -> Header {
    Header { hash, ..Header::new(1500, Ecn::Ect) }
}

/// Two leaves with one host each and spines between. Ports: 0, 1 host up; 2, 3 leaf down; then leaf up (by
/// leaf, then spine), then spine down (by spine, then leaf). Host ports have ten times the rate.
fn leaf_spine(spines: u32) -> (Network, Vec<PortConfig>) {
    let (leaf, spine) = ([2, 3], 4..4 + spines);
    let mut ends = vec![[0, 2], [1, 3], [2, 0], [3, 1]];
    ends.extend(leaf.iter().flat_map(|&l| spine.clone().map(move |s| [l, s])));
    ends.extend(spine.clone().flat_map(|s| leaf.map(|l| [s, l])));
    let ports = (0..ends.len()).map(|n| port(if n < 4 { 10 * GIGABIT } else { GIGABIT })).collect();
    (Network { hosts: 2, nodes: 4 + spines, ends }, ports)
}

struct Bench {
    fabric: Fabric<u32>,
    route: RouteId,
    delivered: Vec<u32>,
}

impl Bench {
    fn new(spines: u32, balancing: Balancing, change: impl Fn(&mut [PortConfig])) -> Self {
        let (network, mut ports) = leaf_spine(spines);
        change(&mut ports);
        let mut fabric = Fabric::new(&ports, 4, 1).with_flags(FLAGS).with_forwarding(network, balancing, 3);
        let route = fabric.add_forwarded(0, 1);
        Self { fabric, route, delivered: Vec::new() }
    }

    fn advance(&mut self, to: Time) {
        while let Some(arrival) = self.fabric.advance(to, &()) {
            if let Arrival::Delivered(packet) = arrival {
                self.delivered.push(packet.payload);
            }
        }
        self.fabric.set_now(to);
    }

    /// Sends packets of 1500 bytes at `rate` until `end`.
    fn load(&mut self, rate: u64, end: Time) {
        let gap = 12_000 * 1_000_000_000_000 / rate;
        let mut now = self.fabric.now();
        while now < end {
            self.advance(now);
            self.fabric.send(self.route, header(0), 0);
            now += gap;
        }
        self.advance(end);
    }

    fn shares(&self) -> Vec<f64> {
        self.fabric.shares(2, 1).iter().map(|s| s.1 as f64 / ONE).collect()
    }

    /// Packets that the left leaf has sent to each spine.
    fn sent(&self, spines: usize) -> Vec<u64> {
        self.fabric.ports()[4..4 + spines].iter().map(|p| p.counters().bytes / 1500).collect()
    }

    fn drops(&self) -> u64 {
        self.fabric.ports().iter().map(|p| p.counters().drops).sum()
    }
}

/// Shares begin in proportion to the rates; with no congestion they stay, and packets follow them: each
/// port's count within four deviations of the binomial's.
#[test]
fn packets_follow_the_shares() {
    for balancing in [Balancing::HolnetPercentage(HOLNET), Balancing::HolnetRate(HOLNET)] {
        let mut bench = Bench::new(3, balancing, |ports| ports[5].rate = 2 * GIGABIT);
        assert_eq!(bench.shares(), [0.25, 0.5, 0.25]);
        bench.load(GIGABIT, 200_000 * MICROSECOND);
        assert_eq!(bench.shares(), [0.25, 0.5, 0.25]);
        bench.advance(201_000 * MICROSECOND);
        let (sent, n) = (bench.sent(3), bench.delivered.len() as f64);
        assert_eq!(sent.iter().sum::<u64>(), 16_667);
        for (count, p) in sent.into_iter().zip([0.25, 0.5, 0.25]) {
            let bound = 4.0 * (n * p * (1.0 - p)).sqrt();
            assert!((count as f64 - n * p).abs() < bound, "{count} of {n} at {p}");
        }
    }
}

/// A new rate restarts the shares over its port, in proportion to the rates; other ports' shares stay.
#[test]
fn a_new_rate_begins_shares_anew() {
    for balancing in [Balancing::HolnetPercentage(HOLNET), Balancing::HolnetRate(HOLNET)] {
        let mut bench = Bench::new(3, balancing, |_| {});
        let queued_ports =
            [0, 5].map(|p| (p, QueuedPortConfig::plain(bench.fabric.ports()[p as usize].config())));
        bench.fabric = bench.fabric.with_queued_ports(&queued_ports, &[]);
        bench.fabric.set_rate(5, 2 * GIGABIT);
        assert_eq!(bench.shares(), [0.25, 0.5, 0.25]);
        bench.load(6 * GIGABIT, 10_000 * MICROSECOND);
        let moved = bench.shares();
        assert_ne!(moved, [0.25, 0.5, 0.25], "congestion moves shares");
        bench.fabric.set_rate(0, GIGABIT);
        assert_eq!(bench.shares(), moved, "no share is over this port");
        bench.fabric.set_rate(5, 6 * GIGABIT);
        assert_eq!(bench.shares(), [0.125, 0.75, 0.125]);
    }
}

/// Behind one spine the path is slower than the leaf can know. The leaf's load fits if that spine's share is
/// in a small range, and no port can carry more than its rate. So the mean share is in that range, up to the
/// losses, which are at most a fifth of those with even spraying.
#[test]
fn shares_leave_a_way_that_is_slow_beyond_the_next_hop() {
    let second = 1_000_000 * MICROSECOND;
    let slow = |ports: &mut [PortConfig]| ports[9].rate = GIGABIT / 2; // spine 0 to leaf 1
    let run = |balancing| {
        let mut bench = Bench::new(2, balancing, slow);
        bench.load(1_450_000_000, second / 10);
        let (drops, delivered) = (bench.drops(), bench.delivered.len());
        let mut sum = 0.0;
        for n in 1..=400 {
            bench.load(1_450_000_000, second / 10 + n * second / 1000);
            sum += bench.shares().first().unwrap_or(&0.0);
        }
        let (lost, delivered) = (bench.drops() - drops, bench.delivered.len() - delivered);
        (sum / 400.0, lost as f64 / (lost as f64 + delivered as f64))
    };
    // At most 0.5 of the 1.45 Gbit/s; the other path carries at most 1.
    let (low, high) = (1.0 - 1.0 / 1.45, 0.5 / 1.45);
    let (_, sprayed) = run(Balancing::Spray);
    assert!((sprayed - (0.5 - high)).abs() < 0.01, "{sprayed}");
    for balancing in [Balancing::HolnetPercentage(HOLNET), Balancing::HolnetRate(HOLNET)] {
        let (share, lost) = run(balancing);
        // A draw's share differs from the mean share by 0.01 or less in 5 deviations.
        let range = low - lost - 0.01..high + lost + 0.01;
        assert!(range.contains(&share), "{balancing:?}: {share} not in {range:?}");
        assert!(lost < sprayed / 5.0, "{balancing:?}: {lost} is lost");
    }
}

/// A share that has fallen to 0 comes back when another path is congested.
#[test]
fn a_way_that_was_left_is_taken_again() {
    let mut bench = Bench::new(2, Balancing::HolnetPercentage(HOLNET), |_| {});
    let crowd = |bench: &mut Bench, port: u32| {
        let cross = bench.fabric.add_route(&[port]);
        let begin = bench.fabric.now();
        for n in 0..4000 {
            bench.advance(begin + n * 10 * MICROSECOND);
            bench.fabric.send(cross, header(0), 0);
        }
    };
    crowd(&mut bench, 4);
    assert_eq!(bench.shares(), [0.0, 1.0]);
    bench.advance(bench.fabric.now() + 1000 * MICROSECOND);
    crowd(&mut bench, 5);
    assert_eq!(bench.shares(), [1.0, 0.0]);
}

/// Ports that know departures at once and queued ports flag the same congestion: every packet goes the same
/// path and arrives at the same time while shares move.
#[test]
fn plain_ports_and_real_servers_balance_alike() {
    for bytes in [false, true] {
        let limit = |p: &mut PortConfig| {
            p.limit = if bytes { Threshold::bytes(40_000) } else { Threshold::packets(25) };
        };
        let run = |queued: bool| {
            let (network, mut ports) = leaf_spine(3);
            ports.iter_mut().for_each(limit);
            ports[11].rate = GIGABIT / 3; // spine 0 to leaf 1
            let queued_ports: Vec<_> =
                (0..ports.len()).map(|p| (p as u32, QueuedPortConfig::plain(&ports[p]))).collect();
            let mut fabric = Fabric::new(&ports, 4, 1)
                .with_queued_ports(if queued { &queued_ports } else { &[] }, &[])
                .with_flags(FLAGS)
                .with_forwarding(network, Balancing::HolnetPercentage(HOLNET), 3);
            let route = fabric.add_forwarded(0, 1);
            let mut bench = Bench { fabric, route, delivered: Vec::new() };
            bench.load(2_250_000_000, 20_000 * MICROSECOND);
            (bench.shares(), bench.sent(3), bench.drops(), bench.delivered.len())
        };
        let plain = run(false);
        assert!(plain.0[0] < 0.25, "{:?}", plain.0);
        assert_eq!(plain, run(true));
    }
}

/// The percentage balancer runs in leaves only, the rate balancer in every switch.
#[test]
fn which_nodes_balance() {
    // A host, a leaf, a middle switch, two paths, a leaf, a host; ports 0 to 6 along the way, alternating
    // between the paths.
    let ends = vec![[0, 2], [2, 3], [3, 4], [3, 5], [4, 6], [5, 6], [6, 1], [1, 6]];
    let network = Network { hosts: 2, nodes: 7, ends };
    for (balancing, moves) in
        [(Balancing::HolnetPercentage(HOLNET), false), (Balancing::HolnetRate(HOLNET), true)]
    {
        let mut fabric: Fabric<u32> = Fabric::new(&[port(GIGABIT); 8], 6, 1)
            .with_flags(FLAGS)
            .with_forwarding(network.clone(), balancing, 1);
        let cross = fabric.add_route(&[2]);
        for n in 0..50 {
            fabric.send(cross, header(0), n);
        }
        while fabric.advance(NEVER, &()).is_some() {}
        let shares = fabric.shares(3, 1);
        assert_eq!([shares[0].0, shares[1].0], [2, 3]);
        assert_eq!(shares[0].1 < shares[1].1, moves, "{shares:?}");
        assert!(fabric.shares(2, 1).is_empty(), "no choice, no shares");
        // One destination: its share is the mean, if its switch moves it at all.
        let mean = fabric.mean_shares();
        let own = shares.iter().map(|&(_, share)| moves.then_some(share));
        assert_eq!((mean.len(), mean[2..4].to_vec()), (8, own.collect::<Vec<_>>()));
        assert!(mean.iter().enumerate().all(|(port, own)| own.is_none() || [2, 3].contains(&port)));
    }
}

/// A leaf with two destinations and different shares: 1/2 and 1/2 to one, 2/3 and 1/3 to the other, over ports of 2, 2 and
/// 1 Gbit/s.
#[test]
fn the_mean_share_is_over_destinations() {
    // Hosts 0 to 2 are at leaves 3 to 5; spines 6 and 7 lead to leaf 4, spines 6 and 8 to leaf 5.
    let ends = vec![[0, 3], [3, 6], [3, 7], [3, 8], [6, 4], [7, 4], [6, 5], [8, 5], [4, 1], [5, 2], [3, 0]];
    let mut ports = vec![port(GIGABIT); ends.len()];
    ports[1].rate = 2 * GIGABIT;
    ports[2].rate = 2 * GIGABIT;
    let network = Network { hosts: 3, nodes: 9, ends };
    let fabric: Fabric<u32> = Fabric::new(&ports, 6, 1).with_flags(FLAGS).with_forwarding(
        network,
        Balancing::HolnetPercentage(HOLNET),
        1,
    );
    let of = |to| fabric.shares(3, to).iter().map(|s| (s.0, s.1 as f64 / ONE)).collect::<Vec<_>>();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert_eq!(of(1), [(1, 0.5), (2, 0.5)]);
    let [(1, first), (3, second)] = of(2)[..] else { panic!("two ports") };
    assert!(near(first, 2.0 / 3.0) && near(second, 1.0 / 3.0));
    let mean: Vec<f64> =
        fabric.mean_shares()[1..4].iter().map(|own| own.expect("shares") as f64 / ONE).collect();
    assert!(near(mean[0], (0.5 + first) / 2.0) && near(mean[1], 0.5) && near(mean[2], second), "{mean:?}");
}

/// A flow whose packets come faster than the gap keeps to one port and so keeps its order, whatever the
/// queues there; after a pause of a gap it draws anew, and its flowlets follow the shares.
#[test]
fn flowlets_keep_order_within_a_gap() {
    let gap = 500 * MICROSECOND;
    let config = HolnetConfig { flowlet_gap: Some(gap), ..HOLNET };
    let mut bench = Bench::new(2, Balancing::HolnetPercentage(config), |ports| {
        ports[4].delay = 200 * MICROSECOND;
    });
    let (mut now, mut sent, mut first_port) = (0, Vec::new(), 0);
    for flowlet in 0..500u32 {
        let before = bench.sent(2);
        for n in 0..10 {
            bench.advance(now);
            sent.push(flowlet * 10 + n);
            bench.fabric.send(bench.route, header(7), flowlet * 10 + n);
            now += gap - 1;
        }
        bench.advance(now);
        let counts: Vec<u64> = bench.sent(2).iter().zip(&before).map(|(a, b)| a - b).collect();
        assert!(counts == [10, 0] || counts == [0, 10], "flowlet {flowlet} is torn: {counts:?}");
        first_port += counts[0] / 10;
        now += 1;
    }
    bench.advance(now + gap);
    assert_eq!(bench.delivered, sent);
    assert!((first_port as f64 - 250.0).abs() < 4.0 * (500.0f64 * 0.25).sqrt(), "{first_port} of 500");
    // If each packet chooses separately, the order is lost.
    let mut torn = Bench::new(2, Balancing::HolnetPercentage(HOLNET), |ports| {
        ports[4].delay = 1000 * MICROSECOND;
    });
    for n in 0..100 {
        torn.advance(u64::from(n) * (gap - 1));
        torn.fabric.send(torn.route, header(7), n);
    }
    torn.advance(NEVER / 2);
    assert!(!torn.delivered.is_sorted());
}

proptest! {
    #![proptest_config(cases(256))]

    /// Links fail and come back under load: each packet is delivered or dropped, once; shares always add up
    /// to one over the ports that are up; and stopping the clock on the way changes nothing.
    #[test]
    fn packets_are_conserved_and_looking_changes_nothing(
        seed in any::<u64>(),
        changes in prop::collection::vec((0u64..3000, 0usize..8, any::<bool>(), any::<bool>()), 0..12),
        (rate_law, flowlets) in (any::<bool>(), any::<bool>()),
        stops in prop::collection::vec(0u64..4000, 0..20),
    ) {
        let config = HolnetConfig { flowlet_gap: flowlets.then_some(30 * MICROSECOND), ..HOLNET };
        let balancing =
            if rate_law { Balancing::HolnetRate(config) } else { Balancing::HolnetPercentage(config) };
        let run = |stops: &[u64]| {
            let (network, ports) = leaf_spine(2);
            let queued_ports: Vec<_> = (4..12).map(|p| (p, QueuedPortConfig::plain(&port(GIGABIT)))).collect();
            let mut fabric: Fabric<u32> = Fabric::new(&ports, 4, 1)
                .with_queued_ports(&queued_ports, &[])
                .with_flags(FLAGS)
                .with_forwarding(network, balancing, seed);
            let routes = [fabric.add_forwarded(0, 1), fabric.add_forwarded(1, 0)];
            let mut log = Vec::new();
            // By time: first changes, then packets, then stops.
            let mut steps: Vec<(u64, u32, usize)> = Vec::new();
            steps.extend(changes.iter().enumerate().map(|(n, c)| (c.0, 0, n)));
            steps.extend((0..1000).map(|n| (3 * n as u64, 1, n)));
            steps.extend(stops.iter().map(|&t| (t, 2, 0)));
            steps.sort_unstable();
            let mut sent = 0;
            let mut take = |fabric: &mut Fabric<u32>, until: Time| {
                while let Some(arrival) = fabric.advance(until, &()) {
                    log.push(match arrival {
                        Arrival::Delivered(packet) => (fabric.now(), packet.payload, true),
                        Arrival::Dropped(packet) => (fabric.now(), packet.payload, false),
                    });
                }
            };
            for (time, what, n) in steps {
                take(&mut fabric, time * MICROSECOND);
                fabric.set_now(time * MICROSECOND);
                match what {
                    0 => {
                        let (_, link, up, reroute) = changes[n];
                        fabric.set_link(4 + link as u32, up);
                        if reroute {
                            fabric.reroute();
                        }
                    }
                    1 => sent += u32::from(fabric.send(routes[n % 2], header(n as u32 % 5), n as u32)),
                    _ => {}
                }
                for (leaf, to) in [(2, 1), (3, 0)] {
                    let shares = fabric.shares(leaf, to);
                    let sum = shares.iter().map(|s| s.1).sum::<u64>();
                    assert!(shares.is_empty() || sum == 1 << 32, "{shares:?}");
                }
            }
            take(&mut fabric, NEVER);
            assert_eq!(fabric.in_flight(), 0);
            (log, sent)
        };
        let (log, sent) = run(&[]);
        let mut names: Vec<u32> = log.iter().map(|l| l.1).collect();
        names.sort_unstable();
        names.dedup();
        prop_assert_eq!((names.len(), log.len()), (sent as usize, sent as usize));
        prop_assert_eq!((log, sent), run(&stops));
    }
}
