//! The common vocabulary of all parts of Tresse: time, quantities and their string forms, declared parameters
//! and their values, named random streams; and the one reader and the one writer of whole files.
//!
//! It depends on no other crate of the workspace.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod buffer;
pub mod input_file;
pub mod output_file;
mod parameter;
mod patience;
mod quantity;
mod queue;
mod share;
mod split_mix;
mod stream;
mod text;
pub mod text_file;
mod time;

pub use buffer::Buffer;
pub use parameter::{Parameter, ParameterError, Range, Value, Values, Whole};
pub use quantity::{Bytes, Duration, Flops, Packets, Rate};
pub use queue::{HostQueue, Mark, Queue};
pub use share::{Factor, Probability};
pub use split_mix::{SplitMix, mix};
pub use stream::Stream;
pub use time::{BitsPerSecond, MICROSECOND, MILLISECOND, NANOSECOND, NEVER, SECOND, Time, seconds};
