//! Waiting for packets from hosts, and for short times.

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

/// The approximate time to wake up: shorter waits are done by polling. If this were longer, the fabric would
/// keep its core so busy that the kernel's own work there would have to wait.
const WAKING: Duration = Duration::from_micros(5);

/// The name of the timer.
const TIMER: u64 = u64::MAX;

impl Poll {
    /// For these interfaces, named by their places.
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

    /// The interfaces that have packets, as soon as there are some; none after `patience` or slightly
    /// earlier: the caller has to wait for a remainder that is shorter than waking up.
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
