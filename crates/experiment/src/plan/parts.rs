//! The parts of a case: what starts their flows, who carries them, in which group of the results.

use serde::{Deserialize, Serialize};
use tresse_fabric::Path;
use tresse_units::{Stream, Time};
use tresse_workload::{Source, Start, host_split};

use crate::plan::applications::App;
use crate::plan::patterns::Pattern;

/// A part of a case, which runs along with its other parts.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its name; empty if it is the only one.
    pub name: String,
    /// What starts its flows.
    pub pattern: Pattern,
    /// Who carries them.
    pub(crate) who: Carrier,
    /// How applications write; all at once if there are none.
    pub application: Option<App>,
    /// Instead of connections: the payload of datagrams, bit/s.
    pub datagrams: Option<u64>,
    /// Messages from one host to another share a connection.
    pub persistent: bool,
}

/// Who carries the flows of a part.
#[derive(Debug, Clone)]
pub(crate) enum Carrier {
    /// One of the case's bound schemes, for one group.
    One(Member),
    /// Each of these for a part of the sending hosts.
    Mix(Vec<Member>),
    /// By the names of the flows.
    Each(Vec<FlowSettings>),
}

/// A bound scheme of a case, and a group of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The bound scheme's index in the case.
    pub bound_scheme: usize,
    /// The group's index in the case.
    pub group: usize,
}

/// Individual properties of a flow.
#[derive(Debug, Clone)]
pub struct FlowSettings {
    /// Who carries it.
    pub member: Member,
    /// Its paths, if they are not drawn.
    pub paths: Option<Vec<Path>>,
    /// When its subflows are opened, from its start.
    pub subflow_starts: Vec<Time>,
    /// How its application writes; all at once without one.
    pub application: Option<App>,
    /// Instead of a connection: the payload of datagrams, bit/s.
    pub datagrams: Option<u64>,
}

impl Part {
    /// Whether one of its flows is of datagrams, by its own entry.
    pub(crate) fn has_datagrams(&self) -> bool {
        self.settings().iter().any(|own| own.datagrams.is_some())
    }

    /// Whether an application of its own writes one of its flows.
    pub(crate) fn has_applications(&self) -> bool {
        self.settings().iter().any(|own| own.application.is_some())
    }

    fn settings(&self) -> &[FlowSettings] {
        match &self.who {
            Carrier::Each(settings) => settings,
            Carrier::One(_) | Carrier::Mix(_) => &[],
        }
    }

    /// For messages that come from another program, each with its own connection or on persistent connections.
    /// Their names are numbers; this part does not decide who sends them to whom, and when.
    pub(crate) fn of_messages(mut self, member: Member, persistent: bool) -> Self {
        self.pattern.connections = 1;
        Self {
            name: String::new(),
            pattern: self.pattern,
            who: Carrier::One(member),
            application: None,
            datagrams: None,
            persistent,
        }
    }

    /// The seed of its random streams: parts of one case draw different numbers.
    fn seed(&self, seed: u64) -> u64 {
        if self.name.is_empty() {
            return seed;
        }
        Stream::new(seed, &format!("part {}", self.name), 0).below(u64::MAX)
    }

    /// Its flows under the run's `seed`.
    pub fn source(&self, seed: u64) -> Box<dyn Source> {
        self.pattern.source(self.seed(seed))
    }

    /// The random numbers of a flow for `purpose`, under the run's `seed`.
    pub fn stream(&self, seed: u64, purpose: &str, start: &Start) -> Stream {
        let seed = self.seed(seed);
        if let Some([from, to, lane]) = self.pair(start) {
            let purpose = format!("{purpose} of lasting connection {lane}");
            return Stream::new(seed, &purpose, u64::from(from) << 32 | u64::from(to));
        }
        match self.pattern.connections {
            1 => Stream::new(seed, purpose, start.name),
            // The transfer's own stream is its first connection's: further ones shift no draws.
            n => {
                let place = start.name as u32;
                let transfer = u64::from(start.round) << 32 | u64::from(start.from);
                match place % n {
                    0 => Stream::new(seed, purpose, transfer),
                    number => Stream::new(seed, &format!("{purpose} of connection {number}"), transfer),
                }
            }
        }
    }

    /// The connection that carries a flow as a message, if connections persist: the hosts, from and to, and the
    /// number between them. Flows that last until they are stopped have their own connections.
    pub fn pair(&self, start: &Start) -> Option<[u32; 3]> {
        let lane = start.name as u32 % self.pattern.connections;
        (self.persistent && start.bytes.is_some()).then_some([start.from, start.to, lane])
    }

    /// For each sending host, its index in the mix of schemes; empty without a mix.
    pub fn halves(&self, seed: u64, hosts: u32) -> Vec<u32> {
        match &self.who {
            Carrier::Mix(members) => host_split(self.seed(seed), hosts, members.len() as u32),
            Carrier::One(_) | Carrier::Each(_) => Vec::new(),
        }
    }

    /// Who carries a flow; `halves` are those of this part.
    pub fn member(&self, start: &Start, halves: &[u32]) -> Member {
        match &self.who {
            Carrier::One(member) => *member,
            Carrier::Mix(members) => members[halves[start.from as usize] as usize],
            Carrier::Each(own) => own[start.name as usize].member,
        }
    }

    /// Who carries its flows in this group, the first one if there are several; `None` if it has none there.
    pub(crate) fn member_of(&self, group: usize) -> Option<Member> {
        let is_there = |member: &&Member| member.group == group;
        match &self.who {
            Carrier::One(member) => Some(member).filter(is_there),
            Carrier::Mix(members) => members.iter().find(is_there),
            Carrier::Each(own) => own.iter().map(|own| &own.member).find(is_there),
        }
        .copied()
    }

    /// Whether some of its flows do not send as much as they can.
    pub fn is_limited(&self) -> bool {
        let own = match &self.who {
            Carrier::Each(own) => own.iter().any(|o| o.application.is_some() || o.datagrams.is_some()),
            Carrier::One(_) | Carrier::Mix(_) => false,
        };
        own || self.application.is_some() || self.datagrams.is_some()
    }

    /// How an application writes a flow's message, if not at once.
    pub fn application(&self, start: &Start) -> Option<&App> {
        match self.own(start) {
            Some(own) => own.application.as_ref(),
            None => self.application.as_ref(),
        }
    }

    /// The individual properties of its flows, by name; empty if they are all alike.
    pub fn owns(&self) -> &[FlowSettings] {
        match &self.who {
            Carrier::Each(own) => own,
            Carrier::One(_) | Carrier::Mix(_) => &[],
        }
    }

    /// The individual properties of a flow, if any.
    pub fn own(&self, start: &Start) -> Option<&FlowSettings> {
        match &self.who {
            Carrier::Each(own) => Some(&own[start.name as usize]),
            Carrier::One(_) | Carrier::Mix(_) => None,
        }
    }
}
