//! Parts of a sweep that several machines compute.

use std::fmt;
use std::str::FromStr;

/// The prefix of the names of shards' folders.
pub(crate) const SHARD: &str = "shard-";

/// One of several parts of a sweep, such as the task of a Slurm array: `3/10` is the third of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    index: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err("a shard is I/N with I from 1 to N, such as 3/10".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl Shard {
    /// The name of its subfolder in the folder of the sweep.
    pub(crate) fn name(self) -> String {
        format!("{SHARD}{}-of-{}", self.index, self.of)
    }

    /// Whether it computes the point at this place.
    pub(crate) fn has(self, place: usize) -> bool {
        place % self.of == self.index - 1
    }
}
