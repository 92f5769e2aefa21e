//! A flow between two real hosts, as it was seen last.

use std::net::{Ipv4Addr, SocketAddrV4};

use tresse_controllers::State;
use tresse_lab::network::{OpenSubflow, SubflowNow};
use tresse_path_manager::{MemoryId, PathManager};
use tresse_transport::Counters;
use tresse_units::{NEVER, Time};

use crate::agent::{Subflow, TcpState};
use crate::clock::Scale;

/// What carries a flow.
#[derive(Debug)]
pub(super) enum Carrier {
    /// TCP: one subflow, which nobody manages.
    Tcp,
    /// Multipath TCP.
    Mptcp(Managed),
    /// UDP, which has sent so many.
    Datagrams(u64),
}

/// What manages the subflows of a connection.
#[derive(Debug)]
pub(super) struct Managed {
    pub manager: Box<dyn PathManager>,
    pub memory: MemoryId,
    /// When its subflows are looked at next, if it wants to know of them.
    pub look_at: Time,
    /// They were asked for, and the answer has not come.
    pub is_asked: bool,
}

#[derive(Debug)]
pub(super) struct Flow {
    pub hosts: [u32; 2],
    pub listens: SocketAddrV4,
    pub start: Time,
    pub bytes: u64,
    /// What the application has read, bytes.
    pub arrived: u64,
    pub carrier: Carrier,
    /// Those that were opened so far, by number.
    pub subflows: Vec<OwnSubflow>,
}

/// A subflow of a flow.
#[derive(Debug)]
pub(super) struct OwnSubflow {
    /// The address that it comes from.
    pub address: Ipv4Addr,
    /// Where it goes.
    pub to: SocketAddrV4,
    /// Where it comes from, once it is known.
    pub from: Option<SocketAddrV4>,
    pub is_open: bool,
    /// As it was seen last.
    pub seen: Option<Subflow>,
}

impl OwnSubflow {
    pub fn new(address: Ipv4Addr, to: SocketAddrV4) -> Self {
        Self { address, to, from: None, is_open: true, seen: None }
    }
}

impl Flow {
    /// Takes in how the subflows are now; the numbers of those of which something was seen.
    pub fn see(&mut self, seen: Vec<Subflow>) -> Vec<usize> {
        let mut known = Vec::new();
        for own in seen {
            let number = match &self.carrier {
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

    /// The number of the subflow from there. Of several from one address that are not told apart yet it is the first.
    pub fn number(&mut self, from: SocketAddrV4) -> Option<usize> {
        let known = self.subflows.iter().position(|own| own.from == Some(from));
        known.or_else(|| {
            let is_it = |own: &OwnSubflow| own.from.is_none() && own.is_open && own.address == *from.ip();
            let number = self.subflows.iter().position(is_it)?;
            self.subflows[number].from = Some(from);
            Some(number)
        })
    }

    /// What has arrived of it, bytes, in order or not, as the simulator counts it: what its subflows had ACKed when they
    /// were seen last, if the application has read less.
    pub fn brought(&self) -> u64 {
        let acked =
            self.subflows.iter().filter_map(|own| own.seen.as_ref()).map(|seen| seen.acked).sum::<u64>();
        self.arrived.max(acked.min(self.bytes))
    }

    /// When its path manager is to be called.
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

    /// The numbers of the subflows that were closed, as bits.
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

    /// As the engine wants to know it.
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
