//! PowerTCP, from its Algorithm 1.

use tresse_controllers::{Hop, Report};

use super::{Answer, Host, Law, Round, apart, bdp, largest, line, rate, sent};

const GAMMA: f64 = 0.9;
const FLOWS: f64 = 10.0;

/// A hop's power over its base power: current times voltage over b^2 tau.
pub fn power(hop: &Hop, before: &Hop, base_rtt: f64) -> f64 {
    let dt = apart(hop, before);
    let gradient = (f64::from(hop.queue) - f64::from(before.queue)) / dt;
    let current = gradient + sent(hop, before) / dt;
    let voltage = f64::from(hop.queue) + rate(hop) * base_rtt;
    current * voltage / (rate(hop) * rate(hop) * base_rtt)
}

#[derive(Debug)]
pub struct Powertcp {
    cwnd: Option<f64>,
    old: f64,
    smooth: f64,
    round: Round,
    previous: Vec<Hop>,
    unsure: bool,
}

impl Default for Powertcp {
    fn default() -> Self {
        let round = Round::default();
        Self { cwnd: None, old: 0.0, smooth: 1.0, round, previous: Vec::new(), unsure: false }
    }
}

impl Law for Powertcp {
    fn report(&mut self, host: &Host, report: &Report, hops: &[Hop]) -> Answer {
        let base_rtt = f64::from(report.base_rtt);
        let widest = bdp(host, report).max(1.0);
        if self.cwnd.is_none() {
            (self.cwnd, self.old) = (Some(widest), widest);
        }
        let passes = self.round.passes(report);
        let (most, unsure) = largest(|hop, before| power(hop, before, base_rtt), hops, &self.previous);
        self.unsure |= unsure;
        if let Some((largest, dt)) = most {
            let share = dt.min(base_rtt) / base_rtt;
            self.smooth = (1.0 - share) * self.smooth + share * largest;
            let beta = widest / FLOWS;
            let cwnd = self
                .cwnd
                .map(|cwnd| (GAMMA * (self.old / self.smooth + beta) + (1.0 - GAMMA) * cwnd).min(widest));
            self.cwnd = cwnd;
            if passes {
                self.old = cwnd.expect("it has begun");
                self.round.left = host.in_flight;
            }
        }
        if !hops.is_empty() {
            self.previous = hops.to_vec();
        }
        let window = self.cwnd.expect("it has begun");
        let pace = (window * host.packet / base_rtt).min(line(report)) * 1000.0;
        Answer { window, pace: Some(pace), unsure: self.unsure }
    }

    /// As of HPCC.
    fn within(&self) -> (f64, f64) {
        (1e-2, 0.01)
    }

    fn rounds_up(&self) -> bool {
        true
    }
}
