//! The papers' small networks in experiment files: their paths and RTTs, that flows run over them, and what is refused.

use tresse_experiment::plan::network::Routing;
use tresse_experiment::{Plan, Profile, Source, load, resolve};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};
use tresse_results::Status;
use tresse_units::MICROSECOND;

const EXPERIMENT: &str = r#"title = "t"
[fabric]
topology = "dumbbell"
pairs = 4
rate = { access = "10Gbps", bottleneck = "1Gbps" }
delay = { access = "25us", bottleneck = "62.5us" }
queue = "100pkt"
mark = "10pkt"
host_queue = "1000pkt"
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
subflows = 1
[workloads.permutation]
pattern = "permutation"
size = "300kB"
rounds = 1
"#;

/// The experiment with another fabric: its first lines, up to the queues.
fn with(fabric: &str) -> String {
    let (head, rest) = EXPERIMENT.split_once("[fabric]").expect("it has one");
    let (_, rest) = rest.split_once("queue =").expect("it has one");
    format!("{head}[fabric]\n{fabric}\nqueue ={rest}")
}

fn plan(text: &str) -> Result<Plan, String> {
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let loaded = load(source, Profile::Full, &[]).map_err(|e| e.to_string())?;
    resolve(&loaded, &[]).map_err(|e| e.to_string())
}

/// How many paths lead from one host to another, and their RTT, us.
fn paths(plan: &Plan, from: &str, to: &str) -> (u32, u64) {
    let Routing::Fixed(routes) = &*plan.cases[0].bound_schemes[0].routing else { panic!("shortest paths") };
    let node = |name| plan.fabric().node(name).expect("it is there");
    let mut all: Vec<_> = routes.draw(node(from), node(to), routes.most(), |_| 0);
    all.sort_by(|a, b| a.there.cmp(&b.there));
    all.dedup();
    let rtts: Vec<u64> = all.iter().map(|r| plan.fabric().base_rtt(&r.there, 0, 0)).collect();
    assert!(rtts.iter().all(|rtt| *rtt == rtts[0]), "{rtts:?}");
    (all.len() as u32, rtts[0] / MICROSECOND)
}

const TORUS: &str = "topology = \"xmp-torus\"
rate = { access = \"10Gbps\", L1 = \"0.8Gbps\", L2 = \"1.2Gbps\", L3 = \"2Gbps\", L4 = \"1.5Gbps\", L5 = \"0.5Gbps\" }
delay = { access = \"50us\", L1 = \"75us\", L2 = \"75us\", L3 = \"75us\", L4 = \"75us\", L5 = \"75us\" }";

/// The numbers of the papers, and of the pages that `tresse explain` shows.
#[test]
fn the_papers_networks_have_their_paths_and_rtts() {
    let testbed = "rate = { access = \"1Gbps\", bottleneck = \"300Mbps\" }\ndelay = \"300us\"";
    let thesis =
        "rate = { access = \"1Gbps\", private = \"60Mbps\", shared = \"100Mbps\" }\ndelay = \"10us\"";
    let both = |name: &str, keys: &str| format!("topology = \"{name}\"\n{keys}");
    for (fabric, hosts, wanted) in [
        (
            both(
                "dumbbell",
                "pairs = 4\nrate = \"1Gbps\"\ndelay = { access = \"25us\", bottleneck = \"62.5us\" }",
            ),
            8,
            &[("S1", "D1", 1, 225), ("S4", "D2", 1, 225)][..],
        ),
        (
            both(
                "parking-lot",
                "hops = 3\nrate = \"1Gbps\"\ndelay = { access = \"5us\", bottleneck = \"10us\" }",
            ),
            8,
            &[("S0", "D0", 1, 80), ("S3", "D3", 1, 40)],
        ),
        (
            both("xmp-testbed-a", testbed),
            10,
            &[("S1", "D1", 1, 1800), ("S2", "D2", 2, 1800), ("B2", "C2", 1, 1800)],
        ),
        (both("xmp-testbed-b", testbed), 8, &[("S1", "D1", 1, 1800), ("S4", "D4", 1, 1800)]),
        (TORUS.to_owned(), 18, &[("S1", "D1", 2, 350), ("S5", "D5", 2, 350), ("B4", "C4", 1, 350)]),
        (both("thesis-2.2a", "rate = \"100Mbps\"\ndelay = \"10us\""), 4, &[("S2", "D2", 1, 60)]),
        (both("thesis-2.2b", thesis), 4, &[("S1", "D1", 2, 60), ("S2", "D2", 1, 60)]),
        (both("thesis-3.2-users", thesis), 11, &[("S1.1", "D", 2, 40), ("S2.2", "D", 1, 40)]),
        (both("thesis-4.2", thesis), 3, &[("S2", "D", 2, 40), ("S1", "D", 1, 40)]),
    ] {
        let plan = plan(&with(&fabric)).expect(&fabric);
        assert_eq!(plan.fabric().hosts(), hosts, "{fabric}");
        for &(from, to, count, rtt) in wanted {
            assert_eq!(paths(&plan, from, to), (count, rtt), "{fabric}: {from} to {to}");
        }
    }
}

/// Between any two hosts there is a way, so the general patterns run too.
#[test]
fn a_permutation_runs_on_every_one_of_them() {
    let torus = with(TORUS);
    let drawn = ["xmp-testbed-a", "xmp-testbed-b", "thesis-2.2a", "thesis-2.2b", "thesis-3.2", "thesis-4.2"];
    let drawn = drawn.map(|name| with(&format!("topology = \"{name}\"\nrate = \"1Gbps\"\ndelay = \"10us\"")));
    for text in drawn.iter().chain([&torus, &EXPERIMENT.to_owned()]) {
        for text in
            [text.clone(), text.replace("queue = \"100pkt\"", "queue = \"100pkt\"\nrouting = \"ecmp\"")]
        {
            let source = Source { name: "t.toml".to_owned(), text };
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
            let report = run(&loaded, &plan, &options, &watch, &NotJudged).expect("it runs");
            assert!(report.status == Status::Complete);
            assert_eq!(report.cases[0].metrics["flows"].value(), f64::from(plan.fabric().hosts()));
        }
    }
}

/// A link's own values go to its switches' ports, those of a NIC stay.
#[test]
fn a_single_link_may_differ_in_everything() {
    let link = "[[fabric.links]]\nends = [\"S1\", \"left\"]\nrate = \"5Gbps\"\ndelay = \"7us\"\nqueue = \"9pkt\"\n\
                mark = \"3pkt\"\nloss = 0.25\n";
    let changed = plan(&format!("{EXPERIMENT}{link}")).expect("valid").fabric().clone();
    let plain = plan(EXPERIMENT).expect("valid").fabric().clone();
    let [host, left] = ["S1", "left"].map(|name| changed.node(name).expect("it is there"));
    let own = changed.ports_between(host, left);
    for (port, (now, before)) in (0..).zip(changed.ports(1).iter().zip(plain.ports(1))) {
        if !own.contains(&port) {
            assert_eq!(*now, before);
            continue;
        }
        assert_eq!((now.rate, now.delay), (5_000_000_000, 7 * MICROSECOND));
        assert_eq!(now.loss.probability().parts(), 1 << 30);
        let is_nic = changed.network.ends[port as usize][0] == host;
        assert_eq!(now.limit == before.limit, is_nic);
        assert_eq!(now.mark == before.mark, is_nic);
    }
    let losses = changed.ports(1);
    assert_ne!(losses[own[0] as usize].loss, losses[own[1] as usize].loss, "each port draws its own");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let link = |keys: &str| format!("{EXPERIMENT}[[fabric.links]]\nends = [\"S1\", \"left\"]\n{keys}\n");
    let swap = |old: &str, new: &str| {
        assert!(EXPERIMENT.contains(old), "{old}");
        EXPERIMENT.replacen(old, new, 1)
    };
    for (text, expected) in [
        (swap("pairs = 4\n", ""), "t.toml:3:12: a dumbbell needs `pairs`, such as pairs = 4"),
        (swap("pairs = 4", "pairs = 0"), "t.toml:4:9: pairs = 0: 1 to 10000"),
        (swap("pairs = 4", "hops = 4"), "t.toml:4:8: `hops` is a parking lot's; a dumbbell has `pairs`"),
        (
            swap("\"dumbbell\"", "\"xmp-testbed-b\""),
            "t.toml:4:9: `pairs` is a dumbbell's; this network is as large as the paper's",
        ),
        (
            swap("\"dumbbell\"\npairs = 4", "\"thesis-3.2\"\nmultipath_users = 4"),
            "t.toml:4:1: unknown key `multipath_users`",
        ),
        (swap("\"dumbbell\"\npairs = 4", "\"parking-lot\"\nhops = 1001"), "hops = 1001: 1 to 1000"),
        (swap("\"dumbbell\"", "\"dumbell\""), "unknown value `dumbell`; did you mean `dumbbell`?"),
        (
            swap("bottleneck = \"1Gbps\"", "core = \"1Gbps\""),
            "there is no layer `core` (available: access, bottleneck)",
        ),
        (
            swap("rate = { access = \"10Gbps\", bottleneck = \"1Gbps\" }\n", ""),
            "t.toml:2:1: `rate` is missing, such as rate = \"10Gbps\"",
        ),
        (swap("queue = \"100pkt\"\n", ""), "t.toml:2:1: `queue` is missing, such as queue = \"100pkt\""),
        (link("delay = \"1001s\""), "t.toml:33:9: 1001s: a link's delay is at most 1000s"),
        (link("loss = 1"), "t.toml:33:8: 1: no flow would ever finish"),
        (link("queue = \"9pkt\"\nfailed = true"), "t.toml:33:9: a link that is missing has no queue"),
        (
            link("mark = \"9pkt\"\n[[fabric.classes]]\nquantum = \"1500B\""),
            "t.toml:33:8: the classes of `fabric.classes` have their own queues",
        ),
    ] {
        let error = plan(&text).map(drop).expect_err(expected);
        assert!(error.contains(expected), "{expected}:\n{error}");
    }
}
