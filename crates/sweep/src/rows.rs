//! The measurements of a sweep: a row for each case of each point, in the order of the settings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use tresse_experiment::Diagnostic;
use tresse_results::Metrics;

use crate::designs::Setting;
use crate::journal::{Journal, Kept};
use crate::order;
use crate::record::CaseRecord;
use crate::store::counted;

/// A case of a point, or a point that could not be run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What the sweep has set.
    pub setting: Setting,
    /// The axes of the case; empty for a point that could not be run.
    pub case: IndexMap<String, Value>,
    /// Why it failed; then there are no metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many seeds the means are over.
    pub seeds: u32,
    /// What was measured.
    pub metrics: Metrics,
    /// Half the width of the 95 % confidence intervals.
    pub ci95: IndexMap<String, f64>,
}

/// The rows of the sweep in `folder`, as far as it has got.
///
/// # Errors
/// If there is none, or its journal cannot be read.
pub fn rows(folder: &Path) -> Result<Vec<Row>, Diagnostic> {
    let (_, kept) = Journal::read(folder)?;
    let kept = counted(folder, kept.iter());
    Ok(cases(&sorted(&kept)).map(|(kept, case)| Row::of(kept, case)).collect())
}

impl Row {
    fn of(kept: &Kept, case: Option<&CaseRecord>) -> Self {
        let own = case.cloned();
        Self {
            setting: kept.point.clone(),
            error: error(kept, case).cloned(),
            seeds: own.as_ref().map_or(0, |case| case.seeds),
            case: own.as_ref().map(|case| case.case.clone()).unwrap_or_default(),
            metrics: own.as_ref().map(|case| case.metrics.clone()).unwrap_or_default(),
            ci95: own.map(|case| case.ci95).unwrap_or_default(),
        }
    }
}

/// Every key that a point sets, sorted.
pub(crate) fn keys(kept: &[&Kept]) -> Vec<String> {
    let keys: BTreeSet<&String> = kept.iter().flat_map(|kept| kept.point.keys()).collect();
    keys.into_iter().cloned().collect()
}

/// The points in the order of their settings.
pub(crate) fn sorted<'a>(kept: &[&'a Kept]) -> Vec<&'a Kept> {
    let keys = keys(kept);
    let mut sorted = kept.to_vec();
    // The address, for settings that are written differently may be of one value.
    sorted.sort_by(|one, other| {
        let own = order::settings(&keys, &one.point, &other.point);
        own.then_with(|| one.record.address.cmp(&other.record.address))
    });
    sorted
}

/// Each point with each of its cases, or without a case if it could not be run.
pub(crate) fn cases<'a>(
    kept: &[&'a Kept],
) -> impl Iterator<Item = (&'a Kept, Option<&'a CaseRecord>)> + use<'a> {
    let all = kept.iter().flat_map(|&kept| {
        let cases = kept.record.cases.iter().map(move |case| (kept, Some(case)));
        let none = kept.record.cases.is_empty().then_some((kept, None));
        cases.chain(none)
    });
    all.collect::<Vec<_>>().into_iter()
}

/// Why a row has no results.
pub(crate) fn error<'a>(kept: &'a Kept, case: Option<&'a CaseRecord>) -> Option<&'a String> {
    case.map_or(kept.record.error.as_ref(), |case| case.error.as_ref())
}

/// Why points failed, and how many for each reason.
pub(crate) fn reasons<'a>(kept: impl Iterator<Item = &'a Kept>) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for error in kept.filter_map(|kept| kept.record.error.as_ref()) {
        *reasons.entry(error.clone()).or_default() += 1;
    }
    reasons
}
