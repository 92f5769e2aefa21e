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
    assert!(table.contains("most expensive links") && table.contains("edge "), "{table}");
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
    assert!(why.starts_with("a round has 1728 paths; with more than 1024 "), "{why}");
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

/// A user's controller is what its file declares: with two lines more it has an optimum and a fluid model.
#[test]
fn a_users_controller_has_the_optimum_that_its_file_declares() {
    let dir = TempDir::new().expect("a temporary folder");
    let text = own_controller();
    let place = |part: &str| text.rfind(part).expect("Reno declares itself");
    let text = [&text[..place("\tMAXIMISES(")], &text[place("\tWINDOW")..]].concat();
    std::fs::write(dir.path().join("mine.c"), &text).expect("a file");
    let own = ["--controller", "mine.c", "--set", "schemes.xmp.controller=mine", "--only", "scheme=xmp"];
    let set = ["--set", "schemes.xmp.parameters={}", "--set", "schemes.xmp.ecn=true", "--set", "fabric.k=4"];
    let report = json(&dir, &[&SMALL[..], &own, &set].concat());
    let why = report["cases"][0]["no_optimum"].as_str().expect("a reason");
    assert!(why.contains("mine does not declare what it maximises"), "{why}");
    let only = ["optimum", "xmp/table1", "--only", "pattern=permutation"];
    let case = &json(&dir, &[&only[..], &own, &set].concat())["cases"][0];
    let lines: Vec<&str> =
        case["to_declare"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert_eq!(lines.len(), 2, "{case}");

    // What it says to add is enough.
    let declared = format!("CONTROLLER(mine,\n\t{}", lines.join("\n\t"));
    let text = text.replace("CONTROLLER(mine,", &declared);
    std::fs::write(dir.path().join("mine.c"), text).expect("a file");
    let case = &json(&dir, &[&only[..], &own, &set].concat())["cases"][0];
    assert_eq!(
        (&case["claim"]["standing"], &case["to_declare"]),
        (&"claimed".into(), &Value::Null),
        "{case}"
    );
    assert!(number(&case["optimum"]["goodput_mean_bps"]) > 1e8, "{case}");
    assert!(number(&case["fluid"]["goodput_distance_mean"]) < 1.0, "{case}");
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
    assert!(why.ends_with("at most 83.3333 % of it is possible"), "{why}");
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
    assert!(table.contains("no link is full: the flows' maximum rates limit them"), "{table}");
}

/// 2.0 is in the controller's range, but its law then has no equilibrium.
#[test]
fn a_parameter_outside_the_fluid_models_range_is_named() {
    let dir = TempDir::new().expect("a temporary folder");
    let set = ["--set", "schemes.e.controller=eutcp", "--set", "schemes.e.parameters.gamma=2000"];
    let report = json(&dir, &[&SMALL_FABRIC[..], &set, &["--only", "scheme=e"]].concat());
    let told = "scheme `e` with gamma = 2000/1000: the fluid model needs a cut above 0 and below the window";
    assert_eq!(report["cases"][0]["no_fluid"], told);
}

/// By flow and path, Mbit/s, at the optimum of the only case that `only` leaves; where links change, while they are as
/// from `since_s` on.
fn optimal_mbps(experiment: &str, only: &[&str], since_s: Option<f64>) -> Vec<Vec<f64>> {
    let dir = TempDir::new().expect("a temporary folder");
    let only = only.iter().flat_map(|&value| ["--only", value]);
    let report = json(&dir, &["optimum", experiment].into_iter().chain(only).collect::<Vec<_>>());
    let cases = report["cases"].as_array().expect("cases");
    let cases: Vec<&Value> = cases.iter().filter(|c| c["since_s"].as_f64() == since_s).collect();
    assert!(cases.len() == 1 && cases[0]["no_optimum"].is_null(), "{report}");
    let rates = cases[0]["optimum"]["rates"].as_array().expect("a row for each flow");
    let mbps = |r: &Value| -> Vec<f64> {
        r["optimum_bps"].as_array().expect("a rate for each path").iter().map(|x| number(x) / 1e6).collect()
    };
    rates.iter().map(mbps).collect()
}

/// An experiment, what is run of it, from when on, s, and the rates of each flow's paths, Mbit/s.
type ThesisCase = (&'static str, &'static [&'static str], Option<f64>, &'static [&'static [f64]]);

/// What the thesis tells of its networks: §2.4.1, Fig. 2.4, §3.4.3, §4.4. It rounds to a whole Mbit/s. Its 341 and 683 of
/// WMPTCP are what (3.15) approximates for large windows; at the small windows of empty paths the utility has 332 and 692.
/// Under the limit of 100 the weighted row of Table 4.1 (57, 43, 57) is a rule and not the optimum: with the RTTs of its
/// file, 22 and 4 ms, Reno's utility has 58.7, 41.2 and 58.8.
#[test]
fn flows_of_several_schemes_have_the_optimum_of_the_thesis() {
    let cases: [ThesisCase; 11] = [
        ("holnet/table4.1", &["scheme=equal", "variant=both-100"], None, &[&[100.0, 0.0], &[100.0]]),
        ("holnet/table4.1", &["scheme=equal", "variant=cellular-5"], None, &[&[5.0, 47.5], &[52.5]]),
        ("holnet/table4.1", &["scheme=weighted", "variant=both-100"], None, &[&[58.7, 41.2], &[58.8]]),
        ("holnet/table4.1", &["scheme=weighted", "variant=cellular-5"], None, &[&[5.0, 43.0], &[57.0]]),
        ("holnet/fig2.3-1", &["variant=paced-160"], None, &[&[80.0], &[20.0]]),
        ("holnet/fig2.4", &["scheme=mcc", "variant=paced-160"], None, &[&[60.0, 20.0], &[80.0]]),
        ("holnet/fig3.3", &["scheme=eutcp-1", "variant=wide"], None, &[&[1024.0, 0.0], &[1024.0]]),
        ("holnet/fig3.4", &["scheme=eutcp-1"], Some(0.0), &[&[1024.0, 0.0], &[1024.0]]),
        ("holnet/fig3.4", &["scheme=eutcp-1"], Some(5.0), &[&[8.0, 508.0], &[516.0]]),
        ("holnet/fig4.4", &["scheme=emptcp"], None, &[&[8.0, 508.0], &[516.0]]),
        ("holnet/fig4.4", &["scheme=wmptcp"], None, &[&[8.0, 332.0], &[692.0]]),
    ];
    for (experiment, only, since_s, wanted) in cases {
        let got = optimal_mbps(experiment, only, since_s);
        assert_eq!(got.len(), wanted.len(), "{experiment}");
        for (got, wanted) in got.iter().flatten().zip(wanted.iter().copied().flatten()) {
            assert!((got - wanted).abs() < 0.6, "{experiment} {only:?}: {got}, not {wanted}");
        }
    }
}

/// With equal RTTs and large windows the utility is the logarithm, and the limit of an application's 100 units decides as in
/// the arithmetic: 37.5 of the shared link, not 43.
#[test]
fn an_application_limits_its_flow_at_the_optimum() {
    let dir = TempDir::new().expect("a temporary folder");
    let only = ["--only", "scheme=weighted", "--only", "variant=both-100"];
    let set = ["--set", "fabric.links=[]", "--set", "fabric.delay=50ms"];
    let case = json(&dir, &[&["optimum", "holnet/table4.1"][..], &only, &set].concat())["cases"][0].clone();
    let rates = case["optimum"]["rates"].as_array().expect("a row for each flow");
    let mbps: Vec<f64> = rates
        .iter()
        .flat_map(|row| row["optimum_bps"].as_array().expect("a rate for each path"))
        .map(|rate| number(rate) / 1e6)
        .collect();
    assert!(mbps.iter().zip([62.5, 37.5, 62.5]).all(|(got, wanted)| (got - wanted).abs() < 0.1), "{case}");
    let why = case["no_fluid"].as_str().expect("the model has no such limit");
    assert!(why.contains("applications limit flows"), "{why}");
}

/// Marks beside losses, and a controller without a utility of its own, which another may stand in for or not.
#[test]
fn mixes_without_a_common_aim_are_told_by_their_flows() {
    let dir = TempDir::new().expect("a temporary folder");
    let case = |args: &[&str]| json(&dir, &[&["optimum"], args].concat())["cases"][0].clone();
    let mix = case(&["xmp/table2", "--set", "fabric.k=4", "--only", "pattern=lia"]);
    let why = mix["no_optimum"].as_str().expect("a reason");
    assert!(why.starts_with("the flows have no common price: `"), "{why}");
    assert!(
        why.contains("`xmp` (") && why.contains(" responds to marks") && why.contains("`lia` ("),
        "{why}"
    );
    assert!(mix["optimum"].is_null() && mix["no_fluid"] == mix["no_optimum"], "{mix}");

    let lia = case(&["holnet/fig3.3", "--only", "scheme=lia"]);
    let why = lia["no_optimum"].as_str().expect("a reason");
    assert!(why.starts_with("`lia` (1 flow): lia claims no utility (RFC 6356"), "{why}");
    let beside = &lia["beside"][0];
    assert_eq!((&beside["scheme"], &beside["flows"]), (&"tcp".into(), &1.into()));
    assert_eq!(beside["claim"]["standing"], "proved");
    assert!(lia["optimum"].is_object() && lia["fluid"].is_object(), "{lia}");

    let hybrid = case(&["holnet/fig4.4", "--only", "scheme=hmptcp"]);
    let why = hybrid["no_optimum"].as_str().expect("a reason");
    assert!(why.starts_with("`hmptcp` (1 flow): hmptcp claims no utility"), "{why}");
    assert!(hybrid["optimum"].is_null(), "{hybrid}");
}

/// Single packets come and go beside two long flows of two schemes.
#[test]
fn a_run_has_the_optimum_of_flows_that_stay() {
    let dir = TempDir::new().expect("a temporary folder");
    let args = ["run", "holnet/fig3.3", "--only", "variant=wide", "--only", "scheme=eutcp-1,lia"];
    let short = [
        "--set",
        "workloads.steady.duration=1s",
        "--set",
        "measure.windows.steady=[\"500ms\", \"1s\"]",
        "--replications",
        "1",
    ];
    let run = |more: &[&str]| json(&dir, &[&args, &short, more].concat())["cases"].clone();
    let cases = run(&[]);
    let (lia, eutcp) = (&cases[0], &cases[1]);
    assert_eq!(eutcp["case"]["scheme"], "eutcp-1");
    assert!(eutcp["no_optimum"].is_null(), "{eutcp}");
    let optimum = &eutcp["optimum"];
    // 1448 of 1514 bytes, of 1024 Mbit/s for each of two flows.
    assert!(
        (number(&optimum["goodput_mean_bps"]) / (1024e6 * 1448.0 / 1514.0) - 1.0).abs() < 0.01,
        "{optimum}"
    );
    let distance = number(&optimum["goodput_distance_mean"]);
    assert!(distance > 0.0 && distance < 0.5, "{optimum}");
    let why = lia["no_optimum"].as_str().expect("a reason");
    assert!(why.contains("lia claims no utility"), "{why}");
    // A tenth of the link is no noise.
    let cases = run(&["--set", "workloads.steady.parts.noise.load=0.1"]);
    let why = cases[1]["no_optimum"].as_str().expect("a reason");
    assert!(why.starts_with("flows come and go"), "{why}");
}

#[test]
fn parts_whose_flows_start_later_are_left_out_and_named() {
    let dir = TempDir::new().expect("a temporary folder");
    let text = r#"
title = "Bulk flows beside arrivals"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "1Gbps"
delay = "5us"
queue = "100pkt"
host_queue = "100pkt"
[transport]
profile = "ns3"
[schemes.reno]
controller = "reno"
[workloads.mix.parts.bulk]
pattern = "permutation"
size = "1MB"
[workloads.mix.parts.web]
pattern = "poisson"
size = { distribution = "websearch-hpcc" }
load = 0.3
flows = 20
"#;
    std::fs::write(dir.path().join("mix.toml"), text).expect("the folder can be written");
    let report = json(&dir, &["optimum", "mix.toml"]);
    assert_eq!(report["cases"][0]["left_out"], serde_json::json!(["web"]), "{report}");
    assert_eq!(report["cases"][0]["flows"], 8);
    let shown = |file: &str| {
        let output = tresse(dir.path()).args(["optimum", file]).output().expect("the command starts");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let table = shown("mix.toml");
    assert!(table.contains("  left out: all flows of web, because none of them starts at time 0"), "{table}");
    // Where there is nothing to show, one line says why.
    let (bulk, web) = text.split_once("[workloads.mix.parts.bulk]").expect("it stands there");
    let web = web.split_once("[workloads.mix.parts.web]").expect("it stands there").1;
    std::fs::write(dir.path().join("web.toml"), format!("{bulk}[workloads.web]{web}")).expect("written");
    let line = shown("web.toml");
    assert!(line.starts_with("web.toml: no flow starts at time 0") && line.lines().count() == 1, "{line}");
    // Beside a case with an optimum, it has no row.
    let both = text.replace("mix.parts.bulk", "bulk").replace("mix.parts.web", "web");
    std::fs::write(dir.path().join("both.toml"), both).expect("written");
    let table = shown("both.toml");
    assert!(table.contains("\nno optimum of web: no flow starts at time 0"), "{table}");
    assert!(table.contains("\nreno with 1 subflow, bulk:") && !table.contains("1 subflow, web:"), "{table}");
}

#[test]
fn bad_input_is_refused_as_by_run() {
    let dir = TempDir::new().expect("a temporary folder");
    let error = fails(tresse(dir.path()).args(["optimum", "xmp/table9"]), 2);
    assert!(error.contains("did you mean `xmp/table1`?"), "{error}");
    let error = fails(tresse(dir.path()).args(["optimum", "xmp/table1", "--only", "scheme=xpm"]), 2);
    assert!(error.contains("did you mean `xmp`?"), "{error}");
}
