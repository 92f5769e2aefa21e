//! Threads that go through the parts of a world side by side, for as long as the world lasts.
//!
//! A turn is a window. Between two turns all parts are with the caller. What goes from part to part in one turn is taken
//! in at the beginning of the next.
//!
//! On a machine that others use too, a thread may not run for many milliseconds, in which the caller could go through
//! thousands of turns. So the caller goes itself through the parts that their thread does not begin. Only for one that
//! was interrupted within a part it has to wait. Nobody yields a core: that gives away a whole slice of time.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tresse_fabric::Cut;
use tresse_units::{NEVER, Time};

use crate::bell::Bell;
use crate::part::{Part, Parts, Post};

/// The threads.
#[derive(Debug)]
pub(crate) struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// How many parts the caller has.
    own: usize,
}

/// What the threads share. Data that is written in one turn is read in the next.
#[derive(Debug)]
struct Shared {
    cut: Arc<Cut>,
    /// The number of the turn.
    turn: AtomicU32,
    /// Its end.
    end: AtomicU64,
    /// Whether there are no more turns.
    is_over: AtomicBool,
    /// Parts that have finished this turn.
    finished: AtomicU32,
    /// Rings when all have, or there are no more turns.
    is_done: Bell,
    seats: Vec<Seat>,
    desks: Vec<Desk>,
    /// By part, its information about the next window.
    outlooks: Vec<PartOutlook>,
    /// The messages from each part to each other one, for odd and for even turns.
    posts: [Vec<Mutex<Post>>; 2],
}

/// Where a part is during a turn, on its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Seat {
    part: Mutex<Option<Box<Part>>>,
    /// The last turn of the part that a thread has begun.
    begun: AtomicU32,
}

/// What belongs to a thread.
#[derive(Debug)]
struct Desk {
    /// Its parts.
    own: Range<usize>,
    /// Rings when a turn begins, or there are no more.
    begins: Bell,
    /// Whether the caller had to go through a part of its, and it has begun none since.
    is_late: AtomicBool,
}

/// A value on its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct PartOutlook {
    /// The first event here, or on its way from here.
    next: AtomicU64,
    hops: AtomicU64,
    /// The last instant of its next window if a message ends in it, else 0; [`NEVER`] if that is not known.
    end: AtomicU64,
}

/// What is known of all parts before a window.
#[derive(Debug)]
pub(crate) struct Outlook {
    /// No event comes earlier.
    pub next: Time,
    pub hops: u64,
    /// The window in which a message ends first, by its end; 0 if none does, [`NEVER`] if that is not known.
    end: Time,
}

impl Outlook {
    /// Whether a message ends in the next window, whose end this is; `None` if that is not known.
    pub fn ends_by(&self, end: Time) -> Option<bool> {
        (self.end != NEVER).then_some(self.end == end)
    }
}

impl Crew {
    /// Threads for this many parts, one for each core that the process may use.
    pub fn new(parts: usize, cut: Arc<Cut>) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let each = parts.div_ceil(cores.min(parts));
        let desks = (each..parts).step_by(each).map(|first| Desk {
            own: first..parts.min(first + each),
            begins: Bell::default(),
            is_late: AtomicBool::new(false),
        });
        let posts = || (0..parts * parts).map(|_| Mutex::default()).collect();
        let shared = Arc::new(Shared {
            cut,
            turn: AtomicU32::new(0),
            end: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            finished: AtomicU32::new(0),
            is_done: Bell::default(),
            seats: (0..parts).map(|_| Seat::default()).collect(),
            desks: desks.collect(),
            outlooks: (0..parts).map(|_| PartOutlook::default()).collect(),
            posts: [posts(), posts()],
        });
        let start = |desk| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work(desk))
        };
        Self { threads: (0..shared.desks.len()).map(start).collect(), shared, own: each }
    }

    /// All parts go through a window, until `end`.
    pub fn turn(&mut self, parts: &mut Parts, end: Time) {
        let shared = &*self.shared;
        for (seat, part) in shared.seats.iter().zip(parts.drain(..)) {
            *lock(&seat.part) = Some(part);
        }
        shared.end.store(end, Ordering::Relaxed);
        shared.finished.store(0, Ordering::Relaxed);
        let turn = shared.turn.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
        shared.desks.iter().for_each(|desk| desk.begins.ring());
        shared.go_through(0..self.own, turn);
        shared.finish(turn);
        assert!(shared.are_finished(), "a thread of the simulation has panicked");
        parts.extend(shared.seats.iter().filter_map(|seat| lock(&seat.part).take()));
    }

    /// Delivers what the last turn has sent from part to part.
    pub fn deliver(&self, parts: &mut [Box<Part>]) {
        let turn = self.shared.turn.load(Ordering::Relaxed);
        parts.iter_mut().for_each(|part| self.shared.take_in(part, turn));
    }

    /// Takes note of parts that have gone on without a turn.
    pub fn look_at(&self, parts: &mut [Box<Part>]) {
        parts.iter_mut().for_each(|part| self.shared.publish(part, NEVER));
    }

    /// What is known of all parts.
    pub fn outlook(&self) -> Outlook {
        let all = |value: fn(&PartOutlook) -> &AtomicU64| {
            self.shared.outlooks.iter().map(move |own| value(own).load(Ordering::Relaxed))
        };
        let next = all(|own| &own.next).min().unwrap_or(NEVER);
        let is_unknown = all(|own| &own.end).any(|end| end == NEVER);
        let first = all(|own| &own.end).filter(|&end| end > 0).min().unwrap_or(0);
        Outlook { next, hops: all(|own| &own.hops).sum(), end: if is_unknown { NEVER } else { first } }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.stop();
        for thread in self.threads.drain(..) {
            // A panic of the thread has been reported by then.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// What arrives at a part's hosts in a window is there when the window before it is over, unless it comes straight from
    /// another part.
    fn publish(&self, part: &mut Part, posted: Time) {
        let outlook = &self.outlooks[part.own];
        let next = part.earliest();
        let is_unknown = part.foresight.near > 0 && self.cut.ends_at_hosts();
        let end = if is_unknown { NEVER } else { part.foresee_own().unwrap_or(0) };
        outlook.next.store(next.min(posted), Ordering::Relaxed);
        outlook.hops.store(part.fabric.hops(), Ordering::Relaxed);
        outlook.end.store(end, Ordering::Relaxed);
    }

    /// The data that goes from one part to another at the end of a turn.
    fn with_post<R>(&self, turn: u32, [from, to]: [usize; 2], act: impl FnOnce(&mut Post) -> R) -> R {
        let post = &self.posts[turn as usize % 2][from * self.outlooks.len() + to];
        act(&mut lock(post))
    }

    fn others(&self, part: usize) -> impl Iterator<Item = usize> {
        (0..self.outlooks.len()).filter(move |&other| other != part)
    }

    /// Takes in what this turn has sent to a part.
    fn take_in(&self, part: &mut Part, turn: u32) {
        for from in self.others(part.own) {
            self.with_post(turn, [from, part.own], |post| part.take_in(post));
        }
    }

    /// A turn of those of some parts that nobody else has begun. Whether there were any.
    fn go_through(&self, parts: Range<usize>, turn: u32) -> bool {
        let mut has_begun = false;
        for seat in &self.seats[parts] {
            let claimed =
                seat.begun.compare_exchange(turn.wrapping_sub(1), turn, Ordering::AcqRel, Ordering::Relaxed);
            if claimed.is_err() {
                continue;
            }
            has_begun = true;
            self.go_through_part(lock(&seat.part).as_mut().expect("a turn begins with all parts"), turn);
            if self.finished.fetch_add(1, Ordering::SeqCst) + 1 == self.seats.len() as u32 {
                self.is_done.ring();
            }
        }
        has_begun
    }

    fn go_through_part(&self, part: &mut Part, turn: u32) {
        self.take_in(part, turn.wrapping_sub(1));
        part.run(self.end.load(Ordering::Relaxed), None);
        let mut first = NEVER;
        for to in self.others(part.own) {
            self.with_post(turn, [part.own, to], |post| {
                part.post(to, post);
                first = first.min(post.packets.first().unwrap_or(NEVER));
            });
        }
        self.publish(part, first);
    }

    /// The caller is done with its own parts. Goes through those that their threads do not begin: soon, or at once if
    /// they did not in the last turn.
    fn finish(&self, turn: u32) {
        let is_over = || self.are_finished() || self.is_over.load(Ordering::SeqCst);
        let take_over = |desk: &Desk| {
            if self.go_through(desk.own.clone(), turn) {
                desk.is_late.store(true, Ordering::Relaxed);
            }
        };
        self.desks.iter().filter(|desk| desk.is_late.load(Ordering::Relaxed)).for_each(take_over);
        if !Bell::spin(is_over) {
            self.desks.iter().for_each(take_over);
            self.is_done.wait(is_over);
        }
    }

    fn are_finished(&self) -> bool {
        self.finished.load(Ordering::SeqCst) == self.seats.len() as u32
    }

    /// Works for turn after turn.
    fn work(&self, desk: usize) {
        let over = Over(self);
        let desk = &self.desks[desk];
        let mut last = 0;
        loop {
            let is_over = || self.is_over.load(Ordering::SeqCst);
            desk.begins.wait(|| is_over() || self.turn.load(Ordering::SeqCst) != last);
            if is_over() {
                break;
            }
            last = self.turn.load(Ordering::SeqCst);
            if self.go_through(desk.own.clone(), last) {
                desk.is_late.store(false, Ordering::Relaxed);
            }
        }
        drop(over);
    }

    /// There are no more turns.
    fn stop(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.desks.iter().for_each(|desk| desk.begins.ring());
        self.is_done.ring();
    }
}

/// Makes the others end if this thread does, by a panic or not.
struct Over<'a>(&'a Shared);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Another thread's panic reports itself.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
