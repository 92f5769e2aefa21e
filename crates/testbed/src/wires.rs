//! What is between the hosts of a testbed: the emulated fabric, or switches of the kernel.

use tresse_fabric::Path;
use tresse_lab::network::{FlowSpec, Paths, PortNow};
use tresse_units::Time;

use crate::clock::Clock;
use crate::emulator::Emulator;
use crate::switch::{Switch, Ways};
use crate::virtual_switch::{Places, SwitchKind, VirtualSwitch};

#[derive(Debug)]
pub(crate) enum Wires {
    /// The simulator's fabric.
    Emulated(Emulator),
    /// Bridges, or Open vSwitch.
    Virtual(Box<VirtualSwitch>),
}

impl Wires {
    /// What moves packets.
    pub fn name(&self) -> &str {
        match self {
            Self::Emulated(_) => SwitchKind::Emulated.name(),
            Self::Virtual(switch) => switch.name(),
        }
    }

    pub fn clock(&self) -> Clock {
        match self {
            Self::Emulated(emulator) => emulator.clock(),
            Self::Virtual(switch) => switch.clock(),
        }
    }

    /// Whether it no longer forwards.
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Emulated(emulator) => emulator.has_ended(),
            Self::Virtual(_) => false,
        }
    }

    /// Announces a flow to `port` of its receiver. Returns the time, and the places of its paths if the addresses
    /// of hosts have places; `hosts` is the number of all hosts.
    ///
    /// # Errors
    /// If packets would not take its paths.
    pub fn add_flow(&self, spec: &FlowSpec, port: u16, hosts: u32) -> Result<(Time, Option<Places>), String> {
        match self {
            Self::Emulated(emulator) => Ok((
                emulator.with(|switch| {
                    let ways = ways(switch, &spec.paths);
                    switch.add_flow((spec.hosts[1], port), ways);
                    switch.fabric.now()
                }),
                None,
            )),
            Self::Virtual(switch) => Ok((switch.clock().now(), Some(switch.places(spec, hosts)?))),
        }
    }

    /// Forgets a flow to this host and port.
    pub fn remove_flow(&self, listens: (u32, u16)) {
        if let Self::Emulated(emulator) = self {
            emulator.with(|switch| switch.remove_flow(listens));
        }
    }

    /// Packets that ports have sent.
    pub fn hops(&self) -> u64 {
        match self {
            Self::Emulated(emulator) => emulator.with(|switch| switch.fabric.hops()),
            Self::Virtual(switch) => switch.hops(),
        }
    }

    /// Every port, by number.
    pub fn ports(&self) -> Vec<PortNow> {
        match self {
            Self::Emulated(emulator) => emulator.with(|switch| emulated_ports(switch)),
            Self::Virtual(switch) => switch.ports(),
        }
    }

    /// Packets that wait in a port.
    pub fn waiting(&self, port: u32) -> u64 {
        match self {
            Self::Emulated(emulator) => emulator.with(|switch| switch.fabric.waiting(port)),
            Self::Virtual(switch) => switch.waiting(port),
        }
    }

    /// Changes the links of the fabric.
    ///
    /// # Panics
    /// If it is not emulated: `bed::check` refuses changes there.
    pub fn change(&self, change: impl FnOnce(&mut Switch)) {
        match self {
            Self::Emulated(emulator) => emulator.with(change),
            Self::Virtual(_) => unreachable!("`Layout::of` refuses changes"),
        }
    }
}

/// The routes of a flow's paths.
fn ways(Switch { fabric, .. }: &mut Switch, paths: &Paths) -> Ways {
    match paths {
        Paths::Fixed(paths) => {
            let mut way = |path: &Path| [fabric.add_route(&path.there), fabric.add_route(&path.back)];
            Ways { ways: paths.iter().map(&mut way).collect(), remotes: 1 }
        }
        Paths::Forwarded { from, to, .. } => {
            let pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
            let mut way = |(from, to)| [fabric.add_forwarded(from, to), fabric.add_forwarded(to, from)];
            Ways { ways: pairs.map(&mut way).collect(), remotes: to.len() as u16 }
        }
    }
}

fn emulated_ports(Switch { fabric, .. }: &Switch) -> Vec<PortNow> {
    let port = |(number, port): (u32, &tresse_fabric::Port)| PortNow {
        rate: port.config().rate,
        counters: port.counters(),
        busy: fabric.busy(number),
        pfc: fabric.pfc_counters(number),
    };
    (0..).zip(fabric.ports()).map(port).collect()
}
