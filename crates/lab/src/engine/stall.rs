//! Detects when a replication must give up: nothing arrives any more, or ports wait for each other, so its flows
//! wait forever.

use tresse_experiment::schema::bounds::LONGEST;
use tresse_fabric::{Deadlock, Topology};
use tresse_units::{Duration, MICROSECOND, NEVER, Time};

use crate::network::Network;
use tresse_results::record::flow::Begun;

/// A replication gives up when no byte has arrived for this long, ps: no delay, timeout or change
/// takes longer than a tenth.
const PATIENCE: Time = 10 * LONGEST;

/// The latest time that a replication can reach, ps: half of what 64 bits can count, 107 days.
const END: Time = 1 << 63;

/// How often ports under flow control are checked for waiting for each other: the interval, ps.
const DEADLOCKS: Time = 100 * MICROSECOND;

/// Checks from time to time whether anything has arrived since, and whether ports wait for each other.
#[derive(Debug)]
pub(crate) struct Stall {
    /// The bytes that had arrived at the last check.
    arrived: u64,
    next: Time,
    /// When ports are checked next; [`NEVER`] without flow control.
    ports: Time,
}

/// Why waiting is pointless.
#[derive(Debug)]
pub(crate) enum Why {
    /// Nothing arrives, or the time is up.
    Time(&'static str),
    /// Ports wait for each other.
    Deadlock(Deadlock),
}

impl Stall {
    /// Starts now; `pauses`: whether switches of the world may pause ports.
    pub fn new(world: &dyn Network, pauses: bool) -> Self {
        let now = world.now();
        let ports = if pauses { now + DEADLOCKS } else { NEVER };
        Self { arrived: world.delivered_bytes(), next: now + PATIENCE, ports }
    }

    /// When to check next.
    pub fn next(&self) -> Time {
        self.next.min(self.ports)
    }

    /// Checks if it is due; returns the reason if waiting is pointless.
    pub fn look(&mut self, world: &dyn Network) -> Option<Why> {
        let (now, before) = (world.now(), self.arrived);
        if now >= self.ports {
            self.ports = now + DEADLOCKS;
            if let Some(deadlock) = world.deadlock() {
                return Some(Why::Deadlock(deadlock));
            }
        }
        if now < self.next {
            return None;
        }
        self.arrived = world.delivered_bytes();
        self.next = (now + PATIENCE).min(END);
        match () {
            () if self.arrived == before => Some(Why::Time("nothing has arrived for 10000s")),
            () if now >= END => Some(Why::Time("more than 107 days have been simulated")),
            () => None,
        }
    }
}

/// The message about ports that wait for each other.
fn ring(deadlock: &Deadlock, fabric: &Topology) -> String {
    let name = |&port: &u32| fabric.end_names(port).join(" -> ");
    let ring: Vec<String> = deadlock.ring.iter().map(name).collect();
    let rest = match deadlock.ports - ring.len() {
        0 => String::new(),
        1 => ", and one more port waits for them".to_owned(),
        n => format!(", and {n} more ports wait for them"),
    };
    format!(
        "PFC deadlock: {} wait for each other since {}{rest}\n\n\
          hint: flow control needs routes that never go up again after going down, such as those of a fat tree or \
          leaf-spine; or raise `xoff`, or let switches drop (leave out `pfc`)",
        ring.join(", "),
        // In whole microseconds: the time is for people.
        Duration(deadlock.since - deadlock.since % MICROSECOND)
    )
}

/// The message about the flows `waiting`, which have not finished; `down` is a port of a link that is down.
pub(crate) fn describe(why: &Why, fabric: &Topology, down: Option<u32>, waiting: &[&Begun]) -> String {
    let why = match why {
        Why::Deadlock(deadlock) => return ring(deadlock, fabric),
        Why::Time(why) => why,
    };
    let name = |host: u32| &*fabric.node_names[fabric.addresses(host).start as usize];
    let Some(first) = waiting.first().map(|begun| &begun.start) else {
        return format!("{why}, and there is no flow: set `duration` to end a workload that only waits");
    };
    let (from, to, round) = (name(first.from), name(first.to), first.round);
    let others = match waiting.len() {
        1 => "waits".to_owned(),
        n => format!("and {} others wait", n - 1),
    };
    let hint = match down.map(|port| fabric.end_names(port)) {
        Some([a, b]) => format!(
            "the link between {a} and {b} has failed for good: let it come back (failed = false), or let a load \
             balancer route around it (`reroute_after`); with `handshake`, a connection opens its other subflows only \
             after the handshake of the first, so it also waits if that one's path has failed"
        ),
        None => "no link is down: check `rate`, `queue` and `loss` in [fabric]".to_owned(),
    };
    format!("the flow from {from} to {to} of round {round} {others} forever: {why}\n\nhint: {hint}")
}
