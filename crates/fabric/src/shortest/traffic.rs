//! The load of each port under traffic between many pairs of hosts.

use std::collections::BTreeMap;

use super::destinations::{Destinations, Link, Members, ShortestTo};
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
    let mut traffic = Traffic::of(&to, |address| class(to.host(address)));
    for destination in 0..to.len() {
        let counts = to.counts(destination);
        let members = to.members(destination, |address, _| traffic.classes[address as usize]);
        let at = traffic.begin(&members, &counts, &talks);
        traffic.pass_on(&counts, at);
    }
    traffic.finish()
}

/// Addresses that send the same: of one class, with one place.
#[derive(Debug)]
struct Alike {
    class: u32,
    place: u32,
    addresses: u64,
    /// What each of them sends, to its own host included.
    sends: f64,
}

/// What ports carry, as one destination after the other is added.
struct Traffic<'a> {
    to: &'a Destinations,
    /// By address.
    classes: Vec<u32>,
    alike: Vec<Alike>,
    /// By address: its place in `alike`.
    kinds: Vec<u32>,
    /// By port. That of a leaf has what its kind sends only in the end.
    loads: Vec<f64>,
    total: f64,
}

impl<'a> Traffic<'a> {
    fn of(to: &'a Destinations, class: impl Fn(u32) -> u32) -> Self {
        let classes: Vec<u32> = (0..to.last.len() as u32).map(class).collect();
        let (mut alike, mut kinds, mut numbers) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (address, &class) in (0..).zip(&classes) {
            let place = to.place(address);
            let number = *numbers.entry((place, class)).or_insert(alike.len());
            if number == alike.len() {
                alike.push(Alike { class, place, addresses: 0, sends: 0.0 });
            }
            alike[number].addresses += 1;
            kinds.push(number as u32);
        }
        Self { to, classes, alike, kinds, loads: vec![0.0; to.ends.len()], total: 0.0 }
    }

    /// Adds what each address sends to the members of a destination: to the last port before a leaf, too. Returns what
    /// begins at each place.
    fn begin(
        &mut self,
        members: &Members<u32>,
        counts: &[ShortestTo],
        talks: impl Fn(u32, u32) -> bool,
    ) -> Vec<f64> {
        let to = self.to;
        let sends =
            |from: &Alike, class: u32| counts[from.place as usize].count > 0 && talks(from.class, class);
        let mut at = vec![0.0; counts.len()];
        // By group: how many addresses send to it, those of the same hosts included.
        let mut senders = vec![0u64; members.groups.len()];
        for from in &mut self.alike {
            for (senders, group) in senders.iter_mut().zip(&members.groups) {
                if sends(from, group.key) {
                    *senders += from.addresses;
                    from.sends += group.addresses as f64;
                    at[from.place as usize] += (from.addresses * group.addresses) as f64;
                }
            }
        }
        for &(address, group) in &members.own {
            let class = members.groups[group].key;
            let is_sent = |&from: &u32| sends(&self.alike[self.kinds[from as usize] as usize], class);
            let mut others = senders[group];
            for from in to.siblings(address).filter(is_sent) {
                others -= 1;
                at[to.place(from) as usize] -= 1.0;
                if let Some(first) = to.first(from) {
                    self.loads[first as usize] -= 1.0;
                }
            }
            if let Some(last) = to.last[address as usize].1 {
                self.loads[last as usize] += others as f64;
            }
        }
        self.total += at.iter().sum::<f64>();
        at
    }

    /// Moves what is at each place on to the destination.
    fn pass_on(&mut self, counts: &[ShortestTo], mut at: Vec<f64>) {
        for place in self.to.by_length(counts).into_iter().rev() {
            let here = at[place as usize];
            if here == 0.0 {
                continue;
            }
            let paths = |link: Link| f64::from(counts[link.to as usize].count);
            let all: f64 = match counts[place as usize].count {
                u32::MAX => self.to.links_towards(counts, place).map(paths).sum(),
                count => count.into(),
            };
            for link in self.to.links_towards(counts, place) {
                let part = here * paths(link) / all;
                self.loads[link.port as usize] += part;
                at[link.to as usize] += part;
            }
        }
    }

    /// The load of each port, and the total.
    fn finish(mut self) -> (Vec<f64>, f64) {
        for (_, leaf) in self.to.leaves() {
            let own = &self.alike[self.kinds[leaf as usize] as usize];
            self.loads[self.to.outgoing[leaf as usize][0] as usize] += own.sends;
        }
        (self.loads, self.total)
    }
}
