//! Incasts and jobs that arrive at their own times, whether or not earlier ones have ended.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_units::{Duration, NEVER, SECOND};
use tresse_workload::{ArrivalConfig, Gaps, Limit};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::schema::bounds::LONGEST;

/// How they arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Arrivals {
    /// At random times.
    Poisson,
    /// At equal distances.
    Periodic,
}

/// The keys of arrivals, and what they are counted in.
pub(crate) struct ArrivalKeys<'a> {
    /// The mean time from one to the next.
    pub every: Option<Duration>,
    /// Instead, the share of the links that their payload takes.
    pub load: Option<f64>,
    pub arrivals: Option<Arrivals>,
    /// How many there are, and the key that says so.
    pub count: (&'a str, Option<u64>),
    /// The payload of one, bits, and the links that `load` is a share of: bit/s, and whose they are.
    pub bits: f64,
    pub links: f64,
    pub whose: &'a str,
}

impl ArrivalKeys<'_> {
    /// When they arrive, and how many there are in all.
    ///
    /// # Errors
    /// If a value is out of its range, or both `every` and `load` are set.
    pub fn resolve(&self, at: &WorkloadContext) -> Result<(ArrivalConfig, f64), Diagnostic> {
        let interval = self.interval(at)?;
        let (key, count) = self.count;
        let (limit, all) = match (count, at.duration) {
            (Some(0), _) => return Err(at.wrong(key, "0: at least 1")),
            (Some(count), _) => (Limit::Flows(count), count as f64),
            (None, Some(until)) => (Limit::Until(until), until as f64 / interval + 1.0),
            (None, None) => (Limit::Until(NEVER), 1.0),
        };
        let gaps = match self.arrivals {
            Some(Arrivals::Periodic) => Gaps::Periodic,
            Some(Arrivals::Poisson) | None => Gaps::Poisson,
        };
        Ok((ArrivalConfig { interval, gaps, limit }, all))
    }

    /// The mean time from one to the next, ps.
    fn interval(&self, at: &WorkloadContext) -> Result<f64, Diagnostic> {
        match (self.every, self.load) {
            (Some(_), Some(_)) => Err(at.wrong("load", "`every` sets it too: leave out one of them")),
            (Some(every), None) if !(1..=LONGEST).contains(&every.0) => {
                Err(at.wrong("every", "more than 0s and at most 1000s"))
            }
            (Some(every), None) => Ok(every.0 as f64),
            (None, load) => {
                let load = load.unwrap_or_default();
                if !(load > 0.0 && load <= 1.0) {
                    let message = format!("{load}: above 0 and at most 1, the share of {} links", self.whose);
                    return Err(at.wrong("load", &message));
                }
                Ok(self.bits * SECOND as f64 / (load * self.links))
            }
        }
    }
}
