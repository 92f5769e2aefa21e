//! What a worker needs to compute a point, and the computation.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::Table;
use tresse_controllers::LoadError;
use tresse_experiment::diagnostic::plain_json;
use tresse_experiment::read;
use tresse_experiment::read::files::sha256;
use tresse_experiment::schema::stopping_rule::{Asked, Replications};
use tresse_experiment::{Diagnostic, Loaded, Owners, Profile, Source};
use tresse_lab::{Options, Watch};
use tresse_results::record::inputs;
use tresse_results::{MODEL_VERSION, Report};

use crate::controllers::{self, StoredController};
use crate::plan::{Plan, setting};
use crate::record::Record;
use crate::store::Point;
use crate::unseen::Part;

/// What all points of a sweep have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Common {
    /// The experiment's name or file.
    name: String,
    text: String,
    full: bool,
    only: Vec<String>,
    seed: u64,
    replications: Option<String>,
    controllers: Vec<StoredController>,
}

/// A point for a worker, which can be sent to another machine. Files that the experiment names, such as flow sizes,
/// are not included.
#[derive(Debug, Serialize, Deserialize)]
struct Spec {
    address: String,
    /// As `--set` takes them.
    settings: Vec<String>,
    /// Which of its cases; `None`: all.
    part: Option<Part>,
    #[serde(flatten)]
    common: Arc<Common>,
}

/// The experiment of a sweep: how its points are addressed.
#[derive(Debug)]
pub(crate) struct Base {
    /// Whose keys the experiment may have.
    pub owners: Owners,
    pub common: Arc<Common>,
    /// The settings of every point.
    pub set: Vec<(String, toml::Value)>,
    /// The experiment without the settings of points.
    resolved: Table,
    /// The address of all that points have in common.
    pub address: String,
    /// What the files that it names say differently, or more, than is read of them.
    pub notes: Vec<String>,
}

impl Base {
    /// From a plan; compiles and loads the controllers that it names.
    ///
    /// # Errors
    /// If something is wrong with the experiment, a controller, or their settings in the plan.
    pub fn of<E: From<Diagnostic> + From<LoadError>>(plan: &Plan, owners: Owners) -> Result<Self, E> {
        let controllers: Result<Vec<StoredController>, LoadError> =
            plan.controllers().iter().map(|file| controllers::load(file)).collect();
        let controllers = controllers?;
        let (only, replications) = (plan.only()?, plan.replications()?);
        let source = plan.source()?;
        let loaded = owners.load(source.clone(), plan.profile(), &[])?;
        let set = plan.set();
        let mut resolved = loaded.resolved.clone();
        for (key, value) in &set {
            let settled = read::set(&mut resolved, &setting((key, value)));
            settled.map_err(|error| plan.caused(&["set", key], error))?;
        }
        // The files of workloads are read when cases are made. If none can be made of the file alone, the points tell why.
        let _ = owners.resolve(&loaded, &[]);
        let own = &loaded.source.name;
        let files = loaded.files.all().into_iter().filter(|file| file.path != *own);
        let mut same: Vec<String> = files.map(|file| file.sha256).collect();
        same.sort();
        same.extend(controllers.iter().map(StoredController::address));
        let name = match Path::new(&source.name).is_file() {
            // Workers may have another current folder.
            true => std::path::absolute(&source.name).map_or(source.name, |path| path.display().to_string()),
            false => source.name,
        };
        let common = Common {
            name,
            text: source.text,
            full: plan.profile() == Profile::Full,
            only,
            seed: plan.seed(),
            replications: replications.map(|asked| asked.to_string()),
            controllers,
        };
        same.push(format!("model version {MODEL_VERSION}"));
        same.push(format!("{:?} {} {:?}", common.only, common.seed, common.replications));
        let address = sha256(same.join("\n"));
        let notes = loaded.files.notes();
        let mut base = Self { owners, common: Arc::new(common), set, resolved, address, notes };
        base.address = base.address_of(&[]);
        Ok(base)
    }

    /// The content address of a point: equal for equal results.
    pub fn address_of(&self, settings: &[String]) -> String {
        let mut resolved = self.resolved.clone();
        let wrong = settings.iter().filter(|setting| read::set(&mut resolved, setting).is_err());
        // What cannot be set is a failure of its own.
        let wrong: Vec<&str> = wrong.map(String::as_str).collect();
        let mut hash = Sha256::new();
        for part in [
            &self.address,
            &inputs::canonical(&resolved),
            &resolved.get("replications").map(ToString::to_string).unwrap_or_default(),
            &wrong.join("\n"),
        ] {
            hash.update(format!("{}\n{part}\n", part.len()));
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The content address of some of a point's cases.
    pub fn address_of_part(&self, settings: &[String], part: &Part) -> String {
        let cases: Vec<String> = part.cases.iter().map(|case| case.join(" ")).collect();
        sha256(format!("{}\n{}", self.address_of(settings), cases.join("\n")))
    }

    /// The settings of a point, as `--set` takes them.
    pub fn settings<'a>(&self, own: impl IntoIterator<Item = (&'a String, &'a toml::Value)>) -> Vec<String> {
        let set = self.set.iter().map(|(key, value)| setting((key, value)));
        set.chain(own.into_iter().map(|(key, value)| setting((key, value)))).collect()
    }

    /// The input of [`run_point`].
    pub fn spec(&self, point: &Point) -> String {
        let Point { address, settings, part, .. } = point;
        let (address, settings, part) = (address.clone(), settings.clone(), part.clone());
        let spec = Spec { address, settings, part, common: Arc::clone(&self.common) };
        serde_json::to_string(&spec).expect("plain data")
    }
}

impl Common {
    /// The experiment at a point.
    pub fn load(&self, owners: Owners, settings: &[String]) -> Result<Loaded, Diagnostic> {
        let source = Source { name: self.name.clone(), text: self.text.clone() };
        let profile = if self.full { Profile::Full } else { Profile::Quick };
        owners.load(source, profile, settings)
    }

    /// Which cases are run.
    pub fn only(&self) -> &[String] {
        &self.only
    }

    fn replications(&self, said: &Replications) -> Replications {
        let asked: Option<Asked> = self.replications.as_ref().and_then(|text| text.parse().ok());
        asked.map_or_else(|| said.clone(), |asked| asked.over(said))
    }

    fn run(
        &self,
        owners: Owners,
        settings: &[String],
        part: Option<&Part>,
        begins: &dyn Fn(&Arc<Watch>),
    ) -> Result<(Report, Arc<Watch>), Diagnostic> {
        let loaded = self.load(owners, settings)?;
        let mut plan = owners.resolve(&loaded, &self.only)?;
        plan.cases.retain(|case| part.is_none_or(|part| part.has(case)));
        let options = Options {
            profile: if self.full { Profile::Full } else { Profile::Quick },
            seed: self.seed,
            replications: self.replications(&loaded.experiment.replications),
            parallel: 1,
            threads: 1,
            out: None,
            judge: false,
            figure: None,
        };
        let watch = Arc::new(Watch::new(&plan, &options)?);
        begins(&watch);
        Ok((tresse_reproduction::measure(&loaded, &plan, &options, &watch)?, watch))
    }

    /// Computes a point, or a part of it; `begins` gets what can stop it. `None` if it was stopped.
    pub fn measure(
        &self,
        owners: Owners,
        address: &str,
        (settings, part): (&[String], Option<&Part>),
        begins: &dyn Fn(&Arc<Watch>),
    ) -> Option<Record> {
        match caught(|| self.run(owners, settings, part, begins)) {
            Ok(Ok((_, watch))) if watch.stop.load(Ordering::Relaxed) => None,
            Ok(Ok((report, _))) => Some(Record::of(address, report)),
            Ok(Err(error)) => Some(Record::failed(address, told(&error))),
            Err(message) => Some(Record::failed(address, format!("it panicked: {message}"))),
        }
    }
}

/// Computes the point of a specification: its record, as JSON. A point that fails has a record too. The experiment may
/// have the keys of `owners`.
///
/// # Errors
/// If it is not a specification, or this machine cannot compute it because it has no compiler for a controller.
pub fn run_point<E: From<Diagnostic> + From<LoadError>>(owners: Owners, spec: &str) -> Result<String, E> {
    let spec: Spec = serde_json::from_str(spec).map_err(|e| {
        Diagnostic::input(format!("not a specification of a point of this version: {}", plain_json(&e)))
    })?;
    spec.common.controllers.iter().try_for_each(controllers::have)?;
    let record = spec.common.measure(owners, &spec.address, (&spec.settings, spec.part.as_ref()), &|_| ());
    Ok(serde_json::to_string(&record.expect("nobody stops it")).expect("plain data"))
}

/// The error at a point, in one line.
fn told(error: &Diagnostic) -> String {
    let name = error.source_name.iter().cloned();
    let place = error.place.iter().map(|place| format!("{}:{}", place.line, place.column));
    let parts: Vec<String> = name.chain(place).collect();
    if parts.is_empty() { error.message.clone() } else { format!("{}: {}", parts.join(":"), error.message) }
}

/// Turns a panic of `work` into an error.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panicked| {
        let text = panicked.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panicked.downcast_ref().copied()).unwrap_or("see stderr").to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told() {
        assert_eq!(caught(|| 3), Ok(3));
        assert_eq!(caught(|| -> u32 { panic!("a queue of {}", -1) }), Err("a queue of -1".to_owned()));
        assert_eq!(caught(|| -> u32 { panic!("fixed") }), Err("fixed".to_owned()));
    }
}
