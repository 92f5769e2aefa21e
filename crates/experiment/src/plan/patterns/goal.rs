//! The pattern `goal`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_workload::Goal as Trace;

use crate::diagnostic::Diagnostic;
use crate::plan::flow_sizes::{beside, quoted, unreadable};
use crate::plan::patterns::Pattern;
use crate::plan::patterns::at::At;
use crate::plan::patterns::kind::Keys;

/// A trace of messages that wait for each other (GOAL).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Goal {
    /// The trace's file; its path starts at the experiment's folder.
    file: Option<String>,
}

impl Keys for Goal {
    const NAME: &'static str = "goal";

    fn build(self, at: &At) -> Result<Pattern, Diagnostic> {
        let file = at.needed("file", self.file, "file = \"trace.goal\"")?;
        let path = beside(&at.loaded.source, &file);
        let text = at.loaded.files.read(&path).map_err(|e| at.wrong("file", &unreadable(&path, &e)))?;
        let goal = Trace::read(&text, at.most()).map_err(|e| {
            let line = text.lines().nth(e.line - 1).unwrap_or("");
            at.wrong("file", &quoted(&path, (e.line, e.column), &e.message, line))
        })?;
        let hosts = at.fabric.hosts();
        if goal.ranks > hosts {
            let message =
                format!("{} has {} ranks, and the fabric {hosts} hosts", path.display(), goal.ranks);
            return Err(at.wrong("file", &message));
        }
        Ok(Pattern { arrivals: true, ..Pattern::of_tasks(goal.tasks) })
    }
}
