//! Links that change during a run, and what is wrong with them.

use tresse_experiment::{Plan, Profile, Source, load, resolve};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};
use tresse_results::{Report, Status};

/// Two hosts, each under a leaf of its own, which send to each other.
const PAIR: &str = r#"title = "t"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 1
rate = "1Gbps"
delay = "12.5us"
queue = "256pkt"
mark = "20pkt"
host_queue = "1000pkt"
host_mark = "20pkt"
[transport]
mss = "1460B"
header = "40B"
ack = "40B"
initial_window = "10pkt"
rto_min = "10ms"
rto_initial = "1s"
rto_max = "60s"
recovery = "newreno"
reduction = "immediate"
ack_every = "2pkt"
ack_timer = "40ms"
quick_acks = "16pkt"
[schemes.xmp]
controller = "xmp"
echo = "two-bit"
[workloads.permutation]
pattern = "permutation"
size = "5MB"
rounds = 1
"#;

const PERMUTATION: &str = "[workloads.permutation]";

fn plan(text: &str) -> Result<Plan, String> {
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let loaded = load(source, Profile::Full, &[]).map_err(|e| e.to_string())?;
    resolve(&loaded, &[]).map_err(|e| e.to_string())
}

fn report(text: &str) -> Report {
    let report = report_of_any(text);
    assert!(report.status == Status::Complete);
    report
}

fn report_of_any(text: &str) -> Report {
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let loaded = load(source, Profile::Full, &[]).expect("valid");
    let plan = resolve(&loaded, &[]).expect("valid");
    let out = tempfile::tempdir().expect("a folder");
    let out = out.path().to_owned();
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

fn change(at: &str, link: [&str; 2], what: &str) -> String {
    let [a, b] = link;
    format!("[[changes]]\nat = \"{at}\"\nlink = [\"{a}\", \"{b}\"]\n{what}\n")
}

/// 5 MB are 40 Mbit of payload, 41.8 ms at 1 Gbit/s with headers and the other direction's ACKs. If 20 ms go at
/// that rate and the rest at a tenth, it takes 20 + 218 ms; and what was lost of the first 20 ms to the slow
/// beginning, which the run without a change shows, costs ten times as much at the most.
#[test]
fn a_rate_that_falls_is_the_rate_from_then_on() {
    let simulated = |r: &Report| r.cases[0].metrics["simulated_s"].value();
    let before = simulated(&report(PAIR));
    assert!((0.0418..0.06).contains(&before), "{before}");
    let slower = change("20ms", ["leaf 0", "spine 0"], "rate = \"100Mbps\"");
    let report = report(&(PAIR.to_owned() + &slower));
    let after = simulated(&report);
    assert!((0.235..0.238 + 10.0 * (before - 0.0418)).contains(&after), "{after}");
    let why = report.cases[0].no_optimum.as_deref().expect("links change");
    assert!(why.contains("samples.parquet"), "{why}");
    assert_eq!(report.cases[0].metrics["lost_pkts"].value(), 0.0);
}

/// What was on the link when it failed is lost, and sent again when it is back: after timeouts.
#[test]
fn a_link_that_fails_loses_what_is_on_it_until_it_is_back() {
    let fails = change("20ms", ["spine 0", "leaf 0"], "failed = true");
    let back = change("120ms", ["leaf 0", "spine 0"], "failed = false");
    let report = report(&(PAIR.to_owned() + &fails + &back));
    let metric = |name: &str| report.cases[0].metrics[name].value();
    assert_eq!(metric("flows"), 2.0);
    assert!(metric("lost_pkts") > 2.0 && metric("timeouts") >= 2.0);
    // 22 ms of work are left when it comes back; the timer that is running then was at most doubled.
    let simulated = metric("simulated_s");
    assert!((0.142..0.4).contains(&simulated), "{simulated}");
}

/// What was measured is kept: the first round, and of the second nothing but the link's counters.
#[test]
fn a_run_whose_flows_wait_for_ever_ends_and_says_why() {
    let fails = change("80ms", ["spine 0", "leaf 0"], "failed = true");
    let report = report_of_any(&(PAIR.replace("rounds = 1", "rounds = 2") + &fails));
    assert!(report.status == Status::Partial);
    let [error] = &report.errors[..] else { panic!("{:?}", report.errors) };
    for part in [
        "xmp-1 permutation seed 1: the flow from host 0 to host 1 of round 1 and 1 others wait forever",
        "nothing has arrived for 10000s",
        "the link between leaf 0 and spine 0 has failed for good: let it come back",
        "with `handshake`, a connection opens its other subflows only after the handshake of the first",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let metric = |name: &str| report.cases[0].metrics[name].value();
    assert_eq!(metric("flows"), 2.0);
    assert_eq!(metric("simulated_s"), 20_000.0);
}

/// Two spines, and the switches spray: the leaf at the failed link takes the other spine at once, but packets
/// that come from the other leaf are lost at the spine until the ways are found anew.
#[test]
fn the_others_go_on_losing_until_they_learn_of_it() {
    let two = PAIR.replace("spines = 1", "spines = 2\nrouting = \"spray\"");
    let lost = |more: &str| {
        let fails = change("5ms", ["leaf 0", "spine 1"], &format!("failed = true\n{more}"));
        report(&(two.clone() + &fails)).cases[0].metrics["lost_pkts"].value()
    };
    let (at_once, later, never) =
        (lost("reroute_after = \"0s\""), lost("reroute_after = \"20ms\""), lost(""));
    assert!(at_once < 10.0 && at_once < later && later < never, "{at_once}, {later}, {never}");
}

/// The server that a changing port needs sends as the plain port does.
#[test]
fn a_change_after_the_end_changes_nothing() {
    let late = change("500s", ["leaf 0", "spine 0"], "failed = true");
    assert_eq!(report(&(PAIR.to_owned() + &late)).digest, report(PAIR).digest);
}

#[test]
fn changes_repeat_bit_for_bit() {
    let text = PAIR.replace("spines = 1", "spines = 3\nrouting = \"ecmp\"").replace(
        PERMUTATION,
        &(change("3ms", ["leaf 0", "spine 1"], "failed = true\nreroute_after = \"1ms\"")
            + &change("3ms", ["leaf 1", "spine 2"], "rate = \"50Mbps\"")
            + &change("9ms", ["leaf 0", "spine 1"], "failed = false\nreroute_after = \"1ms\"")
            + PERMUTATION),
    );
    assert_eq!(report(&text).digest, report(&text).digest);
}

#[test]
fn what_is_wrong_with_a_change_is_told_with_its_line() {
    let link = ["leaf 0", "spine 0"];
    let ecmp = PAIR.replace("spines = 1", "spines = 1\nrouting = \"ecmp\"");
    let fixed = PAIR.to_owned();
    for (text, more, expected) in [
        (
            &fixed,
            change("1s", ["leaf 0", "spine 1"], "failed = true"),
            "t.toml:35:8: there is no node `spine 1`; did",
        ),
        (
            &fixed,
            change("1s", ["leaf 0", "leaf 1"], "failed = true"),
            "there is no link between `leaf 0` and `leaf 1`",
        ),
        (
            &fixed,
            change("1s", link, "rate = \"0bps\""),
            "t.toml:36:8: 0bps: a link's rate is 1kbps to 100Tbps; for a link",
        ),
        (&fixed, change("1s", link, ""), "t.toml:35:8: nothing changes: set `rate` or `failed`"),
        (
            &fixed,
            change("1s", link, "failed = true\nrate = \"1Gbps\""),
            "t.toml:37:8: either the rate changes, or",
        ),
        (&fixed, change("2000s", link, "failed = true"), "t.toml:34:6: 2000s: at most 1000s"),
        (
            &fixed,
            change("1s", link, "failed = true") + &change("1s", ["spine 0", "leaf 0"], "failed = false"),
            "t.toml:38:6: the link of spine 0 and leaf 0 changes twice at 1s",
        ),
        (
            &fixed,
            change("1s", link, "failed = true\nreroute_after = \"1ms\""),
            "t.toml:37:17: `reroute_after` needs paths that can change, but fixed routes stay the same: set `routing`",
        ),
        (
            &ecmp,
            change("1s", link, "rate = \"1Mbps\"\nreroute_after = \"1ms\""),
            "t.toml:38:17: `reroute_after` is for links that fail: the shortest paths do not depend on rates",
        ),
    ] {
        let error = plan(&(text.clone() + &more)).expect_err(expected);
        assert!(error.contains(expected), "{expected}:\n{error}");
    }
}
