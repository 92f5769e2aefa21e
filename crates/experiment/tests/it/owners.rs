//! Keys at the top of a file that another crate owns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_experiment::diagnostic::Wrong;
use tresse_experiment::schema::Experiment;
use tresse_experiment::{Case, Loaded, OwnedKeys, Owner, Owners, Profile, Source, load};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Notes {
    #[serde(default)]
    notes: Vec<Note>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    scheme: String,
}

/// The notes may only be about schemes that exist.
fn check(experiment: &Experiment, cases: &[Case], _: bool) -> Result<(), Wrong> {
    let notes = experiment.owned.get("notes").and_then(|own| own.as_array()).into_iter().flatten();
    for (place, note) in notes.enumerate() {
        let scheme = note["scheme"].as_str().expect("it was checked");
        if !cases.iter().any(|case| case.scheme == scheme) {
            return Err(Wrong::key("scheme", "no such scheme").below(place).below("notes"));
        }
    }
    Ok(())
}

const NOTES: Owners = Owners::all(&[Owner { keys: OwnedKeys::of::<Notes>(), check }]);

const EXPERIMENT: &str = r#"title = "Two flows"
[fabric]
topology = "dumbbell"
pairs = 2
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
host_queue = "unlimited"
[transport]
profile = "linux"
[schemes.reno]
controller = "reno"
[workloads.pairs]
pattern = "permutation"
size = "1MB"
"#;

fn source(more: &str) -> Source {
    Source { name: "m.toml".to_owned(), text: format!("{EXPERIMENT}{more}") }
}

/// The error with this at the end of the file.
fn refused(more: &str, settings: &[&str]) -> String {
    let settings: Vec<String> = settings.iter().map(|&own| own.to_owned()).collect();
    let loaded = NOTES.load(source(more), Profile::Full, &settings);
    let error = loaded.and_then(|loaded| NOTES.resolve(&loaded, &[])).expect_err(more);
    error.to_string()
}

#[test]
fn owners_are_asked_what_may_be_in_their_keys() {
    let loaded: Loaded =
        NOTES.load(source("[[notes]]\nscheme = \"reno\"\n"), Profile::Full, &[]).expect("valid");
    assert!(loaded.experiment.owned.contains_key("notes") && NOTES.resolve(&loaded, &[]).is_ok());
    for (more, settings, message) in [
        ("[[notes]]\nsceme = 3\n", &[][..], "m.toml:17:1: unknown key `sceme`; did you mean `scheme`?"),
        ("[[notes]]\nscheme = \"cubic\"\n", &[], "m.toml:17:10: no such scheme"),
        ("[[note]]\n", &[], "m.toml:16:3: unknown key `note`; did you mean `notes`?"),
        ("[zzz]\n", &[], "`variants`, `profile`, `notes`"),
        ("", &["notes=3"], "--set notes=3: expected a list, found 3"),
        ("[variants.a]\nnotes = []\n", &[], "`notes` belongs to the whole experiment"),
        ("[variants.a]\nnots = []\n", &[], "[variants.a]: unknown key `nots`; did you mean `notes`?"),
    ] {
        let error = refused(more, settings);
        assert!(error.contains(message), "{message}: {error}");
    }
}

#[test]
fn nobody_else_looks_at_them() {
    let loaded =
        load(source("[[notes]]\nsceme = 3\n"), Profile::Full, &[]).expect("an owner would refuse it");
    assert_eq!(loaded.experiment.owned["notes"][0]["sceme"].as_integer(), Some(3));
    assert!(tresse_experiment::schema().as_value()["properties"].get("notes").is_none());
    assert!(NOTES.schema().as_value()["properties"].get("notes").is_some());
}

#[test]
fn a_changed_key_counts_unless_it_is_only_for_people() {
    const SHOWN: Owners =
        Owners::all(&[Owner { keys: OwnedKeys::of::<Notes>().only_for_people(), check: |_, _, _| Ok(()) }]);
    let changes = |owners: Owners| {
        let setting = "notes=[{ scheme = \"reno\" }]".to_owned();
        owners.load(source(""), Profile::Full, &[setting]).expect("valid").changes.len()
    };
    assert_eq!((changes(NOTES), changes(SHOWN)), (1, 0));
}
