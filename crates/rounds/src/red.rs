//! Random early detection on a fluid (Floyd and Jacobson, ToN 1993): the share of packets that is signalled follows an average
//! of the backlog.
//!
//! Each packet moves the average by the weight's share towards the backlog. So between two changes of a link's inflow, in
//! which the backlog is linear, the average follows a differential equation with a closed solution. While nothing waits, it
//! falls as if packets came at the link's rate, as by packets.

use tresse_fabric::{RedConfig, Threshold};

/// Parts of a span of time in which the probability is taken to be linear.
const STEPS: u32 = 8;

/// The state of a link with RED.
#[derive(Debug, Clone)]
pub(crate) struct Red {
    /// Bytes that wait: nothing is signalled below the first, all from the second on.
    min: f64,
    max: f64,
    /// The share just below `max`.
    most: f64,
    gentle: bool,
    uniform: bool,
    /// The weight of a packet's sample.
    weight: f64,
    /// Bytes of a packet.
    packet: f64,
    /// Above this backlog all are signalled, whatever the average.
    mark: f64,
    average: f64,
}

/// A span of time in which the backlog is linear.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// Bytes.
    pub from: f64,
    pub to: f64,
    /// ps.
    pub lasts: f64,
    /// Bytes per ps at which packets sample the backlog.
    pub samples: f64,
}

impl Red {
    /// On a link whose queue also marks above `mark` bytes. Lengths in packets are of `packet` bytes.
    pub fn new(config: &RedConfig, packet: f64, mark: f64) -> Self {
        // As for thresholds: n waiting packets are n + 1/2 of the fluid.
        let bytes = |length: Threshold| match length.is_bytes() {
            true => length.value() as f64,
            false => (length.value() as f64 + 0.5) * packet,
        };
        Self {
            min: bytes(config.min),
            max: bytes(config.max),
            most: f64::from(config.probability) / 65536.0,
            gentle: config.gentle,
            uniform: config.uniform,
            weight: 1.0 / f64::from(1u32 << config.weight),
            packet,
            mark,
            average: 0.0,
        }
    }

    /// The share that is signalled at this backlog.
    fn share(&self, backlog: f64) -> f64 {
        let a = self.average;
        let share = if backlog > self.mark || a >= 2.0 * self.max {
            1.0
        } else if a >= self.max {
            if self.gentle { self.most + (1.0 - self.most) * (a - self.max) / self.max } else { 1.0 }
        } else if a > self.min {
            self.most * (a - self.min) / (self.max - self.min)
        } else {
            0.0
        };
        // Uniform gaps from 1 to 1/p packets are (1 + 1/p) / 2 long on average (ToN 1993, §4).
        if self.uniform { 2.0 * share / (1.0 + share) } else { share }
    }

    /// A span passes. Returns the time for which packets were signalled, ps.
    pub fn pass(&mut self, span: Span) -> f64 {
        if span.lasts <= 0.0 {
            return 0.0;
        }
        let slope = (span.to - span.from) / span.lasts;
        let step = span.lasts / f64::from(STEPS);
        // d average / dt = speed (backlog - average)
        let speed = self.weight * span.samples / self.packet;
        let kept = libm::exp(-speed * step);
        let (mut backlog, mut before, mut signalled) = (span.from, self.share(span.from), 0.0);
        for _ in 0..STEPS {
            let end = backlog + slope * step;
            self.average = if self.weight == 1.0 {
                end
            } else if speed * step < 1e-9 {
                self.average
            } else {
                let lag = slope / speed;
                end - lag + (self.average - backlog + lag) * kept
            };
            backlog = end;
            let now = self.share(backlog);
            signalled += step * (before + now) / 2.0;
            before = now;
        }
        signalled
    }
}
