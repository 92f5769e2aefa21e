//! Values of a wrong type: what may stand there, in the words of this project, with line and caret.

use tresse_experiment::{Loaded, Profile, Source, find, load, resolve};

fn told(text: &str, settings: &[&str]) -> Result<Loaded, String> {
    let source = Source { name: "m.toml".to_owned(), text: text.to_owned() };
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    load(source, Profile::Quick, &settings).map_err(|e| e.to_string())
}

fn table1() -> String {
    find("xmp/table1").expect("built in").text
}

/// What is wrong with `xmp/table1` where `old` is `new`: it must be told at `what`.
#[track_caller]
fn refused(old: &str, new: &str, what: &str, message: &str) {
    let text = table1();
    assert!(text.contains(old), "{old}");
    let text = text.replacen(old, new, 1);
    let at = text.find(new).expect("it was put there") + new.find(what).expect("it is there");
    let (line, column) = (text[..at].matches('\n').count() + 1, at - text[..at].rfind('\n').unwrap_or(0));
    let error = told(&text, &[]).expect_err(new);
    assert!(error.starts_with(&format!("m.toml:{line}:{column}: ")) && error.contains(message), "{error}");
    assert!(error.lines().any(|line| line.trim_start_matches([' ', '|']).starts_with('^')), "{error}");
}

#[test]
fn types_are_told_by_what_may_stand_there() {
    let fabric = "[fabric]\n";
    for (line, what, message) in [
        ("red = 5", "5", "expected a table such as { min = \"5pkt\""),
        ("flags = 3", "3", "expected a table such as { percent = 80 }, found 3"),
        ("flags = { percent = -1 }", "-1", "expected a whole number from 0 to 4294967295, found -1"),
        ("buffer = 1970-01-01", "1970", "found a date, but no key takes one"),
        ("links = 3", "3", "expected a list, found 3"),
        ("links = [{ ends = [\"a\", \"b\", \"c\"] }]", "[\"a\"", "expected a list of 2, found 3"),
    ] {
        refused(fabric, &format!("{fabric}{line}\n"), what, message);
    }
    let workload = "[workloads.permutation]\n";
    let message = "expected a number, found \"half\"";
    let load = "[workloads.w]\npattern = \"poisson\"\nload = \"half\"\n[workloads.permutation]\n";
    refused(workload, load, "\"half\"", message);
    let hosts = "[workloads.w]\npattern = \"incast\"\nsenders = 3\n[workloads.permutation]\n";
    refused(workload, hosts, "3", "expected hosts such as \"host 3\"");
    let windows = "[measure.windows]\na = [\"1s\", \"2s\", \"3s\"]\n[workloads.permutation]\n";
    refused(workload, windows, "[\"1s\"", "expected a list of 2, found 3");
}

#[test]
fn what_a_profile_lays_over_the_file_is_told_where_it_stands() {
    let message = "[profile.quick]: expected a whole number from 0 to 4294967295, found \"four\"";
    refused("permutation.rounds = 4", "permutation.rounds = \"four\"", "\"four\"", message);
}

#[test]
fn a_cut_that_nothing_uses_is_not_told() {
    let cuts = |settings: &[&str], only: &[&str]| -> Vec<String> {
        let loaded = told(&table1(), settings).expect("valid");
        let only: Vec<String> = only.iter().map(|s| (*s).to_owned()).collect();
        let plan = resolve(&loaded, &only).expect("valid");
        plan.cuts(&loaded).map(|(path, ..)| path.clone()).collect()
    };
    let all = cuts(&[], &[]);
    let rounds = "workloads.permutation.rounds".to_owned();
    assert!(all.len() > 1 && all.contains(&rounds), "{all:?}");
    assert_eq!(cuts(&[], &["pattern=permutation"]), std::slice::from_ref(&rounds));
    assert!(!cuts(&["workloads.permutation.rounds=3"], &[]).contains(&rounds));
    assert!(cuts(&["workloads.permutation.size=3MB"], &[]).contains(&rounds));
}

#[test]
fn the_title_is_the_name_of_the_file_by_default() {
    let text = table1();
    let title = text.lines().find(|line| line.starts_with("title = ")).expect("it has one");
    let text = text.replacen(title, "", 1);
    let titled = |name: &str, settings: &[&str]| {
        let source = Source { name: name.to_owned(), text: text.clone() };
        let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
        let loaded = load(source, Profile::Quick, &settings).expect("valid");
        assert_eq!(loaded.resolved["title"].as_str(), Some(&*loaded.experiment.title));
        loaded.experiment.title
    };
    assert_eq!(titled("here/mine.toml", &[]), "mine");
    assert_eq!(titled("here/mine.toml", &["title=another"]), "another");
}
