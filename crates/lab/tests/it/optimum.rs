//! Which controllers solve the problem that they claim to solve: `validation/optimum/controllers.md` and `claims.md` beside it.

use std::fmt::Write as _;

use tresse_controllers::{ConfiguredController, built_in, find};
use tresse_optimum::claims::{Claim, Standing, Subflows, claim};
use tresse_optimum::distance::Distance;
use tresse_optimum::fluid::{self, Fluid, FluidError, Link, Network, Path, Signal};
use tresse_optimum::problem::Problem;
use tresse_optimum::solve::solve;

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/optimum");
const BEGIN: &str = "<!-- Generated from here on; crates/lab/tests/it/optimum.rs says how. -->\n";

/// Writes the tables instead of comparing them.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

/// A path: links, and RTT in microseconds.
type Way = (&'static [usize], u64);

/// A network in which everybody runs the same controller, or all but some.
struct Example {
    name: &'static str,
    /// What it is, in a sentence.
    what: &'static str,
    /// Mbit/s.
    links: &'static [u64],
    /// By flow, its paths.
    flows: &'static [&'static [Way]],
    /// The flows that run Reno, and have its utility.
    reno: &'static [usize],
    equal_rtts: bool,
}

const EXAMPLES: [Example; 9] = [
    Example {
        name: "line",
        what: "a flow over two links of 100 Mbit/s, and one over each of them",
        links: &[100, 100],
        flows: &[&[(&[0, 1], 10_000)], &[(&[0], 10_000)], &[(&[1], 10_000)]],
        reno: &[],
        equal_rtts: true,
    },
    Example {
        name: "one link",
        what: "two subflows of one flow and a flow with one, on a link of 100 Mbit/s",
        links: &[100],
        flows: &[&[(&[0], 10_000), (&[0], 10_000)], &[(&[0], 10_000)]],
        reno: &[],
        equal_rtts: true,
    },
    Example {
        name: "two links",
        what: "a flow over both, of 60 and 100 Mbit/s, and a flow with one path over the second",
        links: &[60, 100],
        flows: &[&[(&[0], 10_000), (&[1], 10_000)], &[(&[1], 10_000)]],
        reno: &[],
        equal_rtts: true,
    },
    Example {
        name: "ring",
        what: "three links of 100, 80 and 60 Mbit/s; each flow takes one, or the other two",
        links: &[100, 80, 60],
        flows: &[
            &[(&[0], 10_000), (&[1, 2], 10_000)],
            &[(&[1], 10_000), (&[2, 0], 10_000)],
            &[(&[2], 10_000), (&[0, 1], 10_000)],
        ],
        reno: &[],
        equal_rtts: true,
    },
    Example {
        name: "near, far",
        what: "two flows with one path, 10 and 20 ms long, on a link of 100 Mbit/s",
        links: &[100],
        flows: &[&[(&[0], 10_000)], &[(&[0], 20_000)]],
        reno: &[],
        equal_rtts: false,
    },
    Example {
        name: "long second",
        what: "two links, but the second path of the flow over both is 20 ms long",
        links: &[60, 100],
        flows: &[&[(&[0], 10_000), (&[1], 20_000)], &[(&[1], 10_000)]],
        reno: &[],
        equal_rtts: false,
    },
    Example {
        name: "data centre",
        what: "a flow over two links of 1 Gbit/s and 225 us, and over each of them a flow with two subflows",
        links: &[1000, 1000],
        flows: &[&[(&[0, 1], 225)], &[(&[0], 225), (&[0], 225)], &[(&[1], 225), (&[1], 225)]],
        reno: &[],
        equal_rtts: true,
    },
    Example {
        name: "a Reno",
        what: "a flow with one path, and a Reno on the same link of 100 Mbit/s",
        links: &[100],
        flows: &[&[(&[0], 10_000)], &[(&[0], 10_000)]],
        reno: &[1],
        equal_rtts: true,
    },
    Example {
        name: "two, a Reno",
        what: "two links, but the flow with one path is a Reno (THESIS Fig. 3.2)",
        links: &[60, 100],
        flows: &[&[(&[0], 10_000), (&[1], 10_000)], &[(&[1], 10_000)]],
        reno: &[1],
        equal_rtts: true,
    },
];

const PACKET: u64 = 1500;

type Apart = Result<f64, &'static str>;

impl Example {
    /// The least product of a path's rate and RTT, in packets.
    fn least_bdp(&self) -> f64 {
        let paths = self.flows.iter().copied().flatten();
        let bits = paths
            .map(|(links, us)| links.iter().map(|&l| self.links[l]).min().expect("a path has a link") * us);
        bits.min().expect("there is a flow") as f64 / (8 * PACKET) as f64
    }

    /// The largest distance of a flow from the optimum of its utility, or why there is no such number.
    fn apart(&self, controllers: &ConfiguredController, signal: Signal) -> Apart {
        let mut problem = Problem::default();
        for (i, &mbps) in self.links.iter().enumerate() {
            problem.link(i.to_string(), mbps as f64 * 1e6);
        }
        let mut connections = Vec::new();
        let reno = ConfiguredController::new(find("reno").expect("built in"), []).expect("no parameters");
        for (i, &ways) in self.flows.iter().enumerate() {
            let controllers = if self.reno.contains(&i) { &reno } else { controllers };
            let rtts: Vec<f64> = ways.iter().map(|&(_, us)| us as f64 / 1e6).collect();
            let subflows = Subflows { rtts: &rtts, packet: PACKET as f64 * 8.0 };
            let objective = claim(controllers, subflows).and_then(|c| c.objective).ok_or("no utility")?;
            problem.flows.push(objective.flow(i.to_string(), ways.iter().map(|(links, _)| links.to_vec())));
            let path = |&(links, us): &Way| Path { links: links.to_vec(), rtt_ps: us * 1_000_000, loss: 0.0 };
            let paths = ways.iter().map(path).collect();
            connections.extend(fluid::connections(controllers, subflows, paths, 0.0).ok_or("no model")?);
        }
        let optimum = solve(&problem).expect("the problem has an optimum");
        let links = self.links.iter().map(|&mbps| Link::Capacity(mbps * 1_000_000)).collect();
        let network = Network { packet_bytes: PACKET, signal, links, connections };
        match Fluid::new(network).expect("a network in range").equilibrium_within(50_000) {
            Ok(state) => {
                let mut rates = state.rates_bps.into_iter().flatten();
                let by_flow: Vec<Vec<f64>> =
                    self.flows.iter().map(|ways| rates.by_ref().take(ways.len()).collect()).collect();
                Ok(Distance::of(&problem, &optimum, &by_flow).largest)
            }
            Err(FluidError::NotSettled { .. } | FluidError::Integration { .. }) => Err("unsettled"),
            Err(error) => panic!("{}: {error}", self.name),
        }
    }
}

/// A row: a controller with values for some parameters.
struct Row {
    name: String,
    controllers: ConfiguredController,
    claim: Claim,
}

impl Row {
    fn new(name: &str, settings: &[(&str, u64)]) -> Self {
        let controllers = ConfiguredController::new(find(name).expect("built in"), settings.iter().copied())
            .expect("parameters in range");
        let subflows = Subflows { rtts: &[0.01], packet: PACKET as f64 * 8.0 };
        let claim = claim(&controllers, subflows).expect("every built-in controller has an entry");
        let settings: String = settings.iter().map(|(p, v)| format!(", {p}={v}")).collect();
        Self { name: format!("`{name}`{settings}"), controllers, claim }
    }

    /// Whether there are a utility and a fluid model.
    fn is_measured(&self) -> bool {
        let path = Path { links: vec![0], rtt_ps: 1, loss: 0.0 };
        let subflows = Subflows { rtts: &[0.01], packet: PACKET as f64 * 8.0 };
        let model = fluid::connections(&self.controllers, subflows, vec![path], 0.0);
        self.claim.objective.is_some() && model.is_some()
    }
}

/// Every controller of TCP under its first name, and EUTCP as its paper scales rates, both ways. HOLNET's with ECN
/// or classes of service are the same law, as long as no class is set.
fn rows() -> Vec<Row> {
    let variant = |name: &str| name.ends_with("_ecn") || name.ends_with("_cos");
    let firsts =
        built_in().into_iter().filter(|c| c.alias_of().is_none() && !c.reports() && !variant(c.name()));
    let mut rows: Vec<Row> = firsts.map(|c| Row::new(c.name(), &[])).collect();
    rows.push(Row::new("eutcp", &[("gamma", 1100)]));
    rows.push(Row::new("eutcp", &[("gamma", 1100), ("exact", 1)]));
    rows
}

/// A rate that differs by less is the optimal one: what the approximations of the law leave is more.
const SOLVED: f64 = 0.01;

fn verdict(claim: &Claim, apart: &[Apart]) -> String {
    let largest = |equal: bool| {
        let shown = EXAMPLES.iter().zip(apart).filter(|(e, _)| e.equal_rtts || !equal);
        shown.fold(0.0, |largest: f64, (_, d)| largest.max(d.unwrap_or(1.0)))
    };
    let percent = |distance: f64| (100.0 * distance).ceil();
    let (all, equal) = (largest(false), largest(true));
    if claim.standing == Standing::None {
        "claims nothing".into()
    } else if apart.iter().any(Result::is_err) {
        "unsettled".into()
    } else if all < SOLVED {
        "solves it".into()
    } else if equal < SOLVED {
        "solves it with equal RTTs".into()
    } else if percent(all) == percent(equal) {
        format!("within {} % of it", percent(all))
    } else {
        format!("within {} % of it with equal RTTs", percent(equal))
    }
}

fn tables() -> String {
    let mut out = String::new();
    let rows = rows();
    let names: String = EXAMPLES.iter().map(|e| format!(" {} |", e.name)).collect();
    let lines = "---|".repeat(EXAMPLES.len());
    writeln!(out, "\n## Signals per round\n\n| controller | claim |{names} verdict |\n|---|---|{lines}---|")
        .expect("a string");
    let cells = |apart: &[Apart]| -> String {
        let cell = |d: &Apart| d.map_or_else(str::to_owned, |d| format!("{:.1} %", 100.0 * d));
        apart.iter().map(|d| format!(" {} |", cell(d))).collect()
    };
    let apart = |row: &Row, signal| -> Vec<Apart> {
        EXAMPLES.iter().map(|e| e.apart(&row.controllers, signal)).collect()
    };
    let both: Vec<_> = rows.iter().filter(|row| row.is_measured()).collect();
    for row in &both {
        let apart = apart(row, Signal::PerRound);
        let (standing, verdict) = (row.claim.standing.name(), verdict(&row.claim, &apart));
        writeln!(out, "| {} | {standing} |{} {verdict} |", row.name, cells(&apart)).expect("a string");
    }
    writeln!(out, "\n## Signals per packet\n\n| controller | claim |{names}\n|---|---|{lines}")
        .expect("a string");
    for row in &both {
        let standing = row.claim.standing.name();
        let cells = cells(&apart(row, Signal::PerPacket));
        writeln!(out, "| {} | {standing} |{cells}", row.name).expect("a string");
    }
    out += "\n## The networks\n\n";
    for e in &EXAMPLES {
        writeln!(out, "- {}: {}; rate times RTT is at least {:.0} packets", e.name, e.what, e.least_bdp())
            .expect("a string");
    }
    out
}

/// The claims' sources, and who claims nothing that is measured.
fn claims() -> String {
    let mut out = "\n| controller | claim | source | what it leaves out |\n|---|---|---|---|\n".to_owned();
    let rows = rows();
    for row in &rows {
        let Claim { standing, source, caveat, .. } = row.claim;
        writeln!(out, "| {} | {} | {source} | {caveat} |", row.name, standing.name()).expect("a string");
    }
    let others = rows.iter().filter(|row| !row.is_measured());
    let names: Vec<_> = others.map(|row| row.name.as_str()).collect();
    writeln!(
        out,
        "\nWithout a utility, or without a fluid model, and so not measured: {}.",
        names.join(", ")
    )
    .expect("a string");
    out
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the pages")]
fn the_tables_of_the_pages_are_up_to_date() {
    for (name, new) in [("controllers", tables()), ("claims", claims())] {
        let path = format!("{PAGES}/{name}.md");
        let there = std::fs::read_to_string(&path).expect("the page is there");
        let (prose, old) = there.split_once(BEGIN).expect("the page says where its tables begin");
        if std::env::var(UPDATE).is_ok() {
            std::fs::write(&path, format!("{prose}{BEGIN}{new}")).expect("the page can be written");
            continue;
        }
        let hint = format!("hint: {UPDATE}=1 cargo test -p tresse-lab --test it optimum writes {path}");
        for (old, new) in old.lines().zip(new.lines()) {
            assert_eq!(old, new, "{hint}");
        }
        assert!(old == new, "{path} has more lines, or fewer\n{hint}");
    }
}
