//! `papers/results/PAPER-real.json`: the kept results of the papers' experiments on real hosts.

use std::fs;
use std::path::Path;

use tresse_reproduction::pages::{Reproduced, Reproduction, Runs, Stored};
use tresse_reproduction::paper::{self, Paper};
use tresse_results::Status;
use tresse_workbench::OWNERS;

/// Keeps the complete runs in the folders of `runs`, each in place of an earlier one; kept results of other
/// experiments stay.
pub fn keep(root: &Path, runs: &Path) -> Result<(), String> {
    let results = root.join("papers/results");
    let stored = Stored::all(&results).map_err(|e| e.to_string())?;
    let runs = complete(runs)?;
    for &paper in paper::ALL {
        let old = stored.iter().find(|s| s.paper == paper && s.runs == Runs::Real);
        let experiments = together(paper, &runs, old.map_or(&[], |s| &s.results.experiments));
        if experiments.is_empty() {
            continue;
        }
        let own = serde_json::to_value(Reproduction::of(experiments)).expect("plain data");
        let file = Stored::file(paper, Runs::Real);
        let path = results.join(&file);
        fs::write(&path, tresse_workbench::json::compact(&own) + "\n")
            .map_err(|e| format!("{}: {e}", path.display()))?;
        println!("papers/results/{file}");
    }
    Ok(())
}

/// The runs below the folder that were completed on real hosts.
fn complete(runs: &Path) -> Result<Vec<Reproduced>, String> {
    let entries = fs::read_dir(runs).map_err(|e| format!("{} cannot be read: {e}", runs.display()))?;
    let mut all = Vec::new();
    // A run in progress has no `testbed.json`.
    for folder in entries.flatten().map(|entry| entry.path()).filter(|f| f.join("testbed.json").exists()) {
        let (_, own) = Reproduced::read(&folder, OWNERS, false).map_err(|e| e.to_string())?;
        if own.is_real() && own.judged && own.status == Status::Complete {
            all.push(own);
        }
    }
    Ok(all)
}

/// The experiments of a paper, in its order: those of `runs`, and the kept results of others.
fn together(paper: Paper, runs: &[Reproduced], kept: &[Reproduced]) -> Vec<Reproduced> {
    let own = |name: &&str| runs.iter().chain(kept).find(|own| own.experiment == *name);
    paper.experiments().iter().filter_map(own).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_run_again_takes_the_place_of_what_is_kept() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let stored = Stored::all(&root.join("papers/results")).expect("they can be read");
        let kept = stored.iter().find(|s| s.paper.name == "xmp" && s.runs == Runs::Real).expect("it is kept");
        let kept = &kept.results.experiments;
        let again = Reproduced { digest: "another".to_owned(), ..kept[0].clone() };
        let mine = Reproduced { experiment: "mine".to_owned(), ..again.clone() };
        let all = together(paper::find("xmp").expect("it is one"), &[mine, again], kept);
        assert_eq!((all.len(), &*all[0].digest), (kept.len(), "another"));
        assert_eq!(all[1..], kept[1..]);
    }

    #[test]
    fn a_run_under_way_is_no_result() {
        let dir = tempfile::TempDir::new().expect("a temporary folder");
        fs::create_dir(dir.path().join("xmp-fig4")).expect("it can be made");
        assert_eq!(complete(dir.path()), Ok(Vec::new()));
        assert!(complete(&dir.path().join("missing")).is_err());
    }
}
