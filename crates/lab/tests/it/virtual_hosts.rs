//! Virtualised hosts in an experiment, and how well path-sharing detection does on them.

use tempfile::TempDir;
use tresse_experiment::{Plan, Profile, Source, find, load, resolve};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};
use tresse_results::Report;

fn plan(settings: &[&str]) -> Result<(tresse_experiment::Loaded, Plan), String> {
    let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    let loaded = load(find("vmcc/table3").expect("built in"), Profile::Quick, &settings);
    let loaded = loaded.map_err(|e| e.to_string())?;
    let only = ["scheme=table3", "pattern=2-connections"].map(str::to_owned);
    let plan = resolve(&loaded, &only).map_err(|e| e.to_string())?;
    Ok((loaded, plan))
}

fn report(settings: &[&str]) -> Report {
    let small = ["workloads.2-connections.size='100kB'", "fabric.virtual_hosts.machines=4"];
    let (loaded, plan) = plan(&[&small, settings].concat()).expect("valid");
    let out = TempDir::new().expect("a temporary folder");
    let out = out.path().to_owned();
    let options = Options {
        profile: Profile::Quick,
        seed: 1,
        replications: 1.into(),
        parallel: 1,
        threads: 1,
        out: Some(out),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("there is one seed");
    run(&loaded, &plan, &options, &watch, &NotJudged).expect("the folder can be written")
}

#[test]
fn the_truth_is_that_of_the_mapping() {
    for (mapping, sharing) in [
        ("['disjoint', 'disjoint']", 0.0),
        ("['shared', 'disjoint']", 1.0),
        ("['disjoint', 'shared']", 1.0),
        ("['half-shared', 'disjoint']", 0.5),
        ("'shared'", 1.0),
    ] {
        let report = report(&[&format!("fabric.virtual_hosts.mapping={mapping}")]);
        let metric = |name: &str| report.cases[0].metrics[name].value();
        // Four rounds of four machines, each with two connections.
        assert_eq!((metric("flows"), metric("delivered_bytes")), (32.0, 3_200_000.0));
        assert_eq!(metric("sharing_flows"), 32.0 * sharing, "{mapping}");
    }
}

/// Machine 8 has its virtual NICs on the physical ones crosswise, so that the data of one subflow and the ACKs of
/// the other pass one trunk: no path is shared. 7 of the 12 have both on one physical NIC.
#[test]
fn data_beside_acks_shares_no_path() {
    let report =
        report(&["fabric.virtual_hosts.mapping=['hashed', 'disjoint']", "fabric.virtual_hosts.machines=12"]);
    let metric = |name: &str| report.cases[0].metrics[name].value();
    assert_eq!((metric("flows"), metric("sharing_flows")), (96.0, 56.0));
}

#[test]
fn without_fixed_routes_the_result_says_why_there_is_no_score() {
    let report = report(&["fabric.routing=ecmp"]);
    let case = &report.cases[0];
    assert!(!case.metrics.contains_key("sharing_flows"));
    let why = case.no_sharing_score.as_deref().expect("there is no score");
    assert!(why.contains("switches choose the paths") && why.contains("\"shortest\""), "{why}");
}

#[test]
fn thresholds_that_nothing_or_everything_meets() {
    let mapping = "fabric.virtual_hosts.mapping=['shared', 'disjoint']";
    let manager = |rest: &str| format!("schemes.table3.path_manager={{name='path-sharing', {rest}}}");
    let never = report(&[mapping, &manager("gamma=1000000")]);
    let metric = |name: &str| never.cases[0].metrics.get(name).map(|m| m.value());
    assert_eq!(metric("terminated_flows"), Some(0.0));
    assert_eq!((metric("sharing_precision_ratio"), metric("sharing_recall_ratio")), (None, Some(0.0)));
    assert_eq!(never.cases[0].no_sharing_score, None, "a share that is undefined is no missing score");
    assert_eq!(metric("sharing_f_ratio"), Some(0.0));
    // Everybody is alike when both subflows have samples of the RTT.
    let size = "workloads.2-connections.size='10MB'";
    let always = report(&[mapping, size, &manager("gamma=10, theta=1000000, delta=100")]);
    let metric = |name: &str| always.cases[0].metrics[name].value();
    assert!(metric("terminated_flows") > 16.0, "{}", metric("terminated_flows"));
    assert_eq!(metric("sharing_precision_ratio"), 1.0);
}

#[test]
fn a_machine_gets_its_caps_and_no_more() {
    // 10 MB over two caps of 300 Mbit/s take 133 ms with headers; over one they would take 267 ms.
    let one = "workloads.2-connections={connections=1, size='10MB', pattern='rack-to-rack', rounds=1}";
    let mapping = "fabric.virtual_hosts.mapping='disjoint'";
    let fixed = "schemes.table3.path_manager='fixed'";
    let report = report(&[one, "workloads.2-connections.size='10MB'", mapping, fixed]);
    let goodput = report.cases[0].metrics["goodput_mean_bps"].value();
    assert!((400e6..600e6).contains(&goodput), "{goodput}");
    assert!(!report.cases[0].metrics.contains_key("sharing_flows"), "nothing was to be detected");
    assert_eq!(report.cases[0].no_sharing_score, None);
}

#[test]
fn nodes_may_decide_the_way() {
    let report = report(&["fabric.routing=ecmp", "schemes.table3.path_manager={name='fixed', by='address'}"]);
    assert_eq!(report.cases[0].metrics["flows"].value(), 32.0);
}

/// Without a word, subflows differ by address, and use all virtual NICs.
#[test]
fn all_virtual_nics_are_used_where_nodes_decide() {
    let plan = |more: &str| plan(&["fabric.routing=ecmp", "schemes.s={controller='xmp', subflows=4}", more]);
    assert!(plan("title=t").is_ok());
    let error = plan("schemes.s.path_manager={name='fixed', by='port'}").map(drop).expect_err("one NIC");
    assert!(error.contains("the first of a machine's 2 virtual NICs"), "{error}");
    let error = plan("schemes.s.subflows=5").map(drop).expect_err("four pairs");
    assert!(error.contains("5 subflows by address, but two hosts have 4 address pairs"), "{error}");
}

const ECMP: &str = "fabric.routing=ecmp";

/// A virtual NIC that is remapped while its machine sends goes on over the other physical NIC: everything
/// arrives, later than without, and what was on its way is lost.
#[test]
fn a_remapped_virtual_nic_goes_on_at_its_new_place() {
    let fixed = "schemes.table3.path_manager={name='fixed', by='address'}";
    let large = "workloads.2-connections.size='10MB'";
    let ends = |changes: &[&str]| {
        let all = [&[ECMP, fixed, large, "fabric.virtual_hosts.mapping='disjoint'"], changes].concat();
        let report = report(&all);
        assert_eq!(report.cases[0].metrics["flows"].value(), 32.0, "{changes:?}");
        let metric = |name: &str| report.cases[0].metrics[name].value();
        (metric("fct_max_s"), metric("lost_pkts"))
    };
    let (whole, lost) = ends(&[]);
    assert_eq!(lost, 0.0);
    // To the other physical NIC, back, and with its machine to the other host.
    let there = "{at='10ms', remap=['vnic 0.0.0', 'bridge 0.1']}";
    for more in ["", ", {at='20ms', remap=['vnic 0.0.0', 'bridge 0.0'], reroute_after='1ms'}"] {
        let (later, lost) = ends(&[&format!("changes=[{there}{more}]")]);
        assert!(later > whole && lost > 0.0, "{later} s after {whole} s, {lost} lost");
    }
    let moved = ["0.0.0', 'bridge 1.0", "0.0.1', 'bridge 1.1"]
        .map(|to| format!("{{at='10ms', remap=['vnic {to}']}}"));
    assert!(ends(&[&format!("changes=[{}, {}]", moved[0], moved[1])]).1 > 0.0);
}

#[test]
fn what_is_wrong_is_named() {
    for (settings, expected) in [
        (
            &["fabric.virtual_hosts.mapping='disjiont'"][..],
            "unknown value `disjiont`; did you mean `disjoint`?",
        ),
        (&["fabric.virtual_hosts.mapping=3"], "\"half-shared\" or \"hashed\", or a list of them"),
        (&["fabric.virtual_hosts.mapping=['shared']"], "1 mappings for 2 hosts: expected one for each"),
        (&["fabric.virtual_hosts.nics=0"], "48 virtual NICs on 0 physical ones: at least one of each"),
        (&["fabric.virtual_hosts.receive='1bps'"], "1bps: a link's rate is 1kbps to 100Tbps"),
        (&["fabric.k=4"], "`k` is a fat tree's; virtual hosts have a table `virtual_hosts`"),
        (&["fabric.rate={nic='1Gbps', trunk='1Gbps'}"], "the layer `vnic` has no value"),
        (&["schemes.table3.subflows=5"], "5 subflows: this fabric has 1 to 4 distinct paths"),
        (&["workloads.2-connections.connections=0"], "1 to 10000"),
        (&["changes=[{at='1ms', remap=['vnic 0.0.0', 'bridge 0.1']}]"], "the scheme table3 has fixed routes"),
        (
            &["schemes.table3.routing=ecmp", "changes=[{at='1ms', remap=['vnic 0.0.0', 'bridge 0.1']}]"],
            "the scheme table4 has fixed routes",
        ),
        (
            &[
                ECMP,
                "fabric.links=[{ends=['bridge 0.1', 'vnic 0.0.0'], failed=true}]",
                "changes=[{at='1ms', remap=['vnic 0.0.0', 'bridge 0.1']}]",
            ],
            "says that a link of vnic 0.0.0 is missing",
        ),
        (
            &[ECMP, "changes=[{at='1ms', remap=['vnic 0.0.0', 'bridge 0.1'], reroute_after='18000000s'}]"],
            "at most 1000s",
        ),
        (&[ECMP, "changes=[{at='1ms', remap=['vnic 0.9.7', 'bridge 0.1']}]"], "no node `vnic 0.9.7`"),
        (&[ECMP, "changes=[{at='1ms', remap=['vnic 0.0.0', 'switch 0']}]"], "a virtual NIC and a bridge"),
        (
            &[
                ECMP,
                "fabric.virtual_hosts.mapping='disjoint'",
                "changes=[{at='1ms', remap=['vnic 0.0.0', 'bridge 0.0']}]",
            ],
            "vnic 0.0.0 is already mapped to bridge 0.0",
        ),
        (
            &[ECMP, "changes=[{at='1ms', remap=['vnic 0.0.0', 'bridge 0.1'], failed=true}]"],
            "leave out `rate` and `failed`",
        ),
        (
            &["fabric.links=[{ends=['bridge 0.0', 'switch 0'], failed=true}]"],
            "virtual NICs have one route; a load balancer leads around this one",
        ),
    ] {
        let error = plan(settings).map(drop).expect_err(expected);
        assert!(error.contains(expected), "{settings:?}: {error}");
    }
    let text = find("vmcc/table3").expect("built in").text;
    let table = text.lines().find(|l| l.starts_with("virtual_hosts")).expect("it has one").to_owned();
    let source = |text: String| Source { name: "t.toml".into(), text };
    let error = |text: String| {
        let plan = load(source(text), Profile::Full, &[]).and_then(|l| resolve(&l, &[]));
        plan.map(drop).expect_err("invalid").to_string()
    };
    let missing = error(text.replace(&table, ""));
    assert!(missing.contains("virtual hosts need a table such as virtual_hosts = {"), "{missing}");
    let other = text.replace("topology = \"virtual-hosts\"", "topology = \"fat-tree\"\nk = 4");
    let foreign = error(other);
    assert!(foreign.contains("that of topology = \"virtual-hosts\"; a fat tree has `k`"), "{foreign}");
}
