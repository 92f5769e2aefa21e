//! `samples.parquet`: its bytes are the flows', its optimum is that of the flows that are there, and taking
//! samples changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use tempfile::TempDir;
use tresse_experiment::{Loaded, Plan, Profile, find, load, resolve};

use crate::reading::{Table, measure};

/// Two rounds of 16 flows, about 100 ms: with every scheme, LIA's losses and timeouts included.
fn plan(more: &[&str]) -> (Loaded, Plan) {
    let settings = [
        "fabric.k=4",
        // So that every subflow is there from the start.
        "transport.handshake=false",
        "workloads={ permutation = { pattern = 'permutation', size = ['100kB', '2MB'], rounds = 2 } }",
        "profile.quick={}",
        "published={}",
        "claims=[]",
    ];
    crate::reading::plan(find("xmp/table1").expect("built in"), &[&settings, more].concat())
}

/// Which flow a row is of: scheme, subflows, seed, round, sending host.
fn flow_keys(table: &Table) -> Vec<(String, [u64; 4])> {
    // 0 if the path manager decides.
    let subflows = table.maybe("subflows").into_iter().map(Option::unwrap_or_default).collect();
    let [seed, round, from] = ["seed", "round", "from"].map(|name| table.numbers(name));
    let keys: [Vec<u64>; 4] = [subflows, seed, round, from];
    let schemes = table.texts("scheme").into_iter().enumerate();
    schemes.map(|(i, scheme)| (scheme, [0, 1, 2, 3].map(|k: usize| keys[k][i]))).collect()
}

const INTERVAL: u64 = 1_000_000_000;

#[test]
fn samples_add_up_to_the_flows() {
    for fidelity in ["packets", "rounds"] {
        add_up(fidelity);
    }
}

fn add_up(fidelity: &str) {
    let dir = TempDir::new().expect("a temporary folder");
    let experiment = plan(&["measure.samples=1ms", "measure.rtt=false", &format!("fidelity={fidelity}")]);
    measure(&experiment, dir.path(), 1, 2);
    let samples = Table::read(&dir.path().join("samples.parquet"));
    let flows = Table::read(&dir.path().join("flows.parquet"));

    // By flow and subflow: the bytes, and where each interval begins and ends.
    let mut bytes: BTreeMap<_, u64> = BTreeMap::new();
    let mut spans: BTreeMap<_, Vec<[u64; 2]>> = BTreeMap::new();
    let [start, duration, arrived, goodput, subflow] =
        ["start_ps", "duration_ps", "arrived_bytes", "goodput_bps", "subflow"].map(|n| samples.numbers(n));
    for (i, flow) in flow_keys(&samples).into_iter().enumerate() {
        assert!((1..=INTERVAL).contains(&duration[i]));
        // Goodput is rounded down to one bit/s.
        let bits = u128::from(goodput[i]) * u128::from(duration[i]) / 1_000_000_000_000;
        let rounded = u128::from(arrived[i] * 8) - bits;
        assert!(rounded <= 1, "{bits} bits of {} bytes", arrived[i]);
        // By rounds the last ACKs of a batch and the first of the next one may count in the same instant.
        let most = if fidelity == "packets" { 1_000_000_000 } else { 1_100_000_000 };
        assert!(duration[i] < INTERVAL || goodput[i] <= most, "{} bit/s over 1 Gbit/s", goodput[i]);
        *bytes.entry(flow.clone()).or_default() += arrived[i];
        spans.entry((flow, subflow[i])).or_default().push([start[i], start[i] + duration[i]]);
    }
    let [size, start, end] = ["size_bytes", "start_ps", "end_ps"].map(|n| flows.numbers(n));
    let ids = flow_keys(&flows);
    assert_eq!((ids.len(), bytes.len()), (5 * 2 * 16, ids.len()));
    let mut several = 0;
    for (i, flow) in ids.into_iter().enumerate() {
        assert_eq!(bytes[&flow], size[i], "{flow:?}");
        for subflow in 0..flow.1[0] {
            let spans = &spans[&(flow.clone(), subflow)];
            // From the flow's start to its end, without a gap, and whole intervals but for the last.
            assert_eq!((spans[0][0], spans[spans.len() - 1][1]), (start[i], end[i]), "{flow:?}");
            for pair in spans.windows(2) {
                assert_eq!(pair[0][1], pair[1][0], "{flow:?}");
                assert_eq!(pair[0][1] - pair[0][0], INTERVAL, "{flow:?}");
            }
            several += usize::from(spans.len() > 2);
        }
    }
    assert!(several > 100, "most flows are in several intervals, not {several}");
    let states = samples.texts("state");
    assert!(["open", "cwr", "recovery"].iter().all(|&s| states.iter().any(|t| t == s)));
    assert!(samples.numbers("cwnd_pkts").iter().all(|&cwnd| cwnd > 0));
}

#[test]
fn taking_samples_changes_no_result() {
    let dir = TempDir::new().expect("a temporary folder");
    let digest = |more: &[&str], out: &str| {
        let experiment = plan(more);
        measure(&experiment, &dir.path().join(out), 1, 2).digest
    };
    let without = digest(&[], "without");
    assert!(!dir.path().join("without/samples.parquet").exists());
    for interval in ["700us", "10s"] {
        assert_eq!(digest(&[&format!("measure.samples={interval}")], interval), without, "{interval}");
    }
}

#[test]
fn samples_depend_on_the_experiment_alone() {
    let dir = TempDir::new().expect("a temporary folder");
    let experiment = plan(&["measure.samples=1ms"]);
    let rows = |parallel: usize| {
        let out = dir.path().join(parallel.to_string());
        measure(&experiment, &out, 1, parallel);
        let table = Table::read(&out.join("samples.parquet"));
        let columns = ["subflow", "start_ps", "arrived_bytes", "cwnd_pkts", "srtt_ps", "flow_optimum_bps"];
        let columns = columns.map(|name| table.maybe(name));
        let rows = flow_keys(&table).into_iter().zip(0..);
        let mut rows: Vec<_> =
            rows.map(|(flow, i)| (flow, columns.each_ref().map(|c| c[i as usize]))).collect();
        rows.sort_unstable();
        rows
    };
    assert!(rows(1) == rows(2));
}

/// In the first interval of a round, in which nobody ends, the optimum is that of the table; a flow that is
/// left alone could have its host's whole link; and nobody could have more.
#[test]
fn the_optimum_is_that_of_the_flows_that_are_there() {
    let dir = TempDir::new().expect("a temporary folder");
    // The smallest flow takes 0.8 ms at the least.
    let experiment = plan(&["measure.samples=500us"]);
    let report = measure(&experiment, dir.path(), 1, 2);
    let samples = Table::read(&dir.path().join("samples.parquet"));
    let [start, duration] = ["start_ps", "duration_ps"].map(|name| samples.numbers(name));
    let optimal = samples.maybe("flow_optimum_bps");
    let flows = flow_keys(&samples);

    // By round of a case, its start; by interval of a case, the hosts that send in it.
    let mut begin: BTreeMap<_, u64> = BTreeMap::new();
    let mut senders: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    for (i, (scheme, [subflows, _, round, from])) in flows.iter().enumerate() {
        let begin = begin.entry((scheme, subflows, round)).or_insert(start[i]);
        *begin = start[i].min(*begin);
        senders.entry((scheme, subflows, start[i])).or_default().insert(*from);
    }
    let (mut first, mut alone): (BTreeMap<_, Vec<f64>>, _) = (BTreeMap::new(), 0);
    let payload = 1460.0 / 1500.0;
    for (i, (scheme, [subflows, _, round, _])) in flows.iter().enumerate() {
        // Only XMP claims a utility, of these.
        assert_eq!(optimal[i].is_some(), scheme == "xmp");
        let Some(x) = optimal[i].map(|x| x as f64) else { continue };
        assert!(x > 0.0 && x <= 1e9 * payload + 1.0, "{x}");
        if start[i] == begin[&(scheme, subflows, round)] {
            first.entry(*subflows).or_default().push(x);
        }
        // A whole interval, and nobody else in it.
        if duration[i] == INTERVAL / 2 && senders[&(scheme, subflows, start[i])].len() == 1 {
            assert!((x - 1e9 * payload).abs() <= 1e3, "{x}");
            alone += 1;
        }
    }
    assert!(alone > 0, "the last flow of no round was alone for an interval");
    for case in report.cases.iter().filter(|c| c.case["scheme"] == "xmp") {
        let subflows = case.case["subflows"].as_u64().expect("a number");
        let first = first.get_mut(&subflows).expect("a row for each subflow in each round");
        first.sort_by(f64::total_cmp);
        assert_eq!(first.len() as u64, 2 * 16 * subflows);
        let rank = |percent: usize| first[(first.len() * percent).div_ceil(100) - 1];
        let mean = first.iter().sum::<f64>() / first.len() as f64;
        for (name, got) in [("mean", mean), ("p10", rank(10)), ("p50", rank(50)), ("p90", rank(90))] {
            let wanted = case.optimum[format!("goodput_{name}_bps").as_str()];
            assert!((got - wanted).abs() <= 1.0, "{name} {got}, not {wanted}");
        }
    }
}

#[test]
fn an_interval_must_be_one() {
    for interval in ["0ms", "999ns", "1001s"] {
        let settings = [format!("measure.samples={interval}")];
        let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
        let error = resolve(&loaded, &[]).expect_err("no interval").to_string();
        assert_eq!(error, format!("--set measure.samples={interval}: an interval of 1us to 1000s"));
    }
}

#[test]
fn queues_add_up_to_the_links() {
    let dir = TempDir::new().expect("a temporary folder");
    let experiment = plan(&["measure.samples=1ms"]);
    measure(&experiment, dir.path(), 1, 2);
    let queues = Table::read(&dir.path().join("queues.parquet"));
    let links = Table::read(&dir.path().join("links.parquet"));
    let ports = |table: &Table| -> Vec<(String, [u64; 2])> {
        let keys = ["subflows", "port"].map(|name| table.numbers(name));
        let schemes = table.texts("scheme").into_iter().enumerate();
        schemes.map(|(i, scheme)| (scheme, [keys[0][i], keys[1][i]])).collect()
    };
    let [duration, busy, waiting] = ["duration_ps", "busy_ps", "waiting_pkts"].map(|n| queues.numbers(n));
    let mut total: BTreeMap<_, u64> = BTreeMap::new();
    for (i, port) in ports(&queues).into_iter().enumerate() {
        assert!(busy[i] <= duration[i] && duration[i] <= INTERVAL && (busy[i] > 0 || waiting[i] > 0));
        assert!(waiting[i] <= 100, "the queues' limit");
        *total.entry(port).or_default() += busy[i];
    }
    assert!(waiting.iter().any(|&w| w > 10), "XMP and DCTCP keep queues above K");
    let carried = links.numbers("carried_bytes");
    for (i, port) in ports(&links).into_iter().enumerate() {
        // 8 ns a byte. What is still held when the last flow ends has been let in and not sent: ACKs.
        let (wanted, got) = (carried[i] * 8_000, total.get(&port).copied().unwrap_or(0));
        assert!(got <= wanted && wanted - got <= 100 * 40 * 8_000, "{port:?}: {got} of {wanted}");
    }
}

/// The six uplinks of each of six leaves have shares, which begin with the rates (one of leaf 0 is slow), always add up, and
/// move as the balancer says that it did; no other port has any, and none has under ECMP.
#[test]
fn the_shares_of_uplinks_are_sampled() {
    let dir = TempDir::new().expect("a temporary folder");
    let balancer = "{ name = 'holnet-percentage', flag = 80, r_min = 100, r_max = 1500, period = '40us', by = 'flowlet' }";
    let schemes = format!(
        "schemes={{ holnet = {{ controller = 'holnet_uta', routing = {balancer} }}, ecmp = {{ controller = 'dctcp' }} }}"
    );
    let slow = "variants.slow.fabric.links=[{ ends = ['leaf 0', 'spine 0'], rate = '5Gbps' }]";
    let settings =
        [&schemes, slow, "fabric.routing=ecmp", "workloads.web.flows=150", "profile.quick={}", "claims=[]"];
    let (loaded, plan) = crate::reading::plan(find("holnet/balancer").expect("built in"), &settings);
    let report = measure(&(loaded, plan), dir.path(), 1, 1);
    let table = Table::read(&dir.path().join("queues.parquet"));
    let (schemes, variants) = (table.texts("scheme"), table.texts("variant"));
    let [start, port] = ["start_ps", "port"].map(|name| table.numbers(name));
    let shares = table.maybe("share_ppm");
    assert!(schemes.iter().zip(&shares).all(|(scheme, share)| scheme == "holnet" || share.is_none()));
    assert!(variants.iter().all(|variant| variant == "slow"), "only this variant has samples");
    // By interval: the ports with a share, in order, which is by leaf.
    let mut intervals: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for (i, share) in shares.iter().enumerate() {
        intervals.entry(start[i]).or_default().extend(share.map(|share| (port[i], share)));
    }
    intervals.retain(|_, own| !own.is_empty());
    let all: Vec<Vec<u64>> = intervals
        .into_values()
        .map(|mut own| {
            own.sort_unstable();
            own.into_iter().map(|(_, share)| share).collect()
        })
        .collect();
    assert!(all.len() > 20, "{} intervals", all.len());
    let (slow_leaf, leaf) = ([47_619, 190_476, 190_476, 190_476, 190_476, 190_476], [166_667; 6]);
    assert_eq!(all[0], [slow_leaf, leaf, leaf, leaf, leaf, leaf].concat(), "in proportion to the rates");
    for own in &all {
        let sums = own.chunks(6).map(|leaf| leaf.iter().sum::<u64>());
        assert_eq!(own.len(), 36);
        assert!(sums.into_iter().all(|sum| sum.abs_diff(1_000_000) <= 6), "{own:?}");
    }
    let moves = report.cases.iter().filter_map(|case| case.metrics.get("share_moves")?.value().into());
    assert!(moves.sum::<f64>() > 0.0 && all.windows(2).any(|two| two[0] != two[1]), "shares move");
}

#[test]
fn queues_are_of_links_that_are_wanted() {
    let dir = TempDir::new().expect("a temporary folder");
    let experiment = plan(&["measure.samples=10ms", "measure.links=false"]);
    measure(&experiment, dir.path(), 1, 2);
    assert!(dir.path().join("samples.parquet").exists());
    assert!(!dir.path().join("queues.parquet").exists());
}

/// Every finished flow has its own optimum, if its controller claims one; their mean is what the case tells.
#[test]
fn flows_stand_beside_their_optimum() {
    let dir = TempDir::new().expect("a temporary folder");
    let experiment = plan(&[]);
    let report = measure(&experiment, dir.path(), 1, 2);
    let flows = Table::read(&dir.path().join("flows.parquet"));
    let mut sums: BTreeMap<(String, u64), (f64, u32)> = BTreeMap::new();
    for ((scheme, [subflows, ..]), optimum) in flow_keys(&flows).into_iter().zip(flows.maybe("optimum_bps")) {
        assert_eq!(optimum.is_some(), scheme == "xmp", "{scheme}");
        if let Some(optimum) = optimum {
            let (sum, count) = sums.entry((scheme, subflows)).or_default();
            *sum += optimum as f64;
            *count += 1;
        }
    }
    assert_eq!(sums.len(), 2);
    for ((scheme, subflows), (sum, count)) in sums {
        let of =
            |c: &&tresse_results::CaseResult| c.case["scheme"] == scheme && c.case["subflows"] == subflows;
        let case = report.cases.iter().find(of).expect("the case");
        assert_eq!(count, 32);
        let mean = case.optimum["goodput_mean_bps"];
        // Rounded to one bit/s in the table.
        assert!((sum / f64::from(count) - mean).abs() < 1.0, "{sum} over {count}, {mean}");
    }
}

#[test]
fn subflows_that_come_and_go_are_sampled_too() {
    let dir = TempDir::new().expect("a temporary folder");
    let experiment = plan(&[
        "measure.samples=200us",
        "transport.handshake=true",
        "schemes.lia.subflows=1",
        "schemes.lia.path_manager=opn",
    ]);
    measure(&experiment, dir.path(), 1, 2);
    let samples = Table::read(&dir.path().join("samples.parquet"));
    let flows = Table::read(&dir.path().join("flows.parquet"));
    let mut bytes: BTreeMap<_, u64> = BTreeMap::new();
    for (flow, arrived) in flow_keys(&samples).into_iter().zip(samples.numbers("arrived_bytes")) {
        *bytes.entry(flow).or_default() += arrived;
    }
    let sizes: BTreeMap<_, u64> = flow_keys(&flows).into_iter().zip(flows.numbers("size_bytes")).collect();
    assert_eq!(bytes.keys().collect::<Vec<_>>(), sizes.keys().collect::<Vec<_>>());
    for (flow, size) in &sizes {
        // What was sent on a second subflow as well arrives twice.
        assert!(bytes[flow] == *size || flow.0 == "lia" && bytes[flow] > *size, "{flow:?}");
    }
    let opened =
        flow_keys(&samples).into_iter().zip(samples.numbers("subflow")).filter(|(f, _)| f.0 == "lia");
    assert_eq!(opened.map(|(_, subflow)| subflow).max(), Some(3), "opn takes all four paths at first");
    let told =
        flow_keys(&flows).into_iter().zip(flows.numbers("opened").into_iter().zip(flows.numbers("closed")));
    for ((scheme, [subflows, ..]), (opened, closed)) in told {
        assert_eq!(closed, 0);
        assert!(if scheme == "lia" {
            subflows == 0 && (1..=4).contains(&opened)
        } else {
            opened == subflows
        });
    }
}
