//! The accuracy of a run on a testbed.

use std::fs;
use std::time::Duration;

use serde::Serialize;
use tresse_fabric::Histogram;
use tresse_units::MICROSECOND;

use crate::clock::{Scale, monotonic};
use crate::emulator::Lateness;
use crate::wires::Wires;

/// The effects of a testbed on an experiment that are not part of the experiment. Lateness is in the
/// experiment's time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Truth {
    pub case: String,
    pub seed: u64,
    /// The speed of the experiment's time.
    pub scale: String,
    /// What moved packets between hosts.
    pub switch: String,
    /// Packets that hosts received.
    pub packets: u64,
    /// The number of them per second of the wall clock.
    pub packets_per_s: f64,
    /// How late they were, if the fabric was emulated. The kernel's own switches have no time to keep.
    #[serde(flatten)]
    pub late: Option<Late>,
    /// Packets that a host did not accept, or that were lost between interfaces although no queue was full.
    pub refused: u64,
    /// How late the last flow began, ns of the experiment.
    pub begun_late_max_ns: u64,
    /// Subflows that a kernel refused to open.
    pub subflows_refused: u64,
    /// Why it refused the first of them.
    pub why_refused: Option<String>,
    /// Connections that were to be Multipath TCP and fell back to TCP, because the last ACK of the handshake and the
    /// first data were lost (RFC 8684, section 3.7).
    pub fell_back: u64,
    /// Hooks of the controllers that the kernel skipped; each was repaired.
    pub repairs: u64,
    /// The share of all cores' time in which they were idle; `None` if the system does not report it.
    pub cpu_idle: Option<f64>,
}

/// How late packets were written to their hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Late {
    /// The mean, ns.
    #[serde(rename = "late_mean_ns")]
    pub mean: f64,
    /// The median, ns.
    #[serde(rename = "late_p50_ns")]
    pub p50: u64,
    /// The 99th percentile, ns.
    #[serde(rename = "late_p99_ns")]
    pub p99: u64,
    /// The worst, ns.
    #[serde(rename = "late_max_ns")]
    pub max: u64,
    /// The mean time from when a host's last packet was due until the next one of the host was read, ns: what a host
    /// adds to a round trip, with the lateness of what it answers.
    #[serde(rename = "turnaround_mean_ns")]
    pub turnaround: f64,
    /// Its 99th percentile, ns.
    #[serde(rename = "turnaround_p99_ns")]
    pub turnaround_p99: u64,
}

/// Below this share of idle time, machines waited for the processor more than for the network.
const BUSY: f64 = 0.02;

/// If more than one packet in a hundred is later than this, ns of the experiment, hosts saw a slightly
/// different network.
const FLAGGED: u64 = 200 * MICROSECOND / 1000;

/// Hosts begin flows one after the other, each in a millisecond. If that takes longer than this, ns of the experiment,
/// flows miss a part of it.
const LATE_START: u64 = 100_000_000;

/// If every second packet is later than this, they saw another network.
const REFUSED: u64 = FLAGGED;

impl Truth {
    /// What is wrong with the run, if anything; it is still usable.
    pub fn flag(&self) -> Option<String> {
        let mut why = Vec::new();
        if let Some(late) = self.late.filter(|late| late.p99 > FLAGGED) {
            why.push(format!("1 % of the packets were more than {} us late", late.p99 / 1000));
        }
        if self.begun_late_max_ns > LATE_START {
            why.push(format!("a flow began {} ms late", self.begun_late_max_ns / 1_000_000));
        }
        if self.refused > 0 {
            why.push(format!("hosts did not accept {} packets", self.refused));
        }
        if self.is_busy() {
            why.push("the processors were never idle, so hosts waited for them".to_owned());
        }
        if let Some(first) = &self.why_refused {
            why.push(format!("the kernel refused {} subflows ({first})", self.subflows_refused));
        }
        if self.fell_back > 0 {
            why.push(format!("{} connections fell back to plain TCP", self.fell_back));
        }
        (!why.is_empty()).then(|| why.join(", "))
    }

    /// The scale to try next, if the fabric was too slow for this one.
    pub fn slower(&self) -> Option<Scale> {
        let is_late = self.late.is_some_and(|late| late.p99 > FLAGGED);
        let is_slow = is_late || self.begun_late_max_ns > LATE_START || self.refused > 0 || self.is_busy();
        self.scale.parse().ok().map(Scale::half).filter(|_| is_slow)
    }

    /// Whether hosts waited for a processor. The emulated fabric goes before them, so it may be on time all the same.
    fn is_busy(&self) -> bool {
        self.cpu_idle.is_some_and(|idle| idle < BUSY)
    }

    /// Why the run is useless, if it is, and what would help.
    pub(crate) fn refuse(&self, scale: Scale) -> Option<String> {
        let late = self.late.filter(|late| late.p50 > REFUSED);
        late.map(|late| {
            format!(
                "too fast for this machine: half of the packets were more than {} us late; it carried {:.0} packets per \
                 second\n\nhint: --scale {}",
                late.p50 / 1000,
                self.packets_per_s,
                scale.half()
            )
        })
    }
}

impl Late {
    fn of(Lateness { histogram, turnaround, .. }: &Lateness) -> Self {
        let quantile = |of: &Histogram, part| of.quantile(part, 100).unwrap_or(0);
        let mean = |of: &Histogram| of.mean().unwrap_or(0.0);
        Self {
            mean: mean(histogram),
            p50: quantile(histogram, 50),
            p99: quantile(histogram, 99),
            max: quantile(histogram, 100),
            turnaround: mean(turnaround),
            turnaround_p99: quantile(turnaround, 99),
        }
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

    /// Adds to `of` the accuracy of what moved packets, and the load of the machine.
    pub fn end(&self, wires: &Wires, of: Truth) -> Truth {
        let wall = Duration::from_nanos(monotonic() - self.since);
        let cpu_idle = self.cpu.zip(cpu()).map(|(before, after)| {
            let [idle, all] = [0, 1].map(|place| after[place].saturating_sub(before[place]));
            idle as f64 / all.max(1) as f64
        });
        let (late, [packets, refused]) = match wires {
            Wires::Emulated(emulator) => {
                let late = emulator.lateness();
                (Some(Late::of(&late)), [late.histogram.count(), late.refused])
            }
            Wires::Virtual(switch) => (None, switch.carried()),
        };
        let packets_per_s = packets as f64 / wall.as_secs_f64();
        Truth { switch: wires.name().to_owned(), packets, packets_per_s, late, refused, cpu_idle, ..of }
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

#[cfg(test)]
mod tests {
    use super::{Late, Truth};

    /// The fabric goes before the hosts: if they wait for a processor, it is on time, and rates are wrong.
    #[test]
    fn a_run_on_busy_processors_is_flagged_even_if_the_fabric_is_on_time() {
        let run = |cpu_idle, begun_late_max_ns| Truth {
            scale: "1/7".to_owned(),
            late: Some(Late { p99: 23_000, ..Late::default() }),
            cpu_idle: Some(cpu_idle),
            begun_late_max_ns,
            ..Truth::default()
        };
        assert_eq!((run(0.4, 14_000_000).flag(), run(0.4, 14_000_000).slower()), (None, None));
        let busy = run(0.004, 0);
        assert_eq!(busy.flag().as_deref(), Some("the processors were never idle, so hosts waited for them"));
        assert_eq!(busy.slower().map(|scale| scale.to_string()).as_deref(), Some("1/14"));
        assert_eq!(run(0.4, 3_401_000_000).flag().as_deref(), Some("a flow began 3401 ms late"));
    }

    #[test]
    fn connections_that_fell_back_to_tcp_are_flagged() {
        let run = Truth { fell_back: 2, ..Truth::default() };
        assert_eq!(run.flag().as_deref(), Some("2 connections fell back to plain TCP"));
    }
}
