//! Who sends how much to whom, and when.
//!
//! Patterns are pure: a pattern and a seed give the same transfers on every machine. Each draws from random
//! streams named by their purpose ([`Stream`](tresse_units::Stream)), so adding one does not shift the
//! others. Sources that run in parallel under one seed draw the same numbers for the same purpose: give each
//! its own seed.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arrivals;
pub mod chakra;
mod collective;
mod distribution;
pub mod distributions;
mod goal;
mod host_split;
mod incast;
mod jobs;
mod on_off;
mod open_incast;
mod open_jobs;
mod pairs;
mod pattern;
mod poisson;
mod random_pattern;
mod rounds;
mod rows;
mod size;
mod source;
mod span;
mod spread;
mod strata;
mod tasks;
mod trace;

pub use arrivals::{ArrivalConfig, Gaps};
pub use collective::{Collective, CollectiveError, CollectiveSource, Operation, shuffled, strided};
pub use distribution::{BadDistribution, CLASSES, Distribution, ReadDistribution};
pub use goal::{BinaryGoalError, Goal, GoalError};
pub use host_split::host_split;
pub use incast::{Incast, IncastConfig};
pub use jobs::{Jobs, JobsConfig};
pub use on_off::{OnOff, OnOffConfig};
pub use open_incast::{OpenIncast, OpenIncastConfig};
pub use open_jobs::{OpenJobs, OpenJobsConfig};
pub use pairs::Pairs;
pub use pattern::{Permutation, RackToRack, Transfer};
pub use poisson::{Limit, Poisson, PoissonConfig};
pub use random_pattern::{RandomConfig, RandomPattern};
pub use rounds::{Pairing, Rounds, RoundsConfig};
pub use size::{Beyond, Size, too_large};
pub use source::{Action, Job, Source, Start};
pub use span::Span;
pub use spread::{Spread, SpreadConfig};
pub use strata::{BLOCK, Strata};
pub use tasks::{Graph, GraphError, MOST_FLOWS, Task, Tasks, Work};
