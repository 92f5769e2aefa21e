//! Fixed routes: what ways the subflows of a connection take when it, and no switch, decides.

use crate::fat_tree::{FatTree, Spread};

/// The ways of one subflow, as ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// From the sender to the receiver.
    pub there: Vec<u32>,
    /// From the receiver to the sender, over the same links.
    pub back: Vec<u32>,
}

/// Who gives subflows their fixed routes.
#[derive(Debug, Clone)]
pub enum Routes {
    /// A fat tree's two-level routing, and what the subflows of one connection must not share.
    TwoLevel(FatTree, Spread),
}

impl Routes {
    /// How many routes between two hosts differ, where they are most.
    pub fn most(&self) -> u32 {
        match self {
            Self::TwoLevel(tree, spread) => tree.addresses(*spread),
        }
    }

    /// The longest route, ports.
    pub fn longest(&self) -> usize {
        match self {
            Self::TwoLevel(..) => FatTree::LONGEST_ROUTE,
        }
    }

    /// `count` routes for the subflows of one connection, at most [`Routes::most`]; `draw(n)` gives a random
    /// number below n. Where hosts are near to each other there may be fewer, so that some are the same.
    pub fn draw(&self, from: u32, to: u32, count: u32, draw: impl FnMut(u32) -> u32) -> Vec<Route> {
        match self {
            Self::TwoLevel(tree, spread) => {
                let route =
                    |core| Route { there: tree.route(from, to, core), back: tree.route(to, from, core) };
                tree.draw_addresses(count, *spread, draw).into_iter().map(route).collect()
            }
        }
    }
}
