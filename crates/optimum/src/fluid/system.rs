//! A network as one system of differential equations.
//!
//! Windows are kept as logarithms: they stay positive, and the solver's tolerance is relative.

use std::ops::Range;

use super::balance;
use super::laws::{Context, Subflow, alpha_gain, changes, holnet};
use super::network::{Connection, FluidError, Link, Network, Path};
use super::price::{Odds, Price, START};

/// Windows start here, in packets.
const FIRST_WINDOW: f64 = 1.0;
/// The part of a packet over which a window's floor takes hold.
const FLOOR_BAND: f64 = 0.1;
/// A subflow with less than this share of its connection's rate is given up: it does not count as moving.
const GIVEN_UP: f64 = 1e-9;

const SECONDS_PER_PS: f64 = 1e-12;

#[derive(Clone, Debug)]
pub(super) struct System {
    pub network: Network,
    prices: Vec<Option<Price>>,
    /// Where each connection's unknowns begin.
    offsets: Vec<usize>,
    first_price: usize,
    /// How many paths all connections have.
    paths: usize,
}

/// A network's state in its own terms; rates in packets per second.
pub(super) struct View {
    pub loads: Vec<f64>,
    /// Of links with a capacity.
    odds: Vec<Odds>,
    pub probabilities: Vec<f64>,
    /// The paths of all connections, one after another: window, RTT, and received signals.
    pub subflows: Vec<Subflow>,
}

impl System {
    pub fn new(network: Network) -> Result<Self, FluidError> {
        network.check()?;
        let mut offsets = Vec::with_capacity(network.connections.len());
        let mut next = 0;
        for c in &network.connections {
            offsets.push(next);
            next += unknowns(c);
        }
        let paths = network.connections.iter().map(|c| c.paths.len()).sum();
        let mut system = Self { prices: Vec::new(), offsets, first_price: next, paths, network };
        system.prices = system.prices_of_links();
        Ok(system)
    }

    fn prices_of_links(&self) -> Vec<Option<Price>> {
        let bits = self.packet_bits();
        let price = |(index, link): (usize, &Link)| {
            let Link::Capacity(bps) = *link else { return None };
            let rtts: Vec<f64> =
                self.paths().filter(|p| p.links.contains(&index)).map(|p| rtt(p.rtt_ps)).collect();
            if rtts.is_empty() {
                return None;
            }
            let mean = rtts.iter().sum::<f64>() / rtts.len() as f64;
            Some(Price::new(bps as f64 / bits, rtts.len(), mean))
        };
        self.network.links.iter().enumerate().map(price).collect()
    }

    pub fn set_capacity(&mut self, link: usize, bps: u64) -> Result<(), FluidError> {
        let before = self.network.links.get(link).copied();
        if bps == 0 || !matches!(before, Some(Link::Capacity(_))) {
            return Err(FluidError::Link { link, expected: "a link with a capacity, and one above 0 bit/s" });
        }
        self.network.links[link] = Link::Capacity(bps);
        self.prices = self.prices_of_links();
        Ok(())
    }

    pub fn start(&self) -> Vec<f64> {
        let mut y = vec![0.0; self.first_price + self.prices.len()];
        for (c, &offset) in self.network.connections.iter().zip(&self.offsets) {
            let windows = if c.balancer.is_some() { 1 } else { c.paths.len() };
            let first = FIRST_WINDOW.max(c.min_window_pkts + FLOOR_BAND);
            y[offset..offset + windows].fill(libm::log(first));
            // Either alphas, which start at 1 (RFC 8257), or a balancer's shares, which start equal.
            let rest = if c.balancer.is_some() { 1.0 / c.paths.len() as f64 } else { 1.0 };
            y[offset + windows..offset + unknowns(c)].fill(rest);
        }
        y[self.first_price..].fill(START);
        y
    }

    pub fn view(&self, y: &[f64]) -> View {
        let links = self.network.links.len();
        let mut loads = vec![0.0; links];
        let mut subflows: Vec<Subflow> = Vec::with_capacity(self.paths);
        for (c, connection) in self.network.connections.iter().enumerate() {
            let first = subflows.len();
            subflows.extend(unsignalled(connection, &y[self.unknowns_of(c)]));
            for (path, s) in connection.paths.iter().zip(&subflows[first..]) {
                path.links.iter().for_each(|&l| loads[l] += s.rate());
            }
        }
        let mut odds = vec![Odds::default(); links];
        let mut probabilities = vec![0.0; links];
        for (l, link) in self.network.links.iter().enumerate() {
            if let Link::Random(p) = *link {
                probabilities[l] = p;
            } else if let Some(price) = &self.prices[l] {
                odds[l] = price.odds(y[self.first_price + l], loads[l]);
                probabilities[l] = odds[l].probability();
            }
        }
        for (path, s) in self.paths().zip(&mut subflows) {
            s.signalled = any(path.links.iter().map(|&l| probabilities[l]));
        }
        View { loads, odds, probabilities, subflows }
    }

    /// dy/dt into `dy`; returns the largest change in the natural time of each unknown: packets a round,
    /// shares and alphas a round, and for links the relative excess.
    pub fn derivative(&self, y: &[f64], dy: &mut [f64]) -> f64 {
        let view = self.view(y);
        let mut residual: f64 = 0.0;
        let mut left = &view.subflows[..];
        for (c, connection) in self.network.connections.iter().enumerate() {
            let (own, rest) = left.split_at(connection.paths.len());
            left = rest;
            residual = residual.max(self.motion(c, own, &view.probabilities, &mut dy[self.unknowns_of(c)]));
        }
        for (l, price) in self.prices.iter().enumerate() {
            let Some(price) = price else {
                dy[self.first_price + l] = 0.0;
                continue;
            };
            let change = price.change(view.odds[l], view.loads[l]);
            dy[self.first_price + l] = change;
            residual = residual.max((change * price.time_s).abs());
        }
        residual
    }

    /// dy/dt of connection `c` into `dy`, which has its unknowns alone; returns their largest change as
    /// [`Self::derivative`] does. `subflows` are its own, with their signals.
    fn motion(&self, c: usize, subflows: &[Subflow], probabilities: &[f64], dy: &mut [f64]) -> f64 {
        let c = &self.network.connections[c];
        let mut residual: f64 = 0.0;
        let mut note = |change: f64| residual = residual.max(change.abs());
        let context = Context { signal: self.network.signal, packet_bits: self.packet_bits() };
        if let Some(balancer) = &c.balancer {
            let heard = balance::heard(balancer, c, subflows, probabilities, self.network.signal);
            let whole = balance::whole(subflows);
            let change = holnet(&c.scheme, &[whole], &[heard.free], context.packet_bits)[0];
            let change = floored(change, whole.window(), c.min_window_pkts);
            dy[0] = change / (whole.rtt * whole.window());
            note(change);
            for (i, moved) in heard.shares.iter().enumerate() {
                dy[1 + i] = moved / whole.rtt;
                note(*moved);
            }
            return residual;
        }
        let total: f64 = subflows.iter().map(Subflow::rate).sum();
        let changes = changes(&c.scheme, subflows, context);
        let gain = alpha_gain(&c.scheme);
        for (i, (s, change)) in subflows.iter().zip(changes).enumerate() {
            let change = floored(change, s.window(), c.min_window_pkts);
            dy[i] = change / (s.rtt * s.window());
            if s.rate() > GIVEN_UP * total {
                note(change);
            }
            if let Some(g) = gain {
                let change = g * (s.signalled - s.alpha);
                dy[subflows.len() + i] = change / s.rtt;
                note(change);
            }
        }
        residual
    }

    /// Where connection `c` has its unknowns.
    pub fn unknowns_of(&self, c: usize) -> Range<usize> {
        let end = self.offsets.get(c + 1).copied().unwrap_or(self.first_price);
        self.offsets[c]..end
    }

    /// Where link `l`'s price is among the unknowns.
    pub fn place_of_price(&self, l: usize) -> usize {
        self.first_price + l
    }

    /// The time in which each unknown moves by about one when everything is far from rest, seconds: a round
    /// for shares and alphas, a round for each packet of a window, and a link's own time.
    pub fn natural_times(&self, y: &[f64]) -> Vec<f64> {
        let mut times = vec![0.0; y.len()];
        for (c, &offset) in self.network.connections.iter().zip(&self.offsets) {
            let windows = if c.balancer.is_some() { 1 } else { c.paths.len() };
            for (i, time) in times[offset..offset + unknowns(c)].iter_mut().enumerate() {
                let round = rtt(c.paths[i % c.paths.len()].rtt_ps);
                *time = if i < windows { round * libm::exp(y[offset + i]) } else { round };
            }
        }
        for (l, price) in self.prices.iter().enumerate() {
            times[self.first_price + l] = price.as_ref().map_or(1.0, |p| p.time_s);
        }
        times
    }

    /// The largest difference of a path's rate between two states, as a share of its connection's.
    pub fn moved(&self, before: &[f64], after: &[f64]) -> f64 {
        let (before, after) = (self.view(before).subflows, self.view(after).subflows);
        let mut paths = before.iter().zip(&after).map(|(b, a)| [b, a].map(Subflow::rate));
        let moved = |c: &Connection| {
            let (moved, total) = paths
                .by_ref()
                .take(c.paths.len())
                .fold((0.0_f64, 0.0), |(moved, total), [b, a]| (moved.max((a - b).abs()), total + a));
            moved / total
        };
        self.network.connections.iter().map(moved).fold(0.0, f64::max)
    }

    pub fn packet_bits(&self) -> f64 {
        self.network.packet_bytes as f64 * 8.0
    }

    pub fn longest_rtt(&self) -> f64 {
        self.paths().map(|p| rtt(p.rtt_ps)).fold(SECONDS_PER_PS, f64::max)
    }

    /// The paths of all connections, one after another.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.network.connections.iter().flat_map(|c| &c.paths)
    }
}

fn unknowns(c: &Connection) -> usize {
    match (c.balancer, alpha_gain(&c.scheme)) {
        (Some(_), _) => 1 + c.paths.len(),
        (None, Some(_)) => 2 * c.paths.len(),
        (None, None) => c.paths.len(),
    }
}

/// The paths of a connection with the unknowns `y`; their signals are filled in later.
fn unsignalled<'a>(c: &'a Connection, y: &'a [f64]) -> impl Iterator<Item = Subflow> + 'a {
    let balancer = c.balancer.is_some();
    let shortest = c.paths.iter().map(|p| rtt(p.rtt_ps)).fold(f64::INFINITY, f64::min);
    // Alphas come after the windows, shares after the only one.
    let (windows, rest) = y.split_at(if balancer { 1 } else { c.paths.len() });
    c.paths.iter().enumerate().map(move |(i, path)| {
        if balancer {
            return Subflow::new(libm::exp(windows[0]) * balance::share(rest, i), shortest, path.loss, 0.0);
        }
        let alpha = rest.get(i).copied().unwrap_or(0.0);
        Subflow::new(libm::exp(windows[i]), rtt(path.rtt_ps), path.loss, alpha)
    })
}

/// A change in a round that would take a window below its floor fades over the last part above it.
fn floored(change: f64, window: f64, floor: f64) -> f64 {
    if change >= 0.0 || floor == 0.0 {
        return change;
    }
    change * ((window - floor) / FLOOR_BAND).clamp(0.0, 1.0)
}

/// The probability of any of several independent signals.
pub(super) fn any(probabilities: impl Iterator<Item = f64>) -> f64 {
    1.0 - probabilities.fold(1.0, |none, p| none * (1.0 - p))
}

fn rtt(picoseconds: u64) -> f64 {
    picoseconds as f64 * SECONDS_PER_PS
}
