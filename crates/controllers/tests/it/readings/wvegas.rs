//! Weighted Vegas, from the description of its authors' module in the old MPTCP kernel.

use tresse_controllers::{Ack, Cause};

use super::{Reading, Real, View, half, standard_increase};

/// initial_alpha, total_alpha and gamma, packets.
const INITIAL_ALPHA: f64 = 2.0;
const TOTAL_ALPHA: f64 = 10.0;
const GAMMA: f64 = 1.0;

/// How far a share of fixed-point rates may be off, relative: rates in Q40 packets per 1/8 us, at 1 s.
const SHARE_ERROR: f64 = 1e-5;

/// Vegas on each subflow, whose alpha is its share of the connection's.
pub struct Wvegas {
    subflows: Vec<Path>,
}

#[derive(Debug, Clone)]
struct Path {
    base: f64,
    samples: Vec<f64>,
    rate: f64,
    alpha: f64,
    queue: Option<f64>,
    /// "doing_wvegas_now"
    on: bool,
    /// "snd_ssthresh", where the module has set it.
    threshold: Option<f64>,
    new_round: bool,
}

impl Wvegas {
    /// Nothing has been sent.
    pub fn new(count: usize) -> Self {
        let path = Path {
            base: f64::INFINITY,
            samples: Vec::new(),
            rate: 0.0,
            alpha: INITIAL_ALPHA,
            queue: None,
            on: false,
            threshold: None,
            new_round: false,
        };
        Self { subflows: vec![path; count] }
    }

    /// "min(snd_ssthresh, snd_cwnd - 1)", for a window that a queue has lowered.
    fn lower_threshold(&mut self, i: usize, window: f64) {
        self.subflows[i].threshold = self.subflows[i].threshold.map(|threshold| threshold.min(window - 1.0));
    }

    /// The congestion avoidance of one round: the window after it. It may be a packet off where the
    /// share is next to a whole packet.
    fn avoid(&mut self, i: usize, window: f64, rtt: f64, diff: f64) -> Real {
        let mut within = 0.0;
        if diff >= self.subflows[i].alpha {
            self.subflows[i].rate = window / rtt;
            let total: f64 = self.subflows.iter().map(|k| k.rate).sum();
            let share = TOTAL_ALPHA * self.subflows[i].rate / total;
            if share > 1.0 && (share - share.round()).abs() < share * SHARE_ERROR {
                within = 1.0;
            }
            // Equal rates give equal shares, whatever a sum of reals makes of them.
            self.subflows[i].alpha = (share * (1.0 + 1e-12)).floor().max(INITIAL_ALPHA);
        }
        let mut after = window;
        if diff > self.subflows[i].alpha {
            after -= 1.0;
            self.lower_threshold(i, after);
        } else if diff < self.subflows[i].alpha {
            after += 1.0;
        }
        let path = &mut self.subflows[i];
        let delay = rtt - path.base;
        if delay > 0.0 {
            let least = path.queue.map_or(delay, |queue| queue.min(delay));
            path.queue = Some(least);
            if delay >= 2.0 * least {
                after = (after * path.base / (2.0 * rtt)).floor();
                path.queue = None;
            }
        }
        Real { packets: after, within }
    }
}

impl Reading for Wvegas {
    fn ack(&mut self, all: &[View], i: usize, ack: &Ack) {
        let path = &mut self.subflows[i];
        if !all[i].open {
            path.on = false;
        } else if !path.on {
            path.on = true;
            path.samples.clear();
            (path.rate, path.alpha, path.queue) = (0.0, INITIAL_ALPHA, None);
        }
        if ack.rtt > 0 {
            path.base = path.base.min(f64::from(ack.rtt));
            path.samples.push(f64::from(ack.rtt));
        }
        // The host tells `grow` of a round that began while the window could not grow.
        path.new_round |= ack.new_round == 1;
    }

    /// The round's end decides by itself how the window goes on.
    fn starts_slowly(&self, all: &[View], i: usize) -> bool {
        let path = &self.subflows[i];
        let ends = path.new_round && path.on && path.samples.len() > 2;
        !ends && all[i].window < self.threshold(all, i)
    }

    /// The module sets the host's own; `wvegas.c` declares that here it is the controller's.
    fn threshold(&self, all: &[View], i: usize) -> f64 {
        self.subflows[i].threshold.unwrap_or(all[i].threshold)
    }

    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let own = &all[i];
        let threshold = self.threshold(all, i);
        let path = &mut self.subflows[i];
        let new_round = std::mem::take(&mut path.new_round);
        let enough = path.on && new_round && path.samples.len() > 2;
        let samples = if new_round { std::mem::take(&mut path.samples) } else { Vec::new() };
        if !enough {
            // Reno's, at a round's end or while the control is off.
            let grows = packets > 0.0 && (new_round || !path.on);
            return if grows { standard_increase(own, packets) } else { Real { packets: 0.0, within: 0.0 } };
        }
        path.threshold = Some(threshold);
        let rtt = (samples.iter().sum::<f64>() / samples.len() as f64).floor();
        let base = path.base;
        let diff = (own.window * (rtt - base) / rtt).floor();
        let mut within = 0.0;
        let after = if own.window >= threshold {
            let avoided = self.avoid(i, own.window, rtt, diff);
            within = avoided.within;
            avoided.packets
        } else if diff > GAMMA {
            let target = (own.window * base / rtt).floor() + 1.0;
            let after = target.min(own.window);
            self.lower_threshold(i, after);
            after
        } else {
            own.window + packets.min(threshold - own.window)
        };
        let after = after.max(2.0);
        // "tcp_current_ssthresh": half of the window and a quarter of it, each rounded down.
        let least = (after / 2.0).floor() + (after / 4.0).floor();
        let path = &mut self.subflows[i];
        path.threshold = path.threshold.map(|threshold| threshold.max(least));
        Real { packets: after - own.window, within }
    }

    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        let path = &mut self.subflows[i];
        (path.rate, path.on, path.threshold) = (0.0, false, None);
        half(&all[i])
    }
}
