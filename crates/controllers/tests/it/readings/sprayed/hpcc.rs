//! HPCC, from its Algorithm 1.

use tresse_controllers::{Hop, Report};

use super::{Answer, Host, Law, Round, apart, bdp, largest, line, rate, sent};

const ETA: f64 = 0.95;
const MAX_STAGE: u32 = 5;
const FLOWS: f64 = 100.0;

/// u of one link: its queue in units of B T, and its rate in units of B.
pub fn load(hop: &Hop, before: &Hop, base_rtt: f64) -> f64 {
    let queue = f64::from(hop.queue.min(before.queue));
    queue / (rate(hop) * base_rtt) + sent(hop, before) / apart(hop, before) / rate(hop)
}

#[derive(Debug)]
pub struct Hpcc {
    window: Option<f64>,
    committed: f64,
    u: f64,
    stage: u32,
    round: Round,
    links: Vec<Hop>,
    unsure: bool,
}

impl Default for Hpcc {
    fn default() -> Self {
        Self {
            window: None,
            committed: 0.0,
            u: 1.0,
            stage: 0,
            round: Round::default(),
            links: Vec::new(),
            unsure: false,
        }
    }
}

impl Law for Hpcc {
    fn report(&mut self, host: &Host, report: &Report, hops: &[Hop]) -> Answer {
        let base_rtt = f64::from(report.base_rtt);
        let most = bdp(host, report).max(1.0);
        if self.window.is_none() {
            (self.window, self.committed) = (Some(most), most);
        }
        let passes = self.round.passes(report);
        let (fullest, unsure) = largest(|hop, before| load(hop, before, base_rtt), hops, &self.links);
        self.unsure |= unsure;
        if let Some((u, tau)) = fullest {
            let share = tau.min(base_rtt) / base_rtt;
            self.u = (1.0 - share) * self.u + share * u;
            self.unsure |= (self.u / ETA - 1.0).abs() < 1e-3;
            let divides = self.u >= ETA || self.stage >= MAX_STAGE;
            let increase = most * (1.0 - ETA) / FLOWS;
            let window = if divides { self.committed / (self.u / ETA) } else { self.committed } + increase;
            self.window = Some(window.min(most));
            if passes {
                self.committed = window.min(most);
                self.stage = if divides { 0 } else { self.stage + 1 };
                self.round.left = host.in_flight;
            }
        }
        if !hops.is_empty() {
            self.links = hops.to_vec();
        }
        let window = self.window.expect("it has begun");
        let pace = (window * host.packet / base_rtt).min(line(report)) * 1000.0;
        Answer { window, pace: Some(pace), unsure: self.unsure }
    }

    /// Queues in units of 16 bytes, and each round's product keeps the errors of those before.
    fn within(&self) -> (f64, f64) {
        (1e-2, 0.01)
    }

    fn rounds_up(&self) -> bool {
        true
    }
}
