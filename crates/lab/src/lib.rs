//! Experiments: from a TOML file to runs, from runs to Parquet, and beside the published numbers.

pub mod balancers;
pub mod bench;
pub mod catalogue;
mod changes;
pub mod declared;
pub mod distributions;
mod error;
pub mod experiment;
mod load;
pub mod manager_keys;
pub mod managers;
pub mod metrics;
mod network;
mod optimum;
pub mod pairs;
pub mod papers;
pub mod parts;
mod patience;
pub mod port_options;
mod ports;
pub mod presets;
mod resolve;
mod round;
mod routing_keys;
mod run;
mod sample;
pub mod scheme;
mod scheme_transport;
mod shapes;
mod sharing;
mod single_links;
mod summary;
mod tables;
mod topologies;
pub mod transport;
mod unit;
pub mod units;
pub mod virtual_hosts;
mod weight;

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
pub use unit::Progress;
