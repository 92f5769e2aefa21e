//! A flow between two real hosts, as last seen.

use std::net::{Ipv4Addr, SocketAddrV4};

use tresse_controllers::State;
use tresse_lab::network::{OpenSubflow, SubflowNow};
use tresse_path_manager::{MemoryId, PathManager};
use tresse_transport::Counters;
use tresse_units::{MILLISECOND, NEVER, Time};

use crate::agent::{Subflow, TcpState};
use crate::clock::Scale;
use crate::virtual_switch::Places;

/// The transport of a flow.
#[derive(Debug)]
pub(super) enum Carrier {
    /// TCP: one subflow, which nobody manages.
    Tcp,
    /// Multipath TCP.
    Mptcp(Managed),
    /// UDP, which has sent this many datagrams.
    Datagrams(u64),
}

/// What manages the subflows of a connection.
#[derive(Debug)]
pub(super) struct Managed {
    pub manager: Box<dyn PathManager>,
    pub memory: MemoryId,
    /// When its subflows are next looked at, if it needs their states.
    pub look_at: Time,
    /// They were requested, and the answer has not come.
    pub is_asked: bool,
}

#[derive(Debug)]
pub(super) struct Flow {
    pub hosts: [u32; 2],
    pub listens: SocketAddrV4,
    pub start: Time,
    pub bytes: u64,
    /// Bytes that the application has read.
    pub arrived: u64,
    pub carrier: Carrier,
    /// Where its paths begin and end, if the addresses of hosts have places.
    pub places: Option<Places>,
    /// The subflows that were opened so far, by number.
    pub subflows: Vec<OwnSubflow>,
    /// It was to be Multipath TCP, and its kernels speak TCP.
    pub fell_back: bool,
}

/// What is wrong with a flow that was to end at `end`, if it began only after that, at `start`.
pub(super) fn began_after(start: Time, end: Time) -> Option<String> {
    let late = |late: Time| format!("began {} ms after its end: hosts are too slow", late / MILLISECOND);
    start.checked_sub(end).filter(|late| *late > 0).map(late)
}

/// A subflow of a flow.
#[derive(Debug)]
pub(super) struct OwnSubflow {
    /// Its source address.
    pub address: Ipv4Addr,
    pub to: SocketAddrV4,
    /// Its source, once it is known.
    pub from: Option<SocketAddrV4>,
    pub is_open: bool,
    /// As last seen.
    pub seen: Option<Subflow>,
}

impl OwnSubflow {
    pub fn new(address: Ipv4Addr, to: SocketAddrV4) -> Self {
        Self { address, to, from: None, is_open: true, seen: None }
    }
}

impl Flow {
    /// Records the current states of the subflows. Returns the numbers of those that were seen.
    pub fn see(&mut self, seen: Vec<Subflow>) -> Vec<usize> {
        let mut known = Vec::new();
        for own in seen {
            let number = match &self.carrier {
                Carrier::Mptcp(_) if own.is_plain() => {
                    self.fell_back = true;
                    Some(0)
                }
                Carrier::Mptcp(_) => self.number(own.from),
                _ => Some(0),
            };
            if let Some(number) = number {
                self.subflows[number].seen = Some(own);
                known.push(number);
            }
        }
        known
    }

    /// The number of the subflow with this source. Among several from one address that cannot yet be
    /// distinguished, it is the first.
    pub fn number(&mut self, from: SocketAddrV4) -> Option<usize> {
        let known = self.subflows.iter().position(|own| own.from == Some(from));
        known.or_else(|| {
            let is_it = |own: &OwnSubflow| own.from.is_none() && own.is_open && own.address == *from.ip();
            let number = self.subflows.iter().position(is_it)?;
            self.subflows[number].from = Some(from);
            Some(number)
        })
    }

    /// Bytes of it that have arrived, in order or not, as the simulator counts them: those ACKed on its
    /// subflows when last seen, if the application has read less.
    pub fn brought(&self) -> u64 {
        let acked =
            self.subflows.iter().filter_map(|own| own.seen.as_ref()).map(|seen| seen.acked).sum::<u64>();
        self.arrived.max(acked.min(self.bytes))
    }

    /// When its path manager should be called.
    pub fn deadline(&self) -> Time {
        match &self.carrier {
            Carrier::Mptcp(own) => own.manager.deadline().min(own.look_at),
            _ => NEVER,
        }
    }

    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        if let Carrier::Datagrams(sent) = self.carrier {
            counters.sent = sent;
        }
        self.subflows.iter().for_each(|own| counters += own.counters());
        counters
    }

    /// The numbers of the closed subflows, as bits.
    pub fn closed(&self) -> u64 {
        let closed = (0..).zip(&self.subflows).filter(|(_, own)| !own.is_open);
        closed.map(|(number, _)| 1_u64 << (number % 64)).sum()
    }
}

impl OwnSubflow {
    fn counters(&self) -> Counters {
        let Some(own) = &self.seen else { return Counters::default() };
        Counters {
            sent: own.segments.saturating_sub(own.again),
            retransmissions: own.again,
            timeouts: own.timeouts,
            marks: own.marks,
            ..Counters::default()
        }
    }

    /// In the form for the engine.
    pub fn now(&self, scale: Scale) -> SubflowNow {
        let open = self.seen.as_ref().filter(|_| self.is_open).map(|own| OpenSubflow {
            cwnd: own.cwnd,
            srtt: srtt(own, scale),
            state: match own.state {
                TcpState::Open => State::Open,
                TcpState::Disorder => State::Disorder,
                TcpState::Cwr => State::Cwr,
                TcpState::Recovery => State::Recovery,
                TcpState::Loss => State::Loss,
            },
        });
        let arrived = self.seen.as_ref().map_or(0, |own| own.acked);
        SubflowNow { arrived, counters: self.counters(), open, path: None }
    }
}

/// The smoothed RTT in the experiment's time, if there is one.
pub(super) fn srtt(own: &Subflow, scale: Scale) -> Option<Time> {
    (own.srtt > 0).then(|| scale.scaled(u64::from(own.srtt) * 1000))
}

#[cfg(test)]
mod tests {
    use tresse_units::MILLISECOND;

    use super::began_after;

    #[test]
    fn a_flow_that_began_after_its_end_is_an_error() {
        let why = began_after(3401 * MILLISECOND, 3000 * MILLISECOND).expect("it is one");
        assert_eq!(why, "began 401 ms after its end: hosts are too slow");
        assert_eq!(began_after(0, 3000 * MILLISECOND), None);
    }
}
