//! XMP, Algorithm 1 and eq. (9), with the corrections of the catalogue (0.1, S10).

use tresse_controllers::{Ack, Cause};

use super::{Reading, Real, View, half};

/// Algorithm 1's `mptcp_xmp_reducer`, §3: beta = 4.
const BETA: f64 = 4.0;

/// BOS on each subflow, TraSh over them.
pub struct Xmp {
    /// Algorithm 1's `instant_rate`: as of each subflow's last round.
    rates: Vec<f64>,
    /// What the round's end has earned and `adder` has not got yet.
    earned: Vec<Real>,
}

const NOTHING: Real = Real { packets: 0.0, within: 0.0 };

/// Eq. (9): delta_r = T_r x_r / (T y), y the sum of the rates, T the smallest RTT.
///
/// The tolerance is that of rates in Q32 packets per 1/8 us, of T y in Q16 packets, and of a delta
/// in Q20. T y is at least a packet while RTTs are steady; it can be far less, and the tolerance
/// wide, only if an RTT has fallen by orders of magnitude since its subflow's last round.
pub fn delta(all: &[View], i: usize, rates: &[f64]) -> Real {
    let total: f64 = rates.iter().sum();
    let shortest = all.iter().map(|k| k.rtt).fold(f64::INFINITY, f64::min);
    let packets = all[i].rtt * rates[i] / (shortest * total);
    let lost = rates.len() as f64 * 2f64.powi(-32) / total + 2f64.powi(-16) / (shortest * total);
    let relative = if lost < 1.0 { lost / (1.0 - lost) } else { f64::INFINITY };
    Real { packets, within: packets * relative + 2f64.powi(-20) }
}

impl Xmp {
    /// No subflow has ended a round.
    pub fn new(count: usize) -> Self {
        Self { rates: vec![0.0; count], earned: vec![NOTHING; count] }
    }
}

impl Reading for Xmp {
    /// Algorithm 1, "per-round operations"; `>=` for `>` by the catalogue's mend.
    fn ack(&mut self, all: &[View], i: usize, ack: &Ack) {
        if ack.new_round == 0 {
            return;
        }
        let own = &all[i];
        self.rates[i] = own.window / own.rtt;
        let normal = !own.reduced && own.window >= own.threshold;
        self.earned[i] = if normal { delta(all, i, &self.rates) } else { NOTHING };
    }

    /// Only congestion avoidance adds it (Algorithm 1: `cwnd > ssthresh`).
    fn increase(&mut self, all: &[View], i: usize, _packets: f64) -> Real {
        let earned = std::mem::replace(&mut self.earned[i], NOTHING);
        if all[i].found < all[i].threshold { NOTHING } else { earned }
    }

    /// Algorithm 1, "at receiving ECE or CWR". The mark comes before the same ACK's growth
    /// (catalogue), which then does not come: the state is no longer NORMAL.
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        let own = &all[i];
        self.earned[i] = NOTHING;
        match cause {
            Cause::Mark | Cause::Local if own.window >= own.threshold => {
                Real { packets: own.window - (own.window / BETA).floor().max(1.0), within: 0.0 }
            }
            Cause::Mark | Cause::Local => Real { packets: own.window, within: 0.0 },
            // Algorithm 1 is silent on losses; the catalogue (S10) takes half.
            Cause::Loss => half(own),
        }
    }

    fn keeps_fraction(&self) -> bool {
        true
    }
}
