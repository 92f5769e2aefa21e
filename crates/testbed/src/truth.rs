//! The accuracy of a run on a testbed.

use std::fs;
use std::time::Duration;

use serde::Serialize;
use tresse_units::MICROSECOND;

use crate::clock::{Scale, monotonic};
use crate::emulator::Lateness;

/// The effects of a testbed on an experiment that are not part of the experiment. Lateness is in the
/// experiment's time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Truth {
    pub case: String,
    pub seed: u64,
    /// The speed of the experiment's time.
    pub scale: String,
    /// Packets that the fabric delivered.
    pub packets: u64,
    /// The number of them per second of the wall clock.
    pub packets_per_s: f64,
    /// How late they were written to their hosts: the mean, ns.
    pub late_mean_ns: f64,
    /// The median, ns.
    pub late_p50_ns: u64,
    /// The 99th percentile, ns.
    pub late_p99_ns: u64,
    /// The worst, ns.
    pub late_max_ns: u64,
    /// Packets that a host did not accept.
    pub refused: u64,
    /// Subflows that a kernel refused to open.
    pub subflows_refused: u64,
    /// Why it refused the first of them.
    pub why_refused: Option<String>,
    /// Hooks of the controllers that the kernel skipped; each was repaired.
    pub repairs: u64,
    /// The share of all cores' time in which they were idle; `None` if the system does not report it.
    pub cpu_idle: Option<f64>,
}

/// If more than one packet in a hundred is later than this, ns of the experiment, hosts saw a slightly
/// different network.
const FLAGGED: u64 = 200 * MICROSECOND / 1000;

/// If every second packet is later than this, they saw another network.
const REFUSED: u64 = FLAGGED;

impl Truth {
    /// What is wrong with the run, if anything; it is still usable.
    pub fn flag(&self) -> Option<String> {
        let mut why = Vec::new();
        if self.late_p99_ns > FLAGGED {
            why.push(format!("1 % of the packets were more than {} us late", self.late_p99_ns / 1000));
        }
        if self.refused > 0 {
            why.push(format!("hosts did not accept {} packets", self.refused));
        }
        if let Some(first) = &self.why_refused {
            why.push(format!("the kernel refused {} subflows ({first})", self.subflows_refused));
        }
        (!why.is_empty()).then(|| why.join(", "))
    }

    /// The scale to try next, if the fabric was too slow for this one.
    pub fn slower(&self) -> Option<Scale> {
        let is_slow = self.late_p99_ns > FLAGGED || self.refused > 0;
        self.scale.parse().ok().map(Scale::half).filter(|_| is_slow)
    }

    /// Why the run is useless, if it is, and what would help.
    pub(crate) fn refuse(&self, scale: Scale) -> Option<String> {
        (self.late_p50_ns > REFUSED).then(|| {
            format!(
                "too fast for this machine: half of the packets were more than {} us late; it carried {:.0} packets per \
                 second\n\nhint: --scale {}",
                self.late_p50_ns / 1000,
                self.packets_per_s,
                scale.half()
            )
        })
    }
}

/// The machine's activity during a run.
#[derive(Debug)]
pub(crate) struct Watch {
    since: u64,
    cpu: Option<[u64; 2]>,
}

impl Watch {
    pub fn start() -> Self {
        Self { since: monotonic(), cpu: cpu() }
    }

    /// Adds to `of` the accuracy of the fabric and the load of the machine.
    pub fn end(&self, late: &Lateness, of: Truth) -> Truth {
        let wall = Duration::from_nanos(monotonic() - self.since);
        let cpu_idle = self.cpu.zip(cpu()).map(|(before, after)| {
            let [idle, all] = [0, 1].map(|place| after[place].saturating_sub(before[place]));
            idle as f64 / all.max(1) as f64
        });
        let quantile = |part| late.histogram.quantile(part, 100).unwrap_or(0);
        Truth {
            packets: late.histogram.count(),
            packets_per_s: late.histogram.count() as f64 / wall.as_secs_f64(),
            late_mean_ns: late.histogram.mean().unwrap_or(0.0),
            late_p50_ns: quantile(50),
            late_p99_ns: quantile(99),
            late_max_ns: quantile(100),
            refused: late.refused,
            cpu_idle,
            ..of
        }
    }
}

/// The idle time of all cores together, and all of their time, in the kernel's ticks.
fn cpu() -> Option<[u64; 2]> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let ticks = text.lines().next()?.split_whitespace().skip(1);
    // User, nice, system, idle, iowait, irq, softirq, steal; the time of guests is included in user.
    let ticks: Vec<u64> = ticks.take(8).map_while(|word| word.parse().ok()).collect();
    Some([*ticks.get(3)?, ticks.iter().sum()])
}
