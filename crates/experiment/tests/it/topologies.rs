//! `[fabric]`: the keys of topologies, wherever they stand.

use tresse_experiment::read::built_in;
use tresse_experiment::schema::Experiment;
use tresse_experiment::{Profile, Source, find, load, resolve, schema};

/// What is wrong with an experiment of a dumbbell with two pairs and `more`, which one setting changes.
fn message(more: &str, setting: &str) -> String {
    let text = format!(
        "title = \"t\"\nschemes.a.controller = \"reno\"\ntransport.profile = \"ns3\"\n\
         [workloads.all]\npattern = \"permutation\"\nsize = \"1MB\"\nrounds = 1\n\
         [fabric]\nrate = \"1Gbps\"\ndelay = \"10us\"\nqueue = \"100pkt\"\nhost_queue = \"unlimited\"\n\
         topology = \"dumbbell\"\npairs = 2\n{more}\n"
    );
    let settings: Vec<String> = Some(setting.to_owned()).into_iter().filter(|s| !s.is_empty()).collect();
    let loaded = load(Source { name: "t.toml".into(), text }, Profile::Quick, &settings);
    let plan = loaded.and_then(|l| resolve(&l, &[]));
    plan.map_or_else(|e| e.to_string(), |_| "it is fine".to_owned())
}

#[test]
fn a_key_is_wrong_where_it_stands() {
    let (quick, variant) = ("[profile.quick.fabric]\n", "[variants.v.fabric]\n");
    for (key, expected) in [
        ("k = 4", "`k` is a fat tree's; a dumbbell has `pairs`"),
        ("hops = \"3\"", "expected a whole number from 0 to 4294967295, found \"3\""),
        ("pair = 4", "unknown key `pair`; did you mean `pairs`?"),
        ("colour = 4", "unknown key `colour`, expected one of `topology`, `k`, `leaves`, `spines`, "),
    ] {
        let column = if expected.starts_with("unknown") { 1 } else { key.find("= ").expect("a value") + 3 };
        let in_file = format!("t.toml:15:{column}: {expected}");
        assert!(message(key, "").starts_with(&in_file), "{}", message(key, ""));
        let set = format!("fabric.{}", key.replace(" = ", "="));
        let by_setting = format!("--set {set}: {expected}");
        assert!(message("", &set).starts_with(&by_setting), "{}", message("", &set));
        for (table, name) in [(quick, "[profile.quick]"), (variant, "[variants.v]")] {
            let message = message(&format!("{table}{key}"), "");
            assert!(message.contains(&format!(": {name}: {expected}")), "{message}");
        }
    }
    assert_eq!(message("", "fabric.pairs=3"), "it is fine");
    assert_eq!(message("[variants.v.fabric]\npairs = 0", "fabric.pairs=3"), "it is fine");
    let unknown = message("", "fabric.topology=ring");
    assert!(unknown.contains("unknown value `ring`, expected one of `fat-tree`, "), "{unknown}");
}

#[test]
fn what_subflows_must_not_share_depends_on_the_routing() {
    let tree = |more: &str| {
        let text = format!(
            "title = \"t\"\nschemes.a = {{ controller = \"lia\", subflows = 2 }}\ntransport.profile = \"ns3\"\n\
             workloads.all = {{ pattern = \"permutation\", size = \"1MB\", rounds = 1 }}\n\
             [fabric]\nrate = \"1Gbps\"\ndelay = \"10us\"\nqueue = \"100pkt\"\nhost_queue = \"unlimited\"\n\
             topology = \"fat-tree\"\nk = 4\n{more}\n"
        );
        let loaded = load(Source { name: "t.toml".into(), text }, Profile::Quick, &[]);
        loaded.and_then(|l| resolve(&l, &[])).map_or_else(|e| e.to_string(), |_| "it is fine".to_owned())
    };
    for fine in [
        "distinct = \"aggregation\"",
        "distinct = \"core\"\nrouting = \"ecmp\"",
        "distinct = \"host-link\"\nplanes = 2",
        "distinct = \"core\"\nrouting = \"shortest\"",
    ] {
        assert_eq!(tree(fine), "it is fine", "{fine}");
    }
    let message = tree("distinct = \"host-link\"");
    assert!(message.contains("\"host-link\" is for routing = \"shortest\""), "{message}");
    let message = tree("distinct = \"host-link\"\nrouting = \"shortest\"");
    assert!(message.contains("for hosts with several links"), "{message}");
    let message = tree("distinct = \"core\"\nplanes = 2");
    assert!(message.contains("only a fat tree has core and aggregation switches"), "{message}");
}

#[test]
fn another_topology_needs_its_own_keys() {
    let message = message("", "fabric.topology=leaf-spine");
    assert!(
        message.starts_with("t.toml:14:9: `pairs` is a dumbbell's; a leaf-spine has `leaves`, "),
        "{message}"
    );
}

/// The keys of every topology, and what is common to all.
#[test]
fn the_schema_has_the_keys_of_every_topology() {
    let schema = schema();
    let fabric = &schema.get("$defs").expect("definitions")["Fabric"];
    let (keys, names) = (&fabric["properties"], &fabric["properties"]["topology"]["oneOf"]);
    assert_eq!(fabric["additionalProperties"], false);
    let names: Vec<&str> =
        names.as_array().expect("names").iter().filter_map(|n| n["const"].as_str()).collect();
    assert_eq!(names.len(), 14);
    for name in built_in::names() {
        let loaded = load(find(name).expect("built in"), Profile::Full, &[]).expect("valid");
        let Experiment { fabric, .. } = &loaded.experiment;
        assert!(names.contains(&&*fabric.topology), "{name}: {}", fabric.topology);
        for key in loaded.resolved["fabric"].as_table().expect("a table").keys() {
            assert!(keys.get(key).is_some(), "{name}: {key}");
        }
    }
}

#[test]
fn planes_are_of_any_topology_with_plain_hosts() {
    assert_eq!(message("planes = 4", ""), "it is fine");
    assert_eq!(message("routing = \"ecmp\"\nplanes = 64", ""), "it is fine");
    for (more, expected) in [
        ("planes = 0", "t.toml:15:10: 0: 1 to 64"),
        ("planes = 65", "t.toml:15:10: 65: 1 to 64"),
        ("planes = 2\nrouting = \"two-level\"", "t.toml:16:11: two-level routing is that of one plane; "),
    ] {
        assert!(message(more, "").starts_with(expected), "{}", message(more, ""));
    }
}

#[test]
fn connections_stay_where_each_message_is_written_at_once() {
    assert_eq!(message("", "workloads.all.persistent=true"), "it is fine");
    let rate = message(
        "",
        "workloads.all={ pattern = \"permutation\", size = \"1MB\", rounds = 1, persistent = true, application = { rate = \"1Mbps\" } }",
    );
    assert!(rate.contains("messages that share a connection are written at once"), "{rate}");
    let samples = message("[measure]\nsamples = \"1ms\"\n", "workloads.all.persistent=true");
    assert!(samples.contains("samples show what each connection delivers"), "{samples}");
}

#[test]
fn one_direction_of_a_link_may_differ() {
    let link = |keys: &str| {
        message(&format!("[[fabric.links]]\nends = [\"S1\", \"left\"]\none_way = true\n{keys}\n"), "")
    };
    assert_eq!(
        link(
            "rate = \"1Mbps\"\n[[fabric.links]]\nends = [\"left\", \"S1\"]\none_way = true\nrate = \"2Mbps\""
        ),
        "it is fine"
    );
    assert!(link("failed = true").contains("a link fails in both directions"), "{}", link("failed = true"));
    assert!(
        link("rate = \"1Mbps\"\n[[fabric.links]]\nends = [\"left\", \"S1\"]\nrate = \"2Mbps\"")
            .contains("is listed twice")
    );
}
