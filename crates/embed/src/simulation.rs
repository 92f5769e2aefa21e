//! A network in simulated time, over which a program sends messages while it runs.

use std::collections::BTreeSet;

use toml::Table;
use tresse_experiment::plan::Case;
use tresse_experiment::{Diagnostic, Source, find};
use tresse_lab::embedded::Embedded;
use tresse_sim::FlowRecord;
use tresse_units::{NEVER, Time};
use tresse_workbench::cases::{Cases, Experiment};

use crate::options::Options;

/// The events of [`Simulation::next`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The last byte of a message has arrived; its `id` is the number that [`Simulation::send`] returned.
    Arrived(FlowRecord),
    /// A requested time has come; the number that [`Simulation::at`] returned.
    Timer(u64),
}

/// A network in simulated time that carries messages: the fabric, the transport and the scheme of an experiment.
///
/// Send messages, then ask for the [`next`](Self::next) event as long as there is one. Equal calls give equal
/// answers.
#[derive(Debug)]
pub struct Simulation {
    network: Embedded,
    timers: BTreeSet<(Time, u64)>,
    /// The number of the next timer.
    timer: u64,
}

impl Simulation {
    /// The network of an experiment: a built-in one such as `xmp/table1`, or a file with `[fabric]`, `[transport]`
    /// and a scheme. Its workloads are not used. Controllers and balancers are the built-in ones.
    ///
    /// # Errors
    /// An error in the experiment or the options, or if they leave more than one scheme.
    pub fn open(experiment: &str, options: &Options) -> Result<Self, Diagnostic> {
        Self::of(find(experiment)?, options)
    }

    /// The same, from an experiment's text.
    ///
    /// # Errors
    /// As there.
    pub fn of(mut source: Source, options: &Options) -> Result<Self, Diagnostic> {
        // An experiment needs a workload, but here the program sends the messages.
        if source.text.parse::<Table>().is_ok_and(|keys| !keys.contains_key("workloads")) {
            source.text += "\n[workloads.messages]\npattern = \"permutation\"\nsize = \"1B\"\n";
        }
        let Source { name, text } = source;
        let (profile, set) = (options.profile, options.set.clone());
        let experiment = Experiment { name, text: Some(text), profile, set };
        let cases = Cases { experiment, only: options.only.clone() };
        let case = only_case(cases.load(&mut |_| ())?.1.cases)?;
        let label = case.label();
        let network =
            Embedded::new(case, options.persistent, options.seed, options.threads).ok_or_else(|| {
                Diagnostic::input(format!(
                    "{label} mixes several schemes: choose a case of one scheme with `only`"
                ))
            })?;
        Ok(Self { network, timers: BTreeSet::new(), timer: 0 })
    }

    /// Simulated time, ps.
    pub fn now(&self) -> Time {
        self.network.now()
    }

    /// How many hosts there are; they are numbered from 0.
    pub fn hosts(&self) -> u32 {
        self.network.hosts()
    }

    /// Messages in flight.
    pub fn in_flight(&self) -> usize {
        self.network.in_flight()
    }

    /// Host `from` sends `bytes` of payload to host `to` from now on. Returns the number of the message, from
    /// 0 in the order of the calls.
    ///
    /// # Errors
    /// If there is no such host, or the two are the same; if the message is empty, or has more than 2^32 - 1
    /// segments.
    pub fn send(&mut self, from: u32, to: u32, bytes: u64) -> Result<u64, Diagnostic> {
        self.network.send(from, to, bytes)
    }

    /// Requests [`Event::Timer`] at `time`, ps; at once, if it has passed. Returns the number of the timer,
    /// from 0 in the order of the calls, which is also their order at one instant.
    pub fn at(&mut self, time: Time) -> u64 {
        let number = self.timer;
        self.timer += 1;
        self.timers.insert((time.max(self.now()), number));
        number
    }

    /// Advances time to the next event, but not beyond `until`, ps, and returns the event. `None`: `until` is
    /// reached, or nothing is in flight and there is no timer. At one instant messages come before timers.
    ///
    /// # Errors
    /// If messages wait forever: which ones, and what for.
    pub fn next(&mut self, until: Time) -> Result<Option<Event>, Diagnostic> {
        let timer = self.timers.first().copied();
        let due = timer.map_or(NEVER, |(time, _)| time);
        if let Some(record) = self.network.advance(due.min(until))? {
            return Ok(Some(Event::Arrived(record)));
        }
        match timer {
            Some((time, number)) if time <= until => {
                self.timers.pop_first();
                Ok(Some(Event::Timer(number)))
            }
            _ => Ok(None),
        }
    }
}

/// The only case: workloads are not used, so they make no difference.
fn only_case(mut cases: Vec<Case>) -> Result<Case, Diagnostic> {
    let axes = |case: &Case| {
        let mut axes = case.axes();
        axes.shift_remove("pattern");
        axes.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    let mut points: Vec<String> = cases.iter().map(axes).collect();
    points.dedup();
    points.sort();
    points.dedup();
    match points.len() {
        1 => Ok(cases.swap_remove(0)),
        n => {
            let message = format!("there are {n} cases, but a simulation has one: choose with `only`");
            Err(Diagnostic::input(message).hint(format!("the cases are {}", points.join(", "))))
        }
    }
}
