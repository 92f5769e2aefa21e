//! Which cases of which experiment a request is about.

use indexmap::{IndexMap, IndexSet};
use tresse_experiment::plan::Case;
use tresse_experiment::read::built_in;
use tresse_experiment::schema::fidelity::Fidelity;
use tresse_experiment::{Loaded, Plan, Profile, Source};

use crate::OWNERS;
use crate::failure::Failure;

/// An experiment, and the changes to it.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// A built-in name such as `xmp/table1` or `xmp/fig9`, a TOML file, or `-` for stdin.
    pub name: String,
    /// Its text, if it is not a file; the name is then only used in messages.
    pub text: Option<String>,
    pub profile: Profile,
    /// Changed keys, `PATH=VALUE`; a list of values makes a case for each.
    pub set: Vec<String>,
}

/// Some cases of an experiment.
#[derive(Debug, Clone)]
pub struct Cases {
    pub experiment: Experiment,
    /// The values to keep on its axes, `KEY=VALUE[,VALUE]`.
    pub only: Vec<String>,
}

impl Experiment {
    /// A built-in experiment or a file, with quick profile and without changes.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), text: None, profile: Profile::Quick, set: Vec::new() }
    }

    /// Reads it; `tell` gets the messages about it, without those of [`Loaded::files`].
    ///
    /// # Errors
    /// An error in the experiment or the changes.
    pub fn load(&self, tell: &mut dyn FnMut(String)) -> Result<Loaded, Failure> {
        let source = match &self.text {
            Some(text) => Source { name: self.name.clone(), text: text.clone() },
            None => tresse_experiment::find(&self.name)?,
        };
        let asked = self.name.strip_suffix(".toml").unwrap_or(&self.name);
        if built_in::names().contains(&&*source.name) && asked != source.name {
            tell(format!("{asked} is part of {}", source.name));
        }
        Ok(OWNERS.load(source, self.profile, &self.set)?)
    }

    /// The figure or table that was asked for, if the experiment has another name: `fig9` of `xmp/table1`.
    pub fn figure(&self) -> Option<String> {
        let asked = self.name.trim_end_matches(".toml");
        let is_part = !built_in::names().contains(&asked);
        let row = built_in::rows().iter().any(|(row, _)| row == asked);
        (is_part && row).then(|| asked.rsplit('/').next().unwrap_or(asked).to_owned())
    }
}

impl Cases {
    /// All cases of an experiment.
    pub fn all(experiment: Experiment) -> Self {
        Self { experiment, only: Vec::new() }
    }

    /// The experiment and the selected cases; `tell` gets the messages about them.
    ///
    /// # Errors
    /// An error in the experiment, the changes or the selection.
    pub fn load(&self, tell: &mut dyn FnMut(String)) -> Result<(Loaded, Plan), Failure> {
        let loaded = self.experiment.load(tell)?;
        let plan = OWNERS.resolve(&loaded, &self.only)?;
        tell_lists(&plan, tell);
        loaded.files.notes().iter().for_each(|note| tell(format!("note: {note}")));
        Ok((loaded, plan))
    }
}

/// Those of `keys`, which settings change, that make no difference to the cases: without them, the cases are the same.
/// None if the cases cannot be made, with them or without.
pub fn ignored(cases: &Cases, keys: Vec<String>) -> Vec<String> {
    let resolved = |cases: &Cases| {
        let loaded = cases.experiment.load(&mut |_| ()).ok()?;
        Some(OWNERS.resolve(&loaded, &cases.only).ok()?.cases)
    };
    let Some(own) = resolved(cases) else { return Vec::new() };
    let is_ignored = |key: &String| own.iter().all(|case| case.ignores(key).is_some());
    let ignored: Vec<String> = keys.into_iter().filter(is_ignored).collect();
    let mut without = cases.clone();
    let is_kept = |setting: &String| {
        setting.split_once('=').is_none_or(|(path, _)| !ignored.iter().any(|key| key == path))
    };
    without.experiment.set.retain(is_kept);
    if resolved(&without).is_some_and(|other| other.len() == own.len()) { ignored } else { Vec::new() }
}

/// Why cases that run by packets cannot run by rounds first; `None` if they can.
pub fn beyond_rounds(plan: &Plan) -> Option<String> {
    if plan.cases.iter().any(|case| case.setting.fidelity == Fidelity::Rounds) {
        return Some("the experiment is by rounds itself".to_owned());
    }
    let beyond = plan.cases.iter().find_map(Case::beyond_rounds);
    beyond.map(|what| format!("rounds cannot simulate {what}"))
}

/// Reports how many cases there are if lists of values multiply them.
fn tell_lists(plan: &Plan, tell: &mut dyn FnMut(String)) {
    let mut lists: IndexMap<&str, IndexSet<String>> = IndexMap::new();
    for at in plan.cases.iter().flat_map(|case| &case.at) {
        lists.entry(&at.name).or_default().insert(at.text());
    }
    if !lists.is_empty() {
        let list = |(name, values): (&&str, &IndexSet<String>)| {
            format!("{name} = {}", values.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
        };
        let lists: Vec<String> = lists.iter().map(list).collect();
        tell(format!("{} cases, with {}", plan.cases.len(), lists.join(" × ")));
    }
}
