//! The load of each port under traffic between many pairs of hosts.

use super::destinations::{Destinations, Members, ShortestTo};
use crate::topology::Topology;

/// The load of each port, and the number of units, if every address sends one unit to every address of another host for
/// which `talks` says so of the hosts' classes, evenly over all shortest paths. Pairs without a path send nothing.
///
/// One destination after the other, so that a network of 100,000 hosts takes no memory; and by class, because it has
/// 10^10 pairs.
pub(crate) fn loads(
    topology: &Topology,
    class: impl Fn(u32) -> u32,
    talks: impl Fn(u32, u32) -> bool,
) -> (Vec<f64>, f64) {
    let to = Destinations::of(topology);
    let mut loads = vec![0.0; to.ends.len()];
    let mut total = 0.0;
    let classes: Vec<u32> = (0..to.last.len() as u32).map(|address| class(to.host(address))).collect();
    for destination in 0..to.len() {
        let counts = to.counts(destination);
        let members = to.members(destination, |address, _| classes[address as usize]);
        let sends =
            |from: u32, class: u32| to.from(&counts, from).count > 0 && talks(classes[from as usize], class);
        let at = add_sources(&to, &members, &mut loads, &mut total, sends);
        pass_on(&to, &counts, at, &mut loads);
    }
    (loads, total)
}

/// Adds what each address sends to the members of a destination: to the first port of a leaf, and to the last port before
/// one. Returns what begins at the other nodes, by node.
fn add_sources(
    to: &Destinations,
    members: &Members<u32>,
    loads: &mut [f64],
    total: &mut f64,
    sends: impl Fn(u32, u32) -> bool,
) -> Vec<f64> {
    let mut at = vec![0.0; to.outgoing.len()];
    // By group: how many addresses send to it, those of the same hosts included.
    let mut senders = vec![0u64; members.groups.len()];
    for from in 0..to.last.len() as u32 {
        for (senders, group) in senders.iter_mut().zip(&members.groups) {
            *senders += u64::from(sends(from, group.key));
        }
        for (group, others) in members.of_others(to, from) {
            if sends(from, group.key) {
                at[from as usize] += others as f64;
                *total += others as f64;
            }
        }
    }
    for (node, leaf) in to.leaves() {
        let own = std::mem::take(&mut at[leaf as usize]);
        loads[to.outgoing[leaf as usize][0] as usize] += own;
        at[node as usize] += own;
    }
    for &(address, group) in &members.own {
        let Some(last) = to.last[address as usize].1 else { continue };
        let same = to.siblings(address).filter(|&from| sends(from, members.groups[group].key)).count();
        loads[last as usize] += (senders[group] - same as u64) as f64;
    }
    at
}

/// Moves what is at each node on to the destination.
fn pass_on(to: &Destinations, counts: &[ShortestTo], mut at: Vec<f64>, loads: &mut [f64]) {
    for node in to.by_length(counts).into_iter().rev() {
        if at[node as usize] == 0.0 {
            continue;
        }
        let all: f64 = to.towards(counts, node).map(|(_, next)| f64::from(next.count)).sum();
        for (port, next) in to.towards(counts, node) {
            let part = at[node as usize] * f64::from(next.count) / all;
            loads[port as usize] += part;
            at[to.ends[port as usize][1] as usize] += part;
        }
    }
}
