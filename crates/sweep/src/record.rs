//! What is known about a point once it is computed.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tresse_results::{CaseResult, Metrics, Report};

/// How a point ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every flow of every case finished.
    Complete,
    /// It has no results, or some of its cases have none.
    Failed,
}

impl Status {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Failed => "failed",
        }
    }
}

/// What was measured at a point. It has no times and nothing about the machine: it is the same wherever it is
/// computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The point's content address.
    pub address: String,
    /// How it ended.
    pub status: Status,
    /// What went wrong.
    pub error: Option<String>,
    /// The fingerprint of its results, which equals that of a run with these settings.
    pub digest: String,
    /// Its cases; none if the experiment is invalid at these settings.
    pub cases: Vec<CaseRecord>,
}

/// What was measured in a case; [`CaseResult`] describes the fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseRecord {
    pub case: IndexMap<String, Value>,
    /// The fingerprint of its results.
    pub digest: String,
    /// Why it did not reach its end; then it has no metrics.
    pub error: Option<String>,
    /// How many seeds it ran under.
    pub seeds: u32,
    /// What was measured.
    pub metrics: Metrics,
    /// Half the width of the 95 % confidence interval.
    pub ci95: IndexMap<String, f64>,
    /// The comparison with the optimum.
    pub optimum: IndexMap<String, f64>,
}

/// The cost of computing a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Wall time in its worker.
    pub seconds: f64,
    /// Which worker.
    pub worker: String,
    /// How often it was started.
    pub attempts: u32,
}

impl Record {
    /// The record of a point that cannot be computed.
    pub(crate) fn failed(address: &str, error: String) -> Self {
        Self {
            address: address.to_owned(),
            status: Status::Failed,
            error: Some(error),
            digest: String::new(),
            cases: Vec::new(),
        }
    }

    /// The record of a run that has ended.
    pub(crate) fn of(address: &str, report: Report) -> Self {
        let cases: Vec<CaseRecord> =
            report.cases.into_iter().map(|case| CaseRecord::of(case, &report.errors)).collect();
        let failed = !report.errors.is_empty();
        Self {
            address: address.to_owned(),
            status: if failed { Status::Failed } else { Status::Complete },
            error: failed.then(|| report.errors.join("\n")),
            digest: report.digest,
            cases,
        }
    }
}

impl CaseRecord {
    fn of(own: CaseResult, errors: &[String]) -> Self {
        // What the runner says of a case begins with it, or ends so.
        let (begins, ends) = (format!("{} seed ", own.label()), format!("; {} seed ", own.label()));
        let of_it = |error: &&String| error.starts_with(&begins) || error.contains(&ends);
        let errors: Vec<&str> = errors.iter().filter(of_it).map(String::as_str).collect();
        let seeds = own.seeds.len().max(1) as u32;
        let mut record = Self {
            case: own.case,
            digest: own.digest,
            error: None,
            seeds,
            metrics: own.metrics,
            ci95: own.ci95,
            optimum: own.optimum,
        };
        // JSON has no other numbers, and a journal that cannot be read again is none.
        record.metrics.retain(|_, metric| metric.value().is_finite());
        record.ci95.retain(|_, width| width.is_finite());
        record.optimum.retain(|_, number| number.is_finite());
        if !errors.is_empty() {
            record.error = Some(errors.join("\n"));
            record.metrics.clear();
            record.ci95.clear();
            record.optimum.clear();
        }
        record
    }
}
