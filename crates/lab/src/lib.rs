//! Experiments: from a TOML file to runs, from runs to Parquet, and beside the published numbers.

pub mod applications;
pub mod balancers;
pub mod bench;
mod carriers;
pub mod catalogue;
mod changes;
pub mod convergence;
pub mod declared;
pub mod distributions;
mod engine;
mod error;
pub mod experiment;
mod fairness;
pub mod flow_file;
mod flow_sizes;
mod graph_file;
pub mod host_names;
mod hosts;
pub mod ideal;
pub mod import;
pub mod layers;
mod listed;
mod load;
mod looks;
pub mod manager_keys;
pub mod managers;
pub mod metrics;
mod network;
pub mod offered;
mod optimum;
pub mod pairs;
pub mod papers;
pub mod parts;
mod patience;
pub mod patterns;
mod place;
pub mod port_options;
mod ports;
pub mod presets;
mod resolve;
mod routing_keys;
mod run;
mod sample;
pub mod scheme;
mod scheme_transport;
mod shapes;
mod sharing;
mod single_links;
mod sizes;
mod summary;
mod tables;
mod topologies;
mod topology_report;
pub mod transport;
mod unit;
pub mod units;
pub mod virtual_hosts;
mod weight;
pub mod workload_keys;
pub mod workloads;

pub use carriers::Carrier;
pub use error::{LabError, did_you_mean};
pub use load::{Loaded, Profile, Source, find, load};
pub use metrics::Metric;
pub use network::Routing;
pub use optimum::{
    ClaimEntry, FluidEntry, LinkEntry, OptimumCase, OptimumEntry, OptimumReport, RatesEntry, optimum,
};
pub use resolve::{Case, Plan, resolve};
pub use run::{MODEL_VERSION, Options, Report, Status, Watch, default_out, run};
pub use summary::{CaseResult, ClaimResult};
pub use topology_report::{
    GraphFormat, LayerEntry, PathEntry, PathsEntry, RttEntry, TierEntry, TopologyReport, graph_text, topology,
};
pub use unit::{Begun, Flow, Progress};
