//! The line at the top of results if `--set` has changed the published experiment.

use tresse_experiment::read::changes::Change;
use tresse_reproduction::Publication;
use tresse_reproduction::pages::{NOT_JUDGED, changed_line};

/// `changed: fabric.k = 4`, and whether the run is judged; none if nothing was changed.
pub fn line(changes: &[Change], judged: bool, publication: &Publication) -> Option<String> {
    let line = changed_line(changes)?;
    Some(match judged {
        _ if publication.is_empty() => line,
        true => format!("{line}; judged anyway"),
        false => format!("{line}: {NOT_JUDGED}"),
    })
}
