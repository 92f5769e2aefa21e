//! The sending end of a flow, whatever its transport is.

use tresse_controllers::{self as controllers, CWND_LIMIT, Hop, State};
use tresse_units::{NEVER, Time};

use crate::{Body, Config, Counters, Transmit, Wire, datagram, spray, tcp};

/// The sending end of a flow. Subflows are numbered in the order in which they were opened; sprayed connections and
/// datagrams have subflow 0 only.
///
/// After every `handle_*` and once at the start, call [`Sender::poll_transmit`] until it returns `None`. Then
/// check [`Sender::deadline`] of the subflow again.
// The kind comes first, next to what else a packet needs, and not in a niche of some cold field.
#[derive(Debug)]
#[repr(u8)]
pub enum Sender {
    /// Subflows of TCP.
    Tcp(tcp::Sender),
    /// One window over many paths.
    Sprayed(Box<spray::Sender>),
    /// No transport.
    Datagrams(datagram::Sender),
}

impl Sender {
    /// Whether it sends datagrams.
    #[inline]
    pub fn is_datagrams(&self) -> bool {
        matches!(self, Self::Datagrams(_))
    }

    /// The next packet to send now. Datagrams are not sent by themselves: see [`datagram::Sender::send`].
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        match self {
            Self::Tcp(sender) => sender.poll_transmit(now),
            Self::Sprayed(sender) => sender.poll_transmit(now),
            Self::Datagrams(_) => None,
        }
    }

    /// An ACK has arrived for `subflow`.
    #[inline]
    pub fn handle_ack(&mut self, now: Time, subflow: usize, wire: &Wire) {
        match (self, &wire.body) {
            (Self::Tcp(sender), Body::Ack(ack)) => sender.handle_ack(now, subflow, ack),
            (Self::Sprayed(sender), Body::Answer(answer)) => sender.handle_answer(now, answer),
            _ => debug_assert!(false, "an ACK of another transport"),
        }
    }

    /// The deadline of `subflow` has passed.
    #[inline]
    pub fn handle_timeout(&mut self, now: Time, subflow: usize) {
        match self {
            Self::Tcp(sender) => sender.handle_timeout(now, subflow),
            Self::Sprayed(sender) => sender.handle_timeout(now),
            Self::Datagrams(_) => {}
        }
    }

    /// When to call [`Sender::handle_timeout`] for `subflow`; `NEVER` if nothing is outstanding or waits.
    #[inline]
    pub fn deadline(&self, subflow: usize) -> Time {
        match self {
            Self::Tcp(sender) => sender.deadline(subflow),
            Self::Sprayed(sender) => sender.deadline(),
            Self::Datagrams(_) => NEVER,
        }
    }

    /// The application has written only the first `bytes` of the message: see [`tcp::Sender::write`].
    pub fn write(&mut self, bytes: u64) {
        match self {
            Self::Tcp(sender) => sender.write(bytes),
            Self::Sprayed(sender) => sender.write(bytes),
            Self::Datagrams(_) => {}
        }
    }

    /// One more message of `bytes`: see [`tcp::Sender::append`].
    ///
    /// # Panics
    /// As there, or if there is no connection.
    pub fn append(&mut self, bytes: u64) {
        match self {
            Self::Tcp(sender) => sender.append(bytes),
            Self::Sprayed(sender) => sender.append(bytes),
            Self::Datagrams(_) => panic!("datagrams have no messages"),
        }
    }

    /// Whether `subflow` is held back because enough of its packets wait in the host's own port. It then sends nothing.
    /// Afterwards call [`Sender::poll_transmit`].
    pub fn hold(&mut self, subflow: usize, held: bool) {
        match self {
            Self::Tcp(sender) => sender.hold(subflow, held),
            Self::Sprayed(sender) => sender.hold(held),
            Self::Datagrams(_) => {}
        }
    }

    /// How many bytes of packets of `subflow` wait in the host's own port before it is held back, if that port serves
    /// subflows in turn.
    pub fn port_limit(&self, subflow: usize) -> u64 {
        match self {
            Self::Tcp(sender) => sender.port_limit(subflow),
            Self::Sprayed(_) | Self::Datagrams(_) => self.config().port_limit,
        }
    }

    /// What this host knows about congestion on the path of `subflow`: see [`tcp::Sender::hear`].
    pub fn hear(&mut self, subflow: usize, local: bool, next_hop: bool) {
        if let Self::Tcp(sender) = self {
            sender.hear(subflow, local, next_hop);
        }
    }

    /// The data that switches have written into the packet that the next ACK answers, starting from this host. Only
    /// sprayed connections read it.
    pub fn hear_hops(&mut self, hops: impl Iterator<Item = Hop>) {
        if let Self::Sprayed(sender) = self {
            sender.hear_hops(hops);
        }
    }

    /// Whether `subflow` has asked for another path since the last call: see [`tcp::Sender::take_rehash`].
    #[inline]
    pub fn take_rehash(&mut self, subflow: usize) -> bool {
        match self {
            Self::Tcp(sender) => sender.take_rehash(subflow),
            Self::Sprayed(_) | Self::Datagrams(_) => false,
        }
    }

    /// For a subflow whose controller is [`tresse_controllers::agent`], sets from outside its window,
    /// packets, if it is to change, and the controller's word (see there). In loss recovery, this is the
    /// window after the recovery. Nothing happens to a subflow that is not open. Then call
    /// [`Sender::poll_transmit`].
    pub fn steer(&mut self, subflow: usize, cwnd: Option<u32>, word: u64) {
        if !self.is_open(subflow) {
            return;
        }
        let window = self.config().receive_window;
        let own = match self {
            Self::Tcp(sender) => sender.controller_mut(subflow),
            Self::Sprayed(sender) => sender.controller_mut(),
            Self::Datagrams(_) => return,
        };
        own.word = word;
        if let Some(cwnd) = cwnd {
            let cwnd = cwnd.clamp(1, CWND_LIMIT - 1).min(window);
            own.ssthresh = cwnd;
            if own.state < State::Recovery {
                own.cwnd = cwnd;
            }
        }
    }

    /// Whether a subflow is established and not closed.
    #[inline]
    pub fn is_open(&self, subflow: usize) -> bool {
        match self {
            Self::Tcp(sender) => sender.is_open(subflow),
            Self::Sprayed(sender) => subflow == 0 && sender.is_open(),
            Self::Datagrams(_) => false,
        }
    }

    /// How many subflows were opened, closed ones included.
    pub fn subflows(&self) -> usize {
        match self {
            Self::Tcp(sender) => sender.subflows(),
            Self::Sprayed(sender) => sender.is_open().into(),
            Self::Datagrams(_) => 0,
        }
    }

    /// The controller of a subflow, for measurements; `None` if the subflow is not open.
    pub fn controller(&self, subflow: usize) -> Option<&controllers::Subflow> {
        match self {
            Self::Tcp(sender) => sender.place(subflow).map(|place| &sender.group()[place]),
            Self::Sprayed(sender) => sender.is_open().then(|| &sender.group()[0]).filter(|_| subflow == 0),
            Self::Datagrams(_) => None,
        }
    }

    /// The counters of `subflow`.
    pub fn counters(&self, subflow: usize) -> Counters {
        match self {
            Self::Tcp(sender) => sender.counters(subflow),
            Self::Sprayed(sender) => sender.counters(),
            Self::Datagrams(sender) => sender.counters(),
        }
    }

    /// The smoothed RTT of `subflow`, ps; 0 if there is no sample.
    #[inline]
    pub fn srtt(&self, subflow: usize) -> Time {
        match self {
            Self::Tcp(sender) => sender.srtt(subflow),
            Self::Sprayed(sender) => sender.srtt(),
            Self::Datagrams(_) => 0,
        }
    }

    /// Segments of the messages that were sent at least once.
    pub fn sent(&self) -> u32 {
        match self {
            Self::Tcp(sender) => sender.sent(),
            Self::Sprayed(sender) => sender.sent(),
            Self::Datagrams(_) => 0,
        }
    }

    /// Segments of `subflow` that are sent and not cumulatively ACKed.
    pub fn outstanding(&self, subflow: usize) -> u32 {
        match self {
            Self::Tcp(sender) => sender.outstanding(subflow),
            Self::Sprayed(sender) => sender.outstanding(),
            Self::Datagrams(_) => 0,
        }
    }

    /// Packets of `subflow` in flight, as its window counts them.
    pub fn in_flight(&self, subflow: usize) -> u32 {
        match self {
            Self::Tcp(sender) => sender.in_flight(subflow),
            Self::Sprayed(sender) => sender.in_flight(),
            Self::Datagrams(_) => 0,
        }
    }

    /// Calls `fetch` with the addresses of the cache lines, other than its own, that an ACK of `subflow` will touch.
    /// None of datagrams.
    #[inline]
    pub fn for_each_line(&self, subflow: usize, fetch: impl Fn(*const u8)) {
        match self {
            Self::Tcp(sender) => sender.for_each_line(subflow, fetch),
            Self::Sprayed(sender) => sender.for_each_line(fetch),
            Self::Datagrams(_) => {}
        }
    }

    /// The transport that it runs.
    #[inline]
    pub fn config(&self) -> &Config {
        match self {
            Self::Tcp(sender) => sender.config(),
            Self::Sprayed(sender) => sender.config(),
            Self::Datagrams(sender) => sender.config(),
        }
    }
}
