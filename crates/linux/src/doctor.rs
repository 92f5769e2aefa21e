//! `tresse doctor`: what this machine can do, determined by trying.

use std::ffi::c_int;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use libbpf_rs::{TC_EGRESS, TcHook};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;
use serde::Serialize;
use tresse_controllers::{ConfiguredController, find};

use crate::compile::clang;
use crate::{Error, bpffs, check};

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is available.
    Ok,
    /// It is missing, and something does not work without it.
    Lacks,
    /// For information; everything else works.
    Note,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is, in one or two words.
    pub name: &'static str,
    /// What needs it: `simulate`, `attach`, `mptcp`, `ecn`, `mark`, `testbed`, `plot, tune`.
    pub needed_for: &'static str,
    pub state: State,
    /// What was found.
    pub found: String,
    /// How to fix it, in one line.
    pub remedy: Option<String>,
}

impl Check {
    fn ok(name: &'static str, needed_for: &'static str, found: impl Into<String>) -> Self {
        Self { name, needed_for, state: State::Ok, found: found.into(), remedy: None }
    }

    fn with(self, state: State, remedy: impl Into<String>) -> Self {
        Self { state, remedy: Some(remedy.into()), ..self }
    }

    fn lacks(self, remedy: impl Into<String>) -> Self {
        self.with(State::Lacks, remedy)
    }

    fn note(self, remedy: impl Into<String>) -> Self {
        self.with(State::Note, remedy)
    }
}

/// Checks everything that any command needs. Changes nothing.
pub fn doctor() -> Vec<Check> {
    let mut checks =
        vec![Check::ok("simulator", "simulate", "needs nothing from the machine"), kernel(), root(), btf()];
    checks.extend([jit(), lockdown(), file_system()]);
    checks.extend([loads("struct_ops", "attach", "reno"), loads("siblings", "mptcp", "lia"), compiler()]);
    checks.extend([mptcp(), path_manager(), ecn(), accecn(), marker()]);
    checks.extend([namespaces(), tun()]);
    checks.extend(
        [("ip", "iproute2"), ("tc", "iproute2"), ("iperf3", "iperf3"), ("mptcpize", "mptcpize")]
            .map(|(tool, package)| program(tool, package)),
    );
    checks.push(open_vswitch());
    checks
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn kernel() -> Check {
    let release = read("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned());
    let mut numbers = release.split(['.', '-']).map(|n| n.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let check = Check::ok("kernel", "attach", release);
    if version < (6, 12) {
        check.lacks("Linux 6.12 or later (Debian 12 has one in bookworm-backports)")
    } else {
        check
    }
}

fn root() -> Check {
    let found = if geteuid().is_root() { "root" } else { "not root" };
    let check = Check::ok("permission", "attach", found);
    if geteuid().is_root() { check } else { check.lacks("run it as root (sudo tresse …)") }
}

fn btf() -> Check {
    const FILE: &str = "/sys/kernel/btf/vmlinux";
    let check = |found: &str| Check::ok("type information", "attach", found);
    let remedy = "a kernel with CONFIG_DEBUG_INFO_BTF=y, as in every distribution";
    match fs::read(FILE) {
        // BTF's magic number, in the order of bytes of this machine.
        Ok(bytes) if bytes.starts_with(&0xeb9f_u16.to_ne_bytes()) => check(FILE),
        Ok(_) => check(&format!("{FILE} has none")).lacks(remedy),
        Err(e) => check(&format!("{FILE}: {e}")).lacks(remedy),
    }
}

fn jit() -> Check {
    match read("/proc/sys/net/core/bpf_jit_enable").as_deref() {
        Some("0") => Check::ok("JIT", "attach", "off: hooks are interpreted")
            .lacks("sysctl net.core.bpf_jit_enable=1 (struct_ops needs it)"),
        Some(value) => Check::ok("JIT", "attach", format!("net.core.bpf_jit_enable = {value}")),
        None => Check::ok("JIT", "attach", "net.core.bpf_jit_enable cannot be read").note("read it as root"),
    }
}

fn lockdown() -> Check {
    let check = |found: &str| Check::ok("lockdown", "attach", found);
    match read("/sys/kernel/security/lockdown") {
        Some(text) if text.contains("[confidentiality]") => {
            check("confidentiality: eBPF may not read the kernel")
                .lacks("boot with lockdown=integrity or none")
        }
        Some(text) => check(&text),
        None => check("none"),
    }
}

fn file_system() -> Check {
    let check = |found: &str| Check::ok("BPF file system", "attach", found);
    match bpffs::look() {
        Ok(found) => check(found),
        Err(Error::Input(message) | Error::Machine(message)) => {
            let (found, remedy) = message.split_once("\n\nhint: ").unwrap_or((&message, "run it as root"));
            check(found).lacks(remedy)
        }
    }
}

/// Passes the eBPF build of a controller to the verifier.
fn loads(name: &'static str, needed_for: &'static str, controller: &str) -> Check {
    let scheme = ConfiguredController::new(find(controller).expect("it is built in"), [])
        .expect("defaults are in range");
    match check::check(&scheme) {
        Ok(programs) => {
            let total: u32 = programs.iter().map(|p| p.verified_instructions).sum();
            Check::ok(
                name,
                needed_for,
                format!("the verifier accepts {controller} ({total} instructions walked)"),
            )
        }
        Err(Error::Input(message) | Error::Machine(message)) => {
            let first = message.lines().next().unwrap_or_default().to_owned();
            let remedy = if geteuid().is_root() {
                "Linux 6.12 or later with CONFIG_BPF_SYSCALL, CONFIG_DEBUG_INFO_BTF and CONFIG_MPTCP"
            } else {
                "run it as root: loading needs CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_SYS_ADMIN"
            };
            Check::ok(name, needed_for, first).lacks(remedy)
        }
    }
}

fn compiler() -> Check {
    match clang() {
        Some(name) => Check::ok("compiler", "attach", format!("{name}, for your own controllers")),
        None => Check::ok("compiler", "attach", "no clang: only built-in controllers can be attached")
            .lacks("apt-get install clang-16"),
    }
}

fn mptcp() -> Check {
    let check = |found: &str| Check::ok("MPTCP", "mptcp", found);
    const IPPROTO_MPTCP: c_int = 262;
    // SAFETY: plain system calls; the descriptor is closed at once.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, IPPROTO_MPTCP) };
    if socket >= 0 {
        // SAFETY: as above.
        unsafe { libc::close(socket) };
        return check("IPPROTO_MPTCP sockets can be created");
    }
    match read("/proc/sys/net/mptcp/enabled").as_deref() {
        Some("0") => check("switched off").lacks("sysctl net.mptcp.enabled=1"),
        Some(_) => check("no socket can be created").lacks("ulimit -n, or the log of the kernel"),
        None => check("the kernel has none").lacks("a kernel with CONFIG_MPTCP=y"),
    }
}

fn path_manager() -> Check {
    let check = |found: String| Check::ok("path manager", "mptcp", found);
    let output = Command::new("ip").args(["mptcp", "limits", "show"]).output();
    match output {
        Ok(output) if output.status.success() => {
            let limits = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let subflows = limits.split("subflows ").nth(1).and_then(|n| n.trim().parse::<u32>().ok());
            let found = format!("the kernel's, limits: {limits}");
            if subflows == Some(0) {
                check(found).note("ip mptcp limits set subflows 8 (otherwise there is no second subflow)")
            } else {
                check(found)
            }
        }
        Ok(output) => check(String::from_utf8_lossy(&output.stderr).trim().to_owned())
            .lacks("a kernel with CONFIG_MPTCP=y, and net.mptcp.enabled=1"),
        Err(_) => check("unknown: `ip` is not installed".to_owned()).lacks("apt-get install iproute2"),
    }
}

fn ecn() -> Check {
    let check = |found: String| Check::ok("ECN", "ecn", found);
    match read("/proc/sys/net/ipv4/tcp_ecn").as_deref() {
        Some("0") => check("net.ipv4.tcp_ecn = 0".to_owned()).note(
            "controllers that need ECN switch it on for their own sockets; sysctl net.ipv4.tcp_ecn=1 for all",
        ),
        Some(value) => check(format!("net.ipv4.tcp_ecn = {value}")),
        None => check("net.ipv4.tcp_ecn cannot be read".to_owned()).note("read it as root"),
    }
}

/// Whether the kernel accepts `net.ipv4.tcp_ecn = 3`; tried in a temporary network namespace.
fn accecn() -> Check {
    let check = |found: &str| Check::ok("AccECN", "ecn", found);
    let remedy = "an exact echo then needs the controller at both ends";
    match apart(|| fs::write("/proc/sys/net/ipv4/tcp_ecn", "3")) {
        Some(Ok(())) => check("the kernel has it"),
        Some(Err(e)) if e.kind() == ErrorKind::InvalidInput => check("the kernel has none").note(remedy),
        _ => check("not tried").note("run it as root"),
    }
}

fn marker() -> Check {
    let check = |found: &str| Check::ok("clsact", "mark", found);
    let tried = apart(|| {
        let mut hook = TcHook::new(std::os::fd::AsFd::as_fd(&std::io::stdin()));
        hook.ifindex(1).attach_point(TC_EGRESS);
        hook.create().map(drop)
    });
    match tried {
        Some(Ok(())) => check("filters can be put on a device's egress"),
        Some(Err(e)) => {
            check(&e.to_string()).lacks("a kernel with CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF")
        }
        None => check("not tried").note("run it as root"),
    }
}

fn namespaces() -> Check {
    let check = |found: &str| Check::ok("network namespaces", "testbed", found);
    match apart(|| Path::new("/proc/net/dev").exists()) {
        Some(_) => check("can be created"),
        None => check("cannot be created").lacks("run it as root, on a kernel with CONFIG_NET_NS=y"),
    }
}

fn tun() -> Check {
    const FILE: &str = "/dev/net/tun";
    let check = |found: &str| Check::ok("TUN devices", "testbed", found);
    if Path::new(FILE).exists() { check(FILE) } else { check("none").lacks("modprobe tun (CONFIG_TUN)") }
}

fn program(name: &'static str, package: &'static str) -> Check {
    // `ip` and `tc` know -V, the others --version; it only matters that it starts.
    match Command::new(name).arg("-V").output() {
        Ok(_) => Check::ok(name, "testbed", "installed"),
        Err(_) => Check::ok(name, "testbed", "not installed").lacks(format!("apt-get install {package}")),
    }
}

fn open_vswitch() -> Check {
    let check = |found: &str| Check::ok("Open vSwitch", "testbed", found);
    match Command::new("ovs-vswitchd").arg("-V").output() {
        Ok(_) => check("installed"),
        Err(_) => check("not installed").note("apt-get install openvswitch-switch, for `--switch ovs` only"),
    }
}

/// Does `work` in a separate network namespace, which ends with it; `None` if it cannot be created.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| unshare(CloneFlags::CLONE_NEWNET).ok().map(|()| work()));
        thread.join().expect("the work does not panic")
    })
}
