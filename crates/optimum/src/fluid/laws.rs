//! The laws: how each subflow's window changes, given the state of all paths of its connection.

use smallvec::SmallVec;

use super::law::{Answer, Cut, Growth};
use super::opportunistic::alphas;
use super::signals_of_round::{each, either, in_a_round, once_a_round};
use super::{Law, RateBounds, Signal};

/// Cuts per round for a path without any, so that its quality can be compared with others.
const RAREST: f64 = 1e-200;

/// A number for each path of a connection: most have few, and these are made a hundred thousand times.
pub(super) type ByPath<T> = SmallVec<[T; 8]>;

/// A path of a connection at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subflow {
    /// Packets.
    window: f64,
    /// Seconds.
    pub rtt: f64,
    /// Packets a second.
    rate: f64,
    /// The probability of the path's signal.
    pub signalled: f64,
    /// The probability that a packet is lost for other reasons.
    pub loss: f64,
    /// DCTCP's alpha, if the scheme has one.
    pub alpha: f64,
}

impl Subflow {
    /// Without signals; its alpha is `alpha`.
    pub fn new(window: f64, rtt: f64, loss: f64, alpha: f64) -> Self {
        Self { window, rtt, rate: window / rtt, signalled: 0.0, loss, alpha }
    }

    /// The same with a signal of this probability.
    pub fn with_signal(self, signalled: f64) -> Self {
        Self { signalled, ..self }
    }

    pub fn window(&self) -> f64 {
        self.window
    }

    pub fn set_window(&mut self, window: f64) {
        self.window = window;
        self.rate = window / self.rtt;
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }
}

/// The values that all subflows of a connection have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub signal: Signal,
    pub packet_bits: f64,
}

/// Whether the scheme can run in front of a balancer: it has one rate, and a factor r^out in its law.
pub(super) fn is_holnet_single_rate(scheme: &Law) -> bool {
    matches!(scheme, Law::HolnetCc { .. } | Law::HolnetUta { .. })
}

/// DCTCP's gain, if the scheme has an alpha.
pub(super) fn alpha_gain(scheme: &Law) -> Option<f64> {
    match scheme {
        Law::Window { cut: Cut::Marked { g }, .. } => Some(*g),
        _ => None,
    }
}

/// Packets by which each window changes in a round (T dw/dt).
pub(super) fn changes(scheme: &Law, subflows: &[Subflow], context: Context) -> ByPath<f64> {
    match *scheme {
        Law::Window { growth, cut, answer: Answer::Signals } => every_signal(growth, cut, subflows, context),
        Law::Window { growth, cut, answer: Answer::Rounds } => {
            once_each_round(growth, cut, subflows, context)
        }
        Law::HolnetCc { .. } | Law::HolnetMcc | Law::HolnetUta { .. } => {
            let free: ByPath<f64> = subflows.iter().map(|s| 1.0 - congested(s, context.signal)).collect();
            holnet(scheme, subflows, &free, context.packet_bits)
        }
    }
}

/// The share of a subflow's rounds that are congested, for a scheme that answers once a round.
pub(super) fn congested(s: &Subflow, signal: Signal) -> f64 {
    either(once_a_round(signal, s.signalled, s.window).cut, in_a_round(s.loss, s.window))
}

/// [`Answer::Signals`]: `T dw/dt = grow (growth of a round) - cuts (a cut)`.
fn every_signal(growth: Growth, cut: Cut, subflows: &[Subflow], context: Context) -> ByPath<f64> {
    let hear = |s: &Subflow| each(context.signal, s.signalled, s.loss, s.window);
    let growths = growths(growth, subflows, |s| hear(s).cut);
    let law = |(s, growth): (&Subflow, f64)| {
        let heard = hear(s);
        heard.grow * growth - heard.cut * taken(cut, s, subflows)
    };
    subflows.iter().zip(growths).map(law).collect()
}

/// [`Answer::Rounds`]: marks once a round; losses halve the window.
fn once_each_round(growth: Growth, cut: Cut, subflows: &[Subflow], context: Context) -> ByPath<f64> {
    let hear = |s: &Subflow| once_a_round(context.signal, s.signalled, s.window);
    let growths = growths(growth, subflows, |s| hear(s).cut);
    let law = |(s, growth): (&Subflow, f64)| {
        let heard = hear(s);
        let lost = each(Signal::PerPacket, 0.0, s.loss, s.window);
        lost.grow * heard.grow * growth - heard.cut * taken(cut, s, subflows) - lost.cut * s.window / 2.0
    };
    subflows.iter().zip(growths).map(law).collect()
}

/// What a round without a signal adds to each window; `cuts` are a path's in a round.
pub(super) fn growths(growth: Growth, subflows: &[Subflow], cuts: impl Fn(&Subflow) -> f64) -> ByPath<f64> {
    fn of_each(subflows: &[Subflow], of: impl Fn(&Subflow) -> f64) -> ByPath<f64> {
        subflows.iter().map(of).collect()
    }
    let total = total_rate(subflows);
    match growth {
        Growth::Separate { weight } => ByPath::from_elem(weight, subflows.len()),
        Growth::Linked => {
            let linked = linked_increase(subflows);
            of_each(subflows, |s| (s.window * linked).min(1.0))
        }
        Growth::Opportunistic => {
            let windows: ByPath<f64> = subflows.iter().map(|s| s.window).collect();
            let qualities = subflows.iter().map(|s| s.window / cuts(s).max(RAREST) / (s.rtt * s.rtt));
            let alphas = alphas(&windows, &qualities.collect::<ByPath<_>>());
            let shares = subflows.iter().map(|s| s.rate() / total);
            shares.zip(alphas).map(|(share, alpha)| share * share + alpha).collect()
        }
        Growth::Balanced => {
            // share^2 (1 + a)/2 (4 + a)/5 with a = top/share; share may be too small to divide by.
            let top = fastest(subflows) / total;
            of_each(subflows, |s| {
                let share = s.rate() / total;
                (share + top) * (4.0 * share + top) / 10.0
            })
        }
        Growth::Shared => of_each(subflows, |s| s.rate() / total),
        Growth::Larger { weight } => of_each(subflows, |s| (s.rate() / total).max(weight)),
        Growth::ByShortest => {
            let all = total * shortest(subflows);
            of_each(subflows, |s| s.window / all)
        }
        Growth::ByWindow => {
            let windows: f64 = subflows.iter().map(|s| s.window).sum();
            of_each(subflows, |s| s.window / windows)
        }
    }
}

/// What a signal takes from a window; `subflows` are the connection's.
pub(super) fn taken(cut: Cut, s: &Subflow, subflows: &[Subflow]) -> f64 {
    match cut {
        Cut::Part { factor, divisor } => factor * s.window / divisor,
        Cut::Balanced => s.window / 2.0 * (fastest(subflows) / s.rate()).min(1.5),
        Cut::Marked { .. } => s.alpha * s.window / 2.0,
    }
}

/// HOLNET's controllers (THESIS eq. (2.12)) as the average of their sliding mode: cg, which the paper's
/// equations switch between 0 and 1, is replaced by the share of time that it is 1, so that its complement
/// times r^out is `free`. This is the equivalent control of a sliding mode: if it holds the rate, the
/// equilibrium is that of the switched equation.
pub(super) fn holnet(scheme: &Law, subflows: &[Subflow], free: &[f64], packet_bits: f64) -> ByPath<f64> {
    let total = total_rate(subflows);
    let rate_bps = total * packet_bits;
    let law = |(s, free): (&Subflow, &f64)| match *scheme {
        Law::HolnetCc { alpha, weight, gain, bounds } => {
            let threshold = libm::exp(-weight * libm::pow(rate_bps, -alpha));
            // x in packets a round.
            let z = gain * libm::pow(s.rate() * packet_bits, alpha) * s.rtt / packet_bits;
            let change = z * (bounded(bounds, rate_bps, *free) - threshold);
            // At low rates z exceeds the packets of a round, and each packet adds or removes at most one.
            change.clamp(-s.window, s.window)
        }
        Law::HolnetMcc => {
            let threshold = libm::exp(-2.0 / (total * s.rtt));
            s.window / 2.0 * (free - threshold)
        }
        Law::HolnetUta { weight, gamma, bounds } => {
            let slope = gamma / 2.0;
            let pooled = slope * total * s.rtt;
            let threshold = libm::pow(pooled / (1.0 + pooled), weight * gamma);
            let change = (1.0 + slope * s.window) * (bounded(bounds, rate_bps, *free) - threshold);
            // The paper's z does not become 0 at w = 0, where rates must stop falling.
            if change < 0.0 { change * s.window.min(1.0) } else { change }
        }
        _ => unreachable!("not a scheme of HOLNET"),
    };
    subflows.iter().zip(free).map(law).collect()
}

fn bounded(bounds: RateBounds, rate_bps: f64, free: f64) -> f64 {
    free * bounds.factor(rate_bps)
}

/// max(w/T^2) / y^2, LIA's increase per packet before it is bounded by 1/w (RFC 6356 eq. (1)).
fn linked_increase(subflows: &[Subflow]) -> f64 {
    let total = total_rate(subflows);
    subflows.iter().map(|s| s.rate() / s.rtt).fold(0.0, f64::max) / (total * total)
}

fn fastest(subflows: &[Subflow]) -> f64 {
    subflows.iter().map(Subflow::rate).fold(0.0, f64::max)
}

fn total_rate(subflows: &[Subflow]) -> f64 {
    subflows.iter().map(Subflow::rate).sum()
}

fn shortest(subflows: &[Subflow]) -> f64 {
    subflows.iter().map(|s| s.rtt).fold(f64::INFINITY, f64::min)
}
