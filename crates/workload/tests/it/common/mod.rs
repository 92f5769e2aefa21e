//! A network that only lets flows finish.

use std::collections::{BTreeMap, BTreeSet};

use tresse_units::{NEVER, Stream, Time};
use tresse_workload::{Action, Job, Source, Start};

/// The requests of a source, by time.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub starts: Vec<(Time, Start)>,
    pub stops: Vec<(Time, u64)>,
    pub finishes: Vec<(Time, u64)>,
    pub jobs: Vec<Job>,
    pub is_over: bool,
}

impl Seen {
    /// Every flow by its name.
    #[allow(dead_code, reason = "not every test looks")]
    pub fn by_name(&self) -> BTreeMap<u64, Start> {
        self.starts.iter().map(|&(_, start)| (start.name, start)).collect()
    }
}

/// Flows of random lengths up to a millisecond, drawn under `salt`: different salts give different orders of
/// finishing.
pub fn random(salt: u64) -> impl Fn(&Start) -> Time {
    move |start| 1 + Stream::new(salt, "length", start.name).below(1_000_000_000)
}

/// Runs `source` until it is over or `most` flows have started, flows of `length` each. Checks its contract:
/// names are unique, the announced next time is kept, and nothing follows its end.
pub fn drive(source: &mut dyn Source, length: impl Fn(&Start) -> Time, most: usize) -> Seen {
    let mut seen = Seen::default();
    let mut names = BTreeSet::new();
    let mut live = BTreeSet::new();
    let mut now = 0;
    loop {
        while let Some(action) = source.poll(now) {
            assert!(!source.is_over() || matches!(action, Action::Stop(_) | Action::Ended(_)), "{action:?}");
            match action {
                Action::Start(start) => {
                    assert!(names.insert(start.name), "twice the name {:x}", start.name);
                    assert_ne!(start.from, start.to);
                    if start.bytes.is_some() {
                        live.insert((now + length(&start), start.name));
                    }
                    seen.starts.push((now, start));
                }
                Action::Stop(name) => {
                    assert!(names.contains(&name));
                    seen.stops.push((now, name));
                }
                Action::Ended(job) => seen.jobs.push(job),
            }
        }
        seen.is_over = source.is_over();
        if seen.is_over {
            assert!(live.is_empty() && source.next() == NEVER && !source.is_endless());
            return seen;
        }
        if seen.starts.len() >= most {
            return seen;
        }
        let finish = live.first().map_or(NEVER, |&(time, _)| time);
        let next = source.next();
        assert!(next > now, "poll returned nothing, and is to be called again at once");
        assert!(finish.min(next) < NEVER, "it waits forever: {source:?}");
        if finish <= next {
            let (time, name) = live.pop_first().expect("one finishes");
            now = time;
            seen.finishes.push((now, name));
            source.handle_finished(now, name);
        } else {
            now = next;
        }
    }
}
