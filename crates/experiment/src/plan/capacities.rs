//! What networks carry of flows between random pairs of hosts: found once for all cases of an experiment.
//!
//! It takes a walk from every pair of hosts, and cases mostly differ in something else: a load, a scheme, a queue.

use std::cell::RefCell;

use tresse_fabric::{AllowedPairs, Capacity, Topology, capacity_between};

/// The capacities that have been found.
#[derive(Debug, Default)]
pub(crate) struct Capacities(RefCell<Vec<(Question, Option<Capacity>)>>);

/// All that a capacity depends on.
#[derive(Debug, PartialEq)]
struct Question {
    /// By port: where it leads from and to, its rate, bit/s, and its layer.
    ports: Vec<([u32; 2], u64, u8)>,
    racks: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
    inter_rack: bool,
}

impl Capacities {
    /// [`capacity_between`].
    pub fn between(&self, topology: &Topology, allowed: &AllowedPairs<'_>) -> Option<Capacity> {
        let ends = topology.network.ends.iter().zip(&topology.configs).zip(&topology.layers);
        let question = Question {
            ports: ends.map(|((&ends, config), &layer)| (ends, config.rate, layer)).collect(),
            racks: topology.racks.clone(),
            from: allowed.from.to_vec(),
            to: allowed.to.to_vec(),
            inter_rack: allowed.inter_rack,
        };
        let known = self.0.borrow().iter().find(|(own, _)| *own == question).map(|(_, capacity)| *capacity);
        known.unwrap_or_else(|| {
            let capacity = capacity_between(topology, allowed);
            self.0.borrow_mut().push((question, capacity));
            capacity
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Profile, find, load, resolve};

    /// Whatever changes the answer is asked anew.
    #[test]
    fn it_answers_as_if_nothing_were_known() {
        let capacities = Capacities::default();
        let hosts: Vec<u32> = (0..8).collect();
        for settings in [&[][..], &["fabric.k=4"], &["fabric.rate=10Gbps"], &[]] {
            let settings: Vec<String> = settings.iter().map(|&own| own.to_owned()).collect();
            let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &settings);
            let plan = resolve(&loaded.expect("it loads"), &[]).expect("it has cases");
            for (from, inter_rack) in [(&hosts[..], false), (&hosts[..4], false), (&hosts[..4], true)] {
                let allowed = AllowedPairs { from, to: &hosts, inter_rack };
                let fabric = plan.fabric();
                assert_eq!(capacities.between(fabric, &allowed), capacity_between(fabric, &allowed));
            }
        }
        assert_eq!(capacities.0.borrow().len(), 9, "the last network is the first");
    }
}
