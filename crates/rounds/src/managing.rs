//! Path managers at work: subflows that open, and what their managers hear of them.

use std::collections::VecDeque;
use std::sync::Arc;

use tresse_path_manager::{Ack, Action, Memory, PathChoice, PathManager, Priority, Sent};
use tresse_transport::{Counters, Join};
use tresse_units::{MICROSECOND, NEVER, Time};

use crate::changes::base;
use crate::connection::{Echo, Repair, Rtt, Subflow, Surplus, Way};
use crate::events::{Event, Kind};
use crate::network::Rounds;
use crate::sending::{Place, admit};

/// A subflow before an event, for what its path manager is to hear of that.
pub(crate) struct Before {
    arrived: u64,
    counters: Counters,
}

impl Before {
    /// As it is now.
    pub fn new(subflow: &Subflow) -> Self {
        Self { arrived: subflow.arrived, counters: subflow.counters }
    }
}

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

    /// The timer of the path manager, if it is still the one that counts.
    pub(crate) fn serve_manager(&mut self, slot: u32) {
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        if c.due <= self.now {
            c.due = NEVER;
        }
        if c.manager.deadline() <= self.now {
            self.manage(slot, |m, now, memory| m.handle_timeout(now, memory));
        } else {
            self.plan_manager(slot);
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
        let mut acted = false;
        while let Some(action) =
            self.connections[slot as usize].as_mut().and_then(|c| c.manager.poll_action())
        {
            self.act(slot, action);
            acted = true;
        }
        self.plan_manager(slot);
        if acted && self.connections[slot as usize].as_ref().is_some_and(|c| c.observed) {
            self.send_on_all(slot);
        }
    }

    fn act(&mut self, slot: u32, action: Action) {
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        match action {
            Action::Open { path, .. } => self.open(slot, path),
            Action::SetPriority { subflow, priority } => {
                if let Some(shifts) = &mut self.mechanisms.path_shifts {
                    *shifts += u64::from(c.manager.shifts() && priority != Priority::Normal);
                }
                c.subflows[subflow].takes_data = priority == Priority::Normal;
            }
            // Data in flight there arrives; nothing new is sent.
            Action::Close { subflow } => c.subflows[subflow].takes_data = false,
            Action::Reinject { subflow } => c.reinject(subflow),
        }
    }

    /// Plans the path manager's timer, unless an earlier one is planned.
    fn plan_manager(&mut self, slot: u32) {
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        let due = c.manager.deadline().max(self.now);
        if due < c.due {
            c.due = due;
            let event = Event { slot, generation: c.generation, subflow: 0, kind: Kind::Manager };
            self.events.plan(due, event);
        }
    }

    /// What a path manager has done may let any subflow send.
    fn send_on_all(&mut self, slot: u32) {
        let count = self.connections[slot as usize].as_ref().map_or(0, |c| c.subflows.len());
        for i in 0..count {
            let Some(mut c) = self.connections[slot as usize].take() else { return };
            let before = Before::new(&c.subflows[i]);
            let sent = self.place(slot, i).send(&mut c);
            self.hops += u64::from(sent) * c.subflows[i].way.links.len() as u64;
            self.connections[slot as usize] = Some(c);
            self.observe(slot, i, &before, sent);
        }
    }

    /// The path manager hears what an event of subflow `i` was: ACKs, and `sent` packets.
    pub(crate) fn observe(&mut self, slot: u32, i: usize, before: &Before, sent: u32) {
        let Some(c) = self.connections[slot as usize].as_ref() else { return };
        let s = &c.subflows[i];
        let retransmissions = s.counters.retransmissions - before.counters.retransmissions;
        let ack = Ack {
            subflow: i,
            outstanding: u64::from(s.in_flight - sent.min(s.in_flight)),
            marked: s.counters.marks - before.counters.marks,
            srtt: u64::from(c.group[i].srtt) * (MICROSECOND / 8),
        };
        let new = u64::from(sent).saturating_sub(retransmissions);
        let told = Sent {
            subflow: i,
            packets: sent.into(),
            retransmissions,
            new_bytes: new * u64::from(c.config.mss),
        };
        if s.arrived > before.arrived {
            self.manage(slot, |m, now, memory| m.handle_ack(now, memory, &ack));
        }
        if sent > 0 {
            self.manage(slot, |m, now, memory| m.handle_sent(now, memory, &told));
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
            surplus: [Surplus::default(); 2],
            counters: Counters::default(),
        };
        c.subflows.push(subflow);
        admit(&mut c.group, &mut c.hosts, i, &config);
        let established = self.now + (handshake * shake) as Time;
        let event = Event { slot, generation: c.generation, subflow: i as u16, kind: Kind::Established };
        self.events.plan(established, event);
    }
}
