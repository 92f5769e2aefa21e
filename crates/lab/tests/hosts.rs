//! The transport's keys: what a profile gives, and what stands beside it.

use tresse_fabric::{MICROSECOND, MILLISECOND, SECOND};
use tresse_lab::{Profile, Source, find, load, resolve};
use tresse_transport::{Config, Gro, Recovery, Reduction, Scheduler};

/// The transport of XMP's table 1 with `keys` in place of its own, under LIA.
fn config(keys: &str) -> Result<Config, String> {
    let text = find("xmp/table1").expect("built in").text;
    let (before, rest) = text.split_once("[transport]").expect("it has one");
    let (_, after) = rest.split_once("[schemes.dctcp]").expect("schemes follow");
    let text = format!("{before}[transport]\n{keys}\n[schemes.dctcp]{after}");
    let loaded = load(Source { name: "test.toml".into(), text }, Profile::Full, &[]);
    let plan = loaded.and_then(|l| resolve(&l, &["scheme=lia".to_owned()]));
    plan.map(|p| p.cases[0].transport).map_err(|e| e.to_string())
}

/// XMP's table 1 lists every key; they are what the profile has.
#[test]
fn the_ns3_profile_is_that_of_xmps_experiments() {
    let loaded = load(find("xmp/table1").expect("built in"), Profile::Full, &[]).expect("valid");
    let plan = resolve(&loaded, &["scheme=lia".to_owned()]).expect("valid");
    assert_eq!(config("profile = \"ns3\""), Ok(plan.cases[0].transport));
}

#[test]
fn the_linux_profile_is_linuxs() {
    let config = config("profile = \"linux\"").expect("valid");
    assert_eq!((config.mss + config.header, config.initial_window), (1500, 10));
    assert_eq!((config.recovery, config.reduction), (Recovery::Rack, Reduction::Prr));
    assert_eq!((config.rto_min, config.rto_max), (200 * MILLISECOND, 120 * SECOND));
    assert!(config.pacing && config.delayed_ack.quick_again);
    assert_eq!(config.gro, Gro { segments: 45, interval: 50 * MICROSECOND });
    // A burst and what is merged are at most 64 kB.
    assert!(config.tso * config.mss <= 65_536 && (config.tso + 1) * config.mss > 65_536);
}

#[test]
fn a_key_comes_before_the_profile() {
    let base = config("profile = \"linux\"").expect("valid");
    let keys =
        "profile = \"linux\"\npacing = \"off\"\ngro = \"1pkt\"\nmss = \"1400B\"\ntimer_slack = \"2ms\"";
    let gro = Gro { segments: 1, ..base.gro };
    let expected = Config { pacing: false, gro, mss: 1400, timer_slack: 2 * MILLISECOND, ..base };
    assert_eq!(config(keys), Ok(expected));
    let rack = config("profile = \"ns3\"\nrecovery = \"rack\"").expect("valid");
    assert_eq!((rack.recovery, rack.initial_window, rack.timer_slack), (Recovery::Rack, 1, 0));
}

#[test]
fn the_scheduler_is_a_key_and_plb_needs_hashes() {
    let with = |keys: &str| config(&format!("profile = \"linux\"\n{keys}"));
    let base = with("").expect("valid");
    assert_eq!((base.scheduler, base.plb), (Scheduler::LowestRtt, None));
    assert_eq!(with("scheduler = \"lowest-rtt\"\nplb = \"off\""), Ok(base));
    let robin = Config { scheduler: Scheduler::RoundRobin, ..base };
    assert_eq!(with("scheduler = \"round-robin\""), Ok(robin));
    let refused = with("plb = \"on\"").expect_err("an address is a path");
    assert!(refused.contains("two-level looks at addresses only"), "{refused}");
}

#[test]
fn what_is_wrong_is_named() {
    for (keys, expected) in [
        ("profile = \"ns3\"\nscheduler = \"rtt\"", "expected `lowest-rtt` or `round-robin`"),
        ("profile = \"ns3\"\nplb = \"yes\"", "\"on\", \"off\", or a table"),
        ("profile = \"ns3\"\nplb = { rounds = 6 }", "plb has no parameter `rounds` (it has: cong_thresh"),
        ("profile = \"ns3\"\nplb = { cong_thresh = 300 }", "a whole number in 1..=256 1/256"),
        ("mss = \"1460B\"", "transport.header: it has no value"),
        ("", "profile = \"ns3\" or \"linux\""),
        ("profile = \"bsd\"", "unknown variant `bsd`, expected `ns3` or `linux`"),
        ("profile = \"linux\"\ntso = \"0pkt\"", "at least 1pkt"),
        ("profile = \"linux\"\ngro = \"0pkt\"", "at least 1pkt"),
        ("profile = \"linux\"\nmss = \"65535B\"", "a packet has 1 to 65535 bytes"),
        ("profile = \"linux\"\nheader = \"4GB\"", "a packet has 1 to 65535 bytes"),
        ("profile = \"linux\"\nack = \"0B\"", "an ACK has 1 to 65535 bytes"),
        ("profile = \"linux\"\ngro_interval = \"2000s\"", "at most 1000s"),
    ] {
        let message = config(keys).expect_err(keys);
        assert!(message.contains(expected), "{keys}: {message}");
    }
}
