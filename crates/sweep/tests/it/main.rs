//! Sweeps of a small experiment.

mod plans;
mod sweeps;
mod unseen;

use std::path::Path;

use tresse_experiment::Owners;
use tresse_sweep::local::{self, Stop};
use tresse_sweep::{Cube, Finished, Plan, Request, Shard, Sweep};

/// No keys of a sweep's experiment belong to another crate.
const OWNERS: Owners = Owners::all(&[]);

/// What goes wrong with a sweep, as text.
#[derive(Debug, PartialEq)]
struct Wrong(String);

impl From<tresse_experiment::Diagnostic> for Wrong {
    fn from(own: tresse_experiment::Diagnostic) -> Self {
        Self(own.to_string())
    }
}

impl From<tresse_controllers::LoadError> for Wrong {
    fn from(own: tresse_controllers::LoadError) -> Self {
        Self(own.to_string())
    }
}

/// Flows that last for a fiftieth of a second.
const PLAN: &str = r#"
title = "a few flows"

[experiment]
title = "a few flows on one link"
[experiment.fabric]
topology = "dumbbell"
pairs = 4
rate = "100Mbps"
delay = "40us"
queue = "50pkt"
mark = "10pkt"
host_queue = "unlimited"
[experiment.transport]
profile = "linux"
[experiment.schemes.dctcp]
controller = "dctcp"
[experiment.workloads.long]
pattern = "spread"
flows = 2
size = "1GB"
senders = ["S1", "S2", "S3", "S4"]
receivers = ["D1", "D2", "D3", "D4"]
window = "1ms"
duration = "20ms"
"#;

fn plan(designs: &str) -> Plan {
    Plan::parse("plan.toml", format!("{PLAN}\n{designs}")).expect("the plan can be read")
}

/// A sampler without SciPy: equal steps in every dimension.
fn steps(asked: &Request) -> Result<Cube, Wrong> {
    let point = |n: usize| vec![n as f64 / asked.points as f64; asked.dimensions];
    Ok((0..asked.points).map(point).collect())
}

fn open(plan: &Plan, out: &Path) -> Result<Sweep, Wrong> {
    Sweep::open(plan, OWNERS, Some(out), None, &mut steps)
}

fn open_shard(plan: &Plan, out: &Path, shard: &str) -> Sweep {
    let shard: Shard = shard.parse().expect("a shard");
    Sweep::open::<Wrong>(plan, OWNERS, Some(out), Some(shard), &mut steps).expect("it can be opened")
}

fn complete(sweep: &Sweep) -> Finished {
    local::run(sweep, 2, &Stop::default()).expect("what is computed can be kept");
    sweep.finish().expect("the results can be written")
}

/// What is wrong with a plan when it is opened.
fn refused(plan: &Plan, out: &Path) -> Wrong {
    open(plan, out).expect_err("it is wrong")
}
