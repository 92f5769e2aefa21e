//! The challenges that are kept in `suites/challenge/`: what was found, why it is so, and what real hosts say.

use indexmap::IndexMap;
use serde::Serialize;

use super::hosts_record::{self, ReplayedOnHosts};
use super::record::{Record, SCHEMA};
use super::shrink::median;

/// A folder of `suites/challenge/`.
struct Folder {
    record: &'static str,
    on_hosts: Option<&'static str>,
    why: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/challenges.rs"));

/// What is kept of a challenge.
#[derive(Debug)]
pub struct Kept {
    pub record: Record,
    pub on_hosts: Option<ReplayedOnHosts>,
    /// Why each failure is one, by the name of its file.
    pub why: IndexMap<String, String>,
}

/// A condition in which a controller fails, simulated and on real hosts.
#[derive(Debug, Clone, Serialize)]
pub struct WorstCase {
    /// Its file in `suites/challenge/NAME`, without `.toml`.
    pub name: String,
    /// What happens, in a sentence.
    pub sentence: String,
    /// From this value on it is a failure.
    pub bad_from: f64,
    /// The goal's number: the median over the seeds.
    pub simulated: f64,
    /// The median on real hosts.
    pub real: Option<f64>,
    pub fate: Fate,
    /// Why hosts did not run it, or what was wrong there.
    pub remark: Option<String>,
    /// What of the controller's law it follows from.
    pub because: String,
}

/// What becomes of a failure on real hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is one there too.
    Stays,
    /// It is none there.
    Vanishes,
    /// Hosts have not run it.
    NotReplayed,
}

/// All challenges that are kept, in the order of the controllers' names.
pub fn kept() -> Vec<Kept> {
    FOLDERS.iter().map(|own| own.read().expect("a test has read them")).collect()
}

impl Folder {
    fn read(&self) -> Result<Kept, String> {
        let wrong = |e: &dyn std::fmt::Display| format!("suites/challenge: {e}");
        let record: Record = serde_json::from_str(self.record).map_err(|e| wrong(&e))?;
        let on_hosts = self.on_hosts.map(serde_json::from_str::<ReplayedOnHosts>);
        let on_hosts = on_hosts.transpose().map_err(|e| wrong(&e))?;
        let why = toml::from_str(self.why).map_err(|e| wrong(&e))?;
        let schemas = [Some(&record.schema), on_hosts.as_ref().map(|own| &own.schema)];
        for (own, known) in schemas.into_iter().zip([SCHEMA, hosts_record::SCHEMA]) {
            if let Some(own) = own.filter(|own| *own != known) {
                return Err(wrong(&format!("a schema is {own}, not {known}")));
            }
        }
        Ok(Kept { record, on_hosts, why })
    }
}

impl Kept {
    /// Its failures, in the order of the goals.
    pub fn worst_cases(&self) -> Vec<WorstCase> {
        let case = |found: &super::Found| {
            let name = found.file.trim_end_matches(".toml").to_owned();
            let on_hosts =
                self.on_hosts.iter().flat_map(|all| &all.failures).find(|own| own.file == found.file);
            let real = on_hosts.filter(|own| !own.real.is_empty()).map(|own| median(&own.real));
            let fate = match on_hosts.and_then(|own| own.stays) {
                Some(true) => Fate::Stays,
                Some(false) => Fate::Vanishes,
                None => Fate::NotReplayed,
            };
            WorstCase {
                sentence: found.sentence.clone(),
                bad_from: super::goal::find(&found.goal).map_or(0.0, |goal| goal.bad_from),
                simulated: found.value,
                real,
                fate,
                remark: on_hosts.and_then(|own| own.why.clone()),
                because: self.why.get(&name).cloned().unwrap_or_default(),
                name,
            }
        };
        self.record.failures.iter().map(case).collect()
    }
}

impl WorstCase {
    /// What real hosts say, as short as a cell.
    pub fn on_hosts(&self) -> String {
        let said = match (self.fate, self.real) {
            (Fate::Stays, Some(real)) => format!("stays {real:.2}"),
            (Fate::Vanishes, Some(real)) => format!("vanishes {real:.2}"),
            _ => "not replayed".to_owned(),
        };
        let remark = self.remark.as_ref().map(|own| format!(" ({own})")).unwrap_or_default();
        said + &remark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kept_failure_has_a_reason_and_no_other_has() {
        for own in kept() {
            let names: Vec<String> = own.worst_cases().into_iter().map(|case| case.name).collect();
            let explained: Vec<&String> = own.why.keys().collect();
            let name = &own.record.controller.name;
            assert!(names.len() >= 3, "{name}: {names:?}");
            assert!(explained.iter().all(|own| names.contains(own)), "{name}: {explained:?}");
            for case in own.worst_cases() {
                assert!(case.because.ends_with('.') && !case.because.contains('|'), "{name}: {case:?}");
            }
        }
    }

    #[test]
    fn what_hosts_measured_is_about_the_experiments_that_are_there() {
        for Kept { record, on_hosts, .. } in kept() {
            let name = &record.controller.name;
            let Some(on_hosts) = on_hosts else { panic!("{name} was not replayed on hosts") };
            assert_eq!(&on_hosts.controller, name);
            for own in &on_hosts.failures {
                let found = record.failures.iter().find(|found| found.file == own.file);
                let found = found.unwrap_or_else(|| panic!("{name}: there is no {}", own.file));
                assert_eq!(
                    (&own.sha256, own.simulated),
                    (&found.sha256, found.value),
                    "{name}: {}",
                    own.file
                );
                assert_eq!(own.stays.is_some(), !own.real.is_empty(), "{name}: {}", own.file);
            }
            assert!(on_hosts.failures.iter().filter(|own| own.stays.is_some()).count() >= 2, "{name}");
        }
    }
}
