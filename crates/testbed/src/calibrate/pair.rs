//! Two hosts and the link between them, over which transfers go.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use socket2::{Domain, SockRef, Socket, Type};

use crate::agent::info;
use crate::bed::{RECEIVES, SENDS};
use crate::cores;
use crate::namespace::{Error, Namespace};

/// The addresses of the hosts.
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];

/// The interface of each.
const INTERFACE: &str = "calibrate";

/// How much is written and read at a time, bytes.
const CHUNK: usize = 1 << 18;

/// How long a receiver waits for a connection, and for data.
const PATIENCE: Duration = Duration::from_secs(10);

/// Two network namespaces that a veth pair connects.
#[derive(Debug)]
pub(super) struct Pair([Namespace; 2]);

/// What a transfer has taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// From the call of `connect` until the receiver has read the last byte, s.
    pub seconds: f64,
    /// The processor time of both ends, s: of the programs, and of what the kernel does for packets in their name.
    pub cpu: f64,
    /// Packets with payload, as TCP counts them.
    pub packets: u64,
    /// What the sender's interface was given for these and for its ACKs: a segment may have many packets.
    pub segments: u64,
}

impl Pair {
    /// Builds the hosts, with the buffers of a testbed.
    pub fn new() -> Result<Self, Error> {
        let hosts = [Namespace::create("calibrate0")?, Namespace::create("calibrate1")?];
        hosts[0].ip(&format!(
            "link add {INTERFACE} type veth peer name {INTERFACE} netns {}\n",
            hosts[1].name()
        ))?;
        for (host, address) in hosts.iter().zip(ADDRESSES) {
            host.sysctl("ipv6/conf/all/disable_ipv6", "1")?;
            // A connection must not start with what an earlier one has learnt.
            host.sysctl("ipv4/tcp_no_metrics_save", "1")?;
            host.sysctl("ipv4/tcp_rmem", RECEIVES)?;
            host.sysctl("ipv4/tcp_wmem", SENDS)?;
            host.ip(&format!("address add {address}/24 dev {INTERFACE}\nlink set {INTERFACE} up\n"))?;
        }
        Ok(Self(hosts))
    }

    /// The link's packets have at most `mtu` bytes, and its segments at most `merged` packets.
    pub fn set(&self, mtu: u32, merged: u32) -> Result<(), Error> {
        let line = format!("link set {INTERFACE} mtu {mtu} gso_max_segs {merged}\n");
        self.0.iter().try_for_each(|host| host.ip(&line))?;
        // The neighbours find each other.
        self.transfer(1).map(drop)
    }

    /// Sends `bytes` over a new connection.
    pub fn transfer(&self, bytes: u64) -> Result<Taken, Error> {
        let wrong = |error: io::Error| Error(format!("a transfer of {bytes} bytes: {error}"));
        let [from, to] = &self.0;
        let listener = to.within(|| TcpListener::bind((ADDRESSES[1], 0)))?.map_err(wrong)?;
        let socket = from.within(socket)?.map_err(wrong)?;
        let before = from.within(sent)?.map_err(wrong)?;
        let (seconds, cpu, packets) = carry(&listener, socket, bytes).map_err(wrong)?;
        let segments = from.within(sent)?.map_err(wrong)? - before;
        Ok(Taken { seconds, cpu, packets, segments })
    }
}

fn socket() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_tcp_congestion(b"reno")?;
    socket.set_tcp_nodelay(true)?;
    Ok(socket)
}

/// What the interface of this thread's namespace was given to send so far.
fn sent() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(INTERFACE)?.strip_prefix(':'));
    // Eight columns of what was received, and the bytes that were sent.
    let packets = line.and_then(|line| line.split_whitespace().nth(9)?.parse().ok());
    packets.ok_or_else(|| io::Error::other("its interface is gone"))
}

/// Sends `bytes` over `socket` to `listener`: the seconds, the processor time and the packets.
fn carry(listener: &TcpListener, socket: Socket, bytes: u64) -> io::Result<(f64, f64, u64)> {
    let to = listener.local_addr()?;
    let ready = &Barrier::new(2);
    SockRef::from(listener).set_read_timeout(Some(PATIENCE))?;
    thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            cores::take();
            favour();
            ready.wait();
            receive(listener, bytes)
        });
        let sender = scope.spawn(move || {
            cores::leave();
            favour();
            ready.wait();
            settle();
            send(socket, to, bytes)
        });
        let (begun, sending, stream) = joined(sender)?;
        let (end, receiving) = joined(receiver)?;
        let packets = info::subflows(stream.as_fd(), false).iter().map(|own| own.segments).sum();
        Ok((end - begun, sending + receiving, packets))
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Until the receiver waits in `accept`.
#[expect(clippy::disallowed_methods, reason = "it waits for the kernel")]
fn settle() {
    thread::sleep(Duration::from_micros(500));
}

/// Before whatever else runs here, if that is allowed. A nice value does not reach beyond a session's processes.
fn favour() {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads the parameter before this returns.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &raw const priority) };
}

/// When it began, its processor time, and the connection.
fn send(socket: Socket, to: SocketAddr, bytes: u64) -> io::Result<(f64, f64, TcpStream)> {
    let data = vec![0; CHUNK];
    let (begun, cpu) = (now(ClockId::CLOCK_MONOTONIC)?, now(ClockId::CLOCK_THREAD_CPUTIME_ID)?);
    socket.connect(&to.into())?;
    let mut stream = TcpStream::from(socket);
    let mut left = bytes;
    while left > 0 {
        left -= stream.write(&data[..data.len().min(left as usize)])? as u64;
    }
    Ok((begun, now(ClockId::CLOCK_THREAD_CPUTIME_ID)? - cpu, stream))
}

/// When the last byte was read, and the processor time.
fn receive(listener: &TcpListener, bytes: u64) -> io::Result<(f64, f64)> {
    let mut data = vec![0; CHUNK];
    let cpu = now(ClockId::CLOCK_THREAD_CPUTIME_ID)?;
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut left = bytes;
    while left > 0 {
        match stream.read(&mut data)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => left -= read as u64,
        }
    }
    Ok((now(ClockId::CLOCK_MONOTONIC)?, now(ClockId::CLOCK_THREAD_CPUTIME_ID)? - cpu))
}

/// A clock, s.
fn now(clock: ClockId) -> io::Result<f64> {
    let time = clock_gettime(clock)?;
    Ok(time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9)
}
