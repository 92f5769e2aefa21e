//! NSCC, from the description of uet-htsim's uec.cpp in its terms: bytes, here packets.

use tresse_controllers::{Hop, Report};

use super::{Answer, Host, Law, bdp};

/// initNsccParams: 100 Gbit/s times 12 us.
const REFERENCE_BDP: f64 = 150_000.0;
const REFERENCE_RTT: f64 = 12_000.0;
const DELAY_ALPHA: f64 = 0.0125;
const GAMMA: f64 = 0.8;

#[derive(Debug, Default)]
pub struct Nscc {
    cwnd: Option<f64>,
    inc: f64,
    avg_delay: f64,
    fi_count: f64,
    increase: bool,
    received: f64,
    achieved: f64,
    ignored: f64,
    to_ignore: f64,
    trigger_qa: bool,
    /// `None`: quick adapt has not looked yet.
    qa_end: Option<f64>,
    /// `None`: never.
    last_dec: Option<f64>,
    last_adjust: f64,
    unsure: bool,
}

/// What holds for one report.
struct Now {
    now: f64,
    base_rtt: f64,
    target: f64,
    a: f64,
    maxwnd: f64,
    in_flight: f64,
}

impl Nscc {
    /// Whether a < b; unsure if they are nearer than `near`.
    fn less(&mut self, a: f64, b: f64, near: f64) -> bool {
        self.unsure |= (a - b).abs() < near;
        a < b
    }

    fn update_delay(&mut self, sample: f64) {
        self.avg_delay = DELAY_ALPHA * sample + (1.0 - DELAY_ALPHA) * self.avg_delay;
    }

    fn quick_adapt(&mut self, at: &Now, is_loss: bool, skip: bool, delay: f64) -> bool {
        let mut done = false;
        if self.ignored < self.to_ignore && skip {
            done = true;
        } else if self.qa_end.is_none_or(|end| at.now > end) {
            let asked = self.trigger_qa || is_loss || delay > 4.0 * at.target;
            if self.qa_end.is_some() && asked && self.less(self.achieved, at.maxwnd / 8.0, 1e-3) {
                self.cwnd = Some(self.achieved.max(1.0));
                (self.to_ignore, self.ignored) = (at.in_flight, 0.0);
                self.trigger_qa = false;
                done = true;
            }
            self.achieved = 0.0;
            self.qa_end = Some(at.now + at.base_rtt + at.target);
        }
        if done {
            (self.inc, self.received) = (0.0, 0.0);
        }
        done
    }

    fn fast_increase(&mut self, at: &Now, acked: f64, delay: f64) -> bool {
        let cwnd = self.cwnd.expect("it has begun");
        if delay >= 1000.0 {
            (self.fi_count, self.increase) = (0.0, false);
            return false;
        }
        self.fi_count += acked;
        if self.increase || self.less(cwnd, self.fi_count, 1e-3 * cwnd) {
            self.cwnd = Some(cwnd + acked * 0.25 * at.a);
            self.increase = true;
        }
        self.increase
    }

    fn multiplicative_decrease(&mut self, at: &Now) {
        (self.fi_count, self.increase) = (0.0, false);
        let may = self.last_dec.is_none_or(|last| at.now - last > at.base_rtt);
        if may && self.less(at.target, self.avg_delay, 1e-3 * at.target) {
            let left = 1.0 - GAMMA * (self.avg_delay - at.target) / self.avg_delay;
            self.cwnd = self.cwnd.map(|cwnd| cwnd * left.max(0.5));
            self.last_dec = Some(at.now);
        }
    }

    fn bounds(&mut self, at: &Now) {
        self.cwnd = self.cwnd.map(|cwnd| cwnd.max(1.0).min(at.maxwnd));
    }

    fn fulfill(&mut self, at: &Now) {
        let since = at.now - self.last_adjust;
        if self.received <= 8.0 && since <= at.base_rtt {
            return;
        }
        self.cwnd = self.cwnd.map(|cwnd| cwnd + self.inc / cwnd);
        if since >= at.base_rtt {
            self.cwnd = self.cwnd.map(|cwnd| cwnd + 0.15 * at.a);
            self.last_adjust = at.now;
        }
        (self.inc, self.received) = (0.0, 0.0);
    }

    fn ack(&mut self, at: &Now, report: &Report) {
        let (acked, skip) = (f64::from(report.delivered), report.marked > 0);
        self.achieved += acked;
        self.received += acked;
        self.ignored += acked;
        let mut delay = self.avg_delay;
        let rtt = f64::from(report.rtt);
        if rtt >= at.base_rtt {
            delay = rtt - at.base_rtt;
            let unmarked_queue = !skip && delay > at.target;
            self.update_delay(if unmarked_queue { at.base_rtt * 0.25 } else { delay });
        } else {
            // A real number beside thresholds.
            self.unsure |= [1000.0, at.target, 4.0 * at.target].iter().any(|t| (delay - t).abs() < 2.0);
        }
        if self.quick_adapt(at, false, skip, delay) {
            return;
        }
        if skip && delay >= at.target {
            self.multiplicative_decrease(at);
        } else if !skip && delay >= at.target {
            self.inc += 5.0 * at.a * acked;
        } else if !skip && !self.fast_increase(at, acked, delay) {
            self.inc += 4.0 * at.a * acked * (at.target - delay) / REFERENCE_RTT;
        }
        self.bounds(at);
        self.fulfill(at);
        self.bounds(at);
    }
}

impl Law for Nscc {
    fn report(&mut self, host: &Host, report: &Report, _hops: &[Hop]) -> Answer {
        let base_rtt = f64::from(report.base_rtt);
        let maxwnd = (1.5 * bdp(host, report)).max(1.0);
        let at = Now {
            now: report.now as f64,
            base_rtt,
            target: 0.75 * base_rtt,
            a: bdp(host, report) * host.packet / REFERENCE_BDP,
            maxwnd,
            in_flight: host.in_flight,
        };
        if self.cwnd.is_none() {
            self.cwnd = Some(maxwnd);
            self.last_adjust = at.now;
        }
        if report.delivered > 0 {
            self.ack(&at, report);
        }
        if report.trimmed > 0 {
            self.ignored += f64::from(report.trimmed);
            self.update_delay(base_rtt);
            self.trigger_qa = true;
            if !self.quick_adapt(&at, true, true, 0.0) {
                self.cwnd = self.cwnd.map(|cwnd| (cwnd - f64::from(report.trimmed)).max(1.0));
            }
        }
        self.cwnd = self.cwnd.map(|cwnd| (cwnd - f64::from(report.lost)).max(1.0));
        Answer { window: self.cwnd.expect("it has begun"), pace: None, unsure: self.unsure }
    }
}
