//! DCQCN, from its equations (1) to (4) and QCN's hyper increase.

use tresse_controllers::{Hop, Report};

use super::{Answer, Host, Law, bdp};

const G: f64 = 1.0 / 256.0;
const CNP_INTERVAL: f64 = 50_000.0;
const TIMER: f64 = 55_000.0;
const BYTE_COUNTER: f64 = 10e6;
const F: u32 = 5;
/// Mbit/s.
const R_AI: f64 = 40.0;
const R_HAI: f64 = 200.0;
const LEAST: f64 = 10.0;

/// Rates in Mbit/s, times in ns.
#[derive(Debug, Default)]
pub struct Dcqcn {
    current: Option<f64>,
    target: f64,
    alpha: f64,
    last_cnp: Option<f64>,
    alpha_from: f64,
    timer_from: f64,
    bytes: f64,
    timer: u32,
    counter: u32,
}

impl Dcqcn {
    fn increase(&mut self, line: f64) {
        let (most, least) = (self.timer.max(self.counter), self.timer.min(self.counter));
        if least > F {
            self.target += f64::from(least - F) * R_HAI;
        } else if most > F {
            self.target += R_AI;
        }
        self.target = self.target.min(line);
        self.current = self.current.map(|current| (current + self.target) / 2.0);
    }
}

impl Law for Dcqcn {
    fn report(&mut self, host: &Host, report: &Report, _hops: &[Hop]) -> Answer {
        let (now, line) = (report.now as f64, f64::from(report.line_rate));
        if self.current.is_none() {
            (self.current, self.target, self.alpha) = (Some(line), line, 1.0);
            (self.alpha_from, self.timer_from) = (now, now);
        }
        while now - self.alpha_from >= TIMER {
            self.alpha_from += TIMER;
            self.alpha *= 1.0 - G;
        }
        while now - self.timer_from >= TIMER {
            self.timer_from += TIMER;
            self.timer += 1;
            self.increase(line);
        }
        self.bytes += f64::from(report.delivered) * host.packet;
        while self.bytes >= BYTE_COUNTER {
            self.bytes -= BYTE_COUNTER;
            self.counter += 1;
            self.increase(line);
        }
        let congested = report.marked + report.trimmed + report.lost > 0;
        if congested && self.last_cnp.is_none_or(|last| now - last >= CNP_INTERVAL) {
            let current = self.current.expect("it has begun");
            self.target = current;
            self.current = Some((current * (1.0 - self.alpha / 2.0)).max(LEAST));
            self.alpha = (1.0 - G) * self.alpha + G;
            self.last_cnp = Some(now);
            (self.alpha_from, self.timer_from) = (now, now);
            (self.timer, self.counter, self.bytes) = (0, 0, 0.0);
        }
        let pace = self.current.map(|current| current / 8.0);
        Answer { window: (2.0 * bdp(host, report)).max(1.0), pace, unsure: false }
    }
}
