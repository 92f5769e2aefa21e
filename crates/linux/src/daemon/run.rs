//! The daemon's loop.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use tresse_units::{NANOSECOND, SECOND, Time};

use super::control::Control;
use super::{Config, Daemon, machine, metrics};
use crate::Error;

/// Looking at all subflows takes at most 1/`LEISURE` of a core's time, unless that would be rarer than [`RAREST`].
pub(super) const LEISURE: u64 = 100;

/// The longest interval between looks, however long a look takes.
const RAREST: Time = 5 * SECOND;

/// How often metrics are written.
const METRICS: Time = 10 * SECOND;

/// The time since the machine started.
pub(super) fn now() -> Time {
    clock(ClockId::CLOCK_MONOTONIC)
}

/// The CPU time of this thread.
pub(super) fn worked() -> Time {
    clock(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

fn clock(clock: ClockId) -> Time {
    let time = clock_gettime(clock).expect("Linux has this clock");
    time.tv_sec() as u64 * SECOND + time.tv_nsec() as u64 * NANOSECOND
}

/// Runs until SIGTERM or SIGINT; SIGHUP reads the configuration again. `ready` is called when it listens to
/// its namespaces and answers requests. With `dry_run` it decides but does nothing.
///
/// # Errors
/// If the configuration is wrong, the control socket belongs to another daemon, or the machine lacks
/// something. A wrong configuration at SIGHUP is reported and ignored.
pub fn run(path: &Path, dry_run: bool, ready: impl FnOnce()) -> Result<(), Error> {
    let config = Config::read(path)?;
    let signals = signals()?;
    let control = Control::listen(&config)?;
    let mut metrics_file = config.metrics.clone();
    let mut daemon = Daemon::new(config, dry_run, now(), now())?;
    ready();
    let (mut look_at, mut metrics_at) = (now(), now());
    loop {
        let look = if daemon.is_watching() { look_at } else { Time::MAX };
        let again = daemon.alarms.as_ref().map_or(Time::MAX, |alarms| alarms.deadline(now()));
        let next = daemon.second.min(metrics_at).min(look).min(again);
        let heard = wait_for(&signals, &control, &daemon, next.saturating_sub(now()).min(SECOND))?;
        let time = now();
        if heard[0] {
            match signals.read_signal().map_err(|e| machine("signals", &e.into()))? {
                Some(signal) if signal.ssi_signo == Signal::SIGHUP as u32 => match Config::read(path) {
                    Ok(config) => {
                        metrics_file.clone_from(&config.metrics);
                        tracing::info!("the configuration was reloaded: {} policies", config.policies.len());
                        daemon.reload(config);
                    }
                    Err(e) => tracing::error!("the configuration stays as it was: {e}"),
                },
                Some(_) => break,
                None => {}
            }
            continue; // namespaces may have changed their places
        }
        if heard[1] {
            control.answer(&daemon.status());
        }
        daemon.heed(time);
        for (host, _) in heard[2..].iter().enumerate().filter(|(_, heard)| **heard) {
            daemon.hear(host, time);
        }
        if daemon.is_watching() && look_at <= time {
            let before = worked();
            daemon.look(time);
            let took = worked() - before;
            daemon.counters.looks += 1;
            daemon.counters.look_ns = took / NANOSECOND;
            look_at = time + daemon.config.look.max((took * LEISURE).min(RAREST));
        } else if daemon.second <= time {
            daemon.serve(time);
        }
        if metrics_at <= time {
            metrics_at = time + METRICS;
            if let Some(file) = &metrics_file {
                metrics::write(file, &daemon.status());
            }
        }
    }
    tracing::info!("ending; subflows stay as they are");
    Ok(())
}

impl Daemon {
    fn is_watching(&self) -> bool {
        self.hosts.iter().any(|host| host.connections.values().any(|own| own.is_watched()))
    }
}

/// The signals that the daemon answers to.
fn signals() -> Result<SignalFd, Error> {
    let mut set = SigSet::empty();
    [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT].into_iter().for_each(|signal| set.add(signal));
    set.thread_block().map_err(|e| machine("signals", &e.into()))?;
    SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC).map_err(|e| machine("signals", &e.into()))
}

/// Waits for signals, clients, hosts and alarms, in this order. Returns which of the first three are ready.
fn wait_for(signals: &SignalFd, control: &Control, daemon: &Daemon, wait: Time) -> Result<Vec<bool>, Error> {
    let first: [BorrowedFd<'_>; 2] = [signals.as_fd(), control.as_fd()];
    let hosts = daemon.hosts.iter().map(AsFd::as_fd);
    let alarms = daemon.alarms.as_ref().filter(|alarms| alarms.rests() <= now());
    let all = first.into_iter().chain(hosts).chain(alarms.map(AsFd::as_fd));
    let mut all: Vec<PollFd<'_>> = all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    let wait = TimeSpec::from_duration(Duration::from_nanos(wait.div_ceil(NANOSECOND)));
    match ppoll(&mut all, Some(wait), None) {
        Err(nix::errno::Errno::EINTR) => {}
        done => {
            done.map_err(|e| machine("poll", &e.into()))?;
        }
    }
    Ok(all.iter().take(2 + daemon.hosts.len()).map(|own| own.any().unwrap_or(false)).collect())
}
