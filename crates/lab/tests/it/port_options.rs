//! The options of ports: where two say the same thing, the same happens; where one is wrong, it is named.

use tempfile::TempDir;
use tresse_experiment::plan::port_options::PortConfigs;
use tresse_experiment::{Loaded, Plan, Profile, find, load, resolve};
use tresse_fabric::{ClassMark, Processing, Service, Threshold};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};
use tresse_results::Report;
use tresse_units::MICROSECOND;

/// XMP's table 1 on 16 hosts, a round of small flows under DCTCP and LIA, with `more` settings.
fn plan(more: &[&str]) -> Result<(Loaded, Plan), String> {
    let settings = ["fabric.k=4", "workloads.permutation.size='500kB'", "workloads.permutation.rounds=1"];
    let settings: Vec<String> = settings.iter().chain(more).map(|&s| s.to_owned()).collect();
    let loaded = load(find("xmp/table1").expect("built in"), Profile::Full, &settings);
    let loaded = loaded.map_err(|e| e.to_string())?;
    let only = ["scheme=dctcp,lia", "subflows=1,2", "pattern=permutation"].map(str::to_owned);
    let plan = resolve(&loaded, &only).map_err(|e| e.to_string())?;
    Ok((loaded, plan))
}

fn report(more: &[&str]) -> Report {
    let (loaded, plan) = plan(more).expect("valid");
    let out = TempDir::new().expect("a temporary folder");
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
    let watch = Watch::new(&plan, &options).expect("there is one seed");
    run(&loaded, &plan, &options, &watch, &NotJudged).expect("the folder can be written")
}

fn configs(more: &[&str]) -> PortConfigs {
    let (_, plan) = plan(more).expect("valid");
    plan.cases[0].setting.options.apply(plan.fabric(), 7)
}

#[test]
fn red_without_an_average_and_with_one_threshold_is_that_threshold() {
    let red = "fabric.red={min='11pkt', max='11pkt', probability=1, weight=0}";
    let threshold = report(&[]);
    assert!(threshold.cases[0].metrics["marks_pkts"].value() > 100.0, "the test needs marks");
    let both = report(&[red, "fabric.mark='unlimited'"]);
    assert_eq!(both.digest, threshold.digest);
    let averaged = report(&[
        "fabric.red={min='11pkt', max='11pkt', probability=1, weight=4}",
        "fabric.mark='unlimited'",
    ]);
    assert_ne!(averaged.digest, threshold.digest);
}

#[test]
fn a_class_without_company_has_the_port_to_itself() {
    let plain = report(&[]).digest;
    let two = "fabric.classes=[{quantum='1500B'}, {quantum='9kB', queue='1pkt', mark='0pkt'}]";
    assert_eq!(report(&[two]).digest, plain);
    assert_ne!(report(&[two, "schemes.dctcp.class=1"]).digest, plain, "class 1 has another queue");
    assert_eq!(
        report(&[two, "workloads.permutation.class=1"]).digest,
        report(&[two, "schemes.dctcp.class=1", "schemes.lia.class=1"]).digest
    );
    // 1 Gbit/s x 960 us x 0.125 = 15 kB.
    let share = "fabric.classes=[{quantum='1500B', share={rtt='960us', lambda=0.125}}]";
    assert_eq!(report(&[share]).digest, report(&["fabric.mark='15kB'", "fabric.host_mark='10pkt'"]).digest);
}

#[test]
fn a_shared_buffer_that_is_never_scarce_changes_nothing() {
    let plain = report(&[]).digest;
    assert_eq!(report(&["fabric.buffer={size='1GB', alpha=1}"]).digest, plain);
    let scarce = report(&["fabric.buffer={size='30kB', alpha=1}"]);
    assert!(scarce.cases[0].metrics["drops_pkts"].value() > 0.0);
}

#[test]
fn the_layers_that_are_named_drop_in_bursts() {
    let c = configs(&["fabric.drop_until={rack='10pkt', core='50pkt'}"]);
    let length = |packets| Some(Threshold::packets(packets));
    for (ports, expected) in [(0..16, None), (16..32, length(10)), (32..64, None), (64..96, length(50))] {
        assert!(c.ports[ports.clone()].iter().all(|p| p.drop_until == expected), "{ports:?}");
    }
    // Queues that are never full are those that they were.
    let (plain, bursts) = (report(&[]), "fabric.drop_until='10pkt'");
    let full = report(&["fabric.queue='20pkt'", bursts]);
    let drops = |report: &Report| report.cases.iter().map(|c| c.metrics["drops_pkts"].value()).sum::<f64>();
    assert_eq!(
        report(&["fabric.queue='1000pkt'", bursts]).digest,
        report(&["fabric.queue='1000pkt'"]).digest
    );
    assert!(drops(&full) > 0.0 && full.digest != report(&["fabric.queue='20pkt'"]).digest);
    assert_ne!(full.digest, plain.digest);
}

#[test]
fn hosts_take_time_and_switches_do_not() {
    let c = configs(&["fabric.host_processing='2us'"]);
    for (config, port) in c.ports.iter().zip(0..) {
        let expected = if port < 16 { Processing::new(2 * MICROSECOND, 7, port) } else { Processing::NONE };
        assert_eq!(config.processing, expected, "port {port}");
    }
    assert_ne!(report(&["fabric.host_processing='2us'"]).digest, report(&[]).digest);
}

#[test]
fn cores_are_those_of_hosts_that_send_and_receive() {
    let cpu = "fabric.host_cpu={wake='20us', send={packet='2us', byte='1ns'}, receive={packet='3us'}}";
    let send = Service { wake: 0, packet: 2 * MICROSECOND, byte: 1000 };
    let receive = Service { wake: 20 * MICROSECOND, packet: 3 * MICROSECOND, byte: 0 };
    let c = configs(&[cpu]);
    for (config, port) in c.ports.iter().zip(0..) {
        let expected = match port {
            0..16 => Processing::new(0, 7, port).on([send, Service::NONE]),
            16..32 => Processing::NONE.on([Service::NONE, receive]),
            _ => Processing::NONE,
        };
        assert_eq!(config.processing, expected, "port {port}");
    }
    // A core that needs 100 us for a packet of 1500 bytes carries 115 Mbit/s of payload, and the links 1 Gbit/s.
    let fastest = |settings: &[&str]| {
        let report = report(settings);
        let rates = report.cases.iter().map(|case| case.metrics["goodput_p90_bps"].value());
        rates.fold(0.0, f64::max)
    };
    let slow = fastest(&["fabric.host_cpu={send={packet='100us'}}"]);
    assert!((40e6..=117e6).contains(&slow) && fastest(&[]) > 2.0 * slow, "{slow}");
}

#[test]
fn options_are_those_of_switches_and_follow_the_layers() {
    let c = configs(&[
        "fabric.red={min='5pkt', max={rack='15pkt', aggregation='20pkt', core='25pkt'}, probability=0.5}",
        "fabric.classes=[{quantum='1500B', mark={rack='1pkt', aggregation='2pkt', core='3pkt'}}]",
        "fabric.buffer={size='100kB', alpha=0.5}",
    ]);
    // Ports 0 to 15 are those of the hosts; then come 16 for each direction of a layer.
    assert!(c.ports[..16].iter().all(|p| p.red.is_none()));
    assert_eq!(c.servers.iter().map(|s| s.0).collect::<Vec<_>>(), (16..96).collect::<Vec<_>>());
    for (port, layer) in [(16, 0), (40, 1), (50, 1), (70, 2), (95, 2)] {
        let red = c.ports[port].red.expect("a switch's port");
        let thresholds = [15, 20, 25].map(Threshold::packets);
        assert_eq!((red.min, red.max), (Threshold::packets(5), thresholds[layer]));
        assert_eq!((red.probability, red.weight, red.stream), (1 << 15, 9, (7, port as u32)));
        let server = c.servers[port - 16].1;
        assert_eq!(server.classes[0].mark, ClassMark::Above(Threshold::packets(layer as u64 + 1)));
        assert_eq!(server.classes[0].limit, Threshold::packets(100), "that of the fabric");
        assert_eq!(server.count, 1);
    }
    // 8 edge, 8 aggregation and 4 core switches. A switch's ports share its memory: the first edge switch
    // has ports 16 and 17 down, 32 and 33 up.
    assert_eq!((c.pools.len(), c.pools[0].bytes, c.pools[0].alpha), (20, 100_000, 500));
    let pool = |port: usize| c.servers[port - 16].1.pool;
    assert_eq!([16, 17, 32, 33].map(pool), [Some(0); 4]);
    assert_eq!([18, 95].map(pool), [Some(1), Some(19)]);
    let c = configs(&["fabric.classes=[{quantum='3kB', share={rtt='200us', lambda=0.17}}, {quantum='1kB'}]"]);
    let mark = ClassMark::Share { rtt: 200 * MICROSECOND, lambda: 170 };
    assert!(c.servers.iter().all(|(_, s)| s.count == 2 && s.classes[0].mark == mark && s.pool.is_none()));
}

#[test]
fn what_is_wrong_is_named() {
    let class = "fabric.classes=[{quantum='1500B'}]";
    let change = "changes=[{at='1ms', link=['aggregation 0', 'edge 0'], rate='10Mbps'}]";
    assert!(
        plan(&[change, "fabric.drop_until={rack='10pkt', core='10pkt'}"]).is_ok(),
        "another layer's changes"
    );
    for (settings, expected) in [
        (&["fabric.red={min='5pkt', max='9kB', probability=0.1}"][..], "both in packets or both in bytes"),
        (&["fabric.red={min='15pkt', max='5pkt', probability=0.1}"], "from 15pkt to 5pkt"),
        (&["fabric.red={min='5pkt', max='unlimited', probability=0.1}"], "from 5pkt to unlimited"),
        (&["fabric.red={min='5pkt', max='15pkt', probability=0}"], "a probability of 2^-16 to 1"),
        (&["fabric.red={min='5pkt', max='15pkt', probability=0.1, weight=17}"], "with 0 to 16"),
        (&["fabric.red={min=5, max='15pkt', probability=0.1}"], "a bare number 5 has no unit"),
        (&["fabric.red={min='5pkt', probability=0.1}"], "the key `max` is missing"),
        (&["fabric.classes=[{quantum='0B'}]"], "class 0: a quantum of 0B: 1B to 1GB"),
        (
            &["fabric.classes=[{quantum='1B'}, {quantum='1B', mark='1pkt', share={rtt='1us', lambda=1}}]"],
            "class 1: `mark` and `share` both set K",
        ),
        (
            &["fabric.classes=[{quantum='1B', share={rtt='0us', lambda=1}}]"],
            "share.rtt = 0ps: more than 0, at most 1000s",
        ),
        (
            &["fabric.classes=[{quantum='1B', share={rtt='1us', lambda=0.0004}}]"],
            "0.0004: expected 0.001 to 1000 with at most three decimals",
        ),
        (&["fabric.buffer={size='1kB', alpha=1}"], "1kB: not even one packet of 1500 bytes fits"),
        (&["fabric.buffer={size='1MB', alpha=0}"], "0: expected 0.001 to 1000"),
        (
            &["fabric.drop_until='100pkt'"],
            "100pkt, and the limit of the queue from edge 0 to host 0 is 100pkt",
        ),
        (&["fabric.drop_until='9kB'"], "9kB, and the limit of the queue from edge 0 to host 0 is 100pkt"),
        (
            &["fabric.drop_until={core='0pkt'}"],
            "0pkt, and the limit of the queue from aggregation 0 to core 0",
        ),
        (&["fabric.drop_until={spine='10pkt'}"], "there is no layer `spine`"),
        (&["fabric.queue='unlimited'", "fabric.drop_until='10pkt'"], "is unlimited"),
        (&[class, "fabric.drop_until='10pkt'"], "drops packet by packet"),
        (&["fabric.buffer={size='1MB', alpha=1}", "fabric.drop_until='10pkt'"], "drops packet by packet"),
        (&[change, "fabric.drop_until='10pkt'"], "the link from edge 0 to aggregation 0 changes"),
        (&["fabric.host_flag='80pkt'"], "80pkt: hosts' queues have a limit, "),
        (&["fabric.host_flag='0kB'"], "an empty queue is not congested"),
        (&["fabric.host_processing='1001s'"], "1001s: at most 1000s"),
        (&["fabric.host_cpu={wake='2s'}"], "2s: at most 1s"),
        (&["fabric.host_cpu='nowhere.toml'"], "nowhere.toml cannot be read"),
        (&["schemes.lia.class=1"], "class 1: without `fabric.classes` there is only class 0"),
        (&[class, "workloads.permutation.class=2"], "only class 0"),
    ] {
        let error = plan(settings).map(drop).expect_err(expected);
        assert!(error.contains(expected), "{settings:?}: {error}");
        let last = settings.last().expect("a setting");
        assert!(error.starts_with(&format!("--set {last}: ")), "the place: {error}");
    }
    let nine = format!("fabric.classes=[{}]", ["{quantum='1B'}"; 9].join(", "));
    let error = plan(&[&nine]).map(drop).expect_err("too many");
    assert!(error.contains("9 classes: a port has at most 8"), "{error}");
}
