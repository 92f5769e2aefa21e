//! The optimum: by itself, and beside what was simulated.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{SMALL, fails, own_controller, tresse};

fn json(dir: &TempDir, args: &[&str]) -> Value {
    let output = tresse(dir.path()).args(args).arg("--json").output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints one object")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A fabric of 16 hosts, and flows whose fluid models soon come to rest.
const SMALL_FABRIC: [&str; 8] =
    ["optimum", "xmp/table1", "--set", "fabric.k=4", "--seed", "3", "--only", "pattern=permutation"];

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

/// 432 hosts of four subflows each: a run does not wait for their optimum, and says so below the table too.
#[test]
fn a_run_leaves_large_rounds_to_the_other_command() {
    let dir = TempDir::new().expect("a temporary folder");
    let args = ["run", "xmp/table1", "--only", "scheme=xmp", "--only", "subflows=4", "--set", "fabric.k=12"];
    let small = ["--set", "workloads.permutation.rounds=1", "--set", "workloads.permutation.size=10kB"];
    let args = [&args[..], &small, &["--only", "pattern=permutation"]].concat();
    let report = json(&dir, &args);
    assert!(report["cases"][0]["optimum"].as_object().expect("an object").is_empty());
    let why = report["cases"][0]["no_optimum"].as_str().expect("a reason");
    assert!(why.starts_with("a round has 1728 subflows; beyond 1024 "), "{why}");
    let output = tresse(dir.path()).args(args).output().expect("the command starts");
    let table = String::from_utf8(output.stdout).expect("output is UTF-8");
    assert!(table.contains(&format!("\nno optimum: {why}\n")), "{table}");
}

/// The optimum of a run's first round is that of `tresse optimum`.
#[test]
fn both_commands_agree() {
    let dir = TempDir::new().expect("a temporary folder");
    let set = ["--set", "fabric.k=4", "--set", "workloads.permutation.rounds=1", "--only", "scheme=xmp"];
    let size = [
        "--set",
        "workloads.permutation.size=200kB",
        "--only",
        "subflows=2",
        "--seed",
        "3",
        "--only",
        "pattern=permutation",
    ];
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

/// HOLNET's MCC with these classes of service on 16 hosts.
fn classes(rates: &[&str]) -> Vec<String> {
    let mut args: Vec<String> = SMALL_FABRIC.iter().map(|&a| a.to_owned()).collect();
    args.extend(["--only", "scheme=mcc"].map(str::to_owned));
    for set in [&["controller=holnet_mcc_cos", "subflows=2"], rates].concat() {
        let set = if set.starts_with("min_") || set.starts_with("max_") {
            format!("parameters.{set}")
        } else {
            set.to_owned()
        };
        args.extend(["--set".to_owned(), format!("schemes.mcc.{set}")]);
    }
    args
}

/// A host's own link has 1 Gbit/s: one flow and one link say it.
#[test]
fn a_minimum_rate_above_a_hosts_link_is_told_by_that_link() {
    let dir = TempDir::new().expect("a temporary folder");
    let args = classes(&["min_rate=1200000"]);
    let report = json(&dir, &args.iter().map(String::as_str).collect::<Vec<_>>());
    let why = report["cases"][0]["no_optimum"].as_str().expect("a reason");
    assert!(
        why.starts_with("scheme `mcc` with min_rate = 1200000 kbit/s: the minimum rate of flow `host "),
        "{why}"
    );
    assert!(why.contains("(1200 Mbit/s) needs 1200 Mbit/s of link `"), "{why}");
    assert!(why.contains("edge ") && why.contains("` (1000 Mbit/s), which can carry 1000 Mbit/s"), "{why}");
    assert!(why.ends_with("at most 83.3333 % of it can be had"), "{why}");
}

#[test]
fn rates_in_the_wrong_order_are_refused_with_their_units() {
    let dir = TempDir::new().expect("a temporary folder");
    let error = fails(tresse(dir.path()).args(classes(&["min_rate=9000", "max_rate=8000"])), 2);
    assert!(error.contains("--set schemes.mcc.parameters."), "{error}");
    assert!(error.contains("min_rate = 9000 kbit/s is above max_rate = 8000 kbit/s"), "{error}");
}

/// A host may send less than its links carry: then no link is full.
#[test]
fn where_no_link_is_full_it_says_so() {
    let dir = TempDir::new().expect("a temporary folder");
    let output = tresse(dir.path()).args(classes(&["max_rate=8000"])).output().expect("the command starts");
    let table = String::from_utf8(output.stdout).expect("output is UTF-8");
    assert!(table.contains("mcc with 2 subflows, permutation:"), "{table}");
    assert!(table.contains("no link is full: the flows' largest rates limit them"), "{table}");
}

/// 2.0 is in the controller's range, but its law then has no equilibrium.
#[test]
fn a_parameter_outside_the_fluid_models_range_is_named() {
    let dir = TempDir::new().expect("a temporary folder");
    let set = ["--set", "schemes.e.controller=eutcp", "--set", "schemes.e.parameters.gamma=2000"];
    let report = json(&dir, &[&SMALL_FABRIC[..], &set, &["--only", "scheme=e"]].concat());
    let told = "scheme `e` with gamma = 2000/1000: the fluid model needs gamma above 0 and below 2";
    assert_eq!(report["cases"][0]["no_fluid"], told);
}

#[test]
fn bad_input_is_refused_as_by_run() {
    let dir = TempDir::new().expect("a temporary folder");
    let error = fails(tresse(dir.path()).args(["optimum", "xmp/table9"]), 2);
    assert!(error.contains("did you mean `xmp/table1`?"), "{error}");
    let error = fails(tresse(dir.path()).args(["optimum", "xmp/table1", "--only", "scheme=xpm"]), 2);
    assert!(error.contains("did you mean `xmp`?"), "{error}");
}
