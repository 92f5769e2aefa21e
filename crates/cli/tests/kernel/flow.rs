//! Bulk connections, and what `ss` tells of their subflows.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Instant;

use crate::clock;
use crate::namespace::Namespace;

/// Which protocol a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Mptcp,
}

/// A connection that sends as fast as it may until it is dropped.
#[derive(Debug)]
pub struct Flow {
    place: String,
    port: u16,
    stream: TcpStream,
    accepted: Arc<OnceLock<TcpStream>>,
    received: Arc<AtomicU64>,
}

/// One subflow (or the only one of plain TCP) as its sender's `ss` shows it.
#[derive(Clone, Debug)]
pub struct Subflow {
    pub local: Ipv4Addr,
    pub control: String,
    pub mptcp: bool,
    pub srtt_ms: f64,
    pub acked: u64,
    pub ecn: bool,
    at: Instant,
}

impl Flow {
    /// Listens on `to`, connects from the address `source` of `from` and starts to send. `control` is
    /// for both ends; without it they take their namespaces' default.
    pub fn start(
        (from, source): (&Namespace, Ipv4Addr),
        (to, target): (&Namespace, SocketAddrV4),
        protocol: Protocol,
        control: Option<&str>,
    ) -> Self {
        let port = target.port();
        let listener = to.enter(|| listen(port, protocol, control)).expect("the receiver listens");
        let accepted = Arc::new(OnceLock::new());
        let place = Arc::clone(&accepted);
        let received = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&received);
        thread::spawn(move || {
            let (stream, _) = listener.accept()?;
            discard(place.get_or_init(|| stream), &count);
            io::Result::Ok(())
        });
        let stream = from.enter(|| connect(source, target, protocol, control)).expect("the sender connects");
        let mut writer = stream.try_clone().expect("the socket can be shared");
        thread::spawn(move || {
            let block = vec![0; 64 << 10];
            while writer.write_all(&block).is_ok() {}
        });
        Self { place: from.name().to_owned(), port, stream, accepted, received }
    }

    /// Bytes that the receiver has read.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The subflows of now, ordered by their local addresses.
    pub fn subflows(&self) -> Vec<Subflow> {
        let filter = format!("dport = :{}", self.port);
        let output = crate::namespace::must(std::process::Command::new("ss").args([
            "-N",
            &self.place,
            "-tnioHO",
            "state",
            "established",
            &filter,
        ]));
        let at = clock::now();
        let mut subflows: Vec<_> = output.lines().filter_map(|line| subflow(line, at)).collect();
        subflows.sort_by_key(|subflow| subflow.local);
        subflows
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        // Without lingering, what is still queued is not sent: the connection ends now.
        reset_on_close(&self.stream);
        drop(self.stream.shutdown(Shutdown::Both));
        // Nobody tells the receiver if the links between them are gone.
        if let Some(stream) = self.accepted.get() {
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

/// Mbit/s of each subflow between two looks at it; one that came or went in between is an error.
pub fn rates(before: &[Subflow], after: &[Subflow]) -> Vec<f64> {
    let addresses = |subflows: &[Subflow]| subflows.iter().map(|s| s.local).collect::<Vec<_>>();
    assert_eq!(addresses(before), addresses(after), "the subflows have changed");
    let rate = |(a, b): (&Subflow, &Subflow)| {
        (b.acked - a.acked) as f64 * 8e-6 / b.at.duration_since(a.at).as_secs_f64()
    };
    before.iter().zip(after).map(rate).collect()
}

/// Mbit/s of every subflow of every flow over `seconds` from now.
pub fn measure(flows: &[&Flow], seconds: f64) -> Vec<Vec<f64>> {
    let before: Vec<_> = flows.iter().map(|flow| flow.subflows()).collect();
    clock::sleep(seconds);
    flows.iter().zip(before).map(|(flow, before)| rates(&before, &flow.subflows())).collect()
}

/// Reads a line of `ss -tnioHO state established`: queues, addresses, then facts as words.
fn subflow(line: &str, at: Instant) -> Option<Subflow> {
    let mut words = line.split_whitespace();
    let local = words.nth(2)?.rsplit_once(':')?.0.split('%').next()?.parse().ok()?;
    let facts: Vec<_> = words.skip(1).filter(|word| !word.starts_with("timer:")).collect();
    let fact = |name: &str| facts.iter().find_map(|fact| fact.strip_prefix(name)?.strip_prefix(':'));
    Some(Subflow {
        local,
        control: (*facts.iter().find(|fact| !matches!(**fact, "ts" | "sack" | "ecn" | "ecnseen"))?)
            .to_owned(),
        mptcp: facts.contains(&"tcp-ulp-mptcp"),
        srtt_ms: fact("rtt").and_then(|rtt| rtt.split('/').next()?.parse().ok()).unwrap_or(0.0),
        acked: fact("bytes_acked").map_or(0, |bytes| bytes.parse().expect("bytes_acked is a number")),
        ecn: facts.contains(&"ecn"),
        at,
    })
}

/// A listening socket on every address.
pub fn listen(port: u16, protocol: Protocol, control: Option<&str>) -> io::Result<TcpListener> {
    let socket = socket(protocol, control)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32.to_ne_bytes())?;
    bind(&socket, SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))?;
    // SAFETY: listen takes two integers.
    check(unsafe { libc::listen(socket.as_raw_fd(), 1024) })?;
    Ok(TcpListener::from(socket))
}

/// A connection from `source`.
pub fn connect(
    source: Ipv4Addr,
    target: SocketAddrV4,
    protocol: Protocol,
    control: Option<&str>,
) -> io::Result<TcpStream> {
    let socket = socket(protocol, control)?;
    bind(&socket, SocketAddrV4::new(source, 0))?;
    let (address, length) = address(target);
    // SAFETY: the address lives on this stack, with its true length.
    check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(TcpStream::from(socket))
}

/// Lets the socket end with a reset when it is closed.
pub fn reset_on_close(stream: &TcpStream) {
    let linger = [1_i32.to_ne_bytes(), 0_i32.to_ne_bytes()].concat();
    drop(set_option(stream, libc::SOL_SOCKET, libc::SO_LINGER, &linger));
}

/// Reads until the other side ends, and counts the bytes.
pub fn discard(mut stream: &TcpStream, received: &AtomicU64) {
    let mut block = vec![0; 256 << 10];
    while let Ok(read @ 1..) = stream.read(&mut block) {
        received.fetch_add(read as u64, Ordering::Relaxed);
    }
}

fn socket(protocol: Protocol, control: Option<&str>) -> io::Result<OwnedFd> {
    let protocol = if protocol == Protocol::Mptcp { libc::IPPROTO_MPTCP } else { libc::IPPROTO_TCP };
    // SAFETY: socket takes three integers; what it returns is a new descriptor that nobody else owns.
    let socket = unsafe {
        let fd = check(libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, protocol))?;
        OwnedFd::from_raw_fd(fd)
    };
    if let Some(control) = control {
        set_option(&socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, control.as_bytes())?;
    }
    Ok(socket)
}

fn bind(socket: &OwnedFd, to: SocketAddrV4) -> io::Result<()> {
    let (address, length) = address(to);
    // SAFETY: the address lives on this stack, with its true length.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }).map(drop)
}

fn address(of: SocketAddrV4) -> (libc::sockaddr_in, libc::socklen_t) {
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: of.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*of.ip()).to_be() },
        sin_zero: [0; 8],
    };
    (address, size_of::<libc::sockaddr_in>() as libc::socklen_t)
}

fn set_option(socket: &impl AsRawFd, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    let length = value.len() as libc::socklen_t;
    // SAFETY: the value is a slice of just that length.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value.as_ptr().cast(), length) })
        .map(drop)
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
