//! The error messages of the command, as exceptions.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tresse_experiment::Diagnostic;
use tresse_workbench::Failure;

/// The exception `tresse.TresseError` for this failure.
pub fn error(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Interrupted => PyKeyboardInterrupt::new_err("interrupted"),
        failure => build(py, &failure).unwrap_or_else(|error| error),
    }
}

/// The same, for an error in an experiment or a file.
pub fn wrong(py: Python<'_>, diagnostic: Diagnostic) -> PyErr {
    error(py, Failure::from(diagnostic))
}

fn build(py: Python<'_>, failure: &Failure) -> PyResult<PyErr> {
    let text = failure.to_string();
    let own = PyDict::new(py);
    own.set_item("code", failure.code())?;
    match failure {
        Failure::Wrong(diagnostic) => {
            own.set_item("message", &diagnostic.message)?;
            own.set_item("file", &diagnostic.source_name)?;
            own.set_item("line", diagnostic.place.as_ref().map(|place| place.line))?;
            own.set_item("column", diagnostic.place.as_ref().map(|place| place.column))?;
            own.set_item("hint", &diagnostic.hint)?;
        }
        _ => {
            let (message, hint) = text.split_once("\n\nhint: ").map_or((&*text, None), |(m, h)| (m, Some(h)));
            own.set_item("message", message)?;
            own.set_item("hint", hint)?;
        }
    }
    let class = py.import("tresse.errors")?.getattr("TresseError")?;
    Ok(PyErr::from_value(class.call((text,), Some(&own))?))
}
