//! The differences in what two runs were made of.

use std::fmt;

use crate::OWNERS;
use serde::Serialize;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use tresse_experiment::read::changes::{Change, differences, shown};
use tresse_experiment::read::files::ReadFile;
use tresse_results::record::inputs::UsersCode;
use tresse_results::{Finished, Report};

/// Lines of a source that are shown.
const MOST_LINES: usize = 10;

/// Keys that are shown.
const MOST_KEYS: usize = 12;

/// A difference in what two runs were made of.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// `experiment`, `hosts`, `profile`, `seed`, `replications`, `version`, `model_version`, `set`, `only`, `controller`,
    /// `compiler`, `flags`, `file` or `key`.
    what: &'static str,
    /// The controller, the file or the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// What the first run has, or null; for a source or a file, its SHA-256.
    left: Value,
    /// What the second run has.
    right: Value,
    /// The lines of a source that differ, as `diff` writes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
    /// The whole difference as text.
    #[serde(skip)]
    text: String,
}

/// All differences in what `left` and `right` were made of.
pub(super) fn between(left: &Finished, right: &Finished) -> Vec<Difference> {
    let (l, r) = (&left.report, &right.report);
    let mut all = Vec::new();
    let hosts = |report: &Report| match &report.testbed {
        None => "simulated".to_owned(),
        Some(testbed) if testbed.scale == "1" => "real".to_owned(),
        Some(testbed) => format!("real, --scale {}", testbed.scale),
    };
    for (what, name, own, other) in [
        ("hosts", "hosts", json!(hosts(l)), json!(hosts(r))),
        ("experiment", "experiment", json!(l.experiment), json!(r.experiment)),
        ("profile", "profile", json!(l.profile), json!(r.profile)),
        ("seed", "seed", json!(l.seed), json!(r.seed)),
        ("replications", "replications", json!(l.replications), json!(r.replications)),
        ("version", "version", json!(l.version), json!(r.version)),
        ("model_version", "model version", json!(l.model_version), json!(r.model_version)),
    ] {
        all.extend(another(what, name, own, other));
    }
    if let (Some(own), Some(other)) = (&l.inputs, &r.inputs) {
        all.extend(another("set", "--set", json!(own.set), json!(other.set)));
        all.extend(another("only", "--only", json!(own.only), json!(other.only)));
        all.extend(code("controller", &own.controllers, &other.controllers));
        all.extend(code("balancer", &own.balancers, &other.balancers));
        let is_own = |file: &&ReadFile| l.experiment == r.experiment || file.path != l.experiment;
        let is_other = |file: &&ReadFile| l.experiment == r.experiment || file.path != r.experiment;
        all.extend(files(
            &own.files.iter().filter(is_own).collect::<Vec<_>>(),
            &other.files.iter().filter(is_other).collect::<Vec<_>>(),
        ));
    }
    all.extend(keys(left, right));
    all
}

/// The same as lines of text; if there are many keys, only the first of them.
pub(super) fn lines(all: &[Difference]) -> Vec<String> {
    let (keys, others): (Vec<_>, Vec<_>) = all.iter().partition(|difference| difference.what == "key");
    let shown = others.iter().chain(keys.iter().take(MOST_KEYS));
    let mut lines: Vec<String> = shown.map(ToString::to_string).collect();
    if keys.len() > MOST_KEYS {
        lines.push(format!("more keys that differ: {} (`--json` has all)", keys.len() - MOST_KEYS));
    }
    lines
}

/// A value that differs.
fn another(what: &'static str, name: &str, left: Value, right: Value) -> Option<Difference> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        value => value.to_string(),
    };
    let other = if what.ends_with('s') { "other" } else { "another" };
    let text = format!("{other} {name}: {} and {}", text(&left), text(&right));
    (left != right).then(|| Difference { what, name: None, left, right, lines: Vec::new(), text })
}

/// The users' controllers or balancers, depending on `what`.
fn code(what: &'static str, left: &[UsersCode], right: &[UsersCode]) -> Vec<Difference> {
    let mut all = Vec::new();
    let has = format!("has the {what}");
    for own in left {
        let Some(other) = right.iter().find(|other| other.name == own.name) else {
            all.push(alone(what, &has, &own.name, [Some(&own.sha256), None]));
            continue;
        };
        if own.sha256 != other.sha256 {
            let paths = if own.path == other.path {
                own.path.clone()
            } else {
                format!("{} and {}", own.path, other.path)
            };
            all.push(Difference {
                what,
                name: Some(own.name.clone()),
                left: json!(own.sha256),
                right: json!(other.sha256),
                lines: diff(&own.source, &other.source),
                text: format!("the source of the {what} {} ({paths}):", own.name),
            });
        }
        let of = |part: &str| format!("{part} of the {what} {}", own.name);
        let pairs = [
            ("compiler", of("compiler"), json!(own.compiler), json!(other.compiler)),
            ("flags", of("flags"), json!(own.flags), json!(other.flags)),
        ];
        for (part, name, own_value, other_value) in pairs {
            let found = another(part, &name, own_value, other_value);
            all.extend(found.map(|found| Difference { name: Some(own.name.clone()), ..found }));
        }
    }
    let new = right.iter().filter(|other| left.iter().all(|own| own.name != other.name));
    all.extend(new.map(|c| alone(what, &has, &c.name, [None, Some(&c.sha256)])));
    all
}

/// The files that were read. A file that was moved counts as the same.
fn files(left: &[&ReadFile], right: &[&ReadFile]) -> Vec<Difference> {
    let mut all = Vec::new();
    let is_in = |files: &[&ReadFile], file: &ReadFile| files.iter().any(|other| other.sha256 == file.sha256);
    for own in left.iter().filter(|own| !is_in(right, own)) {
        all.push(match right.iter().find(|other| other.path == own.path) {
            Some(other) => Difference {
                what: "file",
                name: Some(own.path.clone()),
                left: json!(own.sha256),
                right: json!(other.sha256),
                lines: Vec::new(),
                text: format!(
                    "the content of {}: SHA-256 {:.12}… and {:.12}…",
                    own.path, own.sha256, other.sha256
                ),
            },
            None => alone("file", "has read", &own.path, [Some(&own.sha256), None]),
        });
    }
    let is_new = |other: &&&ReadFile| !is_in(left, other) && left.iter().all(|own| own.path != other.path);
    all.extend(
        right
            .iter()
            .filter(is_new)
            .map(|file| alone("file", "has read", &file.path, [None, Some(&file.sha256)])),
    );
    all
}

/// Something that only one of the runs has.
fn alone(what: &'static str, has: &str, name: &str, sha256: [Option<&String>; 2]) -> Difference {
    let [left, right] = sha256;
    let which = if left.is_some() { "first" } else { "second" };
    Difference {
        what,
        name: Some(name.to_owned()),
        left: json!(left),
        right: json!(right),
        lines: Vec::new(),
        text: format!("only the {which} run {has} {name}"),
    }
}

/// The keys of the experiments as they were run. Titles and sentences are only for people, and the profile has
/// already been applied to the others.
fn keys(left: &Finished, right: &Finished) -> Vec<Difference> {
    let for_people = OWNERS.names_for_people();
    let is_run = |key: &str| {
        let head = key.split('.').next().unwrap_or(key);
        head != "profile" && !for_people.iter().any(|own| own == head)
    };
    let changes = differences(&left.resolved, &right.resolved).into_iter();
    let difference = |change: Change| Difference {
        what: "key",
        text: format!("{}: {} and {}", change.key, shown(change.from.as_ref()), shown(change.to.as_ref())),
        left: json!(change.from),
        right: json!(change.to),
        name: Some(change.key),
        lines: Vec::new(),
    };
    changes.filter(|change| is_run(&change.key)).map(difference).collect()
}

/// The first lines that differ, with their signs.
fn diff(left: &str, right: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(left, right);
    let changes = diff.iter_all_changes().filter_map(|change| {
        let (sign, line) = match change.tag() {
            ChangeTag::Delete => ('-', change.old_index()),
            ChangeTag::Insert => ('+', change.new_index()),
            ChangeTag::Equal => return None,
        };
        Some(format!("{sign}{}: {}", line? + 1, change.value().trim_end()))
    });
    let mut lines: Vec<String> = changes.collect();
    if lines.len() > MOST_LINES {
        let more = lines.len() - (MOST_LINES - 1);
        lines.truncate(MOST_LINES - 1);
        lines.push(format!("more lines that differ: {more}"));
    }
    lines
}

impl fmt::Display for Difference {
    /// A line, and the lines of a source below it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.lines.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}
