//! The controllers of sprayed transports: beside their readings, over random reports, and in cases of their own.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use tresse_controllers::{Group, Hop, Report};

use super::group_with;
use crate::host::{config, logarithmic};
use crate::readings::sprayed::{Host, law};

mod dcqcn;
mod hpcc;
mod mprdma;
mod nscc;
mod powertcp;
mod swift;

/// Those that have a reading.
pub(super) const READ: [&str; 6] = ["dcqcn", "hpcc", "mprdma", "nscc", "powertcp", "swift"];

/// 100 Gbit/s and 12 us: 150 000 bytes.
const PATH: Report = Report { base_rtt: 12_000, line_rate: 100_000, ..Report::NOTHING };
/// So a BDP of 36.62 packets.
const PACKET: u32 = 4096;
const BDP: f64 = 150_000.0 / 4096.0;

/// A new subflow on `PATH` that has heard the report before the first packet, at 0.
fn new(name: &str, settings: &[(&str, u64)]) -> Group {
    let mut group = group_with(name, settings, 1, 10);
    group[0].mss = PACKET;
    group.report(0, &PATH, &[]);
    group
}

/// A report of `told` packets at `now` us; window and pace after it.
fn told(group: &mut Group, now: u64, told: Report) -> (u32, u32) {
    with_hops(group, now, told, &[])
}

fn with_hops(group: &mut Group, now: u64, told: Report, hops: &[Hop]) -> (u32, u32) {
    let pace = group.report(0, &Report { now: now * 1000, ..told }, hops);
    (group[0].cwnd, pace)
}

/// An unmarked ACK of this many packets with an RTT in us.
fn ack(delivered: u32, rtt: u32) -> Report {
    Report { delivered, rtt: rtt * 1000, ..PATH }
}

fn trimmed(packets: u32) -> Report {
    Report { trimmed: packets, ..PATH }
}

fn lost(packets: u32) -> Report {
    Report { lost: packets, ..PATH }
}

/// One report of a random script.
#[derive(Debug, Clone)]
struct Step {
    what: What,
    /// Since the last one, in 1/1000 of the base RTT.
    after: u32,
    limited: bool,
    /// In flight, in 1/256 of the window.
    in_flight: u8,
    /// Of each port: how much of the time it was busy, in 1/255, and where its queue tends, in units of 16 bytes.
    ports: Option<Vec<(u8, u32)>>,
}

#[derive(Debug, Clone)]
enum What {
    /// Packets, how many of them are marked, the RTT beyond the base one, in 1/1000 of it.
    Ack(u32, u32, Option<u32>),
    Trim(u32),
    Loss(u32),
    Nothing,
}

/// A path and what is reported of it.
#[derive(Debug, Clone)]
struct Script {
    /// 100 ns.
    base_rtt: u32,
    line_rate: u32,
    packet: u32,
    /// The rates of the ports on the way.
    rates: Vec<u32>,
    steps: Vec<Step>,
}

/// The most ports of a way: those that are kept.
const PORTS: usize = 5;

fn scripts() -> impl Strategy<Value = Script> {
    let rate = || prop::sample::select(vec![10_000u32, 25_000, 100_000, 400_000]);
    let packet = prop::sample::select(vec![1000u32, 1460, 4096, 9000]);
    let rates = prop::collection::vec(rate(), 1..=PORTS);
    let steps = prop::collection::vec(step(), 1..400);
    (20..1000u32, rate(), packet, rates, steps).prop_map(|(base_rtt, line_rate, packet, rates, steps)| {
        Script { base_rtt, line_rate, packet, rates, steps }
    })
}

fn step() -> impl Strategy<Value = Step> {
    let rtt = prop_oneof![2 => Just(0), 5 => 0..1000u32, 3 => 0..8000u32];
    let ack = (1..=6u32, prop::option::weighted(0.2, 1..=6u32), prop::option::weighted(0.95, rtt))
        .prop_map(|(n, marked, rtt)| What::Ack(n, marked.unwrap_or(0).min(n), rtt));
    let what = prop_oneof![
        90 => ack,
        5 => (1..=3u32).prop_map(What::Trim),
        2 => (1..=3u32).prop_map(What::Loss),
        2 => Just(What::Nothing),
    ];
    let port = (any::<u8>(), prop_oneof![Just(0), logarithmic(1, 20_000)]);
    let ports = prop::option::weighted(0.8, prop::collection::vec(port, PORTS));
    (what, 1..600u32, prop::bool::weighted(0.95), any::<u8>(), ports)
        .prop_map(|(what, after, limited, in_flight, ports)| Step { what, after, limited, in_flight, ports })
}

/// Plays a script to the controller and to its reading; how many reports could be compared.
fn follow(name: &str, script: &Script) -> Result<usize, TestCaseError> {
    let mut group = group_with(name, &[], 1, 10);
    group[0].mss = script.packet;
    let mut law = law(name);
    let base_rtt = script.base_rtt * 100;
    let mut ports: Vec<Hop> =
        script.rates.iter().map(|&rate| Hop { rate, bytes: 1 << 40, ..Hop::default() }).collect();
    let mut now = 0;
    let nothing = Step { what: What::Nothing, after: 0, limited: true, in_flight: 0, ports: None };
    for (k, step) in std::iter::once(&nothing).chain(&script.steps).enumerate() {
        let passed = u64::from(step.after) * u64::from(base_rtt) / 1000;
        now += passed;
        let path = Report {
            base_rtt,
            line_rate: script.line_rate,
            app_limited: (!step.limited).into(),
            now,
            ..Report::NOTHING
        };
        let report = match step.what {
            What::Ack(delivered, marked, above) => {
                let rtt = above
                    .map_or(0, |above| base_rtt + (u64::from(base_rtt) * u64::from(above) / 1000) as u32);
                Report { delivered, marked, rtt, ..path }
            }
            What::Trim(trimmed) => Report { trimmed, ..path },
            What::Loss(lost) => Report { lost, ..path },
            What::Nothing => path,
        };
        for (i, port) in ports.iter_mut().enumerate() {
            port.time += passed;
            let (busy, queue) = step.ports.as_ref().map_or((255, 0), |ports| ports[i]);
            let most = u64::from(port.rate) * passed / 8000;
            // The packet itself at least.
            let sent = (most * u64::from(busy) / 255).max(u64::from(passed > 0));
            port.bytes += sent;
            // As fast as an incast fills it, and what it sent drains it.
            let (least, most) =
                (u64::from(port.queue).saturating_sub(sent), u64::from(port.queue) + 30 * most);
            port.queue = (u64::from(queue * 16).clamp(least, most).div_ceil(16) * 16) as u32;
        }
        let hops = if step.ports.is_some() { &ports[..] } else { &[] };
        group[0].in_flight = (u64::from(group[0].cwnd) * u64::from(step.in_flight) / 256) as u32;
        let host = Host { packet: f64::from(script.packet), in_flight: f64::from(group[0].in_flight) };
        let answer = law.report(&host, &report, hops);
        let pace = f64::from(group.report(0, &report, hops));
        if answer.unsure {
            return Ok(k);
        }
        let (relative, absolute) = law.within();
        let off = answer.window * relative + absolute;
        let whole = |window: f64| if law.rounds_up() { window.ceil() } else { window.floor() }.max(1.0);
        let cwnd = f64::from(group[0].cwnd);
        prop_assert!(
            (whole(answer.window - off)..=whole(answer.window + off)).contains(&cwnd),
            "{name}, report {k}, {report:?}: a window of {cwnd}; the reading has {answer:?}"
        );
        // A window next to a packet may lie on either side.
        let near = (answer.window - 1.0).abs() <= off;
        let fits = match answer.pace {
            Some(own) => (pace - own.max(1.0)).abs() <= 1.0 + own * (off / answer.window),
            None => pace == 0.0,
        };
        prop_assert!(
            fits || near,
            "{name}, report {k}, {report:?}: a pace of {pace}; the reading has {answer:?}"
        );
    }
    Ok(script.steps.len())
}

#[test]
fn windows_and_paces_agree() {
    let compared: [AtomicUsize; READ.len()] = Default::default();
    let all = AtomicUsize::new(0);
    let play = |script: Script| {
        all.fetch_add(script.steps.len(), Ordering::Relaxed);
        for (name, compared) in READ.iter().zip(&compared) {
            compared.fetch_add(follow(name, &script)?, Ordering::Relaxed);
        }
        Ok(())
    };
    if let Err(error) = TestRunner::new(config(256)).run(&scripts(), play) {
        panic!("{error}");
    }
    // The others come after a comparison that was too near to tell.
    let all = all.into_inner();
    for (name, compared) in READ.iter().zip(compared.map(AtomicUsize::into_inner)) {
        assert!(compared * 2 > all, "{name}: {compared} of {all} reports could be compared");
    }
}
