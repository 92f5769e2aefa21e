//! Two network namespaces joined by a veth pair, and UDP packets with a given TOS from one to the
//! other.

#![expect(unsafe_code, reason = "a packet socket is made with C calls")]

use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use libbpf_rs::query::{MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};
use nix::sched::{CloneFlags, setns};

const PORT: u16 = 9;
const PAYLOAD: [u8; 1200] = [0; 1200];

/// The namespaces; dropping this removes them and their devices.
pub struct Pair {
    pub near: String,
    far: String,
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in [&self.near, &self.far] {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

impl Pair {
    /// `va` in the near namespace, `vb` in the far one; `None` after printing what is missing.
    pub fn new(name: &str) -> Option<Self> {
        if !nix::unistd::geteuid().is_root() {
            println!("skipped: network namespaces need root");
            return None;
        }
        for tool in ["ip", "tc"] {
            if Command::new(tool).arg("-V").output().is_err() {
                println!("skipped: {tool} is not installed");
                return None;
            }
        }
        let name = format!("tresse-{name}-{}", std::process::id());
        let pair = Self { near: format!("{name}-a"), far: format!("{name}-b") };
        let (near, far) = (&*pair.near, &*pair.far);
        for words in [
            vec!["netns", "add", near],
            vec!["netns", "add", far],
            vec!["link", "add", "va", "netns", near, "type", "veth", "peer", "name", "vb", "netns", far],
        ] {
            ok("ip", &words);
        }
        for (namespace, device, n) in [(near, "va", "1"), (far, "vb", "2")] {
            for (address, option) in
                [(format!("10.0.0.{n}/24"), None), (format!("fd00::{n}/64"), Some("nodad"))]
            {
                let mut words = vec!["-n", namespace, "address", "add", &address, "dev", device];
                words.extend(option);
                ok("ip", &words);
            }
            ok("ip", &["-n", namespace, "link", "set", device, "address", &format!("02:00:00:00:00:0{n}")]);
            ok("ip", &["-n", namespace, "link", "set", device, "up"]);
        }
        for address in ["10.0.0.2", "fd00::2"] {
            let words = ["-n", near, "neigh", "add", address, "lladdr", "02:00:00:00:00:02", "dev", "va"];
            ok("ip", &words);
        }
        Some(pair)
    }

    /// `tc` in the near namespace.
    pub fn tc(&self, words: &[&str]) -> String {
        ok("tc", &[&["-n", &*self.near], words].concat())
    }

    /// The TOS bytes of the packets that arrived, in order.
    pub fn send_v4(&self, count: usize, tos: u8) -> Vec<u8> {
        self.send("10.0.0.2", count, tos, 0)
    }

    pub fn send_v6(&self, count: usize, tos: u8) -> Vec<u8> {
        self.send("fd00::2", count, tos, 0)
    }

    pub fn send_marked(&self, count: usize, tos: u8, mark: u32) -> Vec<u8> {
        self.send("10.0.0.2", count, tos, mark)
    }

    fn send(&self, to: &str, count: usize, tos: u8, mark: u32) -> Vec<u8> {
        let address = SocketAddr::new(to.parse().expect("an address"), PORT);
        let (level, sent, received) = if address.is_ipv4() {
            (libc::IPPROTO_IP, libc::IP_TOS, libc::IP_RECVTOS)
        } else {
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS, libc::IPV6_RECVTCLASS)
        };
        let receiver = within(&self.far, move || UdpSocket::bind(address).expect("nobody has the port"));
        set(&receiver, level, received, 1);
        // Room for all of them, so that none is lost.
        set(&receiver, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 1 << 23);
        receiver.set_read_timeout(Some(Duration::from_secs(5))).expect("more than 0");
        let any = SocketAddr::new(if address.is_ipv4() { [0, 0, 0, 0].into() } else { [0u16; 8].into() }, 0);
        let sender = within(&self.near, move || UdpSocket::bind(any).expect("a free port"));
        set(&sender, level, sent, tos.into());
        set(&sender, libc::SOL_SOCKET, libc::SO_MARK, mark as i32);
        for _ in 0..count {
            sender.send_to(&PAYLOAD, address).expect("the packet leaves");
        }
        (0..count).map(|_| traffic_class(&receiver).expect("the packet arrives")).collect()
    }
}

pub fn ce_counted(tos: &[u8]) -> usize {
    tos.iter().filter(|tos| **tos & 3 == 3).count()
}

pub fn maps_of(program: u32) -> Vec<u32> {
    let mut programs = ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true));
    programs.find(|p| p.id == program).expect("the program is loaded").map_ids
}

pub fn map_lives(id: u32) -> bool {
    MapInfoIter::default().any(|map| map.id == id)
}

/// The kernel frees a program some time after its filter is gone.
#[expect(clippy::disallowed_methods, reason = "it waits for the kernel")]
pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..200 {
        if condition() {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("{what}: not within 10 s");
}

fn ok(tool: &str, words: &[&str]) -> String {
    let Output { status, stdout, stderr } = Command::new(tool).args(words).output().expect("it is installed");
    assert!(status.success(), "{tool} {words:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("it prints text")
}

/// A socket stays in the namespace in which it was created.
fn within<T: Send>(name: &str, f: impl FnOnce() -> T + Send) -> T {
    let file = File::open(format!("/run/netns/{name}")).expect("the namespace is there");
    let enter = || {
        setns(file, CloneFlags::CLONE_NEWNET).expect("root may");
        f()
    };
    thread::scope(|scope| scope.spawn(enter).join().expect("it does not panic"))
}

fn set(socket: &UdpSocket, level: i32, name: i32, value: i32) {
    let size = size_of::<i32>() as u32;
    // SAFETY: the option is an int.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size) };
    assert_eq!(result, 0, "option {name}: {}", io::Error::last_os_error());
}

/// The traffic class of the next packet, from its control message.
fn traffic_class(socket: &UdpSocket) -> io::Result<u8> {
    let mut payload = PAYLOAD;
    let mut control = [0u64; 8];
    let mut part = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
    // SAFETY: an empty message is all zeros; the kernel fills the buffers set here, within their lengths; the
    // control message is within the length that the kernel reports.
    unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control);
        if libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) < 0 {
            return Err(io::Error::last_os_error());
        }
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        assert!(!head.is_null(), "the kernel tells the traffic class");
        // IPv4's is a byte, IPv6's an int.
        let data = libc::CMSG_DATA(head);
        Ok(if (*head).cmsg_level == libc::IPPROTO_IP {
            *data
        } else {
            data.cast::<i32>().read_unaligned() as u8
        })
    }
}
