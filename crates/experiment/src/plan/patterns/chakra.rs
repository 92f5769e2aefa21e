//! The pattern `chakra`.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_units::Flops;
use tresse_workload::Operation;
use tresse_workload::chakra::Groups;

use crate::diagnostic::Diagnostic;
use crate::plan::flow_sizes::beside;
use crate::plan::patterns::Pattern;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::read::chakra::{self, Options, Times};
use crate::read::files::unreadable;

/// A trace of a training job, with its collectives (Chakra).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chakra {
    /// The part of its file names before the rank, such as `traces/llama` for traces/llama.0.et, or
    /// their folder; the path is relative to the experiment's folder.
    trace: Option<String>,
    /// The file of its process groups. Default: comm_group.json next to the trace, if it exists.
    groups: Option<String>,
    /// How an all-reduce is done. Default: around a ring.
    all_reduce: Option<AllReduce>,
    /// How fast a rank computes nodes that have a number of operations but no duration. Default: they take no time.
    flops: Option<Flops>,
}

/// How every rank gets the sum of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum AllReduce {
    /// Reduce-scatter and all-gather around a ring.
    Ring,
    /// Up a binary tree and down again.
    Tree,
}

impl Keys for Chakra {
    const NAME: &'static str = "chakra";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let trace = at.needed("trace", self.trace, "trace = \"traces/llama\"")?;
        let trace = beside(&at.loaded.source, &trace);
        if self.flops == Some(Flops(0)) {
            return Err(at.wrong("flops", "more than 0flops"));
        }
        let wrong = |e: String| at.wrong("trace", &e);
        let paths = chakra::files(&trace).map_err(wrong)?;
        at.has_ranks("trace", &trace, u32::try_from(paths.len()).unwrap_or(u32::MAX))?;
        let options = Options {
            groups: groups(at, self.groups.as_deref(), &paths[0])?,
            all_reduce: match self.all_reduce {
                Some(AllReduce::Tree) => Operation::TreeAllReduce,
                Some(AllReduce::Ring) | None => Operation::RingAllReduce,
            },
            flops: self.flops,
            most: at.most(),
        };
        let (tasks, times) = chakra::read(&paths, &at.loaded.files, options).map_err(wrong)?;
        Ok(Pattern { arrivals: true, notes: notes(&trace, times), ..Pattern::of_tasks(tasks) })
    }
}

/// The groups in the named file, or in the file next to the trace.
fn groups(at: &WorkloadContext, said: Option<&str>, first: &Path) -> Result<Groups, Diagnostic> {
    let (key, path) = match said {
        Some(said) => ("groups", beside(&at.loaded.source, said)),
        None => ("trace", first.with_file_name("comm_group.json")),
    };
    if said.is_none() && !path.exists() {
        return Ok(Groups::new());
    }
    let text = at.loaded.files.read(&path).map_err(|e| at.wrong(key, &unreadable(&path, &e)))?;
    chakra::groups(&text).map_err(|e| at.wrong(key, &format!("{}: {e}", path.display())))
}

/// How many attributes a note names.
const NAMED: usize = 8;

/// Notes about computations that take no time, calls on a CPU, and what is not read.
fn notes(trace: &Path, times: Times) -> Vec<String> {
    let Times { all, timeless, counted, calls, empty, ignored } = times;
    let trace = trace.display();
    let timeless = (timeless > 0).then(|| {
        format!(
            "{timeless} of the {all} computations and memory accesses of {trace} have no duration: they take no time"
        )
    });
    let counted = (counted > 0).then(|| {
        format!(
            "{counted} of the {all} computations and memory accesses of {trace} have a number of operations and no \
             duration: they take no time without `flops`, such as flops = \"312Tflops\""
        )
    });
    let calls = (calls > 0).then(|| {
        format!(
            "{calls} communications of {trace} are calls on a CPU (`is_cpu_op`): they take their durations, and send \
             nothing"
        )
    });
    let empty = (empty > 0)
        .then(|| format!("{empty} messages of {trace} have 0 bytes: they are sent with 1 byte each"));
    let ignored = (!ignored.is_empty()).then(|| {
        let named: Vec<String> = ignored.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
        let more = ignored.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("attributes of communications of {trace} that are not read: {}{more}", named.join(", "))
    });
    [timeless, counted, calls, empty, ignored].into_iter().flatten().collect()
}
