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
mod layout;
mod ovs;

use std::fmt;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::process::Command;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use tresse_experiment::plan::Case;
use tresse_fabric::{PortCounters, Threshold};
use tresse_lab::network::{FlowSpec, Paths, PortNow};
use tresse_linux::mark::{self, Class as Service, Length, MAX_THRESHOLD, MAX_WEIGHT, Match, Settings};
use tresse_units::{BitsPerSecond, SECOND};

use crate::address::{MTU, address};
use crate::clock::{Clock, Scale};
use crate::namespace::{self, Error, Namespace};
use counters::Readings;
pub(crate) use layout::Layout;
use layout::{Class, Mark, Port};
use ovs::Ovs;
pub(crate) use ovs::clean;

/// What moves packets between hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SwitchKind {
    /// The simulator's fabric under the wall clock.
    #[default]
    Emulated,
    /// Linux's bridge.
    Bridge,
    /// Open vSwitch.
    Ovs,
}

impl SwitchKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Emulated, Self::Bridge, Self::Ovs];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Emulated => "emulated",
            Self::Bridge => "bridge",
            Self::Ovs => "ovs",
        }
    }
}

impl fmt::Display for SwitchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SwitchKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| "expected `emulated`, `bridge` or `ovs`".to_owned())
    }
}

/// A full frame, bytes: what a machine sends at once.
const FRAME: u64 = MTU as u64 + 14;

/// The number of a port's first class in HTB.
const FIRST: u32 = 0x10;

/// HTB's largest quantum, bytes.
const MOST_QUANTUM: u64 = 60_000;

/// HTB may send this much late, in time: the kernel's timers are not exact.
const SLACK: u64 = SECOND / 20_000;

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

/// The addresses of a connection's paths: a host has some for each of its interfaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The interfaces at both ends, by source address and then by destination address.
    nics: Vec<[u32; 2]>,
    remotes: u16,
    numbers: u32,
}

impl Places {
    /// The numbers of the addresses of a subflow from one address to another, among those of its hosts.
    pub fn numbers(&self, local: u16, remote: u16) -> [u32; 2] {
        let remotes = usize::from(self.remotes);
        let locals = self.nics.len() / remotes;
        let place = usize::from(local) % locals * remotes + usize::from(remote) % remotes;
        let [from, to] = self.nics[place];
        // Each subflow has its own source address.
        [from * self.numbers + u32::from(local) % self.numbers, to * self.numbers]
    }
}

fn numbered(layout: &Layout) -> impl Iterator<Item = (u32, &Port)> {
    (0..).zip(&layout.ports)
}

/// The interface of a port.
fn interface(port: u32) -> String {
    format!("p{port}")
}

/// The name of a bridge.
fn bridge_name(node: u32) -> String {
    format!("n{node}")
}

/// The hardware address of a machine's interface.
fn mac(nic: u32) -> String {
    format!("02:74:72:00:{:02x}:{:02x}", nic >> 8, nic & 255)
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

/// The marker of a port; `None` if it marks nothing.
fn marker(port: &Port, scale: Scale) -> Option<Settings> {
    // The marker drains 1 % faster than it is told. Drained faster than the real queue, it would lose sight of it.
    let rate_bps = scale.rate(port.rate) * 99 / 100;
    let length = |mark: Option<Mark>| match mark {
        Some(Mark::Above(bytes)) if bytes.is_bytes() => Length::Bytes(bytes.value()),
        Some(Mark::Above(packets)) => Length::Packets(packets.value()),
        Some(Mark::Share(bytes)) => Length::Bytes(bytes),
        None => Length::Bytes(MAX_THRESHOLD),
    };
    let threshold = port.classes.iter().find_map(|class| class.mark)?;
    let threshold = length(Some(threshold));
    if let [_] = port.classes[..] {
        return Some(Settings { rate_bps, threshold, classes: Vec::new() });
    }
    let least = port.classes.iter().map(|class| class.quantum).min().unwrap_or(1).max(1);
    let class = |(dscp, class): (u8, &Class)| Service {
        name: format!("class-{dscp}"),
        // In proportion, with two places for a weight that is no multiple of the least.
        weight: (u64::from(class.quantum) * 100 / u64::from(least)).clamp(1, MAX_WEIGHT.into()) as u32,
        rule: Match::Dscp(dscp),
        threshold: (!matches!(class.mark, Some(Mark::Share(_)))).then(|| length(class.mark)),
    };
    Some(Settings { rate_bps, threshold, classes: (0..).zip(&port.classes).map(class).collect() })
}

/// Commands for `tc`: the queues, and the place for filters and markers on the ports of machines.
fn queues(layout: &Layout, scale: Scale) -> String {
    let mut lines = String::new();
    for (number, port) in numbered(layout) {
        let name = interface(number);
        if port.ends[0] < layout.nics {
            let _ = writeln!(lines, "qdisc add dev {name} clsact");
        }
        if !port.can_fill {
            continue;
        }
        let rate = scale.rate(port.rate);
        let burst = (u128::from(rate) * u128::from(SLACK) / u128::from(8 * SECOND)).max(FRAME.into()) + 86;
        let burst = format!("burst {burst} cburst {burst}");
        let _ = writeln!(
            lines,
            "qdisc add dev {name} root handle 1: htb default {FIRST:x}\n\
             class add dev {name} parent 1: classid 1:1 htb rate {rate}bit ceil {rate}bit {burst} quantum {FRAME}"
        );
        // A class has its share of the rate, and borrows what others leave, in proportion to the quanta.
        let all: u64 = port.classes.iter().map(|class| u64::from(class.quantum)).sum();
        let least = port.classes.iter().map(|class| u64::from(class.quantum)).min().unwrap_or(1).max(1);
        for (class, own) in (FIRST..).zip(&port.classes) {
            let share = u128::from(rate) * u128::from(own.quantum) / u128::from(all.max(1));
            let quantum = (FRAME * u64::from(own.quantum) / least).clamp(FRAME, MOST_QUANTUM);
            let limit = match own.limit {
                Threshold::UNLIMITED => "pfifo limit 1000000".to_owned(),
                bytes if bytes.is_bytes() => format!("bfifo limit {}", bytes.value().max(FRAME)),
                packets => format!("pfifo limit {}", packets.value().max(1)),
            };
            let _ = writeln!(
                lines,
                "class add dev {name} parent 1:1 classid 1:{class:x} htb rate {share}bit ceil {rate}bit {burst} \
                 quantum \
                 {quantum}\n\
                 qdisc add dev {name} parent 1:{class:x} handle {class:x}: {limit}"
            );
            if class > FIRST {
                let _ = writeln!(
                    lines,
                    "filter add dev {name} parent 1: protocol ip prio 1 u32 match ip tos {:#x} 0xfc flowid \
                     1:{class:x}",
                    (class - FIRST) << 2
                );
            }
        }
    }
    lines
}

/// Switches offloads of an interface.
fn features(namespace: &Namespace, interface: &str, features: &[&str]) -> Result<(), Error> {
    namespace.run(Command::new("ethtool").arg("-K").arg(interface).args(features))
}

/// What this machine lacks for such switches; `None` if it lacks nothing.
pub(crate) fn lacks(kind: SwitchKind) -> Option<String> {
    if kind == SwitchKind::Emulated {
        return None;
    }
    for (program, package) in [("tc", "iproute2"), ("bridge", "iproute2"), ("ethtool", "ethtool")] {
        if !namespace::is_installed(program) {
            return Some(format!("{program} is not installed\n\nhint: apt-get install {package}"));
        }
    }
    if kind == SwitchKind::Ovs
        && let Some(lack) = ovs::lacks()
    {
        return Some(lack);
    }
    match Namespace::create("probe") {
        Ok(probe) => {
            let mut needed: Vec<_> =
                NEEDED.into_iter().filter(|own| kind == SwitchKind::Bridge || !own.bridge).collect();
            needed.drain(..).find_map(|own| own.lacks(&probe))
        }
        Err(error) => Some(error.to_string()),
    }
}

/// A part of the kernel, and what fails without it.
struct Needed {
    what: &'static str,
    program: &'static str,
    command: &'static str,
    /// Only Linux's bridge needs it.
    bridge: bool,
}

/// In this order: each command uses what those before it have made.
const NEEDED: [Needed; 5] = [
    Needed {
        what: "veth interfaces (CONFIG_VETH)",
        program: "ip",
        command: "link add p0 type veth peer name p1",
        bridge: false,
    },
    Needed {
        what: "bridges (CONFIG_BRIDGE)",
        program: "ip",
        command: "link add n0 type bridge",
        bridge: true,
    },
    Needed {
        what: "the queueing discipline HTB (CONFIG_NET_SCH_HTB)",
        program: "tc",
        command: "qdisc add dev p0 root handle 1: htb default 1",
        bridge: false,
    },
    Needed {
        what: "clsact (CONFIG_NET_SCH_INGRESS)",
        program: "tc",
        command: "qdisc add dev p0 clsact",
        bridge: false,
    },
    Needed {
        what: "the filter u32 with the action mirred (CONFIG_NET_CLS_U32, CONFIG_NET_ACT_MIRRED)",
        program: "tc",
        command: "filter add dev p0 ingress protocol all u32 match u32 0 0 action mirred egress redirect dev p1",
        bridge: false,
    },
];

impl Needed {
    fn lacks(&self, probe: &Namespace) -> Option<String> {
        let error = probe.batch(self.program, &format!("{}\n", self.command)).err()?;
        Some(format!("this kernel lacks {}: {error}", self.what))
    }
}

impl Scale {
    /// A rate on the machine.
    fn rate(self, rate: BitsPerSecond) -> BitsPerSecond {
        let second = self.wall(SECOND).as_nanos().max(1);
        (u128::from(rate) * 1_000_000_000 / second) as BitsPerSecond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subflow_leaves_and_arrives_by_the_interfaces_of_its_path() {
        // Two interfaces on each side, four paths, eight addresses an interface.
        let places = Places { nics: vec![[0, 0], [1, 1], [0, 1], [1, 0]], remotes: 1, numbers: 8 };
        assert_eq!(
            (0..4).map(|local| places.numbers(local, 0)).collect::<Vec<_>>(),
            [[0, 0], [9, 8], [2, 8], [11, 0]]
        );
        // Switches decide: source and destination are chosen by themselves.
        let forwarded = Places { nics: vec![[0, 0], [0, 1], [1, 0], [1, 1]], remotes: 2, numbers: 2 };
        assert_eq!(forwarded.numbers(1, 1), [3, 2]);
        assert_eq!(forwarded.numbers(0, 1), [0, 2]);
    }

    #[test]
    fn at_a_third_of_the_speed_a_rate_is_a_third() {
        let third: Scale = "1/3".parse().expect("a fraction");
        assert_eq!(third.rate(600_000_000), 200_000_000);
        assert_eq!(Scale::WHOLE.rate(1_000_000_007), 1_000_000_007);
    }

    #[test]
    fn a_kind_is_known_by_its_name() {
        for kind in SwitchKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("vpp".parse::<SwitchKind>().is_err());
    }
}
