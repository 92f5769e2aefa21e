//! Every built-in controller on the smallest networks that tell them apart, as tables of physics.
//!
//! Nothing here is random and all arithmetic is exact or IEEE's, so a table changes only if the
//! behaviour does, and then shows it as numbers. What is expected is asserted elsewhere (fairness.rs,
//! closed_forms.rs and others); the tables say what is. After a change that is meant:
//!
//!   INSTA_UPDATE=always cargo test -p tresse-sim --test it scenarios
//!
//! Controllers that do the same in a scenario, to the last packet, share a row; `=` joins two names of one
//! controller. One that needs to be told of the next hop's congestion, or of each packet's fate, is left out:
//! nobody tells here. A controller that needs ECN meets a marking port, any other a drop-tail port. With equal RTTs
//! flows can fall into step, so flows that compete start at several offsets from each other: the tables have means
//! over them, and the range where the offset decides.
//!
//! With TRESSE_FIGURES=DIR the same runs draw their windows and queues, a figure for each controller and
//! scenario.

mod figure;
mod scenario;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tresse_controllers::{Controller, built_in, find};
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Time};

use crate::common::{Bottleneck, jain, mean};
use scenario::{Cast, Measured, Scenario};

const MEGABIT: u64 = 1_000_000;
/// With `RTT` a BDP of 33 packets: that of XMP's 1 Gbit/s and 400 us, at a tenth of the packets.
const RATE: u64 = 100 * MEGABIT;
const RTT: Time = 4 * MILLISECOND;
/// Satisfies XMP's eq. (1), as K >= 33/3, and DCTCP's K > 33/7.
const MARK: u64 = 20;
/// More than the BDP, so that Reno fills the link.
const QUEUE: u64 = 50;
/// Room for a window of packets that cannot be marked above K.
const MIXED_QUEUE: u64 = 100;

/// Between the starts of two flows: together, within a round, within a sawtooth, after some.
const OFFSETS_US: [u64; 4] = [0, 1_700, 13_000, 120_000];
/// Some 17 000 packets.
const MEASURE: Time = 2 * SECOND;

/// The directory for the figures, if they are wanted.
#[expect(clippy::disallowed_methods, reason = "asks whether to draw; no result depends on it")]
fn figures() -> Option<PathBuf> {
    std::env::var("TRESSE_FIGURES").ok().map(PathBuf::from)
}

/// The scenario of one controller at each of the offsets.
fn at_offsets(links: Vec<(Bottleneck, Time)>, cast: Vec<Cast>) -> Vec<Scenario> {
    let scenario = |us: u64| Scenario {
        links: links.clone(),
        cast: cast.clone(),
        offset: us * MICROSECOND,
        measure: MEASURE,
    };
    OFFSETS_US.map(scenario).to_vec()
}

/// What one controller's line says: the numbers, from the runs of its scenarios.
type Line = fn(&[Measured]) -> Vec<String>;

/// Runs the scenarios of each controller that `cast` returns and puts a table together.
fn table(
    name: &str,
    head: &[&str],
    scenarios: impl Fn(&Controller) -> Option<Vec<Scenario>> + Sync,
    line: Line,
) -> String {
    let all = built_in();
    let cases: Vec<_> = (all.iter().filter(|c| c.attachable() && c.alias_of().is_none()))
        .filter_map(|c| Some((c, scenarios(c)?)))
        .collect();
    let directory = figures();
    let results = parallel(&cases, |(controller, scenarios)| {
        if let Some(directory) = &directory {
            // Neither in step nor long after each other.
            let one = &scenarios[scenarios.len() / 2];
            let file = format!("{}-{}.svg", name.replace(' ', "-"), controller.name());
            one.draw(&format!("{name}: {}", controller.name()), &directory.join(file));
        }
        scenarios.iter().map(Scenario::run).collect::<Vec<_>>()
    });

    let mut rows: Vec<(Vec<Measured>, String)> = Vec::new();
    for ((controller, _), result) in cases.iter().zip(results) {
        let mut name = controller.name().to_owned();
        for alias in all.iter().filter(|c| c.alias_of() == Some(controller.name())) {
            name += &format!(" = {}", alias.name());
        }
        match rows.iter_mut().find(|(other, _)| *other == result) {
            Some((_, names)) => *names += &format!(", {name}"),
            None => rows.push((result, name)),
        }
    }
    let mut cells = vec![head.iter().map(|h| (*h).to_owned()).collect::<Vec<_>>()];
    cells.extend(rows.iter().map(|(result, _)| line(result)));
    let names = std::iter::once("controllers").chain(rows.iter().map(|(_, names)| names.as_str()));
    let widths: Vec<_> =
        (0..head.len()).map(|i| cells.iter().map(|row| row[i].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for (row, names) in cells.iter().zip(names) {
        for (cell, width) in row.iter().zip(&widths) {
            text += &format!("{cell:>width$}  ");
        }
        text += &format!("{names}\n");
    }
    text
}

/// `work` on each item, on all cores; the results in the items' order.
fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(i) else { return done };
            done.push((i, work(item)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|w| w.join().expect("a scenario runs")).collect()
    });
    all.sort_by_key(|&(i, _)| i);
    all.into_iter().map(|(_, result)| result).collect()
}

/// The mean over runs of what `of` takes from each.
fn over(runs: &[Measured], of: impl Fn(&Measured) -> f64) -> f64 {
    mean(&runs.iter().map(of).collect::<Vec<_>>())
}

/// The mean over runs, and the range.
fn range(runs: &[Measured], of: impl Fn(&Measured) -> f64) -> String {
    let values: Vec<f64> = runs.iter().map(of).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    format!("{:.3} ({least:.3}..{most:.3})", mean(&values))
}

fn total(shares: &[f64]) -> f64 {
    shares.iter().sum()
}

/// Queue, marks and drops of link 0.
fn first_link(runs: &[Measured]) -> [String; 3] {
    [
        format!("{:.1}", over(runs, |m| m.links[0].queue)),
        format!("{:.2}", over(runs, |m| m.links[0].marked)),
        format!("{:.2}", over(runs, |m| m.links[0].dropped)),
    ]
}

/// The port that suits a controller.
fn port(controller: &Controller, rate: u64) -> Bottleneck {
    if controller.needs_ecn() { Bottleneck::marking(rate, MARK) } else { Bottleneck::drop_tail(rate, QUEUE) }
}

/// Two flows of one subflow each, alone at a link.
#[test]
fn dumbbell() {
    let scenarios = |c: &Controller| {
        Some(at_offsets(vec![(port(c, RATE), RTT)], vec![Cast::new(c, &[0]), Cast::new(c, &[0])]))
    };
    let line: Line = |runs| {
        let mut cells = vec![
            format!("{:.3}", over(runs, |m| m.shares.iter().map(|s| total(s)).sum())),
            range(runs, |m| jain(&m.shares.iter().map(|s| total(s)).collect::<Vec<_>>())),
        ];
        cells.extend(first_link(runs));
        cells
    };
    let head = ["link", "Jain (range)", "queue", "marked %", "dropped %"];
    insta::assert_snapshot!("dumbbell", table("dumbbell", &head, scenarios, line));
}

/// A connection with a subflow on each of two links, nobody else there: the second link has a
/// quarter of the rate and twice the RTT, and a coupled increase may need seconds for a sawtooth there.
#[test]
fn two_paths() {
    let scenarios = |c: &Controller| {
        let links = vec![(port(c, RATE), RTT), (port(c, RATE / 4), 2 * RTT)];
        Some(vec![Scenario { links, cast: vec![Cast::new(c, &[0, 1])], offset: 0, measure: 5 * MEASURE }])
    };
    let line: Line = |runs| {
        let mut cells = Vec::new();
        for i in 0..2 {
            let link = &runs[0].links[i];
            cells.push(format!("{:.3}", runs[0].shares[0][i]));
            cells.push(format!("{:.1}", link.queue));
            cells.push(format!("{:.2}", link.marked));
            cells.push(format!("{:.2}", link.dropped));
        }
        cells
    };
    let head = ["link 0", "queue", "marked %", "dropped %", "link 1", "queue", "marked %", "dropped %"];
    insta::assert_snapshot!("two_paths", table("two paths", &head, scenarios, line));
}

/// A connection with two subflows beside another with one, at one link.
fn beside(name: &str, suits: impl Fn(&Controller) -> bool + Sync, link: Bottleneck, rival: Cast) -> String {
    let scenarios = |c: &Controller| {
        suits(c).then(|| at_offsets(vec![(link, RTT)], vec![Cast::new(c, &[0, 0]), rival.clone()]))
    };
    let line: Line = |runs| {
        let mut cells = vec![
            range(runs, |m| total(&m.shares[0]) / total(&m.shares[1])),
            format!("{:.3}", over(runs, |m| total(&m.shares[0]))),
            format!("{:.3}", over(runs, |m| total(&m.shares[1]))),
        ];
        cells.extend(first_link(runs));
        cells
    };
    let head = ["ratio (range)", "link", "rival's", "queue", "marked %", "dropped %"];
    table(name, &head, scenarios, line)
}

/// Beside Reno, at a drop-tail port.
///
/// Catalogue 0.12 expected, as means over seeds: uncoupled 2.0, Semicoupled 1.5-1.8, LIA 1.2-1.9 (median 1.4),
/// OLIA 1.0-1.4, BALIA 1.1-1.3. Here uncoupled, LIA, OLIA and BALIA lie there, Semicoupled (1.31)
/// below; its range over the offsets reaches 1.68.
#[test]
fn beside_reno() {
    let rival = Cast::rival("reno", false);
    let link = Bottleneck::drop_tail(RATE, QUEUE);
    insta::assert_snapshot!("beside_reno", beside("beside Reno", |c| !c.needs_ecn(), link, rival));
}

/// Beside a Reno that answers marks as losses, at a marking port.
#[test]
fn beside_ecn_reno() {
    let rival = Cast::rival("reno", true);
    let link = Bottleneck::marking(RATE, MARK);
    insta::assert_snapshot!("beside_ecn_reno", beside("beside ECN Reno", Controller::needs_ecn, link, rival));
}

/// Beside a Reno that is not ECN-capable, in one queue: its packets pass K and are dropped when the
/// queue is full (catalogue 0.3, `queue`).
#[test]
fn beside_non_ect_reno() {
    let rival = Cast::rival("reno", false);
    let link = Bottleneck { rate: RATE, limit: MIXED_QUEUE, mark: Some(MARK) };
    let table = beside("beside non-ECT Reno", Controller::needs_ecn, link, rival);
    insta::assert_snapshot!("beside_non_ect_reno", table);
}

/// Beside DCTCP, at a marking port.
#[test]
fn beside_dctcp() {
    let rival = Cast::rival("dctcp", true);
    let link = Bottleneck::marking(RATE, MARK);
    insta::assert_snapshot!("beside_dctcp", beside("beside DCTCP", Controller::needs_ecn, link, rival));
}

/// HOLNET's classes of service, by eq. (2.14)'s bounds: none is an elastic flow; a least rate of 60 % of the
/// link; a fixed rate of 30 % (hard real-time: theta = Theta).
const CLASSES: [(&str, &[(&str, u64)]); 3] = [
    ("elastic", &[]),
    ("least rate 0.6", &[("min_rate", 60_000)]),
    ("fixed rate 0.3", &[("min_rate", 30_000), ("max_rate", 30_000)]),
];

/// A connection of each class with one subflow beside one Reno: at a drop-tail port, or with ECN at a marking
/// one.
#[test]
fn classes_of_service() {
    let names = ["holnet_cc_cos", "holnet_cc_cos_ecn", "holnet_mcc_cos", "holnet_mcc_cos_ecn"];
    let cases: Vec<_> =
        names.into_iter().flat_map(|name| CLASSES.map(|(class, settings)| (name, class, settings))).collect();
    let rows = parallel(&cases, |&(name, class, settings)| {
        let controller = find(name).expect("it is built in");
        let own = Cast { settings, ..Cast::new(&controller, &[0]) };
        let rival = Cast::rival("reno", controller.needs_ecn());
        let scenarios = at_offsets(vec![(port(&controller, RATE), RTT)], vec![own, rival]);
        let runs: Vec<_> = scenarios.iter().map(Scenario::run).collect();
        let [queue, marked, dropped] = first_link(&runs);
        let own = range(&runs, |m| total(&m.shares[0]));
        let rivals = over(&runs, |m| total(&m.shares[1]));
        format!("{own}  {rivals:>7.3}  {queue:>5}  {marked:>8}  {dropped:>9}  {name}, {class}\n")
    });
    let head = "link (range)          rival's  queue  marked %  dropped %  controller, class\n";
    insta::assert_snapshot!("classes_of_service", head.to_owned() + &rows.concat());
}
