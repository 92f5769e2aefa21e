//! Which cases of which experiment a command is about.

use clap::ValueEnum;
use indexmap::{IndexMap, IndexSet};
use tresse_experiment::read::built_in;
use tresse_experiment::{Loaded, Plan, Profile, Source};

use crate::failure::Failure;

/// An experiment, and the changes to it.
#[derive(Debug, clap::Args)]
pub struct Experiment {
    /// A built-in name such as `xmp/table1` or `xmp/fig9`, a TOML file, or `-` for stdin
    experiment: String,
    /// The size of the experiment: `full` is the paper's own, `quick` has fewer flows, rounds or seconds
    #[arg(long, value_enum, default_value = "quick")]
    profile: ProfileArg,
    /// Set a value in the experiment, such as fabric.k=16 or transport.rto_min=10ms; a list such as
    /// 'fabric.mark=[10pkt,20pkt]' makes a case for each value (`tresse explain axes`). May be given more than once
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Its text, if it is not a file.
    #[arg(skip)]
    text: Option<String>,
}

/// Some of its cases.
#[derive(Debug, clap::Args)]
pub struct Chosen {
    #[command(flatten)]
    experiment: Experiment,
    /// Keep only the cases with these values on an axis: scheme, subflows, pattern, variant, or a key that has a
    /// list. May be given more than once
    #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
    only: Vec<String>,
}

/// Reads a seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a whole number of at least 0, and at most {}", u64::MAX))
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ProfileArg {
    Quick,
    Full,
}

impl ProfileArg {
    pub fn profile(self) -> Profile {
        match self {
            Self::Quick => Profile::Quick,
            Self::Full => Profile::Full,
        }
    }
}

impl Experiment {
    fn profile(&self) -> Profile {
        self.profile.profile()
    }

    pub fn load(&self) -> Result<Loaded, Failure> {
        let loaded = self.load_telling(&mut |note| eprintln!("{note}"))?;
        loaded.files.notes().iter().for_each(|note| eprintln!("note: {note}"));
        Ok(loaded)
    }

    fn load_telling(&self, tell: &mut dyn FnMut(String)) -> Result<Loaded, Failure> {
        let source = match &self.text {
            Some(text) => Source { name: self.experiment.clone(), text: text.clone() },
            None => tresse_experiment::find(&self.experiment)?,
        };
        let asked = self.experiment.strip_suffix(".toml").unwrap_or(&self.experiment);
        if built_in::names().contains(&&*source.name) && asked != source.name {
            tell(format!("{asked} is part of {}", source.name));
        }
        Ok(tresse_experiment::load(source, self.profile(), &self.set)?)
    }
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

impl Chosen {
    pub fn profile(&self) -> Profile {
        self.experiment.profile()
    }

    /// The figure or table that was asked for, if the experiment has another name: `fig9` of `xmp/table1`.
    pub fn figure(&self) -> Option<String> {
        let asked = self.experiment.experiment.trim_end_matches(".toml");
        let is_part = !built_in::names().contains(&asked);
        let row = built_in::rows().into_iter().any(|(row, _)| row == asked);
        (is_part && row).then(|| asked.rsplit('/').next().unwrap_or(asked).to_owned())
    }

    /// The experiment in this text; the name is only used in messages.
    #[must_use]
    pub fn of_text(mut self, text: Option<String>) -> Self {
        self.experiment.text = text;
        self
    }

    /// Adds a setting that is applied before the requested ones.
    #[must_use]
    #[cfg(all(feature = "kernel", target_os = "linux"))]
    pub fn and_set(mut self, setting: &str) -> Self {
        self.experiment.set.insert(0, setting.to_owned());
        self
    }

    /// The experiment and the selected cases; `tell` gets the messages about them.
    pub fn load_telling(&self, tell: &mut dyn FnMut(String)) -> Result<(Loaded, Plan), Failure> {
        let loaded = self.experiment.load_telling(tell)?;
        let plan = tresse_experiment::resolve(&loaded, &self.only)?;
        tell_lists(&plan, tell);
        loaded.files.notes().iter().for_each(|note| tell(format!("note: {note}")));
        Ok((loaded, plan))
    }
}
