//! An optimum that is being computed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use tresse_workbench::json;
use tresse_workbench::optimum::{Request, Step, optimum};
use tresse_workbench::own_code::OwnCode;

use crate::errors::error;
use crate::requests::{self, Cases};
use crate::told::Told;

/// How many cases are done, and how many there are; 0 until that is known.
#[derive(Default)]
struct Count {
    done: AtomicUsize,
    of: AtomicUsize,
}

/// An optimum, computed on threads of its own.
#[pyclass(frozen)]
pub struct Optimum {
    count: Arc<Count>,
    told: Told<String>,
}

#[pymethods]
impl Optimum {
    /// Starts to compute the optimum of these cases.
    #[new]
    fn new(py: Python<'_>, cases: Cases, seed: &str) -> PyResult<Self> {
        let wrong = |own| error(py, own);
        let (cases, seed) = (cases.cases().map_err(wrong)?, requests::seed(seed).map_err(wrong)?);
        let request = Request { cases, own: OwnCode::default(), seed };
        let count = Arc::new(Count::default());
        let own = Arc::clone(&count);
        let told = Told::start("the optimum", move || {
            let step = |step: Step| match step {
                Step::Begins(of) => own.of.store(of, Ordering::Relaxed),
                Step::Case => drop(own.done.fetch_add(1, Ordering::Relaxed)),
            };
            optimum(&request, &mut |_| (), &step).map(|report| json::pretty(&report))
        });
        Ok(Self { count, told })
    }

    /// Waits this many seconds for the end. Returns the output of `tresse optimum --json`; `None` if it goes on.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<String>> {
        self.told.wait(py, seconds)
    }

    /// How many cases are done, and how many there are; 0 until that is known.
    fn standing(&self) -> (usize, usize) {
        (self.count.done.load(Ordering::Relaxed), self.count.of.load(Ordering::Relaxed))
    }
}
