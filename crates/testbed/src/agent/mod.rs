//! The agent in a host: it sends and receives on command, over real sockets.
//!
//! The testbed starts one process for each host (`tresse testbed host`) and exchanges lines of JSON with it
//! over its standard input, a Unix socket.

mod datagrams;
pub(crate) mod info;
mod receiver;
mod sender;
mod subflows;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use datagrams::Datagrams;
pub use info::{Subflow, TcpState};
use receiver::Receiver;
use sender::Sending;
use subflows::Subflows;
use tresse_linux::path_manager;

/// A command to a host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// To receive a flow: the first connection to this address is it.
    Listen {
        flow: u64,
        at: SocketAddrV4,
        how: Carriage,
        /// Its bytes; it is complete with the last one.
        bytes: u64,
    },
    /// To send a flow: this many bytes at first.
    Connect { flow: u64, from: SocketAddrV4, to: SocketAddrV4, how: Carriage, bytes: u64 },
    /// To send more bytes.
    Write { flow: u64, bytes: u64 },
    /// To forget a flow.
    Stop { flow: u64 },
    /// To report the subflows of a flow that it sends.
    Look { flow: u64 },
    /// To open a subflow of a flow that it sends, from this address, which has this number in the connection.
    Open { flow: u64, subflow: usize, from: Ipv4Addr, id: u8, to: SocketAddrV4 },
    /// To end a subflow of a flow that it sends.
    Close { flow: u64, from: SocketAddrV4, to: SocketAddrV4 },
    /// To set whether a subflow of a flow that it sends carries data only if no other can.
    Backup { flow: u64, from: SocketAddrV4, to: SocketAddrV4, backup: bool },
    /// To receive datagrams at this address.
    ListenDatagrams { flow: u64, at: SocketAddrV4, how: Carriage },
    /// To be ready to send datagrams.
    ConnectDatagrams { flow: u64, from: SocketAddrV4, to: SocketAddrV4, how: Carriage },
    /// To send a datagram with this many bytes of payload.
    Datagram { flow: u64, bytes: u32 },
}

/// How a flow is carried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Carriage {
    /// The kernel's name of its congestion control.
    pub control: String,
    /// By Multipath TCP; by TCP otherwise.
    pub multipath: bool,
    /// The class of its packets: the DSCP.
    pub class: u8,
}

/// A report of a host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HostReport {
    /// It is ready for commands.
    Ready,
    /// It waits for a flow.
    Listens { flow: u64 },
    /// This many bytes of a flow have arrived by then, ns of [`monotonic`](crate::clock::monotonic).
    Arrived { flow: u64, bytes: u64, at: u64 },
    /// The last byte of a flow has arrived.
    Complete { flow: u64, bytes: u64, at: u64 },
    /// The subflows of a flow; none if it has no connection yet.
    Seen { flow: u64, subflows: Vec<Subflow> },
    /// A flow can have more subflows from now on.
    Established { flow: u64 },
    /// A further subflow of a flow is established.
    Joined { flow: u64, from: SocketAddrV4, to: SocketAddrV4 },
    /// A subflow has ended.
    Gone { flow: u64, from: SocketAddrV4 },
    /// The kernel has refused a subflow.
    Refused { flow: u64, subflow: usize, why: String },
    /// A flow cannot continue.
    Broken { flow: u64, why: String },
}

/// How often it reports arrived bytes.
const TELL: Duration = Duration::from_millis(5);

enum Event {
    Ask(Ask),
    HostReport(HostReport),
    Kernel(path_manager::Event),
    /// The kernel's events have ended, or some are missing: subflows would stay closed without a visible
    /// reason.
    Deaf(io::Error),
    End,
}

/// Executes the commands on standard input until it ends.
///
/// # Errors
/// If standard input is not a socket.
pub fn run() -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (tell, events) = mpsc::channel();
    let asks = BufReader::new(socket.try_clone()?);
    thread::spawn({
        let tell = tell.clone();
        move || {
            for line in asks.lines().map_while(Result::ok) {
                let ask = serde_json::from_str(&line).expect("the testbed speaks this language");
                if tell.send(Event::Ask(ask)).is_err() {
                    return;
                }
            }
            let _ = tell.send(Event::End); // nobody listens any more
        }
    });
    let mut kernel = path_manager::Events::listen()?;
    thread::spawn({
        let tell = tell.clone();
        move || {
            loop {
                match kernel.wait() {
                    Ok(event) if tell.send(Event::Kernel(event)).is_err() => return,
                    Ok(_) => {}
                    Err(error) => {
                        let _ = tell.send(Event::Deaf(error)); // the agent has ended
                        return;
                    }
                }
            }
        }
    });
    let mut agent = Agent {
        socket,
        tell,
        sending: BTreeMap::new(),
        receiving: BTreeMap::new(),
        datagrams: Datagrams::default(),
        subflows: Subflows::default(),
    };
    agent.tell(&HostReport::Ready)?;
    loop {
        match events.recv_timeout(TELL) {
            Ok(Event::Ask(ask)) => agent.do_as_asked(ask)?,
            Ok(Event::HostReport(told)) => agent.tell(&told)?,
            Ok(Event::Kernel(event)) => {
                let to = agent.sending.iter().map(|(&flow, sending)| (sending.to(), flow));
                if let Some(told) = agent.subflows.hear(event, to) {
                    agent.tell(&told)?;
                }
            }
            Ok(Event::Deaf(error)) => {
                return Err(io::Error::new(error.kind(), format!("the kernel's events of MPTCP: {error}")));
            }
            Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => agent.tell_arrived()?,
        }
    }
}

struct Agent {
    socket: UnixStream,
    tell: Sender<Event>,
    sending: BTreeMap<u64, Sending>,
    receiving: BTreeMap<u64, Receiver>,
    datagrams: Datagrams,
    subflows: Subflows,
}

impl Agent {
    fn do_as_asked(&mut self, ask: Ask) -> io::Result<()> {
        match ask {
            Ask::Listen { flow, at, how, bytes } => {
                match Receiver::listen(flow, at.port(), &how, bytes, self.teller()) {
                    Ok(receiver) => {
                        self.receiving.insert(flow, receiver);
                        self.tell(&HostReport::Listens { flow })
                    }
                    Err(error) => self.tell(&HostReport::Broken { flow, why: format!("{at}: {error}") }),
                }
            }
            Ask::Connect { flow, from, to, how, bytes } => {
                let sending = Sending::start(flow, from, to, how, bytes, self.teller());
                self.sending.insert(flow, sending);
                Ok(())
            }
            Ask::Write { flow, bytes } => {
                if let Some(sending) = self.sending.get(&flow) {
                    sending.write(bytes);
                }
                Ok(())
            }
            Ask::Stop { flow } => {
                self.sending.remove(&flow);
                self.receiving.remove(&flow);
                self.datagrams.remove(flow);
                self.subflows.remove(flow);
                Ok(())
            }
            Ask::Look { flow } => {
                let subflows = self.sending.get(&flow).map(Sending::look).unwrap_or_default();
                self.tell(&HostReport::Seen { flow, subflows })
            }
            Ask::Open { flow, subflow, from, id, to } => {
                match self.subflows.open(flow, SocketAddrV4::new(from, 0), id, to) {
                    Ok(()) => Ok(()),
                    Err(error) => self.tell(&HostReport::Refused { flow, subflow, why: error.to_string() }),
                }
            }
            Ask::Close { flow, from, to } => {
                let _ = self.subflows.close(flow, from, to); // it may have already ended
                Ok(())
            }
            Ask::Backup { flow, from, to, backup } => {
                let _ = self.subflows.set_backup(flow, from, to, backup); // it may have ended
                Ok(())
            }
            Ask::ListenDatagrams { flow, at, how } => {
                let told = match self.datagrams.listen(flow, at, &how) {
                    Ok(()) => HostReport::Listens { flow },
                    Err(error) => HostReport::Broken { flow, why: format!("{at}: {error}") },
                };
                self.tell(&told)
            }
            Ask::ConnectDatagrams { flow, from, to, how } => {
                match self.datagrams.connect(flow, from, to, &how) {
                    Ok(()) => Ok(()),
                    Err(error) => {
                        self.tell(&HostReport::Broken { flow, why: format!("{from} to {to}: {error}") })
                    }
                }
            }
            Ask::Datagram { flow, bytes } => {
                self.datagrams.send(flow, bytes);
                Ok(())
            }
        }
    }

    fn teller(&self) -> impl Fn(HostReport) + Send + 'static {
        let tell = self.tell.clone();
        move |told| {
            let _ = tell.send(Event::HostReport(told)); // the agent has ended
        }
    }

    fn tell_arrived(&mut self) -> io::Result<()> {
        let news: Vec<HostReport> = self
            .receiving
            .iter_mut()
            .filter_map(|(&flow, receiver)| {
                let (bytes, at) = receiver.news()?;
                Some(HostReport::Arrived { flow, bytes, at })
            })
            .chain(self.datagrams.news())
            .collect();
        news.iter().try_for_each(|told| self.tell(told))
    }

    fn tell(&mut self, told: &HostReport) -> io::Result<()> {
        let mut line = serde_json::to_string(told).expect("plain data");
        line.push('\n');
        self.socket.write_all(line.as_bytes())
    }
}

/// The bytes of every flow: a pattern, so that lost, duplicated or misplaced bytes are found. Its length is
/// prime, so that it is no multiple of a packet's size.
pub(crate) struct Pattern(Vec<u8>);

impl Pattern {
    pub const LENGTH: usize = 65_521;

    pub fn new() -> Self {
        let mut word = 1_u64;
        let mut next = || {
            word = tresse_units::mix(word);
            word as u8
        };
        let once: Vec<u8> = (0..Self::LENGTH).map(|_| next()).collect();
        Self([&once[..], &once[..]].concat())
    }

    /// Some bytes at `offset`, at most `most`.
    pub fn at(&self, offset: u64, most: u64) -> &[u8] {
        let from = (offset % Self::LENGTH as u64) as usize;
        &self.0[from..from + Self::LENGTH.min(usize::try_from(most).unwrap_or(usize::MAX))]
    }

    /// The position in it of the first of these bytes, at most 32; the first position, if there are several.
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        let some = &bytes[..bytes.len().min(32)];
        (0..Self::LENGTH).find(|&from| self.0[from..].starts_with(some))
    }
}
