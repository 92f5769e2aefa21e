//! Each controller a second time, in real numbers, from its paper's equations alone.
//!
//! The equations were not taken from `controllers/*.c`: two readings of one text that agree are a
//! better witness than one reading that agrees with itself. Only the tolerances know of fixed-point
//! formats, and where a paper is silent the choice says so. A reading has whole-packet windows, as
//! the contract has, and keeps everything else in `f64`.

use tresse_controllers::{Ack, Cause};

mod amp;
mod balia;
mod bos;
mod coupled_t31;
mod cubic;
mod dcm;
mod dctcp;
mod eutcp;
mod holnet;
mod lia;
mod odctcp;
mod olia;
mod reno;
mod semicoupled;
pub mod sprayed;
mod vmcc;
mod weighted;
mod wutcp;
mod wvegas;
mod xmp;

pub use balia::{BALIA_ERROR, balanced_increase, rate_ratio};
pub use cubic::{cube, time_to_rise};
pub use dctcp::{ALPHA_ERROR, Dctcp};
pub use holnet::{AlphaFair, Uta};
pub use lia::{LIA_ERROR, linked_increase};
pub use olia::modulation;
pub use weighted::{Rule, Weights};
pub use xmp::delta;

/// One subflow, as the equations see it.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// w, whole packets.
    pub window: f64,
    /// The slow-start threshold, packets.
    pub threshold: f64,
    /// T, the smoothed RTT in 1/8 us; no equation minds the unit. Infinite before the first
    /// sample: such a subflow has no rate.
    pub rtt: f64,
    /// The window is being reduced, for a mark or in a fast recovery: XMP's state is not NORMAL. A
    /// timeout's slow start is NORMAL again.
    pub reduced: bool,
    /// Nothing is lost, reordered, marked or being repaired.
    pub open: bool,
    /// The window, and not the application, is the limit.
    pub limited: bool,
    /// w as the ACK at hand found it: slow start may have raised it since.
    pub found: f64,
    /// The payload of a full packet, bytes.
    pub packet: f64,
    /// The fraction of a packet by which the window has grown beyond `window`.
    pub fraction: f64,
    /// How far the fraction may be off, to either side: the controller keeps it to itself.
    pub unsure: f64,
}

/// What an equation gives, and how far from it an integer controller may be.
#[derive(Debug, Clone, Copy)]
pub struct Real {
    /// Packets.
    pub packets: f64,
    /// Packets to either side.
    pub within: f64,
}

/// A controller as its paper writes it. `all` are the subflows of the connection, `i` the own one.
pub trait Reading {
    /// Every ACK, before anything else.
    fn ack(&mut self, _all: &[View], _i: usize, _ack: &Ack) {}

    /// Whether subflow `i` is in slow start.
    fn starts_slowly(&self, all: &[View], i: usize) -> bool {
        all[i].window < self.threshold(all, i)
    }

    /// Where its slow start ends, packets.
    fn threshold(&self, all: &[View], i: usize) -> f64 {
        all[i].threshold
    }

    /// What a packet delivered in slow start is worth, packets; `None`: one, as RFC 5681 has it.
    fn start_gain(&self, _all: &[View], _i: usize) -> Option<Real> {
        None
    }

    /// By how much congestion avoidance raises the window, packets (OLIA may lower it); `packets` are
    /// those that slow start has left of the ACK.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real;

    /// Whether a mark is not congestion for subflow `i`: asked before `cut`, which is not asked then.
    fn ignores_marks(&self, _view: &View, _i: usize) -> bool {
        false
    }

    /// The window after the cut, before the floor.
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real;

    /// A timeout, after the cut.
    fn timeout(&mut self, _i: usize) {}

    /// The smallest window, packets.
    fn floor(&self) -> f64 {
        2.0
    }

    /// Down to which window `increase` may lower, packets.
    fn least(&self) -> f64 {
        1.0
    }

    /// Whether a cut keeps the fraction of a packet by which the window had grown already. RFC
    /// 5681 has no fractions and does not say: they are dropped. XMP's `adder` stays.
    fn keeps_fraction(&self) -> bool {
        false
    }
}

/// The reading of the built-in controller `name` with `settings` in place of its defaults, for `count`
/// subflows.
pub fn reading(name: &str, settings: &[(&str, u64)], count: usize) -> Box<dyn Reading> {
    let set = |parameter: &str, default: u64| {
        settings.iter().find(|(name, _)| *name == parameter).map_or(default, |&(_, value)| value)
    };
    let omegas = ["omega_0", "omega_1", "omega_2", "omega_3"].map(|name| set(name, 0));
    let gammas = ["gamma_0", "gamma_1", "gamma_2", "gamma_3"].map(|name| set(name, 0));
    let by_place = || Weights {
        given: omegas.into(),
        rule: Rule::Count, // 1/S, THESIS §4.3.3
    };
    // Table 2.1's r_min, and the r_max of the catalogue (S22).
    let class = || {
        let of = |parameter: &str, default: u64| set(parameter, default) as f64;
        let r = (of("r_max", 3000) / 1000.0, of("r_min", 100) / 1000.0);
        holnet::Class::new(of("min_rate", 0) * 1000.0, of("max_rate", 0) * 1000.0, r, count)
    };
    match name {
        "amp" => Box::new(amp::Amp),
        "balia" => Box::new(balia::Balia),
        "coupled_t31" => Box::new(coupled_t31::CoupledT31),
        "semicoupled" => Box::new(semicoupled::Semicoupled),
        // THESIS §3.4.3: fairest at 1.05.
        "eutcp" => Box::new(eutcp::Eutcp::new(set("gamma", 1050), &gammas, set("exact", 0) == 1, count)),
        // Honda's weight.
        "ewtcp" => Box::new(weighted::Weighted(Weights { given: vec![], rule: Rule::of(set("rule", 3)) })),
        "hmptcp" => Box::new(weighted::Hybrid(by_place())),
        "wmptcp" => Box::new(weighted::Weighted(by_place())),
        // THESIS §3.4.4: 1/m is the fair one.
        "wutcp" => Box::new(wutcp::Wutcp {
            weights: Weights {
                given: (0..count)
                    .map(|i| omegas.get(i).copied().filter(|&own| own > 0).unwrap_or(set("omega", 0)))
                    .collect(),
                rule: Rule::of(set("rule", 2)),
            },
        }),
        "bos" => Box::new(bos::Bos::new(count, 4.0)),
        "cubic" => Box::new(cubic::Cubic::new(count)),
        "halving" => Box::new(bos::Bos::new(count, 2.0)),
        "odctcp" => Box::new(odctcp::Odctcp::new(count)),
        "vmcc" => Box::new(vmcc::Vmcc::new(count)),
        "wvegas" => Box::new(wvegas::Wvegas::new(count)),
        "dcm" => Box::new(dcm::Dcm::new(count)),
        "holnet_cc" | "holnet_cc_ecn" => Box::new(holnet::Cc(AlphaFair::new(0.5, 1.0))),
        "holnet_cc_cos" | "holnet_cc_cos_ecn" => {
            Box::new(holnet::CcCos { law: AlphaFair::new(0.5, 1.0), class: class() })
        }
        "holnet_mcc" | "holnet_mcc_ecn" => Box::new(holnet::Mcc),
        "holnet_mcc_cos" | "holnet_mcc_cos_ecn" => Box::new(holnet::MccCos(class())),
        "holnet_uta" | "holnet_uta_ecn" => Box::new(Uta { w: 1.0, r: 1.0 }),
        "olia" => Box::new(olia::Olia::new(count)),
        "reno" => Box::new(reno::Reno),
        "dctcp" => Box::new(dctcp::Dctcp::new(count)),
        "lia" => Box::new(lia::Lia),
        "xmp" => Box::new(xmp::Xmp::new(count)),
        _ => panic!("no independent reading of {name}: write one"),
    }
}

/// RFC 5681 §3.1, slow start: one packet more for each packet delivered, up to the threshold.
/// Returns what it adds to subflow `i`, and the packets that are left for congestion avoidance.
pub fn slow_start(reading: &dyn Reading, all: &[View], i: usize, delivered: f64) -> (f64, f64) {
    if !reading.starts_slowly(all, i) {
        return (0.0, delivered);
    }
    let used = delivered.min((reading.threshold(all, i) - all[i].window).max(0.0));
    (used, delivered - used)
}

/// Slow start where a packet delivered is worth `gain` packets: each that finds the window, with its
/// `fraction`, below the threshold. Returns the fraction with what is added, and the packets that are left.
pub fn scaled_start(view: &View, fraction: f64, delivered: f64, gain: f64) -> (f64, f64) {
    let room = view.threshold - view.window - fraction;
    let used = delivered.min((room / gain).ceil().max(0.0));
    (fraction + used * gain, delivered - used)
}

/// `packets` rounded down to whole ones, when they may be off by `error`.
fn whole(packets: f64, error: f64) -> Real {
    let sure = (packets - error).floor() == (packets + error).floor();
    Real { packets: packets.floor(), within: if sure { 0.0 } else { 1.0 } }
}

/// (w_r/T_r^2) / (sum_k w_k/T_k)^2: with which OLIA's and BALIA's increases begin.
pub fn share(all: &[View], i: usize) -> f64 {
    let total: f64 = all.iter().map(|k| k.window / k.rtt).sum();
    all[i].window / (all[i].rtt * all[i].rtt) / (total * total)
}

/// How far it may be off in fixed point, relative, for RTTs from 5 us to 1 s: T_min/T_k in Q36 by
/// 2^-18.4 at most, which counts twice in the square of the sum; and the quotient by 2^-27.
pub const SHARE_ERROR: f64 = 6e-6;

/// RFC 5681 eq. (3): 1/w for each of `packets`. In Q48 each loses less than 2^-48.
fn standard_increase(view: &View, packets: f64) -> Real {
    Real { packets: packets / view.window, within: packets * 2f64.powi(-48) }
}

/// RFC 5681 eq. (4), on the window in whole packets: half of it, rounded down.
fn half(view: &View) -> Real {
    Real { packets: (view.window / 2.0).floor(), within: 0.0 }
}
