//! Persistent connections: many messages one after the other, each with the windows and paths that the previous one
//! left.

use std::collections::VecDeque;

use crate::deeds::{Deed, What};
use crate::flow::{Message, Messages};
use crate::spec::{FlowRecord, FlowSpec};
use crate::world::{Halves, World};

impl World {
    /// Like [`World::start`], but the connection stays when its message has arrived: [`World::append`] adds further
    /// messages, each with its own record.
    ///
    /// # Panics
    /// As there.
    pub fn start_lasting(&mut self, spec: FlowSpec) {
        let first = Message { id: spec.id, bytes: spec.bytes, start: self.now };
        let (halves, unopened) = self.open(spec);
        let (part, slot) = halves.receiving;
        self.parts[part].receivings[slot as usize].stays = true;
        let (part, slot) = halves.sending;
        self.parts[part].sendings[slot as usize].managed.messages =
            Some(Messages { queue: VecDeque::from([first]), ..Messages::default() });
        self.launch((halves, unopened));
    }

    /// Adds a message to a persistent connection, which was started under the name `connection`: `id`, of `bytes`.
    /// The message begins a new segment.
    ///
    /// # Panics
    /// If there is no such connection, or if all its messages together have more than 2^32 - 1 segments.
    pub fn append(&mut self, connection: u64, id: u64, bytes: u64) {
        let halves = *self.halves.get(&connection).expect("a connection that was started");
        let message = Message { id, bytes, start: self.now };
        let (part, slot) = halves.receiving;
        let part = &mut self.parts[part];
        let half = &mut part.receivings[slot as usize];
        half.receiver.messages_mut().expect("a connection").append(bytes);
        half.look(&mut part.foresight.near);
        let (part, slot) = halves.sending;
        let half = &mut self.parts[part].sendings[slot as usize];
        half.managed.messages.as_mut().expect("a connection that stays").queue.push_back(message);
        self.live += 1;
        self.halves.insert(id, halves);
        if self.window.is_some() {
            let deed = Deed { time: self.now, rank: self.rank(), slot, what: What::Append(bytes) };
            self.parts[part].deeds.add(deed);
        } else {
            self.come_to_now();
            self.parts[part].sendings[slot as usize].sender.append(bytes);
            self.transmit(part, slot);
        }
    }

    /// A message has ended: the one before it is forgotten. The connection is known by its first message as long as it is
    /// there.
    pub(crate) fn forget_message_before(&mut self, id: u64, halves: Halves) {
        let (part, slot) = halves.sending;
        let half = &mut self.parts[part].sendings[slot as usize];
        let connection = half.id;
        let before = half.managed.messages.as_mut().and_then(|messages| messages.last.replace(id));
        if let Some(before) = before.filter(|&before| before != connection) {
            self.halves.remove(&before);
        }
    }

    /// The first message of a persistent connection is given up.
    pub(crate) fn give_up_message(&mut self, halves: Halves) -> FlowRecord {
        self.live -= 1;
        let (part, slot) = halves.receiving;
        let part = &mut self.parts[part];
        let half = &mut part.receivings[slot as usize];
        let mss = u64::from(half.receiver.config().mss);
        let messages = half.receiver.messages_mut().expect("a connection");
        let arrived = u64::from(messages.arrived_of_message()) * mss;
        messages.take_message();
        // What comes after it may have arrived before.
        let complete = half.take_messages();
        half.look(&mut part.foresight.near);
        self.ready.extend((0..complete).map(|_| halves));
        let (part, slot) = halves.sending;
        let record = self.parts[part].end_sending(slot);
        self.forget_message_before(record.id, halves);
        FlowRecord { bytes: arrived.min(record.bytes), complete: false, ..record }
    }
}
