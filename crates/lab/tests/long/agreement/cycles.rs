//! What the per-round fluid leaves out: flows over one link are cut at the same moments.
//!
//! In the fluid every round of a flow is congested with the link's probability, so that who has more rounds
//! in a second hears more signals in a second. Here windows grow until a link is full, and then everybody on
//! it is cut once: as many signals a second for all.

/// A connection over two links and a competitor on the second one, without queues.
pub struct Cycles {
    /// By link, packets a second.
    pub capacities: [f64; 2],
    /// Of the two subflows and the competitor, seconds.
    pub rtts: [f64; 3],
    /// XMP and BOS with beta = 4; else DCTCP with g = 1/16.
    pub xmp: bool,
}

const BETA: f64 = 4.0;
const G: f64 = 1.0 / 16.0;
/// The controllers' floor, packets.
const FLOOR: f64 = 2.0;

impl Cycles {
    /// Shares of what their link carries, over the second half of `time` seconds. (Without a queue the links
    /// are not full all the time; with one they would be.)
    pub fn shares(&self, time: f64) -> [f64; 3] {
        let shortest = self.rtts[0].min(self.rtts[1]);
        let step = self.rtts.iter().copied().fold(f64::INFINITY, f64::min) / 100.0;
        let (mut windows, mut alphas, mut rounds) = ([10.0; 3], [1.0; 3], [0.0; 3]);
        let (mut sums, steps) = ([0.0; 3], (time / step) as u64);
        for n in 0..steps {
            let rates: [f64; 3] = std::array::from_fn(|i| windows[i] / self.rtts[i]);
            for i in 0..3 {
                let pooled = self.xmp && i < 2;
                let growth = if pooled { windows[i] / ((rates[0] + rates[1]) * shortest) } else { 1.0 };
                windows[i] += growth * step / self.rtts[i];
                rounds[i] += step / self.rtts[i];
                if 2 * n >= steps {
                    sums[i] += rates[i];
                }
            }
            for (capacity, flows) in self.capacities.iter().zip([0..1, 1..3]) {
                if rates[flows.clone()].iter().sum::<f64>() < *capacity {
                    continue;
                }
                for i in flows {
                    // The other rounds since the last cut had no mark.
                    alphas[i] = alphas[i] * f64::powi(1.0 - G, rounds[i].round().max(1.0) as i32) + G;
                    let cut = if self.xmp { 1.0 / BETA } else { alphas[i] / 2.0 };
                    windows[i] = (windows[i] * (1.0 - cut)).max(FLOOR);
                    rounds[i] = 0.0;
                }
            }
        }
        let shared = sums[1] + sums[2];
        [1.0, sums[1] / shared, sums[2] / shared]
    }
}
