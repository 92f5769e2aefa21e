//! Rare events: connections that start without data, their ends, the writes of applications, and datagrams.

use std::sync::Arc;

use tresse_fabric::Ecn;
use tresse_path_manager::PathChoice;
use tresse_transport::{Counters, Incoming, Receiver, Sender, Wire, datagram};
use tresse_units::NEVER;

use crate::flow::{Message, Receiving, SUBFLOW_BITS, Sending, Way};
use crate::part::{DELAYED_ACK, Part, RETRANSMISSION};
use crate::sending::timer;
use crate::spec::{FlowRecord, FlowSpec, Paths};
use crate::world::{Halves, World};

impl World {
    /// Stops a connection or a flow of datagrams now, and returns its record. Packets in the fabric continue,
    /// without any effect.
    ///
    /// A message of a persistent connection is given up; the connection continues.
    ///
    /// # Panics
    /// If there is none with this name, if it has finished, or if an earlier message of the same connection has
    /// not.
    pub fn stop(&mut self, id: u64) -> FlowRecord {
        self.settle_for_caller();
        let halves = *self.halves.get(&id).expect("a flow that was started");
        let half = self.sending(halves);
        assert!(half.is_open, "a flow that has not finished");
        match &half.managed.messages {
            Some(messages) => {
                assert_eq!(
                    messages.queue.front().map(|m| m.id),
                    Some(id),
                    "the first message that is on its way"
                );
                self.give_up_message(halves)
            }
            None => self.give_up(halves),
        }
    }

    /// All is carried out until now, and the caller does something at once.
    fn settle_for_caller(&mut self) {
        self.settle();
        self.come_to_now();
    }

    /// Like [`World::start`], but the application has not written anything yet: see [`World::write`].
    ///
    /// # Panics
    /// As there.
    pub fn start_unwritten(&mut self, spec: FlowSpec) {
        let opened = self.open(spec);
        let (part, slot) = opened.0.sending;
        self.parts[part].sendings[slot as usize].sender.write(0);
        self.launch(opened);
    }

    /// Payload of a connection that was delivered in order, bytes; 0 if there is no connection with this name.
    pub fn delivered(&self, id: u64) -> u64 {
        self.assert_settled();
        let Some(&halves) = self.halves.get(&id) else { return 0 };
        let receiver = &self.receiving(halves).receiver;
        let segments = receiver.messages().map_or(0, Incoming::delivered);
        u64::from(segments) * u64::from(receiver.config().mss)
    }

    /// Payload of datagrams that has arrived, bytes; `None` if there is no such flow, or it is a connection.
    pub fn received(&self, id: u64) -> Option<u64> {
        self.assert_settled();
        match &self.receiving(*self.halves.get(&id)?).receiver {
            Receiver::Datagrams(receiver) => Some(receiver.received()),
            Receiver::Tcp(_) | Receiver::Sprayed(_) => None,
        }
    }

    /// The application of a connection has so far written only the first `bytes` of its message; the connection can
    /// send whole segments of them. Nothing happens if the connection has finished.
    ///
    /// # Panics
    /// If there is none of this name.
    pub fn write(&mut self, id: u64, bytes: u64) {
        self.settle_for_caller();
        let (part, slot) = self.halves.get(&id).expect("a flow that was started").sending;
        let half = &mut self.parts[part].sendings[slot as usize];
        if half.is_open {
            half.sender.write(bytes);
            self.transmit(part, slot);
        }
    }

    /// Applies an agent's action to a subflow: see [`Sender::steer`]. Nothing happens if the connection has
    /// finished.
    pub fn steer(&mut self, id: u64, subflow: usize, cwnd: Option<u32>, word: u64) {
        self.settle_for_caller();
        let Some(halves) = self.halves.get(&id) else { return };
        let (part, slot) = halves.sending;
        let half = &mut self.parts[part].sendings[slot as usize];
        if half.is_open {
            half.sender.steer(subflow, cwnd, word);
            self.transmit(part, slot);
        }
    }

    /// Starts a flow of datagrams: nothing leaves before [`World::send_datagram`], and it lasts until it is
    /// stopped. The controller and the transport of `spec` are not used, except for the size of the headers. It
    /// takes the first path.
    pub fn start_datagrams(&mut self, spec: FlowSpec) {
        self.settle_for_caller();
        let config = self.share(&spec.config);
        let sender = Sender::Datagrams(datagram::Sender::new(Arc::clone(&config)));
        let receiver = Receiver::Datagrams(datagram::Receiver::new(config));
        let choice = match &spec.paths {
            Paths::Fixed(_) => PathChoice::Addresses { local: 0, remote: 0 },
            Paths::Forwarded { .. } => PathChoice::Port(0),
        };
        let (halves, unopened) = self.join(spec, sender, receiver);
        let (part, slot) = halves.sending;
        let part = &mut self.parts[part];
        part.give_manager(slot, &unopened);
        let half = &mut part.sendings[slot as usize];
        let way = Way::new(&mut part.fabric, &half.managed.paths, choice);
        let back = way.back();
        half.ways.push(way);
        let (part, slot) = halves.receiving;
        self.parts[part].receivings[slot as usize].ways.push(back);
        self.exchange();
        self.live += 1;
    }

    /// A flow of datagrams sends one of this many bytes of payload now; it is not ECN-capable.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn send_datagram(&mut self, id: u64, payload: u32) {
        self.settle_for_caller();
        let (part, slot) = self.halves.get(&id).expect("a flow that was started").sending;
        self.parts[part].send_datagram(slot, payload);
        self.exchange();
    }

    /// A connection or a flow of datagrams is stopped.
    fn give_up(&mut self, halves: Halves) -> FlowRecord {
        self.live -= 1;
        let (part, slot) = halves.receiving;
        let part = &mut self.parts[part];
        let half = &part.receivings[slot as usize];
        let (complete, is_message) = (half.receiver.complete(), half.receiver.messages().is_some());
        let arrived = match &half.receiver {
            Receiver::Datagrams(receiver) => receiver.received(),
            Receiver::Tcp(_) | Receiver::Sprayed(_) => {
                let segments = half.receiver.messages().map_or(0, Incoming::arrived);
                u64::from(segments) * u64::from(half.receiver.config().mss)
            }
        };
        part.close_receiving(slot);
        let record = self.end_sending(halves);
        // The last segment may be shorter.
        let bytes = if is_message { arrived.min(record.bytes) } else { arrived };
        FlowRecord { bytes: if complete && is_message { record.bytes } else { bytes }, complete, ..record }
    }

    /// A message has arrived now, in a world that goes event by event.
    pub(crate) fn end_now(&mut self, halves: Halves) -> FlowRecord {
        self.live -= 1;
        let record = self.end_sending(halves);
        self.forget_message_before(record.id, halves);
        record
    }

    fn end_sending(&mut self, halves: Halves) -> FlowRecord {
        let (part, slot) = halves.sending;
        let record = self.parts[part].end_sending(slot);
        self.note_closing(halves);
        record
    }

    /// A message has ended, and with it its connection, unless that stays: its slots will be freed.
    pub(crate) fn note_closing(&mut self, halves: Halves) {
        if self.cutting.is_some() && !self.receiving(halves).stays {
            self.closing.push(halves);
        }
    }

    /// Frees the slots of connections that have finished and have no packet in the fabric. Looks at them once they have become
    /// twice as many: a packet stays for a round-trip time, in which many others may finish.
    pub(crate) fn release_closed(&mut self) {
        const FEW: usize = 16;
        if self.closing.len() < 2 * self.kept_closing + FEW {
            return;
        }
        self.deliver();
        let mut closing = std::mem::take(&mut self.closing);
        closing.retain(|&halves| {
            let packets = self.sending(halves).in_fabric + self.receiving(halves).in_fabric;
            if packets == 0 {
                self.parts[halves.sending.0].free_sending(halves.sending.1);
                self.parts[halves.receiving.0].free_receivings.push(halves.receiving.1);
            }
            packets != 0
        });
        self.kept_closing = closing.len();
        self.closing = closing;
    }

    pub(crate) fn sending(&self, halves: Halves) -> &Sending {
        &self.parts[halves.sending.0].sendings[halves.sending.1 as usize]
    }

    pub(crate) fn receiving(&self, halves: Halves) -> &Receiving {
        &self.parts[halves.receiving.0].receivings[halves.receiving.1 as usize]
    }
}

impl Part {
    /// A half hears nothing more: its message has arrived, or it is given up.
    pub fn close_receiving(&mut self, slot: u32) {
        let half = &mut self.receivings[slot as usize];
        half.is_open = false;
        self.foresight.near -= u32::from(std::mem::take(&mut half.is_near));
        for (i, way) in (0..).zip(&mut half.ways) {
            way.armed = NEVER;
            self.timers.clear(timer(slot, half.id, i, DELAYED_ACK).0);
        }
    }

    /// The message of a half has arrived now at the other end, the first one of a connection that stays; any other stops.
    pub fn end_sending(&mut self, slot: u32) -> FlowRecord {
        let end = self.fabric.now();
        let half = &mut self.sendings[slot as usize];
        let mut counters = Counters::default();
        (0..half.ways.len()).for_each(|i| counters += half.sender.counters(i));
        let record = FlowRecord {
            id: half.id,
            bytes: half.bytes,
            complete: true,
            start: half.start,
            end,
            opened: half.ways.len() as u32,
            closed: half.managed.closed,
            counters,
        };
        if let Some(messages) = &mut half.managed.messages {
            let message = messages.queue.pop_front().expect("a message that is on its way");
            let counters = counters - std::mem::replace(&mut messages.counted, counters);
            let Message { id, bytes, start } = message;
            return FlowRecord { id, bytes, start, counters, ..record };
        }
        half.is_open = false;
        for (i, way) in (0..).zip(&mut half.ways) {
            way.armed = NEVER;
            self.timers.clear(timer(slot, half.id, i, RETRANSMISSION).0);
        }
        self.release_if_empty(slot);
        record
    }

    fn send_datagram(&mut self, slot: u32, payload: u32) {
        let half = &mut self.sendings[slot as usize];
        let Sender::Datagrams(sender) = &mut half.sender else { panic!("a flow of datagrams") };
        assert!(half.is_open, "a flow that has not been stopped");
        let wire = Wire { subflow: half.peer << SUBFLOW_BITS, body: sender.send(payload).body };
        let bytes = payload + sender.config().header;
        let way = &mut half.ways[0];
        let header = way.header(bytes, Ecn::NotEct, half.class, None);
        let hop = self.fabric.first_hop(way.there, &header);
        self.put_on_wire(slot, hop, header, wire);
    }

    /// A datagram has arrived.
    #[cold]
    pub(crate) fn handle_datagram(&mut self, slot: u32, bytes: u32) {
        let Receiver::Datagrams(receiver) = &mut self.receivings[slot as usize].receiver else { return };
        let payload = u64::from(bytes - receiver.config().header);
        receiver.receive(payload);
        self.delivered_bytes += payload;
    }
}
