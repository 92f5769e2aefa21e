//! Controllers for a script: traced, or driven ACK by ACK.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tresse_controllers::trace::{Hosts, Script, Step};
use tresse_controllers::{
    self as registry, CWND_LIMIT, ConfiguredController, INFINITE_SSTHRESH, MAX_SUBFLOWS,
};
use tresse_workbench::{Failure, controller};

use crate::errors::error;

/// The names of the built-in controllers.
#[pyfunction]
pub fn controllers() -> Vec<&'static str> {
    registry::built_in().iter().map(registry::Controller::name).collect()
}

/// A controller with values for its parameters.
#[pyclass(frozen)]
pub struct Controller(Arc<ConfiguredController>);

#[pymethods]
impl Controller {
    /// A built-in controller, or the one that a C file declares.
    #[new]
    fn new(py: Python<'_>, name: &str, parameters: BTreeMap<String, u64>) -> PyResult<Self> {
        let configured = py.detach(|| {
            let settings = parameters.iter().map(|(name, &value)| (&**name, value));
            ConfiguredController::new(controller::find(name)?, settings)
                .map_err(|own| Failure::Input(own.to_string()))
        });
        Ok(Self(Arc::new(configured.map_err(|own| error(py, own))?)))
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.0.controller().name()
    }

    #[getter]
    fn title(&self) -> &'static str {
        self.0.controller().title()
    }

    #[getter]
    fn source(&self) -> &'static str {
        self.0.controller().source()
    }

    #[getter]
    fn coupled(&self) -> bool {
        self.0.controller().coupled()
    }

    /// The data of `tresse list controllers --json` about each parameter, and its value here.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let declared = self.0.controller().parameters();
        let rows = declared.iter().zip(self.0.values()).map(|(declared, value)| {
            let row = PyDict::new(py);
            row.set_item("name", declared.name)?;
            row.set_item("value", value)?;
            row.set_item("default", declared.range.default)?;
            row.set_item("min", declared.range.min)?;
            row.set_item("max", declared.range.max)?;
            row.set_item("unit", declared.unit)?;
            row.set_item("meaning", declared.meaning)?;
            Ok(row)
        });
        rows.collect()
    }

    /// Plays a script, as `tresse controller trace` does.
    fn trace<'py>(
        &self,
        py: Python<'py>,
        script: &str,
        initial_window: u32,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        check_window(py, initial_window)?;
        let steps = py.detach(|| {
            let script = parse(script, 0)?;
            controller::play(Arc::clone(&self.0), &script, initial_window)
        });
        steps.map_err(|own| error(py, own))?.iter().map(|step| row(py, step)).collect()
    }
}

/// The controllers of one connection, with the small host of `tresse controller trace`.
#[pyclass(frozen)]
pub struct Group(Mutex<Connection>);

struct Connection {
    group: registry::Group,
    hosts: Hosts,
}

impl Group {
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Group {
    /// `subflows` subflows of one connection, each with `initial_window` packets.
    #[new]
    fn new(py: Python<'_>, controller: &Controller, subflows: usize, initial_window: u32) -> PyResult<Self> {
        check_window(py, initial_window)?;
        if !(1..=MAX_SUBFLOWS).contains(&subflows) {
            let message = format!("a connection has 1 to {MAX_SUBFLOWS} subflows, not {subflows}");
            return Err(error(py, Failure::Input(message)));
        }
        let group = registry::Group::new(Arc::clone(&controller.0), subflows, initial_window);
        Ok(Self(Mutex::new(Connection { group, hosts: Hosts::new(subflows, initial_window) })))
    }

    /// The number of its subflows.
    #[getter]
    fn subflows(&self) -> usize {
        self.lock().group.len()
    }

    /// Plays the events of a script. Returns the state of the subflow after each.
    fn play<'py>(&self, py: Python<'py>, script: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut own = self.lock();
        let Connection { group, hosts } = &mut *own;
        let own_lines = format!("subflows {}\n{script}", group.len());
        let script = parse(&own_lines, 1).map_err(|own| error(py, own))?;
        script.events.iter().map(|&event| row(py, &hosts.play(group, event))).collect()
    }

    /// Subflow `place` as its controller sees it: windows in packets, times in 1/8 us (0: unknown).
    fn subflow<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyDict>> {
        let connection = self.lock();
        let Some(own) = connection.group.subflows().get(place) else {
            let message =
                format!("there is no subflow {place}: the connection has {}", connection.group.len());
            return Err(error(py, Failure::Input(message)));
        };
        let row = PyDict::new(py);
        row.set_item("cwnd", own.cwnd)?;
        row.set_item("ssthresh", threshold(own.ssthresh))?;
        row.set_item("srtt", own.srtt)?;
        row.set_item("min_rtt", own.min_rtt)?;
        row.set_item("word", own.word)?;
        row.set_item("state", own.state.name())?;
        Ok(row)
    }
}

fn check_window(py: Python<'_>, initial_window: u32) -> PyResult<()> {
    if (1..CWND_LIMIT).contains(&initial_window) {
        return Ok(());
    }
    let message = format!("initial_window must be 1 to {} packets, not {initial_window}", CWND_LIMIT - 1);
    Err(error(py, Failure::Input(message)))
}

/// The script in `text`; its first `before` lines are not the user's.
fn parse(text: &str, before: usize) -> Result<Script, Failure> {
    Script::parse(text).map_err(|own| {
        let line = own.line.saturating_sub(before);
        Failure::Input(format!("script:{line}: {}\n  |\n  | {}", own.message, own.text))
    })
}

fn threshold(ssthresh: u32) -> Option<u32> {
    (ssthresh != INFINITE_SSTHRESH).then_some(ssthresh)
}

fn row<'py>(py: Python<'py>, step: &Step) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("event", step.event)?;
    row.set_item("subflow", step.subflow)?;
    row.set_item("cwnd", step.cwnd)?;
    row.set_item("ssthresh", threshold(step.ssthresh))?;
    row.set_item("state", step.state.name())?;
    Ok(row)
}
