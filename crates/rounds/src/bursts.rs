//! Hosts' ports with one queue for all: what comes to them faster than it leaves, and what waits behind it.
//!
//! The fluid that a batch is flows no faster than its host's port lets it. What of it the host has handed over, and waits
//! there, holds up ACKs for packets from the other direction: they come in bursts, and let packets leave in bursts
//! ("ACK compression"; Zhang, Shenker, Clark, SIGCOMM 1991).

use tresse_units::Time;

use crate::connection::{Outgoing, Way};
use crate::links::Links;

/// A batch that comes to its host's port faster than it leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Burst {
    pub start: Time,
    /// In which time it comes, and in which it leaves, ps.
    pub comes: f64,
    pub leaves: f64,
    /// How long packets wait there while ACKs of the same subflow bring more, ps.
    pub held: f64,
}

impl Burst {
    /// How long what comes at `time` waits behind it, ps.
    fn wait(&self, time: Time) -> f64 {
        if time < self.start {
            return 0.0;
        }
        let since = (time - self.start) as f64;
        if since >= self.leaves {
            return 0.0;
        }
        let come = if since < self.comes { self.leaves * since / self.comes } else { self.leaves };
        (come - since).max(self.held)
    }

    /// Whether it has left so long ago that nobody asks for it any more: another one of its length would have, too.
    fn is_past(&self, now: Time) -> bool {
        (now - self.start) as f64 > 2.0 * self.leaves
    }
}

/// The bursts of all links: those that are still leaving, and those before.
#[derive(Debug, Default)]
pub(crate) struct Bursts {
    /// By link, up to the last that has had one.
    of: Vec<Vec<Burst>>,
    /// A bit for each link that may have some: most have none, and are asked with every batch.
    occupied: Vec<u64>,
}

impl Bursts {
    /// One more at `link`.
    pub fn add(&mut self, link: u32, burst: Burst) {
        let place = link as usize;
        if self.of.len() <= place {
            self.of.resize_with(place + 1, Vec::new);
            self.occupied.resize(place / 64 + 1, 0);
        }
        self.of[place].retain(|own| !own.is_past(burst.start));
        self.of[place].push(burst);
        self.occupied[place / 64] |= 1 << (place % 64);
    }

    #[inline]
    fn has_some(&self, link: u32) -> bool {
        self.occupied.get(link as usize / 64).is_some_and(|bits| bits >> (link % 64) & 1 == 1)
    }

    /// How long what comes to `link` at these times waits behind them, ps. It is `now`.
    fn waits<const N: usize>(&mut self, link: u32, now: Time, times: [Time; N]) -> [f64; N] {
        let place = link as usize;
        self.of[place].retain(|own| !own.is_past(now));
        if self.of[place].is_empty() {
            self.occupied[place / 64] &= !(1 << (place % 64));
        }
        times.map(|time| self.of[place].iter().map(|burst| burst.wait(time)).sum())
    }
}

impl Links {
    /// A batch comes to its host's port, where that has one queue. `at_once`: the ACKs that let it leave came in a burst. What
    /// few of them let leave earlier does not stay apart: it waits for the others behind the next burst.
    pub fn hand_over(&mut self, way: &Way, burst: Burst, at_once: bool) {
        if self.fair(way.links[0]).is_some() {
            return;
        }
        let comes = if at_once { 0.0 } else { burst.comes };
        if burst.held > 0.0 || comes < burst.leaves {
            way.first_hop().for_each(|(link, _)| self.bursts.add(link, Burst { comes, ..burst }));
        }
    }

    /// How long the ACKs of the first and of the last packet of a batch, which took `spread` ps to arrive, wait behind bursts of
    /// their own host, ps. It is `now`.
    pub fn behind_bursts(&mut self, way: &Way, out: &Outgoing, spread: f64, now: Time) -> [f64; 2] {
        let mut waits = [0.0; 2];
        for place in (way.hops..way.links.len()).take_while(|&place| way.hop(place) == 0) {
            let link = way.links[place];
            if self.bursts.has_some(link) {
                let arrivals = [0.0, spread].map(|later| out.start + (out.forward + later) as Time);
                let own = self.bursts.waits(link, now, arrivals);
                waits = [0, 1].map(|i: usize| waits[i] + way.share(place) * own[i]);
            }
        }
        waits
    }
}
