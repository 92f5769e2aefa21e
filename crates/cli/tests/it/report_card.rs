//! `tresse report-card`: verdicts, what does not apply, formats, errors, and what is kept of an interrupted card.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command as Process, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, interrupt, own_controller, tresse};
use crate::planted;

/// What `tresse report-card` prints with `--json`.
fn card(dir: &Path, arguments: &[&str]) -> Value {
    let output =
        tresse(dir).arg("report-card").args(arguments).arg("--json").output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("one JSON object: {e}: {said}"))
}

/// The result of the controller at `place` in a case.
fn result<'a>(card: &'a Value, case: &str, place: usize) -> &'a Value {
    let sections = card["sections"].as_array().expect("sections").iter();
    let mut cases = sections.flat_map(|section| section["cases"].as_array().expect("cases"));
    let found = cases.find(|own| own["name"] == case).unwrap_or_else(|| panic!("no {case}: {card}"));
    &found["results"][place]
}

#[test]
fn a_card_has_numbers_verdicts_and_what_does_not_apply() {
    let dir = TempDir::new().expect("a temporary folder");
    let asked = [
        "reno",
        "xmp",
        "swift",
        "holnet_uta",
        "--only",
        "standing-queue",
        "--only",
        "k-high",
        "--only",
        "goal-2",
    ];
    let all = card(dir.path(), &asked);
    assert_eq!((&all["schema"], &all["complete"]), (&"tresse/report-card/1".into(), &true.into()));
    let verdicts = |case: &str| [0, 1, 2, 3].map(|place| result(&all, case, place)["verdict"].clone());
    assert_eq!(verdicts("standing-queue"), ["fail", "pass", "pass", "not-applicable"], "{all}");
    assert_eq!(verdicts("k-high"), ["not-applicable", "pass", "not-applicable", "not-applicable"], "{all}");
    assert_eq!(verdicts("goal-2"), ["not-applicable", "pass", "not-applicable", "not-applicable"], "{all}");
    let reno = result(&all, "standing-queue", 0);
    assert!(reno["value"].as_f64().is_some_and(|value| value > 1e-3), "{reno}");
    assert!(reno["why"].as_str().is_some_and(|why| why.contains("buffer")), "{reno}");
    for (case, place, why) in [
        ("k-high", 0, "it does not react to marks"),
        ("goal-2", 0, "its subflows are not coupled"),
        ("goal-2", 2, "sprays"),
        ("goal-2", 3, "next hop"),
    ] {
        let said = result(&all, case, place)["why"].as_str().expect("a reason");
        assert!(said.contains(why), "{case} {place}: {said}");
    }
    let again = card(dir.path(), &[&asked[..], &["--parallel", "1"]].concat());
    assert_eq!(again, all, "the same to the last digit");
    assert!(fs::read_dir(dir.path()).expect("the folder").next().is_none(), "it leaves nothing behind");
}

/// Defects that a reader of the file may miss.
#[test]
fn planted_defects_fail() {
    let dir = TempDir::new().expect("a temporary folder");
    for (name, case) in
        [("sulks", "path-back"), ("loner", "goal-2"), ("twice", "steady"), ("calls", "lossy-link")]
    {
        let file = planted::write(dir.path(), name);
        let all = card(dir.path(), &["lia", &file, "--only", case]);
        assert_eq!(result(&all, case, 0)["verdict"], "pass", "{all}");
        assert_eq!(result(&all, case, 1)["verdict"], "fail", "{name}: {all}");
        assert!(result(&all, case, 1)["why"].is_null(), "no paper explains it: {all}");
    }
}

#[test]
fn it_is_written_as_text_markdown_and_a_page() {
    let dir = TempDir::new().expect("a temporary folder");
    let run = |more: &[&str]| {
        let base = ["report-card", "reno", "wvegas", "--only", "standing-queue", "--only", "k-high"];
        let output = tresse(dir.path()).args(base).args(more).output().expect("the command starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        (String::from_utf8(output.stdout).expect("UTF-8"), said)
    };
    let (table, said) = run(&[]);
    for part in [
        "standing-queue",
        "below 1 ms",
        "FAIL 4.",
        "pass 0.",
        "fails standing-queue (4.",
        "n/a",
        "RFC 9743 §5.1.2",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(said.contains("reno: alone: 0 pass, 1 fail (standing-queue)\n"), "{said}");
    let (markdown, _) = run(&["--format", "markdown"]);
    assert!(
        markdown.starts_with("# Report card: reno, wvegas\n\n| case | bound | reno | wvegas |\n"),
        "{markdown}"
    );
    let (nothing, _) = run(&["--format", "html", "-o", "card.html"]);
    assert_eq!(nothing, "");
    let page = fs::read_to_string(dir.path().join("card.html")).expect("the page");
    for part in
        ["<!doctype html>", "<td class=\"fail\">FAIL 4.", "<td class=\"not-applicable\">n/a", "</html>"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script") && !page.contains("http"), "it needs no network: {page}");
    let said = fails(tresse(dir.path()).args(["report-card", "reno", "-o", "card.html"]), 2);
    assert!(said.contains("--force"), "{said}");
}

/// Nothing runs for them: a challenge has found them, and hosts have run them.
#[test]
fn worst_cases_are_there_simulated_and_on_real_hosts() {
    let dir = TempDir::new().expect("a temporary folder");
    let only = ["--only", "worst-cases"];
    let all = card(dir.path(), &[&["xmp", "dcmptcp", "reno"], &only[..]].concat());
    assert_eq!(all["sections"], Value::Array(Vec::new()));
    let cases = |place: usize| all["controllers"][place]["worst_cases"].as_array().expect("a list");
    assert!(cases(0).len() >= 3 && cases(1).len() >= 3 && cases(2).is_empty(), "{all}");
    for case in cases(0) {
        let is_real = case["real"].as_f64().is_some();
        assert_eq!(is_real, case["fate"] != "not-replayed", "{case}");
        assert!(case["simulated"].as_f64() >= case["bad_from"].as_f64(), "{case}");
    }
    let write = |format: &str| {
        let mut run = tresse(dir.path());
        let output = run.args(["report-card", "xmp", "--format", format]).args(only).output();
        String::from_utf8(output.expect("the command starts").stdout).expect("UTF-8")
    };
    let name = cases(0)[0]["name"].as_str().expect("a name");
    for (format, heads) in [
        ("table", "worst case"),
        ("markdown", "| worst case | simulated | on real hosts | because |"),
        ("html", "<th>worst case</th><th>simulated</th><th>on real hosts</th>"),
    ] {
        let text = write(format);
        assert!(text.contains(heads) && text.contains(name) && text.contains("stays 0."), "{text}");
    }
    // A file of the same name is another controller.
    fs::write(dir.path().join("mine.c"), own_controller()).expect("a temporary file");
    let own = card(dir.path(), &[&["mine.c"], &only[..]].concat());
    assert_eq!(own["controllers"][0]["worst_cases"], Value::Array(Vec::new()));
}

#[test]
fn what_cannot_be_judged_is_told_before_anything_runs() {
    let dir = TempDir::new().expect("a temporary folder");
    let file = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("a temporary file");
    file("broken.c", "CONTROLLER(mine, nothing");
    file("mine.c", &own_controller());
    file(
        "stuck.c",
        &own_controller()
            .replace("return reno_increase(s);", "static volatile u32 zero;\n\treturn 1000 / zero;"),
    );
    for (arguments, code, told) in [
        (&["rneo"][..], 2, "there is no controller `rneo`; did you mean `reno`?"),
        (&["reno", "--only", "goal-7"], 2, "neither a section nor a case of that name"),
        (&["reno", "--only", "alonee"], 2, "did you mean `alone`?"),
        (&["broken.c"], 2, "it does not compile"),
        (&["none.c"], 2, "none.c"),
        (&["mine.c", "mine.c"], 2, "there is already a card of `mine`"),
        (&["stuck.c"], 1, "divides by 0"),
    ] {
        let said = fails(tresse(dir.path()).arg("report-card").args(arguments), code);
        assert!(said.contains(told), "{arguments:?}: {said}");
    }
}

#[test]
fn an_interrupted_card_has_what_is_done() {
    let dir = TempDir::new().expect("a temporary folder");
    let mut child = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(["report-card", "reno", "dctcp", "xmp", "lia", "olia", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut told = BufReader::new(child.stderr.take().expect("its stderr")).lines();
    let first = told.next().expect("a line").expect("UTF-8");
    assert!(first.starts_with("reno: alone: "), "{first}");
    interrupt(child.id());
    let rest: Vec<String> = told.map(|line| line.expect("UTF-8")).collect();
    let mut text = String::new();
    child.stdout.take().expect("its stdout").read_to_string(&mut text).expect("UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{rest:?}");
    let all: Value = serde_json::from_str(&text).expect("one JSON object");
    assert_eq!(all["complete"], false);
    assert_eq!(result(&all, "full-link", 0)["verdict"], "pass");
    assert_eq!(result(&all, "full-link", 4)["verdict"], "not-run");
}
