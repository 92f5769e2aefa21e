//! Persistent connections: many messages one after the other, each with the windows and paths that the previous one
//! left.

use std::collections::VecDeque;

use tresse_transport::Counters;

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
        let first = Message { id: spec.id, bytes: spec.bytes, start: self.now() };
        let halves = self.open(spec);
        let (part, slot) = halves.receiving;
        self.parts[part].receivings[slot as usize].stays = true;
        let (part, slot) = halves.sending;
        self.parts[part].sendings[slot as usize].managed.messages =
            Some(Messages { queue: VecDeque::from([first]), ..Messages::default() });
        self.launch(halves);
    }

    /// Adds a message to a persistent connection, which was started under the name `connection`: `id`, of `bytes`.
    /// The message begins a new segment.
    ///
    /// # Panics
    /// If there is no such connection, or if all its messages together have more than 2^32 - 1 segments.
    pub fn append(&mut self, connection: u64, id: u64, bytes: u64) {
        let halves = *self.halves.get(&connection).expect("a connection that was started");
        let message = Message { id, bytes, start: self.now() };
        let (part, slot) = halves.receiving;
        let part = &mut self.parts[part];
        let half = &mut part.receivings[slot as usize];
        half.receiver.messages_mut().expect("a connection").append(bytes);
        if half.within_reach > 0 {
            half.look(&mut part.near);
        }
        let (part, slot) = halves.sending;
        let half = &mut self.parts[part].sendings[slot as usize];
        half.managed.messages.as_mut().expect("a connection that stays").queue.push_back(message);
        half.sender.append(bytes);
        self.live += 1;
        self.halves.insert(id, halves);
        self.transmit(part, slot);
    }

    /// The message of a persistent connection is complete, or given up.
    pub(crate) fn end_message(&mut self, halves: Halves) -> FlowRecord {
        let end = self.now();
        self.live -= 1;
        let (part, slot) = halves.receiving;
        let part = &mut self.parts[part];
        let half = &mut part.receivings[slot as usize];
        let complete = half.receiver.complete();
        let mss = u64::from(half.receiver.config().mss);
        let messages = half.receiver.messages_mut().expect("a connection");
        let arrived = u64::from(messages.arrived_of_message()) * mss;
        messages.take_message();
        if half.within_reach > 0 {
            half.look(&mut part.near);
        }
        if complete && half.receiver.complete() {
            self.ready.push(halves);
        }

        let (part, slot) = halves.sending;
        let half = &mut self.parts[part].sendings[slot as usize];
        let mut total = Counters::default();
        (0..half.ways.len()).for_each(|i| total += half.sender.counters(i));
        let messages = half.managed.messages.as_mut().expect("a connection that stays");
        let Message { id, bytes, start } = messages.queue.pop_front().expect("a message that is on its way");
        let counters = total - std::mem::replace(&mut messages.counted, total);
        // The connection is known by its first message as long as it is there.
        if let Some(before) = messages.last.replace(id).filter(|&before| before != half.id) {
            self.halves.remove(&before);
        }
        FlowRecord {
            id,
            bytes: if complete { bytes } else { arrived.min(bytes) },
            complete,
            start,
            end,
            opened: half.ways.len() as u32,
            closed: half.managed.closed,
            counters,
        }
    }
}
