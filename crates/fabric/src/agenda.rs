//! What will happen, by windows of time, and within a window by sites.
//!
//! A window is no longer than any link between two sites delays a packet ([`Sites`]). So all packets that a site
//! receives in a window are known before the window begins, and what is done at one site in a window has no effect on
//! another before it ends. The sites of a window can therefore be gone through one after the other, each in the order
//! of time, while their ports and flows lie in the cache: no queue keeps the events of the whole network in order.
//! They can also be taken in the order of time, whatever their site; that is slower, and the results are the same.
//!
//! A window that is to come is a chain of chunks, in the order in which its events were pushed. It is sorted when its
//! time comes. At one time, events of a site come in the order of [`Ties`]: the model alone decides it (design rule 4).

mod line;
mod sort;
mod window;
mod word;

use std::cmp::Reverse;
use std::ops::Range;

use tresse_units::{NEVER, Time};

use crate::carried::Carried;
use crate::entity::{ARRIVALS, Entity};
use crate::sites::Sites;
use crate::ties::Ties;
use line::Line;
use sort::Sorter;
use window::{Ring, Taking};
use word::{ALL, Added, Place, Word, collide};

/// Something that happens at `time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, ps.
    pub time: Time,
    /// Who causes it; at one time an entity has at most one event.
    pub entity: Entity,
    /// The caller's own: the packet.
    pub id: u32,
}

/// A timer of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer {
    /// When it fires, ps.
    pub time: Time,
    /// Its place among all that happens then.
    pub rank: Rank,
    /// Its number, which decides between equal ranks. With [`Rank::After`] it is at least [`AFTER_PACKETS`].
    pub number: u32,
    /// The site at which it fires.
    pub site: u32,
}

/// The place of a timer among all that happens at one instant at its site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// Right after the event of a packet that has this rank.
    After(u32),
    /// After all packets, among the timers.
    Timer(u64),
    /// After everything else.
    Last,
}

/// No packet has such a number.
pub const AFTER_PACKETS: u32 = 1 << 30;

/// Timers of the caller: with a number, in place of an entity.
pub(crate) const TIMERS: Entity = 1 << 24;

/// Events in the order in which they are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Site by site.
    Sites,
    /// Of time alone.
    Time,
}

/// The events to come; see the module documentation.
#[derive(Debug)]
pub struct Agenda {
    ties: Ties,
    ring: Ring,
    /// What is left of the window that is open site by site.
    taking: Option<Taking>,
    /// How the window is sorted that is open, if one is.
    order: Option<Order>,
    /// How far it is open: up to then after its start, and of that instant up to `last_place`.
    last: u32,
    last_place: Place,
    /// The events of the open window, or of a district in it. What was added to a window in the order of sites is all of
    /// one site.
    line: Line,
    /// Site and entity of the last event.
    site: u32,
    entity: Entity,
    /// The ranks of timers of the open window.
    ranks: Vec<Rank>,
    sorter: Sorter,
}

impl Agenda {
    /// An agenda for these sites and for events that mostly come no more than `horizon` ahead, which only tunes its
    /// speed.
    pub fn new(sites: &Sites, horizon: Time, ties: Ties) -> Self {
        Self {
            ties,
            ring: Ring::new(sites.count(), sites.district_bits, sites.window(), horizon),
            taking: None,
            order: None,
            last: 0,
            last_place: ALL,
            line: Line::default(),
            site: 0,
            entity: 0,
            ranks: Vec::new(),
            sorter: Sorter::new(sites.district_bits),
        }
    }

    /// Adds an event at a site. No event of the same entity may be there at the same time.
    #[inline(always)]
    pub fn push(&mut self, event: Event, site: u32) {
        self.push_carried(event, site, Carried::default());
    }

    /// The same, with what it carries.
    #[inline(always)]
    pub(crate) fn push_carried(&mut self, event: Event, site: u32, carried: Carried) {
        let (ahead, offset) = self.ring.place(event.time);
        let word = Word { offset, site, entity: event.entity, id: event.id, carried };
        if ahead == 0 && self.takes(&word) {
            self.add(word);
        } else {
            self.ring.file(ahead, word);
        }
    }

    /// Whether an event of this window belongs to what is open of it.
    fn takes(&self, word: &Word) -> bool {
        self.order.is_some() && self.is_due(word)
    }

    /// Whether an event of this window comes no later than it is open.
    fn is_due(&self, word: &Word) -> bool {
        word.offset < self.last
            || word.offset == self.last && (self.last_place == ALL || self.place_of(word) <= self.last_place)
    }

    /// Adds a timer of the site that is being gone through, which fires in this window.
    pub fn push_timer(&mut self, timer: Timer) {
        debug_assert!(
            self.order == Some(Order::Sites) && timer.site == self.site,
            "a timer of the site of the last event"
        );
        let word = self.timer(timer);
        self.add(word);
    }

    fn timer(&mut self, timer: Timer) -> Word {
        let (ahead, offset) = self.ring.place(timer.time);
        debug_assert!(ahead == 0, "a timer of this window");
        self.ranks.push(timer.rank);
        let entity = TIMERS | (self.ranks.len() as u32 - 1);
        Word { offset, site: timer.site, entity, id: timer.number, carried: Carried::default() }
    }

    #[inline(never)]
    fn add(&mut self, word: Word) {
        let place = self.place_of(&word);
        self.line.added.push(Reverse(Added { place, word }));
    }

    /// The length of a window, ps.
    pub fn window(&self) -> Time {
        self.ring.width()
    }

    /// The last instant of the window that `time` lies in.
    #[inline]
    pub fn window_end(&self, time: Time) -> Time {
        self.ring.window_end(time)
    }

    /// Opens the window of `limit` up to then, site by site, with these timers; of what happens at `limit`, only what
    /// packets of at most this `rank` do and what comes after these, if there is one. Nothing comes before this window, and
    /// after it nothing may be pushed before `limit`.
    pub fn open_sites(&mut self, limit: Time, rank: Option<u32>, timers: impl Iterator<Item = Timer>) {
        debug_assert!(!self.is_open_by_time(), "a window is gone through in one order");
        self.ring.turn_to(limit);
        self.ranks.clear();
        for timer in timers {
            let word = self.timer(timer);
            self.ring.file(0, word);
        }
        self.order = Some(Order::Sites);
        let taking = self.ring.begin_to_take(limit);
        self.last = taking.last();
        self.last_place = rank.map_or(ALL, |rank| (0, rank.into(), u32::MAX));
        self.taking = Some(taking);
        (self.line.words, self.line.next) = (self.emptied(), 0);
    }

    /// The memory of the open events, without them.
    fn emptied(&mut self) -> Vec<Word> {
        let mut words = std::mem::take(&mut self.line.words);
        words.clear();
        words
    }

    /// Adds the events of the next district that are due; false if there is none.
    fn take(&mut self, taking: &mut Taking, words: &mut Vec<Word>) -> bool {
        let before = words.len();
        if !self.ring.take(taking, words) {
            return false;
        }
        if self.last_place != ALL || Time::from(self.last) < self.ring.width() - 1 {
            let later: Vec<Word> = words.extract_if(before.., |word| !self.is_due(word)).collect();
            later.into_iter().for_each(|word| self.ring.file(0, word));
        }
        true
    }

    /// Opens the next district with events; false at the window's end.
    #[inline(never)]
    fn open_district(&mut self) -> bool {
        let mut words = self.emptied();
        while words.is_empty()
            && let Some(mut taking) = self.taking.take()
        {
            if self.take(&mut taking, &mut words) {
                self.taking = Some(taking);
            }
        }
        (self.line.words, self.line.next) = (words, 0);
        if self.sorter.by_site(&mut self.line.words) {
            self.settle_ties();
        }
        !self.line.words.is_empty()
    }

    /// The next event of the window that is open site by site; if there is none, it is closed.
    #[inline]
    pub fn next_of_site(&mut self) -> Option<Event> {
        self.next_carried().map(|(event, _)| event)
    }

    /// The same, with what it carries.
    #[inline]
    pub(crate) fn next_carried(&mut self) -> Option<(Event, Carried)> {
        if !self.line.added.is_empty() {
            return Some(self.next_or_added());
        }
        if self.line.next == self.line.words.len() && !self.open_district() {
            self.order = None;
            return None;
        }
        let word = self.line.words[self.line.next];
        self.line.next += 1;
        self.site = word.site;
        Some((self.event(&word), word.carried))
    }

    /// Whether a window is open site by site.
    #[inline]
    pub(crate) fn is_open_by_sites(&self) -> bool {
        self.order == Some(Order::Sites)
    }

    /// The last instant up to which a window is or was open.
    pub(crate) fn last(&self) -> Time {
        self.ring.start() + Time::from(self.last)
    }

    /// The site of the last event.
    #[inline]
    pub(crate) fn site(&self) -> u32 {
        self.site
    }

    /// The event that comes first, of those that were known and those that were added.
    #[inline(never)]
    fn next_or_added(&mut self) -> (Event, Carried) {
        let &Reverse(Added { place, word: added }) = self.line.added.peek().expect("one was added");
        let known = self.line.left().first().copied().filter(|word| {
            (self.order != Some(Order::Sites) || word.site == self.site)
                && (word.offset < added.offset || word.offset == added.offset && self.place_of(word) < place)
        });
        match known {
            Some(_) => self.line.next += 1,
            None => drop(self.line.added.pop()),
        }
        let word = known.unwrap_or(added);
        (self.site, self.entity) = (word.site, word.entity);
        (self.event(&word), word.carried)
    }

    /// Whether a window is open in the order of time and has events.
    #[inline]
    pub fn is_open_by_time(&self) -> bool {
        self.order == Some(Order::Time) && !self.line.is_empty()
    }

    /// The next event in the order of time, if it comes at or before `limit`. After `None`, no event before that `limit` may
    /// be pushed.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<Event> {
        self.pop_carried(limit).map(|(event, _)| event)
    }

    /// The same, with what it carries.
    #[inline]
    pub(crate) fn pop_carried(&mut self, limit: Time) -> Option<(Event, Carried)> {
        if self.open_by_time(limit)? > limit {
            return None;
        }
        if !self.line.added.is_empty() {
            return Some(self.next_or_added());
        }
        let word = self.line.words[self.line.next];
        self.line.next += 1;
        (self.site, self.entity) = (word.site, word.entity);
        Some((self.event(&word), word.carried))
    }

    /// The time of the next event, in a window that is then open in the order of time; `None` if no window with events
    /// begins by `limit`.
    #[inline]
    fn open_by_time(&mut self, limit: Time) -> Option<Time> {
        if let Some(offset) = self.line.first_offset() {
            return Some(self.ring.start() + Time::from(offset));
        }
        self.open_next(limit)
    }

    fn open_next(&mut self, limit: Time) -> Option<Time> {
        self.order = None;
        if self.ring.first_window().is_none_or(|start| start > limit) {
            // Nothing will be pushed before `limit`; but if there is none, time stays where it is.
            if limit != NEVER {
                self.ring.turn_to(limit);
            }
            return None;
        }
        self.ring.turn_to_first();
        let mut words = self.emptied();
        (self.last, self.last_place) = (u32::MAX, ALL);
        let mut taking = self.ring.begin_to_take(NEVER);
        while self.ring.take(&mut taking, &mut words) {}
        self.order = Some(Order::Time);
        (self.line.words, self.line.next) = (words, 0);
        if self.sorter.by_time(&mut self.line.words) {
            self.settle_ties();
        }
        self.line.words.first().map(|word| self.ring.start() + Time::from(word.offset))
    }

    /// Puts events of one time, and of one site unless the order is of time alone, in their places.
    #[cold]
    fn settle_ties(&mut self) {
        let by_time = self.order != Some(Order::Sites);
        let same = |a: &Word, b: &Word| a.offset == b.offset && (by_time || a.site == b.site);
        let mut open = std::mem::take(&mut self.line.words);
        let mut start = 0;
        while let Some(at) = open[start..].windows(2).position(|pair| same(&pair[0], &pair[1])) {
            let first = start + at;
            let more = open[first..].iter().take_while(|word| same(word, &open[first])).count();
            let run = &mut open[first..first + more];
            run.sort_unstable_by_key(|word| self.place_of(word));
            debug_assert!(
                run.windows(2).all(|pair| !collide(&pair[0], &pair[1])),
                "two events of one entity at one time"
            );
            start = first + more;
        }
        self.line.words = open;
    }

    fn place_of(&self, word: &Word) -> Place {
        if word.entity < TIMERS {
            let time = self.ring.start() + Time::from(word.offset);
            (0, self.ties.rank(time, word.entity).into(), word.id)
        } else {
            match self.ranks[(word.entity - TIMERS) as usize] {
                Rank::After(rank) => (0, rank.into(), word.id),
                Rank::Timer(rank) => (1, rank, word.id),
                Rank::Last => (2, 0, word.id),
            }
        }
    }

    /// The event that comes `ahead` events after the next one, if it is known yet: entity, id, site and what it carries.
    #[inline]
    pub(crate) fn upcoming(&self, ahead: usize) -> Option<(Entity, u32, u32, Carried)> {
        self.line
            .words
            .get(self.line.next + ahead)
            .map(|word| (word.entity, word.id, word.site, word.carried))
    }

    /// A time before which no event comes, and the time of the next event if its window has been opened; [`NEVER`] if
    /// there is none.
    pub fn earliest(&self) -> Time {
        if self.order.is_some()
            && let Some(offset) = self.line.first_offset()
        {
            return self.ring.start() + Time::from(offset);
        }
        self.ring.first().unwrap_or(NEVER)
    }

    /// Whether the events of the window of `time` are not together yet.
    pub(crate) fn is_far(&self, time: Time) -> bool {
        self.ring.window_of(time).is_none()
    }

    /// Makes the window of `time` the current one. Nothing comes before it.
    pub(crate) fn come_near(&mut self, time: Time) {
        self.ring.turn_to(time);
    }

    /// What arrives at these sites in the window of `time`, as far as it is not over, in no order: the site, the event, and
    /// what it carries; `None` if that window is far ahead.
    pub(crate) fn arrivals(
        &self,
        time: Time,
        sites: Range<u32>,
    ) -> Option<impl Iterator<Item = (u32, Event, Carried)>> {
        let window = self.ring.window_of(time)?;
        let is_current = self.ring.window_of(self.ring.start()) == Some(window);
        let open = if is_current { self.line.left() } else { &[] };
        let added = self.line.added().filter(move |_| is_current);
        let words = open.iter().chain(added).chain(self.ring.words(window, sites.clone()));
        let arrives =
            move |word: &&Word| sites.contains(&word.site) && (ARRIVALS..TIMERS).contains(&word.entity);
        let start = self.ring.window_end(time) + 1 - self.ring.width();
        Some(words.filter(arrives).map(move |word| {
            let time = start + Time::from(word.offset);
            (word.site, Event { time, entity: word.entity, id: word.id }, word.carried)
        }))
    }

    /// Lets `site_of` look at all packets that are to arrive, by the entities of their arrivals, and change what is carried;
    /// it returns the site at which the packet arrives.
    pub(crate) fn revise(&mut self, mut site_of: impl FnMut(Event, u32, &mut Carried) -> u32) {
        debug_assert!(self.order != Some(Order::Sites), "no window is open site by site");
        let start = self.ring.start();
        let mut revise = |time: Time, word: &mut Word| {
            if (ARRIVALS..TIMERS).contains(&word.entity) {
                let event = Event { time, entity: word.entity, id: word.id };
                word.site = site_of(event, word.site, &mut word.carried);
            }
        };
        for word in &mut self.line.words[self.line.next..] {
            revise(start + Time::from(word.offset), word);
        }
        let added = std::mem::take(&mut self.line.added).into_iter();
        self.line.added = added
            .map(|Reverse(mut added)| {
                revise(start + Time::from(added.word.offset), &mut added.word);
                Reverse(added)
            })
            .collect();
        self.ring.revise(revise);
    }

    /// The rank of the last event.
    pub fn last_rank(&self, now: Time) -> u32 {
        self.ties.rank(now, self.entity)
    }

    /// All events but timers, in no order. Slow, because it visits every window.
    pub fn iter(&self) -> impl Iterator<Item = Event> {
        let open = self.line.left().iter().chain(self.line.added()).map(|word| self.event(word));
        open.chain(self.ring.iter()).filter(|event| event.entity < TIMERS)
    }

    /// The order of events at one time.
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.line.len() + self.ring.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn event(&self, word: &Word) -> Event {
        let time = self.ring.start() + Time::from(word.offset);
        Event { time, entity: word.entity, id: word.id }
    }
}
