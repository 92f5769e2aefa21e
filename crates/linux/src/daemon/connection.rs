//! One connection: its path manager, and the kernel's subflows behind the path manager's numbers.

use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tresse_path_manager::opn::Silence;
use tresse_path_manager::{Ack, Action, Memory, Opening, PathChoice, PathManager, Priority, Sent};
use tresse_units::{MICROSECOND, NEVER, SECOND, Time};

use super::config::Policy;
use super::reason;
use crate::tcp_info::TcpInfo;

/// How long a subflow may take to open before it is given up: Linux sends a SYN again after 1, 3 and 7 s.
const PATIENCE: Time = 10 * SECOND;

/// The ends of a subflow: here, there.
pub(super) type Ends = (SocketAddr, SocketAddr);

/// A command to the kernel about a connection's subflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// Open one from this address, with this number, to the given end.
    Open { from: SocketAddr, id: u8, to: SocketAddr },
    /// Close it.
    Close(Ends),
    /// It carries data only if no other can, or again like the others.
    SetBackup(Ends, bool),
}

/// A command and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    pub subflow: usize,
    pub command: Command,
    pub because: String,
}

/// The state of a subflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The kernel was asked for it at this time.
    Opening(Time),
    Open,
    /// Closed for as long as its path is SLOW.
    Parked,
    Closed,
}

/// A subflow by its number.
#[derive(Debug, Clone)]
pub(super) struct Subflow {
    /// The port is 0 until it is known.
    pub ends: Ends,
    id: u8,
    pub state: State,
    pub is_backup: bool,
    /// Its path is SLOW, and the policy closes such subflows.
    is_slow: bool,
    /// Its state at the last look.
    pub seen: Option<TcpInfo>,
}

/// A connection for which a policy has a path manager.
#[derive(Debug)]
pub(super) struct Connection {
    pub policy: Arc<Policy>,
    pub ends: Ends,
    /// `None` until it has sent enough.
    manager: Option<Box<dyn PathManager>>,
    stream: u64,
    /// Its knowledge about its own paths, which have no names that another connection would know.
    paths: Memory,
    /// The latest time reported to the path manager.
    told: Time,
    pub subflows: Vec<Subflow>,
    /// Subflows that exist without having been requested: from an earlier daemon, or from the other host.
    strays: Vec<Ends>,
    /// Whether [`Self::take_silence`] has told its path manager's limit.
    is_timed: bool,
}

impl Connection {
    /// A connection whose first subflow exists, and perhaps others.
    pub fn new(policy: Arc<Policy>, ends: Ends, others: Vec<Ends>, stream: u64) -> Self {
        let subflow =
            Subflow { ends, id: 0, state: State::Open, is_backup: false, is_slow: false, seen: None };
        Self {
            policy,
            ends,
            manager: None,
            stream,
            paths: Memory::default(),
            told: 0,
            subflows: vec![subflow],
            strays: others,
            is_timed: false,
        }
    }

    /// Whether the states of its subflows are needed.
    pub fn is_watched(&self) -> bool {
        self.manager.as_ref().is_none_or(|manager| manager.observes())
    }

    /// Subflows that exist or may exist.
    pub fn live(&self) -> usize {
        self.subflows.iter().filter(|own| own.state != State::Closed).count() + self.strays.len()
    }

    /// The ends of the subflows that exist.
    pub fn open(&self) -> impl Iterator<Item = Ends> {
        let open = self.subflows.iter().filter(|own| own.state == State::Open).map(|own| own.ends);
        open.chain(self.strays.iter().copied())
    }

    /// Whether its path manager is at work.
    pub fn is_managed(&self) -> bool {
        self.manager.is_some()
    }

    /// How long its subflows may be silent: once, after its path manager has begun to act on that.
    pub fn take_silence(&mut self) -> Option<Silence> {
        let silence = self.manager.as_ref()?.silence();
        (!mem::replace(&mut self.is_timed, true)).then_some(silence).flatten()
    }

    /// The next time at which the path manager has a timer, or a subflow that does not open is given up.
    pub fn deadline(&self) -> Time {
        let opening = self.subflows.iter().filter_map(|own| match own.state {
            State::Opening(since) => Some(since + PATIENCE),
            _ => None,
        });
        opening.chain(self.manager.iter().map(|manager| manager.deadline())).min().unwrap_or(NEVER)
    }

    /// Puts the path manager to work, if the connection has sent enough.
    pub fn start(&mut self, now: Time, losses: &mut Memory) -> Vec<Decision> {
        let sent: u64 = self.subflows.iter().filter_map(|own| own.seen).map(|seen| seen.acked).sum();
        if self.manager.is_some() || sent < self.policy.after {
            return Vec::new();
        }
        let configured = self.policy.manager.as_ref().expect("a policy that manages");
        let locals = 1 + self.policy.addresses.len() as u16;
        let opening = Opening { now, locals, remotes: 1, paths: self.policy.paths, stream: self.stream };
        self.paths.swap_losses(losses);
        let mut manager = configured.open(&opening, &mut self.paths);
        self.paths.swap_losses(losses);
        let first = manager.poll_action();
        assert!(matches!(first, Some(Action::Open { subflow: 0, .. })), "the first subflow comes first");
        self.manager = Some(manager);
        self.tell(now, losses, |manager, now, memory| manager.handle_established(now, memory, 0))
    }

    /// Notifies the path manager, and carries out the actions that it then asks for.
    fn tell(
        &mut self,
        now: Time,
        losses: &mut Memory,
        tell: impl FnOnce(&mut dyn PathManager, Time, &mut Memory),
    ) -> Vec<Decision> {
        let mut decisions = Vec::new();
        self.told = self.told.max(now);
        let Some(mut manager) = self.manager.take() else { return decisions };
        self.paths.swap_losses(losses);
        tell(&mut *manager, self.told, &mut self.paths);
        loop {
            while let Some(action) = manager.poll_action() {
                if let Some(number) = self.act(action, self.told, &mut decisions) {
                    manager.handle_established(self.told, &mut self.paths, number);
                }
            }
            self.park(&mut decisions);
            // A closed subflow has nothing in flight any more: others send it.
            let is = |own: &Subflow| own.state == State::Parked && own.seen.is_some();
            let Some(subflow) = self.subflows.iter().position(is) else { break };
            let srtt = self.subflows[subflow].seen.take().map_or(0, |seen| seen.srtt);
            let ack = Ack { subflow, outstanding: 0, marked: 0, srtt: Time::from(srtt) * MICROSECOND };
            manager.handle_ack(self.told, &mut self.paths, &ack);
        }
        self.paths.swap_losses(losses);
        self.manager = Some(manager);
        decisions
    }

    /// Translates an action for the kernel. Returns the number of the subflow, if it already exists.
    fn act(&mut self, action: Action, now: Time, decisions: &mut Vec<Decision>) -> Option<usize> {
        let mut decide = |subflow, command, because| decisions.push(Decision { subflow, command, because });
        match action {
            Action::Open { subflow, path } => {
                assert_eq!(subflow, self.subflows.len(), "subflows count up");
                let (from, id) = self.from(path);
                let to = self.ends.1;
                let (ends, state) = match self.strays.pop() {
                    Some(stray) => (stray, State::Open),
                    None => ((from, to), State::Opening(now)),
                };
                self.subflows.push(Subflow { ends, id, state, is_backup: false, is_slow: false, seen: None });
                if state == State::Open {
                    return Some(subflow);
                }
                let because = reason::open(&self.policy, &self.paths);
                decide(subflow, Command::Open { from, id, to }, because);
            }
            Action::Close { subflow } => {
                let because = reason::close(&self.subflows, subflow);
                let own = &mut self.subflows[subflow];
                if own.state == State::Open {
                    decide(subflow, Command::Close(own.ends), because);
                }
                own.state = State::Closed;
            }
            Action::SetPriority { subflow, priority } => {
                let slow = priority != Priority::Normal;
                let because = reason::priority(priority).to_owned();
                let own = &mut self.subflows[subflow];
                if self.policy.reopens {
                    own.is_slow = slow;
                }
                match (own.state, slow) {
                    // `park` decides.
                    (_, true) if own.is_slow => {}
                    (State::Parked, false) => {
                        own.state = State::Opening(now);
                        own.ends.0.set_port(0);
                        own.seen = None;
                        let (from, to) = own.ends;
                        decide(subflow, Command::Open { from, id: own.id.max(1), to }, because);
                    }
                    (State::Open, _) if own.is_backup != slow => {
                        own.is_backup = slow;
                        decide(subflow, Command::SetBackup(own.ends, slow), because);
                    }
                    _ => {}
                }
            }
            // Linux does this automatically: at once for a closed subflow, after timeouts for another one
            // (net.mptcp.stale_loss_cnt).
            Action::Reinject { .. } => {}
        }
        None
    }

    /// Closes the subflows on SLOW paths while another one is open. A FAST path is not enough: its subflow may have been
    /// closed as well, and its new SYN may be on a path that is cut. Until one is open, they are backups and carry the data.
    fn park(&mut self, decisions: &mut Vec<Decision>) {
        let carries = self.subflows.iter().any(|own| own.state == State::Open && !own.is_slow);
        let slow = |own: &Subflow| own.state == State::Open && own.is_slow;
        for (subflow, own) in self.subflows.iter_mut().enumerate().filter(|(_, own)| slow(own)) {
            let command = match (carries, own.is_backup) {
                (true, _) => {
                    (own.state, own.is_backup) = (State::Parked, false);
                    Command::Close(own.ends)
                }
                (false, false) => {
                    own.is_backup = true;
                    Command::SetBackup(own.ends, true)
                }
                (false, true) => continue,
            };
            let because = reason::priority(Priority::Slow).to_owned();
            decisions.push(Decision { subflow, command, because });
        }
    }

    /// The local end of a subflow on this path: its address with any port, and the number by which the
    /// connection knows the address. 0 is the first subflow's own, from which the kernel opens no other.
    fn from(&self, path: PathChoice) -> (SocketAddr, u8) {
        let place = match path {
            PathChoice::Addresses { local, .. } => usize::from(local),
            PathChoice::Port(_) | PathChoice::Spray => 0,
        };
        let address: IpAddr = match place {
            0 => self.ends.0.ip(),
            n => self.policy.addresses[n - 1],
        };
        (SocketAddr::new(address, 0), place as u8 + 1)
    }

    /// A subflow is established.
    pub fn joined(&mut self, ends: Ends, now: Time, losses: &mut Memory) -> Vec<Decision> {
        let is = |own: &Subflow| {
            matches!(own.state, State::Opening(_)) && own.ends.0.ip() == ends.0.ip() && own.ends.1 == ends.1
        };
        let Some(number) = self.subflows.iter().position(is) else {
            if !self.subflows.iter().any(|own| own.ends == ends) && !self.strays.contains(&ends) {
                self.strays.push(ends);
            }
            return Vec::new();
        };
        let own = &mut self.subflows[number];
        (own.ends, own.state) = (ends, State::Open);
        self.tell(now, losses, |manager, now, memory| manager.handle_established(now, memory, number))
    }

    /// A subflow has ended without having been closed from here.
    pub fn gone(&mut self, ends: Ends, now: Time, losses: &mut Memory) -> Vec<Decision> {
        self.strays.retain(|stray| *stray != ends);
        let is = |own: &Subflow| own.state == State::Open && own.ends == ends;
        match self.subflows.iter().position(is) {
            Some(number) => self.lost(number, now, losses),
            None => Vec::new(),
        }
    }

    /// A subflow has ended, or it could not be opened.
    pub fn lost(&mut self, number: usize, now: Time, losses: &mut Memory) -> Vec<Decision> {
        self.subflows[number].state = State::Closed;
        self.tell(now, losses, |manager, now, memory| manager.handle_closed(now, memory, number))
    }

    /// Reports the current state of a subflow.
    pub fn see(&mut self, ends: Ends, info: TcpInfo, now: Time, losses: &mut Memory) -> Vec<Decision> {
        let is = |own: &Subflow| own.state == State::Open && own.ends == ends;
        let Some(subflow) = self.subflows.iter().position(is) else { return Vec::new() };
        let before = self.subflows[subflow].seen.replace(info);
        let grown =
            |count: fn(&TcpInfo) -> u64| count(&info).saturating_sub(before.as_ref().map_or(0, count));
        let sent = Sent {
            subflow,
            packets: grown(|own| own.segments),
            retransmissions: grown(|own| own.again),
            new_bytes: 0,
        };
        let ack = Ack {
            subflow,
            outstanding: info.outstanding.into(),
            marked: grown(|own| own.marks),
            srtt: Time::from(info.srtt) * MICROSECOND,
        };
        let acked = grown(|own| own.acked) > 0;
        let Some(manager) = &self.manager else { return Vec::new() };
        // All this happened at some time since the last look: treat it as before a timer that has come due
        // meanwhile.
        let when = now.min(manager.deadline().saturating_sub(1));
        self.tell(when, losses, |manager, now, memory| {
            if sent.packets > 0 {
                manager.handle_sent(now, memory, &sent);
            }
            if acked {
                manager.handle_ack(now, memory, &ack);
            }
        })
    }

    /// Serves everything that is due. Timers of the path manager count as due only right after all subflows
    /// were seen.
    pub fn serve(&mut self, now: Time, losses: &mut Memory) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for number in 0..self.subflows.len() {
            if matches!(self.subflows[number].state, State::Opening(since) if since + PATIENCE <= now) {
                decisions.extend(self.lost(number, now, losses));
            }
        }
        if self.manager.as_ref().is_some_and(|manager| manager.deadline() <= now) {
            decisions.extend(self.tell(now, losses, |manager, now, memory| {
                manager.handle_timeout(now, memory);
            }));
        }
        decisions
    }
}

#[cfg(test)]
mod tests;
