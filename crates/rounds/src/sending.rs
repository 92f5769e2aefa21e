//! Batches: what is sent, and how it begins to flow.

use smallvec::SmallVec;
use tresse_fabric::{Fabric, Histogram};
use tresse_units::Time;

use crate::bursts::Burst;
use crate::connection::{Beyond, Connection, Outgoing, Way};
use crate::events::{Event, Events, Kind};
use crate::fair::Turn;
use crate::link::Shares;
use crate::links::Links;

/// A batch that would take more than this share of its round trip takes all of it: then one event ends it and hears of
/// it.
const NEARLY: f64 = 7.0 / 8.0;

/// What a batch that begins leaves behind: see [`Outgoing`].
pub(crate) struct Flow {
    pub passed: f64,
    pub before: SmallVec<[Shares; 6]>,
    pub turns: SmallVec<[Turn; 1]>,
}

/// The events of subflow `i` of the connection in `slot`.
pub(crate) struct Place<'a> {
    pub links: &'a mut Links,
    pub events: &'a mut Events,
    /// The RTTs of packets by group, if they are recorded.
    pub rtts: &'a mut [Histogram],
    pub now: Time,
    pub slot: u32,
    pub i: usize,
}

impl Place<'_> {
    pub fn plan(&mut self, connection: &Connection, time: Time, kind: Kind) {
        let (slot, generation, subflow) = (self.slot, connection.generation, self.i as u16);
        self.events.plan(time, Event { slot, generation, subflow, kind });
    }

    pub fn advance(&mut self, way: &Way) {
        way.links.iter().for_each(|&link| _ = self.links.advance(link, self.now));
    }

    /// The round trip of a packet of these bytes that leaves now, ps. The links are up to date.
    pub fn trip(&self, way: &Way, bytes: f64) -> f64 {
        let wait = |place| way.share(place) * self.wait(way, place, bytes);
        way.base[0] + way.base[1] + (0..way.links.len()).map(wait).sum::<f64>()
    }

    /// How long a packet of these bytes, or an ACK, that arrives now at the link in this place waits, ps.
    #[inline]
    fn wait(&self, way: &Way, place: usize, bytes: f64) -> f64 {
        let link = way.links[place];
        match self.links.fair(link) {
            Some(fair) if place < way.hops => fair.wait(bytes),
            // ACKs are served first.
            Some(_) => 0.0,
            None => self.links[link].wait(),
        }
    }

    /// The most that is left of a packet of these bytes that is in transmission in this place, times the chance that one
    /// is, ps.
    #[inline]
    fn rest(&self, way: &Way, place: usize, bytes: f64) -> f64 {
        let link = way.links[place];
        match self.links.fair(link) {
            // Its turn counts that.
            Some(_) if place < way.hops => 0.0,
            Some(fair) => fair.rest(bytes),
            None => self.links[link].rest(bytes),
        }
    }

    /// Packets that window and data allow.
    fn allowed(&self, c: &mut Connection) -> u32 {
        let in_all = || c.subflows.iter().map(|s| u64::from(s.in_flight)).sum();
        let buffer = c.config.receive_buffer.map(|buffer| {
            let segments = (buffer.bytes / u64::from(c.config.mss)).max(1);
            segments.saturating_sub(in_all()) as u32
        });
        let window = c.window(self.i);
        let copies = c.copies_for(self.i);
        let s = &mut c.subflows[self.i];
        // Without SACK a hole is known when all before it are filled: until then it counts as in flight.
        let held = if c.config.recovery.uses_sack() { 0 } else { s.repair.holes.max(s.repair.forgotten) };
        // A fast retransmission does not wait for room.
        let due = u32::from(s.repair.answer == Some(u32::MAX) && s.repair.resend > 0);
        let room = window.saturating_sub(s.in_flight + held).max(due).min(buffer.unwrap_or(u32::MAX));
        let fresh = if s.takes_data { c.unsent + copies } else { 0 };
        let wanted = u64::from(s.repair.resend) + fresh;
        s.limited = u64::from(room) <= wanted;
        u64::from(room).min(wanted) as u32
    }

    /// The handshake of the subflow is complete, unless a link of its path has failed: then its packet is sent again.
    /// Returns how many packets follow it.
    pub fn establish(&mut self, c: &mut Connection, fabric: &mut Fabric<()>) -> u32 {
        if c.is_closed(self.i) {
            return 0;
        }
        let mut s = &mut c.subflows[self.i];
        if s.way.hops == 0 || self.links.any_down() && s.way.is_cut(self.links) && !s.is_open {
            let choice = s.choice;
            if let Some(way) = Way::find(fabric, self.links, c, choice) {
                c.subflows[self.i].way = way;
            }
            s = &mut c.subflows[self.i];
            let wait =
                c.config.rto_initial.saturating_mul(1 << s.repair.backoff.min(16)).min(c.config.rto_max);
            s.repair.backoff += 1;
            s.counters.handshake_timeouts += 1;
            self.plan(c, self.now + wait, Kind::Established);
            return 0;
        }
        s.repair.backoff = 0;
        if !s.is_open {
            let shake = s.shake;
            c.admit(self.i, shake, self.links);
        }
        self.send(c)
    }

    /// How long a packet of these bytes waits there, its ACK back, and how long both wait at most for packets in transmission, a
    /// mean over the chance that there is one, ps. The links are brought up to date.
    fn waits(&mut self, way: &Way, bytes: f64) -> ([f64; 2], f64) {
        let (mut waits, mut rests) = ([0.0; 2], 0.0);
        for (place, &link) in way.links.iter().enumerate() {
            self.links.advance(link, self.now);
            let share = way.share(place);
            waits[usize::from(place >= way.hops)] += share * self.wait(way, place, bytes);
            // A packet finds another one in transmission as often as a link is busy, and waits for what is left of it.
            rests += share * self.rest(way, place, bytes);
        }
        (waits, rests)
    }

    /// Of these packets those for which the host's port has room, with this round trip and this time between two packets, ps:
    /// where subflows are served in turn, the others wait in the socket, and the window does not grow by them. There also
    /// how long a packet waits behind those of its own subflow, ps.
    fn fitting(&self, c: &mut Connection, packets: u32, [rtt, first]: [f64; 2]) -> (u32, Option<f64>) {
        let s = &mut c.subflows[self.i];
        let room = s.way.port_room(self.links, &c.config, c.sprayed.is_none(), [c.wire, first]);
        let Some(room) = room else { return (packets, None) };
        let most = (((rtt + room) / first) as u32).max(2).saturating_sub(s.in_flight);
        s.limited &= packets <= most;
        let packets = packets.min(most);
        // Behind ACKs that come more slowly nothing waits.
        let waits = if s.leaving.gap > first { 0.0 } else { first * f64::from(s.in_flight + packets) - rtt };
        (packets, Some(waits.max(0.0)))
    }

    /// A batch flows into all links of its way, at this rate, and its ACKs at the other one, bytes per ps; `waits`: some of
    /// its subflow's packets wait in the host's port. `beyond` says at which rate it leaves that port, of all that the port
    /// lets through of it.
    pub fn flow(
        &mut self,
        way: &Way,
        [rate, acks]: [f64; 2],
        waits: bool,
        beyond: impl Fn(f64) -> f64,
    ) -> Flow {
        let mut flow = Flow { passed: 0.0, before: SmallVec::new(), turns: SmallVec::new() };
        let mut most = 0.0;
        for (number, share) in way.first_hop() {
            let link = &mut self.links[number];
            flow.before.push(link.shares());
            link.begin(rate * share);
            most += link.rate();
            // The port passes on no more than its rate, of all of the host's subflows together.
            flow.passed += rate * share * link.passes();
            let turn = self.links.fair_at(number, self.now).map(|fair| fair.begin(rate * share, waits));
            flow.turns.extend(turn);
        }
        flow.passed = beyond(flow.passed).clamp(0.0, most);
        for (place, &number) in way.there().iter().enumerate().skip(flow.before.len()) {
            let link = &mut self.links[number];
            flow.before.push(link.shares());
            link.begin(flow.passed * way.share(place));
        }
        for (place, &link) in way.links.iter().enumerate().skip(way.hops) {
            let acks = acks * way.share(place);
            self.links[link].begin(acks);
            if let Some(fair) = self.links.fair_at(link, self.now) {
                fair.add_acks(acks);
            }
        }
        flow
    }

    /// Takes so many packets that are out at `end`: first those to be sent again, then copies for other subflows, then new ones.
    fn count_sent(&self, c: &mut Connection, packets: u32, end: Time) {
        let s = &mut c.subflows[self.i];
        let again = s.repair.resend.min(packets);
        let copies = c.send_copies(self.i, packets - again);
        c.unsent -= u64::from(packets - again - copies);
        let s = &mut c.subflows[self.i];
        s.repair.resend -= again;
        if again > 0 && s.repair.answer == Some(u32::MAX) {
            s.repair.answer = Some(s.next);
        }
        s.counters.retransmissions += u64::from(again);
        s.counters.sent += u64::from(packets - again);
        s.in_flight += packets;
        s.last_sent = end;
    }

    /// Sends what window and data allow. Returns the number of packets.
    pub fn send(&mut self, c: &mut Connection) -> u32 {
        let s = &c.subflows[self.i];
        if s.outgoing.is_some() || !s.is_open {
            return 0;
        }
        let packets = self.allowed(c);
        if packets == 0 {
            return 0;
        }
        let s = &mut c.subflows[self.i];
        if let Some(way) = s.moves.take() {
            s.way = *way;
        }
        let (waits, rests) = self.waits(&s.way, c.wire);
        let forward = s.way.base[0] + waits[0];
        let rtt = forward + s.way.base[1] + waits[1] + rests * c.stream.unit();
        // Not faster than the slowest link: what is sent in a burst waits there, and its ACKs come at that pace.
        let first = s.way.first_gap(self.links, c.wire);
        let own_gap = s.leaving.gap.max(c.sprayed.as_ref().map_or(0.0, |own| own.gap(&c.config)));
        let gap = own_gap.max(first);
        let (packets, queue) = self.fitting(c, packets, [rtt, first]);
        if packets == 0 {
            return 0;
        }
        let s = &mut c.subflows[self.i];
        let rtt = rtt + s.leaving.behind;
        // A window of more than the host's port sends in a round trip waits in that port.
        let waits = s.leaving.gap <= first && queue.is_none();
        let held = if waits { (first * f64::from(packets) - rtt).max(0.0) } else { 0.0 };
        let (rtt, queue) = (rtt + held, queue.unwrap_or(0.0));
        let [over_mark, over_limit] = self.links[s.way.links[0]].beyond(held);
        let at_host = [over_mark, over_limit].map(|bytes| (bytes / c.wire) as u32);
        let clocked = if first > 0.0 { (s.leaving.gap / first).min(0.999) } else { 0.0 };
        let packets = packets.min(((rtt / gap) as u32).max(1));
        let lasts = gap * f64::from(packets);
        let is_round = lasts > NEARLY * rtt && !s.leaving.in_burst;
        // Where more waits, ACKs come at the port's pace, and not with whole packets a round trip.
        let is_stretched = is_round && queue == 0.0;
        let end = self.now + (if is_stretched { rtt } else { lasts } as Time).max(1);
        let end = if is_round { end.max(s.acked_at) } else { end };
        let rate = f64::from(packets) * c.wire / (end - self.now) as f64;
        let acks = rate * f64::from(c.config.ack) / c.wire / f64::from(c.config.delayed_ack.every);
        let comes = own_gap * f64::from(packets);
        self.links.hand_over(
            &s.way,
            Burst { start: self.now, comes, leaves: first * f64::from(packets), held },
            s.leaving.in_burst,
        );
        let owed = s.leaving.owed / (end - self.now) as f64;
        let Flow { passed, before, turns } =
            self.flow(&s.way, [rate, acks], queue > 0.0, |passed| passed + owed);
        self.count_sent(c, packets, end);
        let s = &mut c.subflows[self.i];
        let (start, pause) = (self.now, std::mem::take(&mut s.echo.cut));
        s.outgoing = Some(Outgoing {
            packets,
            start,
            end,
            rate,
            acks,
            beyond: Beyond { rate: passed, since: start, bytes: 0.0 },
            forward,
            rtt,
            queue,
            held,
            behind: s.leaving.behind,
            at_host,
            clocked,
            pause,
            before,
            turns,
        });
        let number = s.next;
        if is_round {
            s.acked_at = end;
        }
        self.plan(c, end, if is_round { Kind::Acked(number) } else { Kind::Sent });
        packets
    }
}
