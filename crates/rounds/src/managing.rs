//! Path managers at work: subflows that open.

use std::collections::VecDeque;
use std::sync::Arc;

use tresse_path_manager::{Action, Memory, PathChoice, PathManager, Priority};
use tresse_transport::{Counters, Join};
use tresse_units::{NEVER, Time};

use crate::changes::base;
use crate::connection::{Echo, Repair, Rtt, Subflow, Way};
use crate::events::{Event, Kind};
use crate::network::Rounds;
use crate::sending::{Place, admit};

impl Rounds {
    /// The events of subflow `i` of the connection in `slot`.
    pub(crate) fn place(&mut self, slot: u32, i: usize) -> Place<'_> {
        Place {
            links: &mut self.links,
            records: &mut self.records,
            events: &mut self.events,
            rtts: &mut self.rtts,
            any_down: self.down > 0,
            now: self.now,
            slot,
            i,
        }
    }

    /// The handshake of a subflow is complete: the others may join now, or with its first ACK of data.
    pub(crate) fn establish(&mut self, event: Event) {
        let Some(c) = self.connections[event.slot as usize].as_ref() else { return };
        let i = usize::from(event.subflow);
        if c.config.handshake && i == 0 && c.config.join == Join::FirstAck {
            let round = c.subflows[0].way.base.iter().sum::<f64>() as Time;
            self.events.plan(self.now + round, Event { kind: Kind::Joinable, ..event });
        } else {
            self.manage(event.slot, |m, now, memory| m.handle_established(now, memory, i));
        }
    }

    /// Notifies the path manager and does what it asks for.
    pub(crate) fn manage(&mut self, slot: u32, tell: impl FnOnce(&mut dyn PathManager, Time, &mut Memory)) {
        let now = self.now;
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        let named = c.named;
        let mut memory = self.memories.remove(&named).unwrap_or_default();
        tell(&mut *c.manager, now, &mut memory);
        self.memories.insert(named, memory);
        loop {
            let Some(c) = self.connections[slot as usize].as_mut() else { return };
            let Some(action) = c.manager.poll_action() else { break };
            match action {
                Action::Open { path, .. } => self.open(slot, path),
                Action::SetPriority { subflow, priority } => {
                    c.subflows[subflow].takes_data = priority == Priority::Normal;
                }
                // Data in flight there arrives; nothing new is sent.
                Action::Close { subflow } => c.subflows[subflow].takes_data = false,
                Action::Reinject { .. } => {}
            }
        }
        let Some(c) = self.connections[slot as usize].as_ref() else { return };
        let due = c.manager.deadline();
        if due != NEVER {
            let event = Event { slot, generation: c.generation, subflow: 0, kind: Kind::Manager };
            self.events.plan(due.max(now), event);
        }
    }

    /// Opens a subflow with this choice of path.
    fn open(&mut self, slot: u32, choice: PathChoice) {
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        let config = Arc::clone(&c.config);
        let i = c.subflows.len();
        let handshake = match (config.handshake, i) {
            (false, _) => 0.0,
            (true, 0) => 1.0,
            // The other host must have heard the third packet (RFC 8684 §3.2).
            (true, _) => 2.0,
        };
        // Without a path it waits for one.
        let way = Way::find(&mut self.fabric, &self.links, &self.records, c, choice).unwrap_or_default();
        let shake = base(&self.links, &self.records, way.there(), config.ack.into()) + way.base[1];
        let subflow = Subflow {
            is_open: handshake == 0.0 && way.hops > 0,
            way,
            choice,
            moves: None,
            takes_data: true,
            limited: false,
            echo: Echo::default(),
            in_flight: 0,
            rtt: Rtt::default(),
            next: 0,
            gap: 0.0,
            last_sent: self.now,
            acked_at: 0,
            arrived: 0,
            outgoing: None,
            batches: VecDeque::new(),
            repair: Repair::default(),
            counters: Counters::default(),
        };
        c.subflows.push(subflow);
        admit(&mut c.group, &mut c.hosts, i, &config);
        let established = self.now + (handshake * shake) as Time;
        let event = Event { slot, generation: c.generation, subflow: i as u16, kind: Kind::Established };
        self.events.plan(established, event);
    }
}
