//! One XMP flow fills its link when K satisfies XMP eq. (1), and falls short of it as its sawtooth
//! says when K does not.
//!
//! Time is counted in packet times of the bottleneck and B = BDP is the base RTT in that unit. With
//! one ACK a packet the sawtooth is exact:
//!
//! Where it turns. A packet that leaves the bottleneck comes back, as the packet that its ACK lets
//! go, B - 1 later (B without its own transmission). So of w packets in flight floor(B) - 1 are
//! outside of the port, apart from the one that arrives, and it finds w - 1 - (floor(B) - 1) there.
//! One of these is on the wire, so w - 1 - floor(B) wait. It is marked if more than K do: if
//! w >= K + 2 + floor(B). A window that rises sends two packets back to back; the first of them finds
//! one packet less (its fellow is still behind it), the second is the one that is marked, at that
//! very w. Its ACK comes one packet after the ACK that ends the round, and there the window has
//! risen once more. So it turns at w_max = K + 3 + floor(B), falls to w_0 = w_max - w_max/beta, and
//! w_max itself never lasts a round.
//!
//! Its rounds. From the packet that begins a round to its ACK, a round at window w sends w packets
//! and takes max(B, w). A cut drains the queue instead: the sender is silent until w_0 packets are in
//! flight, so that round sends w_0 and takes as long as the window before, w_max - 1. The round after
//! it has w_0 too, for the round that was cut does not grow. Then w_0 + 1, ..., w_max - 1. A rising
//! round's first packet finds the window before, so it takes max(B, w - 1). Summed over a cycle:
//!
//!   packets = w_0 + sum(w),  time = max(B, w_0) + sum(max(B, w)),  w = w_0 ... w_max - 1
//!
//! The link is full if w_0 >= B; eq. (1) is this with w_max = K + B.

use tresse_transport::Echo;
use tresse_units::{MICROSECOND, MILLISECOND, SECOND};

use crate::common::{
    Acking, Bottleneck, ENDLESS, GIGABIT, Net, flow, mean, run_until, sample, scheme, shares, some_of,
};

/// RTTs within XMP's "less than 400 us", none of them a whole number of packets.
const RTTS: [u64; 4] = [100, 175, 225, 400];
/// From XMP §2.1 ("between 3 and 5") and around it.
const BETAS: [u64; 4] = [2, 3, 4, 6];

#[derive(Debug, Clone, Copy)]
struct Case {
    rtt_us: u64,
    beta: u64,
    k: u64,
}

#[derive(Debug)]
struct Measured {
    utilisation: f64,
    windows: (u32, u32),
}

impl Case {
    fn link(self) -> Bottleneck {
        Bottleneck::marking(GIGABIT, self.k)
    }

    fn bdp(rtt_us: u64) -> f64 {
        (rtt_us * MICROSECOND) as f64 / Bottleneck::marking(GIGABIT, 0).packet_time() as f64
    }

    /// (w_0, w_max) of the sawtooth above.
    fn windows(self) -> (u32, u32) {
        let max = self.k + 3 + Self::bdp(self.rtt_us) as u64;
        ((max - max / self.beta) as u32, max as u32)
    }

    /// A cut of one packet is no sawtooth: the window is still one at which packets are marked.
    fn is_sawtooth(self) -> bool {
        let (low, high) = self.windows();
        high - low >= 2
    }

    fn predicted(self) -> f64 {
        let (low, high) = self.windows();
        let bdp = Self::bdp(self.rtt_us);
        let rounds = || std::iter::once(low).chain(low..high).map(f64::from);
        rounds().sum::<f64>() / rounds().map(|w| w.max(bdp)).sum::<f64>()
    }

    /// Over a second, after slow start and a few cycles (a cycle is below 20 ms here).
    fn measure(self, acking: Acking, echo: Echo) -> Measured {
        let link = self.link();
        let net = Net::new(self.rtt_us * MICROSECOND, &[link], 1);
        let mut world = net.world();
        let xmp = scheme("xmp", &[("beta", self.beta)]);
        let mut spec = flow(0, &xmp, acking, ENDLESS, vec![net.path(0, 0)]);
        spec.config.echo = echo;
        world.start(spec);
        run_until(&mut world, 60 * MILLISECOND);
        let mut windows = (u32::MAX, 0);
        // Each window lasts a round, and w_max one packet time, 12 us.
        sample(&mut world, 120 * MILLISECOND, 5 * MICROSECOND, |w| {
            let cwnd = w.sender(0).expect("it lives").controller(0).expect("it is open").cwnd;
            windows = (windows.0.min(cwnd), windows.1.max(cwnd));
        });
        let until = world.now() + SECOND;
        Measured { utilisation: shares(&mut world, &link, &[(0, 0)], until)[0], windows }
    }
}

/// Every case of the grid with K at the bound of eq. (1) and above it.
fn satisfying() -> impl Iterator<Item = Case> {
    grid(|bound| vec![bound, bound + 1, 2 * bound])
}

/// Every case of the grid with K below the bound.
fn violating() -> impl Iterator<Item = Case> {
    grid(|bound| vec![0, 1, bound / 4, bound / 2, bound * 3 / 4])
}

fn grid(thresholds: impl Fn(u64) -> Vec<u64>) -> impl Iterator<Item = Case> {
    let mut cases = Vec::new();
    for rtt_us in some_of(&RTTS) {
        for beta in BETAS {
            let mut all = thresholds((Case::bdp(rtt_us) / (beta - 1) as f64).ceil() as u64);
            all.sort_unstable();
            all.dedup();
            cases.extend(all.into_iter().map(|k| Case { rtt_us, beta, k }));
        }
    }
    cases.into_iter().filter(|c| c.is_sawtooth())
}

#[test]
fn a_threshold_that_satisfies_eq_1_fills_the_link() {
    for case in satisfying() {
        let measured = case.measure(Acking::Each, Echo::TwoBit);
        assert!(measured.utilisation > 0.99, "{case:?}: {measured:?}");
        assert_eq!(measured.windows, case.windows(), "{case:?}");
    }
}

/// The tolerance is the part of a cycle that the second of measurement cuts off: a cycle is at most
/// 20 ms and the link is at worst a fifth idle in it, 0.2 * 20 ms / 1 s = 0.4 %.
#[test]
fn a_threshold_that_violates_eq_1_falls_short_as_the_sawtooth_predicts() {
    let mut worst: f64 = 0.0;
    let mut least: f64 = 1.0;
    for case in violating() {
        let measured = case.measure(Acking::Each, Echo::TwoBit);
        let predicted = case.predicted();
        assert_eq!(measured.windows, case.windows(), "{case:?}");
        assert!((measured.utilisation - predicted).abs() < 0.004, "{case:?}: {measured:?}, not {predicted}");
        worst = worst.max((measured.utilisation - predicted).abs());
        least = least.min(measured.utilisation);
    }
    println!("down to {least:.4} of the link, {worst:.5} from the prediction at worst");
    assert!(least < 0.85, "the grid has no case that falls short by much: {least}");
}

/// A delayed ACK does not change where the window turns, so eq. (1) holds with it; what it changes is
/// how a link that is not full is used: the last packet before a silence waits for its ACK until the
/// silence is over, and its round with it.
#[test]
fn delayed_acks_fill_the_link_too() {
    for case in satisfying() {
        let measured = case.measure(Acking::Delayed, Echo::Dctcp);
        assert!(measured.utilisation > 0.99, "{case:?}: {measured:?}");
        assert_eq!(measured.windows, case.windows(), "{case:?}");
    }
    let mut costs = Vec::new();
    for case in violating() {
        let measured = case.measure(Acking::Delayed, Echo::Dctcp);
        let cost = case.predicted() - measured.utilisation;
        assert!(cost > -0.004, "{case:?}: {measured:?}, not {}", case.predicted());
        // At K = 0 the two packets that an ACK lets go suffice for a mark: the window stays at its floor.
        if case.k > 0 {
            costs.push(cost);
        }
    }
    let most = costs.iter().fold(0.0, |a: f64, &b| a.max(b));
    println!("where K is too small they cost {:.4} of the link on average, {most:.4} at most", mean(&costs));
}

/// XMP §3: "By the time snd_una >= cwr_seq holds, all the CEs issued in the previous round will have
/// been fed back", so a round is cut once. That is for the receiver to see to, or for the sender, when
/// an ACK covers both the last packet before the cut, marked, and the first one after it: else
/// the window falls to (1 - 1/beta)^2 of w_max, and eq. (1) is not enough.
#[test]
fn two_bit_echo_with_delayed_acks_cuts_once_a_round() {
    let mut cut_twice = Vec::new();
    for case in satisfying() {
        let measured = case.measure(Acking::Delayed, Echo::TwoBit);
        if measured.windows != case.windows() || measured.utilisation < 0.99 {
            cut_twice.push(format!("{case:?}: {measured:?}, not {:?}", case.windows()));
        }
    }
    let (n, of) = (cut_twice.len(), satisfying().count());
    assert!(cut_twice.is_empty(), "{n} of {of} cases:\n{}", cut_twice.join("\n"));
}

/// wVegas keeps the window at which slow start ended to itself. Kept in the host's ssthresh it was lost,
/// and with delayed ACKs it had 0.21 of the link.
#[test]
fn wvegas_fills_the_link_with_delayed_acks_too() {
    for acking in [Acking::Each, Acking::Delayed] {
        let link = Bottleneck::drop_tail(GIGABIT, 100);
        let net = Net::new(225 * MICROSECOND, &[link], 1);
        let mut world = net.world();
        world.start(flow(0, &scheme("wvegas", &[]), acking, ENDLESS, vec![net.path(0, 0)]));
        run_until(&mut world, SECOND);
        let until = world.now() + SECOND;
        let share = shares(&mut world, &link, &[(0, 0)], until)[0];
        assert!(share > 0.95, "{acking:?}: {share}");
    }
}
