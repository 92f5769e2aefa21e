//! XMP, DCTCP and DCM alone at one link: height and pace of their sawtooth, and the mean queue, as
//! arithmetic says they must be.
//!
//! Time is counted in packet times of the bottleneck and B = BDP is the base RTT in that unit, as in
//! utilisation.rs, which derives where a window turns. Every link here stays full, so each packet time
//! one packet leaves, one ACK comes back, and of w packets in flight w - B wait. A cycle is then
//! counted in packets, and the mean queue is the mean of what is in flight over these, less B.
//!
//! A cut of c packets from w to w_0 begins a round in which w ACKs come and the window does not grow:
//! for c of them the sender is silent and w_0 + c ... w_0 are in flight, for the others w_0.

use tresse_sim::World;
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Time};

use crate::common::{
    Acking, Bottleneck, ENDLESS, GIGABIT, Net, flow, mean, mean_queue, run_until, sample, scheme, some_of,
};

/// Rate, RTT in us, K: all of them full with XMP's beta = 4, too.
const LINKS: [(u64, u64, u64); 6] = [
    (GIGABIT, 225, 20),
    (GIGABIT, 225, 40),
    (GIGABIT, 400, 40),
    (10 * GIGABIT, 100, 65),
    (10 * GIGABIT, 225, 65),
    (10 * GIGABIT, 225, 200),
];

/// Slow start, and then alpha forgets its start.
const SETTLE: Time = 200 * MILLISECOND;
const MEASURE: Time = SECOND;

/// A link with a connection that has it for itself.
struct Alone {
    link: Bottleneck,
    world: World,
    /// BDP, packets.
    bdp: f64,
    subflows: usize,
}

/// A cycle of the sawtooth: how long, and what is in flight all that time together.
#[derive(Debug, Clone, Copy)]
struct Cycle {
    packets: f64,
    in_flight: f64,
}

impl Cycle {
    /// From the cut to the end of its round, in which `acks` ACKs come.
    fn cut(from: f64, cut: f64, acks: f64) -> Self {
        let low = from - cut;
        Self { packets: acks, in_flight: cut * (from + low) / 2.0 + (acks - cut) * low }
    }

    /// More of it, with `window` packets in flight.
    fn then(self, packets: f64, window: f64) -> Self {
        Self { packets: self.packets + packets, in_flight: self.in_flight + packets * window }
    }
}

impl Alone {
    fn new(controller: &str, (rate, rtt_us, k): (u64, u64, u64), subflows: usize) -> Self {
        let link = Bottleneck::marking(rate, k);
        let net = Net::new(rtt_us * MICROSECOND, &[link], 1);
        let mut world = net.world();
        let scheme = scheme(controller, &[]);
        world.start(flow(0, &scheme, Acking::Each, ENDLESS, vec![net.path(0, 0); subflows]));
        run_until(&mut world, SETTLE);
        let bdp = (rtt_us * MICROSECOND) as f64 / link.packet_time() as f64;
        Self { link, world, bdp, subflows }
    }

    fn mark_cuts(&self) -> u64 {
        let sender = self.world.sender(0).expect("it lives");
        (0..self.subflows).map(|i| sender.counters(i).mark_cuts).sum()
    }

    /// Cuts of a subflow from now on, on average, and the mean queue.
    fn cuts_and_queue(&mut self) -> (f64, f64) {
        let before = self.mark_cuts();
        let until = self.world.now() + MEASURE;
        let queue = mean_queue(&mut self.world, Net::bottleneck(0), until);
        ((self.mark_cuts() - before) as f64 / self.subflows as f64, queue)
    }

    /// Each cut from now on: (subflow, window before, window after). One that rounds to nothing is none.
    fn sawtooth(&mut self) -> Vec<(usize, f64, f64)> {
        let subflows = self.subflows;
        let windows = |w: &World| -> Vec<u32> {
            let sender = w.sender(0).expect("it lives");
            (0..subflows).map(|i| sender.controller(i).expect("it is open").cwnd).collect()
        };
        let mut last = windows(&self.world);
        let mut cuts = Vec::new();
        // No window changes twice in a packet's time.
        let (until, step) = (self.world.now() + MEASURE / 4, self.link.packet_time() / 2);
        sample(&mut self.world, until, step, |w| {
            let now = windows(w);
            for (i, (&before, &after)) in last.iter().zip(&now).enumerate() {
                if after < before {
                    cuts.push((i, f64::from(before), f64::from(after)));
                }
            }
            last = now;
        });
        cuts
    }

    /// How many of these cycles fit into the measurement.
    fn cycles(&self, cycle: Cycle) -> f64 {
        MEASURE as f64 / self.link.packet_time() as f64 / cycle.packets
    }

    /// The mean queue over such cycles.
    fn queue(&self, cycle: Cycle) -> f64 {
        cycle.in_flight / cycle.packets - self.bdp
    }

    /// How far the mean queue may be from it, for a sawtooth of height `cut`: the measurement begins and
    /// ends in a cycle, whose parts differ from its mean by cut/8 of a whole cycle at most; and once
    /// a round a packet follows its fellow at once and is in flight for a packet time that is not counted.
    fn tolerance(&self, cycle: Cycle, cut: f64) -> f64 {
        cut / 8.0 / self.cycles(cycle) + cycle.packets / cycle.in_flight
    }
}

/// XMP, Algorithm 1 with beta = 4. From utilisation.rs: it turns at w_max = K + 3 + floor(B), is cut to
/// w_0 = w_max - floor(w_max/beta), where w_max itself lasts no time; the round after the cut has w_0
/// too, then each has one packet more, and a round at w takes w - 1, as its first packet finds the window
/// before. In the continuous limit these are w_max/beta rounds a cycle.
#[test]
fn xmp_is_cut_as_often_as_its_sawtooth_says() {
    const BETA: u64 = 4;
    for link in some_of(&LINKS) {
        let mut alone = Alone::new("xmp", link, 1);
        let peak = link.2 + 3 + alone.bdp as u64;
        let cut = peak / BETA;
        let low = peak - cut;
        let mut cycle = Cycle::cut(peak as f64, cut as f64, (peak - 1) as f64).then(low as f64, low as f64);
        for w in low + 1..peak {
            cycle = cycle.then((w - 1) as f64, w as f64);
        }
        let (cuts, queue) = alone.cuts_and_queue();
        println!(
            "{link:?}: {cuts} cuts, predicted {:.1}; mean queue {queue:.3}, predicted {:.3}",
            alone.cycles(cycle),
            alone.queue(cycle)
        );
        // The cycles in which the measurement begins and ends.
        assert!((cuts - alone.cycles(cycle)).abs() <= 1.0, "{link:?}");
        let tolerance = alone.tolerance(cycle, cut as f64);
        assert!((queue - alone.queue(cycle)).abs() < tolerance, "{link:?}");
    }
}

/// The cut at which a cycle of `cut / per_round` rounds of growth, and two more, leaves such an alpha
/// that the cut is peak alpha/2.
///
/// One round of a cycle is marked. Its marks come in after the cut, for the first of them makes it; so
/// alpha is what g of the last marked round has decayed to in the r - 1 rounds since:
///
///   alpha = g (1 - g)^(r - 1) / (1 - (1 - g)^r)
///
/// For g -> 0 that is 1/r, and without the two rounds of delay c^2 = peak/2: the DCTCP paper's
/// alpha = sqrt(2/w*).
fn dctcp_cut(peak: f64, per_round: f64) -> f64 {
    const G: f64 = 1.0 / 16.0;
    let too_small = |cut: f64| {
        let rounds = cut / per_round + 2.0;
        let decay = |r: f64| (1.0 - G).powf(r);
        cut < peak / 2.0 * G * decay(rounds - 1.0) / (1.0 - decay(rounds))
    };
    let (mut low, mut high) = (0.0, peak);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if too_small(middle) { low = middle } else { high = middle }
    }
    low
}

/// DCTCP (RFC 8257; Alizadeh et al., SIGCOMM 2010, §3.3, with the delays that a fluid has not). It turns
/// where the packet is marked, a packet below XMP, as its window grows by ACKs and not at the end
/// of a round: M = K + 2 + floor(B). Then it stays at M until the mark is echoed, M - 1 packets later.
/// After the round of the cut each window w lasts for w ACKs.
///
/// A cut is rounded down to whole packets, and what alpha has above that shortens no cycle but raises
/// the next alpha: cuts go to and fro between the two whole numbers, or stay at the nearest.
#[test]
fn dctcp_swings_as_its_alpha_says() {
    for link in some_of(&LINKS) {
        let mut alone = Alone::new("dctcp", link, 1);
        let peak = (link.2 + 2 + alone.bdp as u64) as f64;
        let (cuts, queue) = alone.cuts_and_queue();
        let teeth = alone.sawtooth();
        assert!(teeth.iter().all(|&(_, before, _)| before == peak), "{link:?}: {teeth:?}");
        let cut = mean(&teeth.iter().map(|&(_, before, after)| before - after).collect::<Vec<_>>());
        let predicted = dctcp_cut(peak, 1.0);
        let fluid = ((alone.bdp + link.2 as f64) / 2.0).sqrt();
        assert!((cut - predicted).abs() < 0.5, "{link:?}: cuts of {cut}, not {predicted}");
        assert!(cut < fluid, "{link:?}: {cut}");

        // Cuts of two sizes alternate: so do the cycles.
        let cycles = teeth.iter().map(|&(_, _, low)| {
            let mut cycle = Cycle::cut(peak, peak - low, peak);
            for w in low as u64..peak as u64 {
                cycle = cycle.then(w as f64, w as f64);
            }
            cycle.then(peak - 1.0, peak)
        });
        let cycle = average(cycles);
        println!(
            "{link:?}: cut {cut:.2}, predicted {predicted:.2}, fluid {fluid:.2}; {cuts} cuts, predicted \
             {:.1}; mean queue {queue:.3}, predicted {:.3}",
            alone.cycles(cycle),
            alone.queue(cycle)
        );
        // The same, and the sizes may be mixed a little differently in the part that was looked at.
        assert!((cuts / alone.cycles(cycle) - 1.0).abs() < 0.01, "{link:?}");
        assert!((queue - alone.queue(cycle)).abs() < alone.tolerance(cycle, cut), "{link:?}");
    }
}

fn average(cycles: impl Iterator<Item = Cycle>) -> Cycle {
    let (mut sum, mut count) = (Cycle { packets: 0.0, in_flight: 0.0 }, 0.0);
    for cycle in cycles {
        sum.packets += cycle.packets;
        sum.in_flight += cycle.in_flight;
        count += 1.0;
    }
    Cycle { packets: sum.packets / count, in_flight: sum.in_flight / count }
}

/// DCM with two subflows: DCTCP's sawtooth of the sum of the windows, W, only that W grows slower.
///
/// At equal RTTs LIA adds max(w)/W^2 for an ACK, on whichever subflow: m = max(w)/W a round, between 1/2
/// and 1, to W. Both subflows see the same marks and have the same alpha, so their cuts sum to
/// M alpha/2, and take as many rounds of growth as they are of m. How W is divided does not
/// change by itself (both windows grow and shrink in proportion), so m is taken from the measurement.
///
/// Whole packets leave this open:
/// - Two cuts are rounded down, not one: their sum C is known to one packet.
/// - Until the echo of a mark the other subflow may grow too, so W turns at M or M + 1. Of the C packets
///   of growth one may fall into that round; or the other subflow has lost as much as a packet
///   when the cut took its fraction: there are (C - 1)/m to (C + 1)/m rounds of growth.
/// - For the mean queue that is half a packet at most, as rounds more or less lie on both sides of it.
#[test]
fn two_subflows_of_dcm_swing_as_one_that_grows_slower() {
    // Windows that are cut by two packets or more.
    let more = [(10 * GIGABIT, 100, 130), (10 * GIGABIT, 225, 130), (10 * GIGABIT, 400, 150)];
    for link in LINKS.into_iter().filter(|&(rate, _, _)| rate > GIGABIT).chain(more) {
        let mut alone = Alone::new("dcm", link, 2);
        let turn = (link.2 + 2 + alone.bdp as u64) as f64;
        let (cuts, queue) = alone.cuts_and_queue();
        let teeth = alone.sawtooth();
        let of = |i: usize, value: fn(f64, f64) -> f64| {
            let own = teeth.iter().filter(|&&(subflow, _, _)| subflow == i);
            mean(&own.map(|&(_, before, after)| value(before, after)).collect::<Vec<_>>())
        };
        let peaks = [of(0, |before, _| before), of(1, |before, _| before)];
        let peak = peaks[0] + peaks[1];
        assert!((turn..=turn + 1.0).contains(&peak), "{link:?}: {peaks:?}, not {turn}");

        let cut = of(0, |before, after| before - after) + of(1, |before, after| before - after);
        let per_round = peaks[0].max(peaks[1]) / peak;
        let predicted = dctcp_cut(turn, per_round);
        let cycle = |grown: f64| {
            let window = peak - (cut + 1.0) / 2.0;
            Cycle::cut(peak, cut, peak).then(grown / per_round * window, window).then(peak - 1.0, peak)
        };
        let (least, most) = (alone.cycles(cycle(cut + 1.0)), alone.cycles(cycle(cut - 1.0)));
        println!(
            "{link:?}: windows {peaks:.1?}, cut {cut:.2}, predicted {predicted:.2}; {cuts} cuts, predicted \
             {least:.1} to {most:.1}; mean queue {queue:.3}, predicted {:.3}",
            alone.queue(cycle(cut))
        );
        assert!((cut - predicted).abs() < 1.0, "{link:?}: cuts of {cut}, not {predicted}");
        assert!((least..most).contains(&cuts), "{link:?}: {cuts}");
        assert!((queue - alone.queue(cycle(cut))).abs() < 0.5, "{link:?}: {queue}");
    }
}
