//! The fabric under the wall clock.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tresse_fabric::Histogram;
use tresse_units::Time;
use tun_rs::SyncDevice;

use crate::clock::{Clock, Scale};
use crate::cores;
use crate::poll::Poll;
use crate::switch::{Delivered, LARGEST, Switch};

/// Packets that are read from a host before others get their turn.
const BURST: usize = 16;

/// The longest time that the fabric waits for packets of hosts.
const IDLE: Duration = Duration::from_millis(1);

/// A fabric between hosts, driven by its own thread. It has priority over everything else on its core, if the
/// system allows it (`SCHED_FIFO`), and leaves a part of the time to others.
#[derive(Debug)]
pub struct Emulator {
    clock: Clock,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

#[derive(Debug)]
struct Shared {
    own: Mutex<Forwarding>,
    stop: AtomicBool,
}

#[derive(Debug)]
struct Forwarding {
    switch: Switch,
    /// Packets that left the fabric while another thread held it, and still have to be written.
    waiting: Vec<Delivered>,
    lateness: Histogram,
    turnaround: Histogram,
    /// By host: when the last packet was due there, until the host sends the next one.
    unanswered: Vec<Option<Time>>,
    refused: u64,
}

/// The accuracy of the emulation.
#[derive(Debug, Clone)]
pub struct Lateness {
    /// How late packets were written to their hosts, ns of the experiment.
    pub histogram: Histogram,
    /// The time from when a host's last packet was due until its next one was read, ns of the experiment. In the
    /// simulation it is 0 unless the host waits for something else.
    pub turnaround: Histogram,
    /// Packets that a host's interface did not accept.
    pub refused: u64,
}

impl Emulator {
    /// Begins to forward between the hosts' interfaces, by host.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn start(switch: Switch, devices: Vec<SyncDevice>, scale: Scale) -> io::Result<Self> {
        for device in &devices {
            device.set_nonblocking(true)?;
        }
        let clock = Clock::start(scale);
        let own = Forwarding {
            switch,
            waiting: Vec::new(),
            lateness: Histogram::new(),
            turnaround: Histogram::new(),
            unanswered: vec![None; devices.len()],
            refused: 0,
        };
        let shared = Arc::new(Shared { own: Mutex::new(own), stop: AtomicBool::new(false) });
        let thread = thread::Builder::new().name("fabric".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || {
                go_first();
                forward(&shared, &devices, clock)
            }
        })?;
        Ok(Self { clock, shared, thread: Some(thread) })
    }

    /// The time of the fabric.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether it no longer forwards: the system refused something, or it panicked.
    pub(crate) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Does `work` with the fabric; packets wait meanwhile.
    pub fn with<T>(&self, work: impl FnOnce(&mut Switch) -> T) -> T {
        let mut own = self.shared.own();
        // All events until now come first.
        let now = self.clock.now().max(own.switch.fabric.now());
        while let Some(delivered) = own.switch.leave(now) {
            own.waiting.push(delivered);
        }
        own.switch.fabric.set_now(now);
        work(&mut own.switch)
    }

    /// Its accuracy until now.
    pub fn lateness(&self) -> Lateness {
        let own = self.shared.own();
        Lateness { histogram: own.lateness.clone(), turnaround: own.turnaround.clone(), refused: own.refused }
    }

    /// Ends it.
    ///
    /// # Errors
    /// The error that ended it earlier.
    pub fn stop(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        ended
            .unwrap_or(Ok(Ok(())))
            .unwrap_or_else(|_| Err(io::Error::other("the fabric panicked: see stderr")))
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.end(); // callers that need the error call `stop`
    }
}

impl Shared {
    fn own(&self) -> MutexGuard<'_, Forwarding> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the thread priority over everything that is not real-time. Without the permission, others can delay
/// it.
fn go_first() {
    cores::take();
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads the parameter before this returns.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
}

fn forward(shared: &Shared, devices: &[SyncDevice], clock: Clock) -> io::Result<()> {
    let mut poll = Poll::new(devices.iter())?;
    let mut buffer = [0; LARGEST];
    let mut patience = IDLE;
    while !shared.stop.load(Ordering::Relaxed) {
        let ready: Vec<usize> = poll.ready(patience)?.collect();
        let mut own = shared.own();
        for host in ready {
            for _ in 0..BURST {
                match devices[host].recv(&mut buffer) {
                    Ok(length) => {
                        let now = clock.now();
                        own.deliver(now, clock, devices)?;
                        if let Some(due) = own.unanswered[host].take() {
                            own.turnaround.record(now.saturating_sub(due) / 1000);
                        }
                        own.switch.enter(now, &buffer[..length]);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        own.deliver(clock.now(), clock, devices)?;
        let next = own.switch.fabric.earliest().saturating_sub(clock.now());
        patience = clock.scale().wall(next).min(IDLE);
    }
    Ok(())
}

impl Forwarding {
    /// Writes due packets to their hosts.
    fn deliver(&mut self, now: Time, clock: Clock, devices: &[SyncDevice]) -> io::Result<()> {
        self.waiting.reverse();
        while let Some(delivered) = self.waiting.pop().or_else(|| self.switch.leave(now)) {
            let (host, due) = (delivered.host, delivered.due);
            match devices[host as usize].send(self.switch.take(&delivered)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.refused += 1,
                Err(error) => return Err(error),
            }
            self.unanswered[host as usize] = Some(due);
            self.lateness.record(clock.now().saturating_sub(due) / 1000);
        }
        Ok(())
    }
}
