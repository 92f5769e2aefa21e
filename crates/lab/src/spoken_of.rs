//! What published numbers, claims and the table speak of: cases, parts of them, and metrics.

use indexmap::IndexSet;
use tresse_fabric::{Locality, Topology};

use crate::error::did_you_mean;
use crate::experiment::{Experiment, PublishedValue, Selector, Selectors};
use crate::layers;
use crate::metrics::{DISTANCES, METRICS, SIZES};
use crate::resolve::Case;

/// A part of a case: what divides it, and the part's name.
pub(crate) type Part<'a> = (&'static str, &'a str);

impl PublishedValue {
    /// The part that it speaks of, none if of the whole case; [`check`] refuses several.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        parts([&self.group, &self.distance, &self.size, &self.layer])
    }
}

impl Selector {
    /// The part that it speaks of, none if of the whole case; [`check`] refuses several.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        parts([&self.group, &self.distance, &self.size, &self.layer])
    }
}

fn parts(names: [&Option<String>; 4]) -> impl Iterator<Item = Part<'_>> {
    ["group", "distance", "size", "layer"]
        .into_iter()
        .zip(names)
        .filter_map(|(what, name)| Some((what, name.as_deref()?)))
}

/// Published numbers, claims and the table must speak of what there is.
///
/// # Errors
/// The first thing that there is not, with its place in the file.
pub(crate) fn check(
    experiment: &Experiment,
    cases: &[Case],
    fabric: &Topology,
) -> Result<(), (&'static [&'static str], String)> {
    let named = experiment.schemes.keys().map(String::as_str);
    let schemes: IndexSet<&str> = named.chain(cases.iter().map(|c| &*c.scheme)).collect();
    let schemes = schemes.into_iter().collect();
    let patterns = experiment.workloads.keys().map(String::as_str).collect();
    let names = Names { experiment, cases, fabric, schemes, patterns };
    for v in &experiment.published.values {
        let metrics = v.metrics.keys().map(String::as_str).chain(v.goodput_mean.map(|_| "goodput_mean_bps"));
        let side = Side { scheme: &v.scheme, subflows: v.subflows, pattern: Some(&v.pattern) };
        names.check(&side, v.parts().collect(), metrics.collect()).map_err(|e| (&["published"][..], e))?;
    }
    for metric in experiment.measure.table.iter().flatten() {
        known("metric", metric, METRICS).map_err(|e| (&["measure", "table"][..], e))?;
    }
    for claim in &experiment.claims {
        let others = claim.right.iter().chain(&claim.of).flat_map(Selectors::all);
        for s in claim.left.iter().chain(others) {
            let scheme = s.scheme.as_deref().unwrap_or(names.schemes[0]);
            let side = Side { scheme, subflows: s.subflows, pattern: s.pattern.as_deref() };
            let checked = names.check(&side, s.parts().collect(), vec![&claim.metric]);
            checked.map_err(|e| (&["claims"][..], format!("{}: {e}", claim.id)))?;
        }
    }
    Ok(())
}

/// The cases that something speaks of.
struct Side<'a> {
    scheme: &'a str,
    subflows: Option<u32>,
    pattern: Option<&'a str>,
}

struct Names<'a> {
    experiment: &'a Experiment,
    cases: &'a [Case],
    fabric: &'a Topology,
    /// Those of the experiment, and of cases that have several.
    schemes: Vec<&'a str>,
    patterns: Vec<&'a str>,
}

impl Names<'_> {
    fn check(&self, side: &Side, parts: Vec<Part>, metrics: Vec<&str>) -> Result<(), String> {
        known("scheme", side.scheme, &self.schemes)?;
        if let Some(pattern) = side.pattern {
            known("pattern", pattern, &self.patterns)?;
        }
        metrics.iter().try_for_each(|metric| known("metric", metric, METRICS))?;
        let (what, name) = match parts[..] {
            [] => return Ok(()),
            [part] => part,
            [(first, _), (second, _), ..] => {
                return Err(format!("either a `{first}` or a `{second}`: there are no parts of parts"));
            }
        };
        let names: Vec<&str> = match what {
            "group" => self.groups(side)?,
            "distance" => DISTANCES.iter().map(|d| Locality::name(*d)).collect(),
            "size" => SIZES.iter().map(|(name, _)| *name).collect(),
            _ => {
                let hosts = self.experiment.measure.queues.map(|_| layers::HOSTS);
                self.fabric.layer_names.iter().map(|name| &**name).chain(hosts).collect()
            }
        };
        known(what, name, &names)?;
        match metrics.iter().find(|m| layers::METRICS.contains(m) != (what == "layer")) {
            Some(metric) if what == "layer" => {
                Err(format!("`{metric}` is not of layers (these are: {})", layers::METRICS.join(", ")))
            }
            Some(metric) => Err(format!("`{metric}` is of layers, and there is none of a {what}")),
            None => Ok(()),
        }
    }

    /// The groups of the cases that `side` speaks of.
    fn groups(&self, side: &Side) -> Result<Vec<&str>, String> {
        let speaks_of = |c: &&Case| {
            c.scheme == side.scheme
                && side.subflows.is_none_or(|n| c.subflows == Some(n))
                && side.pattern.is_none_or(|p| c.pattern == p)
        };
        let several = self.cases.iter().filter(speaks_of).filter(|c| c.groups.len() > 1);
        let groups: IndexSet<&str> = several.flat_map(|c| &c.groups).map(String::as_str).collect();
        match groups.is_empty() {
            true => Err(format!("the flows of {} are in one group", side.scheme)),
            false => Ok(groups.into_iter().collect()),
        }
    }
}

fn known(kind: &str, name: &str, names: &[&str]) -> Result<(), String> {
    if names.contains(&name) {
        return Ok(());
    }
    let hint = did_you_mean(name, names.iter().copied());
    Err(format!("there is no {kind} `{name}`{hint} (there are: {})", names.join(", ")))
}
