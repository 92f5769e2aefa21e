//! The pattern `collective`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_units::{Bytes, Duration};
use tresse_workload::{self as workload, CollectiveError, GraphError, MOST_FLOWS, too_large};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{FlowCounts, Pattern};
use crate::schema::bounds::LONGEST;
use crate::schema::workload::{FlowSize, HostSet};

/// A collective operation of parallel programs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Collective {
    /// Which one.
    collective: Option<Operation>,
    /// The size of the data that a rank holds.
    #[schemars(with = "Option<Bytes>")]
    size: Option<FlowSize>,
    /// The hosts that are the ranks, in this order. Default: all.
    ranks: Option<HostSet>,
    /// Ranks in steps of this many hosts, such as 0, 4, 8, … then 1, 5, … Default: 1.
    stride: Option<u32>,
    /// Whether the ranks are in a random order, by the seed. Default: false.
    shuffle: Option<bool>,
    /// The number of chunks in which the data is pipelined. Default: 1.
    chunks: Option<u32>,
    /// How many times the operation runs. Default: 1.
    iterations: Option<u32>,
    /// The time between two iterations. Default: 0s.
    compute: Option<Duration>,
    /// How many messages a rank sends at a time in `all-to-all`. Default: all at once.
    parallel: Option<u32>,
}

/// What the ranks do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Operation {
    /// Reduce-scatter and all-gather around a ring.
    RingAllReduce,
    /// Up a binary tree and down again.
    TreeAllReduce,
    /// Every rank's part goes to all ranks, around a ring.
    AllGather,
    /// The sum of every part goes to one rank, around a ring.
    ReduceScatter,
    /// Every rank sends each other rank a different part.
    AllToAll,
    /// One rank's data goes to all ranks, down a binary tree.
    Broadcast,
}

impl Operation {
    fn workload(self) -> workload::Operation {
        match self {
            Self::RingAllReduce => workload::Operation::RingAllReduce,
            Self::TreeAllReduce => workload::Operation::TreeAllReduce,
            Self::AllGather => workload::Operation::AllGather,
            Self::ReduceScatter => workload::Operation::ReduceScatter,
            Self::AllToAll => workload::Operation::AllToAll,
            Self::Broadcast => workload::Operation::Broadcast,
        }
    }
}

impl Keys for Collective {
    const NAME: &'static str = "collective";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let operation =
            at.needed("collective", self.collective, "collective = \"ring-all-reduce\"")?.workload();
        let FlowSize::Fixed(Bytes(bytes)) = at.needed("size", self.size, "size = \"100MB\"")? else {
            return Err(at.wrong("size", "what a rank holds: one size, such as \"100MB\""));
        };
        let mut ranks = at.hosts("ranks", self.ranks.as_ref())?;
        if let Some(stride) = self.stride {
            let stride = at.number("stride", Some(stride), 1, ranks.len() as u32)?;
            let places = workload::strided(ranks.len() as u32, stride);
            ranks = places.into_iter().map(|place| ranks[place as usize]).collect();
        }
        let collective = workload::Collective {
            operation,
            ranks,
            bytes,
            chunks: self.chunks.unwrap_or(1),
            parallel: self.parallel,
            iterations: self.iterations.unwrap_or(1),
            compute: self.compute.map_or(0, |t| t.0),
        };
        if collective.compute > LONGEST {
            return Err(at.wrong("compute", "at most 1000s"));
        }
        let messages = collective.messages().saturating_mul(collective.iterations.into());
        if messages > u128::from(MOST_FLOWS) {
            let message = format!("{messages} messages: at most {MOST_FLOWS}");
            return Err(at.wrong("collective", &message));
        }
        if collective.largest_message() > at.most() {
            let message = too_large(collective.largest_message(), at.most());
            return Err(at.wrong("size", &format!("a message of {message}")));
        }
        let source = collective.source().map_err(|e| at.wrong(key(&e), &e.to_string()))?;
        let flow_counts =
            FlowCounts { at_once: source.first_messages(), staying: source.pairs(), in_all: messages as u64 };
        let mean_bytes = Some(collective.largest_message() as f64);
        let pattern = if self.shuffle == Some(true) {
            Pattern::new(move |seed| {
                let ranks = workload::shuffled(collective.ranks.clone(), seed);
                let shuffled = workload::Collective { ranks, ..collective.clone() };
                shuffled.source().expect("another order is as good")
            })
        } else {
            Pattern::new(move |_| source.clone())
        };
        Ok(Pattern { has_jobs: true, flow_counts, mean_bytes, ..pattern })
    }
}

/// The key that is wrong.
fn key(error: &CollectiveError) -> &'static str {
    match error {
        CollectiveError::Alone | CollectiveError::Twice(_) => "ranks",
        CollectiveError::NoChunks | CollectiveError::Chunks => "chunks",
        CollectiveError::NoParallel | CollectiveError::Parallel(_) => "parallel",
        CollectiveError::TooSmall { .. } => "size",
        CollectiveError::Graph(GraphError::NoIterations) => "iterations",
        CollectiveError::Graph(_) => "collective",
    }
}
