//! A case whose subflows are steered by agents: the basis of `tresse.env`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use tresse_lab::environment::{self, Action, Step};
use tresse_units::SECOND;
use tresse_workbench::Failure;
use tresse_workbench::run::Request;

use crate::errors::error;
use crate::requests::Cases;

/// Simulated time and the step's length in seconds, whether it is over, whether this is because of its
/// duration, and a row of numbers for each agent: see `_native.pyi`.
type Observation = (f64, f64, bool, bool, Vec<[f64; 11]>);

/// One case, episode after episode.
#[pyclass(frozen)]
pub struct Environment(Mutex<environment::Environment>);

impl Environment {
    fn lock(&self) -> MutexGuard<'_, environment::Environment> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, actions: &[(i64, u64)]) -> Result<(), Failure> {
        let action = |&(cwnd, word): &(i64, u64)| Action { cwnd: u32::try_from(cwnd).ok(), word };
        let sent = self.lock().send(actions.iter().map(action).collect());
        if sent { Ok(()) } else { Err(Failure::Input("no episode is in progress: call reset()".to_owned())) }
    }

    fn receive(&self) -> Result<Observation, Failure> {
        let step = self.lock().receive();
        let step = step.ok_or_else(|| Failure::Input("the episode panicked: see stderr".to_owned()))?;
        match step.stuck {
            Some(why) => Err(Failure::Input(why)),
            None => Ok(told(&step)),
        }
    }

    fn reset_by(&self, seed: u64) -> Result<(), Failure> {
        self.lock()
            .reset(seed)
            .map_err(|own| Failure::Machine(format!("cannot start a thread for the episode: {own}")))
    }
}

fn told(step: &Step) -> Observation {
    let seconds = |time: u64| time as f64 / SECOND as f64;
    let row = |own: &environment::Observation| {
        let [srtt, least] = own.rtts.map(seconds);
        let counts = [own.arrived, own.sent, own.marks, own.retransmissions, own.timeouts].map(|n| n as f64);
        let [arrived, sent, marks, again, timeouts] = counts;
        let (begun, ended) = (f64::from(own.begun), f64::from(own.ended));
        let (cwnd, in_flight) = (f64::from(own.cwnd), f64::from(own.in_flight));
        [begun, ended, arrived, sent, marks, again, timeouts, srtt, least, cwnd, in_flight]
    };
    (seconds(step.now), seconds(step.length), step.over, step.timed, step.seen.iter().map(row).collect())
}

#[pymethods]
impl Environment {
    /// The only one of these cases; agents steer flows of `scheme`. A
    /// step takes `interval` picoseconds, or a round.
    #[new]
    #[pyo3(signature = (cases, scheme, flows=None, interval=None))]
    fn new(
        py: Python<'_>,
        cases: Cases,
        scheme: &str,
        flows: Option<usize>,
        interval: Option<u64>,
    ) -> PyResult<Self> {
        let own = py.detach(|| {
            let mut cases = Request::of(cases.cases()?).prepare()?.plan.cases;
            if cases.len() > 1 {
                let first: Vec<String> = cases.iter().take(3).map(|case| case.label()).collect();
                let (n, first) = (cases.len(), first.join(", "));
                return Err(Failure::Input(format!(
                    "an environment is one case, but there are {n}: {first}…\n\nhint: choose one with `only`"
                )));
            }
            let case = cases.pop().expect("a plan has a case");
            environment::Environment::new(case, scheme, flows, interval)
                .map_err(|own| Failure::Input(own.to_string()))
        });
        Ok(Self(Mutex::new(own.map_err(|own| error(py, own))?)))
    }

    /// The number of steered flows, the number of subflows of each, and the payload of a full packet, bytes.
    #[getter]
    fn shape(&self) -> (usize, usize, u32) {
        let own = self.lock();
        let [flows, subflows] = own.agents();
        (flows, subflows, own.mss())
    }
}

/// Begins an episode of each environment under its seed. Returns the first observation of each.
#[pyfunction]
pub fn reset_all(
    py: Python<'_>,
    environments: Vec<Py<Environment>>,
    seeds: Vec<u64>,
) -> PyResult<Vec<Observation>> {
    let told: Result<Vec<Observation>, Failure> = py.detach(|| {
        environments.iter().zip(seeds).try_for_each(|(own, seed)| own.get().reset_by(seed))?;
        environments.iter().map(|own| own.get().receive()).collect()
    });
    told.map_err(|own| error(py, own))
}

/// Steps all environments at the same time; an action is a window in packets (-1: unchanged) and the growth
/// per round, 1/256 packet, plus 2^32 if marks and losses should halve the window.
#[pyfunction]
pub fn step_all(
    py: Python<'_>,
    environments: Vec<Py<Environment>>,
    actions: Vec<Vec<(i64, u64)>>,
) -> PyResult<Vec<Observation>> {
    let told: Result<Vec<Observation>, Failure> = py.detach(|| {
        environments.iter().zip(&actions).try_for_each(|(own, actions)| own.get().send(actions))?;
        environments.iter().map(|own| own.get().receive()).collect()
    });
    told.map_err(|own| error(py, own))
}
