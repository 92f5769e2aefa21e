//! Applications at work: what they write to their connections, and when.

use tresse_experiment::plan::applications::App;
use tresse_units::{SECOND, Time};

/// An application at work. It writes a segment at a time.
#[derive(Debug)]
pub(crate) struct Writer {
    app: App,
    /// The index of the current level.
    level: usize,
    /// The time at which the level was chosen.
    chosen: Time,
    /// The bytes delivered by then.
    delivered: u64,
    /// The bytes written so far.
    written: u64,
    /// When the next segment is written.
    next: Time,
    segment: u64,
}

impl Writer {
    /// For a flow that starts now; `segment` is the size of one write, bytes.
    pub fn new(app: App, now: Time, segment: u32) -> Self {
        Self { app, level: 0, chosen: now, delivered: 0, written: 0, next: now, segment: segment.into() }
    }

    /// When it writes next.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Writes at `now`; returns the total of written bytes. `delivered` bytes have arrived.
    pub fn write(&mut self, now: Time, delivered: u64) -> u64 {
        if let App::Adaptive { levels, period } = &self.app
            && now - self.chosen >= *period
        {
            let rate = bits_per_second(delivered - self.delivered, now - self.chosen);
            let kept_up = levels.iter().rposition(|&level| u128::from(level) <= rate).unwrap_or(0);
            // Less than a tenth of a second of its rate waits, no more than is on its way: there may be room for more.
            let waits = (self.written - delivered.min(self.written)) / self.segment;
            let keeps_up = waits * self.segment * 8 < levels[self.level] / 10;
            let up = (self.level + 1).min(levels.len() - 1);
            self.level = if keeps_up { up } else { kept_up.min(self.level) };
            (self.chosen, self.delivered) = (now, delivered);
        }
        let rate = match &self.app {
            App::Constant(rate) => *rate,
            App::Adaptive { levels, .. } => levels[self.level],
        };
        self.written += self.segment;
        self.next = now + interval(self.segment, rate);
        self.written
    }
}

/// The time that `bytes` take at a rate, ps; at least 1.
pub(crate) fn interval(bytes: u64, rate: u64) -> Time {
    let ps = u128::from(bytes) * 8 * u128::from(SECOND) / u128::from(rate);
    u64::try_from(ps).unwrap_or(u64::MAX / 4).max(1)
}

fn bits_per_second(bytes: u64, time: Time) -> u128 {
    u128::from(bytes) * 8 * u128::from(SECOND) / u128::from(time.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tresse_experiment::schema::workload::Application;
    use tresse_units::Rate;

    const MBPS: u64 = 1_000_000;

    fn key(rate: Option<u64>, levels: &[u64]) -> Application {
        Application { rate: rate.map(Rate), levels: levels.iter().map(|&l| Rate(l)).collect(), period: None }
    }

    /// Writes until `end` over a network that delivers at most `capacity` bit/s; returns the bytes of the last
    /// second.
    fn last_second(app: App, capacity: u64, end: Time) -> u64 {
        let mut writer = Writer::new(app, 0, 1460);
        let (mut written, mut before) = (0u64, 0);
        while writer.next() < end {
            let now = writer.next();
            before = if now < end - SECOND { written } else { before };
            let most = (u128::from(capacity) * u128::from(now) / 8 / u128::from(SECOND)) as u64;
            written = writer.write(now, written.min(most));
        }
        written - before
    }

    #[test]
    fn a_constant_rate_is_kept() {
        let app = App::new(&key(Some(20 * MBPS), &[])).expect("a rate");
        let bits = 8 * last_second(app, u64::MAX / 2, 3 * SECOND);
        assert!(bits.abs_diff(20 * MBPS) < 20_000, "{bits}");
    }

    #[test]
    fn an_adaptive_rate_climbs_as_long_as_the_network_carries_it() {
        let app = App::new(&key(None, &[MBPS, 2 * MBPS, 5 * MBPS, 20 * MBPS])).expect("levels");
        let bits = 8 * last_second(app.clone(), 100 * MBPS, 20 * SECOND);
        assert!(bits.abs_diff(20 * MBPS) < MBPS / 10, "{bits}");
        // A network of 3 Mbit/s carries the second level: it may try the third now and then.
        let mean = 8 * last_second(app, 3 * MBPS, 60 * SECOND);
        assert!((2 * MBPS - 20_000..=5 * MBPS + 20_000).contains(&mean), "{mean}");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (rate, levels) in
            [(None, &[][..]), (Some(1), &[1][..]), (Some(0), &[]), (None, &[2, 1]), (None, &[0])]
        {
            assert!(App::new(&key(rate, levels)).is_err(), "{rate:?} {levels:?}");
        }
    }
}
