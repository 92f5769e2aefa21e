//! Network namespaces for hosts, and their interfaces.

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use nix::sched::{CloneFlags, setns};
use nix::unistd::{Pid, getpid, getppid};
use tresse_linux::doctor::{Check, State, doctor};
use tun_rs::{DeviceBuilder, SyncDevice};

/// The prefix of the names of testbeds' namespaces, followed by the number of the process that made them.
const PREFIX: &str = "tresse-bed-";
const NAMED: &str = "/run/netns";

/// The interface of a host.
const INTERFACE: &str = "fabric";

/// What the machine lacks or refuses.
#[derive(Debug)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Lets this process, which has just been forked, die with its parent.
fn die_with(parent: Pid) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    // It may have died before.
    if getppid() == parent { Ok(()) } else { Err(nix::errno::Errno::ESRCH.into()) }
}

/// A network namespace, which is removed when this is dropped.
#[derive(Debug)]
pub struct Namespace {
    name: String,
}

impl Namespace {
    /// Creates one for the host called `host`, with its loopback up.
    ///
    /// # Errors
    /// Without root, or if `ip` is not installed.
    pub fn create(host: &str) -> Result<Self, Error> {
        let own = Self { name: named(host) };
        let mut add = Command::new("ip");
        add.args(["netns", "add", &own.name]);
        // If this process is killed, no namespace comes after `tresse testbed clean` has looked for them.
        let parent = getpid();
        // SAFETY: between fork and exec there are only system calls.
        unsafe {
            add.pre_exec(move || die_with(parent));
        }
        run(&mut add)?;
        own.ip("link set lo up\n")?;
        Ok(own)
    }

    /// Its name in `ip netns`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives it the interface to the fabric, with these addresses, and a route to everything else over it.
    ///
    /// # Errors
    /// If the system refuses, or there are no TUN devices.
    pub fn join(&self, addresses: &[Ipv4Addr], mtu: u16) -> Result<SyncDevice, Error> {
        let device = self.within(|| DeviceBuilder::new().name(INTERFACE).mtu(mtu).build_sync())?;
        let device = device.map_err(|error| Error(format!("a TUN device: {error}\n\nhint: modprobe tun")))?;
        let mut lines = String::new();
        for address in addresses {
            lines += &format!("address add {address}/32 dev {INTERFACE}\n");
        }
        // One packet at a time: otherwise the stack would wait for a third of a window to send it at once,
        // and split it up later.
        lines += &format!("link set {INTERFACE} up gso_max_segs 1\n");
        if let Some(first) = addresses.first() {
            lines += &format!("route add default dev {INTERFACE} src {first}\n");
        }
        self.ip(&lines)?;
        Ok(device)
    }

    /// Executes these commands with `ip` in it, one per line.
    ///
    /// # Errors
    /// The error message of `ip`.
    pub fn ip(&self, lines: &str) -> Result<(), Error> {
        self.batch("ip", lines)
    }

    /// The same with a program of iproute2.
    pub(crate) fn batch(&self, program: &str, lines: &str) -> Result<(), Error> {
        let mut child = Command::new(program);
        child.args(["-netns", &self.name, "-batch", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped());
        let wrong = |error: io::Error| Error(format!("{program}: {error}"));
        let mut child = child.spawn().map_err(wrong)?;
        // A command that fails ends the program, which then reads no more.
        let written = child.stdin.take().expect("a pipe").write_all(lines.as_bytes());
        done(&child.wait_with_output().map_err(wrong)?, program)?;
        written.map_err(wrong)
    }

    /// Runs a program in it until it ends.
    pub(crate) fn run(&self, command: &mut Command) -> Result<(), Error> {
        self.within(|| run(command))?
    }

    /// Sets a `net.` sysctl of it, such as `ipv4/tcp_ecn`.
    ///
    /// # Errors
    /// If the kernel has none of this name, or refuses.
    pub fn sysctl(&self, name: &str, value: &str) -> Result<(), Error> {
        let path = format!("/proc/sys/net/{name}");
        let written = self.within(|| fs::write(&path, value))?;
        written.map_err(|error| Error(format!("{path} = {value}: {error}")))
    }

    /// Starts a program in it, which ends with this process. A terminal's Ctrl-C reaches only this process.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(&self, command: &mut Command) -> Result<Child, Error> {
        let file = self.file()?;
        command.process_group(0);
        let parent = getpid();
        // SAFETY: between fork and exec there are only system calls.
        unsafe {
            command.pre_exec(move || {
                die_with(parent)?;
                Ok(setns(&file, CloneFlags::CLONE_NEWNET)?)
            });
        }
        command.spawn().map_err(|error| Error(format!("{}: {error}", command.get_program().display())))
    }

    /// Does `work` in it, on a separate thread: a socket that is created there stays there.
    ///
    /// # Errors
    /// If it cannot be entered.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        let file = self.file()?;
        let done = std::thread::scope(|scope| {
            let entered = scope.spawn(|| setns(file, CloneFlags::CLONE_NEWNET).map(|()| work()));
            entered.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        done.map_err(|error| Error(format!("network namespace {}: {error}", self.name)))
    }

    fn file(&self) -> Result<File, Error> {
        let path = PathBuf::from(NAMED).join(&self.name);
        File::open(&path).map_err(|error| Error(format!("{}: {error}", path.display())))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = remove(&self.name); // `clean` removes the rest
    }
}

fn remove(name: &str) -> Result<(), Error> {
    run(Command::new("ip").args(["netns", "delete", name]))
}

/// Whether there is no process with this number.
pub(crate) fn is_gone(process: i32) -> bool {
    nix::sys::signal::kill(Pid::from_raw(process), None).is_err()
}

/// The name of a part of this process's testbed.
pub(crate) fn named(part: &str) -> String {
    format!("{PREFIX}{}-{part}", std::process::id())
}

/// Names in a folder that are those of testbeds whose process is gone.
pub(crate) fn left(folder: &str) -> Vec<String> {
    let names = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_left = |name: &String| {
        let maker = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()?.parse().ok());
        maker.is_some_and(is_gone)
    };
    names.filter(is_left).collect()
}

/// Removes the namespaces of testbeds whose process is gone. Returns their names.
///
/// # Errors
/// If one cannot be removed.
pub(crate) fn clean() -> Result<Vec<String>, Error> {
    let left = left(NAMED);
    left.iter().try_for_each(|name| remove(name))?;
    Ok(left)
}

/// Whether a program can be started.
pub(crate) fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).output().is_ok()
}

/// Runs a program until it ends.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    let name = command.get_program().display().to_string();
    let told = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Error(format!("{name} is not installed\n\nhint: apt-get install iproute2"))
        }
        _ => Error(format!("{name}: {error}")),
    })?;
    done(&told, &name)
}

/// Whether a program has succeeded.
pub(crate) fn done(told: &Output, name: &str) -> Result<(), Error> {
    if told.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&told.stderr);
    Err(Error(format!("{name}: {}", said.trim())))
}

/// What this machine lacks for a testbed, and how to fix it; `None` if it lacks nothing.
pub(crate) fn lacks() -> Option<String> {
    if !nix::unistd::Uid::effective().is_root() {
        return Some(
            "a testbed creates network namespaces and attaches controllers\n\nhint: run it as root"
                .to_owned(),
        );
    }
    for (file, hint) in [
        ("/dev/net/tun", "TUN devices (CONFIG_TUN): `modprobe tun`"),
        ("/proc/sys/net/mptcp/enabled", "Multipath TCP (CONFIG_MPTCP)"),
    ] {
        if !PathBuf::from(file).exists() {
            return Some(format!("this machine has no {file}\n\nhint: its kernel needs {hint}"));
        }
    }
    if let Err(error) = run(Command::new("ip").arg("-V")) {
        return Some(error.to_string());
    }
    let needed = |own: &Check| ["attach", "mptcp"].contains(&own.needed_for);
    let lack = doctor().into_iter().find(|own| needed(own) && own.state == State::Lacks)?;
    let hint = lack.remedy.map(|remedy| format!("\n\nhint: {remedy}")).unwrap_or_default();
    Some(format!("{}: {}{hint}", lack.name, lack.found))
}
