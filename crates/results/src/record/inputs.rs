//! What a run was made of, in addition to the resolved experiment, so that two runs can be distinguished.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::{Table, Value};
use tresse_balancers::Balancer;
use tresse_controllers::{Build, Controller};
use tresse_experiment::plan::{Case, Plan};
use tresse_experiment::read::Loaded;
use tresse_experiment::read::files::{ReadFile, sha256};
use tresse_experiment::schema::is_run;

use crate::record::report::MODEL_VERSION;

/// What a run was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// A fingerprint of everything that determines the results.
    pub digest: String,
    /// `--set`, as given.
    pub set: Vec<String>,
    /// `--only`, as given.
    pub only: Vec<String>,
    /// The files that the experiment read, including its own if it is not built in, and the users' headers that
    /// their controllers and balancers include.
    pub files: Vec<ReadFile>,
    /// The users' controllers that a case uses.
    pub controllers: Vec<UsersCode>,
    /// The users' balancers that a case uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub balancers: Vec<UsersCode>,
}

/// A controller or balancer from a user's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsersCode {
    pub name: String,
    /// Its file, as given.
    pub path: String,
    /// The SHA-256 of its source, in hexadecimal digits.
    pub sha256: String,
    /// The first line of the compiler's version output.
    pub compiler: String,
    /// The compiler's flags, without the files and folders that it was given.
    pub flags: Vec<String>,
    pub source: String,
}

impl Inputs {
    /// Of the cases of `plan` under `replications` seeds from `seed` on.
    pub fn new(loaded: &Loaded, plan: &Plan, seed: u64, replications: u32) -> Self {
        let mut files = loaded.files.all();
        let (controllers, balancers) = (used(&plan.cases), used_balancers(&plan.cases));
        let of_controllers = controllers.iter().filter_map(Controller::file);
        for path in of_controllers.chain(balancers.iter().filter_map(Balancer::file)) {
            let headers = tresse_controllers::included(path).into_iter();
            files.extend(
                headers
                    .map(|(path, text)| ReadFile { path: path.display().to_string(), sha256: sha256(&text) }),
            );
        }
        files.sort();
        files.dedup();
        let code = |name: &str, text: &str, path: &Path, build: &Build| UsersCode {
            name: name.to_owned(),
            path: path.display().to_string(),
            sha256: sha256(text),
            compiler: build.compiler.clone(),
            flags: build.flags.iter().map(|&flag| flag.to_owned()).collect(),
            source: text.to_owned(),
        };
        Self {
            digest: digest(loaded, plan, &files, seed, replications),
            set: loaded.settings.clone(),
            only: plan.only.clone(),
            files,
            controllers: controllers
                .iter()
                .filter_map(|own| Some(code(own.name(), own.text(), own.file()?, own.build()?)))
                .collect(),
            balancers: balancers
                .iter()
                .filter_map(|own| Some(code(own.name(), own.text(), own.file()?, own.build()?)))
                .collect(),
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

/// The balancers of the cases' hosts, as [`used`].
fn used_balancers(cases: &[Case]) -> Vec<Balancer> {
    let schemes = cases.iter().flat_map(|case| &case.bound_schemes);
    let mut all: Vec<Balancer> =
        schemes.filter_map(|s| Some(s.sprayed.as_ref()?.balancer.balancer())).collect();
    all.sort_by_key(Balancer::name);
    all.dedup_by_key(|balancer| balancer.name());
    all
}

/// The SHA-256 of the model version, the seeds, the experiment without what people only read and judge by, the
/// cases in their order, and the content of every file and of every controller's and balancer's source that is
/// used, with the headers. If it is the same, the digest of the results is too.
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
    let balancers = used_balancers(&plan.cases);
    balancers.iter().for_each(|balancer| add(balancer.name(), balancer.text()));
    if !balancers.is_empty() {
        tresse_balancers::headers().iter().for_each(|(name, text)| add(name, text));
    }
    let own = &loaded.source.name;
    for file in files.iter().filter(|file| file.path != *own) {
        add("file", &file.sha256);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The part of a resolved experiment that is run, as text: without what people only read or judge
/// by, and with the keys in order.
pub fn canonical(resolved: &Table) -> String {
    let mut run: Table = resolved.clone();
    run.retain(|key, _| is_run(key));
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
