//! Threads that go through the parts of a world side by side, for as long as the world lasts.
//!
//! A turn is a window. Between two turns all parts are with the caller. What goes from part to part in one turn is taken
//! in at the beginning of the next.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tresse_fabric::Cut;
use tresse_units::{NEVER, Time};

use crate::part::{Part, Parts, Post};

/// How often a thread checks for its turn before it yields its core.
const SPINS: u32 = 1 << 12;
/// How often it yields its core before it sleeps.
const YIELDS: u32 = 1 << 6;

/// The threads.
#[derive(Debug)]
pub(crate) struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// How many parts a thread has.
    each: usize,
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
    /// Threads that have finished this turn.
    finished: AtomicU32,
    desks: Vec<Desk>,
    /// By part, its information about the next window.
    outlooks: Vec<PartOutlook>,
    /// The messages from each part to each other one, for odd and for even turns.
    posts: [Vec<Mutex<Post>>; 2],
}

/// What belongs to a thread.
#[derive(Debug, Default)]
struct Desk {
    /// Its parts, during a turn.
    parts: Mutex<Parts>,
    sleeps: AtomicBool,
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
        let others = parts.div_ceil(each) - 1;
        let posts = || (0..parts * parts).map(|_| Mutex::default()).collect();
        let shared = Arc::new(Shared {
            cut,
            turn: AtomicU32::new(0),
            end: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            finished: AtomicU32::new(0),
            desks: (0..others).map(|_| Desk::default()).collect(),
            outlooks: (0..parts).map(|_| PartOutlook::default()).collect(),
            posts: [posts(), posts()],
        });
        let start = |desk| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work(desk))
        };
        Self { threads: (0..others).map(start).collect(), shared, each }
    }

    /// All parts go through a window, until `end`.
    pub fn turn(&mut self, parts: &mut Parts, end: Time) {
        let shared = &*self.shared;
        for (desk, own) in shared.desks.iter().enumerate().rev() {
            lock(&own.parts).extend(parts.drain(self.each * (desk + 1)..));
        }
        shared.end.store(end, Ordering::Relaxed);
        shared.finished.store(0, Ordering::Relaxed);
        let turn = shared.turn.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
        for (desk, thread) in shared.desks.iter().zip(&self.threads) {
            if desk.sleeps.load(Ordering::SeqCst) {
                thread.thread().unpark();
            }
        }
        shared.go_through(parts, turn);
        let all = self.threads.len() as u32;
        let are_done = shared.wait(u32::MAX, || shared.finished.load(Ordering::Acquire) == all);
        assert!(are_done, "a thread of the simulation has panicked");
        shared.desks.iter().for_each(|desk| parts.append(&mut lock(&desk.parts)));
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
        self.shared.is_over.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
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

    /// A turn of some parts.
    fn go_through(&self, parts: &mut [Box<Part>], turn: u32) {
        let end = self.end.load(Ordering::Relaxed);
        for part in parts {
            self.take_in(part, turn.wrapping_sub(1));
            part.run(end, None);
            let mut first = NEVER;
            for to in self.others(part.own) {
                self.with_post(turn, [part.own, to], |post| {
                    part.post(to, post);
                    first = first.min(post.packets.first().unwrap_or(NEVER));
                });
            }
            self.publish(part, first);
        }
    }

    /// Waits until `is_ready`, or there are no more turns, or it has waited for so many checks. Whether it is ready.
    fn wait(&self, checks: u32, is_ready: impl Fn() -> bool) -> bool {
        for check in 0..checks {
            if is_ready() {
                return true;
            }
            if self.is_over.load(Ordering::SeqCst) {
                break;
            }
            if check < SPINS { std::hint::spin_loop() } else { thread::yield_now() }
        }
        is_ready()
    }

    /// Works for turn after turn.
    fn work(&self, desk: usize) {
        let over = Over(self);
        let mut turn = 1;
        while self.wait_for_turn(turn, desk) {
            self.go_through(&mut lock(&self.desks[desk].parts), turn);
            self.finished.fetch_add(1, Ordering::Release);
            turn = turn.wrapping_add(1);
        }
        drop(over);
    }

    /// Waits for a turn, at last asleep. False if there are no more.
    fn wait_for_turn(&self, turn: u32, desk: usize) -> bool {
        let is_ready = || self.turn.load(Ordering::SeqCst) == turn;
        if self.wait(SPINS + YIELDS, is_ready) {
            return true;
        }
        let sleeps = &self.desks[desk].sleeps;
        sleeps.store(true, Ordering::SeqCst);
        while !is_ready() && !self.is_over.load(Ordering::SeqCst) {
            thread::park();
        }
        sleeps.store(false, Ordering::SeqCst);
        is_ready()
    }
}

/// Makes the others end if this thread does, by a panic or not.
struct Over<'a>(&'a Shared);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

/// Another thread's panic reports itself.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
