//! Minimum rates that the links cannot carry, or that leave a flow nothing: which of them clash, and where.

use std::collections::BTreeSet;

use crate::cone::Conic;
use crate::problem::Problem;
use crate::program::{Group, Program};

/// A proof that the minimum rates do not fit: on any paths, the flows must send more over the links than
/// these can carry. No link and no flow can be left out of it, unless there are so many that not all were
/// tried. There may be other proofs.
#[derive(Debug, Clone, PartialEq)]
pub struct Infeasible {
    /// The largest part of the flows' minimum rates that is possible at once, below 1. 1 if they just fit,
    /// and `starved` would get nothing.
    pub part: f64,
    /// The links that are too narrow.
    pub links: Vec<Narrow>,
    /// The flows whose minimum rates need them: name and minimum rate.
    pub flows: Vec<(String, f64)>,
    /// Flows that get nothing, or have a path that gets nothing, although the marginal utility at rate 0 is
    /// infinite.
    pub starved: Vec<String>,
    /// What the flows must send over the links, each link weighted by its `count`.
    pub needed: f64,
    /// What the links can carry, weighted in the same way.
    pub available: f64,
}

/// A link of the proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Narrow {
    /// The link.
    pub name: String,
    /// Its capacity.
    pub capacity: f64,
    /// Its weight: 1 for all if the links are one cut through the network.
    pub count: f64,
}

impl std::fmt::Display for Infeasible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.with_rates(&digits))
    }
}

impl Infeasible {
    /// The proof in words; `rate` formats a rate in the problem's unit.
    pub fn with_rates(&self, rate: &dyn Fn(f64) -> String) -> String {
        let flows: Vec<_> = self.flows.iter().map(|(n, r)| format!("`{n}` ({})", rate(*r))).collect();
        let links: Vec<_> = self
            .links
            .iter()
            .map(|l| {
                let times = if l.count == 1.0 {
                    String::new()
                } else {
                    format!(", counted {} times", digits(l.count))
                };
                format!("`{}` ({}{times})", l.name, rate(l.capacity))
            })
            .collect();
        let one = |n: usize, one: &'static str, several: &'static str| if n == 1 { one } else { several };
        let result = if self.starved.is_empty() {
            format!(
                "at most {} % of {} is possible",
                digits(100.0 * self.part),
                one(flows.len(), "it", "them")
            )
        } else {
            let starved: Vec<_> = self.starved.iter().map(|n| format!("`{n}`")).collect();
            format!("nothing is left for {} {}", one(starved.len(), "flow", "flows"), list(&starved))
        };
        format!(
            "the minimum {} {} {} {} of {} {}, which can carry {}: {result}",
            one(flows.len(), "rate of flow", "rates of flows"),
            list(&flows),
            one(flows.len(), "needs", "need"),
            rate(self.needed),
            one(links.len(), "link", "links"),
            list(&links),
            rate(self.available),
        )
    }
}

/// Names for a message, which shows only the first few.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}

/// Six digits, without zeros at the end.
fn digits(v: f64) -> String {
    let places = (5.0 - libm::log10(v.abs().max(1e-300)).floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{v:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The demand of a group of flows: Σ coefficient x ≥ bound over its paths.
struct Demand {
    group: usize,
    entries: Vec<(usize, f64)>,
    bound: f64,
    /// The demand is its minimum rate, not just any rate above 0.
    minimum: bool,
}

/// How often the demands are tried with some left out: one of thousands of flows must not take forever.
const TRIALS: usize = 200;
/// The demand of a flow that must get something, as a part of the rate that it could have alone.
const SOMETHING: f64 = 1e-5;
/// A part that is short of 1 by more than this is not all: the solver's answers are more accurate.
const SHORT: f64 = 1e-7;

/// The proof, if the minimum rates do not fit.
pub(crate) fn find(problem: &Problem, program: &Program) -> Option<Infeasible> {
    let demands = minima(problem, program);
    if demands.is_empty() { None } else { prove(problem, program, &demands) }
}

/// The proof that minimum rates that fit leave a flow nothing, if there is a flow that must get something.
pub(crate) fn starving(problem: &Problem, program: &Program) -> Option<Infeasible> {
    let mut demands = minima(problem, program);
    if demands.is_empty() {
        return None;
    }
    for term in program.terms.iter().filter(|t| t.utility.is_never_zero()) {
        let paths: Vec<usize> = term.parts.iter().map(|&(p, _)| p).collect();
        let group = program.groups.partition_point(|g| g.first <= paths[0]) - 1;
        let reach = paths.iter().map(|&p| program.reach[p]).fold(0.0, f64::max);
        let entries = paths.into_iter().map(|p| (p, 1.0)).collect();
        demands.push(Demand { group, entries, bound: SOMETHING * reach, minimum: false });
    }
    prove(problem, program, &demands)
}

fn minima(problem: &Problem, program: &Program) -> Vec<Demand> {
    let of_group = |(group, g): (usize, &Group)| {
        let least = problem.flows[g.members[0].0].min_rate;
        // One for the total, or one for each path.
        let rows = g.limits.iter().filter_map(|[least, most]| least.or(*most)).filter(move |_| least > 0.0);
        let demand = move |row: usize| {
            let row = &program.rows[row];
            let entries = row.entries.iter().map(|&(p, c)| (p, c.abs())).collect();
            Demand { group, entries, bound: row.bound.abs(), minimum: true }
        };
        rows.map(demand).collect::<Vec<_>>()
    };
    program.groups.iter().enumerate().flat_map(of_group).collect()
}

/// Leaves out demands and then links as long as the rest still clashes, and returns the rest.
fn prove(problem: &Problem, program: &Program, demands: &[Demand]) -> Option<Infeasible> {
    let links = LinksOf::new(program);
    let every: Vec<usize> = (0..program.links).filter(|&l| !program.rows[l].entries.is_empty()).collect();
    let every_demand: Vec<&Demand> = demands.iter().collect();
    links.clash(program, &every_demand, &every)?;
    let mut trials = TRIALS;
    let demands = shrink(every_demand, &mut trials, |rest| links.clash(program, rest, &every).is_some());
    let paths: BTreeSet<usize> = demands.iter().flat_map(|d| &d.entries).map(|&(p, _)| p).collect();
    let users = |l: usize| program.rows[l].entries.iter().filter(|(p, _)| paths.contains(p)).count();
    let mut used: Vec<usize> = every.iter().copied().filter(|&l| users(l) > 0).collect();
    // Links that are tried first are removed first: one link that all paths take says more than one of each
    // path.
    used.sort_by_key(|&l| users(l));
    let mut narrow = shrink(used, &mut trials, |rest| links.clash(program, &demands, rest).is_some());
    narrow.sort_unstable();
    let Clash { part, lengths } = links.clash(program, &demands, &narrow)?;
    Some(tell(problem, program, &demands, part, &narrow, &lengths))
}

/// Items that are all needed for `clashes`; or more, if the trials are used up.
fn shrink<T: Copy>(mut items: Vec<T>, trials: &mut usize, clashes: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut size = items.len().div_ceil(2);
    loop {
        let mut at = 0;
        while at < items.len() && *trials > 0 {
            *trials -= 1;
            let end = (at + size).min(items.len());
            let rest = [&items[..at], &items[end..]].concat();
            if clashes(&rest) { items = rest } else { at = end }
        }
        if size <= 1 {
            return items;
        }
        size = size.div_ceil(2);
    }
}

struct Clash {
    part: f64,
    /// For each given link, its multiplier.
    lengths: Vec<f64>,
}

/// By path, the links' rows that contain it: index and coefficient.
struct LinksOf(Vec<Vec<(usize, f64)>>);

impl LinksOf {
    fn new(program: &Program) -> Self {
        let mut of = vec![Vec::new(); program.reach.len()];
        for (l, row) in program.rows[..program.links].iter().enumerate() {
            row.entries.iter().for_each(|&(p, c)| of[p].push((l, c)));
        }
        Self(of)
    }

    /// Whether `demands` clash if only `links`, in any order, limit them.
    ///
    /// A linear program: the largest t such that a part t of every demand is met. Its multipliers are a
    /// length for every link, with which the demands' shortest paths are longer than the capacities allow.
    fn clash(&self, program: &Program, demands: &[&Demand], links: &[usize]) -> Option<Clash> {
        let mut place = vec![None; program.links];
        links.iter().enumerate().for_each(|(i, &l)| place[l] = Some(i));
        let over = |p: usize| self.0[p].iter().filter_map(|&(l, c)| place[l].map(|i| (i, c)));
        // A demand with a path that avoids all these links is always met.
        let bound = |d: &&&Demand| d.entries.iter().all(|&(p, _)| over(p).next().is_some());
        let demands: Vec<&Demand> = demands.iter().filter(bound).copied().collect();
        if demands.is_empty() {
            return None;
        }
        let mut conic = Conic::default();
        let mut variable = vec![None; program.reach.len()];
        let mut rows = vec![Vec::new(); links.len()];
        for &(p, _) in demands.iter().flat_map(|d| &d.entries) {
            if variable[p].is_none() {
                let v = conic.variable(0.0);
                variable[p] = Some(v);
                over(p).for_each(|(i, c)| rows[i].push((v, c)));
            }
        }
        let paths: Vec<usize> = variable.iter().flatten().copied().collect();
        let part = conic.variable(-1.0);
        for (row, &l) in rows.into_iter().zip(links) {
            conic.row(row, program.rows[l].bound);
        }
        for demand in demands {
            let entries = demand.entries.iter().filter_map(|&(p, c)| variable[p].map(|v| (v, -c)));
            conic.row(entries.chain([(part, demand.bound)]), 0.0);
        }
        // No more than all of them is needed.
        conic.row([(part, 1.0)], 2.0);
        paths.into_iter().for_each(|v| conic.row([(v, -1.0)], 0.0));
        conic.close_nonnegative();
        let answer = conic.solve();
        let part = answer.v[part];
        (answer.solved && part < 1.0 - SHORT)
            .then(|| Clash { part, lengths: answer.multipliers[..links.len()].to_vec() })
    }
}

fn tell(
    problem: &Problem,
    program: &Program,
    demands: &[&Demand],
    part: f64,
    links: &[usize],
    lengths: &[f64],
) -> Infeasible {
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let mut count = vec![0.0; problem.links.len()];
    // The multipliers of a cut are equal up to the solver's tolerance.
    links.iter().zip(lengths).for_each(|(&l, length)| count[l] = (1e6 * length / longest).round() / 1e6);
    let members = |minimum: bool| -> Vec<usize> {
        let of_kind = demands.iter().filter(|d| d.minimum == minimum);
        let flows = of_kind.flat_map(|d| program.groups[d.group].members.iter().map(|m| m.0));
        flows.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let (flows, starved) = (members(true), members(false));
    let needed = demands.iter().filter(|d| d.minimum).flat_map(|d| {
        let group = &program.groups[d.group];
        group
            .members
            .iter()
            .map(|(i, order)| {
                let flow = &problem.flows[*i];
                let path = |p: usize| &flow.paths[order[p - group.first]];
                let length = |p| path(p).links.iter().map(|&l| count[l]).sum::<f64>();
                flow.min_rate * d.entries.iter().map(|&(p, _)| length(p)).fold(f64::INFINITY, f64::min)
            })
            .collect::<Vec<f64>>()
    });
    let narrow: Vec<usize> = links.iter().copied().filter(|&l| count[l] > 1e-5).collect();
    let links = narrow.iter().map(|&l| Narrow {
        name: problem.links[l].name.clone(),
        capacity: problem.links[l].capacity,
        count: count[l],
    });
    let name = |i: usize| problem.flows[i].name.clone();
    Infeasible {
        part: if starved.is_empty() { part } else { 1.0 },
        available: narrow.iter().map(|&l| count[l] * problem.links[l].capacity).sum(),
        links: links.collect(),
        needed: needed.sum(),
        flows: flows.iter().map(|&i| (name(i), problem.flows[i].min_rate)).collect(),
        starved: starved.into_iter().map(name).collect(),
    }
}
