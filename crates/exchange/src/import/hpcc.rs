//! The HPCC simulator's `topology.txt` and `flow.txt` (alibaba-edu/High-Precision-Congestion-Control, `third.cc`).

mod flows;
mod topology;

use tresse_experiment::diagnostic::Diagnostic;

use super::draft::{Draft, Traffic};
use super::words::Input;

/// The experiment on this network, with these flows.
pub(crate) fn draft(topology: &Input, flows: Option<&Input>) -> Result<Draft, Diagnostic> {
    let mut notes = Vec::new();
    let network = topology::read(topology, &mut notes)?;
    let hosts = network.numbers.len();
    let traffic = match flows {
        Some(input) => Traffic::Flows(flows::read(input, &network, &mut notes)?, None),
        None => Traffic::Permutation,
    };
    let about = "Queues, ECN thresholds and transport are in the simulator's configuration; here they are ours. \
                 Its priority flow control is left out: full queues drop.";
    Ok(Draft {
        title: match &traffic {
            Traffic::Flows(flows, _) => {
                format!("{} flows among {hosts} hosts from the HPCC simulator", flows.len())
            }
            _ => format!("A network of {hosts} hosts from the HPCC simulator"),
        },
        about: vec![about.to_owned()],
        fabric: Vec::new(),
        queue: None,
        graph: network.graph,
        failed: Vec::new(),
        packets: flows::PACKETS,
        traffic,
        notes,
    })
}
