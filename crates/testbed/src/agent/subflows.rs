//! The subflows of a host's connections: the kernel's events about them, and commands to the kernel.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, SocketAddrV4};

use tresse_linux::path_manager::{Commands, Event};

use super::HostReport;

/// The connections that this host has opened.
#[derive(Debug, Default)]
pub(super) struct Subflows {
    commands: Commands,
    /// The kernel's names of the flows.
    tokens: BTreeMap<u64, u32>,
}

impl Subflows {
    /// The meaning of an event for the flows, which are identified by their destinations.
    pub fn hear(
        &mut self,
        event: Event,
        mut flows: impl Iterator<Item = (SocketAddrV4, u64)>,
    ) -> Option<HostReport> {
        let flow_of = |token| self.tokens.iter().find(|(_, own)| **own == token).map(|(&flow, _)| flow);
        match event {
            Event::Established { token, remote, accepted: false, .. } => {
                let (_, flow) = flows.find(|(to, _)| SocketAddr::V4(*to) == remote)?;
                self.tokens.insert(flow, token);
                Some(HostReport::Established { flow })
            }
            Event::Joined { token, local: SocketAddr::V4(from), remote: SocketAddr::V4(to) } => {
                Some(HostReport::Joined { flow: flow_of(token)?, from, to })
            }
            Event::Gone { token, local: SocketAddr::V4(from), .. } => {
                Some(HostReport::Gone { flow: flow_of(token)?, from })
            }
            _ => None,
        }
    }

    pub fn open(&mut self, flow: u64, from: SocketAddrV4, id: u8, to: SocketAddrV4) -> io::Result<()> {
        let token = self.token(flow)?;
        self.commands.create(token, id, from.into(), to.into())
    }

    pub fn close(&mut self, flow: u64, from: SocketAddrV4, to: SocketAddrV4) -> io::Result<()> {
        let token = self.token(flow)?;
        self.commands.destroy(token, from.into(), to.into())
    }

    pub fn set_backup(
        &mut self,
        flow: u64,
        from: SocketAddrV4,
        to: SocketAddrV4,
        backup: bool,
    ) -> io::Result<()> {
        let token = self.token(flow)?;
        self.commands.set_backup(token, from.into(), to.into(), backup)
    }

    pub fn remove(&mut self, flow: u64) {
        self.tokens.remove(&flow);
    }

    fn token(&self, flow: u64) -> io::Result<u32> {
        self.tokens.get(&flow).copied().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}
