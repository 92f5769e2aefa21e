//! Virtual switches of the kernel, or Open vSwitch, in place of the emulated fabric.
//!
//! ```text
//! host h3          switch
//! eth0 ──────── t6 ⇄ p12 ── p13 [bridge 24] p50 ── p51 [bridge 26] …
//!                    cap
//! ```
//!
//! A machine is the namespace of a host; each of its interfaces is a veth pair, as a container's is. All
//! switches are in one more namespace. A link is a veth pair there, and the interface of a port is named after
//! the port's number. Port 12 is the machine's way to the bridge: its queue is the buffer behind the cap (HTB).
//! `t6` hands it what the machine sends, and the machine what comes back, with tc's `mirred`.
//!
//! A packet of a machine must forget its socket before it waits behind the cap, as it does on its way out of a
//! virtual machine; otherwise TCP holds back what it sends (TSQ) and the buffer never fills. A veth interface
//! with GRO does this (`skb_prepare_for_gro`), if its peer has no TSO. `gro_max_size` keeps it from merging.
//!
//! No bridge learns or floods: every one has an entry for every interface, and every machine a neighbour entry
//! for every address, so no packet but the experiment's is on the network.

mod bridge;
mod counters;
mod kind;
mod layout;
mod names;
mod needs;
mod ovs;
mod places;
mod queues;

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use tresse_experiment::plan::Case;
use tresse_fabric::PortCounters;
use tresse_lab::network::{FlowSpec, Paths, PortNow};
use tresse_linux::mark;
use tresse_units::SECOND;

use self::counters::Readings;
pub use self::kind::SwitchKind;
pub(crate) use self::layout::Layout;
use self::layout::Port;
use self::names::{interface, mac};
pub(crate) use self::needs::lacks;
use self::ovs::Ovs;
pub(crate) use self::ovs::clean;
pub(crate) use self::places::Places;
use self::queues::{marker, queues};
use crate::address::{MTU, address};
use crate::clock::{Clock, Scale};
use crate::namespace::{Error, Namespace};

/// The switches of a case.
#[derive(Debug)]
pub(crate) struct VirtualSwitch {
    layout: Layout,
    clock: Clock,
    /// Addresses of each interface of a machine.
    numbers: u32,
    /// What forwards: `bridge`, `ovs (userspace)`, `ovs (kernel)`.
    name: String,
    readings: Mutex<Readings>,
    // Dropped before the namespace that it runs in.
    _ovs: Option<Ovs>,
    namespace: Namespace,
}

impl VirtualSwitch {
    /// Builds the switches of a case whose hosts have `addresses` for the paths of each of their interfaces.
    ///
    /// # Errors
    /// What the machine lacks, or a part of the case that no bridge can do.
    pub fn new(case: &Case, seed: u64, kind: SwitchKind, scale: Scale, numbers: u32) -> Result<Self, Error> {
        let layout = Layout::of(case, seed)?;
        let namespace = Namespace::create("switch")?;
        quiet(&namespace)?;
        // Bridged packets pass no firewall.
        for family in ["ip", "ip6", "arp"] {
            let _ = namespace.sysctl(&format!("bridge/bridge-nf-call-{family}tables"), "0"); // if there is one
        }
        namespace.ip(&links(&layout))?;
        let (ovs, name) = match kind {
            SwitchKind::Ovs => {
                let ovs = Ovs::start(&namespace, &layout)?;
                let name = format!("ovs ({})", ovs.datapath());
                (Some(ovs), name)
            }
            SwitchKind::Bridge | SwitchKind::Emulated => {
                bridge::build(&namespace, &layout)?;
                (None, "bridge".to_owned())
            }
        };
        namespace.batch("tc", &queues(&layout, scale))?;
        for (number, port) in numbered(&layout).filter(|(_, port)| port.can_fill) {
            let Some(settings) = marker(port, scale) else { continue };
            mark::add(&interface(number), &settings, Some(namespace.name()))
                .map_err(|error| Error(error.to_string()))?;
        }
        let (clock, readings) = (Clock::start(scale), Mutex::default());
        Ok(Self { layout, clock, numbers, name, readings, _ovs: ovs, namespace })
    }

    /// Its time is 0 now.
    pub fn begin(mut self) -> Self {
        self.clock = Clock::start(self.clock.scale());
        self
    }

    /// What forwards.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives a host its interfaces, with all routes and neighbours; retransmission timeouts are at least
    /// `rto_min` milliseconds.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn join(&self, machine: &Namespace, host: u32, hosts: u32, rto_min: u128) -> Result<(), Error> {
        quiet(machine)?;
        let each = self.layout.nics / hosts;
        let (mut ours, mut theirs, mut redirects) = (String::new(), String::new(), String::new());
        for i in 0..each {
            let nic = host * each + i;
            let port = self.layout.route_out(nic);
            let _ = writeln!(
                ours,
                "link add t{nic} type veth peer name eth{i} address {} netns {}\n\
                 link set t{nic} up gso_max_segs 1 gro_max_size {MTU}",
                mac(nic),
                machine.name()
            );
            let _ = writeln!(theirs, "link set eth{i} up mtu {MTU} gso_max_segs 1");
            let (tap, port) = (format!("t{nic}"), interface(port));
            for (from, to) in [(&tap, &port), (&port, &tap)] {
                let _ = writeln!(
                    redirects,
                    "filter add dev {from} ingress protocol all u32 match u32 0 0 action mirred egress redirect \
                     dev {to}"
                );
            }
            for number in 0..self.numbers {
                let own = address(host, i * self.numbers + number);
                let _ = writeln!(
                    theirs,
                    "address add {own}/32 dev eth{i}\nrule add from {own} lookup {}",
                    100 + i
                );
            }
            let route =
                format!("default dev eth{i} src {} rto_min {rto_min}ms", address(host, i * self.numbers));
            let _ = writeln!(theirs, "route add {route} table {}", 100 + i);
            if i == 0 {
                let _ = writeln!(theirs, "route add {route}");
            }
            for (other, address) in self.others(host, hosts) {
                let _ =
                    writeln!(theirs, "neigh add {address} lladdr {} dev eth{i} nud permanent", mac(other));
            }
        }
        self.namespace.ip(&ours)?;
        // The marker's and the filters' place: on the port, it may be there already.
        let places: String =
            (0..each).map(|i| format!("qdisc add dev t{} clsact\n", host * each + i)).collect();
        self.namespace.batch("tc", &places)?;
        self.namespace.batch("tc", &redirects)?;
        for i in 0..each {
            features(&self.namespace, &format!("t{}", host * each + i), &["gro", "on"])?;
            // Userspace switches see packets without the checksums that hardware would add.
            features(machine, &format!("eth{i}"), &["tso", "off", "gso", "off", "tx", "off"])?;
        }
        machine.ip(&theirs)
    }

    /// The other hosts' interfaces and addresses.
    fn others(&self, host: u32, hosts: u32) -> impl Iterator<Item = (u32, Ipv4Addr)> {
        let (each, numbers) = (self.layout.nics / hosts, self.numbers);
        let others = (0..hosts).filter(move |other| *other != host);
        others.flat_map(move |other| {
            (0..each * numbers).map(move |number| (other * each + number / numbers, address(other, number)))
        })
    }

    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The places of a flow's paths.
    ///
    /// # Errors
    /// If a path is not the one that the switches take.
    pub fn places(&self, spec: &FlowSpec, hosts: u32) -> Result<Places, String> {
        let each = self.layout.nics / hosts;
        let of_host = |nic: u32, host: u32| nic - host * each;
        let pair = |from: u32, to: u32| [of_host(from, spec.hosts[0]), of_host(to, spec.hosts[1])];
        let (nics, remotes) = match &spec.paths {
            Paths::Fixed(paths) => {
                let mut nics = Vec::new();
                for path in paths {
                    let start = |ports: &[u32]| self.layout.ports[ports[0] as usize].ends[0];
                    let [from, to] = [start(&path.there), start(&path.back)];
                    if path.there[..] != self.layout.route(from, to)[..] {
                        return Err(
                            "its path is not the shortest, which is the one that a bridge takes".to_owned()
                        );
                    }
                    nics.push(pair(from, to));
                }
                (nics, 1)
            }
            Paths::Forwarded { from, to, .. } => {
                let pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
                (pairs.map(|(from, to)| pair(from, to)).collect(), to.len() as u16)
            }
        };
        Ok(Places { nics, remotes, numbers: self.numbers })
    }

    /// Every port, by number.
    pub fn ports(&self) -> Vec<PortNow> {
        let mut readings = self.fresh(counters::FRESH);
        readings.mark(&self.namespace);
        let port = |(number, port): (u32, &Port)| {
            let read = readings.port(&interface(number));
            let counters = PortCounters {
                bytes: read.bytes,
                drops: read.drops,
                marks: read.marks,
                ..PortCounters::default()
            };
            let busy = u128::from(read.bytes) * 8 * u128::from(SECOND) / u128::from(port.rate.max(1));
            PortNow { rate: port.rate, counters, busy: busy as u64, pfc: Default::default() }
        };
        numbered(&self.layout).map(port).collect()
    }

    /// Packets that wait in a port.
    pub fn waiting(&self, port: u32) -> u64 {
        self.fresh(counters::FRESH).port(&interface(port)).waiting
    }

    /// Packets that ports have sent.
    pub fn hops(&self) -> u64 {
        let readings = self.fresh(counters::LAZY);
        numbered(&self.layout).map(|(number, _)| readings.port(&interface(number)).packets).sum()
    }

    /// Packets that machines received, and those that an interface refused although no queue was full.
    pub fn carried(&self) -> [u64; 2] {
        let readings = self.fresh(counters::FRESH);
        let last = numbered(&self.layout).filter(|(_, port)| port.ends[1] < self.layout.nics);
        [last.map(|(number, _)| readings.port(&interface(number)).packets).sum(), readings.refused()]
    }

    fn fresh(&self, within: std::time::Duration) -> std::sync::MutexGuard<'_, Readings> {
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        readings.refresh(&self.namespace, within);
        readings
    }
}

impl Layout {
    /// The port by which an interface sends.
    fn route_out(&self, nic: u32) -> u32 {
        let port = self.ports.iter().position(|port| port.ends[0] == nic);
        port.expect("it reaches every other interface") as u32
    }
}

fn numbered(layout: &Layout) -> impl Iterator<Item = (u32, &Port)> {
    (0..).zip(&layout.ports)
}

/// Nothing in a namespace sends by itself.
fn quiet(namespace: &Namespace) -> Result<(), Error> {
    for scope in ["all", "default"] {
        namespace.sysctl(&format!("ipv6/conf/{scope}/disable_ipv6"), "1")?;
        namespace.sysctl(&format!("ipv4/conf/{scope}/rp_filter"), "0")?;
    }
    Ok(())
}

/// Commands for `ip`: the links.
fn links(layout: &Layout) -> String {
    let mut lines = String::new();
    for (number, port) in numbered(layout).filter(|(number, port)| *number < port.back) {
        let [own, other] = [interface(number), interface(port.back)];
        let _ = writeln!(
            lines,
            "link add {own} mtu {MTU} type veth peer name {other} mtu {MTU}\n\
             link set {own} up gso_max_segs 1\nlink set {other} up gso_max_segs 1"
        );
    }
    lines
}

/// Switches offloads of an interface.
fn features(namespace: &Namespace, interface: &str, features: &[&str]) -> Result<(), Error> {
    namespace.run(Command::new("ethtool").arg("-K").arg(interface).args(features))
}
