//! Swift, from its Algorithm 1 and its target delay, with the defaults of `swift.c`.

use tresse_controllers::{Hop, Report};

use super::{Answer, Host, Law, bdp};

/// The target delay: base, each hop's part, and what a narrow window adds.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub base: f64,
    pub hop: f64,
    pub fs_range: f64,
    pub fs_min: f64,
    pub fs_max: f64,
}

impl Default for Target {
    fn default() -> Self {
        Self { base: 20_000.0, hop: 3_053.0, fs_range: 100_000.0, fs_min: 0.1, fs_max: 100.0 }
    }
}

impl Target {
    /// For a window of `cwnd` packets and so many hops of a path that takes `base_rtt` when it is empty, ns.
    pub fn of(&self, cwnd: f64, hops: f64, base_rtt: f64) -> f64 {
        let fixed = (self.base + hops * self.hop).max(1.25 * base_rtt);
        fixed + self.flow_scaling(cwnd)
    }

    fn flow_scaling(&self, cwnd: f64) -> f64 {
        let alpha = self.fs_range / (1.0 / self.fs_min.sqrt() - 1.0 / self.fs_max.sqrt());
        let beta = -alpha / self.fs_max.sqrt();
        (alpha / cwnd.sqrt() + beta).min(self.fs_range).max(0.0)
    }
}

const AI: f64 = 1.0;
const BETA: f64 = 0.8;
const MAX_MDF: f64 = 0.5;
const RETX_RESET_THRESHOLD: u32 = 5;
const MIN_CWND: f64 = 0.001;
const MAX_CWND: f64 = 4096.0;
/// Of a path whose hops nobody tells.
const HOPS: f64 = 5.0;

#[derive(Debug, Default)]
pub struct Swift {
    cwnd: Option<f64>,
    t_last_decrease: Option<f64>,
    rtt: Option<f64>,
    retransmit_cnt: u32,
    unsure: bool,
}

impl Swift {
    fn decrease(&mut self, now: f64, rtt: f64, left: f64) {
        if self.t_last_decrease.is_none_or(|last| now - last >= rtt) {
            let cwnd = self.cwnd.expect("it has begun");
            let next = (cwnd * left).max(MIN_CWND);
            if next < cwnd {
                self.t_last_decrease = Some(now);
            }
            self.cwnd = Some(next);
        }
    }
}

impl Law for Swift {
    fn report(&mut self, host: &Host, report: &Report, hops: &[Hop]) -> Answer {
        let now = report.now as f64;
        let base_rtt = f64::from(report.base_rtt);
        let mut cwnd = *self.cwnd.get_or_insert(bdp(host, report).clamp(1.0, MAX_CWND));
        if report.rtt > 0 {
            self.rtt = Some(f64::from(report.rtt));
        }
        let rtt = self.rtt.unwrap_or(base_rtt);
        if report.delivered > 0 {
            self.retransmit_cnt = 0;
        }
        if report.delivered > 0 && report.rtt > 0 {
            let hops = if hops.is_empty() { HOPS } else { hops.len() as f64 };
            let target = Target::default().of(cwnd, hops, base_rtt);
            self.unsure |= (rtt - target).abs() < 2.0 + 1e-3 * target;
            if rtt >= target {
                self.decrease(now, rtt, (1.0 - BETA * (rtt - target) / rtt).max(1.0 - MAX_MDF));
            } else if report.app_limited == 0 {
                let acked = f64::from(report.delivered);
                cwnd += if cwnd >= 1.0 { AI / cwnd * acked } else { AI * acked };
                self.cwnd = Some(cwnd.min(MAX_CWND));
                self.unsure |= (cwnd - 1.0).abs() < 1e-3;
            }
        }
        if report.trimmed > 0 {
            self.decrease(now, rtt, 1.0 - MAX_MDF);
        }
        if report.lost > 0 {
            self.retransmit_cnt += 1;
            if self.retransmit_cnt >= RETX_RESET_THRESHOLD {
                self.decrease(f64::INFINITY, rtt, 0.0);
                self.t_last_decrease = self.t_last_decrease.map(|last| last.min(now));
            } else {
                self.decrease(now, rtt, 1.0 - MAX_MDF);
            }
        }
        let window = self.cwnd.expect("it has begun");
        // pacing_delay = rtt / cwnd.
        let pace = (window < 1.0).then(|| window * host.packet * 1000.0 / rtt);
        Answer { window, pace, unsure: self.unsure }
    }

    /// Of a window of thousandths of a packet the fixed-point number keeps some 6 bits.
    fn within(&self) -> (f64, f64) {
        (5e-3, 0.02)
    }
}
