//! Fixed paths: the paths of a connection's subflows when the connection decides, not the switches.

use std::collections::BTreeMap;

use crate::fat_tree::{FatTree, Spread};
use crate::path::Path;
use crate::shortest::ShortestPaths;
use crate::virtual_hosts::VirtualHosts;

/// The part of the path that each subflow of a connection has to itself, as long as there are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exclusive {
    /// A path.
    Path,
    /// A link of the sending host, as with an address for each of its network cards. It takes any path over
    /// this link.
    HostLink,
}

/// Who gives subflows their fixed paths.
#[derive(Debug, Clone)]
pub enum FixedPaths {
    /// A fat tree's two-level routing, and what the subflows of one connection must not share.
    TwoLevel(FatTree, Spread),
    /// Shortest paths, and what the subflows of one connection share only if there are not enough of them.
    Shortest(ShortestPaths, Exclusive),
    /// Between the virtual NICs of two machines, as they are mapped at the start.
    Virtual(VirtualHosts),
}

impl FixedPaths {
    /// The number of distinct paths between the two hosts that have the most.
    pub fn most(&self) -> u32 {
        match self {
            Self::TwoLevel(tree, spread) => tree.addresses(*spread),
            Self::Shortest(paths, _) => paths.most(),
            Self::Virtual(hosts) => hosts.pairs(),
        }
    }

    /// The longest path, ports.
    pub fn longest(&self) -> usize {
        match self {
            Self::TwoLevel(..) => FatTree::LONGEST_ROUTE,
            Self::Shortest(paths, _) => paths.longest(),
            Self::Virtual(_) => VirtualHosts::LONGEST_ROUTE,
        }
    }

    /// `count` paths for the subflows of one connection, at most [`FixedPaths::most`]; `draw(n)` gives a
    /// random number below n. Hosts near each other may have fewer paths, so some may be the same.
    ///
    /// # Panics
    /// If no path leads from `from` to `to`.
    pub fn draw(&self, from: u32, to: u32, count: u32, mut draw: impl FnMut(u32) -> u32) -> Vec<Path> {
        match self {
            Self::TwoLevel(tree, spread) => {
                let path =
                    |core| Path { there: tree.route(from, to, core), back: tree.route(to, from, core) };
                tree.draw_addresses(count, *spread, draw).into_iter().map(path).collect()
            }
            Self::Shortest(paths, Exclusive::Path) => {
                let drawn = distinct(paths.count(from, to), count, &mut draw);
                drawn.iter().cycle().take(count as usize).map(|&k| paths.path(from, to, k)).collect()
            }
            Self::Shortest(paths, Exclusive::HostLink) => {
                let by_link = paths.by_first_port(from, to);
                let links = distinct(by_link.len() as u32, count, &mut draw);
                let links =
                    links.iter().cycle().take(count as usize).map(|&link| by_link[link as usize].clone());
                links.map(|own| paths.path(from, to, own.start + draw(own.end - own.start))).collect()
            }
            Self::Virtual(hosts) => (0..count).map(|pair| between(hosts, from, to, pair)).collect(),
        }
    }

    /// All paths between two hosts, at most `most`.
    pub fn all(&self, from: u32, to: u32, most: u32) -> Vec<Path> {
        match self {
            Self::TwoLevel(tree, _) => {
                let cores = tree.addresses(Spread::Core).min(most);
                let path =
                    |core| Path { there: tree.route(from, to, core), back: tree.route(to, from, core) };
                (0..cores).map(path).collect()
            }
            Self::Shortest(paths, _) => {
                (0..paths.count(from, to).min(most)).map(|k| paths.path(from, to, k)).collect()
            }
            Self::Virtual(hosts) => {
                (0..hosts.pairs().min(most)).map(|pair| between(hosts, from, to, pair)).collect()
            }
        }
    }

    /// The ports that every path between two hosts has, such as those of a host's only link: whatever
    /// subflows do, they share them. The mapping of virtual NICs is not fixed, so for virtual hosts these are
    /// only the ports of a host's only physical NIC.
    pub fn unavoidable(&self, from: u32, to: u32) -> Path {
        match self {
            Self::TwoLevel(tree, _) => in_all(
                (0..tree.addresses(Spread::Core))
                    .map(|core| Path { there: tree.route(from, to, core), back: tree.route(to, from, core) }),
            ),
            Self::Shortest(paths, _) => in_all((0..paths.count(from, to)).map(|k| paths.path(from, to, k))),
            Self::Virtual(hosts) if hosts.single() => {
                in_all((0..hosts.pairs()).map(|pair| between(hosts, from, to, pair)))
            }
            Self::Virtual(_) => Path { there: Vec::new(), back: Vec::new() },
        }
    }
}

fn between(hosts: &VirtualHosts, from: u32, to: u32, pair: u32) -> Path {
    Path { there: hosts.route(from, to, pair), back: hosts.route_back(from, to, pair) }
}

/// The ports that all of `paths` have, in the order of the first one; there is at least one path.
fn in_all(paths: impl Iterator<Item = Path>) -> Path {
    let common = |mut common: Path, path: Path| {
        common.there.retain(|port| path.there.contains(port));
        common.back.retain(|port| path.back.contains(port));
        common
    };
    paths.reduce(common).expect("a host that can be reached")
}

/// `count` distinct numbers below `n`, or all of them, in random order: the first places of a random permutation
/// (Fisher and Yates), of which only the places that moved are kept, as there may be millions of paths.
fn distinct(n: u32, count: u32, mut draw: impl FnMut(u32) -> u32) -> Vec<u32> {
    assert!(n > 0, "a host that cannot be reached");
    let mut moved = BTreeMap::new();
    let pick = |i| {
        let j = i + draw(n - i);
        let last = moved.get(&i).copied().unwrap_or(i);
        moved.insert(j, last).unwrap_or(j)
    };
    (0..count.min(n)).map(pick).collect()
}
