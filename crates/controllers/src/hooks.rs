//! The hooks of a controller as a host calls them, no matter where the controller runs.

use crate::Group;
use crate::raw::{Ack, Cause, Hop, Report, Subflow};

/// The subflows of one connection with the hooks of their controller: those of [`Group`], wherever
/// the controller runs.
pub trait Hooks {
    /// A saved subflow, with its private state.
    type Saved;

    /// Subflow `i`, as its controller sees it.
    fn subflow(&mut self, i: usize) -> &mut Subflow;
    /// See [`Group::ack`].
    fn ack(&mut self, i: usize, ack: &Ack);
    /// See [`Group::grow`].
    fn grow(&mut self, i: usize, ack: &Ack);
    /// See [`Group::congestion`].
    fn congestion(&mut self, i: usize, cause: Cause) -> Option<u32>;
    /// See [`Group::timeout`].
    fn timeout(&mut self, i: usize);
    /// See [`Group::report`].
    fn report(&mut self, i: usize, report: &Report, hops: &[Hop]) -> u32;
    /// Subflow `i` as it is now.
    fn save(&mut self, i: usize) -> Self::Saved;
    /// Restores subflow `i`.
    fn restore(&mut self, i: usize, saved: Self::Saved);

    /// A loss during the reduction for a mark or a local drop, before which subflow `i` had a window of `before`
    /// packets. Its threshold becomes what the loss alone would have left of that window (RFC 8257 §3.5: a loss is
    /// answered as conventional TCP does), unless it is already that low: a window is cut once (RFC 3168 §6.1.2),
    /// and then nothing of the subflow changes. Returns whether it was lowered. The host lowers the window itself.
    fn deepen(&mut self, i: usize, before: u32) -> bool {
        let saved = self.save(i);
        let s = self.subflow(i);
        let (cwnd, ssthresh) = (s.cwnd, s.ssthresh);
        (s.cwnd, s.ssthresh) = (before, before);
        let window = self.congestion(i, Cause::Loss).filter(|&window| window < ssthresh);
        let Some(window) = window else {
            self.restore(i, saved);
            return false;
        };
        let s = self.subflow(i);
        (s.cwnd, s.ssthresh) = (cwnd, window);
        true
    }
}

impl Hooks for Group {
    type Saved = Subflow;

    fn subflow(&mut self, i: usize) -> &mut Subflow {
        &mut self[i]
    }

    fn ack(&mut self, i: usize, ack: &Ack) {
        Self::ack(self, i, ack);
    }

    fn grow(&mut self, i: usize, ack: &Ack) {
        Self::grow(self, i, ack);
    }

    fn congestion(&mut self, i: usize, cause: Cause) -> Option<u32> {
        Self::congestion(self, i, cause)
    }

    fn timeout(&mut self, i: usize) {
        Self::timeout(self, i);
    }

    fn report(&mut self, i: usize, report: &Report, hops: &[Hop]) -> u32 {
        Self::report(self, i, report, hops)
    }

    fn save(&mut self, i: usize) -> Subflow {
        self[i].clone()
    }

    fn restore(&mut self, i: usize, saved: Subflow) {
        self[i] = saved;
    }
}
