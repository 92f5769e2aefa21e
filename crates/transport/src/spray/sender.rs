//! The sending half of a sprayed connection.

use std::sync::Arc;

use tresse_controllers::{self as controllers, ConfiguredController, Group, Hop};
use tresse_units::{NEVER, Time};

use super::Spraying;
use super::spreading::Spreading;
use crate::message::Outgoing;
use crate::rtt::RttEstimator;
use crate::{Answer, Config, Counters, Transmit};

/// The sending half of a sprayed connection: one message, or several in sequence ([`Sender::append`]). Nothing is sent
/// before [`Sender::open`].
///
/// After every `handle_*` and once at the start, call [`Sender::poll_transmit`] until it returns `None`. Then check
/// [`Sender::deadline`] again.
#[derive(Debug)]
pub struct Sender {
    connection: Connection,
    /// Its packets, once it is open.
    spreading: Option<Spreading>,
    /// The host's own port holds it back.
    held: bool,
}

/// What a sprayed connection has in common with one of TCP.
#[derive(Debug)]
pub(super) struct Connection {
    pub config: Arc<Config>,
    /// Its controller, once it is open.
    pub group: Group,
    pub messages: Outgoing,
    pub rtt: RttEstimator,
    pub counters: Counters,
}

impl Sender {
    /// A connection that sends `bytes`.
    ///
    /// # Panics
    /// If `bytes` is 0 or above 2^32 - 1 segments.
    pub fn new(config: impl Into<Arc<Config>>, scheme: Arc<ConfiguredController>, bytes: u64) -> Self {
        let config = config.into();
        let connection = Connection {
            group: Group::new(scheme, 0, config.initial_window),
            messages: Outgoing::new(bytes, config.mss),
            rtt: RttEstimator::new(),
            counters: Counters::default(),
            config,
        };
        Self { connection, spreading: None, held: false }
    }

    /// Its paths are known: it may send.
    pub fn open(&mut self, spraying: Spraying) {
        let own = &mut self.connection;
        own.group.insert(0, own.config.initial_window);
        own.group[0].ssthresh = own.config.initial_ssthresh;
        own.group[0].mss = own.config.mss;
        self.spreading = Some(Spreading::new(spraying, own));
    }

    /// Whether it may send.
    pub fn is_open(&self) -> bool {
        self.spreading.is_some()
    }

    /// The application has written only the first `bytes` of the message, no fewer than before; whole
    /// segments of them may be sent. Without this call, all is written from the start. Then call
    /// [`Sender::poll_transmit`].
    pub fn write(&mut self, bytes: u64) {
        self.connection.messages.write(bytes);
    }

    /// One more message of `bytes`, after the existing ones; it begins a new segment. Then call
    /// [`Sender::poll_transmit`].
    ///
    /// # Panics
    /// If `bytes` is 0, all messages together have more than 2^32 - 1 segments, or the previous message is
    /// not completely written.
    pub fn append(&mut self, bytes: u64) {
        let arrived = self.spreading.as_ref().map_or(0, Spreading::una);
        self.connection.messages.append(bytes, arrived);
    }

    /// The data that switches have written into the packet that the next ACK answers, starting from this host.
    pub fn hear_hops(&mut self, hops: impl Iterator<Item = Hop>) {
        if let Some(spreading) = &mut self.spreading {
            spreading.hear_hops(hops);
        }
    }

    /// See [`crate::Sender::hold`].
    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// The packet to send now: lost packets first, as far as the window allows.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let spreading = self.spreading.as_mut()?;
        if self.held {
            spreading.hold(&self.connection);
            return None;
        }
        spreading.poll(now, &mut self.connection)
    }

    /// An ACK or a NACK has arrived.
    pub fn handle_answer(&mut self, now: Time, answer: &Answer) {
        if let Some(spreading) = &mut self.spreading {
            spreading.handle_answer(now, answer, &mut self.connection);
        }
    }

    /// The deadline has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        if let Some(spreading) = &mut self.spreading {
            spreading.handle_timeout(now, &mut self.connection);
        }
    }

    /// When to call [`Sender::handle_timeout`]; `NEVER` if nothing is outstanding or waits for the pacing.
    pub fn deadline(&self) -> Time {
        self.spreading.as_ref().map_or(NEVER, Spreading::deadline)
    }

    /// The smoothed RTT, ps; 0 if there is no sample.
    pub fn srtt(&self) -> Time {
        self.connection.rtt.srtt()
    }

    /// Packets that were sent at least once.
    pub fn sent(&self) -> u32 {
        self.spreading.as_ref().map_or(0, Spreading::sent)
    }

    /// Packets that were sent, without the first ones that have all arrived.
    pub fn outstanding(&self) -> u32 {
        self.spreading.as_ref().map_or(0, |spreading| spreading.sent() - spreading.una())
    }

    /// Packets in flight, as the window counts them.
    pub fn in_flight(&self) -> u32 {
        self.spreading.as_ref().map_or(0, Spreading::in_flight)
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.connection.counters
    }

    /// The controller, for measurements.
    pub fn group(&self) -> &Group {
        &self.connection.group
    }

    /// The controller of a connection that is open.
    pub(crate) fn controller_mut(&mut self) -> &mut controllers::Subflow {
        &mut self.connection.group[0]
    }

    /// Calls `fetch` with the cache lines that an answer will touch.
    pub fn for_each_line(&self, fetch: impl Fn(*const u8)) {
        let own: *const u8 = std::ptr::from_ref(self).cast();
        (0..size_of::<Self>().div_ceil(64)).for_each(|line| fetch(own.wrapping_add(64 * line)));
        let controllers: *const u8 = self.connection.group.subflows().as_ptr().cast();
        (0..2).for_each(|line| fetch(controllers.wrapping_add(64 * line)));
        if let Some(spreading) = &self.spreading {
            spreading.for_each_line(fetch);
        }
    }

    /// The transport that it runs.
    pub fn config(&self) -> &Config {
        &self.connection.config
    }
}
