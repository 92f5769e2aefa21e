//! The sockets of controllers, as the kernel's own iterator lists them.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use libbpf_rs::Iter;
use tresse_controllers::State;

use crate::netns::Namespace;
use crate::{Error, object};

/// `MAX_NAMES` of `bpf/status.bpf.c`.
pub(crate) const MAX_NAMES: usize = 32;
const RECORD: usize = 60;

/// One socket: a subflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Socket {
    /// The index of its name among the requested ones.
    pub which: usize,
    /// The label of its network namespace.
    pub namespace: String,
    /// The token of its MPTCP connection; `None` for plain TCP.
    pub token: Option<u32>,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// Packets.
    pub cwnd: u32,
    /// 1/8 us.
    pub srtt: u32,
    /// CE marks that its ACKs have echoed.
    pub delivered_ce: u32,
    pub state: &'static str,
}

/// The sockets of `namespaces` whose congestion control is one of `names`.
pub(crate) fn list(names: &[&str], namespaces: &[Namespace]) -> Result<Vec<Socket>, Error> {
    let mut open = object::open(object::STATUS, None)?;
    object::set(&mut open, ".rodata.names", |bytes| {
        for (slot, name) in bytes.chunks_exact_mut(16).zip(names) {
            slot[..name.len()].copy_from_slice(name.as_bytes());
        }
    });
    let object = object::load(open, None)?;
    let failed = |what: &str, e: &dyn std::fmt::Display| Error::Machine(format!("{what}: {e}"));
    let program = object.progs_mut().next().expect("the object has one program");
    let link = program.attach().map_err(|e| failed("the list of sockets", &e))?;
    let mut sockets = Vec::new();
    for namespace in namespaces {
        // An iterator lists the namespace in which it is created.
        let bytes = namespace.within(|| {
            let mut bytes = Vec::new();
            Iter::new(&link).map_err(|e| e.to_string()).and_then(|mut iterator| {
                iterator.read_to_end(&mut bytes).map(|_| bytes).map_err(|e| e.to_string())
            })
        });
        // A namespace may be gone by now.
        let Ok(bytes) = bytes else { continue };
        let bytes = bytes.map_err(|e| failed(&namespace.label, &e))?;
        sockets.extend(bytes.chunks_exact(RECORD).map(|bytes| record(bytes, &namespace.label)));
    }
    Ok(sockets)
}

fn record(bytes: &[u8], namespace: &str) -> Socket {
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let half = |at: usize| u16::from_ne_bytes(bytes[at..at + 2].try_into().expect("two bytes"));
    let six = i32::from(bytes[56]) == libc::AF_INET6;
    let address = |at: usize| -> IpAddr {
        if six {
            let address: [u8; 16] = bytes[at..at + 16].try_into().expect("sixteen bytes");
            Ipv6Addr::from(address).to_canonical()
        } else {
            let address: [u8; 4] = bytes[at..at + 4].try_into().expect("four bytes");
            Ipv4Addr::from(address).into()
        }
    };
    let states = [State::Open, State::Disorder, State::Cwr, State::Recovery, State::Loss];
    Socket {
        which: word(0) as usize,
        namespace: namespace.to_owned(),
        token: (bytes[58] != 0).then(|| word(4)),
        cwnd: word(8),
        srtt: word(12),
        delivered_ce: word(16),
        local: SocketAddr::new(address(20), half(52)),
        remote: SocketAddr::new(address(36), half(54)),
        state: states.get(usize::from(bytes[57])).map_or("unknown", |s| s.name()),
    }
}
