//! How large flows are.

use std::sync::Arc;

use tresse_units::{Bytes, Stream};

use crate::distribution::Distribution;

/// What happens to a size beyond the bound of its distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// It is drawn again until it is within the bound, as ns-3 does: the distribution under the condition
    /// that the size is within the bound.
    Resample,
    /// It is set to the bound.
    Clip,
}

/// The error for a message of `bytes` if the transport carries at most `most`.
pub fn too_large(bytes: u64, most: u64) -> String {
    let (bytes, most) = (Bytes(bytes), Bytes(most));
    format!("{bytes} is too large: at most {most}, because a flow has fewer than 2^32 segments")
}

/// How large a flow is.
#[derive(Debug, Clone, PartialEq)]
pub enum Size {
    /// Always this many bytes.
    Fixed(u64),
    /// Uniform between two sizes, inclusive.
    Uniform(u64, u64),
    /// XMP §5.2.1: a Pareto distribution with an upper bound.
    Pareto {
        /// The exponent of its tail; above 1.
        shape: f64,
        /// Its mean if it had no bound, bytes; the least size is `mean (shape - 1) / shape`.
        mean: u64,
        /// No size is larger, bytes.
        bound: u64,
        /// What happens to the sizes beyond.
        beyond: Beyond,
    },
    /// From a file.
    Distribution(Arc<Distribution>),
}

impl Size {
    /// Whether sizes can be drawn.
    ///
    /// # Errors
    /// What is wrong, in words for the user.
    pub fn check(&self) -> Result<(), String> {
        let wrong = match *self {
            Self::Fixed(0) | Self::Uniform(0, _) => "a flow has at least one byte",
            Self::Uniform(min, max) if min > max => "the first size must not be above the second",
            Self::Pareto { shape, .. } if !(shape > 1.0 && shape.is_finite()) => {
                "a Pareto distribution has a mean only if its shape is above 1"
            }
            Self::Pareto { shape, mean, bound, .. } => match scale(shape, mean) {
                scale if scale < 1.0 => "the smallest size, mean (shape - 1) / shape, is below one byte",
                scale if scale > bound as f64 => {
                    "the bound is below the smallest size, which is mean (shape - 1) / shape"
                }
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        Err(wrong.to_owned())
    }

    /// The mean, bytes, rounded to whole ones.
    pub fn mean(&self) -> u64 {
        match *self {
            Self::Fixed(bytes) => bytes,
            Self::Uniform(min, max) => min + (max - min) / 2,
            Self::Pareto { .. } | Self::Distribution(_) => libm::round(self.exact_mean()) as u64,
        }
    }

    /// The mean, bytes, before sizes are rounded to whole ones: what a load refers to.
    pub fn exact_mean(&self) -> f64 {
        match *self {
            Self::Fixed(bytes) => bytes as f64,
            Self::Uniform(min, max) => (min as f64 + max as f64) / 2.0,
            Self::Pareto { shape, mean, bound, beyond } => {
                let (scale, bound) = (scale(shape, mean), bound as f64);
                let tail = libm::pow(scale / bound, shape);
                // The mean of sizes within the bound, times their probability.
                let within = mean as f64 * (1.0 - libm::pow(scale / bound, shape - 1.0));
                match beyond {
                    Beyond::Resample => within / (1.0 - tail),
                    Beyond::Clip => within + bound * tail,
                }
            }
            Self::Distribution(ref d) => d.mean(),
        }
    }

    /// The largest size, bytes.
    pub fn largest(&self) -> u64 {
        match *self {
            Self::Fixed(bytes) => bytes,
            Self::Uniform(_, max) => max,
            Self::Pareto { bound, .. } => bound,
            Self::Distribution(ref d) => d.largest(),
        }
    }

    /// A size.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        match *self {
            Self::Fixed(bytes) => bytes,
            Self::Uniform(min, max) => min + stream.below(max - min + 1),
            Self::Pareto { .. } | Self::Distribution(_) => self.quantile(stream.unit()),
        }
    }

    /// The size that a share `u` (0 to 1) of all flows does not exceed, bytes.
    pub fn quantile(&self, u: f64) -> u64 {
        match *self {
            Self::Fixed(bytes) => bytes,
            Self::Uniform(min, max) => {
                let sizes = (max - min) as f64 + 1.0;
                (min + (u * sizes) as u64).min(max)
            }
            Self::Pareto { shape, mean, bound, beyond } => {
                let scale = scale(shape, mean);
                let within = match beyond {
                    // Drawing again until it fits is the same as drawing from the part that fits.
                    Beyond::Resample => u * (1.0 - libm::pow(scale / bound as f64, shape)),
                    Beyond::Clip => u,
                };
                let size = scale * libm::pow(1.0 - within, -1.0 / shape);
                (libm::round(size) as u64).clamp(1, bound)
            }
            Self::Distribution(ref d) => d.quantile(u),
        }
    }
}

/// The least size of a Pareto distribution without a bound, bytes.
fn scale(shape: f64, mean: u64) -> f64 {
    mean as f64 * (shape - 1.0) / shape
}
