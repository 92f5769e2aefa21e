//! Waiting for packets from hosts, and for a little time.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

/// The hosts' interfaces, of which some have packets, and a timer.
#[derive(Debug)]
pub(crate) struct Poll {
    epoll: Epoll,
    timer: TimerFd,
    ready: Vec<EpollEvent>,
}

/// How long it takes to wake up, about: what is nearer is waited for by looking again and again. Longer, and the fabric
/// keeps its core so busy that the kernel's own work there waits for it.
const WAKING: Duration = Duration::from_micros(5);

/// What the timer is called.
const TIMER: u64 = u64::MAX;

impl Poll {
    /// Of these, called by their places.
    pub fn new<'a, F: AsFd + 'a>(of: impl ExactSizeIterator<Item = &'a F>) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, TIMER))?;
        let ready = vec![EpollEvent::empty(); of.len() + 1];
        for (place, own) in (0..).zip(of) {
            epoll.add(own, EpollEvent::new(EpollFlags::EPOLLIN, place))?;
        }
        Ok(Self { epoll, timer, ready })
    }

    /// Those that have packets, as soon as there are some; none after `patience`, or earlier: what is so near that waking
    /// up takes longer is for the caller to wait for.
    pub fn ready(&mut self, patience: Duration) -> io::Result<impl Iterator<Item = usize> + '_> {
        let longest = match patience.checked_sub(WAKING) {
            Some(patience) if !patience.is_zero() => {
                self.timer.set(Expiration::OneShot(TimeSpec::from(patience)), TimerSetTimeFlags::empty())?;
                1000_u16
            }
            _ => 0,
        };
        let count = match self.epoll.wait(&mut self.ready, longest) {
            Err(nix::errno::Errno::EINTR) => 0,
            count => count?,
        };
        let places = self.ready[..count].iter().map(EpollEvent::data);
        Ok(places.filter(|&place| place != TIMER).map(|place| place as usize))
    }
}
