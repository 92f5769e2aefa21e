//! A host that runs a path manager and checks that it keeps the promises of every path manager.

use tresse_path_manager::{
    Ack, Action, ConfiguredManager, MAX_SUBFLOWS, Memory, Opening, PathChoice, PathManager, Priority, Sent,
    find,
};
use tresse_units::{NEVER, Time, Value};

/// One microsecond.
pub const US: Time = 1_000_000;

/// A scheme of the path manager `name`.
pub fn scheme(name: &str, settings: &[(&str, Value)]) -> ConfiguredManager {
    let settings = settings.iter().map(|(name, value)| (*name, value.clone()));
    ConfiguredManager::new(find(name).expect("it is declared"), settings).expect("the settings are valid")
}

/// A connection between hosts of two addresses each, with `paths` paths.
pub fn opening(now: Time, paths: u16, stream: u64) -> Opening {
    Opening { now, locals: 2, remotes: 2, paths, stream }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subflow {
    pub path: PathChoice,
    pub established: bool,
    pub closed: bool,
    pub priority: Priority,
}

/// One connection, as the host sees it.
pub struct Host {
    manager: Box<dyn PathManager>,
    pub subflows: Vec<Subflow>,
    /// Every requested action, and when.
    pub log: Vec<(Time, Action)>,
}

impl Host {
    pub fn new(scheme: &ConfiguredManager, opening: &Opening, memory: &mut Memory) -> Self {
        let manager = scheme.open(opening, memory);
        let mut host = Self { manager, subflows: Vec::new(), log: Vec::new() };
        host.act(opening.now);
        assert!(!host.subflows.is_empty(), "a connection starts with a subflow");
        host
    }

    /// A host whose handshakes are all complete.
    pub fn connected(scheme: &ConfiguredManager, opening: &Opening, memory: &mut Memory) -> Self {
        let mut host = Self::new(scheme, opening, memory);
        let mut next = 0;
        while next < host.subflows.len() {
            host.establish(opening.now, memory, next);
            next += 1;
        }
        host
    }

    pub fn establish(&mut self, now: Time, memory: &mut Memory, subflow: usize) -> &[(Time, Action)] {
        let from = self.log.len();
        self.manager.handle_established(now, memory, subflow);
        if !self.subflows[subflow].closed {
            self.subflows[subflow].established = true;
        }
        self.act(now);
        &self.log[from..]
    }

    pub fn gone(&mut self, now: Time, memory: &mut Memory, subflow: usize) -> &[(Time, Action)] {
        let from = self.log.len();
        self.manager.handle_closed(now, memory, subflow);
        self.subflows[subflow].closed = true;
        self.act(now);
        &self.log[from..]
    }

    pub fn send(&mut self, now: Time, memory: &mut Memory, sent: Sent) -> &[(Time, Action)] {
        let from = self.log.len();
        self.manager.handle_sent(now, memory, &sent);
        self.act(now);
        &self.log[from..]
    }

    pub fn ack(&mut self, now: Time, memory: &mut Memory, ack: Ack) -> &[(Time, Action)] {
        let from = self.log.len();
        self.manager.handle_ack(now, memory, &ack);
        self.act(now);
        &self.log[from..]
    }

    pub fn timeout(&mut self, now: Time, memory: &mut Memory) -> &[(Time, Action)] {
        let from = self.log.len();
        self.manager.handle_timeout(now, memory);
        self.act(now);
        &self.log[from..]
    }

    pub fn deadline(&self) -> Time {
        self.manager.deadline()
    }

    /// The subflows that are open, by number.
    pub fn live(&self) -> Vec<usize> {
        let established = |s: &Subflow| s.established && !s.closed;
        (0..self.subflows.len()).filter(|&i| established(&self.subflows[i])).collect()
    }

    /// The subflows that take new data.
    pub fn normal(&self) -> Vec<usize> {
        self.live().into_iter().filter(|&i| self.subflows[i].priority == Priority::Normal).collect()
    }

    fn act(&mut self, now: Time) {
        while let Some(action) = self.manager.poll_action() {
            self.log.push((now, action));
            match action {
                Action::Open { subflow, path } => {
                    assert_eq!(subflow, self.subflows.len(), "numbers count up");
                    self.subflows.push(Subflow {
                        path,
                        established: false,
                        closed: false,
                        priority: Priority::Normal,
                    });
                }
                Action::Close { subflow } => {
                    assert!(!self.subflows[subflow].closed, "subflow {subflow} is closed once");
                    self.subflows[subflow].closed = true;
                    assert!(!self.live().is_empty(), "subflow {subflow} was the last");
                }
                Action::SetPriority { subflow, priority } => {
                    assert_ne!(self.subflows[subflow].priority, priority, "it changes");
                    assert!(!self.subflows[subflow].closed);
                    self.subflows[subflow].priority = priority;
                }
                Action::Reinject { subflow } => {
                    assert_eq!(self.subflows[subflow].priority, Priority::Slow);
                    assert!(!self.normal().is_empty(), "there is a subflow to send on");
                }
            }
        }
        assert!(self.subflows.len() as u64 <= MAX_SUBFLOWS);
        assert_eq!(
            self.normal().is_empty(),
            self.live().is_empty(),
            "one takes new data: {:?}",
            self.subflows
        );
        let deadline = self.deadline();
        assert!(deadline > now, "the deadline {deadline} lies in the past at {now}");
        assert!(deadline == NEVER || !self.live().is_empty(), "no timer without a subflow");
    }
}

/// `packets` packets of new data.
pub fn data(subflow: usize, packets: u64) -> Sent {
    Sent { subflow, packets, retransmissions: 0, new_bytes: packets * 1460 }
}

/// An ACK without a mark.
pub fn ack(subflow: usize, outstanding: u64, srtt_us: u64) -> Ack {
    Ack { subflow, outstanding, marked: 0, srtt: srtt_us * US }
}
