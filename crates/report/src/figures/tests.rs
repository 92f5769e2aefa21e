//! `[[figures]]`: what a file may say, and what it is told where that is wrong.

use tresse_experiment::{Owners, Profile, Source};

const OWNERS: Owners = Owners::all(&[super::OWNER]);

const EXPERIMENT: &str = r#"
title = "Two flows"
[fabric]
topology = "dumbbell"
pairs = 2
rate = "100Mbps"
delay = "50us"
queue = ["20pkt", "50pkt"]
mark = "10pkt"
host_queue = "unlimited"
routing = "ecmp"
[transport]
profile = "linux"
[schemes.xmp]
controller = "xmp"
subflows = [1, 2]
[workloads.pair]
pattern = "flows"
flow = [{ from = "S1", to = "D1", size = "500kB" }]
"#;

/// What is said of the experiment with these figures, after these settings; nothing if they are fine.
fn said(figures: &str, settings: &[&str]) -> String {
    said_of(format!("{EXPERIMENT}\n{figures}"), settings)
}

fn said_of(text: String, settings: &[&str]) -> String {
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    let loaded = OWNERS.load(Source { name: "mine.toml".into(), text }, Profile::Full, &settings);
    match loaded.and_then(|loaded| OWNERS.resolve(&loaded, &[])) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

fn figure(more: &str) -> String {
    format!("[[figures]]\nid = \"a\"\ntitle = \"A figure\"\n{more}\n")
}

#[test]
fn figures_of_what_there_is_are_fine() {
    for more in [
        "chart = \"cdf\"\nx = \"fct_s\"\nlog = [\"x\"]\npanels = \"queue\"",
        "chart = \"bars\"\nx = \"scheme\"\ny = \"goodput_mean_bps\"\nwhere = { scheme = [\"xmp\", \"xmp-2\"] }",
        "chart = \"lines\"\nx = \"queue\"\ny = \"fct_p99_s\"\nwhere = { queue = \"20pkt\", subflows = 2 }",
        "chart = \"boxes\"\nx = \"layer\"\ny = \"utilisation_ratio\"\ny_range = [0.0, 1.0]",
        "chart = \"scatter\"\nx = \"timeouts\"\ny = \"fct_mean_s\"",
    ] {
        assert_eq!(said(&figure(more), &[]), "", "{more}");
    }
}

#[test]
fn what_there_is_not_is_told_with_its_place() {
    for (more, told) in [
        ("chart = \"cdf\"", "this chart needs `x = \"…\"`: a quantity"),
        ("chart = \"cdf\"\nx = \"fct\"", "there is no quantity `fct`"),
        ("chart = \"cdf\"\nx = \"rtt_s\"", "it needs `[measure] rtt = true`"),
        ("chart = \"cdf\"\nx = \"jct_s\"", "no pattern has jobs"),
        ("chart = \"time\"\ny = \"cwnd_pkts\"", "it needs `[measure] samples = \"10ms\"`"),
        ("chart = \"time\"\ny = \"share_ratio\"", "`links = true` and a balancer with shares"),
        ("chart = \"bars\"\nx = \"shceme\"\ny = \"flows\"", "did you mean `scheme`?"),
        ("chart = \"bars\"\nx = \"mark\"\ny = \"flows\"", "by its own name, if it has a list of values"),
        ("chart = \"bars\"\nx = \"scheme\"\ny = \"goodput\"", "there is no metric `goodput`"),
        ("chart = \"cdf\"\nx = \"fct_s\"\nwhere = { pattern = \"pairs\" }", "did you mean `pair`?"),
        ("chart = \"cdf\"\nx = \"fct_s\"\nwhere = { queue = [] }", "expected a value, or a list of values"),
        ("chart = \"cdf\"\nx = \"fct_s\"\nx_range = [2.0, 1.0]", "2 to 1: the first must be the smaller one"),
        ("chart = \"pie\"", "pie"),
    ] {
        let told_is = said(&figure(more), &[]);
        assert!(told_is.contains(told) && told_is.contains("mine.toml:"), "{more}\n{told_is}");
    }
    let twice = figure("chart = \"cdf\"\nx = \"fct_s\"").repeat(2);
    assert!(said(&twice, &[]).contains("another figure has this name"));
}

#[test]
fn a_setting_may_take_away_what_a_figure_is_of() {
    let lines = figure("chart = \"lines\"\nx = \"queue\"\ny = \"fct_p99_s\"\nwhere = { queue = \"20pkt\" }");
    assert_eq!(said(&lines, &["fabric.queue=30pkt"]), "");
}

#[test]
fn shares_are_those_of_a_balancer_that_has_some() {
    let shares = "chart = \"time\"\ny = \"share_ratio\"\nwhere = { port = \"leaf 0 → spine 1\" }";
    let figure = figure(shares) + "[measure]\nsamples = \"1ms\"";
    let with = |routing: &str| {
        let experiment = EXPERIMENT.replace("routing = \"ecmp\"", &format!("routing = \"{routing}\""));
        said_of(format!("{experiment}\n{figure}"), &[])
    };
    assert!(with("ecmp").contains("a balancer with shares"));
    assert_eq!(with("holnet-percentage"), "");
}
