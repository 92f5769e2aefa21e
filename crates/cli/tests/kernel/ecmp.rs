//! Two hosts with one address each, and several equal paths between their routers.
//!
//! ```text
//! sender s0 10.1.0.1 ── a0 ┐   ┌ p0 ── q0 ┐   ┌ b0 ── d0 10.9.0.1 receiver
//!                          ├ A ┤    …     ├ B ┤
//!                          ┘   └ p7 ── q7 ┘   └
//! ```
//!
//! A chooses a path by the five-tuple of each packet, as switches do (`fib_multipath_hash_policy = 3`). With policy 1
//! Linux takes the hash that the sender's socket has left in the packet, which a wire between namespaces keeps: after a
//! timeout the socket has another hash, and the subflow another path.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::clock::{now, sleep};
use crate::flow::{Flow, Protocol, connect, listen, reset_on_close};
use crate::namespace::Namespace;

/// The namespaces; they go when this is dropped.
#[derive(Debug)]
pub struct Ecmp {
    pub sender: Namespace,
    pub receiver: Namespace,
    near: Namespace,
    far: Namespace,
    paths: usize,
    port: AtomicU16,
}

const SENDER: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);

impl Ecmp {
    /// With `paths` paths of `mbit` Mbit/s each.
    pub fn new(paths: usize, mbit: u32) -> Self {
        let [sender, receiver, near, far] = ["s", "d", "a", "b"].map(Namespace::create);
        let own = Self { sender, receiver, near, far, paths, port: AtomicU16::new(6001) };
        for router in [&own.near, &own.far] {
            router.sysctl("ipv4/ip_forward", "1");
            router.sysctl("ipv4/fib_multipath_hash_policy", "3");
            // Addresses, protocol and ports.
            router.sysctl("ipv4/fib_multipath_hash_fields", "55");
        }
        for host in [&own.sender, &own.receiver] {
            host.sysctl("mptcp/enabled", "1");
            // With the usual 128 kB a connection of Linux 6.18 may stall forever where a path is cut: what has come out of
            // order is more than its receive buffer, and it takes nothing any more (docs/testbed.md).
            host.sysctl("ipv4/tcp_rmem", "4096 67108864 268435456");
        }
        // Linux accepts two further subflows unless it is told otherwise.
        own.receiver.ip("mptcp limits set subflows 8 add_addr_accepted 0\n");
        wire((&own.sender, "s0", SENDER), (&own.near, "a0", Ipv4Addr::new(10, 1, 0, 2)));
        wire((&own.receiver, "d0", RECEIVER), (&own.far, "b0", Ipv4Addr::new(10, 9, 0, 2)));
        own.sender.ip("route add default via 10.1.0.2\n");
        own.receiver.ip("route add default via 10.9.0.2\n");
        let (mut there, mut back) = ("route add 10.9.0.0/24".to_owned(), "route add 10.1.0.0/24".to_owned());
        for p in 0..paths {
            let end = |last| Ipv4Addr::new(10, 2, p as u8, last);
            wire((&own.near, &format!("p{p}"), end(1)), (&own.far, &format!("q{p}"), end(2)));
            own.near.tc(&format!("qdisc add dev p{p} root tbf rate {mbit}mbit burst 6056 limit 60560\n"));
            there += &format!(" nexthop via {} weight 1", end(2));
            back += &format!(" nexthop via {} weight 1", end(1));
        }
        own.near.ip(&format!("{there}\n"));
        own.far.ip(&format!("{back}\n"));
        own
    }

    /// A connection that sends as fast as it may.
    pub fn connect(&self) -> Flow {
        let to = SocketAddrV4::new(RECEIVER, self.port.fetch_add(1, Ordering::Relaxed));
        Flow::start((&self.sender, SENDER), (&self.receiver, to), Protocol::Mptcp, None)
    }

    /// Opens this many connections, at most `per_second` of them in a second, each of which ends
    /// after one byte there and one back; how long that took, s.
    pub fn flood(&self, connections: usize, per_second: f64) -> f64 {
        const AT_A_TIME: usize = 32;
        let to = SocketAddrV4::new(RECEIVER, self.port.fetch_add(1, Ordering::Relaxed));
        let listener = self.receiver.enter(|| listen(to.port(), Protocol::Mptcp, None)).expect("it listens");
        let done = AtomicBool::new(false);
        listener.set_nonblocking(true).expect("the listener takes options");
        let next = AtomicUsize::new(0);
        let start = now();
        let lives = || {
            self.sender.enter(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= connections {
                        return;
                    }
                    let early = n as f64 / per_second - start.elapsed().as_secs_f64();
                    if early > 0.0 {
                        sleep(early);
                    }
                    // A full backlog is no mistake of the daemon's.
                    let Ok(mut stream) = connect(SENDER, to, Protocol::Mptcp, None) else { continue };
                    stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout");
                    drop(stream.write_all(b".").and_then(|()| stream.read_exact(&mut [0])));
                    reset_on_close(&stream);
                }
            });
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut alive = VecDeque::new();
                while !done.load(Ordering::Relaxed) {
                    match listener.accept() {
                        Ok((mut stream, _)) => {
                            drop(stream.write_all(b"."));
                            alive.push_back(stream);
                            // Those before have read it: no more are alive at a time.
                            while alive.len() > 2 * AT_A_TIME {
                                alive.pop_front();
                            }
                        }
                        Err(_) => sleep(0.001),
                    }
                }
            });
            thread::scope(|scope| (0..AT_A_TIME).for_each(|_| drop(scope.spawn(lives))));
            done.store(true, Ordering::Relaxed);
        });
        start.elapsed().as_secs_f64()
    }

    /// Bytes that have taken each path.
    pub fn bytes(&self) -> Vec<u64> {
        let of = |p: usize| {
            let counter = format!("/sys/class/net/p{p}/statistics/tx_bytes");
            let text = self.near.output("cat", &[&counter]);
            text.trim().parse().expect("the kernel counts")
        };
        (0..self.paths).map(of).collect()
    }

    /// Drops what a path carries from now on, and nobody is told; or no longer.
    pub fn cut(&self, path: usize, cut: bool) {
        let table = format!("cut{path}");
        self.near.nft(&match cut {
            true => format!(
                "add table ip {table}\nadd chain ip {table} f {{ type filter hook forward priority 0 ; }}\n\
                 add rule ip {table} f oifname p{path} drop\n"
            ),
            false => format!("delete table ip {table}\n"),
        });
    }
}

/// A wire between two namespaces.
fn wire(
    (from, name, address): (&Namespace, &str, Ipv4Addr),
    (to, peer, other): (&Namespace, &str, Ipv4Addr),
) {
    from.ip(&format!(
        "link set lo up\nlink add {name} type veth peer name {peer} netns {}\n\
         address add {address}/24 dev {name}\nlink set {name} up gso_max_segs 1\n",
        to.name()
    ));
    to.ip(&format!("link set lo up\naddress add {other}/24 dev {peer}\nlink set {peer} up gso_max_segs 1\n"));
}
