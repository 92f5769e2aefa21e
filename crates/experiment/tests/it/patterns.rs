//! The keys of patterns: which belong to which, and where a wrong one is told.

use std::collections::BTreeSet;

use tresse_experiment::plan::patterns::ALL;
use tresse_experiment::{Plan, Profile, Source, find, load, resolve, schema};

/// `xmp/table1` with these workloads and no others.
fn text(workloads: &str) -> String {
    let text = find("xmp/table1").expect("built in").text;
    let start = text.find("[workloads.").expect("it has workloads");
    format!("{}{workloads}", &text[..start])
}

fn plan(workloads: &str, settings: &[&str]) -> Result<Plan, String> {
    let source = Source { name: "p.toml".to_owned(), text: text(workloads) };
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    let loaded = load(source, Profile::Quick, &settings).map_err(|e| e.to_string())?;
    resolve(&loaded, &[]).map_err(|e| e.to_string())
}

const PERMUTATION: &str = "[workloads.w]\npattern = \"permutation\"\nsize = \"1MB\"\n";

/// Where `what` begins in the experiment: `p.toml:LINE:COLUMN: `.
fn place(workloads: &str, what: &str) -> String {
    let text = text(workloads);
    let before = &text[..text.rfind(what).expect("it stands there")];
    let column = before.len() - before.rfind('\n').map_or(0, |i| i + 1) + 1;
    format!("p.toml:{}:{column}: ", before.matches('\n').count() + 1)
}

#[test]
fn a_wrong_key_is_told_where_it_stands() {
    for (more, at, message) in [
        ("round = 3\n", "round", "unknown key `round`; did you mean `rounds`?"),
        ("colour = 3\n", "colour", "unknown key `colour`, expected one of `pattern`, `parts`, `duration`"),
        ("jobs = 3\n", "3", "the pattern permutation has no `jobs` (it has: size, connections, rounds"),
        (
            "rounds = \"three\"\n",
            "\"three\"",
            "expected a whole number from 0 to 4294967295, found \"three\"",
        ),
        ("datagrams = 5\n", "5", "a bare number 5 has no unit"),
        ("duration = 5\n", "5", "a bare number 5 has no unit"),
        (
            "[workloads.x.parts.y]\npattern = \"perm\"\n",
            "\"perm\"",
            "unknown value `perm`; did you mean `permutation`?",
        ),
        ("[workloads.x.parts.y]\nsize = 5\npattern = \"random\"\n", "5", "a bare number 5 has no unit"),
        (
            "[[workloads.x.flow]]\nfrom = 0\nto = 1\nsize = 5\n[workloads.x]\npattern = \"flows\"\n",
            "5",
            "a bare",
        ),
    ] {
        let workloads = format!("{PERMUTATION}{more}");
        let told = plan(&workloads, &[]).expect_err(more);
        let expected = format!("{}{message}", place(&workloads, at));
        assert!(told.contains(&expected), "{told}\n{expected}");
    }
}

#[test]
fn a_setting_may_change_the_pattern_and_then_its_keys() {
    let settings = ["workloads.w.pattern=\"spread\"", "workloads.w.flows=3"];
    plan(PERMUTATION, &settings).expect("a size is of both");
    let told = plan(PERMUTATION, &settings[..1]).expect_err("no flows");
    assert!(
        told.contains("--set workloads.w.pattern=\"spread\": the pattern spread needs `flows`"),
        "{told}"
    );
    let told = plan(PERMUTATION, &["workloads.w.flows=3"]).expect_err("another pattern's");
    assert!(told.contains("--set workloads.w.flows=3: the pattern permutation has no `flows`"), "{told}");
    let told = plan(PERMUTATION, &["workloads.w.flaws=3"]).expect_err("nobody's");
    assert!(told.contains("--set workloads.w.flaws=3: unknown key `flaws`"), "{told}");
}

#[test]
fn the_schema_says_which_keys_a_pattern_has() {
    let schema = schema().to_value();
    let forms = schema["$defs"]["Workload"]["oneOf"].as_array().expect("a form for each pattern");
    let names: BTreeSet<&str> =
        forms.iter().filter_map(|f| f["properties"]["pattern"]["const"].as_str()).collect();
    assert_eq!(names, ALL.iter().map(|pattern| pattern.name).collect());
    for form in forms {
        assert!(form["description"].as_str().is_some_and(|d| d.ends_with('.')), "{form}");
        let keys = form["properties"].as_object().expect("keys");
        // A key without a sentence has a type that has one.
        let is_told = |key: &str| key == "pattern" || keys[key]["description"].is_string();
        assert!(keys.keys().all(|key| is_told(key)), "{form}");
    }
}
