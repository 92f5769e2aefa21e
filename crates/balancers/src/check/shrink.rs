//! How a script of a balancer becomes simpler.

use tresse_controllers::check::search::{self, Accept};

use super::script::{Event, ReportedPacket, Script};
use crate::Feedback;

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
        fewer_paths(self, accept);
    }
}

/// Fewer paths, and the first stream; feedback on a path that no longer exists is on the last one.
fn fewer_paths(best: &mut Script, accept: &mut Accept<'_, Script>) {
    while smaller(best.paths.into(), 1).into_iter().any(|paths| {
        let paths = paths as u32;
        let of = |event: &Event| match *event {
            Event::Feedback { of: ReportedPacket::Path(path), what } => {
                Event::Feedback { of: ReportedPacket::Path(path.min(paths - 1)), what }
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

/// Events that say less, the least first.
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
            let nearer: Vec<ReportedPacket> = match of {
                ReportedPacket::Path(path) => {
                    smaller(path.into(), 0).into_iter().map(|p| ReportedPacket::Path(p as u32)).collect()
                }
                ReportedPacket::Ago(ago) => {
                    let later = smaller(ago.into(), 0).into_iter().map(|a| ReportedPacket::Ago(a as u32));
                    [ReportedPacket::Path(0), ReportedPacket::Path(1)].into_iter().chain(later).collect()
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
