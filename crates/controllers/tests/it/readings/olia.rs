//! OLIA as the thesis's Table 3.1 writes it, with the catalogue's definition of its alpha (S13).

use tresse_controllers::{Ack, Cause};

use super::{Reading, Real, SHARE_ERROR, View, half, share};

/// The Opportunistic Linked Increases.
pub struct Olia {
    paths: Vec<Path>,
}

/// What a subflow has delivered, packets.
#[derive(Debug, Clone, Copy, Default)]
struct Path {
    since_the_last_loss: f64,
    between_the_last_two: f64,
    avoiding: bool,
}

impl Path {
    fn quality(&self) -> f64 {
        self.since_the_last_loss.max(self.between_the_last_two)
    }
}

/// Alpha of subflow `i`, when `qualities` are the l of the subflows: with B = argmax l/T^2 and
/// M = argmax w, it is 1/(n |B\M|) in B\M and -1/(n |M|) in M, and 0 elsewhere and if B\M is empty.
/// Only subflows that have an RTT count.
pub fn modulation(all: &[View], i: usize, qualities: &[f64]) -> f64 {
    let known: Vec<usize> = (0..all.len()).filter(|&k| all[k].rtt.is_finite()).collect();
    let worth = |k: usize| qualities[k] / (all[k].rtt * all[k].rtt);
    let best = known.iter().map(|&k| worth(k)).fold(0.0, f64::max);
    let widest = known.iter().map(|&k| all[k].window).fold(0.0, f64::max);
    let in_m = |k: usize| all[k].window == widest;
    let in_b_not_m = |k: usize| worth(k) == best && !in_m(k);
    let size = |of: &dyn Fn(usize) -> bool| known.iter().filter(|&&k| of(k)).count() as f64;
    let n = known.len() as f64;
    if size(&in_b_not_m) == 0.0 {
        0.0
    } else if in_m(i) {
        -1.0 / (n * size(&in_m))
    } else if in_b_not_m(i) {
        1.0 / (n * size(&in_b_not_m))
    } else {
        0.0
    }
}

impl Olia {
    /// Nothing has been delivered.
    pub fn new(count: usize) -> Self {
        Self { paths: vec![Path::default(); count] }
    }
}

impl Reading for Olia {
    fn ack(&mut self, _all: &[View], i: usize, ack: &Ack) {
        self.paths[i].since_the_last_loss += f64::from(ack.delivered);
    }

    /// The sources do not say what becomes of a window below the threshold; `olia.c` declares that
    /// alpha's work is not undone.
    fn starts_slowly(&self, all: &[View], i: usize) -> bool {
        all[i].window < all[i].threshold && !self.paths[i].avoiding
    }

    /// (w_r/T_r^2) / (sum_k w_k/T_k)^2 + alpha_r/w_r for each packet, and one packet for one at most,
    /// as `olia.c` declares. Each of the terms loses its last digit in Q48.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        if packets > 0.0 {
            self.paths[i].avoiding = true;
        }
        let qualities: Vec<_> = self.paths.iter().map(Path::quality).collect();
        let first = share(all, i);
        let increase = first + modulation(all, i, &qualities) / all[i].window;
        let within = packets * (first * SHARE_ERROR + 3.0 * 2f64.powi(-48));
        Real { packets: packets * increase.min(1.0), within }
    }

    /// Half, and a new interval. A mark ends the interval too, as `olia.c` declares; without a
    /// delivery since the last loss it is still the same loss.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        let path = &mut self.paths[i];
        path.avoiding = false;
        if path.since_the_last_loss > 0.0 {
            path.between_the_last_two = path.since_the_last_loss;
            path.since_the_last_loss = 0.0;
        }
        half(&all[i])
    }

    /// The catalogue: the floor of a loss, below which alpha takes nothing either, as `olia.c` declares.
    fn least(&self) -> f64 {
        2.0
    }
}
