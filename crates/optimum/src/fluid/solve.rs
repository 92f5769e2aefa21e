//! Integration, over time or until nothing moves any more.

use super::dopri5::{self, Failure, Reason};
use super::network::{FluidError, Network};
use super::rest;
use super::system::System;

/// Relative, because windows and odds are integrated as logarithms.
const TOLERANCE: f64 = 1e-10;
/// Changes below this count as none: packets a round, shares of a capacity.
const SETTLED: f64 = 1e-8;
/// Changes of a path's rate below this in the last third of the time count as none, as a share of its
/// connection's. Paths that tie for being used approach their rates only as 1/t.
pub(super) const UNMOVED: f64 = 1e-6;
/// A window that no link holds: 10^9 packets of 1500 bytes, 12 Tbit in a round.
const UNBOUNDED: f64 = 1e9;
/// Steps that a search for an equilibrium may take by default.
const MOST_STEPS: usize = 1_000_000;

/// A fluid model in motion.
///
/// Its state continues from call to call, so that a capacity can change on the way:
/// [`Fluid::advance`], [`Fluid::set_capacity`], [`Fluid::advance`] …
#[derive(Clone, Debug)]
pub struct Fluid {
    system: System,
    y: Vec<f64>,
    time_s: f64,
}

/// The state of a network at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Seconds since the start.
    pub time_s: f64,
    /// Bit/s on each path of each connection.
    pub rates_bps: Vec<Vec<f64>>,
    /// The window of each path of each connection, in packets.
    pub windows_pkts: Vec<Vec<f64>>,
    /// The probability of the signal of each path of each connection.
    pub path_probabilities: Vec<Vec<f64>>,
    /// The probability with which each link signals.
    pub link_probabilities: Vec<f64>,
    /// Bit/s that arrive at each link.
    pub loads_bps: Vec<f64>,
}

impl State {
    /// The largest change of a path's rate, as a share of its connection's.
    fn moved_since(&self, before: &Self) -> f64 {
        let totals = self.connection_rates_bps();
        let paths = self.rates_bps.iter().zip(&before.rates_bps).zip(totals);
        let moves = paths.flat_map(|((now, before), total)| {
            now.iter().zip(before).map(move |(now, before)| (now - before).abs() / total)
        });
        moves.fold(0.0, f64::max)
    }

    /// Bit/s of each connection.
    pub fn connection_rates_bps(&self) -> Vec<f64> {
        self.rates_bps.iter().map(|paths| paths.iter().sum()).collect()
    }
}

impl Fluid {
    /// A network at its start: every window at one packet, or at its floor.
    ///
    /// # Errors
    ///
    /// The part of the network that is out of its range.
    pub fn new(network: Network) -> Result<Self, FluidError> {
        let system = System::new(network)?;
        let y = system.start();
        Ok(Self { system, y, time_s: 0.0 })
    }

    /// The state now.
    pub fn state(&self) -> State {
        self.state_of(self.time_s, &self.y)
    }

    /// Changes a link's capacity from now on.
    ///
    /// # Errors
    ///
    /// [`FluidError::Link`] if the link has no capacity, or gets none.
    pub fn set_capacity(&mut self, link: usize, bps: u64) -> Result<(), FluidError> {
        self.system.set_capacity(link, bps)
    }

    /// Continues for `seconds` (above 0) and returns the states at `samples` moments, evenly spaced, the last
    /// one at the end.
    ///
    /// # Errors
    ///
    /// [`FluidError::Integration`] if the solver gives up.
    pub fn advance(&mut self, seconds: f64, samples: usize) -> Result<Vec<State>, FluidError> {
        let mut states = Vec::with_capacity(samples);
        for _ in 0..samples.max(1) {
            self.integrate(seconds / samples.max(1) as f64, MOST_STEPS).map_err(|f| self.failed(f))?;
            states.push(self.state());
        }
        Ok(states)
    }

    /// Continues until nothing moves any more, and returns that state: either no window moves by more than
    /// 1e-8 packets a round and every link is within 1e-8 of its capacity (or has no price), or no rate has
    /// moved by more than 1e-6 of its connection's in the last third of the time. Paths that carry less than
    /// 1e-9 of their connection are given up and may keep falling.
    ///
    /// # Errors
    ///
    /// [`FluidError::NotSettled`] if it never does (a window grows forever on links that never signal),
    /// [`FluidError::Integration`] if the solver gives up.
    pub fn equilibrium(&mut self) -> Result<State, FluidError> {
        self.equilibrium_within(MOST_STEPS)
    }

    /// As [`Self::equilibrium`], in about `most_steps` steps of the solver, which limits the cost for a large
    /// network without a clock. If it has not settled by then, implicit steps search for the end. They do not
    /// follow the motion, but end where it ends; [`State::time_s`] stays at the time that was integrated.
    ///
    /// # Errors
    ///
    /// As [`Self::equilibrium`].
    pub fn equilibrium_within(&mut self, most_steps: usize) -> Result<State, FluidError> {
        match self.settle(most_steps) {
            Err(FluidError::NotSettled { .. }) if rest::find(&self.system, &mut self.y, SETTLED) => {
                Ok(self.state())
            }
            Err(FluidError::NotSettled { .. }) => Err(self.not_settled()),
            settled => settled,
        }
    }

    /// Integrates until nothing moves any more.
    fn settle(&mut self, most_steps: usize) -> Result<State, FluidError> {
        let mut interval = 16.0 * self.system.longest_rtt();
        let mut steps = 0;
        let mut before = self.state();
        loop {
            let left = most_steps.saturating_sub(steps).max(1);
            match self.integrate(interval, left) {
                Ok(taken) => steps += taken,
                Err(failure) if failure.reason == Reason::StepSize => return Err(self.failed(failure)),
                // Time and state stay at the beginning of this interval.
                Err(_) => return Err(self.not_settled()),
            }
            let now = self.state();
            if self.residual() < SETTLED || now.moved_since(&before) < UNMOVED {
                return Ok(now);
            }
            if steps > most_steps || now.windows_pkts.iter().flatten().any(|w| *w > UNBOUNDED) {
                return Err(self.not_settled());
            }
            before = now;
            interval *= 1.5;
        }
    }

    fn residual(&self) -> f64 {
        self.system.derivative(&self.y, &mut vec![0.0; self.y.len()])
    }

    fn not_settled(&self) -> FluidError {
        FluidError::NotSettled { after_s: self.time_s, residual: self.residual() }
    }

    /// Moves on by `seconds`, in at most `most_steps` steps; returns their number.
    fn integrate(&mut self, seconds: f64, most_steps: usize) -> Result<usize, Failure> {
        let equations = |y: &[f64], dy: &mut [f64]| {
            self.system.derivative(y, dy);
        };
        let (y, steps) = dopri5::integrate(equations, self.y.clone(), seconds, TOLERANCE, most_steps)?;
        self.y = y;
        self.time_s += seconds;
        Ok(steps)
    }

    fn failed(&self, failure: Failure) -> FluidError {
        FluidError::Integration { at_s: self.time_s + failure.time, reason: failure.reason.to_string() }
    }

    fn state_of(&self, time_s: f64, y: &[f64]) -> State {
        let bits = self.system.packet_bits();
        let view = self.system.view(y);
        let each = |what: fn(&super::laws::Subflow) -> f64, scale: f64| {
            let mut values = view.subflows.iter().map(|s| what(s) * scale);
            let paths = self.system.network.connections.iter().map(|c| c.paths.len());
            paths.map(|n| values.by_ref().take(n).collect()).collect()
        };
        State {
            time_s,
            rates_bps: each(|s| s.rate(), bits),
            windows_pkts: each(|s| s.window(), 1.0),
            path_probabilities: each(|s| s.signalled, 1.0),
            link_probabilities: view.probabilities.clone(),
            loads_bps: view.loads.iter().map(|l| l * bits).collect(),
        }
    }
}
