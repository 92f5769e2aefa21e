//! A case's hosts around its fabric, or around switches of the kernel.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use tresse_controllers::ConfiguredController;
use tresse_experiment::plan::Case;
use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_experiment::plan::parts::Part;
use tresse_lab::fabric;
use tresse_linux::attach::Default;
use tresse_linux::detach::{name_in_testbed, process_of};
use tresse_linux::{attach, detach};
use tresse_path_manager::Config as Managers;
use tresse_transport::{BufferRule, ReceiveBuffer};
use tun_rs::SyncDevice;

use crate::address::{MTU, address};
use crate::agent::{Ask, HostReport};
use crate::clock::Scale;
use crate::cores;
use crate::emulator::Emulator;
use crate::namespace::{self, Error, Namespace};
use crate::switch::Switch;
use crate::virtual_switch::{self, Layout, SwitchKind, VirtualSwitch};
use crate::wires::Wires;

/// How long a host's process may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// The minimum, initial and maximum size of a socket's send buffer, bytes.
pub(crate) const SENDS: &str = "4096 131072 268435456";

/// The same for the receive buffer. A Multipath TCP connection of Linux 6.18 stalls forever if its
/// out-of-order data exceeds its receive buffer: it then takes nothing from its subflows, not even the
/// missing data. So the initial size is more than what waits in any experiment.
pub(crate) const RECEIVES: &str = "4096 67108864 268435456";

/// `tcp_rmem` for a receive buffer. A fixed one is a buffer that has no room to grow.
fn receives(buffer: ReceiveBuffer) -> String {
    let bytes = ReceiveBuffer::linux_bytes;
    let most = match buffer.rule {
        BufferRule::Fixed => buffer.bytes,
        BufferRule::Linux { most } => most,
    };
    format!("4096 {} {}", bytes(buffer.bytes), bytes(most))
}

/// The settings of a testbed.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The command that runs [`agent::run`](crate::agent::run) in a host.
    pub program: &'a Command,
    /// The speed of the experiment's time.
    pub scale: Scale,
    /// What moves packets between hosts.
    pub switch: SwitchKind,
}

/// A case's hosts, its fabric, and its controllers in the kernel. All of it is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Bed {
    // Dropped before the hosts.
    pub wires: Wires,
    hosts: Vec<Host>,
    /// The hosts' reports, with their numbers.
    pub told: Receiver<(u32, HostReport)>,
    controls: Controls,
}

#[derive(Debug)]
struct Host {
    /// Connected to the process that runs in it.
    socket: UnixStream,
    process: Child,
    // Dropped after the process.
    _namespace: Namespace,
}

/// The controllers that were attached for a testbed, by the kernel's names for them.
#[derive(Debug)]
struct Controls(Vec<(Arc<ConfiguredController>, String)>);

impl Bed {
    /// Builds the hosts and the fabric of `case`.
    ///
    /// # Errors
    /// What the machine lacks, or a part of the case that no testbed can do.
    pub fn new(case: &Case, seed: u64, how: Settings<'_>) -> Result<Self, Error> {
        let count = addresses(case)?;
        let controls = Controls::attach(case)?;
        let mut building = Building::new(case, seed, how, count)?;
        let (tell, told) = mpsc::channel();
        let mut own = Vec::new();
        let hosts = case.setting.fabric.hosts();
        for host in 0..hosts {
            let namespace = namespace_of(host, case)?;
            building.join(&namespace, host, hosts, rto_min(case, how.scale))?;
            let made = Host::start(namespace, how.program)?;
            let lines = made.socket.try_clone().map_err(|error| Error(error.to_string()))?;
            let tell = tell.clone();
            thread::spawn(move || {
                for line in BufReader::new(lines).lines().map_while(Result::ok) {
                    let told = serde_json::from_str(&line).expect("an agent speaks this language");
                    if tell.send((host, told)).is_err() {
                        return;
                    }
                }
            });
            own.push(made);
        }
        // Time begins when all of them are ready.
        for _ in 0..hosts {
            told.recv_timeout(PATIENCE).map_err(|_| Error("a host's process did not start".to_owned()))?;
        }
        Ok(Self { wires: building.finish(case, seed, how.scale)?, hosts: own, told, controls })
    }

    /// Sends a command to a host.
    pub fn ask(&mut self, host: u32, ask: &Ask) -> io::Result<()> {
        let mut line = serde_json::to_string(ask).expect("plain data");
        line.push('\n');
        self.hosts[host as usize].socket.write_all(line.as_bytes())
    }

    /// Hooks that the kernel skipped in all controllers, each of which was repaired.
    pub fn repairs(&self) -> u64 {
        let counts = |(_, name): &(_, String)| tresse_linux::counts(name).unwrap_or_default();
        let all = self.controls.0.iter().flat_map(counts);
        all.filter(|(name, _)| *name == "repairs").map(|(_, count)| count).sum()
    }

    /// The kernel's name of a controller of the case.
    pub fn control(&self, own: &Arc<ConfiguredController>) -> &str {
        let found = self.controls.0.iter().find(|(other, _)| Arc::ptr_eq(own, other));
        &found.expect("a controller of the case").1
    }
}

/// What is between the hosts, while they join it.
enum Building {
    /// The addresses and the devices of the hosts.
    Emulated(Vec<Vec<Ipv4Addr>>, Vec<SyncDevice>),
    Virtual(Box<VirtualSwitch>),
}

impl Building {
    fn new(case: &Case, seed: u64, how: Settings<'_>, count: u32) -> Result<Self, Error> {
        let all = |host| (0..count).map(|number| address(host, number)).collect();
        Ok(match how.switch {
            SwitchKind::Emulated => {
                cores::leave();
                Self::Emulated((0..case.setting.fabric.hosts()).map(all).collect(), Vec::new())
            }
            kind => Self::Virtual(Box::new(VirtualSwitch::new(case, seed, kind, how.scale, count)?)),
        })
    }

    fn join(&mut self, namespace: &Namespace, host: u32, hosts: u32, rto_min: u128) -> Result<(), Error> {
        match self {
            Self::Emulated(addresses, devices) => {
                let own = &addresses[host as usize];
                devices.push(namespace.join(own, MTU)?);
                namespace.ip(&format!("route change default dev fabric src {} rto_min {rto_min}ms\n", own[0]))
            }
            Self::Virtual(switch) => switch.join(namespace, host, hosts, rto_min),
        }
    }

    /// Packets are moved from now on.
    fn finish(self, case: &Case, seed: u64, scale: Scale) -> Result<Wires, Error> {
        match self {
            Self::Emulated(addresses, devices) => {
                let emulator = Emulator::start(Switch::new(fabric(case, seed), &addresses), devices, scale);
                Ok(Wires::Emulated(emulator.map_err(|error| Error(format!("the fabric: {error}")))?))
            }
            Self::Virtual(switch) => Ok(Wires::Virtual(Box::new(switch.begin()))),
        }
    }
}

/// Whether a case can run on a testbed with this switch.
///
/// # Errors
/// A part of it that no testbed can do.
pub fn check(case: &Case, switch: SwitchKind) -> Result<(), Error> {
    if case.setting.packets.is_some() {
        let why = "packets are only recorded in simulations; on real hosts use tcpdump, without `[measure] packets`";
        return Err(Error(format!("{}: {why}", case.label())));
    }
    let count = addresses(case)?;
    if switch == SwitchKind::Emulated {
        return Ok(());
    }
    Layout::of(case, 0)?;
    let each = case.setting.fabric.addresses(0).len() as u32;
    if each * count > MOST {
        let why = format!(
            "{each} interfaces with {count} addresses for paths each, but a host has at most {MOST} addresses"
        );
        return Err(Error(format!("{}: {why}", case.label())));
    }
    Ok(())
}

/// What this machine lacks for a testbed with this switch, and how to fix it; `None` if it lacks nothing.
pub fn lacks(switch: SwitchKind) -> Option<String> {
    namespace::lacks().or_else(|| virtual_switch::lacks(switch))
}

/// The most addresses of a host: the last octet.
const MOST: u32 = 250;

/// How many addresses each host needs: one for each path that a path manager can choose.
fn addresses(case: &Case) -> Result<u32, Error> {
    let wrong = |why: String| Err(Error(format!("{}: {why}", case.label())));
    let mut most = case.setting.fabric.addresses(0).len() as u32;
    for scheme in &case.bound_schemes {
        if let Managers::Mmptcp(_) = scheme.manager.config() {
            return wrong("mmptcp sprays packets, which Linux hosts cannot do".to_owned());
        }
        if scheme.sprayed.is_some() {
            return wrong(format!("{} sprays packets, which Linux hosts cannot do", scheme.label()));
        }
        most = most.max(scheme.paths);
    }
    let buffer = |scheme: &BoundScheme| scheme.transport.receive_buffer;
    if case.bound_schemes.windows(2).any(|two| buffer(&two[0]) != buffer(&two[1])) {
        return wrong("its schemes have different receive buffers, but a host has one for all".to_owned());
    }
    if case.setting.options.pauses() {
        return wrong(
            "the network cards of real hosts do not obey the fabric's pauses: leave out `pfc`".to_owned(),
        );
    }
    if case.parts.iter().any(|part| part.persistent) {
        return wrong(
            "the hosts of a testbed open a connection for each message: leave out `persistent`".to_owned(),
        );
    }
    for own in case.parts.iter().flat_map(Part::owns) {
        most = most.max(own.paths.as_ref().map_or(0, |paths| paths.len() as u32));
    }
    match most {
        0..=MOST => Ok(most),
        _ => wrong(format!(
            "its connections choose among {most} paths, but a host has at most {MOST} addresses"
        )),
    }
}

/// The namespace of a host.
fn namespace_of(host: u32, case: &Case) -> Result<Namespace, Error> {
    let namespace = Namespace::create(&format!("h{host}"))?;
    namespace.sysctl("ipv6/conf/all/disable_ipv6", "1")?;
    namespace.sysctl("mptcp/enabled", "1")?;
    // The agent opens subflows, as the experiment's path manager decides.
    namespace.sysctl("mptcp/pm_type", "1")?;
    // Controllers that need marks have ECN regardless of this.
    let asks = |own: &BoundScheme| own.transport.ecn && !own.controllers.controller().needs_ecn();
    let ecn = case.bound_schemes.iter().any(asks);
    namespace.sysctl("ipv4/tcp_ecn", if ecn { "1" } else { "0" })?;
    // As in the simulator, no buffer limits a window: if one path has a queue of 400 ms, data from the
    // other waits for it in the receiver, and the sender keeps it too.
    // Unless the experiment sets one.
    let buffer = case.bound_schemes.first().and_then(|own| own.transport.receive_buffer);
    namespace.sysctl("ipv4/tcp_rmem", &buffer.map_or(RECEIVES.to_owned(), receives))?;
    namespace.sysctl("ipv4/tcp_wmem", SENDS)?;
    // A connection must not start with what an earlier one has learnt.
    namespace.sysctl("ipv4/tcp_no_metrics_save", "1")?;
    Ok(namespace)
}

/// The least retransmission timeout of a case's hosts, ms.
fn rto_min(case: &Case, scale: Scale) -> u128 {
    let floor = case.bound_schemes.iter().map(|scheme| scheme.transport.rto_min).min().unwrap_or(0);
    scale.wall(floor).as_millis().max(1)
}

impl Host {
    fn start(namespace: Namespace, program: &Command) -> Result<Self, Error> {
        let wrong = |error: io::Error| Error(format!("a process of {}: {error}", namespace.name()));
        let (socket, theirs) = UnixStream::pair().map_err(wrong)?;
        let mut command = Command::new(program.get_program());
        command.args(program.get_args()).stdin(std::os::fd::OwnedFd::from(theirs));
        let process = namespace.spawn(&mut command)?;
        Ok(Self { socket, process, _namespace: namespace })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill(); // it may have ended
        let _ = self.process.wait();
    }
}

impl Controls {
    fn attach(case: &Case) -> Result<Self, Error> {
        let mut own = Self(Vec::new());
        let mut known: BTreeMap<*const ConfiguredController, ()> = BTreeMap::new();
        for scheme in &case.bound_schemes {
            if known.insert(Arc::as_ptr(&scheme.controllers), ()).is_some() {
                continue;
            }
            let name = name_in_testbed(own.0.len());
            attach(&scheme.controllers, Some(&name), &Default::No)
                .map_err(|error| Error(error.to_string()))?;
            own.0.push((Arc::clone(&scheme.controllers), name));
        }
        Ok(own)
    }
}

impl Drop for Controls {
    fn drop(&mut self) {
        for (_, name) in &self.0 {
            let _ = detach(name, true); // `clean` removes the rest
        }
    }
}

/// Removes the namespaces and controllers left by testbeds whose process is gone. Returns their names.
///
/// # Errors
/// If something cannot be removed.
pub fn clean() -> Result<Vec<String>, Error> {
    let mut removed = namespace::clean()?;
    removed.extend(virtual_switch::clean()?);
    let wrong = |error: tresse_linux::Error| Error(error.to_string());
    for own in tresse_linux::status().map_err(wrong)?.0 {
        if process_of(&own.kernel_name).is_some_and(namespace::is_gone) {
            detach(&own.kernel_name, true).map_err(wrong)?;
            removed.push(own.kernel_name);
        }
    }
    Ok(removed)
}
