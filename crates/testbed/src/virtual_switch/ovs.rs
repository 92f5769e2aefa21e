//! Open vSwitch with its own database and sockets, inside the namespace of the switches.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::layout::Layout;
use super::names::{bridge_name, interface, mac};
use crate::namespace::{self, Error, Namespace};

/// Where the folders of testbeds' switches are.
const RUN: &str = "/run";
const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// How long its processes may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// The switch and its database. Its processes and its folder are removed when this is dropped.
#[derive(Debug)]
pub(super) struct Ovs {
    folder: PathBuf,
    processes: Vec<Child>,
    is_kernel: bool,
}

impl Ovs {
    /// Starts it in a namespace, and builds the bridges of a layout.
    ///
    /// # Errors
    /// Messages of its programs.
    pub fn start(namespace: &Namespace, layout: &Layout) -> Result<Self, Error> {
        let folder = Path::new(RUN).join(namespace::named("ovs"));
        fs::create_dir_all(&folder).map_err(|error| Error(format!("{}: {error}", folder.display())))?;
        // The kernel's datapath if its module is there; loading it would change the machine.
        let is_kernel = Path::new("/sys/module/openvswitch").exists();
        let mut own = Self { folder, processes: Vec::new(), is_kernel };
        let (database, socket) = (own.place("conf.db"), own.socket());
        own.must(Command::new("ovsdb-tool").args(["create", &database, SCHEMA]))?;
        let mut server = Command::new("ovsdb-server");
        server.arg(&database).arg(format!("--remote=p{socket}"));
        own.spawn(namespace, &mut server, "ovsdb-server")?;
        own.wait_for("db.sock")?;
        own.must(own.control().args(["--no-wait", "init"]))?;
        own.spawn(namespace, Command::new("ovs-vswitchd").arg(&socket), "ovs-vswitchd")?;
        own.must(own.control().args(bridges(layout, own.datapath_type())))?;
        for node in layout.nics..layout.nodes {
            own.set_flows(node, layout)?;
        }
        Ok(own)
    }

    /// What forwards its packets.
    pub fn datapath(&self) -> &'static str {
        if self.is_kernel { "kernel" } else { "userspace" }
    }

    fn datapath_type(&self) -> &'static str {
        if self.is_kernel { "system" } else { "netdev" }
    }

    fn place(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn socket(&self) -> String {
        format!("unix:{}", self.place("db.sock"))
    }

    fn control(&self) -> Command {
        let mut command = Command::new("ovs-vsctl");
        command.arg(format!("--db={}", self.socket())).arg(format!("--timeout={}", PATIENCE.as_secs()));
        command
    }

    /// In its own folder instead of the machine's.
    fn here<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for variable in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"] {
            command.env(variable, &self.folder);
        }
        command
    }

    fn must(&self, command: &mut Command) -> Result<(), Error> {
        namespace::run(self.here(command))
    }

    fn spawn(&mut self, namespace: &Namespace, command: &mut Command, name: &str) -> Result<(), Error> {
        let control = format!("--unixctl={}", self.place(&format!("{name}.ctl")));
        let log = format!("--log-file={}", self.place(&format!("{name}.log")));
        command.args([&control, &log, "-vconsole:off"]).stdin(Stdio::null()).stdout(Stdio::null());
        let process = namespace.spawn(self.here(command).stderr(Stdio::null()))?;
        self.processes.push(process);
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "it waits for a process of the system")]
    fn wait_for(&self, name: &str) -> Result<(), Error> {
        let (begun, path) = (Instant::now(), self.folder.join(name));
        while !path.exists() {
            if begun.elapsed() > PATIENCE {
                return Err(Error(format!("Open vSwitch did not start: there is no {}", path.display())));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// The flows of a bridge: one to each interface of a machine.
    fn set_flows(&self, node: u32, layout: &Layout) -> Result<(), Error> {
        let mut lines = String::new();
        for (_, nic, port) in layout.entries().filter(|(bridge, ..)| *bridge == node) {
            let _ = writeln!(lines, "dl_dst={},actions=output:{}", mac(nic), number(port));
        }
        let management = format!("unix:{}", self.place(&format!("{}.mgmt", bridge_name(node))));
        let mut command = Command::new("ovs-ofctl");
        command.args(["add-flows", &management, "-"]).stdin(Stdio::piped()).stderr(Stdio::piped());
        let wrong = |error: std::io::Error| Error(format!("ovs-ofctl: {error}"));
        let mut child = self.here(&mut command).spawn().map_err(wrong)?;
        child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).map_err(wrong)?;
        namespace::done(&child.wait_with_output().map_err(wrong)?, "ovs-ofctl")
    }
}

impl Drop for Ovs {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill(); // it may have ended
            let _ = process.wait();
        }
        let _ = fs::remove_dir_all(&self.folder); // `clean` removes the rest
    }
}

/// The number of a port in OpenFlow, which begins with 1.
fn number(port: u32) -> u32 {
    port + 1
}

/// Arguments of `ovs-vsctl`: all bridges with their ports.
fn bridges(layout: &Layout, datapath: &str) -> Vec<String> {
    let mut lines = String::new();
    for node in layout.nics..layout.nodes {
        let name = bridge_name(node);
        let _ =
            write!(lines, " -- add-br {name} -- set bridge {name} datapath_type={datapath} fail_mode=secure");
    }
    for (port, own) in (0..).zip(&layout.ports).filter(|(_, port)| port.ends[0] >= layout.nics) {
        let (interface, bridge) = (interface(port), bridge_name(own.ends[0]));
        let _ = write!(
            lines,
            " -- add-port {bridge} {interface} -- set interface {interface} ofport_request={}",
            number(port)
        );
    }
    lines.split_whitespace().map(str::to_owned).collect()
}

/// What this machine lacks for Open vSwitch.
pub(super) fn lacks() -> Option<String> {
    let programs = ["ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl"];
    let missing = programs.into_iter().find(|program| !namespace::is_installed(program));
    let missing = missing.or_else(|| (!Path::new(SCHEMA).exists()).then_some(SCHEMA))?;
    Some(format!(
        "Open vSwitch is not installed: there is no {missing}\n\nhint: apt-get install openvswitch-switch"
    ))
}

/// Removes the folders of switches whose testbed is gone; their processes ended with it. Returns their names.
///
/// # Errors
/// If one cannot be removed.
pub(crate) fn clean() -> Result<Vec<String>, Error> {
    let mut removed = Vec::new();
    for name in namespace::left(RUN) {
        let path = Path::new(RUN).join(&name);
        fs::remove_dir_all(&path).map_err(|error| Error(format!("{}: {error}", path.display())))?;
        removed.push(path.display().to_string());
    }
    Ok(removed)
}
