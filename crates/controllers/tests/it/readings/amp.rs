//! AMP's window, from the description of its author's code: +MSS^2/total_cwnd for each ACK, cut to 3/4.

use tresse_controllers::Cause;

use super::{Reading, Real, View, half, standard_increase};

/// An increase over all windows, and a constant cut.
pub struct Amp;

impl Reading for Amp {
    /// MSS^2 / total_cwnd for each packet. Only subflows that have an RTT count.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        if all[i].rtt.is_infinite() {
            return standard_increase(&all[i], packets);
        }
        let total: f64 = all.iter().filter(|k| k.rtt.is_finite()).map(|k| k.window).sum();
        Real { packets: packets / total, within: packets * 2f64.powi(-48) }
    }

    /// w (1 - gamma/beta), gamma = 1, beta = 4: what is left in whole packets.
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        match cause {
            Cause::Mark | Cause::Local => Real { packets: (all[i].window * 3.0 / 4.0).floor(), within: 0.0 },
            Cause::Loss => half(&all[i]),
        }
    }

    /// CwndMin = 1.
    fn floor(&self) -> f64 {
        1.0
    }
}
