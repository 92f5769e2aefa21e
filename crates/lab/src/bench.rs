//! The simulator's speed beside its ceiling, in one run.

use std::fs;

use serde::Serialize;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::plan::parts::Member;
use tresse_experiment::plan::{Case, Plan, resolve};
use tresse_experiment::{Profile, find, load};
use tresse_sim::FlowSpec;
use tresse_sim::ceiling::{self, ConstantWindow};
use tresse_units::{Time, seconds};
use tresse_workload::{Permutation, Size, Start, Transfer};

use crate::clock::clock;
use crate::record::flow::Begun;
use crate::setup;

/// One benchmark.
#[derive(Debug, Clone, Serialize)]
pub struct BenchCase {
    /// Topology and scheme; then the pattern or, under Permutation, what decides for each packet.
    pub name: String,
    /// Hosts of the fabric.
    pub hosts: u32,
    /// Simulated time of one repetition.
    pub simulated_s: f64,
    /// Packet-hops of one repetition.
    pub packet_hops: u64,
    /// Wall time, the median of the repetitions.
    pub wall_s: f64,
    /// The speed of the whole simulator.
    pub packet_hops_per_s: f64,
    /// The speed of the bare skeleton: same fabric and packets, fixed routes over plain ports, a constant window,
    /// no transport.
    pub ceiling_packet_hops_per_s: f64,
    /// The first over the second.
    pub ratio_to_ceiling: f64,
    /// The speed over that of the case with fixed routes over plain ports on the same fabric, in this run.
    pub ratio_to_fixed_routes: f64,
    /// The most memory that the process held while the simulator ran.
    pub peak_rss_bytes: u64,
}

/// What `tresse bench --json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct Bench {
    /// `tresse/bench/1`.
    pub schema: &'static str,
    /// Always one: the simulator of one case runs on one thread.
    pub threads: u32,
    /// How often each was repeated.
    pub repetitions: u32,
    /// The cases.
    pub cases: Vec<BenchCase>,
}

/// A benchmark: XMP with two subflows under Permutation on a fat tree.
struct Benchmark {
    /// The end of its name.
    name: &'static str,
    /// Ports a switch.
    k: u32,
    /// Simulated time.
    duration: Time,
    /// What differs from `xmp/table1`.
    setting: Option<&'static str>,
}

const fn benchmark(
    name: &'static str,
    k: u32,
    milliseconds: u64,
    setting: Option<&'static str>,
) -> Benchmark {
    Benchmark { name, k, duration: milliseconds * tresse_units::MILLISECOND, setting }
}

/// Fixed routes over plain ports first, which the others of the same k are compared with; then every kind of switch that decides for each packet, and ports with
/// a real server.
const BENCHMARKS: [Benchmark; 8] = [
    benchmark("permutation", 8, 200, None),
    benchmark("permutation", 16, 30, None),
    benchmark("ecmp", 8, 50, Some(r#"fabric.routing="ecmp""#)),
    benchmark("spray", 8, 50, Some(r#"fabric.routing="spray""#)),
    benchmark("drill", 8, 50, Some(r#"fabric.routing="drill""#)),
    benchmark("holnet-percentage", 8, 50, Some(r#"fabric.routing="holnet-percentage""#)),
    benchmark("holnet-rate", 8, 50, Some(r#"fabric.routing="holnet-rate""#)),
    benchmark("servers", 8, 50, Some(r#"fabric.classes=[{ quantum = "1500B" }]"#)),
];

/// Runs XMP with two subflows under Permutation, `repetitions` times each: with fixed routes over plain ports on
/// fat trees of 128 and 1024 hosts, and on that of 128 with every load balancer that decides for each packet and
/// with ports that have a real server.
///
/// # Errors
/// None that a user could cause: the experiment is built in.
pub fn run(repetitions: u32) -> Result<Bench, Diagnostic> {
    let mut cases: Vec<BenchCase> = Vec::new();
    for benchmark in &BENCHMARKS {
        // The first case of a fabric is its fixed routes.
        let fabric = format!("fat-tree-k{}-", benchmark.k);
        let fixed = cases.iter().find(|c| c.name.starts_with(&fabric)).map(|c| c.packet_hops_per_s);
        cases.push(case(benchmark, repetitions, fixed)?);
    }
    Ok(Bench { schema: "tresse/bench/1", threads: 1, repetitions, cases })
}

/// The plan of a benchmark: one case.
fn plan(k: u32, setting: Option<&str>) -> Result<Plan, Diagnostic> {
    let settings: Vec<String> =
        [format!("fabric.k={k}")].into_iter().chain(setting.map(str::to_owned)).collect();
    let loaded = load(find("xmp/table1")?, Profile::Full, &settings)?;
    resolve(&loaded, &["scheme=xmp", "subflows=2", "pattern=permutation"].map(str::to_owned))
}

/// `fixed` is the speed with fixed routes; `None` if that is the case itself.
fn case(benchmark: &Benchmark, repetitions: u32, fixed: Option<f64>) -> Result<BenchCase, Diagnostic> {
    let &Benchmark { name, k, duration, setting } = benchmark;
    let (plain, plan) = (plan(k, None)?, plan(k, setting)?);
    let (routed, flows) = (flows(&plain.cases[0]), flows(&plan.cases[0]));
    let (mut walls, mut ceilings, mut hops) = (Vec::new(), Vec::new(), 0);
    let mut peak = 0;
    for _ in 0..repetitions.max(1) {
        ceilings.push(ceiling_speed(&plain, &routed, duration));
        reset_peak_rss();
        let start = clock();
        let mut world = setup::world(&plan.cases[0], 1, 1);
        for flow in &flows {
            world.start(flow.clone());
        }
        world.advance(duration, u64::MAX);
        walls.push(start.elapsed().as_secs_f64());
        hops = world.hops();
        peak = peak.max(peak_rss());
    }
    let wall_s = median(&mut walls);
    let speed = hops as f64 / wall_s;
    let ceiling = median(&mut ceilings);
    Ok(BenchCase {
        name: format!("fat-tree-k{k}-xmp2-{name}"),
        hosts: plan.fabric().hosts(),
        simulated_s: seconds(duration),
        packet_hops: hops,
        wall_s,
        packet_hops_per_s: speed,
        ceiling_packet_hops_per_s: ceiling,
        ratio_to_ceiling: speed / ceiling,
        ratio_to_fixed_routes: speed / fixed.unwrap_or(speed),
        peak_rss_bytes: peak,
    })
}

/// One round of the pattern.
fn flows(case: &Case) -> Vec<FlowSpec> {
    let pattern = Permutation { hosts: case.setting.fabric.hosts(), size: Size::Fixed(1 << 32), seed: 1 };
    let transfers = pattern.round(0).into_iter();
    let begun = |t: Transfer| Begun {
        part: 0,
        member: Member { bound_scheme: 0, group: 0 },
        start: Start {
            name: t.from.into(),
            from: t.from,
            to: t.to,
            bytes: Some(t.bytes),
            round: 0,
            job: None,
            deadline: None,
        },
    };
    let managers = setup::managers(case);
    (0..).zip(transfers).map(|(id, t)| setup::spec(case, &managers, 1, id, &begun(t))).collect()
}

/// The same routes with a constant window of the size that XMP's has in the middle of the run.
fn ceiling_speed(plan: &Plan, flows: &[FlowSpec], duration: Time) -> f64 {
    const WINDOW: u32 = 16;
    let sources: Vec<ConstantWindow> = flows
        .iter()
        .flat_map(|f| f.paths.fixed())
        .map(|p| ConstantWindow { there: p.there.clone(), back: p.back.clone(), window: WINDOW })
        .collect();
    let start = clock();
    let (ports, longest) = (plan.fabric().ports(1), plan.cases[0].bound_schemes[0].routing.longest());
    let hops = ceiling::run(&ports, longest, &sources, (1500, 40), duration);
    hops as f64 / start.elapsed().as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Sets the kernel's high-water mark of this process back to what it holds now.
#[cfg_attr(target_os = "linux", expect(unsafe_code, reason = "`malloc_trim` is C"))]
fn reset_peak_rss() {
    // SAFETY: gives free memory back to the system; has no other effect.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::malloc_trim(0);
    }
    // Where it cannot be written, the mark of the whole process is told, which is no less.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The high-water mark, bytes; 0 where the system does not tell.
fn peak_rss() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib: Option<u64> = line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse().ok());
    kib.unwrap_or(0) * 1024
}
