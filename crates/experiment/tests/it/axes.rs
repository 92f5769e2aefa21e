//! Lists of values where a key takes one: the axes that they make.

use tresse_experiment::{Case, Loaded, Owners, Plan, Profile, Source, load, resolve};

/// Two workloads on 16 hosts.
const TEXT: &str = r#"title = "Lists"

[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
mark = "10pkt"
host_queue = "unlimited"

[transport]
profile = "ns3"

[schemes.dctcp]
controller = "dctcp"

[schemes.xmp]
controller = "xmp"
subflows = [1, 2]

[workloads.web]
pattern = "poisson"
size = ["10kB", "20kB"]
load = 0.5
flows = 10

[workloads.pairs]
pattern = "permutation"
size = "20kB"
"#;

fn loaded(from: &str, to: &str, settings: &[&str]) -> Result<Loaded, String> {
    assert!(TEXT.contains(from), "{from}");
    let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    let source = Source { name: "a.toml".into(), text: TEXT.replacen(from, to, 1) };
    load(source, Profile::Full, &settings).map_err(|e| e.to_string())
}

fn plan(from: &str, to: &str, settings: &[&str], only: &[&str]) -> Result<Plan, String> {
    let only: Vec<String> = only.iter().map(|&s| s.to_owned()).collect();
    resolve(&loaded(from, to, settings)?, &only).map_err(|e| e.to_string())
}

fn labels(plan: &Plan) -> Vec<String> {
    plan.cases.iter().map(Case::label).collect()
}

/// Where the first line that begins so stands, and a column.
fn place(from: &str, to: &str, line: &str, column: usize) -> String {
    let text = TEXT.replacen(from, to, 1);
    let number = text.lines().position(|own| own.starts_with(line)).expect("the line is there") + 1;
    format!("a.toml:{number}:{column}: ")
}

#[test]
fn each_value_makes_cases_of_what_it_is_of() {
    let plan = plan("load = 0.5", "load = [0.3, 0.5]", &[], &["scheme=dctcp"]).expect("valid");
    let wanted = ["dctcp-1 web load=0.3", "dctcp-1 pairs", "dctcp-1 web load=0.5"];
    assert_eq!(labels(&plan), wanted, "the other workload has no load");
    let axes: Vec<(String, String)> =
        plan.cases[2].axes().into_iter().map(|(axis, value)| (axis.to_owned(), value)).collect();
    let wanted = [("scheme", "dctcp"), ("subflows", "1"), ("pattern", "web"), ("load", "0.5")];
    assert_eq!(axes, wanted.map(|(axis, value)| (axis.to_owned(), value.to_owned())));
    assert_eq!(&*plan.cases[2].at[0].path, "workloads.web.load");
    let rate = |case: &Case| case.parts[0].pattern.offered.expect("a load").rate;
    assert!((rate(&plan.cases[2]) / rate(&plan.cases[0]) - 5.0 / 3.0).abs() < 1e-9);
    // A list that the key itself takes means what it did: sizes between two, numbers of subflows.
    assert_eq!(
        labels(&self::plan("load = 0.5", "load = 0.5", &[], &["pattern=web"]).expect("valid")).len(),
        3
    );
}

#[test]
fn any_key_may_have_a_list_and_several_are_multiplied() {
    let settings = ["fabric.mark=[10pkt, 20pkt, 30pkt]", "transport.rto_min=[\"10ms\", \"200ms\"]"];
    let own = plan("load = 0.5", "load = [0.3, 0.5]", &settings, &["scheme=dctcp"]).expect("valid");
    assert_eq!(own.cases.len(), 3 * 2 * (2 + 1));
    assert_eq!(own.cases[0].label(), "dctcp-1 web mark=10pkt rto_min=10ms load=0.3");
    let chosen = ["load=0.5", "fabric.mark=20pkt,30pkt", "rto_min=10ms"];
    let own = plan("load = 0.5", "load = [0.3, 0.5]", &settings, &chosen).expect("valid");
    assert!(
        own.cases
            .iter()
            .all(|c| c.pattern == "web" && c.bound_schemes[0].transport.rto_min == 10_000_000_000)
    );
    assert_eq!(own.cases.len(), 2 * 3);

    // A scheme's parameter is not an axis of another scheme.
    let beta = "controller = \"xmp\"\nparameters.beta = [4, 6]";
    let own = plan("controller = \"xmp\"", beta, &[], &["pattern=pairs"]).expect("valid");
    let wanted = [
        "dctcp-1 pairs",
        "xmp-1 pairs beta=4",
        "xmp-2 pairs beta=4",
        "xmp-1 pairs beta=6",
        "xmp-2 pairs beta=6",
    ];
    assert_eq!(labels(&own), wanted);

    // Two keys of one name, and a key that is the name of an axis.
    let sizes = "size = \"20kB\"\nrounds = [1, 2]\n\n[workloads.more]\npattern = \"permutation\"\nsize = \"20kB\"\nrounds = [3, 4]";
    let own =
        plan("size = \"20kB\"", sizes, &[], &["scheme=dctcp", "workloads.more.rounds=4"]).expect("valid");
    assert_eq!(labels(&own), ["dctcp-1 more workloads.more.rounds=4"]);
}

#[test]
fn a_key_of_the_fabric_is_named_with_its_table() {
    let mark = "mark = { rack = [\"10pkt\", \"20pkt\"], aggregation = \"10pkt\", core = \"30pkt\" }";
    let own = plan("mark = \"10pkt\"", mark, &[], &["scheme=dctcp", "pattern=pairs"]).expect("valid");
    assert_eq!(labels(&own), ["dctcp-1 pairs mark.rack=10pkt", "dctcp-1 pairs mark.rack=20pkt"]);
    let only = ["scheme=dctcp", "pattern=pairs", "mark.rack=20pkt"];
    assert_eq!(plan("mark = \"10pkt\"", mark, &[], &only).expect("valid").cases.len(), 1);
}

#[test]
fn parameters_of_a_balancer_may_have_lists() {
    let scheme = |balancer: &str| {
        format!(
            "[schemes.sprayed]\ncontroller = \"nscc\"\ntransport = {{ profile = \"spray\" }}\nbalancer = {balancer}\n\n[schemes.xmp]"
        )
    };
    let only = ["scheme=sprayed", "pattern=pairs"];
    let of = |balancer: &str| plan("[schemes.xmp]", &scheme(balancer), &[], &only);
    let own = of("{ name = \"reps\", explore = [4, 16] }").expect("valid");
    assert_eq!(labels(&own), ["sprayed-1 pairs explore=4", "sprayed-1 pairs explore=16"]);
    let told = of("{ name = \"reps\", explore = \"many\" }").expect_err("no number");
    let at = place("[schemes.xmp]", &scheme("{ name = \"reps\", explore = \"many\" }"), "balancer", 39);
    assert!(
        told.starts_with(&format!("{at}expected a whole number of at least 0, found \"many\"")),
        "{told}"
    );
    let told = of("{ explore = 4 }").expect_err("no name");
    assert!(told.contains("the key `name` is missing"), "{told}");
    let told = of("5").expect_err("no name");
    assert!(
        told.contains("expected a balancer such as \"reps\" or { name = \"reps\", explore = 16 }"),
        "{told}"
    );
}

#[test]
fn variants_have_lists_of_their_own() {
    let variants =
        "size = \"20kB\"\n\n[variants.shallow]\nfabric.mark = [\"5pkt\", \"10pkt\"]\n\n[variants.deep]\n";
    let own = plan("size = \"20kB\"", variants, &[], &["scheme=dctcp", "pattern=pairs"]).expect("valid");
    let wanted =
        ["dctcp-1 pairs shallow mark=5pkt", "dctcp-1 pairs shallow mark=10pkt", "dctcp-1 pairs deep"];
    assert_eq!(labels(&own), wanted);
    let own =
        plan("size = \"20kB\"", variants, &["fabric.queue=[50pkt,60pkt]"], &["variant=deep", "queue=60pkt"]);
    assert_eq!(own.expect("valid").cases.len(), 2 * 3);
}

#[test]
fn results_are_read_back_with_their_lists() {
    let loaded = loaded("load = 0.5", "load = [0.3, 0.5]", &["fabric.mark=[10pkt,20pkt]"]).expect("valid");
    let paths: Vec<String> = loaded.axes.iter().map(|axis| axis.path()).collect();
    assert_eq!(paths, ["fabric.mark", "workloads.web.load"]);
    let experiment = Owners::all(&[]).keys_of(&loaded.resolved).expect("as it was run");
    assert_eq!(experiment.workloads["web"].own["load"].as_float(), Some(0.3));
}

#[test]
fn what_is_wrong_with_a_list_is_told_where_it_stands() {
    let load = "load = 0.5";
    for (list, column, message) in [
        ("load = []", 8, "the list is empty, so there is no case"),
        ("load = [0.3, \"high\"]", 14, "expected a number, found \"high\""),
        ("load = [0.3, 0.3]", 14, "this value is in the list twice"),
        ("load = [0.3, [0.4, 0.5]]", 14, "expected a number, found a list"),
        ("load = [0.3, 1.5]", 14, "1.5: must be above 0 and at most 1"),
    ] {
        let error = plan(load, list, &[], &[]).expect_err(list);
        assert!(error.starts_with(&place(load, list, list, column)), "{list}: {error}");
        assert!(error.contains(message), "{list}: {error}");
    }
    for (setting, message) in [
        ("workloads.web.load=[0.3, 1.5]", "1.5: must be above 0 and at most 1"),
        ("workloads.web.load=[]", "the list is empty"),
        ("workloads.web.load=[0.3, high]", "expected a number, found \"high\""),
        ("replications=[1, 2]", "replications"),
        ("title=[a, b]", "expected a string, found a list"),
    ] {
        let error = plan(load, load, &[setting], &[]).expect_err(setting);
        assert!(error.contains(&format!("--set {setting}")) && error.contains(message), "{setting}: {error}");
    }
    let only = |only: &str| plan(load, "load = [0.3, 0.5]", &[], &[only]).expect_err(only);
    assert!(
        only("laod=0.5").contains("there is no axis `laod`; did you mean `load`?"),
        "{}",
        only("laod=0.5")
    );
    assert!(only("load=0.4").contains("no case has load = 0.4"), "{}", only("load=0.4"));
}

#[test]
fn the_number_of_cases_is_bounded() {
    let list = |n: u32| (1..=n).map(|k| format!("{k}pkt")).collect::<Vec<_>>().join(",");
    let settings = [format!("fabric.mark=[{}]", list(40)), format!("fabric.queue=[{}]", list(40))];
    let error = plan("load = 0.5", "load = 0.5", &[&settings[0], &settings[1]], &[]).expect_err("1600");
    assert!(error.contains("more than 1000 points"), "{error}");
    let error =
        plan("load = 0.5", "load = 0.5", &[&format!("fabric.mark=[{}]", list(300))], &[]).expect_err("1800");
    assert!(error.contains("the lists make more than 1000 cases"), "{error}");
}
