//! HOLNET's design space: every preset runs, with each way to detect congestion, and what is wrong is named.

use tresse_experiment::plan::network::Routing;
use tresse_experiment::plan::presets::ALL;
use tresse_experiment::{Plan, Profile, Source, load, resolve};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};
use tresse_results::{Report, Status};

const EXPERIMENT: &str = r#"title = "t"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 3
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
mark = "65pkt"
host_queue = "1000pkt"
host_mark = "65pkt"
routing = "ecmp"
[transport]
profile = "ns3"
[workloads.permutation]
pattern = "permutation"
size = "200kB"
rounds = 1
"#;

fn plan(scheme: &str) -> Result<(tresse_experiment::Loaded, Plan), String> {
    let source = Source { name: "t.toml".to_owned(), text: format!("{EXPERIMENT}[schemes.s]\n{scheme}\n") };
    let loaded = load(source, Profile::Full, &[]).map_err(|e| e.to_string())?;
    let plan = resolve(&loaded, &[]).map_err(|e| e.to_string())?;
    Ok((loaded, plan))
}

fn report(scheme: &str) -> Report {
    let (loaded, plan) = plan(scheme).expect("valid");
    let out = tempfile::tempdir().expect("a folder").path().to_owned();
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: 1.into(),
        parallel: 1,
        threads: 1,
        out: Some(out),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("one seed");
    run(&loaded, &plan, &options, &watch, &NotJudged).expect("it runs")
}

/// THESIS Table 2.2, row by row: controller, in-network load balancing, classes of service.
#[test]
fn every_row_of_the_design_space_runs() {
    for preset in ALL {
        for (detection, ending) in [("source", ""), ("ecn", "_ecn")] {
            let bounds = if preset.classes { "parameters = { min_rate = 50000 }\n" } else { "" };
            let subflows = if preset.controller.contains("mcc") { "subflows = 2\n" } else { "" };
            let scheme =
                format!("preset = \"{}\"\ndetection = \"{detection}\"\n{bounds}{subflows}", preset.name);
            let (_, plan) = plan(&scheme).expect("valid");
            let case = &plan.cases[0];
            assert_eq!(
                case.bound_schemes[0].controllers.controller().name(),
                format!("{}{ending}", preset.controller)
            );
            assert_eq!(case.bound_schemes[0].flags.is_some(), preset.balances, "{scheme}");
            assert!(matches!(*case.bound_schemes[0].routing, Routing::Nodes { .. }));
            assert_eq!(case.bound_schemes[0].transport.ecn, detection == "ecn");
            let report = report(&scheme);
            assert!(report.status == Status::Complete, "{scheme}");
            assert_eq!(report.cases[0].metrics["flows"].value(), 6.0, "{scheme}");
        }
    }
}

/// HOLNET-UTA needs to hear of its next hop: from HOLNET's balancers or the fabric's own flags, of one hop or
/// all the way.
#[test]
fn holnet_uta_runs_where_ports_flag_congestion() {
    let mut digests = Vec::new();
    for more in [
        "routing = \"holnet-percentage\"",
        "routing = { name = \"holnet-rate\", feedback = \"one_hop\" }",
        "[fabric.flags]",
        "[fabric.flags]\nfeedback = \"one_hop\"\npercent = 10",
    ] {
        let report = report(&format!("controller = \"holnet_uta\"\n{more}"));
        assert!(report.status == Status::Complete, "{more}");
        digests.push(report.digest);
    }
    assert_ne!(digests[0], digests[2], "choose a load balancer other than");
    assert_ne!(digests[2], digests[3], "more congestion is flagged");
    let error = plan("controller = \"holnet_uta\"").map(drop).expect_err("no flags");
    assert!(error.contains("no port of this fabric flags congestion"), "{error}");
}

/// A flag stands for a share of a limit: none, no flag, and so no congestion that a balancer would see.
#[test]
fn flags_need_queues_with_a_limit() {
    for (queue, expected) in [
        ("\"unlimited\"", "in the rack layer the port from leaf 0 to host 0 has no limit"),
        (
            "{ rack = \"9pkt\", spine = \"unlimited\" }",
            "in the spine layer the port from leaf 0 to spine 0 has no limit",
        ),
    ] {
        let set = format!("fabric.queue={queue}");
        for scheme in
            ["controller = \"reno\"\nrouting = \"holnet-rate\"", "controller = \"reno\"\n[fabric.flags]"]
        {
            let text = format!("{EXPERIMENT}[schemes.s]\n{scheme}\n");
            let source = Source { name: "t.toml".to_owned(), text };
            let loaded = load(source, Profile::Full, std::slice::from_ref(&set)).expect("it is read");
            let error = resolve(&loaded, &[]).map(drop).expect_err(expected).to_string();
            assert!(error.contains(expected), "{scheme}: {error}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_preset_is_named() {
    for (scheme, expected) in [
        ("preset = \"holnet-ccc\"", "there is no preset `holnet-ccc`; did you mean `holnet-cc`?"),
        ("preset = \"holnet-cc\"\ncontroller = \"reno\"", "has its own: leave out one of them"),
        ("preset = \"holnet-cc-lb\"\nrouting = \"ecmp\"", "has its own: leave out one of them"),
        ("preset = \"holnet-cc-cos\"", "parameters.min_rate, parameters.max_rate or both"),
        ("controller = \"reno\"\ndetection = \"ecn\"", "only for schemes with a `preset`"),
        ("subflows = 1", "a scheme has either a `controller` or a `preset`"),
        ("controller = \"reno\"\nrouting = \"two-level\"", "two-level routing is a fat tree's"),
        ("controller = \"reno\"\n[fabric.flags]\npercent = 0", "1 to 100 percent"),
        (
            "controller = \"holnet_uta\"\nrouting = \"holnet-rate\"\n[fabric.flags]",
            "HOLNET's load balancers have their own flags: `flag` and `feedback` of `routing`",
        ),
        (
            "preset = \"holnet-mcc\"",
            "`holnet-mcc` couples several subflows, but there is only one: use subflows = 2",
        ),
        ("preset = \"holnet-mcc-lb\"\nsubflows = [1, 2]", "but there is only one: use subflows = 2"),
    ] {
        let error = plan(scheme).map(drop).expect_err(expected);
        assert!(error.contains(expected), "{scheme}: {error}");
    }
}
