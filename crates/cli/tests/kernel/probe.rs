//! What this machine has: asked once, and said when something is missing.

use std::io::{self, Write};
use std::process::Command;
use std::sync::OnceLock;

use crate::namespace::{self, Namespace};

/// True if the tests can run here; if not, says in one line why `test` is skipped.
pub fn ready(test: &str) -> bool {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let missing = MISSING.get_or_init(missing);
    if let Some(missing) = missing {
        say(&format!("skipped: {test}: {missing}"));
    }
    missing.is_none()
}

/// Writes a line to standard error past the test harness, which keeps to itself what passing tests print.
pub fn say(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}

/// True in `make test-all`, which takes every test at full length.
pub fn at_full_length() -> bool {
    std::env::var_os("TRESSE_TEST_ALL").is_some()
}

/// True if `program` can be started.
pub fn has(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_ok()
}

fn missing() -> Option<String> {
    // SAFETY: geteuid has no arguments and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return Some("root is missing (run the tests as root)".into());
    }
    for program in ["ip", "tc", "ss"] {
        if !has(program) {
            return Some(format!("{program} is missing (apt-get install iproute2)"));
        }
    }
    namespace::sweep();
    if !Command::new("ip").args(["netns", "add", "trk0-probe"]).output().is_ok_and(|o| o.status.success()) {
        return Some("the right to make network namespaces is missing (CAP_SYS_ADMIN, CONFIG_NET_NS)".into());
    }
    drop(Command::new("ip").args(["netns", "delete", "trk0-probe"]).output());
    lacking_in(&Namespace::create("probe"))
}

/// What the kernel lacks, tried in a namespace.
fn lacking_in(place: &Namespace) -> Option<String> {
    let works = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(["-n", place.name()]).args(args).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !place.enter(|| std::path::Path::new("/proc/sys/net/mptcp/enabled").exists()) {
        return Some("MPTCP is missing (a kernel with CONFIG_MPTCP)".into());
    }
    if !works("ip", &["mptcp", "limits", "set", "subflow", "8", "add_addr_accepted", "0"]) {
        return Some("`ip mptcp` is missing (iproute2 5.10 or later)".into());
    }
    if !works("ip", &["link", "add", "va", "type", "veth", "peer", "name", "vb"]) {
        return Some("veth is missing (a kernel with CONFIG_VETH)".into());
    }
    if !works(
        "tc",
        &"qdisc add dev va root tbf rate 20mbit burst 7570 limit 60560".split(' ').collect::<Vec<_>>(),
    ) {
        return Some("the TBF qdisc is missing (a kernel with CONFIG_NET_SCH_TBF)".into());
    }
    if !works("ip", &["rule", "add", "from", "10.1.0.1", "lookup", "100"]) {
        return Some("policy routing is missing (a kernel with CONFIG_IP_MULTIPLE_TABLES)".into());
    }
    None
}

/// How often a test tries something: as the environment says, for a run by hand.
#[expect(clippy::disallowed_methods, reason = "who runs a test by hand has no other way to say it")]
pub fn asked(variable: &str) -> Option<usize> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a whole number, not {text}")))
}
