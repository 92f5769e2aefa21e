//! Sender, third party, router and receiver, with one bottleneck for each path.
//!
//! ```text
//! sender  s0 10.1.0.1 ── r0 ┐        ┌ p0 ── d0 10.3.0.1 ┐
//!         s1 10.1.1.1 ── r1 ┤ router ┤                   ├ lo 10.9.0.1  receiver
//! other   t0 10.2.0.1 ── o0 ┤        └ p1 ── d1 10.3.1.1 ┘
//!         t1 10.2.1.1 ── o1 ┘
//! ```
//!
//! The router sends on by the source address: address `i` of the sender takes the path that the plan
//! says, address `p` of the third party takes path `p`. The bottleneck is the router's queue towards the
//! receiver: on the sender's own interface a full queue holds TCP back instead of losing packets.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicU16, Ordering};

use crate::clock::wait_for;
use crate::control::tresse;
use crate::flow::{Flow, Protocol};
use crate::namespace::Namespace;

/// A full packet, as the queues count it.
pub const PACKET: u32 = 1514;

/// How many packets' worth of rate a bottleneck may save up, packets. It saves only while it is late: on a slow machine by
/// more than four packets of 0.6 ms, and what it cannot save it loses. Then it is slower than its marker believes.
const BURST: u32 = 16;

/// The bottleneck of a path.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub mbit: u32,
    /// Packets that its queue holds.
    pub queue: u32,
    /// Packets in the (virtual) queue above which it marks.
    pub mark_above: Option<u32>,
}

impl Path {
    /// Drops what does not fit, and marks nothing.
    pub fn drop_tail(mbit: u32, queue: u32) -> Self {
        Self { mbit, queue, mark_above: None }
    }

    /// Marks above `threshold` packets, and has room for ten times as many.
    pub fn marking(mbit: u32, threshold: u32) -> Self {
        Self { mbit, queue: 10 * threshold, mark_above: Some(threshold) }
    }
}

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    pub paths: &'a [Path],
    /// The path of each subflow of the sender's connections.
    pub subflows: &'a [usize],
    /// The congestion control of sender and receiver.
    pub control: &'a str,
}

/// The namespaces of a plan; they go when this is dropped.
#[derive(Debug)]
pub struct Testbed {
    pub sender: Namespace,
    /// The third party, whose connections are plain TCP or have one subflow.
    pub other: Namespace,
    pub router: Namespace,
    pub receiver: Namespace,
    subflows: usize,
    port: AtomicU16,
}

/// The receiver's address, reached over every path.
const TARGET: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);

impl Testbed {
    /// Builds what `plan` says.
    pub fn new(plan: &Plan) -> Self {
        let bed = Self {
            sender: Namespace::create("s"),
            other: Namespace::create("o"),
            router: Namespace::create("r"),
            receiver: Namespace::create("d"),
            subflows: plan.subflows.len(),
            port: AtomicU16::new(5001),
        };
        let tuned = [&bed.sender, &bed.other, &bed.receiver];
        tuned.into_iter().for_each(tune);
        for (host, control) in tuned.into_iter().zip([plan.control, "reno", plan.control]) {
            host.sysctl("ipv4/tcp_congestion_control", control);
        }
        bed.router.sysctl("ipv4/ip_forward", "1");
        bed.receiver.ip(&format!("link set lo up\naddress add {TARGET}/32 dev lo\n"));
        bed.router.ip("link set lo up\n");
        bed.lay_paths(plan.paths);
        for (i, path) in plan.subflows.iter().enumerate() {
            link(&bed.sender, &bed.router, ("s", "r", "10.1"), i, *path);
            bed.receiver.ip(&format!("route add 10.1.{i}.0/24 via 10.3.{path}.2 dev d{path}\n"));
            if i > 0 {
                bed.endpoint(i, true);
            }
        }
        // For programs that do not say from where.
        bed.sender.ip("route add default via 10.1.0.2 dev s0\n");
        for path in 0..plan.paths.len() {
            link(&bed.other, &bed.router, ("t", "o", "10.2"), path, path);
            bed.receiver.ip(&format!("route add 10.2.{path}.0/24 via 10.3.{path}.2 dev d{path}\n"));
        }
        bed
    }

    /// The links from the router to the receiver, with their bottlenecks.
    fn lay_paths(&self, paths: &[Path]) {
        for (p, path) in paths.iter().enumerate() {
            self.router.ip(&format!(
                "link add p{p} type veth peer name d{p} netns {}\naddress add 10.3.{p}.2/24 dev p{p}\n\
                 link set p{p} up gso_max_segs 1\n",
                self.receiver.name()
            ));
            self.receiver
                .ip(&format!("address add 10.3.{p}.1/24 dev d{p}\nlink set d{p} up gso_max_segs 1\n"));
            self.router.ip(&format!("route add default via 10.3.{p}.1 dev p{p} table {}\n", 100 + p));
            self.router.tc(&format!(
                "qdisc add dev p{p} root tbf rate {}mbit burst {} limit {}\n",
                path.mbit,
                BURST * PACKET,
                path.queue * PACKET
            ));
            if let Some(threshold) = path.mark_above {
                self.mark(&format!("p{p}"), path.mbit, threshold);
            }
        }
    }

    fn mark(&self, device: &str, mbit: u32, threshold: u32) {
        // The marker drains its queue 1 % faster than it is told; drained faster than the real one it would
        // lose sight of it, and the real queue would stand far above K.
        let (rate, threshold) = (format!("{}kbps", mbit * 990), format!("{threshold}pkt"));
        let arguments = ["mark", "add", device, "--rate", &rate, "--threshold", &threshold];
        let output =
            tresse(&arguments).args(["--netns", self.router.name()]).output().expect("the command starts");
        assert!(output.status.success(), "tresse mark add: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Marks every `n`th ECN-capable packet that the router sends on, wherever its queue stands.
    pub fn mark_every(&self, n: u32) {
        self.router.nft(&format!(
            "add table ip marks\nadd chain ip marks forwarded {{ type filter hook forward priority 0 ; }}\n\
             add rule ip marks forwarded ip ecn {{ ect0, ect1 }} numgen inc mod {n} == 0 ip ecn set ce\n"
        ));
    }

    /// A connection of the sender with all subflows of the plan; it is an error if they do not come. One that fell
    /// back to TCP is made anew.
    pub fn connect(&self) -> Flow {
        let before = self.fallbacks();
        let mut flow = self.open();
        let all =
            |flow: &Flow| flow.subflows().iter().filter(|subflow| subflow.mptcp).count() == self.subflows;
        for again in 1..=3 {
            let fell_back = || self.fallbacks() == before + again;
            if wait_for(5.0, || fell_back() || all(&flow)) && !fell_back() {
                return flow;
            }
            assert!(
                fell_back(),
                "not {} subflows: {:?}\n{}",
                self.subflows,
                flow.subflows(),
                [&self.sender, &self.receiver]
                    .map(|host| host.output("nstat", &["-as", "MPTcpExt*"]))
                    .concat()
            );
            flow = self.open();
        }
        panic!("three connections fell back to TCP");
    }

    /// A connection of the sender, whatever subflows it has.
    pub fn open(&self) -> Flow {
        self.flow(&self.sender, Ipv4Addr::new(10, 1, 0, 1), Protocol::Mptcp, None)
    }

    /// Loses the last ACK of the sender's next handshake and the first data: then the connection falls back to TCP
    /// (RFC 8684, section 3.7), as it sometimes does behind a full queue.
    pub fn cut_next_handshake(&self) {
        let port = self.port.load(Ordering::Relaxed);
        self.router.nft(&format!(
            "add table ip cut\nadd chain ip cut forwarded {{ type filter hook forward priority 0 ; }}\n\
             add rule ip cut forwarded tcp dport {port} tcp flags & syn == 0 limit rate 1/day burst 2 packets drop\n"
        ));
    }

    /// How many connections that began as Multipath TCP the receiver has accepted as plain TCP.
    pub fn fallbacks(&self) -> u64 {
        let name = "MPTcpExtMPCapableFallbackACK";
        let line = self.receiver.output("nstat", &["-asz", name]);
        let count = line.split_whitespace().skip_while(|word| *word != name).nth(1);
        count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("nstat shows no {name}: {line}"))
    }

    /// A connection of the third party over `path`, with a congestion control of its own (at both ends).
    pub fn compete(&self, path: usize, protocol: Protocol, control: &str) -> Flow {
        let source = Ipv4Addr::new(10, 2, path.try_into().expect("few paths"), 1);
        self.flow(&self.other, source, protocol, Some(control))
    }

    /// Brings the endpoint of subflow `i` (not of the first) or takes it away, for all connections.
    pub fn endpoint(&self, i: usize, here: bool) {
        self.sender.ip(&if here {
            format!("mptcp endpoint add 10.1.{i}.1 dev s{i} id {i} subflow\n")
        } else {
            format!("mptcp endpoint delete id {i}\n")
        });
    }

    /// A port of the receiver that nothing uses yet.
    pub fn port(&self) -> SocketAddrV4 {
        SocketAddrV4::new(TARGET, self.port.fetch_add(1, Ordering::Relaxed))
    }

    fn flow(&self, from: &Namespace, source: Ipv4Addr, protocol: Protocol, control: Option<&str>) -> Flow {
        Flow::start((from, source), (&self.receiver, self.port()), protocol, control)
    }

    /// What `tc` says of the bottleneck of `path`.
    pub fn bottleneck(&self, path: usize) -> Queue {
        let text = self.router.output("tc", &["-s", "-j", "qdisc", "show", "dev", &format!("p{path}")]);
        let queues: serde_json::Value = serde_json::from_str(&text).expect("tc prints JSON");
        let queue = queues.as_array().and_then(|queues| queues.iter().find(|q| q["kind"] == "tbf"));
        let queue = queue.expect("the bottleneck is a TBF");
        let number = |name: &str| queue[name].as_u64().expect("tc counts");
        Queue { backlog: number("backlog") / u64::from(PACKET), drops: number("drops") }
    }
}

/// Counters of a bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// Full packets that wait now.
    pub backlog: u64,
    /// Packets that did not fit, up to now.
    pub drops: u64,
}

/// An interface of `host` to the router with a table of its own; what comes from there takes `path`.
fn link(host: &Namespace, router: &Namespace, (near, far, net): (&str, &str, &str), i: usize, path: usize) {
    let (peer, table) = (router.name(), 100 + i);
    let mut lines = String::new();
    for line in [
        format!("link add {near}{i} type veth peer name {far}{i} netns {peer}"),
        format!("address add {net}.{i}.1/24 dev {near}{i}"),
        format!("link set {near}{i} up gso_max_segs 1"),
    ] {
        writeln!(lines, "{line}").expect("a string takes everything");
    }
    host.ip(&lines);
    router.ip(&format!(
        "address add {net}.{i}.2/24 dev {far}{i}\nlink set {far}{i} up gso_max_segs 1\n\
         rule add from {net}.{i}.0/24 lookup {}\n",
        100 + path
    ));
    host.ip(&format!(
        "route add default via {net}.{i}.2 dev {near}{i} table {table}\n\
         rule add from {net}.{i}.1 lookup {table}\n"
    ));
}

/// What is the same for all hosts.
fn tune(host: &Namespace) {
    host.sysctl("mptcp/enabled", "1");
    host.sysctl("ipv4/tcp_no_metrics_save", "1");
    // Accept ECN, ask for none: a control that needs ECN asks itself, and a test may ask for the third party.
    host.sysctl("ipv4/tcp_ecn", "2");
    for scope in ["all", "default"] {
        host.sysctl(&format!("ipv4/conf/{scope}/rp_filter"), "0");
    }
    host.ip("mptcp limits set subflow 8 add_addr_accepted 0\n");
}
