//! Path managers at work: subflows that come and go.

use std::collections::VecDeque;
use std::sync::Arc;

use tresse_path_manager::{Ack, Action, Memory, PathChoice, PathManager, Priority, Sent};
use tresse_transport::{Counters, Join};
use tresse_units::{NEVER, Time};

use crate::connection::{Acks, Connection, Echo, Leaving, Repair, Rtt, Subflow, Way};
use crate::events::{Event, Kind};
use crate::network::Rounds;
use crate::sending::Place;

/// What a subflow had sent and heard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before {
    pub counters: Counters,
    pub arrived: u64,
}

impl Before {
    pub fn of(s: &Subflow) -> Self {
        Self { counters: s.counters, arrived: s.arrived }
    }
}

/// The ACKs of a batch of subflow `i`, of which `marked` carried ECE.
fn ack(c: &Connection, i: usize, marked: u64) -> Ack {
    let s = &c.subflows[i];
    let outstanding = u64::from(s.in_flight + s.repair.holes + s.repair.resend);
    Ack { subflow: i, outstanding, marked, srtt: s.rtt.smoothed as Time }
}

impl Rounds {
    /// The events of subflow `i` of the connection in `slot`.
    pub(crate) fn place(&mut self, slot: u32, i: usize) -> Place<'_> {
        Place {
            links: &mut self.links,
            events: &mut self.events,
            rtts: &mut self.rtts,
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
        let mut changed = false;
        while let Some(action) =
            self.connections[slot as usize].as_mut().and_then(|c| c.manager.poll_action())
        {
            changed |= self.act(slot, action);
        }
        if changed {
            self.wake(slot);
        }
        self.plan_manager(slot);
    }

    /// Does what a path manager asks for. Returns whether subflows may have something to send that had nothing.
    fn act(&mut self, slot: u32, action: Action) -> bool {
        let Some(c) = self.connections[slot as usize].as_mut() else { return false };
        match action {
            Action::Open { path, .. } => {
                self.open(slot, path);
                return false;
            }
            Action::SetPriority { subflow, priority } => {
                if let Some(shifts) = &mut self.mechanisms.path_shifts {
                    *shifts += u64::from(c.manager.silence().is_some() && priority != Priority::Normal);
                }
                c.subflows[subflow].takes_data = priority == Priority::Normal;
            }
            Action::Close { subflow } => c.close(subflow),
            Action::Reinject { subflow } => c.repeat_elsewhere(subflow),
        }
        true
    }

    /// Subflows that have nothing in flight may have something to send.
    fn wake(&mut self, slot: u32) {
        let Some(mut c) = self.connections[slot as usize].take() else { return };
        for i in 0..c.subflows.len() {
            let sent = self.place(slot, i).send(&mut c);
            self.hops += u64::from(sent) * c.subflows[i].way.length();
        }
        self.connections[slot as usize] = Some(c);
    }

    /// Plans the path manager's timer, if it is not planned yet.
    fn plan_manager(&mut self, slot: u32) {
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        let due = c.manager.deadline().max(self.now);
        if due < c.due {
            c.due = due;
            let event = Event { slot, generation: c.generation, subflow: 0, kind: Kind::Manager };
            self.events.plan(due, event);
        }
    }

    /// The path manager's timer may be due. The ACKs of a batch come one by one, and a manager that waits for them must
    /// not miss those that were heard of with the first.
    pub(crate) fn serve_manager(&mut self, slot: u32) {
        let now = self.now;
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        c.due = NEVER;
        if c.manager.deadline() > now {
            self.plan_manager(slot);
            return;
        }
        let coming: Vec<Ack> = (0..c.subflows.len())
            .filter(|&i| c.subflows[i].acks.until >= now && c.subflows[i].is_open)
            .map(|i| ack(c, i, 0))
            .collect();
        self.manage(slot, |m, now, memory| {
            coming.iter().for_each(|ack| m.handle_ack(now - 1, memory, ack));
            m.handle_timeout(now, memory);
        });
    }

    /// Tells the path manager what a subflow has sent, and what its ACKs have said, since it had `before`.
    pub(crate) fn report_to_manager(&mut self, event: Event, before: &Before) {
        let Some(c) = self.connections[event.slot as usize].as_ref() else { return };
        let i = usize::from(event.subflow);
        let (s, own) = (&c.subflows[i], before.counters);
        if s.is_open && s.arrived > before.arrived {
            let marked = (s.counters.marks - own.marks).div_ceil(c.config.delayed_ack.every.into());
            let ack = ack(c, i, marked);
            self.manage(event.slot, |m, now, memory| m.handle_ack(now, memory, &ack));
        }
        let Some(c) = self.connections[event.slot as usize].as_ref() else { return };
        let now = &c.subflows[i].counters;
        let retransmissions = now.retransmissions - own.retransmissions;
        let first = now.sent - own.sent;
        let packets = first + retransmissions;
        if packets > 0 {
            let copies = now.reinjections - own.reinjections;
            let new_bytes = (first - copies) * u64::from(c.config.mss);
            let sent = Sent { subflow: i, packets, retransmissions, new_bytes };
            self.manage(event.slot, |m, now, memory| m.handle_sent(now, memory, &sent));
        }
    }

    /// Opens a subflow with this choice of path.
    fn open(&mut self, slot: u32, choice: PathChoice) {
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        let config = Arc::clone(&c.config);
        let i = c.subflows.len();
        let handshake: f64 = match (config.handshake, i) {
            (false, _) => 0.0,
            (true, 0) => 1.0,
            // The other host must have heard the third packet (RFC 8684 §3.2).
            (true, _) => 2.0,
        };
        // Without a path it waits for one.
        let way = Way::find(&mut self.fabric, &self.links, c, choice).unwrap_or_default();
        let shake = way.empty(&self.links, config.ack.into()) + way.base[1];
        // Packets of a sprayed subflow overtake each other by up to a packet a path.
        let duplicates = if choice == PathChoice::Spray { c.spec.paths.count().max(3).into() } else { 3 };
        let subflow = Subflow {
            is_open: false,
            place: 0,
            shake: handshake.min(1.0) * shake,
            way,
            choice,
            moves: None,
            takes_data: true,
            limited: false,
            echo: Echo::default(),
            in_flight: 0,
            rtt: Rtt::default(),
            next: 0,
            leaving: Leaving::default(),
            last_sent: self.now,
            acked_at: 0,
            acks: Acks::default(),
            arrived: 0,
            outgoing: None,
            batches: VecDeque::new(),
            repair: Repair { duplicates, ..Repair::default() },
            pieces: None,
            counters: Counters::default(),
        };
        let opens = handshake == 0.0 && subflow.way.hops > 0;
        c.subflows.push(subflow);
        if opens {
            c.admit(i, 0.0, &self.links);
        }
        let established = self.now + (handshake * shake) as Time;
        let event = Event { slot, generation: c.generation, subflow: i as u16, kind: Kind::Established };
        self.events.plan(established, event);
    }
}
