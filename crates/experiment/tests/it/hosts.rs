//! The transport's keys: what a profile gives, and what stands beside it.

use tresse_controllers::INFINITE_SSTHRESH;
use tresse_experiment::{Profile, Source, find, load, resolve};
use tresse_transport::{
    Blocked, BufferRule, Config, Gro, Join, Recovery, Reduction, Rto, Scheduler, TimeoutCut,
};
use tresse_units::{MICROSECOND, MILLISECOND, SECOND};

/// The transport of XMP's table 1 with `keys` in place of its own, under LIA.
fn config(keys: &str) -> Result<Config, String> {
    let text = find("xmp/table1").expect("built in").text;
    let (before, rest) = text.split_once("[transport]").expect("it has one");
    let (_, after) = rest.split_once("[schemes.dctcp]").expect("schemes follow");
    let text = format!("{before}[transport]\n{keys}\n[schemes.dctcp]{after}");
    let loaded = load(Source { name: "test.toml".into(), text }, Profile::Full, &[]);
    let plan = loaded.and_then(|l| resolve(&l, &["scheme=lia".to_owned()]));
    plan.map(|p| p.cases[0].bound_schemes[0].transport).map_err(|e| e.to_string())
}

#[test]
fn the_ns3_profile_is_ns3s() {
    let config = config("profile = \"ns3\"").expect("valid");
    assert_eq!((config.mss + config.header, config.ack, config.initial_window), (1500, 40, 1));
    assert_eq!((config.rto_min, config.rto_initial), (200 * MILLISECOND, SECOND));
    assert_eq!((config.recovery, config.reduction), (Recovery::NewReno, Reduction::Immediate));
    assert_eq!(config.delayed_ack.every, 2);
    assert!(!config.handshake && !config.pacing);
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
fn the_ns2_profile_is_ns2s() {
    let config = config("profile = \"ns2\"").expect("valid");
    assert_eq!((config.mss, config.header, config.ack), (1000, 40, 40));
    assert_eq!((config.initial_window, config.receive_window), (2, 20));
    assert_eq!((config.rto_min, config.rto_initial), (200 * MILLISECOND, 3 * SECOND));
    assert_eq!((config.recovery, config.reduction), (Recovery::Sack, Reduction::Immediate));
    assert_eq!(config.delayed_ack.every, 1);
    assert!(config.handshake && !config.pacing);
}

#[test]
fn a_receive_buffer_is_of_tcp_and_holds_a_segment() {
    let with = |keys: &str| config(&format!("profile = \"ns2\"\n{keys}"));
    assert_eq!(with("").expect("valid").receive_buffer, None);
    let buffer = |keys: &str| with(keys).expect("valid").receive_buffer.expect("there is one");
    let wait = buffer("receive_buffer = \"40kB\"");
    assert_eq!((wait.bytes, wait.blocked), (40_000, Blocked::Wait));
    assert_eq!(wait, buffer("receive_buffer = \"40kB\"\nblocked = \"wait\""));
    assert_eq!(buffer("receive_buffer = \"1kB\"\nblocked = \"reinject\"").blocked, Blocked::Reinject);
    let linux = buffer("receive_buffer = \"linux\"");
    assert_eq!((linux.bytes, linux.rule), (80 << 10, BufferRule::Linux { most: 3840 << 10 }));
    let capped = buffer("receive_buffer = \"linux 50kB\"");
    assert_eq!((capped.bytes, capped.rule), (50_000, BufferRule::Linux { most: 50_000 }));
    for (keys, expected) in [
        ("profile = \"spray\"\nreceive_buffer = \"linux\"", "with profile = \"spray\""),
        ("profile = \"ns3\"\nreceive_buffer = \"1459B\"", "at least one full segment (mss)"),
        ("profile = \"ns3\"\nreceive_buffer = \"10pkt\"", "10pkt"),
        ("profile = \"ns3\"\nblocked = \"wait\"", "nothing is blocked without a receive_buffer"),
        ("profile = \"ns3\"\nreceive_buffer = \"1MB\"\nblocked = \"stop\"", "expected `wait` or `reinject`"),
        ("profile = \"spray\"\nreceive_buffer = \"1MB\"", "with profile = \"spray\""),
    ] {
        let message = config(keys).expect_err(keys);
        assert!(message.contains(expected), "{keys}: {message}");
    }
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
    let once = config("profile = \"ns3\"\nrecovery = \"reno-once\"").expect("valid");
    assert_eq!(once.recovery, Recovery::RenoOnce);
    let short = config("profile = \"ns3\"\ninitial_ssthresh = \"100pkt\"").expect("valid");
    assert_eq!((short.initial_ssthresh, base.initial_ssthresh), (100, INFINITE_SSTHRESH));
}

#[test]
fn the_scheduler_is_a_key_and_plb_needs_hashes() {
    let with = |keys: &str| config(&format!("profile = \"linux\"\n{keys}"));
    let base = with("").expect("valid");
    assert_eq!((base.scheduler, base.plb), (Scheduler::LowestRtt, None));
    assert_eq!(with("scheduler = \"lowest-rtt\"\nplb = \"off\""), Ok(base));
    let robin = Config { scheduler: Scheduler::RoundRobin, ..base };
    assert_eq!(with("scheduler = \"round-robin\""), Ok(robin));
    let linux = Config { scheduler: Scheduler::Linux, ..base };
    assert_eq!(with("scheduler = \"linux\""), Ok(linux));
    let refused = with("plb = \"on\"").expect_err("an address is a path");
    assert!(refused.contains("two-level looks at addresses only"), "{refused}");
}

#[test]
fn hosts_differ_in_their_timeouts_and_in_when_they_join() {
    let of = |profile: &str| config(&format!("profile = \"{profile}\"")).expect("valid");
    assert_eq!((of("linux").rto_rule, of("linux").join), (Rto::Linux, Join::FirstAck));
    assert_eq!((of("ns2").rto_rule, of("ns2").join), (Rto::Rfc6298, Join::Established));
    let own = config("profile = \"linux\"\nrto_rule = \"rfc6298\"\njoin = \"established\"").expect("valid");
    assert_eq!(own, Config { rto_rule: Rto::Rfc6298, join: Join::Established, ..of("linux") });
    assert_eq!(of("linux").timeout_cut, TimeoutCut::Restart);
    let as_loss = config("profile = \"linux\"\ntimeout = \"as-loss\"").expect("valid");
    assert_eq!(as_loss, Config { timeout_cut: TimeoutCut::AsLoss, ..of("linux") });
    let short = config("profile = \"linux\"\nsend_segment = \"2304B\"").expect("valid");
    assert_eq!((of("linux").send_segment, short.send_segment), (4352, 2304));
}

#[test]
fn what_is_wrong_is_named() {
    for (keys, expected) in [
        ("profile = \"ns3\"\nscheduler = \"rtt\"", "expected one of `lowest-rtt`, `round-robin`, `linux`"),
        ("profile = \"ns3\"\ntimeout = \"10ms\"", "expected `restart` or `as-loss`"),
        ("profile = \"spray\"\ntimeout = \"as-loss\"", "a sprayed connection has timeouts of its own"),
        ("profile = \"ns3\"\nplb = \"yes\"", "\"on\", \"off\", or a table"),
        ("profile = \"ns3\"\nplb = { rounds = 6 }", "plb has no parameter `rounds` (it has: cong_thresh"),
        ("profile = \"ns3\"\nplb = { cong_thresh = 300 }", "a whole number from 1 to 256 1/256"),
        ("mss = \"1460B\"", "transport.header: it has no value"),
        ("", "profile = \"ns3\", \"ns2\", \"linux\" or \"spray\""),
        ("profile = \"bsd\"", "unknown value `bsd`, expected one of `ns3`, `ns2`, `linux`, `spray`"),
        ("profile = \"linux\"\ninitial_ssthresh = \"0pkt\"", "1 to 2147483647 packets"),
        ("profile = \"linux\"\ntso = \"0pkt\"", "at least 1pkt"),
        ("profile = \"linux\"\ngro = \"0pkt\"", "at least 1pkt"),
        ("profile = \"linux\"\nmss = \"65535B\"", "a packet has 1 to 65535 bytes"),
        ("profile = \"linux\"\nheader = \"4GB\"", "a packet has 1 to 65535 bytes"),
        ("profile = \"linux\"\nack = \"0B\"", "an ACK has 1 to 65535 bytes"),
        ("profile = \"linux\"\ngro_interval = \"2000s\"", "at most 1000s"),
        ("profile = \"linux\"\nsend_segment = \"0B\"", "more than 0B and at most 1MiB"),
    ] {
        let message = config(keys).expect_err(keys);
        assert!(message.contains(expected), "{keys}: {message}");
    }
}

/// The transports of the schemes `a` and `b`, where all have `common` and `a` has `own` beside it.
fn schemes(common: &str, own: &str) -> Result<[Config; 2], String> {
    let text = format!(
        "title = \"two schemes\"\n\
         [fabric]\ntopology = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nrate = \"1Gbps\"\n\
         delay = \"10us\"\nqueue = \"100pkt\"\nhost_queue = \"unlimited\"\nrouting = \"ecmp\"\n\
         [transport]\n{common}\n\
         [schemes.a]\ncontroller = \"dctcp\"\n[schemes.a.transport]\n{own}\n\
         [schemes.b]\ncontroller = \"reno\"\n\
         [workloads.all]\npattern = \"permutation\"\nsize = \"1MB\"\nrounds = 1\n"
    );
    let loaded = load(Source { name: "test.toml".into(), text }, Profile::Full, &[]);
    let plan = loaded.and_then(|l| resolve(&l, &[])).map_err(|e| e.to_string())?;
    // What differs without a transport of its own is the ECN that the controller needs.
    Ok([0, 1].map(|i| Config { ecn: false, ..plan.cases[i].bound_schemes[0].transport }))
}

#[test]
fn a_scheme_lays_its_keys_over_those_of_all() {
    let common = "profile = \"ns3\"\nrto_min = \"10ms\"";
    let [_, base] = schemes(common, "").expect("valid");
    assert_eq!(schemes(common, ""), Ok([base, base]));
    let robin = Config { scheduler: Scheduler::RoundRobin, recovery: Recovery::Sack, ..base };
    assert_eq!(schemes(common, "scheduler = \"round-robin\"\nrecovery = \"sack\""), Ok([robin, base]));
    let [a, b] = schemes(common, "plb = \"on\"").expect("only the other one cannot see marks");
    assert!(a.plb.is_some() && b.plb.is_none());
}

/// Trap 2 of docs/fair.md: a timeout for all was set, and a network card that repairs losses in 100 us waited for it.
#[test]
fn a_scheme_with_its_own_profile_takes_nothing_from_the_others() {
    let common = "profile = \"ns3\"\nrto_min = \"10ms\"\nhandshake = false";
    let [linux, ns3] = schemes(common, "profile = \"linux\"\ninitial_window = \"4pkt\"").expect("valid");
    assert_eq!((linux.recovery, ns3.recovery), (Recovery::Rack, Recovery::NewReno));
    assert_eq!((linux.initial_window, ns3.initial_window), (4, 1));
    assert_eq!((linux.rto_min, linux.handshake), (200 * MILLISECOND, true), "as its profile says");
    assert_eq!((ns3.rto_min, ns3.handshake), (10 * MILLISECOND, false), "as [transport] says");
    assert_eq!(linux.rto_max, 120 * SECOND, "as its profile says");
    let [keys, other] = schemes(common, "initial_window = \"4pkt\"").expect("valid");
    assert_eq!((keys.rto_min, other.rto_min), (10 * MILLISECOND, 10 * MILLISECOND), "of both");
}

#[test]
fn what_is_wrong_in_a_scheme_is_found_there() {
    let ns3 = "profile = \"ns3\"";
    let keys = "mss = \"1460B\"\nheader = \"40B\"\nack = \"40B\"\ninitial_window = \"1pkt\"\n\
                rto_min = \"200ms\"\nrto_initial = \"1s\"\nrto_max = \"60s\"\nrecovery = \"sack\"\n\
                reduction = \"prr\"\nack_every = \"1pkt\"\nack_timer = \"40ms\"\nquick_acks = \"1pkt\"";
    for (common, own, line, expected) in [
        (ns3, "tso = \"0pkt\"", "tso = ", "at least 1pkt"),
        (ns3, "plb = { rounds = 6 }", "plb = ", "plb has no parameter `rounds`"),
        (ns3, "rto_max = \"100ms\"", "[schemes.a.transport]", "rto_min: 200ms: a timeout is above 0"),
        (ns3, "rto = \"1s\"", "rto = ", "unknown key `rto`"),
        (ns3, "profile = \"linux\"\nmss = \"70000B\"", "mss = ", "1 to 65535 bytes"),
        ("profile = \"ns3\"\nplb = \"on\"", "tso = \"4pkt\"", "", "schemes.b.ecn: PLB counts marks"),
    ] {
        let message = schemes(common, own).expect_err(own);
        assert!(message.contains(expected) && message.contains(line), "{own}: {message}");
    }
    let deaf =
        schemes(ns3, "[schemes.c]\ncontroller = \"lia\"\necho = \"dctcp\"").expect_err("no mark is echoed");
    assert!(
        deaf.contains("no mark is echoed") && deaf.contains("echo = ") && deaf.contains("ecn = true"),
        "{deaf}"
    );
    schemes(ns3, "[schemes.c]\ncontroller = \"lia\"\necho = \"dctcp\"\necn = true").expect("it sees marks");
    let [linux, other] = schemes(keys, "profile = \"linux\"").expect("valid");
    assert_eq!((linux.mss, other.mss), (1448, 1460));
    let small = schemes(keys, "mss = \"100B\"").expect("valid");
    assert_eq!(small.map(|c| c.mss), [100, 1460]);
}

/// Without a profile: these, in this order, and no others.
#[test]
fn keys_without_a_profile_are_demanded() {
    let needed = [
        "mss = \"1460B\"",
        "header = \"40B\"",
        "ack = \"40B\"",
        "initial_window = \"1pkt\"",
        "rto_min = \"200ms\"",
        "rto_initial = \"1s\"",
        "rto_max = \"60s\"",
        "recovery = \"newreno\"",
        "reduction = \"immediate\"",
        "ack_every = \"2pkt\"",
        "ack_timer = \"40ms\"",
        "quick_acks = \"16pkt\"",
    ];
    for (given, next) in needed.iter().enumerate() {
        let name = next.split(' ').next().expect("a key");
        let message = config(&needed[..given].join("\n")).expect_err(next);
        assert!(
            message.contains(&format!("transport.{name}: it has no value\n\nhint: a profile")),
            "{message}"
        );
    }
    assert_eq!(config(&needed.join("\n")), config("profile = \"ns3\""));
}
