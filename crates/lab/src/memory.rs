//! How much of the machine's memory a run takes, before it starts.
//!
//! The numbers were measured on fat trees with k = 8 to 48, and with up to two million flows; they apply to
//! flows with few packets in flight.

use std::fs;
use std::iter;
use std::path::Path;

use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_experiment::plan::network::Routing;
use tresse_experiment::plan::parts::Part;
use tresse_experiment::plan::{Case, Plan};

use crate::runner::Options;

/// The program itself, bytes.
const PROGRAM: u64 = 30_000_000;

/// A port of a network that is simulated, with its share of nodes and their names.
const PORT: u64 = 650;

/// A port of a divided network, in each part that it does not belong to.
const FOREIGN_PORT: u64 = 650;

/// An existing connection without subflows, and each subflow.
const CONNECTION: u64 = 2_800;
const SUBFLOW: u64 = 1_000;

/// Each fixed path of a sprayed connection.
const SPRAYED_PATH: u64 = 200;

/// What is kept of a finished flow until all cases are done, and its entry in the workload: with the values of its
/// metrics, 90 bytes in a ring all-reduce of two million messages, 124 of 400 000 random arrivals.
const FINISHED: u64 = 90;

/// What the plan keeps of a flow with properties of its own, as in a file: 320 bytes of one of 400 000 in all.
const OWN: u64 = 150;

/// What is kept of a port until all cases are done.
const TOTALS: u64 = 80;

/// The memory for a run of `plan`, bytes: the largest cases that run at the same time, and what is kept of all.
pub fn estimate(plan: &Plan, options: &Options) -> u64 {
    let seeds = u64::from(options.replications.least());
    let parts = options.threads.max(1) as u64;
    let foreign = |case: &Case| case.setting.fabric.configs.len() as u64 * FOREIGN_PORT * (parts - 1);
    let mut cases: Vec<u64> =
        plan.cases.iter().map(|case| live(case).saturating_add(foreign(case))).collect();
    cases.sort_unstable_by(|a, b| b.cmp(a));
    let together = cases.iter().flat_map(|&case| iter::repeat_n(case, seeds as usize)).take(options.parallel);
    // A case's results are there twice while its metrics are made.
    let kept = || plan.cases.iter().map(kept);
    let kept = kept().fold(kept().max().unwrap_or(0), u64::saturating_add).saturating_mul(seeds);
    let owns = plan.cases.iter().flat_map(|case| &case.parts).map(|part| part.owns().len() as u64 * OWN);
    together.chain(owns).fold(PROGRAM.saturating_add(kept), u64::saturating_add)
}

/// The network of a case and the flows that exist at a time.
fn live(case: &Case) -> u64 {
    let subflows = case.bound_schemes.iter().map(|b| b.subflows.unwrap_or(b.paths)).max().unwrap_or(1);
    let routes = |own: &BoundScheme| match (&own.sprayed, &*own.routing) {
        (Some(sprayed), Routing::Fixed(_)) => sprayed.paths,
        _ => 0,
    };
    let sprayed = case.bound_schemes.iter().map(routes).max().unwrap_or(0);
    let flow = CONNECTION + SUBFLOW * u64::from(subflows) + SPRAYED_PATH * u64::from(sprayed);
    let flows = case.parts.iter().map(|part: &Part| {
        let counts = part.pattern.flow_counts;
        if part.persistent { counts.staying } else { counts.at_once }
    });
    let flows = flows.fold(0, u64::saturating_add).saturating_mul(flow);
    (case.setting.fabric.configs.len() as u64 * PORT).saturating_add(flows)
}

/// What is kept of a case that was run.
fn kept(case: &Case) -> u64 {
    let flows = case.parts.iter().map(|part: &Part| part.pattern.flow_counts.in_all);
    let flows = flows.fold(0, u64::saturating_add).saturating_mul(FINISHED);
    flows.saturating_add(case.setting.fabric.configs.len() as u64 * TOTALS)
}

/// The free memory of the machine, or what the control group or a limit (`ulimit -v`) leaves to the process, bytes;
/// `None` if the system does not report it.
pub fn available() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib * 1024)
    });
    machine.into_iter().chain(group()).chain(limits()).min()
}

/// What the limits on the address space and the data of the process leave (Linux).
fn limits() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    limited(&limits, &status)
}

/// The same, from the texts of these files.
fn limited(limits: &str, status: &str) -> Option<u64> {
    let first = |text: &str, head: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(head))?.split_whitespace().next()?.parse().ok()
    };
    let left = |(limit, used): (&str, &str)| -> Option<u64> {
        Some(first(limits, limit)?.saturating_sub(first(status, used)? * 1024)) // an absent limit is no number
    };
    [("Max address space", "VmSize:"), ("Max data size", "VmData:")].into_iter().filter_map(left).min()
}

/// The memory left in the control group of the process, or in one above it (Linux, version 2).
fn group() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let left = |group: &Path| -> Option<u64> {
        let number = |file| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
        Some(number("memory.max")?.saturating_sub(number("memory.current")?))
    };
    root.join(own).ancestors().take_while(|group| group.starts_with(root)).filter_map(left).min()
}

#[cfg(test)]
mod tests {
    use super::limited;

    #[test]
    fn the_smallest_limit_less_what_is_used() {
        let status = "VmPeak:\t 9 kB\nVmSize:\t 500000 kB\nVmData:\t 1000 kB\n";
        let limits = |space: &str, data: &str| {
            format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax data size     {data} unlimited bytes\n\
                 Max address space {space} {space} bytes\n"
            )
        };
        assert_eq!(limited(&limits("unlimited", "unlimited"), status), None);
        assert_eq!(limited(&limits("1000000000", "unlimited"), status), Some(1_000_000_000 - 512_000_000));
        assert_eq!(limited(&limits("1000000000", "2000000"), status), Some(976_000));
        assert_eq!(limited(&limits("1000", "unlimited"), status), Some(0));
    }
}
