//! The interface of every workload: a state machine that decides which flows start and stop, and when.

use std::fmt;

use serde::{Deserialize, Serialize};
use tresse_units::Time;

/// A flow that starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The workload's name for it: unique among all its flows, and the name of its random draws. It depends
    /// only on the flow's place in the workload, so that no other flow shifts its draws.
    pub name: u64,
    /// The sending host.
    pub from: u32,
    /// The receiving host.
    pub to: u32,
    /// The message, bytes; `None` if the flow sends until it is stopped.
    pub bytes: Option<u64>,
    /// The round of the pattern, from 0; 0 for patterns without rounds.
    pub round: u32,
    /// The number of its job, if it belongs to one.
    pub job: Option<u32>,
    /// When it should have finished.
    pub deadline: Option<Time>,
}

/// A job that has ended; a job waits for several flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its number, from 0 in the order of their starts.
    pub number: u32,
    /// When its first flow started.
    pub start: Time,
    /// When the last thing that it waits for was done.
    pub end: Time,
    /// The number of its flows.
    pub flows: u32,
    /// When it should have ended.
    pub deadline: Option<Time>,
}

/// A request of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A flow starts now.
    Start(Start),
    /// The flow of this name is stopped now; [`Source::handle_finished`] is not called for it.
    Stop(u64),
    /// A job has ended: only to be recorded.
    Ended(Job),
}

/// Who sends how much to whom, when.
///
/// At the start, at [`Source::next`] and after every `handle_*` call [`Source::poll`] until it returns `None`, then
/// look at `next` again. Equal calls give equal answers: no clock, no global order.
pub trait Source: fmt::Debug + Send {
    /// When to call `Source::poll` again if no flow finishes before; `NEVER` if it waits for flows only, or if
    /// nothing will start any more.
    fn next(&self) -> Time;

    /// What is to be done at `now`, one thing at a time.
    fn poll(&mut self, now: Time) -> Option<Action>;

    /// The message of a flow has arrived. Flows that finish at one instant may come in any order.
    fn handle_finished(&mut self, now: Time, name: u64);

    /// Whether it is over: nothing will start any more, and every flow that has an end has finished.
    fn is_over(&self) -> bool;

    /// Whether it never ends on its own: it continues as long as something else lasts.
    fn is_endless(&self) -> bool;

    /// Whether nothing will arrive any more, even if flows have not finished. Where flows do not arrive, it is over then.
    fn has_arrived(&self) -> bool {
        self.is_over()
    }

    /// Nothing arrives from now on, and no job begins: a source of such that is endless ends by itself then. To any other
    /// it does nothing.
    fn close(&mut self) {}

    /// The total payload, averaged over all seeds, bytes; 0 if it is endless.
    fn expected_bytes(&self) -> u64;
}
