//! Chooses the next data to send, and its subflow.

use tresse_controllers as controllers;

use tresse_units::Time;

use super::Sender;
use crate::tcp::set::{bit, bits};
use crate::{Origin, Scheduler, Transmit};

/// The scheduler's choice among subflows with room: the lowest rank of all, and of those that want to be
/// alone. The last bytes of a rank are the subflow's number and place.
#[derive(Debug, Clone, Copy)]
struct Choice {
    scheduler: Scheduler,
    last: Option<u8>,
    best: u64,
    best_alone: u64,
    one_is_alone: bool,
}

const NONE: u64 = u64::MAX;

impl Choice {
    #[inline]
    fn consider(&mut self, i: usize, place: usize, own: &controllers::Subflow, room: bool) {
        let alone = own.alone != 0;
        self.one_is_alone |= alone;
        if !room {
            return;
        }
        let rank = match self.scheduler {
            // One without an RTT sample comes first; among equals, the one that was opened first.
            Scheduler::LowestRtt | Scheduler::Linux => u64::from(own.srtt),
            Scheduler::RoundRobin => self.last.is_some_and(|last| i <= usize::from(last)).into(),
        };
        let rank = rank << 16 | (i << 8 | place) as u64;
        self.best = self.best.min(rank);
        if alone {
            self.best_alone = self.best_alone.min(rank);
        }
    }

    /// The subflow's number, and its place in the group.
    #[inline]
    fn chosen(&self) -> Option<(usize, usize)> {
        let rank = if self.one_is_alone { self.best_alone } else { self.best };
        (rank != NONE).then_some(((rank >> 8 & 0xff) as usize, (rank & 0xff) as usize))
    }
}

impl Sender {
    /// The next packet to send now: handshakes first, then lost segments, then data to be sent once more,
    /// then new data, on the subflow that the scheduler chooses among those with room.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        if !self.handshakes.is_empty()
            && let Some(packet) = self.poll_handshake(now)
        {
            return Some(packet);
        }
        if self.is_plain() {
            return self.poll_plain(now);
        }
        if let Some(queues) = self.queues.take() {
            return self.poll_given(now, queues);
        }
        let takes = self.fresh(self.takes_data);
        let new = self.next_dsn < self.sendable();
        let more = new || !self.reinjections.is_empty();
        let mut choice = self.choice();
        for (place, i) in bits(self.open).enumerate() {
            let own = &self.group[place];
            let s = &mut self.subflows[i];
            let held = self.held & bit(i) != 0;
            if held {
                s.stop_waiting();
            } else if let Some((seq, dsn)) = s.retransmit(now, own.cwnd, &self.config) {
                return Some(self.packet(now, i, Origin::Retransmitted, [seq, dsn], false));
            }
            // A held subflow too notes whether its window is the limit.
            let room = s.check_room(now, own, more) && !held;
            if takes & bit(i) != 0 {
                choice.consider(i, place, own, room);
            }
        }
        if !self.reinjections.is_empty()
            && let Some(packet) = self.poll_reinjection(now, takes)
        {
            return Some(packet);
        }
        if !new {
            return if self.is_blocked() { self.poll_blocked(now, takes) } else { None };
        }
        let chosen = choice.chosen()?;
        self.next_dsn += 1;
        Some(self.transmit(now, chosen, Origin::New, self.next_dsn - 1))
    }

    /// All subflows are open and take data, none is held or ever stale, nothing is to be sent once more, the lowest RTT
    /// comes first, and the receiver takes everything. Most connections are like this all the time.
    #[inline]
    fn is_plain(&self) -> bool {
        let all = self.subflows.len() == self.group.len() && self.takes_data == u64::MAX;
        all && self.held == 0 && self.reinjections.is_empty() && self.may_be_plain
    }

    /// [`Sender::poll_transmit`] of a plain connection.
    #[inline]
    fn poll_plain(&mut self, now: Time) -> Option<Transmit> {
        let more = self.next_dsn < self.messages.written();
        let (mut best, mut srtt, mut found) = (0, 0, false);
        let mut one_is_alone = false;
        for (i, (s, own)) in self.subflows.iter_mut().zip(self.group.subflows()).enumerate() {
            if let Some((seq, dsn)) = s.retransmit(now, own.cwnd, &self.config) {
                return Some(self.packet(now, i, Origin::Retransmitted, [seq, dsn], false));
            }
            one_is_alone |= own.alone != 0;
            if s.check_room(now, own, more) && (!found || own.srtt < srtt) {
                (best, srtt, found) = (i, own.srtt, true);
            }
        }
        if one_is_alone {
            best = self.schedule(now, self.takes_data).filter(|_| more)?.0;
        } else if !found {
            return None;
        }
        self.next_dsn += 1;
        Some(self.transmit(now, (best, best), Origin::New, self.next_dsn - 1))
    }

    /// Data that is to be sent once more: the first that fits on another subflow.
    #[cold]
    pub(super) fn poll_reinjection(&mut self, now: Time, takes: u64) -> Option<Transmit> {
        while self.reinjections.first_key_value().is_some_and(|(&dsn, _)| dsn < self.data_una) {
            self.reinjections.pop_first();
        }
        let (&first, &from) = self.reinjections.first_key_value()?;
        let found = match self.schedule(now, takes & !bit(from)) {
            Some(chosen) => Some((first, chosen)),
            None => {
                let other = self.reinjections.iter().find(|(_, other)| **other != from);
                let other = other.map(|(&dsn, &from)| (dsn, from));
                other.and_then(|(dsn, from)| Some((dsn, self.schedule(now, takes & !bit(from))?)))
            }
        };
        let (dsn, chosen) = found?;
        self.reinjections.remove(&dsn);
        self.subflows[chosen.0].counters.reinjections += 1;
        Some(self.transmit(now, chosen, Origin::Reinjected, dsn))
    }

    /// The subflow of `takes` that the scheduler chooses for existing data.
    pub(super) fn schedule(&mut self, now: Time, takes: u64) -> Option<(usize, usize)> {
        let mut choice = self.choice();
        let takes = takes & !self.held;
        for (place, i) in bits(self.open).enumerate().filter(|(_, i)| takes & bit(*i) != 0) {
            let own = &self.group[place];
            let room = self.subflows[i].check_room(now, own, true);
            choice.consider(i, place, own, room);
        }
        choice.chosen()
    }

    #[inline]
    fn choice(&self) -> Choice {
        let scheduler = self.config.scheduler;
        Choice { scheduler, last: self.last, best: NONE, best_alone: NONE, one_is_alone: false }
    }

    #[inline]
    pub(super) fn transmit(
        &mut self,
        now: Time,
        (i, place): (usize, usize),
        origin: Origin,
        dsn: u32,
    ) -> Transmit {
        self.last = Some(i as u8);
        let s = &mut self.subflows[i];
        let seq = s.transmit(now, dsn, &self.config, self.group[place].state);
        let cwr = std::mem::take(&mut s.cwr);
        self.packet(now, i, origin, [seq, dsn], cwr)
    }

    /// The subflows of `takes` that are not stale; all of them, if all are stale.
    #[inline]
    pub(super) fn fresh(&self, takes: u64) -> u64 {
        if self.config.stale_after == 0 {
            return takes;
        }
        let stale = bits(self.open & takes).filter(|&i| self.is_stale(i)).map(bit).sum::<u64>();
        if stale == self.open & takes { takes } else { takes & !stale }
    }

    /// Whether too many timeouts have passed on a subflow without an answer.
    #[inline]
    pub(super) fn is_stale(&self, subflow: usize) -> bool {
        let limit = self.config.stale_after;
        limit > 0 && self.subflows[subflow].rtt.backoff() >= limit
    }
}
