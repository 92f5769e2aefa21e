//! How a script of a controller becomes simpler.

use super::reports;
use super::search::{self, Accept};
use crate::trace::{DEFAULT_RTT, Event, Script};

impl search::Script for Script {
    type Event = Event;

    fn events(&self) -> &Vec<Event> {
        &self.events
    }

    fn events_mut(&mut self) -> &mut Vec<Event> {
        &mut self.events
    }

    fn simpler(event: Event) -> Vec<Event> {
        simpler(event)
    }

    fn simplify(&mut self, accept: &mut Accept<'_, Self>) {
        window_instead(self, accept);
        fewer_subflows(self, accept);
    }
}

/// Windows to try in place of the events that led to them.
const WINDOWS: [u32; 15] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 50, 100, 1000];

/// Sets a window instead of everything before an event, the last events first.
fn window_instead(best: &mut Script, accept: &mut Accept<'_, Script>) {
    for k in (2..best.events.len()).rev() {
        let subflow = best.events[k].subflow();
        let replaced = WINDOWS.iter().any(|&cwnd| {
            let set = Event::Window { cwnd, ssthresh: None, subflow };
            let events = std::iter::once(set).chain(best.events[k..].iter().copied()).collect();
            let candidate = Script { subflows: best.subflows, events };
            accept(best, candidate)
        });
        if replaced {
            return;
        }
    }
}

/// Leaves out subflows, with what happens to them or with that moved to subflow 0.
fn fewer_subflows(best: &mut Script, accept: &mut Accept<'_, Script>) {
    let mut i = best.subflows;
    while i > 0 && best.subflows > 1 {
        i -= 1;
        let without = |moved: bool| {
            let renumbered = best.events.iter().filter(|e| moved || e.subflow() != i).map(|event| {
                let place = event.subflow();
                event.on(if place == i { 0 } else { place - usize::from(place > i) })
            });
            Script { subflows: best.subflows - 1, events: renumbered.collect() }
        };
        let candidates = [without(false), without(true)];
        let _ = candidates.into_iter().any(|candidate| accept(best, candidate));
    }
}

/// Simpler events, the simplest first.
fn simpler(event: Event) -> Vec<Event> {
    let mut all = Vec::new();
    match event {
        Event::Ack { packets, marked, rtt, limited, subflow } => {
            if !limited {
                all.push(Event::Ack { packets, marked, rtt, limited: true, subflow });
            }
            if marked > 0 {
                all.push(Event::Loss { subflow });
            }
            if rtt.is_some() {
                all.push(Event::Ack { packets, marked, rtt: None, limited, subflow });
            }
            for rtt in rtt.into_iter().flat_map(|rtt| rounder(rtt, DEFAULT_RTT)) {
                all.push(Event::Ack { packets, marked, rtt: Some(rtt), limited, subflow });
            }
            for marked in smaller(marked, 0) {
                all.push(Event::Ack { packets, marked, rtt, limited, subflow });
            }
            for packets in smaller(packets, 1) {
                all.push(Event::Ack { packets, marked: marked.min(packets), rtt, limited, subflow });
            }
        }
        Event::Wait { us, subflow } => {
            let us = u32::try_from(us).unwrap_or(u32::MAX);
            all.extend(smaller(us, 0).into_iter().map(|us| Event::Wait { us: us.into(), subflow }));
        }
        Event::Window { cwnd, ssthresh, subflow } => {
            if ssthresh.is_some() {
                all.push(Event::Window { cwnd, ssthresh: None, subflow });
            }
            for ssthresh in ssthresh.into_iter().flat_map(|ssthresh| smaller(ssthresh, 2)) {
                all.push(Event::Window { cwnd, ssthresh: Some(ssthresh), subflow });
            }
            for cwnd in smaller(cwnd, 2) {
                all.push(Event::Window { cwnd, ssthresh, subflow });
            }
        }
        Event::Timeout { subflow } | Event::Local { subflow } => all.push(Event::Loss { subflow }),
        Event::Path { path, subflow } => {
            all.extend(reports::simpler_paths(path).map(|path| Event::Path { path, subflow }));
        }
        Event::Hop { hop, subflow } => {
            all.extend(reports::simpler_hops(hop).map(|hop| Event::Hop { hop, subflow }));
        }
        Event::Report { told, subflow } => {
            all.extend(reports::simpler(told).map(|told| Event::Report { told, subflow }));
        }
        Event::Loss { .. } | Event::Undo { .. } | Event::NextHop { .. } => {}
    }
    if event.subflow() > 0 {
        all.push(event.on(0));
    }
    all
}

/// Numbers between `least` and `value`, without `value`: the least, the round ones, half, one less.
pub(super) fn smaller(value: u32, least: u32) -> Vec<u32> {
    let mut all = vec![least];
    all.extend((1..=6).map(|digits| 10u32.pow(digits)));
    all.extend([value / 2, value.saturating_sub(value / 8), value.saturating_sub(1)]);
    all.retain(|&v| v >= least && v < value);
    all
}

/// RTTs nearer to `usual`, or of whole microseconds.
fn rounder(value: u32, usual: u32) -> Vec<u32> {
    if value > usual {
        smaller(value, usual)
    } else {
        let mut all = vec![usual, usual - (usual - value) / 2];
        all.retain(|&v| v > value);
        all
    }
}
