//! An experiment as a paper's pages and comparisons tell of it.

use serde::Deserialize;
use tresse_experiment::diagnostic::Wrong;
use tresse_experiment::schema::Experiment;

use crate::schema::Publication;

/// What an experiment says about itself and about the paper's results, and not what is run.
#[derive(Debug, Clone)]
pub struct PaperExperiment {
    /// What it shows, in one line.
    pub title: String,
    /// Where it comes from: the paper, and the place in it.
    pub source: String,
    /// The tables and figures of the paper that it reproduces, if the file lists them.
    pub rows: Option<Vec<String>>,
    /// What was published.
    pub publication: Publication,
    /// The figures of its page.
    pub(crate) figures: Vec<Figure>,
}

/// A figure, as far as the paper's page names it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Figure {
    pub id: String,
    pub title: String,
    pub caption: Option<String>,
}

impl PaperExperiment {
    /// Of an experiment.
    ///
    /// # Errors
    /// If it was read without checks, the first key or value of it that is wrong.
    pub fn of(experiment: &Experiment) -> Result<Self, Wrong> {
        let figures =
            experiment.owned.get("figures").cloned().map(|figures| figures.try_into::<Vec<Figure>>());
        Ok(Self {
            title: experiment.title.clone(),
            source: experiment.source.clone(),
            rows: experiment.rows.clone(),
            publication: Publication::of(experiment)?,
            figures: figures.transpose()?.unwrap_or_default(),
        })
    }
}
