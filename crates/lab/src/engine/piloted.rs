//! Flows that agents outside the simulator control.

use std::sync::Arc;

use tresse_controllers::{ConfiguredController, agent};
use tresse_sim::{FlowSpec, World};
use tresse_transport::{Counters, Echo};
use tresse_units::{MICROSECOND, Time};

use super::Engine;
use tresse_results::record::flow::Begun;
use tresse_results::record::outcome::Rows;

/// Replaces a scheme's controller with agents.
pub(crate) struct Pilot {
    scheme: usize,
    flows: usize,
    controller: Arc<ConfiguredController>,
    /// The simulator's names for the flows, in the order of their starts.
    taken: Vec<u64>,
}

/// The state of a subflow, counted from its beginning.
#[derive(Debug, Clone, Copy, Default)]
pub struct State {
    /// Payload that has arrived, bytes.
    pub arrived: u64,
    /// The sender's counters.
    pub counters: Counters,
    /// The smoothed RTT and the smallest, ps; 0: none yet.
    pub rtts: [Time; 2],
    /// The window, packets; 0: the subflow is not open.
    pub cwnd: u32,
    /// Packets in flight.
    pub in_flight: u32,
}

impl Pilot {
    /// Lets agents control the first `flows` of the case's bound scheme `scheme`; the others keep its controller.
    pub fn new(scheme: usize, flows: usize) -> Self {
        let controller = ConfiguredController::new(agent(), []).expect("it has no parameters");
        Self { scheme, flows, controller: Arc::new(controller), taken: Vec::new() }
    }

    /// A flow is about to start.
    pub fn take(&mut self, begun: &Begun, spec: &mut FlowSpec) {
        if begun.member.bound_scheme == self.scheme && self.taken.len() < self.flows {
            spec.scheme = Arc::clone(&self.controller);
            // The flag of RFC 3168 stays up until the window is cut: an agent is to count marks.
            if spec.config.echo == Echo::Rfc3168 {
                spec.config.echo = Echo::Dctcp;
            }
            self.taken.push(spec.id);
        }
    }
}

impl<M, E> Engine<'_, M, World>
where
    M: FnMut(Rows) -> Result<(), E>,
{
    /// To be called before [`Engine::begin`].
    pub fn set_pilot(&mut self, pilot: Pilot) {
        self.pilot = Some(pilot);
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// Why the case will never end, if it gave up.
    pub fn stuck(&self) -> Option<&str> {
        self.stuck.as_deref()
    }

    /// Whether nothing will happen any more, and whether the reason is the case's duration.
    pub fn over(&self) -> Option<bool> {
        let timed = self.case.duration.is_some_and(|end| self.world.now() >= end);
        (!self.complete || self.is_over()).then_some(timed)
    }

    /// The name of the controlled flow number `flow`, if it has started.
    fn steered(&self, flow: usize) -> Option<u64> {
        self.pilot.as_ref()?.taken.get(flow).copied()
    }

    /// Whether the controlled flow number `flow` has started, and whether it has ended.
    pub fn standing(&self, flow: usize) -> (bool, bool) {
        let name = self.steered(flow);
        (name.is_some(), name.is_some_and(|id| !self.live.contains_key(&id)))
    }

    /// See [`World::steer`].
    pub fn steer(&mut self, flow: usize, subflow: usize, cwnd: Option<u32>, word: u64) {
        if let Some(id) = self.steered(flow) {
            self.world.steer(id, subflow, cwnd, word);
        }
    }

    /// A subflow; `None` before it is opened, and some time after its flow has ended.
    pub fn state(&self, flow: usize, subflow: usize) -> Option<State> {
        state(&self.world, self.steered(flow)?, subflow)
    }
}

fn state(world: &World, id: u64, subflow: usize) -> Option<State> {
    let (sender, receiver) = world.ends(id)?;
    if subflow >= sender.subflows() {
        return None;
    }
    let own = sender.controller(subflow);
    let smallest = own.map_or(0, |own| u64::from(own.min_rtt) * (MICROSECOND / 8));
    Some(State {
        arrived: receiver.arrived(subflow),
        counters: sender.counters(subflow),
        rtts: [sender.srtt(subflow), smallest],
        cwnd: own.map_or(0, |own| own.cwnd),
        in_flight: if own.is_some() { sender.in_flight(subflow) } else { 0 },
    })
}
