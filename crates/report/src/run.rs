//! A run as shown on a page: the contents of its folder, read and packed.

use std::path::Path;

use arrow_schema::ArrowError;
use indexmap::IndexMap;
use serde_json::Value;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::read::built_in;
use tresse_experiment::schema::{Experiment, FOR_PEOPLE};
use tresse_experiment::{Plan, Profile, Source};
use tresse_results::record::progress::ProgressFile;
use tresse_results::store::finished::of_another_version;
use tresse_results::{Finished, Report, State};
use tresse_units::text_file;

use crate::cases::Cases;
use crate::figures::{self, Figure};
use crate::head::{ExperimentHead, ReadRun, RunHead};
use crate::network::{self, Network};
use crate::tables;
use crate::tables::build::{PageTable, packed_text};

/// A run that was read.
#[derive(Debug, Clone)]
pub struct Run {
    /// What the page says about it.
    pub head: RunHead,
    tables: IndexMap<String, PageTable>,
    networks: Vec<Network>,
}

impl Run {
    /// Reads the run in `folder`, named `id` on the page. A table that cannot be read is left out, and reported as
    /// a problem.
    ///
    /// # Errors
    /// If there is no `run.json` that this version reads.
    pub fn read(folder: &Path, id: &str, read: ReadRun) -> Result<Self, Diagnostic> {
        let (finished, published) = read(folder)?;
        let figures = figures(&finished)?;
        let mut problems = Vec::new();
        let plan = match plan(&finished, &mut problems) {
            Ok(plan) => Some(plan),
            Err(why) => {
                problems.push(format!("the network is not shown: {}", why.message));
                None
            }
        };
        let Finished { report, experiment, resolved, state, host, figure, tables: sums, .. } = finished;
        let mut cases = Cases::new(&report.cases, plan.as_ref());
        let (tables, unread) = tables::all(folder, &mut cases, plan.as_ref());
        problems.extend(unread);
        let files = sums.keys().map(|name| format!("{name}.parquet"));
        let gone = files.filter(|file| !folder.join(file).exists());
        problems.extend(gone.map(|file| format!("{file} is gone, so what it had is not shown")));
        let topology = &experiment.fabric.topology;
        let networks = plan.map_or_else(Vec::new, |plan| network::all(&plan, &mut cases, topology));
        let progress = (state == State::UnderWay).then(|| progress(folder)).flatten();
        let head = RunHead {
            id: id.to_owned(),
            snapshot: None,
            state,
            problems,
            command: command(&report),
            experiment: ExperimentHead {
                title: experiment.title,
                source: experiment.source,
                about: experiment.about,
                resolved: toml::to_string_pretty(&resolved).unwrap_or_default(),
                keys: keys(resolved, &experiment.owned),
                published_source: published.source,
                is_published: published.is_any,
            },
            figure,
            host,
            progress,
            cases: cases.heads().to_vec(),
            published: if report.judged { published.numbers } else { Vec::new() },
            figures,
            tables: tables.iter().map(|(name, table)| (name.clone(), table.head())).collect(),
            networks: networks.iter().map(|network| network.head.clone()).collect(),
            report,
        };
        Ok(Self { head, tables, networks })
    }

    /// The names that [`Run::packed`] accepts.
    pub fn names(&self) -> Vec<String> {
        let networks = (0..self.networks.len()).map(|n| format!("network-{n}"));
        self.tables.keys().cloned().chain(networks).collect()
    }

    /// A table as a gzipped Arrow IPC stream, or a network as gzipped JSON; `None` if there is none with this name.
    ///
    /// # Errors
    /// If the table cannot be packed.
    pub fn packed(&self, name: &str) -> Result<Option<Vec<u8>>, ArrowError> {
        if let Some(number) = name.strip_prefix("network-").and_then(|n| n.parse::<usize>().ok()) {
            return Ok(self.networks.get(number).map(|network| packed_text(&network.text)));
        }
        self.tables.get(name).map(PageTable::packed).transpose()
    }
}

/// The networks of a run.
///
/// # Errors
/// If a file of the network no longer exists.
pub fn networks(finished: &Finished) -> Result<Vec<Network>, Diagnostic> {
    let plan = plan(finished, &mut Vec::new())?;
    let mut cases = Cases::new(&finished.report.cases, Some(&plan));
    Ok(network::all(&plan, &mut cases, &finished.experiment.fabric.topology))
}

/// The keys that say how an experiment was run and is shown.
fn keys(mut resolved: toml::Table, owned: &toml::Table) -> toml::Table {
    resolved.retain(|key, _| !FOR_PEOPLE.contains(&key) && !owned.contains_key(key));
    resolved
}

/// The figures of a run; for a built-in experiment the current ones, because they do not change what was run.
///
/// # Errors
/// If another version of the program wrote figures that this one does not have.
pub fn figures(run: &Finished) -> Result<Vec<Figure>, Diagnostic> {
    let current = |name: &str| -> Option<Experiment> {
        let source = built_in::names().contains(&name).then(|| tresse_experiment::find(name).ok())??;
        Some(tresse_experiment::load(source, Profile::Full, &[]).ok()?.experiment)
    };
    let experiment = current(&run.report.experiment);
    figures::of(experiment.as_ref().unwrap_or(&run.experiment))
        .map_err(|wrong| of_another_version(&run.name, &wrong.message))
}

/// The progress of a run, if it has reported it.
pub fn progress(folder: &Path) -> Option<ProgressFile> {
    let path = folder.join(ProgressFile::NAME);
    // A pipe would be waited for.
    let text = path.is_file().then(|| text_file::read_text(&path).ok())??;
    serde_json::from_str(&text).ok()
}

/// The plan of a run: its cases and their networks. Nothing is run, so controllers from a file, which may no longer
/// exist, are not needed, nor is what is only judged or drawn.
fn plan(finished: &Finished, problems: &mut Vec<String>) -> Result<Plan, Diagnostic> {
    let mut resolved = finished.resolved.clone();
    resolved.retain(|key, _| !finished.experiment.owned.contains_key(key));
    let inputs = finished.report.inputs.as_ref();
    let own: Vec<&str> = inputs.iter().flat_map(|i| &i.controllers).map(|own| own.name.as_str()).collect();
    replace_controllers(&mut resolved, &own);
    let text = toml::to_string(&resolved)
        .map_err(|error| Diagnostic::input(format!("its experiment cannot be written: {error}")))?;
    // What a profile cuts was cut when it ran.
    let source = Source { name: finished.report.experiment.clone(), text };
    let loaded = tresse_experiment::load(source, Profile::Full, &[])?;
    let plan = tresse_experiment::resolve(&loaded, inputs.map_or(&[][..], |inputs| &inputs.only))?;
    // Its own file is in `run.json`; networks and flows are read again.
    let mut now = loaded.files.all();
    now.retain(|file| file.path != finished.report.experiment);
    let files = inputs.iter().flat_map(|inputs| &inputs.files);
    let changed = files.filter(|file| now.iter().any(|n| n.path == file.path && n.sha256 != file.sha256));
    problems.extend(
        changed.map(|file| format!("{} has changed since the run: the network may be different", file.path)),
    );
    Ok(plan)
}

/// Replaces these controllers by Reno wherever a table names one.
fn replace_controllers(table: &mut toml::Table, own: &[&str]) {
    let is_own = |value: &toml::Value| value.as_str().is_some_and(|name| own.contains(&name));
    if table.get("controller").is_some_and(is_own) {
        table.insert("controller".to_owned(), "reno".into());
        table.remove("parameters");
    }
    for (_, value) in table.iter_mut() {
        if let toml::Value::Table(below) = value {
            replace_controllers(below, own);
        }
    }
}

/// The command line that repeats a run.
fn command(report: &Report) -> String {
    let command = if report.testbed.is_some() { &["testbed", "run"][..] } else { &["run"] };
    let mut words: Vec<String> =
        [&["tresse"], command, &[&report.experiment]].concat().into_iter().map(str::to_owned).collect();
    let mut add = |option: &str, value: &str| words.extend([option.to_owned(), value.to_owned()]);
    if report.profile != "quick" {
        add("--profile", &report.profile);
    }
    if let Some(inputs) = &report.inputs {
        inputs.only.iter().for_each(|only| add("--only", only));
        inputs.set.iter().for_each(|set| add("--set", set));
        inputs.controllers.iter().for_each(|own| add("--controller", &own.path));
        inputs.balancers.iter().for_each(|own| add("--balancer", &own.path));
    }
    if report.seed != 1 {
        add("--seed", &report.seed.to_string());
    }
    add("--replications", &report.replications.to_string());
    if let Some(testbed) = report.testbed.as_ref().filter(|testbed| testbed.scale != "1") {
        add("--scale", &testbed.scale);
    }
    if report.judged && !report.changed.is_empty() {
        words.push("--judge".to_owned());
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:%+@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A JSON value to embed in a page: no text in it can end the enclosing element.
pub(crate) fn embedded(value: &impl serde::Serialize) -> String {
    let value: Value = serde_json::to_value(value).expect("plain data");
    value.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["a=b", "it's", "", "fabric.mark=[10pkt,20pkt]", "x y"];
        let shown = ["a=b", "'it'\\''s'", "''", "'fabric.mark=[10pkt,20pkt]'", "'x y'"];
        assert_eq!(words.map(quoted), shown);
    }

    #[test]
    fn nothing_ends_the_element_that_it_stands_in() {
        let text = embedded(&serde_json::json!({ "scheme": "</script><script>alert(1)</script>" }));
        assert!(!text.contains('<'), "{text}");
        let back: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(back["scheme"], "</script><script>alert(1)</script>");
    }
}
