//! Minimum rates that no links can carry: which of them clash, and where.

use crate::cone::Conic;
use crate::problem::Problem;
use crate::program::{Group, Program};

/// A proof that the minimum rates do not fit: whatever paths the flows take, what they must send over
/// the links is more than there is.
#[derive(Debug, Clone, PartialEq)]
pub struct Infeasible {
    /// The largest part of all minimum rates that can be had at once, below 1.
    pub part: f64,
    /// The links that are too narrow.
    pub links: Vec<Narrow>,
    /// The flows whose minimum rates need them: name and minimum rate.
    pub flows: Vec<(String, f64)>,
    /// What the flows must send over the links, each link counted as often as it says.
    pub needed: f64,
    /// What the links can carry, counted alike.
    pub available: f64,
}

/// A link of the proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Narrow {
    /// The link.
    pub name: String,
    /// Its capacity.
    pub capacity: f64,
    /// How often it counts: 1 for all where the links are one cut through the network.
    pub count: f64,
}

impl std::fmt::Display for Infeasible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let flows: Vec<_> = self.flows.iter().map(|(n, r)| format!("`{n}` ({r})")).collect();
        let links: Vec<_> = self
            .links
            .iter()
            .map(|l| {
                let times = if l.count == 1.0 {
                    String::new()
                } else {
                    format!(", counted {} times", digits(l.count))
                };
                format!("`{}` ({}{times})", l.name, l.capacity)
            })
            .collect();
        let [rate, whose] = if flows.len() == 1 { ["rate", "flow"] } else { ["rates", "flows"] };
        let where_to = if links.len() == 1 { "link" } else { "links" };
        write!(
            f,
            "the minimum {rate} of {whose} {} need {} of {where_to} {}, which can carry {}: at most {} % of \
             every minimum rate can be had",
            list(&flows),
            digits(self.needed),
            list(&links),
            digits(self.available),
            digits(100.0 * self.part)
        )
    }
}

/// Names, of which a message shows only the first few.
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

/// The proof, if the minimum rates do not fit. `scaled` is the problem with rates in units of `unit`.
///
/// A linear program: the largest t such that every flow can have t times its minimum rate. Its
/// multipliers are a length for every link, under which the minimum rates' shortest paths are longer than
/// the capacities allow.
pub(crate) fn find(problem: &Problem, scaled: &Problem, program: &Program) -> Option<Infeasible> {
    let minimum = |g: &Group| {
        (problem.flows[g.members[0].0].min_rate > 0.0).then(|| g.limits[0].or(g.limits[1])).flatten()
    };
    let minima: Vec<usize> = program.groups.iter().filter_map(minimum).collect();
    if minima.is_empty() {
        return None;
    }
    let mut conic = Conic::default();
    for _ in 0..program.reach.len() {
        conic.variable(0.0);
    }
    let part = conic.variable(-1.0);
    let links = scaled.links.len();
    for row in &program.rows[..links] {
        conic.row(row.entries.iter().copied(), row.bound);
    }
    for row in minima.into_iter().map(|r| &program.rows[r]) {
        conic.row(row.entries.iter().map(|&(p, c)| (p, -c.abs())).chain([(part, row.bound.abs())]), 0.0);
    }
    // More than all of them is not asked for.
    conic.row([(part, 1.0)], 2.0);
    for p in 0..program.reach.len() {
        conic.row([(p, -1.0)], 0.0);
    }
    conic.close_nonnegative();
    let answer = conic.solve();
    let part = answer.v[part];
    if !answer.solved || part >= 1.0 - 1e-7 {
        return None;
    }
    let lengths = &answer.multipliers[..links];
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    // The multipliers of a cut are equal but for the solver's tolerance.
    let count = |l: usize| (1e6 * lengths[l] / longest).round() / 1e6;
    let narrow: Vec<_> = (0..links).filter(|&l| count(l) > 1e-5).collect();
    let mut flows = Vec::new();
    let mut needed = 0.0;
    for (i, flow) in problem.flows.iter().enumerate().filter(|(_, f)| f.min_rate > 0.0) {
        let length = |links: &Vec<usize>| links.iter().map(|&l| count(l)).sum::<f64>();
        let shortest = flow.paths.iter().map(|p| length(&p.links)).fold(f64::INFINITY, f64::min);
        if shortest > 1e-5 {
            flows.push((i, flow.min_rate));
            needed += shortest * flow.min_rate;
        }
    }
    Some(Infeasible {
        part,
        available: narrow.iter().map(|&l| count(l) * problem.links[l].capacity).sum(),
        links: narrow
            .iter()
            .map(|&l| Narrow {
                name: problem.links[l].name.clone(),
                capacity: problem.links[l].capacity,
                count: count(l),
            })
            .collect(),
        flows: flows.into_iter().map(|(i, r)| (problem.flows[i].name.clone(), r)).collect(),
        needed,
    })
}
