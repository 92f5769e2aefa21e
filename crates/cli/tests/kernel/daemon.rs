//! `tresse daemon` on live connections.

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::clock::{now, sleep, wait_for};
use crate::control::{Control, json};
use crate::ecmp::Ecmp;
use crate::flow::Flow;
use crate::namespace::Namespace;
use crate::probe::{ready, say};
use crate::repeat::beside;
use crate::testbed::{Path, Plan, Testbed};

/// A daemon that begins puts back what any killed one has changed: none may while a test looks at just that.
static BEGINNING: RwLock<()> = RwLock::new(());

/// A daemon, which ends with this.
pub struct Daemon {
    folder: TempDir,
    child: Child,
    log: PathBuf,
}

impl Daemon {
    /// Of these namespaces, with the text of its policies.
    pub fn start(namespaces: &[&str], policies: &str, arguments: &[&str]) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let own = folder.path().to_owned();
        let config = format!(
            "[daemon]\nnamespaces = {namespaces:?}\nsocket = {:?}\nmetrics = {:?}\n{policies}",
            own.join("socket"),
            own.join("metrics.prom")
        );
        fs::write(own.join("daemon.toml"), config).expect("it can be written");
        let log = own.join("log");
        let _beginning = BEGINNING.read().unwrap_or_else(PoisonError::into_inner);
        let child = spawn(&own, arguments);
        let mut daemon = Self { folder, child, log };
        daemon.wait();
        daemon
    }

    /// Until it answers: its socket is there before it has its namespaces, whose connections are the kernel's until then.
    fn wait(&mut self) {
        let socket = self.folder.path().join("socket");
        let answers = |mut stream: UnixStream| {
            stream.set_read_timeout(Some(Duration::from_secs(10))).is_ok()
                && stream.read_exact(&mut [0]).is_ok()
        };
        if !wait_for(10.0, || UnixStream::connect(&socket).is_ok_and(answers)) {
            panic!("the daemon does not answer: {}", self.log());
        }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub fn status(&self) -> Value {
        let socket = self.folder.path().join("socket");
        json(&["status", "--daemon", socket.to_str().expect("a path")])["daemon"].clone()
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: kill takes two integers.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }

    /// Killed, and started again at once.
    fn again(&mut self) {
        self.signal(libc::SIGKILL);
        self.child.wait().expect("it is ours");
        let _beginning = BEGINNING.read().unwrap_or_else(PoisonError::into_inner);
        self.child = spawn(self.folder.path(), &[]);
        self.wait();
    }

    fn configure(&self, change: impl FnOnce(String) -> String) {
        let file = self.folder.path().join("daemon.toml");
        let text = fs::read_to_string(&file).expect("it is there");
        fs::write(&file, change(text)).expect("it can be written");
        self.signal(libc::SIGHUP);
    }

    /// Whether the log says so within 15 seconds.
    fn says(&self, text: &str) -> bool {
        wait_for(15.0, || self.log().contains(text))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.signal(libc::SIGTERM);
        drop(self.child.wait());
    }
}

fn spawn(folder: &std::path::Path, arguments: &[&str]) -> Child {
    let log = fs::File::options().create(true).append(true).open(folder.join("log")).expect("a log");
    Command::new(env!("CARGO_BIN_EXE_tresse"))
        .args(["daemon", "--config"])
        .arg(folder.join("daemon.toml"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the command starts")
}

/// Whether a connection comes to have `subflows` subflows.
pub fn has(flow: &Flow, subflows: usize) -> bool {
    wait_for(5.0, || flow.subflows().len() == subflows)
}

/// A policy for all connections.
pub fn fixed(subflows: usize) -> String {
    format!("[[policy]]\nname = \"all\"\nmanager = \"fixed\"\nparameters = {{ subflows = {subflows} }}\n")
}

/// Paths that carry at least a twentieth of what the busiest one does.
fn used(before: &[u64], after: &[u64]) -> usize {
    let sent: Vec<u64> = before.iter().zip(after).map(|(b, a)| a - b).collect();
    let most = sent.iter().max().copied().unwrap_or(0);
    sent.iter().filter(|&&own| own * 20 >= most).count()
}

/// The path that carries most for a second.
fn busiest(net: &Ecmp) -> usize {
    let before = net.bytes();
    sleep(1.0);
    let after = net.bytes();
    (0..after.len()).max_by_key(|&path| after[path] - before[path]).expect("there are paths")
}

#[test]
fn fixed_opens_n_subflows_on_one_pair_of_addresses_and_ecmp_spreads_them() {
    if !ready("fixed_opens_n_subflows_on_one_pair_of_addresses_and_ecmp_spreads_them") {
        return;
    }
    let net = Ecmp::new(8, 20);
    let mut spread = Vec::new();
    for n in 1..=8 {
        let daemon = Daemon::start(&[net.sender.name()], &fixed(n), &[]);
        let flow = net.connect();
        assert!(has(&flow, n), "{n} subflows: {:?}\n{}", flow.subflows(), daemon.log());
        let mut pairs: Vec<_> = flow.subflows().iter().map(|own| own.local).collect();
        pairs.dedup();
        assert_eq!(pairs.len(), 1, "one address");
        let before = net.bytes();
        sleep(1.0);
        spread.push(used(&before, &net.bytes()));
    }
    assert_eq!(spread[0], 1, "one subflow has one path");
    // Eight subflows on eight paths at random have fewer than three of them once in 10,000 times.
    assert!(spread[7] >= 3, "{spread:?}");
    // The kernel decides again when the daemon has gone.
    assert_eq!(net.sender.read_sysctl("mptcp/pm_type"), "0");
}

/// The kernel's own path manager accepts at most 8 subflows a connection; a daemon at the other host accepts all.
#[test]
fn a_daemon_at_both_ends_has_more_than_eight_subflows() {
    if !ready("a_daemon_at_both_ends_has_more_than_eight_subflows") {
        return;
    }
    for (both, subflows) in [(true, 20), (false, 9)] {
        let net = Ecmp::new(2, 20);
        let hosts = [net.sender.name(), net.receiver.name()];
        let _daemon = Daemon::start(if both { &hosts } else { &hosts[..1] }, &fixed(20), &[]);
        let flow = net.connect();
        wait_for(10.0, || flow.subflows().len() == subflows);
        // The sender holds a subflow for open until the other host's reset comes, so all may be there for a moment.
        sleep(2.0);
        assert_eq!(flow.subflows().len(), subflows, "a daemon at both ends: {both}");
    }
}

#[test]
fn opn_leaves_a_path_that_is_cut_and_every_connection_goes_on() {
    if !ready("opn_leaves_a_path_that_is_cut_and_every_connection_goes_on") {
        return;
    }
    let policy = |shift: &str| {
        format!(
            "[[policy]]\nname = \"all\"\nmanager = \"opn-shifting\"\npaths = 6\nshift = \"{shift}\"\n\
             parameters = {{ timer_1 = \"fixed\", delta = 200000, timer_2 = 3000000 }}\n"
        )
    };
    for shift in ["backup", "reopen"] {
        let net = Ecmp::new(4, 20);
        let daemon = Daemon::start(&[net.sender.name()], &policy(shift), &[]);
        let flows: Vec<Flow> = (0..3).map(|_| net.connect()).collect();
        // Opened, not open: one whose first packets are all lost is SLOW, and away, until its timer allows it back.
        let opened = || daemon.status()["counters"]["opens"].as_u64() >= Some(15);
        assert!(wait_for(5.0, opened), "{}", daemon.log());
        let busiest = busiest(&net);
        let before = net.bytes();
        let slow = || daemon.log().matches("its path is SLOW").count();
        let slow_before = slow();
        net.cut(busiest, true);
        assert!(wait_for(15.0, || slow() > slow_before), "{shift}: {}", daemon.log());
        // What waited for the path's packets has been read by then.
        sleep(2.0);
        for flow in &flows {
            // What a connection receives, for a subflow that is closed takes its counters with it. It is not about how
            // fast: on a machine with other work one with subflows on FAST paths received nothing for 6 s. Whenever
            // timer_2 ends, data is sent into the cut path again; what else delays Linux there was not traced.
            let (then, start) = (flow.received(), now());
            let goes_on = wait_for(60.0, || flow.received() > then + 1_000_000);
            assert!(goes_on, "{shift}: a connection stands still\n{}", daemon.log());
            if start.elapsed().as_secs() >= 5 {
                say(&format!("{shift}: a connection was late by {:?}", start.elapsed()));
            }
        }
        net.cut(busiest, false);
        assert!(daemon.says("FAST again"), "{shift}: {}", daemon.log());
        assert!(net.bytes().iter().sum::<u64>() > before.iter().sum());
    }
}

#[test]
fn an_alarm_finds_a_silent_subflow_where_no_look_does() {
    let name = "an_alarm_finds_a_silent_subflow_where_no_look_does";
    if !ready(name) {
        return;
    }
    if !fs::read_to_string("/proc/self/mounts").is_ok_and(|mounts| mounts.contains(" cgroup2 ")) {
        return say(&format!("skipped: {name}: control groups of version 2 are not mounted"));
    }
    // Nobody looks again while the test runs.
    let policy = |alarms: bool| {
        format!(
            "look = \"3600s\"\nalarms = {alarms}\n[[policy]]\nname = \"all\"\nmanager = \"opn-shifting\"\npaths = 6\n\
             parameters = {{ timer_1 = \"fixed\", delta = 300000, timer_2 = 60000000 }}\n"
        )
    };
    for alarms in [true, false] {
        let net = Ecmp::new(4, 20);
        let daemon = Daemon::start(&[net.sender.name()], &policy(alarms), &[]);
        let flow = net.connect();
        assert!(wait_for(5.0, || flow.subflows().len() >= 5), "{}", daemon.log());
        let busiest = busiest(&net);
        let slow = || daemon.log().matches("its path is SLOW").count();
        let slow_before = slow();
        net.cut(busiest, true);
        let found = wait_for(if alarms { 10.0 } else { 2.0 }, || slow() > slow_before);
        let rung = daemon.status()["counters"]["alarms"].as_u64();
        assert_eq!((found, rung > Some(0)), (alarms, alarms), "{}\n{}", daemon.log(), daemon.status());
    }
}

#[test]
fn path_sharing_closes_a_subflow_where_two_share_a_bottleneck_and_none_where_they_do_not() {
    if !ready("path_sharing_closes_a_subflow_where_two_share_a_bottleneck_and_none_where_they_do_not") {
        return;
    }
    // Here slow start alone makes 200 marks, which tell nothing: the detection waits for more.
    let policy = "[[policy]]\nname = \"all\"\nmanager = \"path-sharing\"\naddresses = [\"10.1.1.1\"]\n\
                  parameters = { gamma = 500, theta = 450, delta = 50 }\n";
    // Others look for controls that are left.
    let _beside = beside();
    let control = Control::attach("xmp");
    let path = Path::marking(20, 20);
    // A bottleneck of another kind: it marks nothing, whatever the RTTs are when the detection looks.
    let narrow = Path::drop_tail(8, 40);
    let shares =
        |daemon: &Daemon| daemon.status()["decisions"].to_string().contains("shares a bottleneck with");
    {
        let bed = Testbed::new(&Plan { paths: &[path], subflows: &[0, 0], control: control.name() });
        let daemon = Daemon::start(&[bed.sender.name()], policy, &[]);
        // The detection compares once in the life of a connection. On a busy machine slow start can make all 500
        // marks, while the first subflow's smoothed RTT is still that of a queue which the second never saw
        // (119 and 36 ms in 1 of 30 connections): one of three is to be found.
        let closed = (0..3).any(|_| {
            let flow = bed.connect();
            wait_for(10.0, || flow.subflows().len() == 1)
        });
        assert!(closed && shares(&daemon), "{}\n{}", daemon.log(), daemon.status());
    }
    {
        let bed = Testbed::new(&Plan { paths: &[path, narrow], subflows: &[0, 1], control: control.name() });
        let daemon = Daemon::start(&[bed.sender.name()], policy, &[]);
        let flow = bed.connect();
        let closed = wait_for(10.0, || flow.subflows().len() == 1);
        assert!(!closed && !shares(&daemon), "{}\n{}", daemon.log(), daemon.status());
    }
}

#[test]
fn a_daemon_that_was_killed_adopts_live_connections_and_follows_its_file() {
    if !ready("a_daemon_that_was_killed_adopts_live_connections_and_follows_its_file") {
        return;
    }
    let net = Ecmp::new(4, 20);
    let mut daemon = Daemon::start(&[net.sender.name()], &fixed(3), &[]);
    let first = net.connect();
    assert!(has(&first, 3));
    daemon.again();
    let status = daemon.status();
    assert_eq!(status["connections"].as_array().map(Vec::len), Some(1), "{status}");
    assert_eq!(status["connections"][0]["subflows"].as_array().map(Vec::len), Some(3), "{status}");
    sleep(0.5);
    assert_eq!(first.subflows().len(), 3, "it opens none twice");

    daemon.configure(|text| text.replace("subflows = 3", "subflow = 5"));
    assert!(daemon.says("the configuration stays as it was"), "{}", daemon.log());
    daemon.configure(|text| text.replace("subflow = 5", "subflows = 5"));
    assert!(daemon.says("was reloaded"), "{}", daemon.log());
    let second = net.connect();
    assert!(has(&second, 5), "{}", daemon.log());
    assert_eq!(first.subflows().len(), 3, "what is managed keeps what it has");
}

#[test]
fn short_flows_limits_dry_runs_and_refusals_open_nothing() {
    if !ready("short_flows_limits_dry_runs_and_refusals_open_nothing") {
        return;
    }
    let net = Ecmp::new(2, 8);
    let sender = [net.sender.name()];
    {
        // A megabyte a second: three of them take longer than the sleep, and much less than `has` waits.
        let daemon = Daemon::start(&sender, &format!("{}after = \"3MB\"\n", fixed(2)), &[]);
        let flow = net.connect();
        sleep(0.5);
        assert_eq!(flow.subflows().len(), 1, "it has not sent enough");
        assert!(has(&flow, 2), "{}", daemon.log());
    }
    {
        let daemon = Daemon::start(&sender, &format!("{}subflows = 2\n", fixed(4)), &[]);
        let flow = net.connect();
        assert!(daemon.says("policy all allows 2 subflows"), "{}", daemon.log());
        assert!(has(&flow, 2));
    }
    {
        let daemon = Daemon::start(&sender, &fixed(4), &["--dry-run"]);
        let flow = net.connect();
        assert!(daemon.says("dry_run=true"), "{}", daemon.log());
        sleep(0.5);
        assert_eq!(flow.subflows().len(), 1, "{}", daemon.log());
        assert_eq!(net.sender.read_sysctl("mptcp/pm_type"), "0");
    }
    {
        net.receiver.ip("mptcp limits set subflows 0 add_addr_accepted 0\n");
        let daemon = Daemon::start(&sender, &fixed(2), &[]);
        let flow = net.connect();
        assert!(daemon.says("opened from"), "{}", daemon.log());
        sleep(1.0);
        assert_eq!(flow.subflows().iter().filter(|own| own.mptcp).count(), 1, "the other host accepts none");
        goes_on(&flow);
    }
    {
        // The kernel refuses a subflow from an address that the host does not have.
        let policy = "[[policy]]\nname = \"all\"\nmanager = \"fixed\"\naddresses = [\"10.99.0.1\"]\n\
                      parameters = { subflows = 2, by = \"address\" }\n";
        let daemon = Daemon::start(&sender, policy, &[]);
        let flow = net.connect();
        assert!(daemon.says("not subflow 1 opened from 10.99.0.1"), "{}", daemon.log());
        assert_eq!(daemon.status()["counters"]["refused"], 1, "{}", daemon.status());
        assert_eq!(flow.subflows().len(), 1);
        goes_on(&flow);
    }
}

fn goes_on(flow: &Flow) {
    let before = flow.subflows()[0].acked;
    sleep(1.0);
    assert!(flow.subflows()[0].acked > before, "the connection stands still");
}

#[test]
fn a_namespace_may_vanish_and_come_back() {
    if !ready("a_namespace_may_vanish_and_come_back") {
        return;
    }
    let net = Ecmp::new(2, 20);
    let other = Ecmp::new(2, 20);
    let gone = other.sender.name().to_owned();
    let daemon = Daemon::start(&[net.sender.name(), &gone], &fixed(2), &[]);
    let flow = net.connect();
    let theirs = other.connect();
    assert!(has(&flow, 2) && has(&theirs, 2), "{}", daemon.log());
    drop(theirs);
    drop(other);
    assert!(daemon.says("the namespace has disappeared"), "{}", daemon.log());
    let third = net.connect();
    assert!(has(&third, 2), "{}", daemon.log());
    assert_eq!(daemon.status()["namespaces"].as_array().map(Vec::len), Some(1));
}

/// What a daemon in `place` says that cannot begin with these namespaces.
fn refused(place: &Namespace, namespaces: &[&str]) -> String {
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("daemon.toml");
    let socket = folder.path().join("socket");
    let config = format!("[daemon]\nnamespaces = {namespaces:?}\nsocket = {socket:?}\n{}", fixed(2));
    fs::write(&file, config).expect("it can be written");
    let _beginning = BEGINNING.read().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new("ip")
        .args(["netns", "exec", place.name(), env!("CARGO_BIN_EXE_tresse"), "daemon", "--config"])
        .arg(&file)
        .output()
        .expect("ip starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_daemon_that_cannot_begin_changes_nothing() {
    if !ready("a_daemon_that_cannot_begin_changes_nothing") {
        return;
    }
    let place = Namespace::create("place");
    let told = refused(&place, &["current", "trk-no-such-place"]);
    assert!(told.contains("no network namespace `trk-no-such-place`"), "{told}");
    assert_eq!(decides(&place), "0", "the first namespace is the kernel's again");
    let told = refused(&place, &["current", place.name()]);
    assert!(told.contains("are the same network namespace"), "{told}");
    assert_eq!(decides(&place), "0");
}

/// Who decides about subflows in a namespace: 0 is the kernel.
fn decides(namespace: &Namespace) -> String {
    namespace.read_sysctl("mptcp/pm_type")
}

#[test]
fn a_daemon_puts_back_what_one_that_was_killed_has_changed() {
    if !ready("a_daemon_puts_back_what_one_that_was_killed_has_changed") {
        return;
    }
    let [one, other] = ["one", "other"].map(Namespace::create);
    let mut killed = Daemon::start(&[one.name(), other.name()], &fixed(2), &[]);
    assert_eq!([decides(&one), decides(&other)], ["1", "1"]);
    let alone = BEGINNING.write().unwrap_or_else(PoisonError::into_inner);
    // Its socket is closed before the files that it holds: only one that has ended holds none.
    killed.signal(libc::SIGKILL);
    killed.child.wait().expect("it is ours");
    assert_eq!([decides(&one), decides(&other)], ["1", "1"], "nobody was there to put it back");
    drop(alone);
    // The next one manages only one of them, and sees to the other at once; or one of another test, which began with it.
    let mut daemon = Daemon::start(&[one.name()], &fixed(2), &[]);
    assert!(wait_for(10.0, || [decides(&one), decides(&other)] == ["1", "0"]), "{}", daemon.log());
    // Killed twice, it still knows what the first one has found.
    daemon.again();
    drop(daemon);
    assert_eq!([decides(&one), decides(&other)], ["0", "0"]);

    // What somebody else has set stays.
    one.sysctl("mptcp/pm_type", "1");
    drop(Daemon::start(&[one.name()], &fixed(2), &[]));
    assert_eq!(decides(&one), "1");
}
