//! Checks what published numbers and claims refer to: cases, parts of them, and metrics.

use indexmap::IndexSet;
use tresse_experiment::diagnostic::{Wrong, did_you_mean, known};
use tresse_experiment::plan::Case;
use tresse_experiment::schema::Experiment;
use tresse_experiment::schema::metrics::{
    DISTANCES, HOSTS, METRICS, OPTIMUM_METRICS, Of, SIZES, WINDOW_METRICS, find, of_layers,
};
use tresse_experiment::schema::slice::check_metric;

use crate::schema::Publication;
use crate::schema::claims::{Claim, Selector, Selectors};
use crate::schema::forms::Form;

/// Published numbers and claims may only refer to what exists. If `is_as_written`, so that neither a
/// profile nor a setting changed the cases, each must also refer to at least one case.
///
/// # Errors
/// The first thing that does not exist, with its location in the file.
pub(crate) fn check(experiment: &Experiment, cases: &[Case], is_as_written: bool) -> Result<(), Wrong> {
    let publication = Publication::of(experiment)?;
    let names = Names { experiment, cases, is_as_written };
    for (place, value) in publication.published.values.iter().enumerate() {
        let metrics: Vec<&str> = value.numbers().map(|(metric, _)| metric).collect();
        names
            .selector(&value.selector(), &metrics)
            .map_err(|e| Wrong::new(["published", "values", &place.to_string()], e))?;
    }
    let mut ids = IndexSet::new();
    for (place, claim) in publication.claims.iter().enumerate() {
        let wrong_at = |wrong: Wrong| {
            let message = format!("{}: {}", claim.id, wrong.message);
            Wrong { message, ..wrong }.below(place).below("claims")
        };
        let own = publication.claims.iter().filter(|c| c.reading_of.is_none()).map(|c| c.id.as_str());
        let wrong =
            claim.reading_of.as_ref().filter(|of| !of.contains(' ') && !own.clone().any(|id| id == **of));
        if let Some(of) = wrong {
            let hint = did_you_mean(of, own);
            return Err(wrong_at(Wrong::key("reading_of", format!("there is no claim `{of}`{hint}"))));
        }
        if !ids.insert(&claim.id) {
            return Err(wrong_at(Wrong::key("id", "another claim has this name")));
        }
        names.claim(claim).map_err(wrong_at)?;
    }
    Ok(())
}

struct Names<'a> {
    experiment: &'a Experiment,
    cases: &'a [Case],
    is_as_written: bool,
}

impl Names<'_> {
    /// Checks a claim; errors have the keys below it.
    fn claim(&self, claim: &Claim) -> Result<(), Wrong> {
        if claim.cases.is_empty() {
            self.statement(claim)?;
        }
        for (place, case) in claim.cases.iter().enumerate() {
            self.statement(case).map_err(|wrong| {
                let message = format!("{}: {}", case.text, wrong.message);
                Wrong { message, ..wrong }.below(place).below("cases")
            })?;
        }
        match (claim.at_least, claim.cases.len()) {
            (Some(_), 0) => return Err(Wrong::key("at_least", "only for claims with `for_all`")),
            (Some(least), all) if least == 0 || least > all => {
                return Err(Wrong::key(
                    "at_least",
                    format!("{least}: expected 1 to {all}, the number of cases"),
                ));
            }
            _ => {}
        }
        if claim.because.is_none() && claim.contradicts.is_none() && !claim.expected.is_to_hold() {
            let message = "it is not expected to hold: give the reason in `because = \"…\"`, a sentence with the mechanism";
            return Err(Wrong::key("expected", message));
        }
        Ok(())
    }

    /// Checks what a claim says about its cases, or about one case of its `for_all`.
    fn statement(&self, claim: &Claim) -> Result<(), Wrong> {
        let form = claim.form()?;
        let selectors = [("right", &claim.right), ("of", &claim.of)];
        let listed = selectors.into_iter().flat_map(|(key, all)| {
            let is_list = matches!(all, Some(Selectors::List(_)));
            let all = all.iter().flat_map(Selectors::all).enumerate();
            all.map(move |(i, s)| {
                (if is_list { vec![key.to_owned(), i.to_string()] } else { vec![key.to_owned()] }, s)
            })
        });
        let left = claim.left.iter().map(|s| (vec!["left".to_owned()], s));
        let selectors: Vec<_> = left.chain(listed).collect();
        match form {
            Form::Jumps { .. } => self.jumps(claim, &selectors)?,
            _ if claim.metric == "jct_s" => {
                let message = "`jct_s` is for `jumps`; did you mean `jct_mean_s`?";
                return Err(Wrong::key("metric", message));
            }
            _ => {
                self.metric(&claim.metric).map_err(|e| Wrong::key("metric", e))?;
                for (at, selector) in selectors {
                    self.selector(selector, &[&claim.metric]).map_err(|e| Wrong::new(at, e))?;
                }
            }
        }
        claim.witnesses().map(drop)
    }

    /// Checks a claim about jumps of completion times.
    fn jumps(&self, claim: &Claim, selectors: &[(Vec<String>, &Selector)]) -> Result<(), Wrong> {
        if claim.metric != "jct_s" {
            return Err(Wrong::key("metric", "jumps are for `jct_s`, the completion times of jobs"));
        }
        for (at, selector) in selectors {
            self.selector(selector, &[]).map_err(|e| Wrong::new(at, e))?;
            if let Some((what, _)) = selector.part().first() {
                let message = format!("jumps are over all jobs of a case, not those of a {what}");
                return Err(Wrong::new(at, message));
            }
            let mut meant = self.meant(selector).peekable();
            if meant.peek().is_some() && !meant.any(Case::has_jobs) {
                return Err(Wrong::new(at, "none of its cases has jobs"));
            }
        }
        Ok(())
    }

    /// The cases that a selector selects.
    fn meant(&self, selector: &Selector) -> impl Iterator<Item = &Case> {
        let wanted = selector.wanted();
        self.cases.iter().filter(move |case| case.is(&wanted))
    }

    /// The values of an axis, in the order of the cases.
    fn values(&self, axis: &str) -> IndexSet<String> {
        self.cases.iter().filter_map(|case| case.axes().swap_remove(axis)).collect()
    }

    fn metric(&self, metric: &str) -> Result<(), String> {
        match metric.strip_prefix("optimum.") {
            Some(key) => known("key of the optimum", key, OPTIMUM_METRICS),
            None if find(WINDOW_METRICS, metric).is_some() => Ok(()),
            None => check_metric(metric, &self.experiment.measure.slices),
        }
    }

    /// Checks `selector`, and that what it selects has these metrics.
    fn selector(&self, selector: &Selector, metrics: &[&str]) -> Result<(), String> {
        self.axes(selector)?;
        metrics.iter().try_for_each(|metric| self.metric(metric))?;
        if self.is_as_written && self.meant(selector).next().is_none() {
            let of_scheme = |case: &&Case| selector.scheme.as_ref().is_none_or(|s| *s == case.scheme);
            let labels: Vec<String> = self.cases.iter().filter(of_scheme).map(Case::label).collect();
            return Err(format!("there is no such case (available: {})", labels.join(", ")));
        }
        if self.meant(selector).next().is_none() {
            return Ok(()); // a setting has taken the case away: nothing is said about what is run
        }
        let part = selector.part();
        if selector.window.is_some() || selector.subflow.is_some() {
            return self.window(selector, metrics);
        }
        let (what, name) = match &part[..] {
            [] => {
                return metrics.iter().try_for_each(|metric| match is_of_windows_only(metric) {
                    true => Err(format!("`{metric}` is a metric of windows of time: set `window = \"…\"`")),
                    false => Ok(()),
                });
            }
            [part] => part,
            [(first, _), (second, _), ..] => {
                return Err(format!(
                    "either a `{first}` or a `{second}`: for both at once, define a slice in [measure.slices]"
                ));
            }
        };
        let names: IndexSet<&str> = match *what {
            "group" => self.groups(selector, 2)?,
            "distance" => DISTANCES.iter().map(|distance| distance.name()).collect(),
            "size" => SIZES.iter().map(|(name, ..)| *name).collect(),
            _ => {
                let settings = || self.cases.iter().map(|c| &c.setting);
                let hosts = settings().find_map(|s| s.queues).map(|_| HOSTS);
                let layers = settings().flat_map(|s| s.fabric.layer_names.iter().map(|name| &**name));
                let layers: IndexSet<&str> = layers.chain(hosts).collect();
                layers.into_iter().collect()
            }
        };
        known(what, name, &names)?;
        if let Some(metric) = metrics.iter().find(|m| m.starts_with("optimum.")) {
            return Err(format!("`{metric}` is a metric of whole cases: a {what} has none"));
        }
        metrics.iter().try_for_each(|metric| of_part(metric, what))
    }

    /// The axes that a selector names.
    fn axes(&self, selector: &Selector) -> Result<(), String> {
        let named = self.experiment.schemes.keys().cloned();
        let schemes: IndexSet<String> = named.chain(self.values("scheme")).collect();
        match &selector.scheme {
            Some(scheme) => known("scheme", scheme, schemes.iter())?,
            None if self.values("scheme").len() > 1 => {
                let schemes: Vec<String> = self.values("scheme").into_iter().collect();
                return Err(format!("it needs a `scheme` (available: {})", schemes.join(", ")));
            }
            None => {}
        }
        let named = self.experiment.workloads.keys().cloned();
        let patterns: IndexSet<String> = named.chain(self.values("pattern")).collect();
        if let Some(pattern) = &selector.pattern {
            known("pattern", pattern, patterns.iter())?;
        }
        match &selector.variant {
            Some(variant) if self.experiment.variants.is_empty() => {
                Err(format!("there is no variant `{variant}`: the experiment has none"))
            }
            Some(variant) => known("variant", variant, self.experiment.variants.keys()),
            None => Ok(()),
        }
    }

    /// A window of time, and a group or a subflow in it.
    fn window(&self, selector: &Selector, metrics: &[&str]) -> Result<(), String> {
        let Some(window) = &selector.window else {
            return Err("a `subflow` has metrics only in windows of time: set `window = \"…\"`".to_owned());
        };
        let windows = &self.experiment.measure.windows;
        if windows.is_empty() {
            let example = "[measure.windows] loaded = [\"12s\", \"20s\"]";
            return Err(format!("there is no window `{window}`: the experiment has none, such as {example}"));
        }
        known("window", window, windows.keys())?;
        if let Some((what, _)) = selector.part().iter().find(|(what, _)| !IN_WINDOWS.contains(what)) {
            return Err(format!("windows have no metrics for a {what}, only for a `group` and a `subflow`"));
        }
        match &selector.group {
            Some(group) => known("group", group, self.groups(selector, 1)?)?,
            None if selector.subflow.is_some() => {
                return Err("a `subflow` needs the `group` of a single flow".to_owned());
            }
            None => {}
        }
        metrics.iter().try_for_each(|metric| known("metric of windows", metric, WINDOW_METRICS))
    }

    /// The names of the groups of the cases that `selector` selects, for cases with at least this many groups.
    fn groups<'a>(&'a self, selector: &Selector, least: usize) -> Result<IndexSet<&'a str>, String> {
        let several = self.meant(selector).filter(|case| case.groups.len() >= least);
        let groups =
            several.flat_map(|case| &case.groups).map(String::as_str).filter(|name| !name.is_empty());
        let groups: IndexSet<&str> = groups.collect();
        match groups.is_empty() {
            true => {
                Err(format!("the flows of {} are in one group", selector.scheme.as_deref().unwrap_or("it")))
            }
            false => Ok(groups),
        }
    }
}

fn is_of_windows_only(metric: &str) -> bool {
    find(WINDOW_METRICS, metric).is_some() && find(METRICS, metric).is_none()
}

/// Checks that a metric exists for parts of a case as divided by `what`.
fn of_part(metric: &str, what: &str) -> Result<(), String> {
    if metric.contains('.') {
        return Err(format!("`{metric}` is a metric of whole cases: a {what} has no slices"));
    }
    let Some(row) = find(METRICS, metric) else {
        return Err(format!("`{metric}` is a metric of windows of time: set `window = \"…\"`"));
    };
    if row.of.has(what) {
        return Ok(());
    }
    let of = match row.of {
        _ if what == "layer" => {
            let names: Vec<&str> = of_layers().collect();
            return Err(format!("`{metric}` is not a metric of layers (available: {})", names.join(", ")));
        }
        Of::Layers => "layers",
        Of::Groups => "cases and groups",
        Of::Cases | Of::Flows | Of::Windows | Of::Optimum => "whole cases",
    };
    Err(format!("`{metric}` is a metric of {of}: a {what} has none"))
}

/// The parts for which windows have metrics.
const IN_WINDOWS: [&str; 3] = ["window", "group", "subflow"];
