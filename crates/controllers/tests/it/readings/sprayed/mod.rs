//! The controllers of sprayed transports a second time, in real numbers, from their sources' equations.
//!
//! A reading goes its own way from the first report to the last. Where an equation compares, and the two sides are so
//! near each other that rounding decides, it says so, and nothing after that can be compared.

use tresse_controllers::{Hop, Report};

mod dcqcn;
mod hpcc;
mod mprdma;
mod nscc;
mod powertcp;
mod swift;

pub use hpcc::load;
pub use powertcp::power;
pub use swift::Target;

/// What a law sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The window, packets, with its fraction.
    pub window: f64,
    /// bytes/us; `None`: no pace.
    pub pace: Option<f64>,
    /// Whether a comparison was too near to tell.
    pub unsure: bool,
}

/// What the host tells beside the report.
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// Payload of a packet, bytes.
    pub packet: f64,
    /// Packets in flight.
    pub in_flight: f64,
}

/// A law as its source writes it.
pub trait Law {
    /// What it makes of a report.
    fn report(&mut self, host: &Host, report: &Report, hops: &[Hop]) -> Answer;

    /// How far a window may be off, in proportion to it, and in packets.
    fn within(&self) -> (f64, f64) {
        (1e-3, 0.01)
    }

    /// Whether a packet leaves as long as less than the window is in flight: the host's window is rounded up.
    fn rounds_up(&self) -> bool {
        false
    }
}

/// The reading of the built-in controller `name`, with its defaults.
pub fn law(name: &str) -> Box<dyn Law> {
    match name {
        "dcqcn" => Box::new(dcqcn::Dcqcn::default()),
        "hpcc" => Box::new(hpcc::Hpcc::default()),
        "mprdma" => Box::new(mprdma::Mprdma::default()),
        "nscc" => Box::new(nscc::Nscc::default()),
        "powertcp" => Box::new(powertcp::Powertcp::default()),
        "swift" => Box::new(swift::Swift::default()),
        _ => panic!("no independent reading of {name}: write one"),
    }
}

/// The host's link in bytes/ns.
fn line(report: &Report) -> f64 {
    f64::from(report.line_rate) / 8000.0
}

/// The product of its rate and the base RTT, packets.
fn bdp(host: &Host, report: &Report) -> f64 {
    line(report) * f64::from(report.base_rtt) / host.packet
}

/// A hop's rate, bytes/ns.
fn rate(hop: &Hop) -> f64 {
    f64::from(hop.rate) / 8000.0
}

/// What a hop's port sent between two packets, bytes.
fn sent(hop: &Hop, before: &Hop) -> f64 {
    (hop.bytes - before.bytes) as f64
}

/// The time between them there, ns.
fn apart(hop: &Hop, before: &Hop) -> f64 {
    (hop.time - before.time) as f64
}

/// The largest of what each hop makes, and the time between the two packets there; `None` if none is above 0. Whether
/// another one is so near that it could be that one, of another time, or it so small that it could be none.
fn largest(of: impl Fn(&Hop, &Hop) -> f64, hops: &[Hop], before: &[Hop]) -> (Option<(f64, f64)>, bool) {
    if hops.len() != before.len() {
        return (None, false);
    }
    let all = hops.iter().zip(before).map(|(hop, before)| (of(hop, before), apart(hop, before)));
    let all: Vec<_> = all.filter(|(value, _)| *value > 0.0).collect();
    let Some(&most) = all.iter().reduce(|a, b| if b.0 > a.0 { b } else { a }) else { return (None, false) };
    let near = all.iter().any(|(value, time)| *time != most.1 && *value > most.0 * (1.0 - 1e-3));
    (Some(most), near || most.0 < 1e-3)
}

/// Counts packets until a window of them has passed: in their sources, until one is acknowledged that was sent since.
#[derive(Debug, Default)]
struct Round {
    left: f64,
}

impl Round {
    fn passes(&mut self, report: &Report) -> bool {
        let told = f64::from(report.delivered) + f64::from(report.trimmed) + f64::from(report.lost);
        let passes = told > self.left;
        self.left = (self.left - told).max(0.0);
        passes
    }
}
