//! An ideal network: every message takes alpha plus its bytes over beta, however many there are (Hockney's
//! model).

use std::collections::{BTreeMap, BTreeSet};

use tresse_units::{NEVER, Time};
use tresse_workload::{Action, Job, Source, Start};

/// One message and its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub start: Start,
    pub at: Time,
    /// When it had arrived or was stopped; `None` if it was still on its way at the end.
    pub end: Option<Time>,
    pub stopped: bool,
}

/// What happened.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// In the order of their starts.
    pub flows: Vec<Flow>,
    pub jobs: Vec<Job>,
    /// When nothing was left to do.
    pub end: Time,
    /// The most messages that a host had in flight at a time.
    pub most: usize,
}

/// A link with `alpha` (ps) and `beta` ps per byte.
#[derive(Debug, Clone, Copy)]
pub struct Ideal {
    pub alpha: Time,
    pub beta: Time,
}

impl Ideal {
    /// Runs `source` until it is over.
    pub fn run(self, source: &mut dyn Source) -> Run {
        self.run_with(source, |_| {}, |_| {})
    }

    /// The same; `starts` and `arrives` see each message.
    pub fn run_with(
        self,
        source: &mut dyn Source,
        mut starts: impl FnMut(&Start),
        mut arrives: impl FnMut(&Start),
    ) -> Run {
        let mut run = Run::default();
        let mut index = BTreeMap::new();
        let mut underway = BTreeSet::new();
        let mut of_host = BTreeMap::<u32, usize>::new();
        let mut now = 0;
        loop {
            while let Some(action) = source.poll(now) {
                match action {
                    Action::Start(start) => {
                        starts(&start);
                        assert!(index.insert(start.name, run.flows.len()).is_none(), "a name comes twice");
                        run.flows.push(Flow { start, at: now, end: None, stopped: false });
                        let n = of_host.entry(start.from).or_default();
                        *n += 1;
                        run.most = run.most.max(*n);
                        if let Some(bytes) = start.bytes {
                            underway.insert((now + self.alpha + bytes * self.beta, start.name));
                        }
                    }
                    Action::Stop(name) => {
                        underway.retain(|&(_, n)| n != name);
                        let flow = &mut run.flows[index[&name]];
                        (flow.end, flow.stopped) = (Some(now), true);
                        *of_host.get_mut(&flow.start.from).unwrap() -= 1;
                    }
                    Action::Ended(job) => run.jobs.push(job),
                }
            }
            assert!(source.next() > now, "something is due and was not done");
            let arrival = underway.first().copied();
            let at = source.next().min(arrival.map_or(NEVER, |(at, _)| at));
            if at == NEVER {
                assert!(source.is_over(), "it waits forever");
                run.end = now;
                return run;
            }
            assert!(!source.is_over(), "it is not over: something comes at {at}");
            now = at;
            if arrival.is_some_and(|(at, _)| at == now) && source.next() > now {
                let (_, name) = underway.pop_first().unwrap();
                let flow = &mut run.flows[index[&name]];
                flow.end = Some(now);
                *of_host.get_mut(&flow.start.from).unwrap() -= 1;
                arrives(&flow.start);
                source.handle_finished(now, name);
            }
        }
    }
}
