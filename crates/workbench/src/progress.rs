//! How the progress of a run is shown: by whoever asks for the run.

use std::sync::Arc;

use tresse_lab::Watch;

/// Ends the display of a run.
pub type End = Box<dyn FnOnce() + Send>;

/// Shows the progress of runs: it is called at the beginning of a run, and what it returns at its end.
pub type Progress = Arc<dyn Fn(&Arc<Watch>) -> End + Send + Sync>;

/// Shows nothing.
pub fn none() -> Progress {
    Arc::new(|_| Box::new(|| ()))
}
