//! RTT estimation and the retransmission timeout (RFC 6298).

use tresse_controllers::{SRTT_LEAST, SRTT_LIMIT};

use tresse_units::Time;

use crate::Config;

/// Smoothed RTT, its variation, and the timeout that follows.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct RttEstimator {
    srtt: Time,
    variation: Time,
    smallest: Time,
    backoff: u32,
}

impl RttEstimator {
    pub fn new() -> Self {
        Self { srtt: 0, variation: 0, smallest: Time::MAX, backoff: 0 }
    }

    /// RFC 6298 §2: gains of 1/8 and 1/4.
    #[inline]
    pub fn sample(&mut self, rtt: Time) {
        self.smallest = self.smallest.min(rtt);
        if self.srtt == 0 {
            self.srtt = rtt;
            self.variation = rtt / 2;
        } else {
            self.variation = self.variation - self.variation / 4 + self.srtt.abs_diff(rtt) / 4;
            self.srtt = self.srtt - self.srtt / 8 + rtt / 8;
        }
    }

    /// The smoothed RTT, 0 if there is no sample.
    #[inline]
    pub fn srtt(&self) -> Time {
        self.srtt
    }

    /// The smallest sample; the latest possible time if there is none.
    #[inline]
    pub fn min(&self) -> Time {
        self.smallest
    }

    /// The smoothed RTT in 1/8 us, 0 if there is no sample.
    #[inline]
    pub fn srtt_eighths(&self) -> u32 {
        eighths(self.srtt)
    }

    /// The smallest sample in 1/8 us, 0 if there is none.
    #[inline]
    pub fn min_eighths(&self) -> u32 {
        if self.smallest == Time::MAX { 0 } else { eighths(self.smallest) }
    }

    /// The timeout, backed off.
    #[inline]
    pub fn rto(&self, config: &Config) -> Time {
        let rto = if self.srtt == 0 { config.rto_initial } else { config.rto(self.srtt, self.variation) };
        rto.saturating_mul(1 << self.backoff.min(16)).min(config.rto_max)
    }

    /// RFC 6298 §5.5.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    #[inline]
    pub fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    pub fn backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// Timeouts since the last progress.
    #[inline]
    pub fn backoff(&self) -> u32 {
        self.backoff
    }
}

/// Picoseconds to 1/8 us, within what a controller's arithmetic can take; a sample is never 0.
#[inline]
pub(crate) fn eighths(t: Time) -> u32 {
    if t == 0 {
        return 0;
    }
    (t / 125_000).clamp(u64::from(SRTT_LEAST), u64::from(SRTT_LIMIT - 1)) as u32
}
