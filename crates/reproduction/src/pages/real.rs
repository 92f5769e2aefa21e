//! Results of real Linux hosts: the accuracy of such a run, and the kept results of the papers' experiments.

use std::io;
use std::path::Path;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tresse_experiment::diagnostic::Diagnostic;
use tresse_units::text_file;

use super::{Reproduced, Reproduction};

/// A summary of a run on real hosts; the rest is in its `testbed.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Testbed {
    /// The speed of the experiment's time: `1/3`.
    pub scale: String,
    /// What moved packets between hosts, if it was not the emulated fabric.
    #[serde(default, skip_serializing_if = "is_emulated")]
    pub switch: Option<String>,
    /// 99 % of the packets were late by less than this, ns of the experiment, in the worst of its runs; `None` if the
    /// kernel's own switches moved them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_p99_ns: Option<u64>,
    /// Packets per second of the wall clock, in the run with the most.
    pub packets_per_s: f64,
}

/// Whether the fabric was emulated: older records do not say so.
#[expect(clippy::ref_option, reason = "serde passes the field")]
fn is_emulated(switch: &Option<String>) -> bool {
    switch.as_deref().is_none_or(|switch| switch == "emulated")
}

/// The part of `testbed.json` that is read.
#[derive(Debug, Deserialize)]
struct File {
    runs: Vec<Testbed>,
}

impl Testbed {
    /// The summary of the run in the folder `out`; `None` if it was simulated.
    ///
    /// # Errors
    /// If `testbed.json` exists and cannot be read.
    pub(super) fn read(out: &Path) -> Result<Option<Self>, Diagnostic> {
        let path = out.join("testbed.json");
        let text = match text_file::read_text(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| Diagnostic::io("cannot be read", &path, error))?,
        };
        let File { runs } = serde_json::from_str(&text).map_err(|error| {
            Diagnostic::input(format!("not the record of a testbed: {error}")).of(path.display().to_string())
        })?;
        Ok(runs.into_iter().reduce(|all, run| Self {
            late_p99_ns: all.late_p99_ns.max(run.late_p99_ns),
            packets_per_s: all.packets_per_s.max(run.packets_per_s),
            ..all
        }))
    }

    /// `99 % of the packets up to 0.10 ms late`, or `packets moved by bridge`.
    pub fn lateness(&self) -> String {
        match (self.late_p99_ns, &self.switch) {
            (Some(late), _) => format!("99 % of the packets up to {:.2} ms late", late as f64 / 1e6),
            (None, switch) => format!("packets moved by {}", switch.as_deref().unwrap_or("the kernel")),
        }
    }
}

/// The papers with kept results; a test compares the list with `papers/results/`.
const KEPT: [&str; 3] = [
    include_str!("../../../../papers/results/xmp-real.json"),
    include_str!("../../../../papers/results/holnet-real.json"),
    include_str!("../../../../papers/results/vmcc-real.json"),
];

static REAL: LazyLock<Vec<Reproduced>> = LazyLock::new(|| {
    let of = |text| serde_json::from_str::<Reproduction>(text).expect("a test reads it").experiments;
    KEPT.into_iter().flat_map(of).collect()
});

/// The kept results of the built-in experiment `name` on real hosts.
pub fn real(name: &str) -> Option<&'static Reproduced> {
    REAL.iter().find(|own| own.experiment == name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::{Runs, Stored};
    use super::*;

    #[test]
    fn a_run_on_real_hosts_is_as_true_as_its_worst_case() {
        let dir = TempDir::new().expect("a temporary folder");
        assert_eq!(Testbed::read(dir.path()).expect("nothing is there"), None);
        let text = r#"{ "schema": "tresse/testbed/2", "runs": [
            { "case": "a", "scale": "1/3", "late_p99_ns": 96768, "packets_per_s": 24572.5, "repairs": 0 },
            { "case": "b", "scale": "1/3", "late_p99_ns": 552960, "packets_per_s": 17392.0, "repairs": 0 }] }"#;
        fs::write(dir.path().join("testbed.json"), text).expect("it can be written");
        let own = Testbed::read(dir.path()).expect("it can be read").expect("it is there");
        let emulated = Testbed {
            scale: "1/3".to_owned(),
            switch: None,
            late_p99_ns: Some(552_960),
            packets_per_s: 24572.5,
        };
        assert_eq!(own, emulated);
        assert_eq!(own.lateness(), "99 % of the packets up to 0.55 ms late");
        fs::write(dir.path().join("testbed.json"), "{").expect("it can be written");
        let error = Testbed::read(dir.path()).expect_err("it is cut").to_string();
        assert!(error.contains("testbed.json") && error.contains("not the record of a testbed"), "{error}");
    }

    #[test]
    fn the_command_knows_all_that_is_kept() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/results");
        let stored = Stored::all(&folder).expect("they can be read");
        let kept: Vec<&Reproduced> =
            stored.iter().filter(|s| s.runs == Runs::Real).flat_map(|s| &s.results.experiments).collect();
        assert!(
            !kept.is_empty() && kept.iter().all(|own| own.is_real() && real(&own.experiment) == Some(*own))
        );
        assert_eq!(REAL.len(), kept.len());
    }
}
