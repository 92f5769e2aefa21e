//! When a replication gives up: nothing arrives any more, so its flows wait forever.

use tresse_experiment::keys::bounds::LONGEST;
use tresse_fabric::Topology;
use tresse_units::Time;

use crate::network::Network;
use crate::record::flow::Begun;

/// A replication gives up when no byte has arrived for this long, ps: no delay, timeout or change
/// takes longer than a tenth.
const PATIENCE: Time = 10 * LONGEST;

/// The last time that a replication reaches, ps: half of what 64 bits can count, 107 days.
const END: Time = 1 << 63;

/// Looks now and then whether anything has arrived since.
#[derive(Debug)]
pub(crate) struct Stall {
    /// What had arrived at the last look, bytes.
    arrived: u64,
    next: Time,
}

impl Stall {
    /// From now on.
    pub fn new(world: &dyn Network) -> Self {
        Self { arrived: world.delivered_bytes(), next: world.now() + PATIENCE }
    }

    /// When to look next.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Looks, if it is time to: why waiting is pointless, if it is.
    pub fn look(&mut self, world: &dyn Network) -> Option<&'static str> {
        let (now, before) = (world.now(), self.arrived);
        if now < self.next {
            return None;
        }
        self.arrived = world.delivered_bytes();
        self.next = (now + PATIENCE).min(END);
        match () {
            () if self.arrived == before => Some("nothing has arrived for 10000s"),
            () if now >= END => Some("more than 107 days have been simulated"),
            () => None,
        }
    }
}

/// What is to be said of the flows `waiting`, which have not finished; `down` is a port of a link that is down.
pub(crate) fn describe(why: &str, fabric: &Topology, down: Option<u32>, waiting: &[&Begun]) -> String {
    let name = |host: u32| &*fabric.node_names[fabric.addresses(host).start as usize];
    let Some(first) = waiting.first().map(|begun| &begun.start) else {
        return format!("{why}, and there is no flow: set `duration` to end a workload that waits");
    };
    let (from, to, round) = (name(first.from), name(first.to), first.round);
    let others = match waiting.len() {
        1 => "waits".to_owned(),
        n => format!("and {} others wait", n - 1),
    };
    let hint = match down.map(|port| fabric.end_names(port)) {
        Some([a, b]) => format!(
            "the link of {a} and {b} has failed for good: let it come back (failed = false), or let a load \
             balancer route around it (`reroute_after`)"
        ),
        None => "no link is down: check `rate`, `queue` and `loss` in [fabric]".to_owned(),
    };
    format!("the flow from {from} to {to} of round {round} {others} forever: {why}\n\nhint: {hint}")
}
