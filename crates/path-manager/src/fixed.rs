//! A fixed number of subflows, all opened as soon as the connection stands (catalogue S26).

use crate::connection::Connection;
use crate::routes::routes;
use crate::{Action, By, Opening, Pair, PathManager, Route, Time};

/// A fixed number of subflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How many, 1 to 64; by address at most as many as there are address pairs.
    pub subflows: usize,
    /// What tells them apart.
    pub by: By,
}

impl Default for Config {
    fn default() -> Self {
        Self { subflows: 2, by: By::Address }
    }
}

/// The path manager `fixed`.
#[derive(Debug)]
pub struct Fixed {
    connection: Connection<()>,
    /// The routes of the subflows that wait for the first.
    waiting: Vec<Route>,
}

impl Fixed {
    /// Asks for the first subflow.
    pub fn new(config: &Config, opening: &Opening) -> Self {
        let mut waiting = routes(config.by, config.subflows, opening);
        let mut connection = Connection::new();
        connection.open(waiting.remove(0), ());
        Self { connection, waiting }
    }
}

impl PathManager for Fixed {
    fn observes(&self) -> bool {
        false
    }

    fn handle_established(&mut self, _now: Time, _pair: &mut Pair, subflow: usize) {
        if self.connection.establish(subflow) {
            for route in self.waiting.drain(..) {
                self.connection.open(route, ());
            }
        }
    }

    fn handle_closed(&mut self, _now: Time, _pair: &mut Pair, subflow: usize) {
        self.connection.gone(subflow);
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.connection.poll_action()
    }
}
