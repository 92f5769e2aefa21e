//! CUBIC, RFC 9438 §4.

use tresse_controllers::{Ack, Cause};

use super::{Reading, Real, View};

/// §4.6 and §5: beta_cubic and C, packets/s^3.
const BETA: f64 = 0.7;
const C: f64 = 0.4;

/// CUBIC on each subflow, none looking at the others.
pub struct Cubic {
    subflows: Vec<Path>,
}

#[derive(Debug, Clone, Default)]
struct Path {
    /// Time of the ACK that is processed, s.
    now: f64,
    /// The window before the last reduction; none before the first.
    prior: Option<f64>,
    /// W_max; none before the first congestion and after a timeout.
    w_max: Option<f64>,
    stage: Option<Stage>,
}

/// A stage of congestion avoidance.
#[derive(Debug, Clone)]
struct Stage {
    epoch: f64,
    k: f64,
    w_max: f64,
    w_est: f64,
    /// How far the controller's W_est may be off.
    off: f64,
}

/// Figure 2: K, s.
pub fn time_to_rise(packets: f64) -> f64 {
    (packets / C).cbrt()
}

/// Figure 1 without W_max: C (t - K)^3, with t - K in s.
pub fn cube(d: f64) -> f64 {
    C * d * d * d
}

impl Cubic {
    /// Nothing has been sent.
    pub fn new(count: usize) -> Self {
        Self { subflows: vec![Path::default(); count] }
    }
}

impl Stage {
    /// §4.2 and §4.8: without a W_max, or with one that was passed already, K = 0 and W_max = w.
    fn begin(now: f64, window: f64, w_max: Option<f64>) -> Self {
        let w_max = w_max.unwrap_or(window).max(window);
        Self { epoch: now, k: time_to_rise(w_max - window), w_max, w_est: window, off: 0.0 }
    }

    /// Figure 1, and how far a fixed-point K and its cube may be from it.
    fn cubic(&self, now: f64) -> Real {
        let d = now - self.epoch - self.k;
        let late = self.k * 2f64.powi(-20) + 3e-6;
        let cube = cube(d);
        let within = 3.0 * C * (d.abs() + late).powi(2) * late + cube.abs() * 1e-6 + 2f64.powi(-16);
        Real { packets: self.w_max + cube, within }
    }
}

impl Reading for Cubic {
    /// §4.2: the time since the epoch is without that in which the application was the limit.
    fn ack(&mut self, all: &[View], i: usize, ack: &Ack) {
        let path = &mut self.subflows[i];
        let now = ack.now as f64 * 1e-6;
        if let Some(stage) = path.stage.as_mut().filter(|_| !all[i].limited) {
            stage.epoch += now - path.now;
        }
        path.now = now;
    }

    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let (own, path) = (&all[i], &mut self.subflows[i]);
        if packets == 0.0 {
            return Real { packets: 0.0, within: 0.0 };
        }
        let now = path.now;
        let w_max = path.w_max;
        let stage = path.stage.get_or_insert_with(|| Stage::begin(now, own.window, w_max));
        // §4.10: a first stage without a congestion has cwnd_prior = cwnd.
        let prior = *path.prior.get_or_insert(own.window);

        // Figure 4.
        let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
        let gain = if stage.w_est >= prior { 1.0 } else { alpha };
        if (stage.w_est - prior).abs() <= stage.off + 1e-6 {
            stage.off += (1.0 - alpha) * packets / own.window; // the controller may be on the other side
        }
        stage.w_est += gain * packets / own.window;
        stage.off += packets * 1e-9;

        let w = own.window + own.fraction;
        let here = stage.cubic(now);
        let friendly = (stage.w_est - w).clamp(0.0, packets);
        let friendly = (friendly - stage.off, friendly + stage.off + own.unsure);

        // §4.2, §4.4 and §4.5: a smoothed RTT in whole us.
        let rtt = if own.rtt.is_finite() { (own.rtt / 8.0).floor() * 1e-6 } else { 0.0 };
        let there = stage.cubic(now + rtt);
        let step = (there.packets.clamp(w, 1.5 * w) - w) * packets / own.window;
        let slack = (there.within + 2.0 * own.unsure) * packets / own.window + packets * 2f64.powi(-40);
        let cubic = (step - slack, step + slack);

        let unlike = here.within + stage.off;
        let (low, high) = if here.packets < stage.w_est - unlike {
            friendly
        } else if here.packets > stage.w_est + unlike {
            cubic
        } else {
            (friendly.0.min(cubic.0), friendly.1.max(cubic.1))
        };
        Real { packets: (low + high) / 2.0, within: (high - low) / 2.0 + 1e-9 }
    }

    /// §4.6 and §4.7, for losses and marks alike.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        let (w, path) = (all[i].window, &mut self.subflows[i]);
        path.w_max = match path.w_max {
            Some(last) if w < last => Some(w * (1.0 + BETA) / 2.0),
            _ => Some(w),
        };
        path.prior = Some(w);
        path.stage = None;
        Real { packets: (w * 7.0 / 10.0).floor(), within: 0.0 }
    }

    /// §4.8
    fn timeout(&mut self, i: usize) {
        self.subflows[i].w_max = None;
        self.subflows[i].stage = None;
    }
}
