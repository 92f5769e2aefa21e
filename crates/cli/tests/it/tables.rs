//! The tables that `tresse run` prints: completion times by size, 80 columns, and `tresse show`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{SMALL, fails, tresse};

/// The experiment of the tutorial's cluster with one number of subflows, and fewer flows of it.
fn web_search(dir: &Path) -> [&'static str; 4] {
    let page = include_str!("../../../../docs/tutorial/my-cluster.md");
    let (_, text) = page.split_once("```toml title=\"cluster.toml\"\n").expect("the example");
    let (text, _) = text.split_once("```").expect("a block ends");
    fs::write(dir.join("web.toml"), text.replace("[2, 4]", "4")).expect("the folder can be written");
    ["run", "web.toml", "--set", "workloads.websearch.flows=40"]
}

fn stdout(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn run(dir: &Path, args: &[&str], columns: Option<&str>) -> String {
    let mut command = tresse(dir);
    match columns {
        Some(columns) => command.env("COLUMNS", columns),
        None => command.env_remove("COLUMNS"),
    };
    stdout(command.args(args).output().expect("the command starts"))
}

/// The cells of the first line that begins with `name`.
fn line<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name));
    line.unwrap_or_else(|| panic!("no {name} in:\n{text}")).split_whitespace().collect()
}

fn fits(text: &str) {
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn arrivals_are_shown_by_size() {
    let dir = TempDir::new().expect("a temporary folder");
    let text = run(dir.path(), &web_search(dir.path()), None);
    let head = "size             flows  FCT, ms    p50    p99  slowdown    p50    p99";
    assert_eq!(line(&text, "size"), head.split_whitespace().collect::<Vec<_>>());
    assert!(
        text.contains("\ndctcp-1 websearch\n  up to 10kB") && text.contains("\nxmp-4 websearch\n"),
        "{text}"
    );
    let all: Vec<f64> = line(&text, "  all").iter().skip(1).map(|n| n.parse().expect("a number")).collect();
    let [flows, mean, p50, p99, slowdown, ..] = all[..] else { panic!("{all:?}") };
    assert!(flows == 40.0 && p50 < mean && mean < p99 && slowdown > 1.0, "{all:?}");
    // The classes share the flows out among them.
    let classes = ["  up to 10kB", "  10kB to", "  100kB to", "  above 1MB"];
    let sizes = classes.map(|class| {
        let cells = line(&text, class);
        cells[cells.len() - 7].parse::<f64>().expect("flows")
    });
    assert_eq!(sizes.iter().sum::<f64>(), 40.0, "{text}");
    assert_eq!(line(&text, "scheme"), ["scheme", "pattern", "RTOs", "resent", "drops", "marks"]);
    assert!(text.contains("\nload of websearch: 50.0 % of the narrowest tier, "), "{text}");
    // Nothing of goodput, and what is named is shown instead.
    assert!(!text.contains("optimum"), "{text}");
    let named = run(
        dir.path(),
        &[&web_search(dir.path())[..], &["--set", "measure.table=[\"fct_p99_s\"]"]].concat(),
        None,
    );
    assert_eq!(line(&named, "scheme"), ["scheme", "pattern", "fct", "p99,", "ms"]);
    assert!(!named.contains("slowdown"), "{named}");
}

#[test]
fn flows_that_a_case_cuts_off_are_told() {
    let dir = TempDir::new().expect("a temporary folder");
    let all = run(dir.path(), &web_search(dir.path()), None);
    assert!(!all.contains("had not finished"), "{all}");
    let short = ["--set", "workloads.websearch.duration=4ms"];
    let text = run(dir.path(), &[&web_search(dir.path())[..], &short].concat(), None);
    let left = line(&text, "dctcp-1  websearch")[6];
    let begun = line(&text, "  all")[1];
    let line = text.lines().find(|line| line.starts_with("flows that had not finished")).expect(&text);
    assert!(line.contains(&format!("{left} of {begun} under dctcp-1 websearch")), "{text}");
    assert!(line.contains("They are in no completion time"), "{text}");
}

#[test]
fn seeds_are_shown_with_the_metrics_of_the_table() {
    let dir = TempDir::new().expect("a temporary folder");
    let more = ["--replications", "2", "--set", "measure.table=[\"fct_p99_s\", \"timeouts\"]"];
    let report = run(dir.path(), &[&web_search(dir.path())[..], &more, &["--json"]].concat(), None);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let text = run(dir.path(), &["show", "runs/web-1", "--by", "seed"], None);
    assert_eq!(line(&text, "seed"), ["seed", "fct", "p99,", "ms", "timeouts"]);
    for seed in [1, 2] {
        let own = line(&text, &format!("  {seed} "));
        let wanted =
            report["cases"][0]["seeds"][seed - 1]["metrics"]["fct_p99_s"].as_f64().expect("a number");
        assert_eq!(own[1], format!("{:.3}", wanted * 1e3), "{text}");
    }
    run(dir.path(), &web_search(dir.path()), None);
    let one = run(dir.path(), &["show", "runs/web-2", "--by", "seed"], None);
    assert!(one.contains("no seed of dctcp-1 websearch: it has only one"), "{one}");
}

#[test]
fn everything_fits_into_80_columns() {
    let dir = TempDir::new().expect("a temporary folder");
    let web = web_search(dir.path());
    let text = run(dir.path(), &web, Some("80"));
    fits(&text);
    assert!(text.contains("FCT, ms    p50    p99  slowdown    p50    p99\n"), "one block: {text}");
    let table1 = run(dir.path(), &[&SMALL[..], &["--out", "table1"]].concat(), Some("80"));
    fits(&table1);
    let labels = table1.lines().filter(|line| line.starts_with("xmp-2    permutation  ")).count();
    assert_eq!(labels, 2, "what does not fit stands below: {table1}");
    for command in [
        "show runs/web-1 --by size",
        "show runs/web-1 --by layer",
        "compare table1 table1",
        "optimum xmp/table1 --set fabric.k=4 --only pattern=permutation",
        "topology show xmp/table1",
        "list controllers",
        "list experiments",
        "list distributions",
    ] {
        fits(&run(dir.path(), &command.split(' ').collect::<Vec<_>>(), Some("80")));
    }
    // Elsewhere than on a terminal, lines are as long as they are.
    let wide = run(dir.path(), &["show", "table1"], None);
    assert!(line(&wide, "xmp-2").len() > 11, "{wide}");
}

#[test]
fn a_run_is_shown_again() {
    let dir = TempDir::new().expect("a temporary folder");
    let web = web_search(dir.path());
    let first = run(dir.path(), &web, None);
    assert_eq!(run(dir.path(), &["show", "runs/web-1"], None), first);
    let report = run(dir.path(), &[&web[..], &["--json"]].concat(), None);
    assert_eq!(run(dir.path(), &["show", "runs/web-2", "--json"], None), report);
    let both = run(dir.path(), &["show", "runs/web-1", "runs/web-2"], None);
    assert!(both.starts_with(&first) && both.contains("results: runs/web-2"), "{both}");

    let sizes = run(dir.path(), &["show", "runs/web-1", "--by", "size"], None);
    assert!(sizes.contains("  up to 100kB  ") && sizes.contains("resent\n"), "{sizes}");
    let group = run(dir.path(), &["show", "runs/web-1", "--by", "group"], None);
    assert!(group.contains("no group of xmp-4 websearch: all its flows are in one group"), "{group}");
    let window = run(dir.path(), &["show", "runs/web-1", "--by", "window"], None);
    assert!(window.contains("no window of xmp-4 websearch: its experiment names none"), "{window}");
    let error = fails(tresse(dir.path()).args(["show", "web.toml"]), 2);
    assert!(error.contains("there is no run here") && error.contains("hint: "), "{error}");
}

/// The rows of a table in CSV whose cells hold no comma but in the head.
fn rows(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

#[test]
fn tables_are_written_for_other_programs() {
    let dir = TempDir::new().expect("a temporary folder");
    let text = run(dir.path(), &web_search(dir.path()), None);
    let show = |args: &[&str]| run(dir.path(), &[&["show", "runs/web-1", "--format"], args].concat(), None);
    let csv = show(&["csv"]);
    let (sizes, losses) = csv.split_once("\n\n").expect("two tables");
    let head = "case,size,flows,\"FCT, ms\",\"FCT ±95 %, ms\",\"FCT p50, ms\",\"FCT p99, ms\",slowdown,";
    assert!(sizes.starts_with(head), "{sizes}");
    let all = rows(sizes).into_iter().find(|row| row[..2] == ["dctcp-1 websearch", "all"]).expect("a row");
    // The same numbers as on the screen, where the interval of a single seed is left out.
    let screen = line(&text, "  all");
    assert_eq!((all[2], all[3], all[4], &all[5..]), (screen[1], screen[2], "", &screen[3..]), "{csv}");
    assert!(losses.starts_with("scheme,pattern,RTOs,resent,drops,marks,unfinished\n"), "{losses}");
    let latex = show(&["latex", "--by", "size"]);
    assert!(latex.starts_with("% \\usepackage{booktabs}\n\\begin{tabular}{lrrrrrrrrrr}\n"), "{latex}");
    assert!(latex.contains("\\multicolumn{11}{l}{dctcp-1 websearch} \\\\\n"), "{latex}");
    assert!(show(&["markdown"]).contains("\n| **dctcp-1 websearch** |  |"), "{}", show(&["markdown"]));
    let error = fails(tresse(dir.path()).args(["show", "runs/web-1", "--format", "csv", "--json"]), 2);
    assert!(error.contains("--format") && error.contains("--json"), "{error}");
}

#[test]
fn a_table_is_chosen_by_its_name() {
    let dir = TempDir::new().expect("a temporary folder");
    run(dir.path(), &web_search(dir.path()), None);
    let show = |args: &[&str]| run(dir.path(), &[&["show", "runs/web-1", "--table"], args].concat(), None);
    let losses = show(&["losses"]);
    assert!(losses.starts_with("scheme   pattern    RTOs") && !losses.contains("FCT"), "it alone: {losses}");
    let both = show(&["losses,sizes", "--format", "csv"]);
    let (first, second) = both.split_once("\n\n").expect("two tables");
    assert!(first.starts_with("scheme,pattern,RTOs,") && second.starts_with("case,size,flows,"), "{both}");
    let wrong =
        |args: &[&str]| fails(tresse(dir.path()).args(["show", "runs/web-1", "--table"]).args(args), 2);
    let error = wrong(&["jobs"]);
    assert!(
        error.contains("runs/web-1 has no table `jobs`") && error.contains("it has sizes, losses"),
        "{error}"
    );
    let error = wrong(&["flows"]);
    assert!(error.contains("cases, sizes, losses, groups, slices, jobs"), "{error}");
    let error = wrong(&["sizes", "--by", "size"]);
    assert!(error.contains("--table") && error.contains("--by"), "{error}");
}

#[test]
fn means_have_two_digits_of_their_intervals() {
    let dir = TempDir::new().expect("a temporary folder");
    let more = ["--replications", "2", "--set", "measure.table=[\"fct_mean_s\"]", "--json"];
    let report = run(dir.path(), &[&web_search(dir.path())[..], &more].concat(), None);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let show = |format: &str| run(dir.path(), &["show", "runs/web-1", "--format", format], None);
    let csv = show("csv");
    let [latex, markdown] = ["latex", "markdown"].map(show);
    for (case, row) in report["cases"].as_array().expect("cases").iter().zip(rows(&csv)) {
        let [mean, half] = [row[2], row[3]];
        let digits: String = half.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(digits.trim_start_matches('0').len(), 2, "{csv}");
        let decimals = |text: &str| text.split_once('.').map_or(0, |(_, rest)| rest.len());
        assert_eq!(decimals(mean), decimals(half), "{csv}");
        for (shown, in_full) in [(mean, &case["metrics"]), (half, &case["ci95"])] {
            let shown: f64 = shown.parse().expect("a number");
            let off = (shown - in_full["fct_mean_s"].as_f64().expect("a number") * 1e3).abs();
            assert!(off <= 0.51 * 10f64.powi(-(decimals(half) as i32)), "{shown} {in_full}");
        }
        assert!(latex.contains(&format!("${mean} \\pm {half}$")), "{latex}");
        assert!(markdown.contains(&format!("| {mean} ± {half} |")), "{markdown}");
    }
}

#[test]
fn a_run_that_has_not_ended_says_so() {
    let dir = TempDir::new().expect("a temporary folder");
    run(dir.path(), &web_search(dir.path()), None);
    let path = dir.path().join("runs/web-1/run.json");
    let mut report: Value = serde_json::from_str(&fs::read_to_string(&path).expect("a run")).expect("JSON");
    let mut shown = |status: &str, cases: usize| {
        report["status"] = json!(status);
        if status == "running" {
            report["digest"] = json!(""); // it is known at the end
        }
        report["cases"].as_array_mut().expect("cases").truncate(cases);
        fs::write(&path, report.to_string()).expect("it can be written");
        run(dir.path(), &["show", "runs/web-1"], None)
    };
    assert!(shown("partial", 2).starts_with("PARTIAL: only the flows that had finished"));
    let one = shown("running", 1);
    assert!(one.starts_with("KILLED: only the case that is complete\n"), "{one}");
    assert!(
        one.contains("\ndctcp-1 websearch\n") && !one.contains("xmp-4") && !one.contains("digest"),
        "{one}"
    );
    let none = shown("running", 0);
    assert!(none.starts_with("KILLED: no case is complete\n"), "{none}");
}

#[test]
fn a_list_makes_a_case_of_each_value() {
    let dir = TempDir::new().expect("a temporary folder");
    let lists = ["--set", "workloads.websearch.load=[0.3,0.5]", "--set", "schemes.xmp.parameters.beta=[4,6]"];
    let args = [&web_search(dir.path())[..], &lists].concat();
    let output = tresse(dir.path()).args(&args).env_remove("COLUMNS").output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("6 cases, with load = 0.3, 0.5 × beta = 4, 6\n"), "{said}");
    let text = stdout(output);
    assert_eq!(
        line(&text, "scheme"),
        ["scheme", "pattern", "load", "beta", "RTOs", "resent", "drops", "marks"]
    );
    let labels =
        ["dctcp-1 websearch load=0.3", "xmp-4 websearch load=0.3 beta=4", "xmp-4 websearch load=0.3 beta=6"];
    let at = labels.map(|label| text.find(&format!("\n{label}\n")).expect("a case"));
    assert!(at.is_sorted(), "what is compared stands together: {text}");
    let text = fs::read_to_string(dir.path().join("runs/web-1/run.json")).expect("a run");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let case = json!({ "scheme": "xmp", "subflows": 4, "pattern": "websearch", "load": 0.3, "beta": 6 });
    assert_eq!(report["cases"][2]["case"], case);

    let export = |only: &[&str], format: &str| {
        let only = only.iter().flat_map(|&only| ["--only", only]);
        let mut command = tresse(dir.path());
        command.args(["export", "runs/web-1", "--format", format]).args(only);
        command
    };
    let csv = stdout(export(&["load=0.3", "beta=6"], "csv").output().expect("the command starts"));
    assert!(csv.starts_with("scheme,subflows,pattern,load,beta,seed,group,"), "{csv}");
    assert!(csv.lines().skip(1).all(|line| line.starts_with("xmp,4,websearch,0.3,6,1,")), "{csv}");
    assert_eq!(csv.lines().count(), 41);
    let several = fails(&mut export(&["scheme=xmp", "load=0.3"], "hpcc-fct"), 2);
    let choice = "--only scheme=xmp --only subflows=4 --only pattern=websearch --only load=0.3 --only beta=6 --only seed=1";
    assert!(several.contains(choice), "{several}");
    let fct = stdout(export(&["load=0.3", "beta=6"], "hpcc-fct").output().expect("the command starts"));
    assert_eq!(fct.lines().count(), 40);
    let unknown = fails(&mut export(&["laod=0.3"], "csv"), 2);
    assert!(unknown.contains("there is no key `laod`; did you mean `load`?"), "{unknown}");
    // What is run again is the same case, whatever list it came from.
    let alone = ["--set", "workloads.websearch.load=0.3", "--only", "scheme=dctcp", "--json"];
    let alone: Value =
        serde_json::from_str(&run(dir.path(), &[&web_search(dir.path())[..], &alone].concat(), None))
            .expect("JSON");
    assert_eq!(alone["cases"][0]["metrics"], report["cases"][0]["metrics"]);
}
