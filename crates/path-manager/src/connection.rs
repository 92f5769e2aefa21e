//! The subflows of a connection, for all path managers.

use std::collections::VecDeque;

use crate::{Action, PathChoice, Priority};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Opening,
    Established,
    Closed,
}

#[derive(Debug)]
struct Subflow<T> {
    state: State,
    priority: Priority,
    own: T,
}

/// Subflows with a path manager's data about each, and the actions that wait to be taken.
#[derive(Debug)]
pub(crate) struct Connection<T> {
    subflows: Vec<Subflow<T>>,
    actions: VecDeque<Action>,
}

impl<T> Connection<T> {
    pub fn new() -> Self {
        Self { subflows: Vec::new(), actions: VecDeque::new() }
    }

    pub fn open(&mut self, path: PathChoice, own: T) {
        self.actions.push_back(Action::Open { subflow: self.subflows.len(), path });
        self.subflows.push(Subflow { state: State::Opening, priority: Priority::Normal, own });
    }

    /// Returns whether this is new.
    pub fn establish(&mut self, subflow: usize) -> bool {
        let state = &mut self.subflows[subflow].state;
        let news = *state == State::Opening;
        if news {
            *state = State::Established;
        }
        news
    }

    /// The path manager closes it.
    pub fn close(&mut self, subflow: usize) {
        self.subflows[subflow].state = State::Closed;
        debug_assert!(self.established().next().is_some(), "the last subflow is never closed");
        self.actions.push_back(Action::Close { subflow });
    }

    /// It has ended without being closed here.
    pub fn gone(&mut self, subflow: usize) {
        self.subflows[subflow].state = State::Closed;
    }

    pub fn set_priority(&mut self, subflow: usize, priority: Priority) {
        let own = &mut self.subflows[subflow].priority;
        if *own != priority {
            *own = priority;
            self.actions.push_back(Action::SetPriority { subflow, priority });
        }
    }

    pub fn priority(&self, subflow: usize) -> Priority {
        self.subflows[subflow].priority
    }

    pub fn reinject(&mut self, subflow: usize) {
        self.actions.push_back(Action::Reinject { subflow });
    }

    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    pub fn is_established(&self, subflow: usize) -> bool {
        self.subflows[subflow].state == State::Established
    }

    /// The subflows whose handshake is complete, by number.
    pub fn established(&self) -> impl Iterator<Item = (usize, &T)> {
        let established = |s: &&Subflow<T>| s.state == State::Established;
        self.subflows.iter().enumerate().filter(move |(_, s)| established(s)).map(|(i, s)| (i, &s.own))
    }

    /// The data about each subflow, including closed ones.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.subflows.iter_mut().map(|s| &mut s.own)
    }

    /// The data about `subflow`; `None` once it is closed.
    pub fn live(&mut self, subflow: usize) -> Option<&mut T> {
        let s = &mut self.subflows[subflow];
        (s.state != State::Closed).then_some(&mut s.own)
    }
}
