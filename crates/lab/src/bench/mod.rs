//! The simulator's speed beside its ceiling, in one run; and beside that of an earlier one.

mod cases;
mod compare;
mod measure;

use serde::Serialize;
use tresse_experiment::Diagnostic;
use tresse_units::seconds;

pub use crate::bench::compare::{Compared, Comparison, Earlier, Verdict};
use crate::bench::measure::{Repetition, repetition};
use tresse_results::record::metric::percentile;

/// What [`Bench`] is in JSON; fields are added only.
const SCHEMA: &str = "tresse/bench/1";

/// One benchmark.
#[derive(Debug, Clone, Serialize)]
pub struct BenchCase {
    /// Topology and scheme; then the pattern or, under Permutation, what differs.
    pub name: String,
    /// Hosts of the fabric.
    pub hosts: u32,
    /// How many threads it may use; what is measured beside it uses one.
    pub threads: u32,
    /// Simulated time of one repetition.
    pub simulated_s: f64,
    /// Packet-hops of one repetition.
    pub packet_hops: u64,
    /// Wall time, the median of the repetitions.
    pub wall_s: f64,
    /// The speed of the whole simulator, the median of the repetitions.
    pub packet_hops_per_s: f64,
    /// The speed of the bare skeleton, the median of the repetitions: Permutation on the same fabric, fixed routes over
    /// plain ports, a constant window, no transport.
    pub ceiling_packet_hops_per_s: f64,
    /// The first over the second, the median of the repetitions: the two of each were measured one after the other.
    pub ratio_to_ceiling: f64,
    /// The speed over that of XMP's Permutation with fixed routes over plain ports on the same fabric, in this run; `None`
    /// if that was not measured.
    pub ratio_to_fixed_routes: Option<f64>,
    /// Payload that arrived, each byte once: the mean of the hosts over the simulated time, bit/s.
    pub goodput_bps: f64,
    /// Flows that finish in a second of wall time; `None` if flows last as long as the case.
    pub flows_per_s: Option<f64>,
    /// The most memory that the process held while the simulator ran.
    pub peak_rss_bytes: u64,
    /// What of that it had not held just before the network was built, a host; the median of the repetitions.
    pub bytes_a_host: u64,
    /// The speed of the whole simulator in each repetition.
    pub samples_packet_hops_per_s: Vec<f64>,
    /// The speed of the bare skeleton in each repetition, just before.
    pub samples_ceiling_packet_hops_per_s: Vec<f64>,
}

/// What `tresse bench --json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct Bench {
    /// `tresse/bench/1`.
    pub schema: &'static str,
    /// Always one: see the cases.
    pub threads: u32,
    /// How often each was repeated.
    pub repetitions: u32,
    pub cases: Vec<BenchCase>,
    /// The same cases beside those of an earlier output, if there is one.
    #[serde(flatten)]
    pub comparison: Option<Comparison>,
}

/// Runs the benchmarks that have one of `only` in their name, `repetitions` times each, or all if that is empty:
///
/// - XMP with two subflows under Permutation, with fixed routes over plain ports on fat trees of 128, 1024 and 8192
///   hosts, on one thread and on two, and on that of 128 with every load balancer that decides for each packet and with ports that have a real
///   server;
/// - LIA with two subflows under Permutation over queues that drop, with NewReno, SACK and RACK-TLP;
/// - short flows that arrive at random, web search and a ring all-reduce, by DCTCP.
///
/// They take turns: a machine that is slow for a while affects one repetition of many benchmarks, not all of one.
/// `begins` gets the number of a repetition, from 1, and whose it is; `earlier` is what the cases are compared with.
///
/// # Errors
/// If no name contains one of `only`.
///
/// # Panics
/// If there are no repetitions.
pub fn run(
    repetitions: u32,
    only: &[String],
    earlier: Option<&Earlier>,
    mut begins: impl FnMut(u32, &str),
) -> Result<Bench, Diagnostic> {
    let benchmarks = cases::chosen(only)?;
    let mut all = vec![Vec::new(); benchmarks.len()];
    for number in 1..=repetitions {
        for (benchmark, own) in benchmarks.iter().zip(&mut all) {
            begins(number, benchmark.name);
            own.push(repetition(benchmark)?);
        }
    }
    let mut cases: Vec<BenchCase> = Vec::new();
    for (benchmark, own) in benchmarks.iter().zip(&all) {
        let mut case = case(benchmark.name, benchmark.threads as u32, own);
        let fixed = benchmark.name_on_fixed_routes();
        let fixed = cases.iter().chain([&case]).find(|c| c.name == fixed).map(|c| c.packet_hops_per_s);
        case.ratio_to_fixed_routes = fixed.map(|fixed| case.packet_hops_per_s / fixed);
        cases.push(case);
    }
    let comparison = earlier.map(|earlier| Comparison::of(&cases, earlier, only));
    Ok(Bench { schema: SCHEMA, threads: 1, repetitions, cases, comparison })
}

/// All of a case but what needs another one, of its repetitions: at least one.
fn case(name: &str, threads: u32, repetitions: &[Repetition]) -> BenchCase {
    // But for the times and the memory all are the same.
    let one = repetitions[0];
    let of_each = |value: fn(&Repetition) -> f64| -> Vec<f64> { repetitions.iter().map(value).collect() };
    let (speeds, ceilings) = (of_each(|r| r.hops as f64 / r.wall_s), of_each(|r| r.ceiling));
    let (wall_s, simulated_s) = (middle(&of_each(|r| r.wall_s)), seconds(one.simulated));
    let mut own: Vec<u64> = repetitions.iter().map(|r| r.own_rss).collect();
    own.sort_unstable();
    BenchCase {
        name: name.to_owned(),
        hosts: one.hosts,
        threads,
        simulated_s,
        packet_hops: one.hops,
        wall_s,
        packet_hops_per_s: middle(&speeds),
        ceiling_packet_hops_per_s: middle(&ceilings),
        ratio_to_ceiling: middle(&compare::ratios(&speeds, &ceilings)),
        ratio_to_fixed_routes: None,
        goodput_bps: one.bytes as f64 * 8.0 / simulated_s / f64::from(one.hosts),
        flows_per_s: (one.finished > 0).then(|| one.finished as f64 / wall_s),
        peak_rss_bytes: repetitions.iter().map(|r| r.peak_rss).max().unwrap_or(0),
        bytes_a_host: percentile(&own, 50) / u64::from(one.hosts),
        samples_packet_hops_per_s: speeds,
        samples_ceiling_packet_hops_per_s: ceilings,
    }
}

/// The median.
fn middle(values: &[f64]) -> f64 {
    percentile(&sorted(values), 50)
}

/// The first and the third quartile.
fn quartiles(values: &[f64]) -> [f64; 2] {
    let sorted = sorted(values);
    [25, 75].map(|percent| percentile(&sorted, percent))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}
