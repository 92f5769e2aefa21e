//! What a run was made of, beside the experiment as resolved: so that two runs can be told apart.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::{Table, Value};
use tresse_controllers::Controller;
use tresse_experiment::keys::FOR_PEOPLE;
use tresse_experiment::plan::{Case, Plan};
use tresse_experiment::read::Loaded;
use tresse_experiment::read::files::{ReadFile, sha256};

use crate::record::report::MODEL_VERSION;

/// What a run was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// A fingerprint of everything that the results follow from.
    pub digest: String,
    /// `--set`, as given.
    pub set: Vec<String>,
    /// `--only`, as given.
    pub only: Vec<String>,
    /// The files that the experiment read, its own if it is not built in; and the users' headers that their controllers
    /// include.
    pub files: Vec<ReadFile>,
    /// The users' controllers that a case uses.
    pub controllers: Vec<UsersController>,
}

/// A controller of a user's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsersController {
    /// Its name.
    pub name: String,
    /// Its file, as given.
    pub path: String,
    /// The SHA-256 of its source, in hexadecimal digits.
    pub sha256: String,
    /// The first line of what the compiler says of its version.
    pub compiler: String,
    /// The compiler's flags, without the files and folders that it was given.
    pub flags: Vec<String>,
    /// The source.
    pub source: String,
}

impl Inputs {
    /// Of the cases of `plan` under `replications` seeds from `seed` on.
    pub(crate) fn new(loaded: &Loaded, plan: &Plan, seed: u64, replications: u32) -> Self {
        let mut files = loaded.files.all();
        for path in used(&plan.cases).iter().filter_map(Controller::file) {
            let headers = tresse_controllers::included(path).into_iter();
            files.extend(
                headers
                    .map(|(path, text)| ReadFile { path: path.display().to_string(), sha256: sha256(&text) }),
            );
        }
        files.sort();
        files.dedup();
        let users = used(&plan.cases).into_iter().filter_map(|c| Some((c, c.file()?, c.build()?)));
        let users = users.map(|(controller, path, build)| UsersController {
            name: controller.name().to_owned(),
            path: path.display().to_string(),
            sha256: sha256(controller.text()),
            compiler: build.compiler.clone(),
            flags: build.flags.iter().map(|&flag| flag.to_owned()).collect(),
            source: controller.text().to_owned(),
        });
        Self {
            digest: digest(loaded, plan, &files, seed, replications),
            set: loaded.settings.clone(),
            only: plan.only.clone(),
            files,
            controllers: users.collect(),
        }
    }
}

/// The controllers of the cases, each once, in the order of their names.
fn used(cases: &[Case]) -> Vec<Controller> {
    let mut all: Vec<Controller> =
        cases.iter().flat_map(|case| &case.bound_schemes).map(|s| s.controllers.controller()).collect();
    all.sort_by_key(Controller::name);
    all.dedup_by_key(|controller| controller.name());
    all
}

/// What an experiment's results are judged by, and what has been laid over it already.
const NOT_RUN: [&str; 4] = ["profile", "replications", "published", "claims"];

/// The SHA-256 of the model version, the seeds, the experiment without what only people read and judge by, the cases in
/// their order, and the content of every file and every controller's source that is used, with the headers. Where it
/// is the same, the digest of the results is.
fn digest(loaded: &Loaded, plan: &Plan, files: &[ReadFile], seed: u64, replications: u32) -> String {
    let mut hash = Sha256::new();
    let mut add = |what: &str, text: &str| {
        // With its length, so that no text can pass for two.
        hash.update(format!("{what} {}\n", text.len()));
        hash.update(text);
    };
    add("model version", &MODEL_VERSION.to_string());
    add("seeds", &format!("{replications} from {seed}"));
    add("experiment", &canonical(&loaded.resolved));
    for case in &plan.cases {
        add("case", &case.label());
    }
    for controller in used(&plan.cases) {
        add(controller.name(), controller.text());
    }
    for (name, text) in tresse_controllers::headers() {
        add(name, text);
    }
    let own = &loaded.source.name;
    for file in files.iter().filter(|file| file.path != *own) {
        add("file", &file.sha256);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is run of an experiment as resolved, as text: without what only people read and judge by, the keys in order.
pub fn canonical(resolved: &Table) -> String {
    let mut run: Table = resolved.clone();
    run.retain(|key, _| !FOR_PEOPLE.contains(&key) && !NOT_RUN.contains(&key));
    run.get_mut("measure").and_then(Value::as_table_mut).map(|measure| measure.remove("table"));
    sorted(&Value::Table(run))
}

/// A value as text, with the keys of its tables in order.
fn sorted(value: &Value) -> String {
    match value {
        Value::Table(table) => {
            let mut parts: Vec<String> =
                table.iter().map(|(key, v)| format!("{key}={}", sorted(v))).collect();
            parts.sort();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(sorted).collect::<Vec<_>>().join(",")),
        value => value.to_string(),
    }
}
