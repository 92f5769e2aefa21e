//! The pattern `goal`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_units::text_file;
use tresse_workload::Goal as Trace;

use crate::diagnostic::Diagnostic;
use crate::plan::flow_sizes::{beside, quoted};
use crate::plan::patterns::Pattern;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::read::files::unreadable;

/// A trace of messages that wait for each other (GOAL).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Goal {
    /// The trace's file, text or binary; the path is relative to the experiment's folder.
    file: Option<String>,
}

impl Keys for Goal {
    const NAME: &'static str = "goal";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let file = at.needed("file", self.file, "file = \"trace.goal\"")?;
        let path = beside(&at.loaded.source, &file);
        let bytes =
            at.loaded.files.read_bytes(&path).map_err(|e| at.wrong("file", &unreadable(&path, &e)))?;
        let Trace { ranks, tasks, empty, other_nics } = if Trace::is_binary(&bytes) {
            let wrong = |e| at.wrong("file", &format!("{}: {e}", path.display()));
            Trace::read_binary(&bytes, at.most()).map_err(wrong)?
        } else {
            let text = text_file::text(bytes).map_err(|e| {
                let message = "is neither text nor a GOAL trace in the binary form, which begins with 4223";
                at.wrong("file", &format!("{} {message} ({e})", path.display()))
            })?;
            Trace::read(&text, at.most()).map_err(|e| {
                let line = text.lines().nth(e.line - 1).unwrap_or("");
                at.wrong("file", &quoted(&path, (e.line, e.column), &e.message, line))
            })?
        };
        at.has_ranks("file", &path, ranks)?;
        let (file, mut notes) = (path.display(), Vec::new());
        if empty > 0 {
            notes.push(format!("{file}: {empty} messages of 0 bytes are sent with 1 byte each"));
        }
        if other_nics > 0 {
            let what =
                "operations name a `nic` other than 0, which is left out: a host sends over all its links";
            notes.push(format!("{file}: {other_nics} {what}"));
        }
        Ok(Pattern { arrivals: true, notes, ..Pattern::of_tasks(tasks) })
    }
}
