//! The rates that an experiment's flows could reach, without a simulation.

use tresse_lab::OptimumReport;

use crate::cases::Cases;
use crate::failure::Failure;
use crate::own_code::OwnCode;

/// The flows whose optimum is wanted.
#[derive(Debug, Clone)]
pub struct Request {
    pub cases: Cases,
    /// The user's own code that is loaded first.
    pub own: OwnCode,
    /// The seed of the flows and their paths.
    pub seed: u64,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It begins, with this many cases.
    Begins(usize),
    /// A case is done.
    Case,
}

/// Computes the optimum of every case on all cores; `tell` gets the messages about the experiment.
///
/// # Errors
/// An error in the experiment or the user's code.
pub fn optimum(
    request: &Request,
    tell: &mut dyn FnMut(String),
    progress: &(dyn Fn(Step) + Sync),
) -> Result<OptimumReport, Failure> {
    request.own.load(tell)?;
    let (loaded, plan) = request.cases.load(tell)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    progress(Step::Begins(plan.cases.len()));
    let profile = request.cases.experiment.profile;
    let case = || progress(Step::Case);
    Ok(tresse_lab::optimum(&loaded, &plan, profile, request.seed, cores, &case))
}
