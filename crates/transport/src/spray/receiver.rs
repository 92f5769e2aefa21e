//! The receiving half of a sprayed connection.

use std::sync::Arc;

use tresse_units::{NEVER, Time};

use crate::message::Incoming;
use crate::{Answer, Config, Fate, SprayedPacket, Stamp};

/// The receiving half of a sprayed connection.
#[derive(Debug)]
pub struct Receiver {
    config: Arc<Config>,
    pub(crate) messages: Incoming,
    duplicates: u64,
    /// Packets that no ACK covers yet.
    pending: u32,
    /// The newest of them.
    newest: Newest,
    deadline: Time,
}

/// A packet that has arrived.
#[derive(Debug, Clone, Copy, Default)]
struct Newest {
    packet: u32,
    path: u32,
    stamp: Stamp,
}

impl Receiver {
    /// The other end of a [`Sender`](crate::spray::Sender) with the same arguments.
    ///
    /// # Panics
    /// As there.
    pub fn new(config: impl Into<Arc<Config>>, bytes: u64) -> Self {
        let config = config.into();
        Self {
            messages: Incoming::new(bytes, config.mss),
            duplicates: 0,
            pending: 0,
            newest: Newest::default(),
            deadline: NEVER,
            config,
        }
    }

    /// A packet has arrived, marked CE or not. Returns the ACK, if one is due: for every
    /// [`every`](crate::DelayedAck::every) packets, at once for a marked packet, a duplicate or one that asks for it,
    /// and when [`timer`](crate::DelayedAck::timer) has passed.
    pub fn handle_data(&mut self, now: Time, packet: &SprayedPacket, ce: bool) -> Option<Answer> {
        let is_new = self.messages.data.insert(packet.number);
        self.duplicates += u64::from(!is_new);
        self.note(packet);
        self.pending += 1;
        let rule = &self.config.delayed_ack;
        if self.pending >= rule.every || ce || packet.asks || packet.last || !is_new {
            return Some(self.answer(Fate::Arrived { ce }));
        }
        if self.deadline == NEVER {
            self.deadline = now.saturating_add(rule.timer);
        }
        None
    }

    /// The header of a packet has arrived; `last_hop`: the port that trimmed it leads here. Returns the NACK, which
    /// also covers packets that wait for an ACK.
    pub fn handle_trimmed(&mut self, packet: &SprayedPacket, last_hop: bool) -> Answer {
        self.note(packet);
        self.answer(Fate::Trimmed { last_hop })
    }

    /// The deadline has passed. Returns the ACK, if packets wait for one.
    pub fn handle_timeout(&mut self) -> Option<Answer> {
        (self.pending > 0).then(|| self.answer(Fate::Arrived { ce: false }))
    }

    /// When the delayed ACK is due; `NEVER` if no packet waits.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// The messages and the data that has arrived.
    pub fn messages(&self) -> &Incoming {
        &self.messages
    }

    /// Packets that arrived more than once.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// The transport that it runs.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn note(&mut self, packet: &SprayedPacket) {
        let SprayedPacket { number, path, stamp, .. } = *packet;
        self.newest = Newest { packet: number, path, stamp };
    }

    fn answer(&mut self, fate: Fate) -> Answer {
        (self.pending, self.deadline) = (0, NEVER);
        let Newest { packet, path, stamp } = self.newest;
        let data = &self.messages.data;
        // The newest packet is among the 64 in the bitmap, along with those sent before it.
        let base = packet.saturating_sub(63).max(data.next());
        let bits = data.bitmap(base);
        let bitmap = [bits as u32, (bits >> 32) as u32];
        Answer { stamp, next: data.next(), packet, path, fate, base, bitmap }
    }
}
