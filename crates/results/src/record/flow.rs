//! What is known of flows and links after a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tresse_experiment::plan::Case;
use tresse_experiment::plan::parts::Member;
use tresse_fabric::{Locality, PfcCounters};
use tresse_sim::FlowRecord;
use tresse_units::Time;
use tresse_workload::Start;

/// A flow that has begun, and what the workload knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Which part of its case started it.
    pub part: usize,
    /// Who carries it.
    pub member: Member,
    /// What the part says about it.
    pub start: Start,
}

/// A flow that has finished, or was stopped, with what the workload knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// What it was when it began.
    pub begun: Begun,
    /// How far apart its hosts are.
    pub locality: Locality,
    /// Whether two of its subflows shared a port that they could have avoided, if its path manager was to detect
    /// that and routes are fixed.
    pub shares: Option<bool>,
    /// Its completion time on an empty network, ps: see `tresse explain measurement`. `None` if it
    /// has no end, or an application that writes it bit by bit, or if no path was there at the start of the run.
    pub ideal: Option<Time>,
    /// What the simulator measured.
    pub record: FlowRecord,
}

impl Begun {
    /// The name of its group of flows; empty if there is only one.
    pub fn group<'a>(&self, case: &'a Case) -> &'a str {
        &case.groups[self.member.group]
    }
}

impl Flow {
    /// How long it took; `None` if it was stopped before it had finished.
    pub fn completion(&self) -> Option<Time> {
        self.record.complete.then(|| self.record.end - self.record.start)
    }

    /// Its completion time over the ideal one; at least 1, as a flow beats its ideal only by rounding,
    /// or by a packet a hop.
    pub fn slowdown(&self) -> Option<f64> {
        let ideal = self.ideal.filter(|ideal| *ideal > 0)?;
        Some((self.completion()? as f64 / ideal as f64).max(1.0))
    }

    /// Whether it missed its deadline, if it has one. For one that was stopped before its deadline,
    /// that is not known.
    pub fn missed(&self) -> Option<bool> {
        let late = self.record.end > self.begun.start.deadline?;
        (self.record.complete || late).then_some(late)
    }
}

/// A port's totals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub port: u32,
    /// The name of its layer.
    pub layer: Arc<str>,
    /// Bit/s.
    pub rate: u64,
    /// Bytes that it admitted.
    pub bytes: u64,
    /// Packets that it dropped: its queue had no room, or it could not mark them.
    pub drops: u64,
    /// Packets that it lost by its loss probability, or with a link that failed.
    pub lost: u64,
    /// Packets that it marked.
    pub marks: u64,
    /// What flow control has done to it.
    #[serde(default)]
    pub pfc: PfcCounters,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow from 5 to `end`, whose message has arrived then or which was stopped.
    fn flow(end: Time, complete: bool, deadline: Option<Time>, ideal: Option<Time>) -> Flow {
        let start = Start { name: 0, from: 0, to: 1, bytes: Some(1), round: 0, job: None, deadline };
        let begun = Begun { part: 0, member: Member { bound_scheme: 0, group: 0 }, start };
        let counters = Default::default();
        let record = FlowRecord { id: 0, bytes: 1, complete, start: 5, end, opened: 1, closed: 0, counters };
        Flow { begun, locality: Locality::InnerRack, shares: None, ideal, record }
    }

    #[test]
    fn in_time_is_at_the_deadline_or_before() {
        for (end, complete, deadline, missed) in [
            (9, true, Some(10), Some(false)),
            (10, true, Some(10), Some(false)),
            (11, true, Some(10), Some(true)),
            (11, true, None, None),
            // Stopped when it was too late for it, or when it had time still.
            (11, false, Some(10), Some(true)),
            (9, false, Some(10), None),
        ] {
            assert_eq!(flow(end, complete, deadline, None).missed(), missed, "{end} {complete} {deadline:?}");
        }
    }

    #[test]
    fn a_slowdown_is_over_the_ideal_and_at_least_one() {
        let slowdown = |end, complete, ideal| flow(end, complete, None, ideal).slowdown();
        assert_eq!([35, 25, 24].map(|end| slowdown(end, true, Some(20))), [1.5, 1.0, 1.0].map(Some));
        assert_eq!((slowdown(35, false, Some(20)), slowdown(35, true, None)), (None, None));
    }
}
