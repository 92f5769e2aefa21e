//! The shortest script that still shows a breach: greedy, until no single step is possible.

use super::script::{Event, Of, Script};
use crate::Feedback;

/// The most scripts that are tried.
const MOST_TRIALS: usize = 5_000;

/// A script that `breaks`, and in which nothing can be left out or made simpler.
pub(super) fn shrink(script: Script, breaks: &mut dyn FnMut(&Script) -> bool) -> Script {
    let mut left = MOST_TRIALS;
    let mut best = script;
    let mut accept = |best: &mut Script, candidate: Script| {
        if left == 0 || candidate == *best {
            return false;
        }
        left -= 1;
        let better = breaks(&candidate);
        if better {
            *best = candidate;
        }
        better
    };
    loop {
        let before = best.clone();
        fewer_paths(&mut best, &mut accept);
        fewer_events(&mut best, &mut accept);
        for k in 0..best.events.len() {
            // The simplest first; an accepted one is simplified again if possible.
            while simpler(best.events[k]).into_iter().any(|event| {
                let mut candidate = best.clone();
                candidate.events[k] = event;
                accept(&mut best, candidate)
            }) {}
        }
        if best == before {
            return best;
        }
    }
}

type Accept<'a> = dyn FnMut(&mut Script, Script) -> bool + 'a;

/// Fewer paths, and the first stream; feedback on a path that no longer exists is on the last one.
fn fewer_paths(best: &mut Script, accept: &mut Accept<'_>) {
    while smaller(best.paths.into(), 1).into_iter().any(|paths| {
        let paths = paths as u32;
        let of = |event: &Event| match *event {
            Event::Feedback { of: Of::Path(path), what } => {
                Event::Feedback { of: Of::Path(path.min(paths - 1)), what }
            }
            event => event,
        };
        let candidate = Script { paths, stream: best.stream, events: best.events.iter().map(of).collect() };
        accept(best, candidate)
    }) {}
    for stream in 0..4 {
        if stream >= best.stream || accept(best, Script { stream, ..best.clone() }) {
            break;
        }
    }
}

/// Leaves out runs of events, from long runs to single ones.
fn fewer_events(best: &mut Script, accept: &mut Accept<'_>) {
    let mut run = best.events.len().max(1);
    while run > 0 {
        let mut from = 0;
        while from < best.events.len() {
            let mut candidate = best.clone();
            candidate.events.drain(from..(from + run).min(best.events.len()));
            if !accept(best, candidate) {
                from += run;
            }
        }
        run /= 2;
    }
}

/// Simpler events, the simplest first.
fn simpler(event: Event) -> Vec<Event> {
    match event {
        Event::Pick => Vec::new(),
        Event::Wait { ns } => smaller(ns, 1).into_iter().map(|ns| Event::Wait { ns }).collect(),
        Event::Window { packets } => {
            let window = |packets| Event::Window { packets: packets as u32 };
            smaller(packets.into(), 1).into_iter().map(window).collect()
        }
        Event::Feedback { of, what } => {
            let milder = Feedback::ALL.into_iter().filter(|&other| other < what);
            let mut all: Vec<Event> = milder.map(|what| Event::Feedback { of, what }).collect();
            let nearer: Vec<Of> = match of {
                Of::Path(path) => smaller(path.into(), 0).into_iter().map(|p| Of::Path(p as u32)).collect(),
                Of::Ago(ago) => {
                    let later = smaller(ago.into(), 0).into_iter().map(|a| Of::Ago(a as u32));
                    [Of::Path(0), Of::Path(1)].into_iter().chain(later).collect()
                }
            };
            all.extend(nearer.into_iter().map(|of| Event::Feedback { of, what }));
            all
        }
    }
}

/// Numbers between `least` and `value`, without `value`: the least ones, the round ones, half, one less.
fn smaller(value: u64, least: u64) -> Vec<u64> {
    let mut all: Vec<u64> = (least..least + 4).collect();
    all.extend((1..=12).map(|digits| 10u64.pow(digits)));
    all.extend([value / 2, value.saturating_sub(value / 8), value.saturating_sub(1)]);
    all.retain(|&v| v >= least && v < value);
    all
}
