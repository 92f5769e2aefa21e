//! RFC 5681.

use tresse_controllers::Cause;

use super::{Reading, Real, View, half, standard_increase};

/// Standard TCP on each subflow, none looking at the others.
pub struct Reno;

impl Reading for Reno {
    /// RFC 5681 eq. (3): cwnd += SMSS * SMSS / cwnd for each ACK of a full segment.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        standard_increase(&all[i], packets)
    }

    /// RFC 5681 eq. (4), and RFC 3168 §6.1.2: a mark is answered like a loss.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        half(&all[i])
    }
}
