//! The parts of a world that is cut, on one thread or on several, whichever is faster.

use std::sync::Arc;

use tresse_fabric::Cut;
use tresse_units::{NEVER, Time};

use crate::crew::Crew;
use crate::part::{Part, Parts, Post};

/// The number of packet-hops for which the number of threads stays the same before it is reconsidered.
const STRETCH: u64 = 1 << 16;

/// After this many stretches, the slower way is tried again, because the load of the machine and of the network
/// changes.
const RETRY: u32 = 32;

/// Why [`Cutting::run`] returned.
pub(crate) enum Stop {
    /// Nothing happens until the requested time, or ever.
    Reached,
    /// Messages end in the next window, or the requested time lies in it. This is its end, and parts know which.
    Window(Time),
    /// So much has been done.
    Enough,
}

/// How a world is cut, and how its parts advance.
#[derive(Debug)]
pub(crate) struct Cutting {
    cut: Arc<Cut>,
    clock: fn() -> f64,
    /// Whether parts advance together, or one by one.
    together: bool,
    /// The cost of this stretch.
    seconds: f64,
    hops: u64,
    /// Seconds per packet-hop, one by one and together; 0 if not yet tried.
    costs: [f64; 2],
    stretches: u32,
    /// The threads, once they have been needed.
    crew: Option<Crew>,
    /// Whether they know what parts will do next.
    knows: bool,
    /// Whether they have something for parts.
    has_post: bool,
    /// The post between two parts, kept to reuse its memory.
    post: Post,
}

impl Cutting {
    pub fn new(cut: Arc<Cut>, clock: fn() -> f64) -> Self {
        Self {
            cut,
            clock,
            together: false,
            seconds: 0.0,
            hops: 0,
            costs: [0.0; 2],
            stretches: 0,
            crew: None,
            knows: false,
            has_post: false,
            post: Post::default(),
        }
    }

    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// Goes through windows in which no message ends, until [`Stop`].
    pub fn run(&mut self, parts: &mut Parts, until: Time) -> Stop {
        let (start, before) = ((self.clock)(), hops(parts));
        let limit = before + STRETCH - self.hops.min(STRETCH);
        let stop = if self.together {
            self.run_together(parts, until, limit)
        } else {
            self.deliver(parts);
            run_one_by_one(parts, &mut self.post, until, limit)
        };
        self.count(parts, start, before);
        stop
    }

    /// All parts go through a window, up to its end.
    pub fn turn(&mut self, parts: &mut Parts, end: Time) {
        let (start, before) = ((self.clock)(), hops(parts));
        if self.together {
            self.crew(parts).turn(parts, end);
            self.has_post = true;
        } else {
            self.deliver(parts);
            all(parts, &mut self.post, end);
        }
        self.count(parts, start, before);
    }

    /// Delivers what threads have for parts.
    pub fn deliver(&mut self, parts: &mut [Box<Part>]) {
        if let Some(crew) = self.crew.as_ref().filter(|_| self.has_post) {
            crew.deliver(parts);
        }
        (self.has_post, self.knows) = (false, false);
    }

    /// Delivers to each part what the others have for it, after something was done outside of a window.
    pub fn exchange(&mut self, parts: &mut [Box<Part>]) {
        debug_assert!(!self.has_post, "it was delivered before");
        exchange(parts, &mut self.post);
        self.knows = false;
    }

    fn crew(&mut self, parts: &Parts) -> &mut Crew {
        self.crew.get_or_insert_with(|| Crew::new(parts.len(), Arc::clone(&self.cut)))
    }

    fn run_together(&mut self, parts: &mut Parts, until: Time, limit: u64) -> Stop {
        let knows = self.knows;
        let crew = self.crew(parts);
        if !knows {
            crew.look_at(parts);
        }
        let mut has_gone = false;
        let stop = loop {
            let outlook = crew.outlook();
            if let Some(stop) = pauses(outlook.next, outlook.hops, until, limit) {
                break stop;
            }
            let end = parts[0].fabric.window_end(outlook.next);
            let ends = outlook.ends_by(end);
            if ends.is_none() {
                crew.deliver(parts);
                parts.iter_mut().for_each(|part| part.foresee(end));
            }
            if end > until || ends.unwrap_or_else(|| any_end(parts)) {
                parts.iter_mut().for_each(|part| part.foresight.keep_of(end));
                break Stop::Window(end);
            }
            crew.turn(parts, end);
            has_gone = true;
        };
        self.has_post |= has_gone;
        self.knows = true;
        stop
    }

    /// So long ago the parts began, when they had had so many hops.
    fn count(&mut self, parts: &Parts, start: f64, before: u64) {
        self.seconds += (self.clock)() - start;
        self.hops += hops(parts) - before;
        if self.hops < STRETCH {
            return;
        }
        self.costs[usize::from(self.together)] = self.seconds / self.hops as f64;
        (self.seconds, self.hops) = (0.0, 0);
        self.stretches += 1;
        let faster = self.costs[1] < self.costs[0];
        self.together = faster != self.stretches.is_multiple_of(RETRY) || self.costs[1] == 0.0;
    }
}

fn hops(parts: &[Box<Part>]) -> u64 {
    parts.iter().map(|part| part.fabric.hops()).sum()
}

/// Delivers to each part what the others have for it; `post` is empty before and after.
fn exchange(parts: &mut [Box<Part>], post: &mut Post) {
    for from in 0..parts.len() {
        for to in (0..parts.len()).filter(|&to| to != from) {
            parts[from].post(to, post);
            parts[to].take_in(post);
        }
    }
}

/// Whether a message ends in the window that parts have looked at.
fn any_end(parts: &[Box<Part>]) -> bool {
    parts.iter().any(|part| !part.foresight.ends.is_empty())
}

/// All parts go through a window, one after the other.
fn all(parts: &mut Parts, post: &mut Post, end: Time) {
    parts.iter_mut().for_each(|part| part.run(end, None));
    exchange(parts, post);
}

fn run_one_by_one(parts: &mut Parts, post: &mut Post, until: Time, limit: u64) -> Stop {
    loop {
        let next = parts.iter().map(|part| part.earliest()).min().unwrap_or(NEVER);
        if let Some(stop) = pauses(next, hops(parts), until, limit) {
            return stop;
        }
        let end = parts[0].fabric.window_end(next);
        parts.iter_mut().for_each(|part| part.foresee(end));
        if end > until || any_end(parts) {
            return Stop::Window(end);
        }
        all(parts, post, end);
    }
}

/// Why there is no window that begins with `next`, if there is none.
fn pauses(next: Time, hops: u64, until: Time, limit: u64) -> Option<Stop> {
    if next > until || next == NEVER { Some(Stop::Reached) } else { (hops >= limit).then_some(Stop::Enough) }
}
