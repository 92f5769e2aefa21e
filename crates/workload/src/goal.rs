//! GOAL traces: the messages, waits and computations of a program's ranks, in both forms of LogGOPSim and
//! ATLAHS.
//!
//! The text's grammar is that of `txt2bin` (Hoefler, Siebert and Lumsdaine, "Group Operation Assembly
//! Language", ICPP 2009; spcl/LogGOPSim), and the binary form is its output. Rank r is host r. The words have
//! these meanings here:
//!
//! - A `send` is a message. It is done when its last byte has arrived; one of 0 bytes (a barrier's) has 1.
//! - A `recv` is done when everything that it requires is done and its message has arrived: the first one of
//!   the same pair and tag that no other took, both in the order of the file. Data may come before the
//!   receive is posted: eager sends.
//! - A `calc` is a time in ns, during which its `cpu` (0 if none is named) does nothing else. A send or a receive
//!   takes no time of its `cpu`, because o is not charged, but waits until that is idle. What can begin first has it
//!   first.
//! - `nic` is ignored: a host sends over all its links.
//! - `a requires b`: a begins when b is done. `a irequires b`: a begins when b has begun.

mod binary;
mod text;
mod words;

use crate::tasks::Tasks;

/// A trace.
#[derive(Debug, Clone)]
pub struct Goal {
    /// How many ranks it has; they are the hosts from 0.
    pub ranks: u32,
    /// The workload; all of it is one job.
    pub tasks: Tasks,
    /// How many messages have no bytes, and are sent with one.
    pub empty: u64,
    /// How many operations name another `nic` than 0, which is ignored.
    pub other_nics: u64,
}

/// An error in a trace as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct GoalError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong, and how to fix it.
    pub message: String,
}

/// An error in a trace in its binary form, with the rank and the operation, both from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BinaryGoalError(pub String);

impl Goal {
    /// Reads a trace whose messages may have `most` bytes.
    ///
    /// # Errors
    /// The first error, with its position: text that is not GOAL, labels that do not exist, a send without
    /// its receive, of another size or too large, ranks that require each other in a cycle, a file that ends
    /// early.
    pub fn read(text: &str, most: u64) -> Result<Self, GoalError> {
        text::read(text, most)
    }

    /// Whether a file is in the binary form, or is a part of one that was cut off within its first number.
    pub fn is_binary(bytes: &[u8]) -> bool {
        let magic = binary::MAGIC.to_le_bytes();
        !bytes.is_empty() && (bytes.starts_with(&magic) || magic.starts_with(bytes))
    }

    /// Reads a trace in the binary form. It needs no more memory than a few times the size of the file.
    ///
    /// # Errors
    /// As [`read`](Self::read), and numbers in the file that do not match each other.
    pub fn read_binary(bytes: &[u8], most: u64) -> Result<Self, BinaryGoalError> {
        binary::read(bytes, most)
    }
}
