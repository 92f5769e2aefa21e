//! What packets cost a host here, and how well the simulator with these costs predicts transfers.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use tresse_experiment::{Profile, Source};
use tresse_lab::engine::replication;
use tresse_results::record::progress::Progress;
use tresse_testbed::calibrate::{Costs, HEADER, Measured, Transfer, measure, median};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::{OWNERS, testbed};

/// A cost, with the interval that has 96 % of the medians of as many measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// What costs.
    pub name: &'static str,
    /// What it is, in words.
    pub meaning: &'static str,
    /// The cost, ns.
    pub value_ns: f64,
    /// The lower end of its interval, ns.
    pub low_ns: f64,
    /// The upper end, ns.
    pub high_ns: f64,
}

/// What one core can do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limits {
    /// Packets of 1500 bytes, one by one, packets/s.
    pub packets_per_s: f64,
    /// The payload of these, bytes/s.
    pub bytes_per_s: f64,
    /// The payload of segments of 44 such packets, bytes/s.
    pub merged_bytes_per_s: f64,
}

/// A transfer, measured and predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// The largest packet of the link, bytes.
    pub mtu_bytes: u32,
    /// Its size.
    pub bytes: u64,
    /// The median of its times, us.
    pub measured_us: f64,
    /// The simulator's time with the fitted costs, us.
    pub predicted_us: f64,
    /// The relative error of the prediction.
    pub error_ratio: f64,
}

/// The result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    schema: &'static str,
    /// The kernel's release.
    pub kernel: String,
    pub costs: Vec<Estimate>,
    pub limits: Limits,
    /// Transfers by which the costs were fitted: the residuals.
    pub fitted: Vec<Prediction>,
    /// Transfers by which they were not.
    pub predicted: Vec<Prediction>,
    /// The median of the absolute errors of `predicted`.
    pub error_median_ratio: f64,
    /// Their 90th percentile.
    pub error_p90_ratio: f64,
    /// The file's text.
    #[serde(skip)]
    pub file: String,
}

/// What costs: its name, its meaning, and its value, s.
type Quantity = (&'static str, &'static str, fn(&Costs) -> f64);

const QUANTITIES: [Quantity; 7] = [
    ("wake", "until a receiving core that was idle begins", |own| own.wake),
    ("send.segment", "a segment, on the core that decides the speed", |own| own.send[0]),
    ("send.packet", "each packet of it", |own| own.send[1]),
    ("send.byte", "each byte of it, with headers", |own| own.send[2]),
    ("receive.segment", "a segment, on the other core", |own| own.receive[0]),
    ("receive.packet", "each packet of it", |own| own.receive[1]),
    ("receive.byte", "each byte of it, with headers", |own| own.receive[2]),
];

/// Measures this machine, as root, for about ten seconds.
///
/// # Errors
/// What the machine lacks or refuses, or that it was interrupted.
pub fn calibrate(interrupt: &Interrupt) -> Result<Calibration, Failure> {
    testbed::ready(testbed::SwitchKind::Emulated)?;
    let measured = measure(&|| interrupt.asked()).map_err(|error| Failure::Machine(error.to_string()))?;
    let measured = measured.ok_or(Failure::Interrupted)?;
    let (costs, each) = (measured.costs(), measured.costs_of_each());
    let estimates = QUANTITIES.map(|(name, meaning, value)| {
        let mut all: Vec<f64> = each.iter().map(|own| value(own) * 1e9).collect();
        all.sort_by(f64::total_cmp);
        let [low, high] = [all[1], all[all.len() - 2]];
        Estimate { name, meaning, value_ns: value(&costs) * 1e9, low_ns: low, high_ns: high }
    });
    let predicted = predictions(&costs, &measured.others.iter().collect::<Vec<_>>())?;
    let errors: Vec<f64> = predicted.iter().map(|own| own.error_ratio.abs()).collect();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
    let limits = limits(&costs);
    Ok(Calibration {
        schema: "tresse/calibrate/1",
        file: file(&kernel, &estimates, &costs, limits),
        kernel,
        limits,
        fitted: predictions(&costs, &fitted(&measured))?,
        error_median_ratio: median(&errors),
        error_p90_ratio: p90(errors),
        costs: estimates.to_vec(),
        predicted,
    })
}

/// The transfers by which costs are fitted, as far as the simulator has such: its packets go one by one.
fn fitted(measured: &Measured) -> Vec<&Transfer> {
    std::iter::once(&measured.small).chain(&measured.long).filter(|own| own.merged == 1).collect()
}

/// The nearest rank.
fn p90(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (0.9 * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
}

fn limits(costs: &Costs) -> Limits {
    let [segment, packet, byte] = costs.send;
    let payload = f64::from(1500 - HEADER);
    let each = packet + 1500.0 * byte;
    Limits {
        packets_per_s: 1.0 / (segment + each),
        bytes_per_s: payload / (segment + each),
        merged_bytes_per_s: 44.0 * payload / (segment + 44.0 * each),
    }
}

/// `[fabric] host_cpu` of these costs: a packet of the simulator is a segment of one packet.
fn host_cpu(costs: &Costs) -> String {
    let core = |[segment, packet, byte]: [f64; 3]| {
        format!("{{ packet = \"{}\", byte = \"{}\" }}", time(segment + packet), time(byte))
    };
    let (send, receive) = (core(costs.send), core(costs.receive));
    format!("wake = \"{}\"\nsend = {send}\nreceive = {receive}\n", time(costs.wake))
}

/// A time as a file has it: in ns, to the picosecond.
fn time(seconds: f64) -> String {
    format!("{:.3}ns", seconds * 1e9)
}

fn file(kernel: &str, estimates: &[Estimate], costs: &Costs, limits: Limits) -> String {
    let mut text = format!(
        "# What packets cost the cores of a host, by `tresse calibrate` on Linux {kernel}. In an experiment:\n\
         # [fabric] host_cpu = \"host.toml\"\n\n[host_cpu]\n{}",
        host_cpu(costs)
    );
    text += "\n# What was fitted, ns: the cost, and an interval of 96 %. A packet above is a segment of one packet.\n[fit]\n";
    for own in estimates {
        let Estimate { name, meaning, value_ns, low_ns, high_ns } = own;
        let _ = writeln!(text, "\"{name}\" = [{value_ns:.3}, {low_ns:.3}, {high_ns:.3}] # {meaning}");
    }
    let _ = write!(
        text,
        "\n# What one core can do.\n[limits]\npackets_per_s = {:.0}\nbytes_per_s = {:.0}\nmerged_bytes_per_s = {:.0}\n",
        limits.packets_per_s, limits.bytes_per_s, limits.merged_bytes_per_s
    );
    text
}

/// What the simulator says of each of these transfers.
fn predictions(costs: &Costs, transfers: &[&Transfer]) -> Result<Vec<Prediction>, Failure> {
    let mut all = Vec::new();
    for of_link in transfers.chunk_by(|a, b| a.mtu == b.mtu) {
        let times = simulated(costs, of_link)?;
        all.extend(of_link.iter().zip(times).map(|(own, predicted)| {
            let measured = own.seconds();
            Prediction {
                mtu_bytes: own.mtu,
                bytes: own.bytes,
                measured_us: measured * 1e6,
                predicted_us: predicted * 1e6,
                error_ratio: predicted / measured - 1.0,
            }
        }));
    }
    Ok(all)
}

/// How long transfers over one link take in the simulator, s.
fn simulated(costs: &Costs, transfers: &[&Transfer]) -> Result<Vec<f64>, Failure> {
    let source = Source { name: "calibrate".to_owned(), text: experiment(costs, transfers) };
    let plan = OWNERS.resolve(&OWNERS.load(source, Profile::Quick, &[])?, &[])?;
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let Ok(outcome) = replication::run(&plan.cases[0], 1, 1, &stop, &progress, |_| Ok::<_, Infallible>(()));
    let mut flows: Vec<[u64; 2]> =
        outcome.flows.iter().map(|flow| [flow.record.start, flow.record.end]).collect();
    flows.sort_unstable();
    Ok(flows.iter().map(|[start, end]| tresse_units::seconds(end - start)).collect())
}

/// The transfers one after the other between two hosts, whose links are as fast as if there were none.
fn experiment(costs: &Costs, transfers: &[&Transfer]) -> String {
    let flows: Vec<String> = (0..)
        .zip(transfers)
        .map(|(second, own)| {
            format!("{{ from = \"S1\", to = \"D1\", size = \"{}B\", start = \"{second}s\" }}", own.bytes)
        })
        .collect();
    format!(
        "[fabric]\ntopology = \"dumbbell\"\npairs = 1\nrate = \"1Tbps\"\ndelay = \"100ns\"\nqueue = \"unlimited\"\n\
         host_queue = \"unlimited\"\n[fabric.host_cpu]\n{}[transport]\nprofile = \"linux\"\nmss = \"{}B\"\npacing = \"off\"\n\
         tso = \"1pkt\"\ngro = \"1pkt\"\n[schemes.reno]\ncontroller = \"reno\"\n[workloads.transfers]\npattern = \"flows\"\n\
         flow = [{}]\n",
        host_cpu(costs),
        transfers[0].mtu - HEADER,
        flows.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { wake: 10e-6, send: [1e-6, 0.5e-6, 1e-10], receive: [0.5e-6, 0.0, 0.0] };

    #[test]
    fn the_simulator_predicts_what_the_costs_say() {
        let transfer = |bytes| Transfer { mtu: 1500, merged: 1, bytes, taken: Vec::new() };
        let [small, long] = [transfer(1), transfer(14_480_000)];
        let times = simulated(&COSTS, &[&small, &long]).expect("it runs");
        // Two packets of a handshake, and one of data behind the last ACK of it, each over three links, which take 0.3 us.
        let packet = |bytes: f64| 1.5e-6 + bytes * 1e-10 + 0.5e-6;
        let trip = packet(52.0) + 10e-6 + 0.3e-6;
        assert!((0.98..1.08).contains(&(times[0] / (3.0 * trip))), "{times:?} {trip}");
        // The sending core takes 10,000 packets one after the other.
        let busy = 10_000.0 * (1.5e-6 + 1500.0 * 1e-10);
        assert!(times[1] > busy && times[1] < 1.05 * busy + 10.0 * trip, "{times:?} {busy}");
    }

    #[test]
    fn the_file_is_one_that_an_experiment_reads() {
        let estimates = QUANTITIES.map(|(name, meaning, value)| {
            let value_ns = value(&COSTS) * 1e9;
            Estimate { name, meaning, value_ns, low_ns: value_ns, high_ns: value_ns }
        });
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = file("6.18", &estimates, &COSTS, limits(&COSTS));
        std::fs::write(folder.path().join("host.toml"), text).expect("a file");
        let transfer = Transfer { mtu: 1500, merged: 1, bytes: 1, taken: Vec::new() };
        let inline = experiment(&COSTS, &[&transfer]);
        let from_file =
            inline.replace(&format!("[fabric.host_cpu]\n{}", host_cpu(&COSTS)), "host_cpu = \"host.toml\"\n");
        assert_ne!(inline, from_file);
        // A file's own folder is where it looks.
        let name = folder.path().join("one.toml").display().to_string();
        std::fs::write(&name, &from_file).expect("a file");
        let cpu = |text: String| {
            let source = Source { name: name.clone(), text };
            OWNERS.load(source, Profile::Quick, &[]).expect("valid").experiment.fabric.host_cpu
        };
        assert!(cpu(inline.clone()).is_some());
        assert_eq!(cpu(inline), cpu(from_file));
    }

    #[test]
    fn the_90th_percentile_is_the_nearest_rank() {
        assert_eq!(p90((1..=10).map(f64::from).collect()), 9.0);
        assert_eq!(p90(vec![3.0]), 3.0);
    }
}
