//! Time advances window by window, and the caller is told what happens in a window before it is gone through.
//!
//! A window is no longer than the least delay of a link. So all that arrives at a host in it is known when it begins, and
//! with that the messages that end ([`crate::foresight`]); whoever starts flows then does so for the window that comes,
//! and the hosts carry it out in their turns ([`crate::deeds`]). So no window has to be gone through in the order of
//! time, and parts of the network go through all windows side by side (conservative windows; Nicol, "The cost of
//! conservative synchronization in parallel discrete event simulations", 1993). The results are those of the order of time.
//!
//! If somebody looks at the network in the middle of a window, it is gone through up to there.

use tresse_fabric::Rank;
use tresse_units::{NEVER, Time};

use crate::deeds::{Deed, What};
use crate::foresight::End;
use crate::part::Turn;
use crate::spec::FlowRecord;
use crate::threads::Stop;
use crate::world::{Ahead, Halves, Step, World};

/// A window of which it is known what ends in it, and that has not been gone through.
#[derive(Debug)]
pub(crate) struct Window {
    /// Its last instant.
    end: Time,
    /// The messages that end in it, in the order of time.
    ends: Vec<(End, u64, Halves)>,
    /// Those that the caller has been told of.
    told: usize,
}

impl World {
    /// Advances time until a connection finishes, `until` is reached, or `budget` packets and timers were handled.
    pub fn advance(&mut self, until: Time, budget: u64) -> Step {
        let step = self.advance_ahead(until, budget);
        self.settle();
        match step {
            Ahead::Ended(_, record) => {
                let record = record.or_else(|| self.take_record());
                Step::Finished(record.expect("its window has been gone through"))
            }
            Ahead::Budget => Step::Budget,
            Ahead::Reached => Step::Reached,
        }
    }

    /// The same, but what happens in the network may be carried out later, which is faster, and on several threads. The
    /// caller may start connections; before anything else, and before a look at the network, it calls [`World::settle`].
    /// What has ended has a record then, at the latest: see [`World::take_record`].
    pub fn advance_ahead(&mut self, until: Time, budget: u64) -> Ahead {
        self.is_settled = false;
        if let Some(halves) = self.ready.pop() {
            return Step::Finished(self.end_now(halves)).into();
        }
        self.last_rank = None;
        if !self.parts[0].goes_by_sites() {
            return self.advance_by_time(until, budget).into();
        }
        let enough = self.handled().saturating_add(budget);
        loop {
            if let Some(step) = self.advance_in_window(until) {
                return step;
            }
            match self.next_window(until, enough) {
                Stop::Window(end) => self.open_window(end),
                Stop::Reached => {
                    self.now = if until == NEVER { self.now_of_parts() } else { until };
                    return Ahead::Reached;
                }
                Stop::Enough => {
                    self.now = self.now_of_parts();
                    return Ahead::Budget;
                }
            }
        }
    }

    /// Carries out all that happens in the network until now.
    pub fn settle(&mut self) {
        if self.is_settled {
            return;
        }
        self.deliver();
        if let Some(window) = self.window.take() {
            let (now, rank) = (self.now, self.last_rank);
            self.parts.iter_mut().for_each(|part| part.run(now, rank));
            // A packet may complete several messages of a connection, and the caller has been told of one.
            let others = window.ends[window.told..].iter();
            let others = others.take_while(|(end, ..)| end.time == now && Some(end.rank) == rank);
            let before = self.ready.len();
            self.ready.extend(others.map(|&(.., halves)| halves));
            self.collect(window.told, window.told + self.ready.len() - before);
        }
        self.come_to_now();
        self.parts.iter_mut().for_each(|part| part.fabric.settle());
        self.exchange();
        self.is_settled = true;
    }

    /// The record of a message of which [`Ahead::Ended`] told without one, in that order, if it is known by now.
    pub fn take_record(&mut self) -> Option<FlowRecord> {
        self.records.pop_front()
    }

    /// Event by event, in a world that is not cut.
    fn advance_by_time(&mut self, until: Time, budget: u64) -> Step {
        assert_eq!(self.parts.len(), 1, "such a world is not cut");
        let turn = self.parts[0].advance_by_time(until, budget);
        self.now = self.now_of_parts();
        match turn {
            Turn::Complete(slot, messages) => {
                self.last_rank = Some(self.parts[0].fabric.last_rank());
                let halves = self.halves[&self.parts[0].receivings[slot as usize].id];
                self.ready.extend((1..messages).map(|_| halves));
                Step::Finished(self.end_now(halves))
            }
            Turn::Budget => Step::Budget,
            Turn::Reached => Step::Reached,
        }
    }

    /// Packets that have left the network.
    fn handled(&self) -> u64 {
        self.parts.iter().map(|part| part.packets.delivered + part.packets.dropped).sum()
    }

    /// Goes on in the window that is open; `None` if there is none, or no more to tell of it.
    fn advance_in_window(&mut self, until: Time) -> Option<Ahead> {
        let window = self.window.as_mut()?;
        if let Some(&(end, id, halves)) = window.ends.get(window.told).filter(|(end, ..)| end.time <= until) {
            let number = window.told as u32;
            window.told += 1;
            (self.now, self.last_rank) = (end.time, Some(end.rank));
            self.tell_end(id, halves, number);
            return Some(Ahead::Ended(id, None));
        }
        if until <= window.end {
            self.now = until;
            return Some(Ahead::Reached);
        }
        let window = self.window.take()?;
        self.now = window.end;
        match &mut self.cutting {
            None => self.parts[0].go_through(window.end, None),
            Some(cutting) => cutting.turn(&mut self.parts, window.end),
        }
        self.collect(window.told, window.told);
        None
    }

    /// Goes through windows in which nothing ends, up to one in which something does, or that `until` lies in.
    fn next_window(&mut self, until: Time, enough: u64) -> Stop {
        loop {
            if self.handled() >= enough {
                return Stop::Enough;
            }
            self.release_closed();
            let Some(cutting) = &mut self.cutting else { return self.next_window_of_one(until, enough) };
            match cutting.run(&mut self.parts, until) {
                Stop::Enough => {}
                stop @ (Stop::Reached | Stop::Window(_)) => return stop,
            }
        }
    }

    /// The same in a world that is not cut.
    fn next_window_of_one(&mut self, until: Time, enough: u64) -> Stop {
        let part = &mut *self.parts[0];
        while let Some(lost) = part.fabric.take_spilt() {
            part.handle_arrival(&lost);
        }
        while part.packets.delivered + part.packets.dropped < enough {
            let next = part.earliest();
            if next > until || next == NEVER {
                return Stop::Reached;
            }
            let end = part.fabric.turn_end(next);
            part.foresee(end);
            if end > until || !part.foresight.ends.is_empty() {
                return Stop::Window(end);
            }
            part.go_through(end, None);
        }
        Stop::Enough
    }

    /// Opens the next window: parts know what ends in it.
    fn open_window(&mut self, end: Time) {
        let mut ends = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            ends.extend(part.foresight.ends.iter().map(|&end| {
                let half = &part.receivings[end.slot as usize];
                let halves =
                    Halves { sending: (half.peer_part.into(), half.peer), receiving: (number, end.slot) };
                (end, half.id, halves)
            }));
        }
        ends.sort_unstable_by_key(|&(end, id, _)| (end, id));
        for (end, id, halves) in &mut ends {
            if let Some(messages) = &self.sending(*halves).managed.messages {
                *id = messages.queue[end.before as usize].id;
            }
        }
        let window_end = self.parts[0].fabric.window_end(end);
        if self.hops_before.0 != window_end {
            self.hops_before = (window_end, self.hops());
        }
        self.window = Some(Window { end, ends, told: 0 });
    }

    /// The caller is told that a message has ended; its sender stops.
    fn tell_end(&mut self, id: u64, halves: Halves, number: u32) {
        self.live -= 1;
        let (part, slot) = halves.sending;
        self.forget_message_before(id, halves);
        let deed = Deed { time: self.now, rank: self.rank(), slot, what: What::End(number) };
        self.parts[part].deeds.add(deed);
        self.note_closing(halves);
    }

    /// Takes the records of the messages that have ended in what was gone through of a window. The caller was told of so many,
    /// and so many have ended.
    fn collect(&mut self, told: usize, ended: usize) {
        let all = self.parts.iter_mut().flat_map(|part| part.deeds.records.drain(..));
        let mut records: Vec<(u32, FlowRecord)> = all.collect();
        records.sort_unstable_by_key(|&(number, _)| number);
        let have_ended: u32 = self.parts.iter_mut().map(|part| std::mem::take(&mut part.deeds.ended)).sum();
        assert_eq!([records.len(), have_ended as usize], [told, ended], "messages end as foreseen");
        self.records.extend(records.into_iter().map(|(_, record)| record));
    }

    /// The place of what the caller does now among what happens at this instant.
    pub(crate) fn rank(&self) -> Rank {
        self.last_rank.map_or(Rank::Last, Rank::After)
    }

    /// The caller is about to do something at once: nothing is left to be carried out before.
    pub(crate) fn come_to_now(&mut self) {
        debug_assert!(self.window.is_none(), "no window is open");
        self.deliver();
        for part in self.parts.iter_mut().filter(|part| part.fabric.now() < self.now) {
            part.fabric.set_now(self.now);
        }
    }

    /// Delivers what threads have for parts.
    pub(crate) fn deliver(&mut self) {
        if let Some(cutting) = &mut self.cutting {
            cutting.deliver(&mut self.parts);
        }
    }

    /// Delivers to each part what the others have for it.
    pub(crate) fn exchange(&mut self) {
        if let Some(cutting) = &mut self.cutting {
            cutting.exchange(&mut self.parts);
        }
    }

    fn now_of_parts(&self) -> Time {
        self.parts.iter().map(|part| part.fabric.now()).max().unwrap_or(0)
    }
}
