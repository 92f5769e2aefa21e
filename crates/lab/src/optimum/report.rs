//! What `tresse optimum` prints, without a simulation.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indexmap::IndexMap;
use serde::Serialize;
use tresse_experiment::plan::{Case, Plan};
use tresse_experiment::read::{Loaded, Profile};
use tresse_fabric::Topology;
use tresse_optimum::claims::Claim;
use tresse_optimum::distance::Distance;
use tresse_optimum::fluid::{Fluid, FluidError, Network};
use tresse_optimum::problem::Problem;
use tresse_optimum::solve::{Optimum, solve, total_utility};
use tresse_units::Time;

use super::beside::{goodputs, why_none};
use super::round::{Round, shortest_paths};
use super::schemes::{self, Share};
use super::words;
use crate::link_events::Links;
use crate::metric::summary::axes;
use crate::setup;

/// What `tresse optimum --json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct OptimumReport {
    /// `tresse/optimum/1`.
    pub schema: &'static str,
    /// The experiment's name.
    pub experiment: String,
    pub profile: &'static str,
    /// The seed of the flows and their paths.
    pub seed: u64,
    /// The round of the pattern that the flows belong to.
    pub round: u32,
    pub cases: Vec<OptimumCase>,
}

/// One case.
#[derive(Debug, Clone, Serialize)]
pub struct OptimumCase {
    pub case: IndexMap<String, serde_json::Value>,
    /// If links change: the time from the start from which on they are as they are here. The flows are those at the
    /// start.
    pub since_s: Option<f64>,
    /// The controller of the case's own scheme, or of the first flow's.
    pub controller: &'static str,
    /// How many flows there are, of all schemes.
    pub flows: usize,
    /// The parts of the workload that are left out, because none of their flows starts at time 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// What its paper claims; none if the controller declares nothing.
    pub claim: Option<ClaimEntry>,
    /// The lines that its C file lacks for an optimum and a fluid model, as an example.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to_declare: Vec<&'static str>,
    /// The other schemes that carry flows.
    pub beside: Vec<BesideEntry>,
    /// The optimum of the sum of the utilities that are claimed, or used instead.
    pub optimum: Option<OptimumEntry>,
    /// Why there is none, or why it is only a reference.
    pub no_optimum: Option<String>,
    /// The equilibrium of the fluid model.
    pub fluid: Option<FluidEntry>,
    /// Why there is no equilibrium.
    pub no_fluid: Option<String>,
}

/// A scheme other than the case's own.
#[derive(Debug, Clone, Serialize)]
pub struct BesideEntry {
    pub scheme: String,
    pub controller: &'static str,
    /// How many flows it carries.
    pub flows: usize,
    /// What its paper claims; none if the controller declares nothing.
    pub claim: Option<ClaimEntry>,
}

/// What a controller's paper claims.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimEntry {
    /// `proved`, `claimed` or `none`.
    pub standing: &'static str,
    /// Paper and equation.
    pub source: &'static str,
    /// What it leaves out.
    pub caveat: &'static str,
    /// The utility in words; none if there is none.
    pub utility: Option<String>,
}

/// An optimum.
#[derive(Debug, Clone, Serialize)]
pub struct OptimumEntry {
    /// Mean and percentiles over the flows, payload.
    #[serde(flatten)]
    pub goodput: IndexMap<&'static str, f64>,
    /// The sum of the flows' utilities of their rates on the wire in bit/s; its unit is the utility's own.
    pub utility: f64,
    /// The largest violation of the conditions of optimality, relative.
    pub kkt_residual: f64,
    /// The links that are full or have a price, the most expensive first.
    pub links: Vec<LinkEntry>,
    /// Every flow.
    pub rates: Vec<RatesEntry>,
}

/// A link that limits a flow.
#[derive(Debug, Clone, Serialize)]
pub struct LinkEntry {
    /// The number of the output port, as in `links.parquet`.
    pub port: u32,
    /// The node whose port it is.
    pub from: String,
    /// The node to which it leads.
    pub to: String,
    /// The name of its layer.
    pub layer: String,
    pub rate_bps: u64,
    /// The traffic over it at the optimum.
    pub load_bps: f64,
    /// Whether that fills it.
    pub binding: bool,
    /// A price that supports the optimum, total utility per bit/s: not unique if several links of a path are full.
    pub price_per_bps: f64,
}

/// A flow's rates, headers included.
#[derive(Debug, Clone, Serialize)]
pub struct RatesEntry {
    /// The sending host.
    pub from: u32,
    /// The receiving host.
    pub to: u32,
    /// The rates by path, at the optimum.
    pub optimum_bps: Vec<f64>,
    /// The rates by path, in the fluid model; empty if there is none.
    pub fluid_bps: Vec<f64>,
}

/// A fluid model at rest.
#[derive(Debug, Clone, Serialize)]
pub struct FluidEntry {
    /// Whether it settled. If not, this is its state when its steps were used up.
    pub settled: bool,
    /// The model time that it ran.
    pub model_s: f64,
    /// Mean and percentiles over the flows, payload.
    #[serde(flatten)]
    pub goodput: IndexMap<&'static str, f64>,
    /// The sum of the flows' utilities; none if no utility is known.
    pub utility: Option<f64>,
    /// The distance from the optimum, and its mean and largest value over the flows.
    #[serde(flatten)]
    pub distance: IndexMap<&'static str, f64>,
}

/// Steps of the solver times its unknowns, for one case: some seconds. A network that is not at rest by then is
/// reported as not settled.
const WORK: usize = 5_000_000;

/// The most paths of flows whose packets are spread over all shortest ones.
const MOST_SHORTEST_PATHS: u64 = 8192;

/// The optimum and the fluid equilibrium of round 0 of every case of `plan` under `seed`; `done` is called after each case.
pub fn optimum(
    loaded: &Loaded,
    plan: &Plan,
    profile: Profile,
    seed: u64,
    parallel: usize,
    done: &(dyn Fn() + Sync),
) -> OptimumReport {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Vec<OptimumCase>>> = plan.cases.iter().map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for _ in 0..parallel.clamp(1, plan.cases.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = plan.cases.get(i) else { return };
                    *results[i].lock().expect("no holder of the lock panics") = by_links(case, seed);
                    done();
                }
            });
        }
    });
    let cases = results.into_iter().flat_map(|r| r.into_inner().expect("no holder of the lock panics"));
    OptimumReport {
        schema: "tresse/optimum/1",
        experiment: loaded.source.name.clone(),
        profile: profile.name(),
        seed,
        round: 0,
        cases: cases.collect(),
    }
}

/// Once for each state of the links.
fn by_links(case: &Case, seed: u64) -> Vec<OptimumCase> {
    let mut links = Links::new(&case.setting.fabric, &case.setting.changes);
    links.advance(0);
    let mut since = links.next().map(|_| 0);
    let mut states = vec![one(case, seed, &links, since)];
    while let Some(next) = links.next() {
        links.advance(next);
        since = Some(next);
        states.push(one(case, seed, &links, since));
    }
    states
}

fn one(case: &Case, seed: u64, links: &Links, since: Option<Time>) -> OptimumCase {
    let begun = setup::first(case, seed);
    let why = if begun.is_empty() {
        Some("no flow starts at time 0".to_owned())
    } else if links.down().is_some() {
        Some("a link is down".to_owned())
    } else {
        schemes::no_paths(case, &begun).or_else(|| {
            let paths = shortest_paths(case, &begun);
            let most = MOST_SHORTEST_PATHS;
            (paths > most).then(|| {
                format!("the flows may take {paths} paths, which would take too long (the limit is {most})")
            })
        })
    };
    let since_s = since.map(tresse_units::seconds);
    let is_later = |place: usize| begun.iter().all(|own| own.part != place);
    let later =
        case.parts.iter().enumerate().filter(|(place, part)| is_later(*place) && !part.name.is_empty());
    let left_out = later.map(|(_, part)| part.name.clone()).collect();
    if let Some(why) = why {
        return OptimumCase {
            case: axes(case),
            since_s,
            controller: case.bound_schemes[0].controllers.controller().name(),
            flows: begun.len(),
            left_out,
            claim: None,
            to_declare: Vec::new(),
            beside: Vec::new(),
            optimum: None,
            no_optimum: Some(why.clone()),
            fluid: None,
            no_fluid: Some(why),
        };
    }
    let mut round = Round::new(case, seed, &begun);
    round.set_capacities(links);
    let mut shares = round.schemes();
    let own = shares.iter().position(|s| s.bound_scheme.scheme == case.scheme).unwrap_or(0);
    let own = shares.remove(own);
    let no_common_price = schemes::no_common_price(&round.schemes());
    let problem = round.problem().filter(|_| no_common_price.is_none());
    let mut no_optimum = why_none(&round);
    let solved = problem.as_ref().and_then(|p| match solve(p) {
        Ok(optimum) => Some((p, optimum)),
        Err(e) => {
            no_optimum = Some(words::no_optimum(&round, &e));
            None
        }
    });
    let network = round.network().filter(|_| no_common_price.is_none());
    let (fluid, no_fluid) = match network.map(|network| rest(&round, network)) {
        Some(Ok(fluid)) => (Some(fluid), None),
        Some(Err(e)) => (None, Some(words::no_fluid(&round, &e))),
        None => {
            let beyond = no_common_price.or_else(|| round.beyond_fluid().map(str::to_owned));
            (None, Some(beyond.unwrap_or_else(|| schemes::no_model(&round.schemes()))))
        }
    };
    OptimumCase {
        case: axes(case),
        since_s,
        controller: own.controller(),
        flows: round.hosts.len(),
        left_out,
        claim: own.claim.map(ClaimEntry::of),
        to_declare: own.missing_declarations(),
        beside: shares.iter().map(BesideEntry::of).collect(),
        optimum: solved
            .as_ref()
            .map(|(_, optimum)| entry(&case.setting.fabric, links, &round, optimum, fluid.as_ref())),
        no_optimum,
        fluid: fluid.as_ref().map(|f| f.entry(&round, problem.as_ref(), solved.as_ref().map(|s| &s.1))),
        no_fluid,
    }
}

/// A fluid model's last state.
struct LastState {
    settled: bool,
    model_s: f64,
    /// By flow and path, bit/s.
    rates: Vec<Vec<f64>>,
}

fn rest(round: &Round, network: Network) -> Result<LastState, FluidError> {
    let paths: usize = network.connections.iter().map(|c| c.paths.len()).sum();
    let unknowns = (paths + network.links.len()).max(1);
    let mut fluid = Fluid::new(network)?;
    let settled = match fluid.equilibrium_within(WORK / unknowns) {
        Ok(_) => true,
        Err(FluidError::NotSettled { .. }) => false,
        Err(error) => return Err(error),
    };
    let state = fluid.state();
    Ok(LastState { settled, model_s: state.time_s, rates: round.by_flow(state.rates_bps) })
}

impl LastState {
    fn entry(&self, round: &Round, problem: Option<&Problem>, optimum: Option<&Optimum>) -> FluidEntry {
        let distance = problem.zip(optimum).map(|(p, o)| Distance::of(p, o, &self.rates));
        FluidEntry {
            settled: self.settled,
            model_s: self.model_s,
            goodput: goodputs(round.goodputs(self.rates.iter().map(|r| r.iter().sum())).into_iter()),
            utility: problem.map(|p| total_utility(p, &self.rates)),
            distance: distance.map_or_else(IndexMap::new, |d| {
                IndexMap::from([
                    ("goodput_distance_mean", d.mean),
                    ("goodput_distance_max", d.largest),
                    ("utility_distance", d.utility),
                ])
            }),
        }
    }
}

fn entry(
    fabric: &Topology,
    at: &Links,
    round: &Round,
    optimum: &Optimum,
    fluid: Option<&LastState>,
) -> OptimumEntry {
    let mut links: Vec<LinkEntry> = round
        .ports
        .iter()
        .enumerate()
        .map(|(l, &port)| {
            let [from, to] = fabric.end_names(port).map(str::to_owned);
            LinkEntry {
                port,
                from,
                to,
                layer: fabric.layer_name(port).to_owned(),
                rate_bps: at.capacity(port),
                load_bps: optimum.loads[l],
                binding: optimum.binding.contains(&l),
                price_per_bps: optimum.prices[l],
            }
        })
        .filter(|l| l.binding || l.price_per_bps > 0.0)
        .collect();
    links.sort_by(|a, b| b.price_per_bps.total_cmp(&a.price_per_bps).then(a.port.cmp(&b.port)));
    OptimumEntry {
        goodput: goodputs(round.goodputs(optimum.totals.iter().copied()).into_iter()),
        utility: optimum.utility,
        kkt_residual: optimum.residuals.worst(),
        links,
        rates: round
            .hosts
            .iter()
            .enumerate()
            .map(|(i, &[from, to])| RatesEntry {
                from,
                to,
                optimum_bps: optimum.rates[i].clone(),
                fluid_bps: fluid.map_or_else(Vec::new, |f| f.rates[i].clone()),
            })
            .collect(),
    }
}

impl ClaimEntry {
    fn of(claim: &Claim) -> Self {
        Self {
            standing: claim.standing.name(),
            source: claim.source,
            caveat: claim.caveat,
            utility: claim.objective.as_ref().map(|o| words::utility(o, claim.standing)),
        }
    }
}

impl BesideEntry {
    fn of(share: &Share) -> Self {
        Self {
            scheme: share.bound_scheme.scheme.clone(),
            controller: share.controller(),
            flows: share.flows,
            claim: share.claim.map(ClaimEntry::of),
        }
    }
}
