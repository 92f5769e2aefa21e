//! Connections with a silent subflow: they are looked at at once, and once more when their path manager's timer is due.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};

use tresse_path_manager::opn::Silence as Limit;
use tresse_units::{SECOND, Time};

use super::Daemon;
use super::connection::{Connection, Ends};
use super::run::{LEISURE, worked};
use crate::Error;
use crate::silence::{Alarm, Silence};

/// The alarms of all connections.
#[derive(Debug)]
pub(super) struct Alarms {
    silence: Silence,
    /// When a connection is to be looked at again, and which.
    again: BTreeSet<(Time, u32)>,
    /// Until when the time that they have taken is earned, at 1/[`LEISURE`] of a core.
    paid: Time,
}

/// A timer that is due later is left to the looks at all.
const SOON: Time = SECOND;

/// How far ahead of what is earned alarms may be: those of one second, in one go.
const AHEAD: Time = SECOND;

impl Alarms {
    pub fn listen() -> Result<Self, Error> {
        Ok(Self { silence: Silence::listen()?, again: BTreeSet::new(), paid: 0 })
    }

    /// Reports silence of this connection's subflows.
    pub fn watch(&self, token: u32, limit: Limit) {
        let fixed = match limit {
            Limit::Fixed(time) => Some(time),
            Limit::TwiceSrtt => None,
        };
        self.silence.watch(token, fixed);
    }

    /// It has ended.
    pub fn forget(&self, token: u32) {
        self.silence.forget(token);
    }

    /// When there is something to do even if no alarm comes.
    pub fn deadline(&self, now: Time) -> Time {
        match self.rests() {
            // Some may be waiting.
            rests if rests > now => rests,
            _ => self.again.first().map_or(Time::MAX, |&(due, _)| due),
        }
    }

    /// Until when alarms wait, because those before have taken their share of a core.
    pub fn rests(&self) -> Time {
        self.paid.saturating_sub(AHEAD)
    }
}

impl AsFd for Alarms {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.silence.as_fd()
    }
}

impl Daemon {
    /// Looks at the connections that have an alarm, or are to be looked at again.
    pub(super) fn heed(&mut self, now: Time) {
        let Some(alarms) = self.alarms.as_mut().filter(|alarms| alarms.rests() <= now) else { return };
        let before = worked();
        let rung = alarms.silence.take();
        let later = alarms.again.split_off(&(now, u32::MAX));
        let again = std::mem::replace(&mut alarms.again, later);
        self.counters.alarms += rung.len() as u64;
        for alarm in rung {
            let next = self.examine(alarm.token, Some(alarm), now).filter(|&due| due <= now + SOON);
            if let (Some(due), Some(alarms)) = (next, &mut self.alarms) {
                alarms.again.insert((due, alarm.token));
            }
        }
        for (_, token) in again {
            self.examine(token, None, now);
        }
        if let Some(alarms) = &mut self.alarms {
            alarms.paid = alarms.paid.max(now) + (worked() - before) * LEISURE;
        }
    }

    /// Looks at the subflows of one connection, and serves its timers. Returns when its path manager has the next one.
    fn examine(&mut self, token: u32, alarm: Option<Alarm>, now: Time) -> Option<Time> {
        let host = self.hosts.iter().position(|host| host.connections.contains_key(&token))?;
        let is_silent = |ends: Ends| alarm.is_some_and(|alarm| alarm.ports == (ends.0.port(), ends.1.port()));
        let mut open: Vec<Ends> = self.hosts[host].connections[&token].open().collect();
        // What it heard before comes first: times never go back.
        open.sort_by_key(|&ends| !is_silent(ends));
        for ends in open {
            let Ok(Some(own)) = self.hosts[host].subflow(ends) else { continue };
            let at = alarm.filter(|_| is_silent(ends)).map_or(now, |alarm| alarm.heard);
            self.change(host, token, |connection, losses| connection.see(ends, own.info, at, losses));
        }
        self.change(host, token, |connection, losses| connection.serve(now, losses));
        self.hosts[host].connections.get(&token).map(Connection::deadline)
    }
}
