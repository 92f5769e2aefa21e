//! The thesis's weighted increases: EWTCP (Table 3.1), WMPTCP (4.2) and H-MPTCP (4.3)-(4.5).

use tresse_controllers::Cause;

use super::semicoupled::{SUM_ERROR, pooled_increase};
use super::{Reading, Real, View, half};

/// By what a weight is chosen that is not given.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// 1/sqrt(m)
    Root,
    /// 1/m
    Count,
    /// 1/m^2
    Square,
}

impl Rule {
    /// The parameter `rule`.
    pub fn of(number: u64) -> Self {
        [Self::Root, Self::Count, Self::Square][number as usize - 1]
    }
}

/// The weights of a connection's subflows.
pub struct Weights {
    /// By the subflows' places, thousandths; 0, or no entry: by the rule.
    pub given: Vec<u64>,
    /// For the others.
    pub rule: Rule,
}

impl Weights {
    /// omega_i. m counts the subflows that have an RTT, and the own one.
    pub fn of(&self, all: &[View], i: usize) -> f64 {
        let given = self.given.get(i).copied().unwrap_or(0);
        if given > 0 {
            return given as f64 / 1000.0;
        }
        let m = (0..all.len()).filter(|&k| k == i || all[k].rtt.is_finite()).count() as f64;
        match self.rule {
            Rule::Root => 1.0 / m.sqrt(),
            Rule::Count => 1.0 / m,
            Rule::Square => 1.0 / (m * m),
        }
    }
}

/// omega_l/W_l for each of `packets`. 1/sqrt(m) is rounded in Q30, and an increase in Q48.
pub fn weighted_increase(weights: &Weights, all: &[View], i: usize, packets: f64) -> Real {
    let increase = packets * weights.of(all, i) / all[i].window;
    Real { packets: increase, within: increase * 2f64.powi(-26) + packets * 2f64.powi(-47) }
}

/// EWTCP, and WMPTCP with (4.2): slow start is TCP Reno's, and so is the decrease.
pub struct Weighted(pub Weights);

impl Reading for Weighted {
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        weighted_increase(&self.0, all, i, packets)
    }

    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        half(&all[i])
    }
}

/// H-MPTCP.
pub struct Hybrid(pub Weights);

impl Reading for Hybrid {
    /// (4.5): max(omega_l, W_l/(tau_l sum W_j/tau_j)) a round; divided by W_l for one packet.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let increase = packets * (self.0.of(all, i) / all[i].window).max(pooled_increase(all, i));
        Real { packets: increase, within: increase * SUM_ERROR + packets * 2f64.powi(-47) }
    }

    /// (4.4) and (4.5).
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        half(&all[i])
    }
}
