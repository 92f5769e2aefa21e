//! Each controller a second time, in real numbers, from its paper's equations alone.
//!
//! The equations were not taken from `controllers/*.c`: two readings of one text that agree are a
//! better witness than one reading that agrees with itself. Only the tolerances know of fixed-point
//! formats, and where a paper is silent the choice says so. A reading has whole-packet windows, as
//! the contract has, and keeps everything else in `f64`.

use tresse_controllers::{Ack, Cause};

mod balia;
mod dcm;
mod dctcp;
mod holnet;
mod lia;
mod olia;
mod reno;
mod xmp;

pub use balia::{BALIA_ERROR, balanced_increase, rate_ratio};
pub use dctcp::{ALPHA_ERROR, Dctcp};
pub use holnet::{AlphaFair, Uta};
pub use lia::{LIA_ERROR, linked_increase};
pub use olia::modulation;
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
    fn starts_slowly(&self, view: &View, _i: usize) -> bool {
        view.window < view.threshold
    }

    /// By how much congestion avoidance raises the window, packets (OLIA may lower it); `packets` are
    /// those that slow start has left of the ACK.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real;

    /// The window after the cut, before the floor.
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real;

    /// A timeout, after the cut.
    fn timeout(&mut self, _i: usize) {}

    /// The smallest window, packets.
    fn floor(&self) -> f64 {
        2.0
    }

    /// Whether a cut keeps the fraction of a packet by which the window had grown already. RFC
    /// 5681 has no fractions and does not say: they are dropped. XMP's `adder` stays.
    fn keeps_fraction(&self) -> bool {
        false
    }
}

/// The reading of the built-in controller `name`, for `count` subflows.
pub fn reading(name: &str, count: usize) -> Box<dyn Reading> {
    match name {
        "balia" => Box::new(balia::Balia),
        "dcm" => Box::new(dcm::Dcm::new(count)),
        "holnet_cc" | "holnet_cc_ecn" => Box::new(holnet::Cc(AlphaFair::new(0.5, 1.0))),
        "holnet_mcc" | "holnet_mcc_ecn" => Box::new(holnet::Mcc),
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
pub fn slow_start(reading: &dyn Reading, view: &View, i: usize, delivered: f64) -> (f64, f64) {
    if !reading.starts_slowly(view, i) {
        return (0.0, delivered);
    }
    let used = delivered.min((view.threshold - view.window).max(0.0));
    (used, delivered - used)
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
