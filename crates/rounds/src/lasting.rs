//! Persistent connections: many messages one after the other, each with the windows and paths that the previous one left.

use std::collections::VecDeque;

use tresse_sim::{FlowRecord, FlowSpec};
use tresse_transport::Counters;
use tresse_units::Time;

use crate::connection::{Connection, Outgoing};
use crate::events::Kind;
use crate::network::Rounds;
use crate::sending::Place;

/// The messages of a connection that stays.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// Those that have not ended, in their order.
    queue: VecDeque<Message>,
    /// What the connection had counted when the last one ended.
    counted: Counters,
}

#[derive(Debug)]
struct Message {
    id: u64,
    bytes: u64,
    start: Time,
    /// The connection's packets until its end.
    until: u64,
    /// When the last of them arrives, if that is known.
    end: Option<Time>,
}

impl Messages {
    /// Of a connection that begins with this message of so many packets.
    pub fn beginning_with(spec: &FlowSpec, packets: u64, start: Time) -> Self {
        let first = Message { id: spec.id, bytes: spec.bytes, start, until: packets, end: None };
        Self { queue: VecDeque::from([first]), ..Self::default() }
    }
}

impl Connection {
    /// The next message ends now: its record.
    fn end_message(&mut self, now: Time) -> Option<FlowRecord> {
        let all = self.record(now);
        let messages = self.messages.as_mut()?;
        messages.queue.front()?.end.filter(|&end| end <= now)?;
        let Message { id, bytes, start, .. } = messages.queue.pop_front()?;
        let counters = all.counters - std::mem::replace(&mut messages.counted, all.counters);
        Some(FlowRecord { id, bytes, complete: true, start, counters, ..all })
    }

    /// Message `id` is given up: its record. What of it has not been sent is sent nevertheless.
    fn give_up(&mut self, id: u64, now: Time) -> Option<FlowRecord> {
        let (all, mss) = (self.record(now), u64::from(self.config.mss));
        let messages = self.messages.as_mut()?;
        let place = messages.queue.iter().position(|message| message.id == id)?;
        let Message { bytes, start, until, .. } = messages.queue.remove(place)?;
        let counters = all.counters - std::mem::replace(&mut messages.counted, all.counters);
        let missing = until.saturating_sub(self.arrived) * mss;
        let bytes = bytes.saturating_sub(missing);
        Some(FlowRecord { id, bytes, complete: false, start, counters, ..all })
    }
}

impl Place<'_> {
    /// Of a batch that is out, packets that the receiver did not have, `fresh`, arrive from its first one on until `last`:
    /// messages that they complete end when their last one does. `passed` is how many there were before.
    pub fn complete(&mut self, c: &mut Connection, out: &Outgoing, [passed, fresh]: [u64; 2], last: Time) {
        let Some(messages) = &mut c.messages else { return };
        let first = (out.start + out.forward as Time).max(self.now).min(last);
        let (mut before, mut ends) = (0, Vec::new());
        for message in &mut messages.queue {
            if message.until > passed + fresh {
                break;
            }
            // In order, as they are handed to the application.
            let place = message.until.saturating_sub(passed) as f64 / fresh as f64;
            let end = first + ((last - first) as f64 * place) as Time;
            before = message.end.unwrap_or(end.max(before));
            if message.end.replace(before).is_none() {
                ends.push(before);
            }
        }
        for end in ends {
            self.plan(c, end, Kind::Finished);
        }
    }
}

impl Rounds {
    /// Adds a message to a persistent connection, which was started under the name `connection`: `id`, of `bytes`. It begins a
    /// new packet.
    ///
    /// # Panics
    /// If there is no such connection.
    pub fn append(&mut self, connection: u64, id: u64, bytes: u64) {
        self.forget();
        let (slot, now) = (self.slots.named[&connection], self.now);
        self.slots.named.insert(id, slot);
        let mut c = self.connections[slot as usize].take().expect("it stays");
        let packets = bytes.div_ceil(c.config.mss.into()).max(1);
        c.packets += packets;
        c.unsent += packets;
        c.spec.bytes += bytes;
        c.wire = f64::from(c.config.header) + bytes as f64 / packets as f64;
        let message = Message { id, bytes, start: now, until: c.packets, end: None };
        c.messages.as_mut().expect("a connection that stays").queue.push_back(message);
        for i in 0..c.subflows.len() {
            let s = &mut c.subflows[i];
            if s.in_flight == 0 {
                s.leaving.gap = 0.0; // no ACKs come that would space its packets
            }
            let length = s.way.length();
            let sent = self.place(slot, i).send(&mut c);
            self.hops += u64::from(sent) * length;
        }
        self.connections[slot as usize] = Some(c);
    }

    /// The next message of the connection in `slot` has arrived, if that is so.
    pub(crate) fn end_message(&mut self, slot: u32) -> Option<FlowRecord> {
        let now = self.now;
        let c = self.connections[slot as usize].as_mut()?;
        let record = c.end_message(now)?;
        if record.id != c.spec.id {
            self.slots.named.remove(&record.id);
        }
        Some(record)
    }

    /// Gives up message `id` of the connection in `slot`, if that is persistent.
    pub(crate) fn give_up(&mut self, slot: u32, id: u64) -> Option<FlowRecord> {
        let now = self.now;
        self.connections[slot as usize].as_mut()?.give_up(id, now)
    }
}
