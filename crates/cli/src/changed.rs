//! The line at the top of results if `--set` has changed the published experiment.

use tresse_experiment::keys::Experiment;
use tresse_experiment::read::changes::Change;
use tresse_reproduction::pages::{NOT_JUDGED, changed_line};

/// `changed: fabric.k = 4`, and whether the run is judged; none if nothing was changed.
pub fn line(changes: &[Change], judged: bool, experiment: &Experiment) -> Option<String> {
    let line = changed_line(changes)?;
    Some(match judged {
        _ if !is_published(experiment) => line,
        true => format!("{line}; judged anyway"),
        false => format!("{line}: {NOT_JUDGED}"),
    })
}

/// Whether there is anything that a run could be judged by.
pub fn is_published(experiment: &Experiment) -> bool {
    !experiment.published.values.is_empty() || !experiment.claims.is_empty()
}
