//! All links, each with what few have beside it.

use std::ops::{Index, IndexMut};

use tresse_fabric::{PortConfig, PortCounters};
use tresse_units::{BitsPerSecond, Time};

use crate::bursts::Bursts;
use crate::fair::FairPort;
use crate::link::{Link, Record};
use crate::red::Red;

/// All links.
#[derive(Debug)]
pub(crate) struct Links {
    all: Vec<Link>,
    /// By link.
    records: Vec<Record>,
    /// By link, if one has RED: otherwise empty.
    red: Vec<Option<Red>>,
    /// By link, up to the last that serves subflows in turn.
    fair: Vec<Option<FairPort>>,
    /// Of those that serve one queue.
    pub(crate) bursts: Bursts,
    /// How many have failed.
    down: u32,
}

impl Links {
    /// Empty ones; thresholds in packets stand for packets of `packet` bytes.
    pub fn new<'a>(ports: impl Iterator<Item = &'a PortConfig>, packet: f64) -> Self {
        let (mut all, mut records, mut red) = (Vec::new(), Vec::new(), Vec::new());
        for config in ports {
            let (link, early) = Link::new(config, packet);
            records.push(Record::new(config, &link));
            all.push(link);
            red.push(early);
        }
        if red.iter().all(Option::is_none) {
            red = Vec::new();
        }
        Self { all, records, red, fair: Vec::new(), bursts: Bursts::default(), down: 0 }
    }

    /// Makes these links serve subflows in turn: then each waits for room in its host, and no packet is marked or dropped.
    pub fn serve_in_turn(&mut self, links: &[u32]) {
        self.fair = vec![None; links.iter().max().map_or(0, |&last| last as usize + 1)];
        for &link in links {
            let own = &mut self.all[link as usize];
            own.make_endless();
            self.records[link as usize].make_endless();
            self.fair[link as usize] = Some(FairPort::new(own.rate()));
        }
    }

    /// What serves subflows in turn, if the link does.
    #[inline]
    pub fn fair(&self, link: u32) -> Option<&FairPort> {
        self.fair.get(link as usize)?.as_ref()
    }

    /// The same, brought to the time `now`.
    #[inline]
    pub fn fair_at(&mut self, link: u32, now: Time) -> Option<&mut FairPort> {
        let own = self.fair.get_mut(link as usize)?.as_mut()?;
        own.advance(now);
        Some(own)
    }

    /// A link, brought to the time `now`.
    #[inline]
    pub fn advance(&mut self, link: u32, now: Time) -> &mut Link {
        let own = &mut self.all[link as usize];
        own.advance(now, self.red.get_mut(link as usize).and_then(Option::as_mut));
        own
    }

    /// Whether RED signals by chance, before the link's queue is full.
    #[inline]
    pub fn is_early(&self, link: u32) -> bool {
        self.red.get(link as usize).is_some_and(Option::is_some)
    }

    /// Whether one has failed.
    #[inline]
    pub fn any_down(&self) -> bool {
        self.down > 0
    }

    /// The rest of a link.
    #[inline]
    pub fn record(&self, link: u32) -> &Record {
        &self.records[link as usize]
    }

    /// The same, to be changed.
    #[inline]
    pub fn record_mut(&mut self, link: u32) -> &mut Record {
        &mut self.records[link as usize]
    }

    /// The rate of a link changes.
    pub fn set_rate(&mut self, link: u32, now: Time, rate: BitsPerSecond) {
        self.advance(link, now);
        self.records[link as usize].set_rate(&mut self.all[link as usize], rate);
        let rate = self.all[link as usize].rate();
        if let Some(fair) = self.fair_at(link, now) {
            fair.set_rate(rate);
        }
    }

    /// A link fails, and what waits is lost; or it comes back.
    pub fn set_up(&mut self, link: u32, now: Time, up: bool, packet: f64) {
        self.down = if up { self.down - 1 } else { self.down + 1 };
        self.advance(link, now);
        self.records[link as usize].set_up(&mut self.all[link as usize], up, packet);
    }

    /// Of each link: its rate, its counters, and how long it has been busy, ps.
    pub fn observe(&self, now: Time) -> Vec<(BitsPerSecond, PortCounters, Time)> {
        (0..).zip(&self.records).map(|(link, record)| record.observe(&self.at(link, now))).collect()
    }

    /// Bytes that wait in front of a link at `now`.
    pub fn backlog(&self, link: u32, now: Time) -> f64 {
        self.at(link, now).backlog
    }

    /// A link as it will be at `now`, if nothing changes before.
    fn at(&self, link: u32, now: Time) -> Link {
        let mut own = self.all[link as usize].clone();
        own.advance(now, self.red.get(link as usize).cloned().flatten().as_mut());
        own
    }
}

impl Index<u32> for Links {
    type Output = Link;

    #[inline]
    fn index(&self, link: u32) -> &Link {
        &self.all[link as usize]
    }
}

impl IndexMut<u32> for Links {
    #[inline]
    fn index_mut(&mut self, link: u32) -> &mut Link {
        &mut self.all[link as usize]
    }
}
