//! How connections start unwritten and end, what applications write, and datagrams: all that is seldom.

use std::sync::Arc;

use tresse_fabric::Ecn;
use tresse_path_manager::PathChoice;
use tresse_transport::{Counters, Receiver, Sender, Wire};

use crate::flow::{Datagrams, Flow, Managed, SUBFLOW_BITS, SubflowPath};
use crate::spec::{FlowRecord, FlowSpec, Paths};
use crate::world::{DELAYED_ACK, RETRANSMISSION, World};

impl World {
    /// Stops a connection or a flow of datagrams now, and tells what became of it. Packets that are in the fabric
    /// go on, and mean nothing.
    ///
    /// # Panics
    /// If there is none of this name, or it has finished.
    pub fn stop(&mut self, id: u64) -> FlowRecord {
        let (slot, flow) = self.flow(id).expect("a flow that was started");
        assert!(!flow.done || flow.managed.datagrams.on, "a flow that has not finished");
        self.finish(slot)
    }

    /// As [`World::start`], but the application has written nothing yet: see [`World::write`].
    ///
    /// # Panics
    /// As there.
    pub fn start_unwritten(&mut self, spec: FlowSpec) {
        let slot = self.open(spec);
        self.flows[slot as usize].sender.write(0);
        self.launch(slot);
    }

    /// Payload of a connection that was delivered in order, bytes; 0 if there is none of this name.
    pub fn delivered(&self, id: u64) -> u64 {
        let mss = |flow: &Flow| u64::from(flow.receiver.config().mss);
        self.flow(id).map_or(0, |(_, flow)| u64::from(flow.receiver.delivered()) * mss(flow))
    }

    /// Payload of datagrams that has arrived, bytes; `None` if there is no such flow, or it is a connection.
    pub fn received(&self, id: u64) -> Option<u64> {
        self.flow(id).filter(|(_, flow)| flow.datagrams).map(|(_, flow)| flow.managed.datagrams.received)
    }

    /// Of its message, the application of a connection has written the first `bytes` only; it can send whole
    /// segments of them. Nothing happens if the connection has
    /// finished.
    ///
    /// # Panics
    /// If there is none of this name.
    pub fn write(&mut self, id: u64, bytes: u64) {
        let (slot, flow) = self.flow(id).expect("a flow that was started");
        if !flow.done {
            self.flows[slot as usize].sender.write(bytes);
            self.transmit(slot);
        }
    }

    /// Starts a flow of datagrams: nothing leaves before [`World::send_datagram`], and it lasts until it is
    /// stopped. Of `spec`, the controller and the transport are not used, beyond the size of the headers. The
    /// first path is the one that is taken.
    pub fn start_datagrams(&mut self, spec: FlowSpec) {
        let memory = self.memories.id(spec.manager.memory(spec.hosts, spec.paths.count()));
        let opening = spec.paths.opening(self.now(), spec.stream);
        let manager = spec.manager.open(&opening, &mut self.memories[memory]);
        let choice = match &spec.paths {
            Paths::Fixed(_) => PathChoice::Addresses { local: 0, remote: 0 },
            Paths::Forwarded { .. } => PathChoice::Port(0),
        };
        let paths = vec![SubflowPath::new(&mut self.fabric, &spec.paths, choice)];
        let config = self.share(&spec.config);
        self.place(Flow {
            id: spec.id,
            bytes: 0,
            start: self.now(),
            sender: Sender::new(Arc::clone(&config), spec.scheme, 0, 1),
            receiver: Receiver::new(config, 0, 1),
            paths,
            in_fabric: 0,
            done: true,
            class: spec.class,
            special: false,
            observed: false,
            hears: false,
            rehashes: false,
            datagrams: true,
            managed: Box::new(Managed {
                manager,
                memory,
                paths: spec.paths,
                group: spec.group,
                closed: 0,
                datagrams: Datagrams { on: true, ..Datagrams::default() },
            }),
        });
        self.live += 1;
    }

    /// A flow of datagrams sends one of so many bytes of payload now; it is not ECN-capable.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn send_datagram(&mut self, id: u64, payload: u32) {
        let (slot, flow) = self.flow(id).expect("a flow that was started");
        assert!(flow.managed.datagrams.on, "a flow of datagrams");
        let now = self.now();
        let flow = &mut self.flows[slot as usize];
        let wire = Wire {
            subflow: slot << SUBFLOW_BITS,
            seq: 0,
            dsn: 0,
            flags: 0,
            ce: 0,
            block_count: 0,
            stamp: now,
            blocks: Default::default(),
        };
        let bytes = payload + flow.sender.config().header;
        flow.managed.datagrams.sent += 1;
        self.packets.sent += 1;
        let path = &mut flow.paths[0];
        if self.fabric.send(path.there, path.header(bytes, Ecn::NotEct, flow.class), wire) {
            flow.in_fabric += 1;
        } else {
            self.packets.dropped += 1;
        }
    }

    /// A datagram has arrived.
    #[cold]
    pub(crate) fn handle_datagram(&mut self, slot: u32, bytes: u32) {
        let flow = &mut self.flows[slot as usize];
        let payload = u64::from(bytes - flow.receiver.config().header);
        flow.managed.datagrams.received += payload;
        self.delivered_bytes += payload;
    }

    pub(crate) fn finish(&mut self, slot: u32) -> FlowRecord {
        let end = self.now();
        self.live -= 1;
        let flow = &mut self.flows[slot as usize];
        flow.done = true;
        let Datagrams { sent, received, .. } = flow.managed.datagrams;
        flow.managed.datagrams.on = false;
        let mut total = Counters::default();
        if flow.datagrams {
            total.sent = sent;
        } else {
            for i in 0..flow.paths.len() {
                total += flow.sender.counters(i);
                for kind in [RETRANSMISSION, DELAYED_ACK] {
                    self.timers.clear((slot << SUBFLOW_BITS | i as u32) * 2 + kind);
                }
            }
        }
        let arrived = u64::from(flow.receiver.distinct()) * u64::from(flow.receiver.config().mss);
        let complete = !flow.datagrams && flow.receiver.complete();
        let record = FlowRecord {
            id: flow.id,
            bytes: match (flow.datagrams, complete) {
                (true, _) => received,
                (false, true) => flow.bytes,
                // The last segment may be shorter.
                (false, false) => arrived.min(flow.bytes),
            },
            complete,
            start: flow.start,
            end,
            opened: flow.paths.len() as u32,
            closed: flow.managed.closed,
            counters: total,
        };
        self.release_if_empty(slot);
        record
    }
}
