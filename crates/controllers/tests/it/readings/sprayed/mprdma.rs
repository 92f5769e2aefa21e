//! MP-RDMA's window: per acknowledged packet +1/w, or -1/2 if it was marked; half of it after a loss.

use tresse_controllers::{Hop, Report};

use super::{Answer, Host, Law, bdp};

#[derive(Debug, Default)]
pub struct Mprdma {
    cwnd: Option<f64>,
    last_cut: Option<f64>,
    rtt: Option<f64>,
}

impl Law for Mprdma {
    fn report(&mut self, host: &Host, report: &Report, _hops: &[Hop]) -> Answer {
        let cwnd = self.cwnd.get_or_insert(bdp(host, report).max(1.0));
        if report.rtt > 0 {
            self.rtt = Some(f64::from(report.rtt));
        }
        if report.app_limited == 0 {
            *cwnd += f64::from(report.delivered - report.marked) / *cwnd;
        }
        *cwnd = (*cwnd - f64::from(report.marked) / 2.0).max(1.0);
        let rtt = self.rtt.unwrap_or(f64::from(report.base_rtt));
        let now = report.now as f64;
        let lost = report.trimmed + report.lost > 0;
        if lost && self.last_cut.is_none_or(|last| now - last >= rtt) {
            *cwnd = (*cwnd / 2.0).max(1.0);
            self.last_cut = Some(now);
        }
        Answer { window: *cwnd, pace: None, unsure: false }
    }
}
