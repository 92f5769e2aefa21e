//! Windows on one thread or on several, whichever is faster.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use tresse_fabric::Cut;
use tresse_units::{NEVER, Time};

use crate::part::{Part, Post};
use crate::windows::{STRETCH, Stop, exchange, in_order, window_end};

/// After this many stretches, the slower way is tried again, because the load of the machine and of the network
/// changes.
const RETRY: u32 = 32;

/// How often a thread checks for its turn before it yields its core.
const SPINS: u32 = 1 << 12;

/// Whether parts advance one by one or together, and the cost of both.
#[derive(Debug)]
pub(crate) struct Mode {
    together: bool,
    /// The cost of this stretch.
    seconds: f64,
    hops: u64,
    /// Seconds per packet-hop, one by one and together; 0 if not yet tried.
    costs: [f64; 2],
    stretches: u32,
}

impl Mode {
    pub fn new() -> Self {
        Self { together: false, seconds: 0.0, hops: 0, costs: [0.0; 2], stretches: 0 }
    }

    /// Advances all parts, with no post between them, to `until` or for some hops.
    pub fn run(
        &mut self,
        parts: &mut [&mut Part],
        post: &mut Post,
        cut: &Cut,
        clock: fn() -> f64,
        until: Time,
    ) -> Stop {
        let (start, before) = (clock(), hops(parts));
        let limit = before + STRETCH - self.hops;
        let stop = if self.together {
            together(parts, post, cut, until, limit)
        } else {
            one_by_one(parts, post, cut, until, limit)
        };
        self.seconds += clock() - start;
        self.hops += hops(parts) - before;
        if self.hops >= STRETCH {
            self.consider();
        }
        stop
    }

    /// A stretch has ended.
    fn consider(&mut self) {
        self.costs[usize::from(self.together)] = self.seconds / self.hops as f64;
        (self.seconds, self.hops) = (0.0, 0);
        self.stretches += 1;
        let faster = self.costs[1] < self.costs[0];
        self.together = faster != self.stretches.is_multiple_of(RETRY) || self.costs[1] == 0.0;
    }
}

fn hops(parts: &[&mut Part]) -> u64 {
    parts.iter().map(|part| part.fabric.hops()).sum()
}

fn one_by_one(parts: &mut [&mut Part], post: &mut Post, cut: &Cut, until: Time, limit: u64) -> Stop {
    let window = parts[0].fabric.window();
    loop {
        let next = parts.iter().map(|part| part.earliest()).min().unwrap_or(NEVER);
        let end = match plan(next, hops(parts), until, limit, cut, window) {
            Ok(end) => end,
            Err(stop) => return stop,
        };
        if !parts.iter().any(|part| part.may_end(next)) {
            parts.iter_mut().for_each(|part| part.run(end));
        } else if let Some(stop) = in_order(parts, end) {
            return stop;
        }
        exchange(parts, post);
    }
}

/// The end of the window that begins with `next`, or why there is none. It lies in one `window` of the fabrics.
fn plan(next: Time, hops: u64, until: Time, limit: u64, cut: &Cut, window: Time) -> Result<Time, Stop> {
    if next > until || next == NEVER {
        Err(Stop::Reached)
    } else if hops >= limit {
        Err(Stop::Hops)
    } else {
        Ok(window_end(next, until, cut.lookahead()).min(last_of_window(next, window)))
    }
}

/// The last instant of the fabrics' window that `time` lies in.
fn last_of_window(time: Time, window: Time) -> Time {
    (time / window).saturating_add(1).saturating_mul(window) - 1
}

/// The data shared by threads that advance together. A turn is a window; data that is written in one turn is read
/// in the next.
struct Shared<'a> {
    cut: &'a Cut,
    /// The number of the window that may begin.
    turn: AtomicU32,
    /// Its end.
    end: AtomicU64,
    /// Whether there are no more windows.
    is_over: AtomicBool,
    /// Threads that have finished it.
    finished: AtomicU32,
    /// By part, its information about the next window.
    outlooks: Vec<Outlook>,
    /// The messages from each part to each other one, for odd and for even turns.
    posts: [Vec<Mutex<Post>>; 2],
}

/// A value on its own cache line.
#[derive(Default)]
#[repr(align(128))]
struct Outlook {
    /// The first event here, or on its way from here.
    next: AtomicU64,
    hops: AtomicU64,
    /// See [`window_of_end`].
    end: AtomicU64,
}

/// The last instant of the part's next window if a message may end in it, else 0; [`NEVER`] if one may end in any window.
/// What arrives at a part's hosts in a window is there when the window before it is over, unless it comes straight from
/// another part.
fn window_of_end(part: &Part, cut: &Cut) -> Time {
    let next = part.earliest();
    if part.near == 0 || next == NEVER {
        0
    } else if cut.ends_at_hosts() {
        NEVER
    } else if part.may_end(next) {
        part.fabric.window_end(next)
    } else {
        0
    }
}

impl<'a> Shared<'a> {
    fn new(parts: &[&mut Part], cut: &'a Cut) -> Self {
        let posts = || (0..parts.len() * parts.len()).map(|_| Mutex::default()).collect();
        let shared = Self {
            cut,
            turn: AtomicU32::new(0),
            end: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            finished: AtomicU32::new(0),
            outlooks: parts.iter().map(|_| Outlook::default()).collect(),
            posts: [posts(), posts()],
        };
        parts.iter().for_each(|part| shared.publish(part, NEVER));
        shared
    }

    fn publish(&self, part: &Part, posted: Time) {
        let outlook = &self.outlooks[part.own];
        outlook.next.store(part.earliest().min(posted), Ordering::Relaxed);
        outlook.hops.store(part.fabric.hops(), Ordering::Relaxed);
        outlook.end.store(window_of_end(part, self.cut), Ordering::Relaxed);
    }

    /// The data that goes from one part to another at the end of a turn.
    fn with_post<R>(&self, turn: u32, [from, to]: [usize; 2], act: impl FnOnce(&mut Post) -> R) -> R {
        let post = &self.posts[turn as usize % 2][from * self.outlooks.len() + to];
        act(&mut lock(post))
    }

    fn others(&self, part: usize) -> impl Iterator<Item = usize> {
        (0..self.outlooks.len()).filter(move |&other| other != part)
    }

    /// Takes in the messages of the previous turn.
    fn take_in(&self, part: &mut Part, turn: u32) {
        for from in self.others(part.own) {
            self.with_post(turn.wrapping_sub(1), [from, part.own], |post| part.take_in(post));
        }
    }

    /// A turn of some parts.
    fn turn(&self, parts: &[Mutex<&mut Part>], turn: u32) {
        let end = self.end.load(Ordering::Relaxed);
        for part in parts {
            let part = &mut **lock(part);
            self.take_in(part, turn);
            part.run(end);
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

    /// A window in which a message may end, between two turns.
    fn in_order(&self, parts: &[Mutex<&mut Part>], post: &mut Post, turn: u32, end: Time) -> Option<Stop> {
        let mut guards: Vec<_> = parts.iter().map(lock).collect();
        let mut parts: Vec<&mut Part> = guards.iter_mut().map(|guard| &mut ***guard).collect();
        parts.iter_mut().for_each(|part| self.take_in(part, turn));
        let stop = in_order(&mut parts, end);
        if stop.is_none() {
            exchange(&mut parts, post);
            parts.iter().for_each(|part| self.publish(part, NEVER));
        }
        stop
    }

    /// Waits until `is_ready`; false if another thread has panicked.
    fn wait(&self, is_ready: impl Fn() -> bool) -> bool {
        let mut spins = 0;
        while !is_ready() {
            if self.is_over.load(Ordering::Relaxed) {
                return is_ready();
            }
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { thread::yield_now() }
        }
        true
    }

    /// Works for turn after turn.
    fn work(&self, parts: &[Mutex<&mut Part>]) {
        let over = Over(self);
        for turn in 1.. {
            if !self.wait(|| self.turn.load(Ordering::Acquire) == turn) {
                break;
            }
            self.turn(parts, turn);
            self.finished.fetch_add(1, Ordering::Release);
        }
        drop(over);
    }
}

/// Makes the other threads end if this one does, by a panic or not.
struct Over<'a>(&'a Shared<'a>);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// Another thread's panic reports itself.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All parts side by side, on as many threads as there are cores for.
fn together(parts: &mut [&mut Part], post: &mut Post, cut: &Cut, until: Time, limit: u64) -> Stop {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (shared, window) = (Shared::new(parts, cut), parts[0].fabric.window());
    let each = parts.len().div_ceil(cores.min(parts.len()));
    // A thread holds its parts for a turn; between two turns nobody does.
    let parts: Vec<Mutex<&mut Part>> = parts.iter_mut().map(|part| Mutex::new(&mut **part)).collect();
    let (own, others) = parts.split_at(each);
    let (stop, turns) = thread::scope(|scope| {
        let mut workers = 0;
        for chunk in others.chunks(each) {
            scope.spawn(|| shared.work(chunk));
            workers += 1;
        }
        let over = Over(&shared);
        let mut turn = 0;
        let stop = loop {
            let outlooks = || shared.outlooks.iter();
            let next = outlooks().map(|o| o.next.load(Ordering::Relaxed)).min().unwrap_or(NEVER);
            let hops: u64 = outlooks().map(|o| o.hops.load(Ordering::Relaxed)).sum();
            let end = match plan(next, hops, until, limit, cut, window) {
                Ok(end) => end,
                Err(stop) => break stop,
            };
            let last = last_of_window(end, window);
            let may_end = |o: &Outlook| [last, NEVER].contains(&o.end.load(Ordering::Relaxed));
            if outlooks().any(may_end) {
                if let Some(stop) = shared.in_order(&parts, post, turn + 1, end) {
                    break stop;
                }
                continue;
            }
            turn += 1;
            shared.end.store(end, Ordering::Relaxed);
            shared.finished.store(0, Ordering::Relaxed);
            shared.turn.store(turn, Ordering::Release);
            shared.turn(own, turn);
            let all = shared.wait(|| shared.finished.load(Ordering::Acquire) == workers);
            assert!(all, "a thread of the simulation has panicked");
        };
        drop(over);
        (stop, turn)
    });
    for part in &parts {
        shared.take_in(&mut lock(part), turns + 1);
    }
    stop
}
