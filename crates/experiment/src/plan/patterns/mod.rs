//! The patterns of workloads, which start flows. Each is one file, with its own keys and its builder.

mod arrivals;
pub mod chakra;
pub mod collective;
pub mod flows;
pub mod goal;
pub mod incast;
pub mod jobs;
pub mod kind;
pub mod on_off;
pub mod permutation;
pub mod poisson;
pub mod rack_to_rack;
pub mod random;
pub mod rounds;
pub mod spread;
pub mod workload_context;

use std::fmt;
use std::sync::Arc;

use tresse_fabric::Capacity;
use tresse_units::Time;
use tresse_workload::{Source, Tasks};

use crate::plan::patterns::flows::Flow;
use crate::plan::patterns::kind::Kind;

/// Every pattern, in the order of messages.
pub static ALL: [Kind; 12] = [
    Kind::of::<permutation::Permutation>(),
    Kind::of::<rack_to_rack::RackToRack>(),
    Kind::of::<random::Random>(),
    Kind::of::<jobs::Jobs>(),
    Kind::of::<incast::Incast>(),
    Kind::of::<poisson::Poisson>(),
    Kind::of::<spread::Spread>(),
    Kind::of::<on_off::OnOff>(),
    Kind::of::<flows::Flows>(),
    Kind::of::<collective::Collective>(),
    Kind::of::<goal::Goal>(),
    Kind::of::<chakra::Chakra>(),
];

/// What starts the flows of a part.
#[derive(Clone)]
pub struct Pattern {
    make: Arc<dyn Fn(u64) -> Box<dyn Source> + Send + Sync>,
    endless: bool,
    has_jobs: bool,
    /// Whether its flows have sizes and come one by one, so that how long each takes is what counts.
    pub(crate) arrivals: bool,
    /// The load that its flows offer, and what the network carries of such flows, bit/s; for arrivals at a load.
    pub offered: Option<Offered>,
    /// Instead of connections: the payload of datagrams, bit/s.
    pub(crate) datagrams: Option<u64>,
    /// How many flows it has.
    pub flow_counts: FlowCounts,
    /// The mean size of its messages, bytes; `None` if they have no end, or if that is not known.
    pub mean_bytes: Option<f64>,
    /// When the last of its flows is stopped at the latest, ps; `None` if some are not.
    pub(crate) stops_by: Option<Time>,
    /// How many connections carry each of its transfers.
    pub(crate) connections: u32,
    /// Its flows, if each may have individual properties.
    pub(crate) flows: Vec<Flow>,
    /// Notes to print before it runs.
    pub notes: Vec<String>,
}

/// How many flows there are, for estimates of memory and time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// At a time. For arrivals at random times, one flow for each host, as if the network keeps up.
    pub at_once: u64,
    /// Connections at the end of a case if each stays for further messages (`persistent`).
    pub staying: u64,
    /// From the start to the end of a case; if flows continue as long as something else does, the number at a time.
    pub in_all: u64,
}

impl FlowCounts {
    /// Where no connection stays.
    pub(crate) fn new(at_once: u64, in_all: u64) -> Self {
        Self { at_once, staying: at_once, in_all }
    }

    /// Those of a graph of tasks.
    pub(crate) fn of_tasks(tasks: &Tasks) -> Self {
        Self { at_once: tasks.first_messages(), staying: tasks.pairs(), in_all: tasks.messages() }
    }
}

/// An offered load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offered {
    /// Payload of all flows, bit/s.
    pub rate: f64,
    /// The capacity that it is a share of.
    pub capacity: Capacity,
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern").finish_non_exhaustive()
    }
}

impl Pattern {
    /// For connections whose flows `make` creates under a seed, which end and do not form jobs.
    pub(crate) fn new<S: Source + 'static>(make: impl Fn(u64) -> S + Send + Sync + 'static) -> Self {
        Self {
            make: Arc::new(move |seed| Box::new(make(seed))),
            endless: false,
            has_jobs: false,
            arrivals: false,
            offered: None,
            datagrams: None,
            flow_counts: FlowCounts::default(),
            mean_bytes: None,
            stops_by: None,
            connections: 1,
            flows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether its flows come at their own times, whether or not earlier ones have finished.
    pub fn is_of_arrivals(&self) -> bool {
        self.arrivals
    }

    /// For a graph of tasks.
    pub(crate) fn of_tasks(tasks: Tasks) -> Self {
        let (endless, has_jobs) = (tasks.is_endless(), tasks.has_jobs());
        let (flow_counts, mean_bytes) = (FlowCounts::of_tasks(&tasks), tasks.mean_bytes());
        Self { endless, has_jobs, flow_counts, mean_bytes, ..Self::new(move |_| tasks.clone()) }
    }

    /// The flows under `seed`.
    pub(crate) fn source(&self, seed: u64) -> Box<dyn Source> {
        (self.make)(seed)
    }

    /// Whether its flows make up jobs.
    pub(crate) fn has_jobs(&self) -> bool {
        self.has_jobs
    }

    /// Whether it continues as long as something else lasts.
    pub(crate) fn is_endless(&self) -> bool {
        self.endless
    }
}
