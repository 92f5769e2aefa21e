//! A case's hosts around its fabric.

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
use tresse_lab::fabric;
use tresse_linux::attach::Default;
use tresse_linux::{attach, detach};
use tun_rs::SyncDevice;

use crate::agent::{Ask, Told};
use crate::emulator::Emulator;
use crate::namespace::{self, Error, Namespace};
use crate::switch::Switch;

/// How long a host's process may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// The MTU of hosts, bytes.
const MTU: u16 = 1500;

/// A case's hosts, its fabric, and its controllers in the kernel. All of it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Bed {
    pub emulator: Emulator,
    hosts: Vec<Host>,
    /// What hosts tell, with their numbers.
    pub told: Receiver<(u32, Told)>,
    controls: Controls,
}

#[derive(Debug)]
struct Host {
    /// Of the process that runs in it.
    socket: UnixStream,
    process: Child,
    // After the process.
    _namespace: Namespace,
}

/// How the kernel's names of controllers of testbeds begin; the number of the process that attached them follows.
const CONTROL: &str = "tb";

/// The controllers that were attached for a testbed, by the kernel's names for them.
#[derive(Debug)]
struct Controls(Vec<(Arc<ConfiguredController>, String)>);

/// The address of a host with this number among its addresses.
pub(crate) fn address(host: u32, number: u32) -> Ipv4Addr {
    Ipv4Addr::new(10, (host >> 8) as u8, host as u8, 1 + number as u8)
}

impl Bed {
    /// Builds the hosts and the fabric of `case`. `program` is the command that runs an agent.
    ///
    /// # Errors
    /// What the machine lacks, or what of the case no testbed can do.
    pub fn new(case: &Case, seed: u64, program: &Command) -> Result<Self, Error> {
        let count = addresses(case)?;
        let hosts = case.setting.fabric.hosts();
        let addresses: Vec<Vec<Ipv4Addr>> =
            (0..hosts).map(|host| (0..count).map(|number| address(host, number)).collect()).collect();
        let controls = Controls::attach(case)?;
        let (tell, told) = mpsc::channel();
        let (mut own, mut devices) = (Vec::new(), Vec::new());
        for (host, addresses) in (0..).zip(&addresses) {
            let (made, device) = Host::new(host, addresses, case, program)?;
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
            devices.push(device);
        }
        // Time begins when all of them can be asked.
        for _ in 0..hosts {
            told.recv_timeout(PATIENCE).map_err(|_| Error("a host's process does not start".to_owned()))?;
        }
        let switch = Switch::new(fabric(case, seed), &addresses);
        let emulator =
            Emulator::start(switch, devices).map_err(|error| Error(format!("the fabric: {error}")))?;
        Ok(Self { emulator, hosts: own, told, controls })
    }

    /// Asks a host to do something.
    pub fn ask(&mut self, host: u32, ask: &Ask) -> io::Result<()> {
        let mut line = serde_json::to_string(ask).expect("plain data");
        line.push('\n');
        self.hosts[host as usize].socket.write_all(line.as_bytes())
    }

    /// The kernel's name of a controller of the case.
    pub fn control(&self, own: &Arc<ConfiguredController>) -> &str {
        let found = self.controls.0.iter().find(|(other, _)| Arc::ptr_eq(own, other));
        &found.expect("a controller of the case").1
    }
}

/// The most subflows of a connection: the first, and as many as the kernel's path manager opens (`MPTCP_PM_ADDR_MAX`).
const MOST: u32 = 1 + 8;

/// Whether there can be a testbed for a case.
///
/// # Errors
/// What of it no testbed can do.
pub fn check(case: &Case) -> Result<(), Error> {
    addresses(case).map(drop)
}

/// How many addresses each host needs: the subflows of its connections of several.
fn addresses(case: &Case) -> Result<u32, Error> {
    let no = |label: &str, why: &str| Err(Error(format!("{label}: {why}: no testbed has that yet")));
    let mut counts: Vec<u32> = Vec::new();
    for scheme in &case.bound_schemes {
        match (scheme.subflows, scheme.decides) {
            (Some(count), None) => counts.push(count),
            _ => return no(&scheme.label(), "a path manager decides on its subflows"),
        }
    }
    for part in &case.parts {
        if part.datagrams.is_some() || part.owns().iter().any(|own| own.datagrams.is_some()) {
            return no(&case.pattern, "it has flows of datagrams");
        }
        if part.owns().iter().any(|own| own.subflow_starts.iter().any(|&start| start > 0)) {
            return no(&case.pattern, "it has subflows that are opened later");
        }
        counts
            .extend(part.owns().iter().filter_map(|own| own.paths.as_ref().map(|paths| paths.len() as u32)));
    }
    counts.retain(|&count| count > 1);
    counts.sort_unstable();
    counts.dedup();
    match counts[..] {
        [] => Ok(1),
        [one] if one > MOST => {
            let why = format!("its connections have {one} subflows, and Linux opens {MOST} at most");
            Err(Error(format!("{}: {why}", case.label())))
        }
        [one] => Ok(one),
        _ => no(
            &case.label(),
            "its connections have several numbers of subflows, and a Linux host opens the same for all",
        ),
    }
}

impl Host {
    fn new(
        host: u32,
        addresses: &[Ipv4Addr],
        case: &Case,
        program: &Command,
    ) -> Result<(Self, SyncDevice), Error> {
        let namespace = Namespace::create(&format!("h{host}"))?;
        namespace.sysctl("ipv6/conf/all/disable_ipv6", "1")?;
        namespace.sysctl("mptcp/enabled", "1")?;
        namespace.sysctl("ipv4/tcp_ecn", "1")?;
        // What one connection has learnt is not to be the start of the next.
        namespace.sysctl("ipv4/tcp_no_metrics_save", "1")?;
        let device = namespace.join(addresses, MTU)?;
        let floor = case.bound_schemes.iter().map(|scheme| scheme.transport.rto_min).min().unwrap_or(0);
        let milliseconds = (floor / tresse_units::MILLISECOND).max(1);
        let mut lines =
            format!("route change default dev fabric src {} rto_min {milliseconds}ms\n", addresses[0]);
        if addresses.len() > 1 {
            lines += &format!("mptcp limits set subflows {} add_addr_accepted 0\n", addresses.len() - 1);
            for (id, address) in addresses.iter().enumerate().skip(1) {
                lines += &format!("mptcp endpoint add {address} dev fabric id {id} subflow\n");
            }
        }
        namespace.ip(&lines)?;
        let wrong = |error: io::Error| Error(format!("a process of {}: {error}", namespace.name()));
        let (socket, theirs) = UnixStream::pair().map_err(wrong)?;
        let mut command = Command::new(program.get_program());
        command.args(program.get_args()).stdin(std::os::fd::OwnedFd::from(theirs));
        let process = namespace.spawn(&mut command)?;
        Ok((Self { socket, process, _namespace: namespace }, device))
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
            let name = format!("{CONTROL}{}_{}", std::process::id(), own.0.len());
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
            let _ = detach(name, true); // `clean` finds what is left
        }
    }
}

/// Removes what testbeds have left whose process is gone: namespaces and controllers; their names.
///
/// # Errors
/// If something cannot be removed.
pub fn clean() -> Result<Vec<String>, Error> {
    let mut removed = namespace::clean()?;
    let wrong = |error: tresse_linux::Error| Error(error.to_string());
    for own in tresse_linux::status().map_err(wrong)?.0 {
        let maker =
            own.kernel_name.strip_prefix(CONTROL).and_then(|rest| rest.split('_').next()?.parse().ok());
        if maker.is_some_and(namespace::is_gone) {
            detach(&own.kernel_name, true).map_err(wrong)?;
            removed.push(own.kernel_name);
        }
    }
    Ok(removed)
}
