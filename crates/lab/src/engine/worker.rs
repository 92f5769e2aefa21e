//! A replication in a separate process: a controller or balancer from a user's file may divide by 0, call
//! `exit`, or never return.
//!
//! The worker runs what a thread would run, and passes on the same rows, so the results are the same. Rows and
//! outcome come through a pipe; progress and the request to stop are in shared memory.

use std::borrow::Cow;
use std::io::{self, BufReader, BufWriter, PipeReader, PipeWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tresse_controllers::Code;
use tresse_controllers::sandbox::{Apart, Shareable, refuse_windows};
use tresse_experiment::plan::Case;
use tresse_workload::Job;

use crate::engine::replication;
use crate::setup::{self, Undivided};
use tresse_results::record::convergence::Converged;
use tresse_results::record::flow::Flow;
use tresse_results::record::outcome::{Outcome, Rows};
use tresse_results::record::packet::Packet;
use tresse_results::record::progress::Progress;
use tresse_results::record::sample::Interval;

/// How often progress is checked.
const REFRESH: Duration = Duration::from_millis(50);

/// After this many checks without progress, a worker that should stop is in a hook that does not return.
const PATIENCE: u32 = 10;

/// A worker's message: the contents of [`Rows`], and at the end the outcome without what was sent before.
#[derive(Serialize, Deserialize)]
enum Message<'a> {
    Flows(Cow<'a, [Flow]>, Option<Cow<'a, [f64]>>),
    Jobs(Cow<'a, [(usize, Job)]>),
    Samples(Cow<'a, Interval>),
    Converged(Cow<'a, [Converged]>),
    Packets(Cow<'a, [Packet]>),
    Ended(Box<Outcome>),
}

/// The memory shared by worker and parent.
#[derive(Debug, Default)]
struct Page {
    progress: Progress,
    stop: AtomicBool,
}

#[expect(unsafe_code, reason = "two processes share it")]
// SAFETY: `Progress` and `stop` are atomic numbers.
unsafe impl Shareable for Page {}

/// The controllers and balancers of `case` that come from users' files; such a case needs a worker.
pub fn users_code(case: &Case) -> Vec<Code> {
    let controllers = case.bound_schemes.iter().filter_map(|scheme| scheme.controllers.controller().code());
    let sprayed = case.bound_schemes.iter().filter_map(|scheme| scheme.sprayed.as_ref());
    controllers.chain(sprayed.filter_map(|own| own.balancer.balancer().code())).collect()
}

/// Why `case` would run on one thread although it may use `threads`; `None` if it uses them.
pub fn undivided(case: &Case, threads: usize) -> Option<Undivided> {
    if !users_code(case).is_empty() {
        return Some(Undivided::Apart);
    }
    setup::cut(case, threads).err()
}

/// Like [`replication::run`], in a worker. If a hook ends it, the outcome has what was passed on
/// until then, and [`Outcome::died`].
///
/// # Errors
/// If no worker can be started; errors of `measured`.
pub fn run<E>(
    case: &Case,
    seed: u64,
    stop: &AtomicBool,
    progress: &Progress,
    mut measured: impl FnMut(Rows) -> Result<(), E>,
) -> io::Result<Result<Outcome, E>> {
    let worker = Apart::start(Page::default(), |page, output| work(case, seed, page, output))?;
    let mut output = BufReader::new(worker.output()?);
    let mut outcome = Outcome { seed, ..Outcome::default() };
    let (mut idle, mut hops) = (0, 0);
    loop {
        let waits = output.buffer().is_empty() && !worker.has_output(REFRESH)?;
        progress.follow(&worker.shared().progress);
        if stop.load(Ordering::Relaxed) {
            worker.shared().stop.store(true, Ordering::Relaxed);
            let now = progress.hops.load(Ordering::Relaxed);
            idle = if waits && now == hops { idle + 1 } else { 0 };
            hops = now;
            if idle >= PATIENCE {
                worker.end_in_hook();
            }
        }
        if waits {
            continue;
        }
        let Ok(message) = next(&mut output) else { break };
        let rows = match &message {
            Message::Flows(flows, optimum) => {
                outcome.flows.extend(flows.iter().copied());
                Rows::Flows(flows, optimum.as_deref())
            }
            Message::Jobs(jobs) => {
                outcome.jobs.extend_from_slice(jobs);
                Rows::Jobs(jobs)
            }
            Message::Samples(interval) => Rows::Samples(interval),
            Message::Packets(packets) => Rows::Packets(packets),
            Message::Converged(rows) => {
                outcome.converged.extend_from_slice(rows);
                Rows::Converged(rows)
            }
            Message::Ended(_) => {
                let Message::Ended(ended) = message else { unreachable!("it was just matched") };
                let Outcome { flows, jobs, converged, .. } = outcome;
                outcome = Outcome { flows, jobs, converged, ..*ended };
                continue;
            }
        };
        if let Err(error) = measured(rows) {
            return Ok(Err(error));
        }
    }
    progress.done.store(true, Ordering::Relaxed);
    if let Some(end) = worker.end()? {
        outcome.complete = false;
        outcome.simulated = progress.now.load(Ordering::Relaxed);
        outcome.hops = progress.hops.load(Ordering::Relaxed);
        outcome.died = end.told_of(users_code(case));
    }
    Ok(Ok(outcome))
}

/// The code of the worker.
fn work(case: &Case, seed: u64, page: &Page, output: PipeWriter) {
    refuse_windows();
    let mut output = BufWriter::new(output);
    let mut say = |message: &Message| -> io::Result<()> {
        match message {
            // Some of its fields are left out when they are empty.
            Message::Ended(_) => rmp_serde::encode::write_named(&mut output, message),
            _ => rmp_serde::encode::write(&mut output, message),
        }
        .map_err(io::Error::other)?;
        output.flush()
    };
    let outcome = replication::run(case, seed, 1, &page.stop, &page.progress, |rows| {
        say(&match rows {
            Rows::Flows(flows, optimum) => Message::Flows(flows.into(), optimum.map(Cow::from)),
            Rows::Jobs(jobs) => Message::Jobs(jobs.into()),
            Rows::Samples(interval) => Message::Samples(Cow::Borrowed(interval)),
            Rows::Converged(rows) => Message::Converged(rows.into()),
            Rows::Packets(packets) => Message::Packets(packets.into()),
        })
    });
    // If nobody listens any more, nobody needs the rest.
    let Ok(mut outcome) = outcome else { return };
    (outcome.flows, outcome.jobs, outcome.converged) = Default::default();
    let _ = say(&Message::Ended(Box::new(outcome)));
}

/// The next message; an error at the end of the pipe.
fn next(output: &mut BufReader<PipeReader>) -> Result<Message<'static>, rmp_serde::decode::Error> {
    rmp_serde::from_read(output)
}
