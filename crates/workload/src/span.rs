//! Lengths of time: gaps, periods, deadlines.

use tresse_units::{Stream, Time};

/// A length of time, ps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// Always this long.
    Fixed(Time),
    /// Exponential with this mean.
    Exponential(Time),
    /// Log-normal with this mean, and a variance of a fifth of its square: with 50 ms, the gaps between jobs
    /// in the slides' author's code (a variance of 10 ms times the mean; it also cuts at ten times the mean,
    /// which comes once in 10^8).
    LogNormal(Time),
}

impl Span {
    /// The mean, ps.
    pub fn mean(self) -> Time {
        let (Self::Fixed(mean) | Self::Exponential(mean) | Self::LogNormal(mean)) = self;
        mean
    }

    /// A length, ps.
    pub fn draw(self, stream: &mut Stream) -> Time {
        let length = match self {
            Self::Fixed(length) => return length,
            Self::Exponential(mean) => stream.exponential(mean as f64),
            Self::LogNormal(mean) => {
                let variance = libm::log(1.2);
                // Box and Muller: one normal number from two uniform ones.
                let radius = libm::sqrt(stream.exponential(2.0));
                let normal = radius * libm::cos(2.0 * std::f64::consts::PI * stream.unit());
                mean as f64 * libm::exp(libm::sqrt(variance) * normal - variance / 2.0)
            }
        };
        libm::round(length) as Time
    }
}
