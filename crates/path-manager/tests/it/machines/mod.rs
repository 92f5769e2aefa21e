//! The path managers at work: by hand, against naive implementations of the papers, and over random scripts.

mod common;
mod opn;
mod opn_reading;
mod path_sharing;
mod properties;
mod simple;
