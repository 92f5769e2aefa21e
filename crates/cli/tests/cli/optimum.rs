//! The optimum: by itself, and beside what was simulated.

use crate::common::{SMALL, fails, own_controller, tresse};
use serde_json::Value;
use tempfile::TempDir;

fn json(dir: &TempDir, args: &[&str]) -> Value {
    let output = tresse(dir.path()).args(args).arg("--json").output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints one object")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A fabric of 16 hosts, and flows whose fluid models soon come to rest.
const SMALL_FABRIC: [&str; 6] = ["optimum", "xmp/table1", "--set", "fabric.k=4", "--seed", "3"];

#[test]
fn the_optimum_is_told_with_its_links_and_its_fluid_model() {
    let dir = TempDir::new().expect("a temporary folder");
    let report = json(&dir, &[&SMALL_FABRIC[..], &["--only", "subflows=1,2"]].concat());
    assert_eq!(report["schema"], "tresse/optimum/1");
    assert_eq!((&report["seed"], &report["round"]), (&3.into(), &0.into()));
    let cases = report["cases"].as_array().expect("cases");
    let standing: Vec<_> = cases.iter().map(|c| c["claim"]["standing"].as_str().expect("a word")).collect();
    assert_eq!(standing, ["none", "none", "claimed"]);
    for case in cases {
        assert_eq!(case["flows"], 16);
        let optimum = &case["optimum"];
        assert!(number(&optimum["kkt_residual"]) < 1e-6);
        let rates = optimum["rates"].as_array().expect("a row for each flow");
        let totals = rates.iter().map(|r| {
            r["optimum_bps"].as_array().expect("a rate for each path").iter().map(number).sum::<f64>()
        });
        // 1460 of 1500 bytes are payload.
        let mean = totals.sum::<f64>() / 16.0 * 1460.0 / 1500.0;
        assert!((mean / number(&optimum["goodput_mean_bps"]) - 1.0).abs() < 1e-9);
        for link in optimum["links"].as_array().expect("links") {
            assert!(number(&link["load_bps"]) < 1e9 * (1.0 + 1e-6), "{link}");
            // What the conditions of an optimum allow: the price of a link that is not full is nothing beside
            // the dearest one's.
            let price = number(&link["price_per_bps"]) / number(&optimum["links"][0]["price_per_bps"]);
            assert!(price * (1.0 - number(&link["load_bps"]) / 1e9) < 1e-6, "{link}");
        }
        let fluid = &case["fluid"];
        assert!(number(&fluid["goodput_mean_bps"]) > 1e8, "{fluid}");
        assert!((0.0..1.0).contains(&number(&fluid["goodput_distance_mean"])));
    }
    // The dearest link first; XMP's fluid model comes near its utility's optimum, as near as its least window
    // lets it.
    let prices: Vec<f64> = cases[2]["optimum"]["links"]
        .as_array()
        .expect("links")
        .iter()
        .map(|l| number(&l["price_per_bps"]))
        .collect();
    assert!(prices.is_sorted_by(|a, b| a >= b) && prices[0] > 0.0);
    assert_eq!(cases[2]["fluid"]["settled"], true);
    assert!(number(&cases[2]["fluid"]["goodput_distance_mean"]) < 0.03);
    assert!(number(&cases[2]["fluid"]["utility_distance"]) < 0.01);
}

#[test]
fn the_table_says_who_claims_nothing() {
    let dir = TempDir::new().expect("a temporary folder");
    let args = [&SMALL_FABRIC[..], &["--only", "scheme=lia,xmp", "--only", "subflows=2"]].concat();
    let output = tresse(dir.path()).args(args).output().expect("the command starts");
    let table = String::from_utf8(output.stdout).expect("output is UTF-8");
    assert!(output.status.success() && table.contains("lia claims no utility (RFC 6356"), "{table}");
    assert!(table.contains("dearest links") && table.contains("edge "), "{table}");
    assert!(!table.contains("xmp claims no utility"), "{table}");
}

/// Every host of a permutation has its own two links: with enough paths nobody shares, and all are at line
/// rate.
#[test]
fn all_paths_of_a_small_tree_give_line_rate() {
    let dir = TempDir::new().expect("a temporary folder");
    let set = ["--only", "scheme=xmp", "--only", "subflows=4"];
    let report = json(&dir, &[&SMALL_FABRIC[..], &set].concat());
    let optimum = &report["cases"][0]["optimum"];
    for key in ["goodput_mean_bps", "goodput_p10_bps", "goodput_p90_bps"] {
        assert!((number(&optimum[key]) / (1e9 * 1460.0 / 1500.0) - 1.0).abs() < 1e-6, "{key}: {optimum}");
    }
}

#[test]
fn a_run_shows_the_optimum_of_those_who_claim_one() {
    let dir = TempDir::new().expect("a temporary folder");
    let report = json(&dir, &SMALL);
    for case in report["cases"].as_array().expect("cases") {
        let claims = case["case"]["scheme"] == "xmp";
        assert_eq!(case["optimum"].as_object().expect("an object").is_empty(), !claims, "{case}");
        assert_eq!(case["no_optimum"].is_null(), claims, "{case}");
        if claims {
            let optimum = &case["optimum"];
            assert_eq!((&case["optimum_of"], number(&optimum["rounds"])), (&"round_start".into(), 2.0));
            // Flows of 200 kB never leave slow start: they stay far below.
            assert!(number(&optimum["goodput_mean_bps"]) > number(&case["metrics"]["goodput_mean_bps"]));
            let distance = number(&optimum["goodput_distance_mean"]);
            assert!(distance > 0.2 && distance <= number(&optimum["goodput_distance_max"]), "{optimum}");
            assert!(number(&optimum["utility_distance_mean"]) > 0.2, "{optimum}");
        }
    }
}

/// The optimum of a run's first round is that of `tresse optimum`.
#[test]
fn both_commands_agree() {
    let dir = TempDir::new().expect("a temporary folder");
    let set = ["--set", "fabric.k=4", "--set", "workloads.permutation.rounds=1", "--only", "scheme=xmp"];
    let size = ["--set", "workloads.permutation.size=200kB", "--only", "subflows=2", "--seed", "3"];
    let run = json(&dir, &[&["run", "xmp/table1"][..], &set, &size].concat());
    let alone = json(&dir, &[&["optimum", "xmp/table1"][..], &set, &size].concat());
    for (run, alone) in
        run["cases"].as_array().expect("cases").iter().zip(alone["cases"].as_array().expect("cases"))
    {
        assert_eq!(run["optimum"]["goodput_mean_bps"], alone["optimum"]["goodput_mean_bps"]);
    }
}

#[test]
fn nothing_is_known_of_a_users_controller() {
    let dir = TempDir::new().expect("a temporary folder");
    std::fs::write(dir.path().join("mine.c"), own_controller()).expect("a file");
    let own = ["--controller", "mine.c", "--set", "schemes.xmp.controller=mine", "--only", "scheme=xmp"];
    let set = ["--set", "schemes.xmp.parameters={}", "--set", "fabric.k=4"];
    let report = json(&dir, &[&SMALL[..], &own, &set].concat());
    let why = report["cases"][0]["no_optimum"].as_str().expect("a reason");
    assert!(why.contains("nothing is known of what mine claims"), "{why}");
}

#[test]
fn bad_input_is_refused_as_by_run() {
    let dir = TempDir::new().expect("a temporary folder");
    let error = fails(tresse(dir.path()).args(["optimum", "xmp/table2"]), 2);
    assert!(error.contains("did you mean `xmp/table1`?"), "{error}");
    let error = fails(tresse(dir.path()).args(["optimum", "xmp/table1", "--only", "scheme=xpm"]), 2);
    assert!(error.contains("did you mean `xmp`?"), "{error}");
}
