//! Windows on one thread or on several, whichever is faster.

use std::sync::Arc;

use tresse_fabric::Cut;
use tresse_units::{NEVER, Time};

use crate::crew::{Crew, Work};
use crate::part::{Open, Part, Parts, Post};
use crate::windows::{STRETCH, Stop, exchange, in_order};

/// After this many stretches, the slower way is tried again, because the load of the machine and of the network
/// changes.
const RETRY: u32 = 32;

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
    /// The threads, once they have been needed.
    crew: Option<Crew>,
}

impl Mode {
    pub fn new() -> Self {
        Self { together: false, seconds: 0.0, hops: 0, costs: [0.0; 2], stretches: 0, crew: None }
    }

    /// Advances all parts, with no post between them, to `until` or for some hops.
    pub fn run(
        &mut self,
        parts: &mut Parts,
        post: &mut Post,
        cut: &Arc<Cut>,
        clock: fn() -> f64,
        until: Time,
    ) -> Stop {
        let (start, before) = (clock(), hops(parts));
        let limit = before + STRETCH - self.hops;
        let stop = if self.together {
            let crew = self.crew.get_or_insert_with(|| Crew::new(parts.len(), Arc::clone(cut)));
            together(crew, parts, post, until, limit)
        } else {
            one_by_one(parts, post, until, limit)
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

fn hops(parts: &[Box<Part>]) -> u64 {
    parts.iter().map(|part| part.fabric.hops()).sum()
}

/// All parts, one after the other.
fn all(parts: &mut Parts, end: Time, work: Work) {
    parts.iter_mut().for_each(|part| work.be_done(part, end));
}

fn one_by_one(parts: &mut Parts, post: &mut Post, until: Time, limit: u64) -> Stop {
    loop {
        if let Open::Hosts(end) = parts[0].open {
            if let Some(stop) = lead(parts, end, until, all) {
                return stop;
            }
            all(parts, end, Work::Rest);
            exchange(parts, post);
        }
        let next = parts.iter().map(|part| part.earliest()).min().unwrap_or(NEVER);
        if let Some(stop) = pauses(next, hops(parts), until, limit) {
            return stop;
        }
        let end = parts[0].fabric.window_end(next);
        if end <= until && !parts.iter().any(|part| part.may_end(next)) {
            all(parts, end, Work::Window);
        } else if parts[0].fabric.hosts_can_lead() {
            parts.iter_mut().for_each(|part| part.lead_to(end));
            continue;
        } else if let Some(stop) = in_order(parts, end.min(until)) {
            return stop;
        }
        exchange(parts, post);
    }
}

/// Why there is no window that begins with `next`, if there is none.
fn pauses(next: Time, hops: u64, until: Time, limit: u64) -> Option<Stop> {
    if next > until || next == NEVER { Some(Stop::Reached) } else { (hops >= limit).then_some(Stop::Hops) }
}

/// Hosts go on to lead, at most to `end`; `None` when they are there. Until a message may end, those of each part go on by
/// themselves, as `all` lets them.
fn lead(
    parts: &mut Parts,
    end: Time,
    until: Time,
    mut all: impl FnMut(&mut Parts, Time, Work),
) -> Option<Stop> {
    let to = end.min(until);
    loop {
        let next = parts.iter().map(|part| part.earliest()).min().filter(|&next| next <= to);
        let Some(next) = next else { break };
        let first_end = parts.iter().filter_map(|part| part.first_end(next)).min();
        let may_end = match first_end {
            Some(0) => to,
            Some(time) if time <= next => next,
            Some(time) if time <= to => {
                all(parts, time - 1, Work::Hosts);
                time
            }
            Some(_) | None => {
                all(parts, to, Work::Hosts);
                break;
            }
        };
        if let Some(stop) = in_order(parts, may_end) {
            return Some(stop);
        }
    }
    (until < end).then_some(Stop::Reached)
}

/// All parts side by side, on the threads of `crew`.
fn together(crew: &mut Crew, parts: &mut Parts, post: &mut Post, until: Time, limit: u64) -> Stop {
    crew.look_at(parts);
    let stop = loop {
        if let Open::Hosts(end) = parts[0].open {
            if let Some(stop) = lead(parts, end, until, |parts, end, work| crew.turn(parts, end, work)) {
                break stop;
            }
            crew.turn(parts, end, Work::Rest);
        }
        let outlook = crew.outlook();
        if let Some(stop) = pauses(outlook.next, outlook.hops, until, limit) {
            break stop;
        }
        let end = parts[0].fabric.window_end(outlook.next);
        if end <= until && !outlook.may_end_by(end) {
            crew.turn(parts, end, Work::Window);
            continue;
        }
        crew.deliver(parts);
        if parts[0].fabric.hosts_can_lead() {
            parts.iter_mut().for_each(|part| part.lead_to(end));
            continue;
        }
        if let Some(stop) = in_order(parts, end.min(until)) {
            break stop;
        }
        exchange(parts, post);
        crew.look_at(parts);
    };
    crew.deliver(parts);
    stop
}
