//! RFC 8257 §3.3.

use tresse_controllers::{Ack, Cause};

use super::{Reading, Real, View, half, standard_increase};

/// The estimation gain of RFC 8257 §3.3; 1/16 as in Linux (catalogue S3).
const G: f64 = 1.0 / 16.0;

/// How far a fixed-point alpha may be from this one. A round's update in Q20 loses less than 2^-20,
/// and later rounds forget 1/16 of the loss each: together less than 16 * 2^-20.
pub const ALPHA_ERROR: f64 = 1.0 / 65536.0;

/// DCTCP on each subflow, none looking at the others.
pub struct Dctcp {
    subflows: Vec<Estimate>,
}

/// What RFC 8257 calls DCTCP.Alpha, DCTCP.BytesAcked and DCTCP.BytesMarked, in packets.
#[derive(Clone)]
struct Estimate {
    alpha: f64,
    acked: f64,
    marked: f64,
}

impl Dctcp {
    /// RFC 8257 §3.3: alpha starts at 1.
    pub fn new(count: usize) -> Self {
        Self { subflows: vec![Estimate { alpha: 1.0, acked: 0.0, marked: 0.0 }; count] }
    }

    /// DCTCP.Alpha of subflow `i`.
    pub fn alpha(&self, i: usize) -> f64 {
        self.subflows[i].alpha
    }
}

impl Reading for Dctcp {
    /// RFC 8257 §3.3 steps 1-8, alpha = (1 - g) alpha + g M, once in an observation window. The
    /// ACK that begins a new window counts for the new one; the RFC's step 4 counts it for the
    /// old one, a difference that `dctcp.c` declares.
    fn ack(&mut self, _all: &[View], i: usize, ack: &Ack) {
        let s = &mut self.subflows[i];
        if ack.new_round == 1 && s.acked > 0.0 {
            s.alpha = (1.0 - G) * s.alpha + G * s.marked / s.acked;
            (s.acked, s.marked) = (0.0, 0.0);
        }
        s.acked += f64::from(ack.delivered);
        s.marked += f64::from(ack.marked);
    }

    /// RFC 8257 §3.4: growth is that of standard TCP.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        standard_increase(&all[i], packets)
    }

    /// RFC 8257 §3.3 step 9: cwnd = cwnd (1 - alpha / 2); §3.5: a loss is answered as ever.
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        let w = all[i].window;
        match cause {
            // One packet, for the product is no whole number; and alpha itself may be off.
            Cause::Mark | Cause::Local => {
                Real { packets: w * (1.0 - self.alpha(i) / 2.0), within: 1.0 + w * ALPHA_ERROR / 2.0 }
            }
            Cause::Loss => half(&all[i]),
        }
    }

    /// The RFC is silent; this is `dctcp.c`'s own choice. What was counted before the timer fired
    /// belongs to packets that are given up: a new observation begins.
    fn timeout(&mut self, i: usize) {
        let s = &mut self.subflows[i];
        (s.acked, s.marked) = (0.0, 0.0);
    }
}
