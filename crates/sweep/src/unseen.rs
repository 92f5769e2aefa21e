//! Keys that make no difference to some cases: K to a scheme without marks, another scheme's parameters. Such a case is
//! computed once for all points that differ for it only in them.
//!
//! A point falls into parts, one for each set of keys that its cases see. A part has the keys that it sees as its setting,
//! so the same cases at another value of the others are the same part, with the same address.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tresse_experiment::Diagnostic;
use tresse_experiment::plan::Case;

use crate::designs::{Planned, Setting};
use crate::spec::Base;
use crate::values::quantity;

/// Which cases of a point are computed: those that see all of `seen` and nothing of `unseen`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Part {
    seen: Vec<String>,
    unseen: Vec<String>,
    /// Scheme, workload and variant of its cases.
    pub cases: BTreeSet<[String; 3]>,
}

impl Part {
    /// Whether a case belongs to it.
    pub fn has(&self, case: &Case) -> bool {
        self.seen.iter().all(|key| case.ignores(key).is_none())
            && self.unseen.iter().all(|key| case.ignores(key).is_some())
    }

    /// The keys of a point that it sees.
    pub fn of(&self, setting: &Setting) -> Setting {
        setting
            .iter()
            .filter(|(key, _)| !self.unseen.contains(key))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }
}

/// A key, and whom it makes no difference to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unseen {
    pub key: String,
    /// A scheme, or for the keys of workloads a workload.
    pub by: BTreeSet<String>,
    /// Why, in words.
    pub why: String,
}

/// How the points of a plan fall into parts.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// By what may decide it; empty if points stay whole.
    known: BTreeMap<String, Vec<Part>>,
    unseen: BTreeMap<(String, &'static str), BTreeSet<String>>,
}

/// How many points that fall into the same parts are tried until one can be resolved.
const TRIED: usize = 100;

impl Parts {
    /// Of these points, each of which takes about a millisecond if it is the first of its kind.
    pub fn new(base: &Base, points: &[Planned]) -> Self {
        let mut alike: BTreeMap<String, Vec<&Setting>> = BTreeMap::new();
        points.iter().for_each(|point| alike.entry(kind(point)).or_default().push(&point.setting));
        let mut parts = Self::default();
        for (kind, settings) in alike {
            let resolved = settings.iter().take(TRIED).find_map(|own| Some((*own, cases(base, own).ok()?)));
            let own = resolved.map(|(setting, cases)| parts.split(base, setting, &cases)).unwrap_or_default();
            parts.known.insert(kind, own);
        }
        parts
    }

    /// The parts of a point, with their settings; a single one with all if it is whole.
    pub fn of(&self, point: &Planned) -> Vec<(Option<Part>, Setting)> {
        match self.known.get(&kind(point)).map(Vec::as_slice).unwrap_or_default() {
            [] => vec![(None, point.setting.clone())],
            parts => parts.iter().map(|part| (Some(part.clone()), part.of(&point.setting))).collect(),
        }
    }

    /// What makes no difference, and to whom.
    pub fn unseen(&self) -> Vec<Unseen> {
        let one = |((key, why), by): (&(String, &'static str), &BTreeSet<String>)| Unseen {
            key: key.clone(),
            by: by.clone(),
            why: (*why).to_owned(),
        };
        self.unseen.iter().map(one).collect()
    }

    fn split(&mut self, base: &Base, setting: &Setting, cases: &[Case]) -> Vec<Part> {
        let mut parts: BTreeMap<Vec<String>, (Part, usize)> = BTreeMap::new();
        for case in cases {
            let (seen, unseen): (Vec<String>, Vec<String>) =
                setting.keys().cloned().partition(|key| case.ignores(key).is_none());
            let part = Part { seen, unseen: unseen.clone(), cases: BTreeSet::new() };
            let (part, count) = parts.entry(unseen).or_insert((part, 0));
            let variant = case.variant.clone().unwrap_or_default();
            part.cases.insert([case.scheme.clone(), case.pattern.clone(), variant]);
            *count += 1;
        }
        // Without the keys that make no difference, the file's own values must do.
        let can_do_without = |(part, count): &(Part, usize)| {
            part.unseen.is_empty()
                || self::cases(base, &part.of(setting))
                    .is_ok_and(|own| own.iter().filter(|case| part.has(case)).count() == *count)
        };
        if parts.keys().all(Vec::is_empty) || !parts.values().all(can_do_without) {
            return Vec::new();
        }
        for case in cases {
            for key in setting.keys() {
                let Some(ignored) = case.ignores(key) else { continue };
                let by = if key.starts_with("workloads.") { &case.pattern } else { &case.scheme };
                self.unseen.entry((key.clone(), ignored.why())).or_default().insert(by.clone());
            }
        }
        parts.into_values().map(|(part, _)| part).collect()
    }
}

fn cases(base: &Base, setting: &Setting) -> Result<Vec<Case>, Diagnostic> {
    let loaded = base.common.load(base.owners, &base.settings(setting))?;
    Ok(base.owners.resolve(&loaded, base.common.only())?.cases)
}

/// What may decide which cases a point has, and what they see: its design, its keys, and those of its values that are
/// more than a number of something.
fn kind(point: &Planned) -> String {
    let is_amount = |key: &str, value: &toml::Value| match value {
        toml::Value::Float(_) => true,
        toml::Value::String(text) => quantity(text).is_some(),
        _ => key.contains(".parameters."),
    };
    let value = |(key, value): (&String, &toml::Value)| match is_amount(key, value) {
        true => key.clone(),
        false => format!("{key}={value}"),
    };
    let values: Vec<String> = point.setting.iter().map(value).collect();
    format!("{} {}", point.place[..2].join("."), values.join(" "))
}
