//! The connections of a round, and what names each of them.

use tresse_fabric::Topology;
use tresse_workload::{Permutation, RackToRack, Stream, Transfer};

use crate::experiment::Pattern;
use crate::resolve::Case;

/// A connection of a round. Its name is the round, the sending host and its number among the connections of the
/// transfer: what is random of it has streams of that name, so that further connections shift no other's draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The round of the pattern, from 0.
    pub round: u32,
    /// Which of the transfer's connections, from 0.
    pub number: u32,
    /// Who sends how much to whom.
    pub transfer: Transfer,
}

impl Connection {
    /// Its random numbers for `purpose`, under the run's `seed`.
    pub fn stream(&self, seed: u64, purpose: &str) -> Stream {
        let transfer = u64::from(self.round) << 32 | u64::from(self.transfer.from);
        match self.number {
            0 => Stream::new(seed, purpose, transfer),
            n => Stream::new(seed, &format!("{purpose} of connection {n}"), transfer),
        }
    }
}

impl Case {
    /// The connections of a round, by sending host and number.
    pub(crate) fn round(&self, fabric: &Topology, seed: u64, round: u32) -> Vec<Connection> {
        let hosts = fabric.hosts();
        let size = || self.size.clone();
        let transfers = match self.kind {
            Pattern::Permutation => Permutation { hosts, size: size(), seed }.round(round),
            Pattern::RackToRack => {
                let rack = fabric.racks.iter().filter(|&&r| r == fabric.racks[0]).count() as u32;
                RackToRack { rack, size: size(), seed }.round(round)
            }
        };
        let connection = |(transfer, number)| {
            let mut connection = Connection { round, number, transfer };
            // The first one's is the transfer's own.
            if number > 0 {
                connection.transfer.bytes = self.size.draw(&mut connection.stream(seed, "flow size"));
            }
            connection
        };
        let numbered = |t| (0..self.connections).map(move |number| (t, number));
        transfers.into_iter().flat_map(numbered).map(connection).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Plan, Profile, find, load, resolve, unit};

    fn plan(connections: u32) -> Plan {
        let settings = [
            "fabric.k=4".to_owned(),
            "workloads.permutation.size=['1kB', '1GB']".to_owned(),
            format!("workloads.permutation.connections={connections}"),
        ];
        let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
        resolve(&loaded, &["scheme=xmp".to_owned(), "subflows=2".to_owned()]).expect("valid")
    }

    /// Rule 4 of the design: a flow more changes nothing of the others.
    #[test]
    fn more_connections_shift_no_draws_of_the_others() {
        let drawn = |connections: u32| -> Vec<_> {
            let plan = plan(connections);
            let case = &plan.cases[0];
            let round = case.round(&plan.fabric, 1, 3);
            assert_eq!(round.len() as u32, 16 * connections);
            round.into_iter().map(|c| (c, unit::ways(&plan, case, 1, &c))).collect()
        };
        let (one, two, three) = (drawn(1), drawn(2), drawn(3));
        let first = |all: &[(super::Connection, _)], n| -> Vec<_> {
            all.iter().filter(|(c, _)| c.number < n).cloned().collect()
        };
        assert_eq!(first(&two, 1), one);
        assert_eq!(first(&three, 2), two);
        // Each has a size and ways of its own: of 16 pairs some differ in their ways too.
        assert!(two.chunks(2).all(|c| c[0].0.transfer.bytes != c[1].0.transfer.bytes));
        assert!(two.chunks(2).any(|c| c[0].1 != c[1].1));
    }
}
