//! A path manager that does at random whatever a path manager may do.

use std::collections::VecDeque;

use tresse_path_manager::{Ack, Action, Memory, Opening, PathChoice, PathManager, Priority, Sent};
use tresse_sim::Manager;
use tresse_units::{MICROSECOND, NEVER, Time, mix};

/// How many subflows it opens in all.
const MOST: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Opening,
    Open,
    Resting,
    Closed,
}

#[derive(Debug)]
struct Chaos {
    word: u64,
    opening: Opening,
    /// Packets may be sprayed: nodes choose.
    spray: bool,
    subflows: Vec<State>,
    actions: VecDeque<Action>,
    deadline: Time,
}

/// It; packets are sprayed if nodes choose their paths.
pub fn chaos(spray: bool) -> Manager {
    Manager::new(move |opening, _| {
        let mut chaos = Chaos {
            word: opening.stream,
            opening: *opening,
            spray,
            subflows: Vec::new(),
            actions: VecDeque::new(),
            deadline: opening.now + 100 * MICROSECOND,
        };
        chaos.open();
        Box::new(chaos)
    })
}

impl Chaos {
    fn below(&mut self, n: u64) -> u64 {
        self.word = mix(self.word.wrapping_add(0x9e37_79b9_7f4a_7c15));
        self.word % n
    }

    fn open(&mut self) {
        let path = match self.below(3) {
            0 => PathChoice::Addresses {
                local: self.below(self.opening.locals.into()) as u16,
                remote: self.below(self.opening.remotes.into()) as u16,
            },
            1 => PathChoice::Port(self.below(100) as u16),
            _ if self.spray => PathChoice::Spray,
            _ => PathChoice::Port(0),
        };
        self.actions.push_back(Action::Open { subflow: self.subflows.len(), path });
        self.subflows.push(State::Opening);
    }

    fn act(&mut self) {
        let open: Vec<usize> =
            (0..self.subflows.len()).filter(|&i| self.subflows[i] == State::Open).collect();
        let subflow = self.below(self.subflows.len() as u64) as usize;
        let (state, last) = (self.subflows[subflow], open.len() <= 1);
        match self.below(20) {
            0 if self.subflows.len() < MOST && !open.is_empty() => self.open(),
            1 if !open.is_empty() && state != State::Closed && !(last && state == State::Open) => {
                self.subflows[subflow] = State::Closed;
                self.actions.push_back(Action::Close { subflow });
            }
            2 if state == State::Open && !last => {
                self.subflows[subflow] = State::Resting;
                self.actions.push_back(Action::SetPriority { subflow, priority: Priority::Slow });
            }
            3 if state == State::Resting => {
                self.subflows[subflow] = State::Open;
                self.actions.push_back(Action::SetPriority { subflow, priority: Priority::Normal });
            }
            4 if state != State::Closed => self.actions.push_back(Action::Reinject { subflow }),
            _ => {}
        }
    }
}

impl PathManager for Chaos {
    fn handle_established(&mut self, _now: Time, _memory: &mut Memory, subflow: usize) {
        assert_eq!(self.subflows[subflow], State::Opening, "established once, and not after it was closed");
        self.subflows[subflow] = State::Open;
        self.act();
    }

    fn handle_closed(&mut self, _now: Time, _memory: &mut Memory, _subflow: usize) {}

    fn handle_sent(&mut self, _now: Time, _memory: &mut Memory, sent: &Sent) {
        assert!(sent.packets > 0 && sent.retransmissions <= sent.packets);
        self.act();
    }

    fn handle_ack(&mut self, _now: Time, _memory: &mut Memory, ack: &Ack) {
        assert_ne!(self.subflows[ack.subflow], State::Closed, "what is closed is not told of");
        self.act();
    }

    fn handle_timeout(&mut self, now: Time, _memory: &mut Memory) {
        assert!(now >= self.deadline, "called when it asked for it");
        self.deadline = if self.below(50) == 0 { NEVER } else { now + self.below(1000) * MICROSECOND };
        self.act();
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }
}
