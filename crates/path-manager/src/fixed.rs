//! A fixed number of subflows, all opened as soon as the connection is established (catalogue S26).

use tresse_units::{NEVER, Time};

use crate::connection::Connection;
use crate::paths::paths;
use crate::{Action, By, Memory, Opening, PathChoice, PathManager};

/// A fixed number of subflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How many, 1 to 64; by address at most as many as there are address pairs.
    pub subflows: usize,
    /// What distinguishes them.
    pub by: By,
    /// When each is opened, counted from the connection's start, ps; those without a time as soon
    /// as the connection is established. The first one is opened at the start.
    pub starts: Vec<Time>,
}

impl Default for Config {
    fn default() -> Self {
        Self { subflows: 2, by: By::Address, starts: Vec::new() }
    }
}

/// The path manager `fixed`.
#[derive(Debug)]
pub struct Fixed {
    connection: Connection<()>,
    stands: bool,
    /// The paths of the waiting subflows, and when they are opened.
    waiting: Vec<(Time, PathChoice)>,
    /// Some of them wait for a time.
    timed: bool,
}

impl Fixed {
    /// Asks for the first subflow.
    pub fn new(config: &Config, opening: &Opening) -> Self {
        let after = config.starts.iter().copied().chain(std::iter::repeat(0));
        let times = after.map(|after| opening.now.saturating_add(after));
        let mut waiting: Vec<_> = times.zip(paths(config.by, config.subflows, opening)).collect();
        let mut connection = Connection::new();
        connection.open(waiting.remove(0).1, ());
        Self { connection, stands: false, waiting, timed: !config.starts.is_empty() }
    }

    fn open_due(&mut self, now: Time) {
        self.waiting.retain(|&(time, path)| {
            if time <= now {
                self.connection.open(path, ());
            }
            time > now
        });
    }
}

impl PathManager for Fixed {
    fn observes(&self) -> bool {
        self.timed
    }

    fn handle_established(&mut self, now: Time, _memory: &mut Memory, subflow: usize) {
        if self.connection.establish(subflow) {
            self.stands = true;
            self.open_due(now);
        }
    }

    fn handle_closed(&mut self, _now: Time, _memory: &mut Memory, subflow: usize) {
        self.connection.gone(subflow);
    }

    fn handle_timeout(&mut self, now: Time, _memory: &mut Memory) {
        self.open_due(now);
    }

    fn deadline(&self) -> Time {
        let times = self.waiting.iter().filter(|_| self.stands).map(|(time, _)| *time);
        times.min().unwrap_or(NEVER)
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.connection.poll_action()
    }
}
