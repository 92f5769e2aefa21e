//! Cases with the same results are computed once: K makes no difference to a scheme whose packets cannot be marked.

use tempfile::TempDir;
use tresse_experiment::{Loaded, Plan, Source};
use tresse_lab::forecast::{Forecast, forecast, work};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};

use crate::reading::{Table, measure, plan};

const TWO: &str = r#"
title = "t"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "1Gbps"
delay = "1us"
queue = "50pkt"
mark = "5pkt"
[transport]
profile = "linux"
rto_min = "5ms"
[schemes.lia]
controller = "lia"
subflows = 2
[schemes.dctcp]
controller = "dctcp"
[workloads.all]
pattern = "incast"
size = "500kB"
"#;

/// DCTCP and LIA at these values of K.
fn at(values: &str) -> (Loaded, Plan) {
    plan(Source { name: "t.toml".into(), text: TWO.into() }, &[&format!("fabric.mark={values}")])
}

#[test]
fn a_case_that_does_not_see_k_is_computed_once_and_stored_for_each() {
    let dir = TempDir::new().expect("a temporary folder");
    let (loaded, own) = at("[5pkt,10pkt,20pkt]");
    assert_eq!(own.cases.len(), 6);
    let options = Options { out: Some(dir.path().join("run")), ..Options::default() };
    let watch = Watch::new(&own, &options).expect("one seed");
    let report = run(&loaded, &own, &options, &watch, &NotJudged).expect("it runs");
    let standing = watch.standing();
    assert_eq!((standing.units, standing.done), (4, 4), "LIA once, DCTCP three times");
    assert!(report.notes.iter().any(|note| note.contains("all values of mark") && note.ends_with(": lia-2")));

    let of = |scheme: &str| {
        let own = report.cases.iter().filter(|case| case.case["scheme"] == scheme);
        own.map(|case| serde_json::to_string(&case.metrics).expect("plain data")).collect::<Vec<_>>()
    };
    let [lia, dctcp] = ["lia", "dctcp"].map(of);
    assert!(lia.len() == 3 && lia[0] == lia[1] && lia[1] == lia[2], "{lia:?}");
    assert!(dctcp.len() == 3 && dctcp[0] != dctcp[1], "{dctcp:?}");
    let flows = Table::read(&dir.path().join("run/flows.parquet"));
    let rows = flows.texts("scheme").into_iter().filter(|scheme| scheme == "lia").count();
    assert_eq!(rows, 3 * 3, "each has its flows");

    // What it has is what it has alone.
    let alone = measure(&at("[20pkt]"), &dir.path().join("alone"), 1, 1);
    let metrics =
        |scheme: &str| alone.cases.iter().find(|case| case.case["scheme"] == scheme).expect("there");
    assert_eq!(lia[2], serde_json::to_string(&metrics("lia").metrics).expect("plain data"));
    assert_eq!(dctcp[2], serde_json::to_string(&metrics("dctcp").metrics).expect("plain data"));
}

#[test]
fn what_there_is_to_do_counts_what_is_computed() {
    let (_, plan) = at("[5pkt,10pkt,20pkt]");
    let options = Options { replications: 2.into(), ..Options::default() };
    let own = work(&plan, &options);
    assert_eq!((own.cases, own.seeds, own.flows, own.simulated_s), (4, 2, 4 * 2 * 3, None));
    let told = forecast(&plan, &options).expect("its flows have sizes");
    // 500 kB in 1448-byte segments over 2 to 4 links, and an ACK for one or two of them.
    let least = f64::from(2 * 4 * 3 * 2) * 500e3 / 1448.0;
    assert!((least..4.0 * least).contains(&told.packet_hops), "{told:?}");
    assert!(told.wall_s > 0.0 && told.tried_cases == 4, "{told:?}");
    let twice = forecast(&plan, &Options { parallel: 2, ..options }).expect("the same");
    assert_eq!(twice.packet_hops, told.packet_hops, "they end before they are stopped");
}

#[test]
fn what_is_long_is_foretold_from_its_beginning() {
    let endless = [
        "workloads={ all = { pattern = 'permutation', duration = '1000s' } }",
        "schemes.lia={ controller = 'dctcp' }",
        "schemes.lia.subflows=1",
    ];
    let (_, plan) = plan(Source { name: "t.toml".into(), text: TWO.into() }, &endless);
    let options = Options::default();
    assert_eq!(work(&plan, &options).simulated_s, Some(2000.0));
    let told = forecast(&plan, &options).expect("it ends at a time");
    assert!(told.tried_s < 5.0 && told.wall_s > 30.0, "{told:?}");
    // Four hosts at 1 Gbit/s: their packets on 2 to 4 links each, and as many ACKs at most.
    let most = 2000.0 * 4.0 * 1e9 / 8.0 / 1500.0 * 4.0 * 2.0;
    assert!((most / 10.0..most).contains(&told.packet_hops), "{told:?} {most}");
}

/// What is foretold with another workload, of LIA alone.
fn told_of(workload: &str) -> Option<Forecast> {
    let text = TWO.split("[schemes.dctcp]").next().expect("it begins").to_owned() + workload;
    let (_, plan) = plan(Source { name: "t.toml".into(), text }, &[]);
    forecast(&plan, &Options::default())
}

#[test]
fn what_goes_on_beside_others_is_foretold_by_their_flows() {
    let rounds = |rounds: u32| {
        let parts = format!(
            "[workloads.all.parts.incast]\npattern = 'incast'\nsize = '20kB'\nrounds = {rounds}\n\
             [workloads.all.parts.rest]\npattern = 'random'\nsize = '1MB'\n"
        );
        told_of(&parts).expect("its incasts end").packet_hops
    };
    // A case is begun for a second of the clock, in which a busy machine may not get beyond its beginning.
    let mut ratios = (0..5).map(|_| rounds(80_000) / rounds(20_000));
    assert!(
        ratios.any(|ratio| (2.0..8.0).contains(&ratio)),
        "four times the rounds are about four times the hops"
    );
}

#[test]
fn flows_that_are_stopped_are_foretold_by_the_last_stop() {
    let flows = |last: &str| {
        let both = format!("{{ from = 0, to = 2, stop = '50s' }}, {{ from = 1, to = 3, stop = '{last}' }}");
        told_of(&format!("[workloads.all]\npattern = 'flows'\nflow = [{both}]\n"))
    };
    let told = flows("100s").expect("both are stopped");
    // A link of 1 Gbit/s for each, 4 links long, and an ACK for one or two packets.
    let most = 2.0 * 100.0 * 1e9 / 8.0 / 1500.0 * 4.0 * 2.0;
    assert!((most / 8.0..most).contains(&told.packet_hops), "{told:?} {most}");
}
