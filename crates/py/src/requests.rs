//! Requests, from what the modules of the package pass.

use std::path::PathBuf;

use pyo3::prelude::*;
use tresse_experiment::Profile;
use tresse_experiment::schema::stopping_rule::Asked;
use tresse_workbench::cases::{self, Experiment};
use tresse_workbench::own_code::OwnCode;
use tresse_workbench::{Failure, run};

/// `tresse.experiments.Cases`: some cases of an experiment.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Cases {
    name: String,
    text: Option<String>,
    profile: String,
    only: Vec<String>,
    settings: Vec<String>,
}

/// `How` of `_native.pyi`: how to run them. Numbers are texts, as a user of Python may have given anything.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct How {
    controllers: Vec<PathBuf>,
    seed: String,
    replications: Option<String>,
    parallel: Option<String>,
    threads: Option<String>,
    out: Option<PathBuf>,
    judge: bool,
}

impl Cases {
    /// The cases.
    ///
    /// # Errors
    /// If there is no such profile.
    pub fn cases(self) -> Result<cases::Cases, Failure> {
        let Self { name, text, profile, only, settings: set } = self;
        let profile = [Profile::Quick, Profile::Full]
            .into_iter()
            .find(|own| own.name() == profile)
            .ok_or_else(|| Failure::Input(format!("profile: {profile} is neither quick nor full")))?;
        Ok(cases::Cases { experiment: Experiment { name, text, profile, set }, only })
    }
}

impl How {
    /// The request to run these cases.
    ///
    /// # Errors
    /// The first value that is wrong.
    pub fn request(self, cases: Cases) -> Result<run::Request, Failure> {
        let number = |option, text: &str, range| run::number(option, text, range);
        Ok(run::Request {
            cases: cases.cases()?,
            own: OwnCode { controllers: self.controllers, balancers: Vec::new() },
            seed: seed(&self.seed)?,
            replications: self.replications.as_deref().map(replications).transpose()?,
            parallel: self.parallel.map(|text| number("parallel", &text, run::PARALLEL)).transpose()?,
            threads: self.threads.map(|text| number("threads", &text, run::THREADS)).transpose()?,
            out: self.out,
            judge: self.judge,
        })
    }
}

/// A seed.
///
/// # Errors
/// If it is none.
pub fn seed(text: &str) -> Result<u64, Failure> {
    run::seed(text).map_err(|why| Failure::Input(format!("seed: {text} is not {why}")))
}

fn replications(text: &str) -> Result<Asked, Failure> {
    text.parse().map_err(|why| Failure::Input(format!("replications: {text} is not {why}")))
}
