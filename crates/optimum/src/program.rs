//! The problem as the solvers see it: rows A x ≤ h over the rates of all paths, and terms whose utilities are
//! added. Flows with the same paths, utility and limits form one group: by symmetry and concavity they have
//! the same rates.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::problem::{Bounded, Flow, Pooling, Problem};
use crate::utility::Utility;

/// Σ coefficient x ≤ bound, or = bound. Links first, by index, then the groups' limits.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub entries: Vec<(usize, f64)>,
    pub bound: f64,
    pub equal: bool,
}

/// count weight U(Σ coefficient x).
#[derive(Debug, Clone)]
pub(crate) struct Term {
    pub utility: Utility,
    pub count: f64,
    pub weight: f64,
    pub parts: Vec<(usize, f64)>,
}

/// A group of equal flows.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Every flow, and which of its paths are the group's first, second, …
    pub members: Vec<(usize, Vec<usize>)>,
    /// The index of its first path among all; the number of paths is in `members`.
    pub first: usize,
    /// The rows of its minimum and its maximum rate, or of those of each path; only the second row if the two
    /// are equal.
    pub limits: Vec<[Option<usize>; 2]>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub rows: Vec<Row>,
    /// How many of the rows are links.
    pub links: usize,
    pub terms: Vec<Term>,
    pub groups: Vec<Group>,
    /// For each path the most that one flow of its group may send on it: the scale of its rate.
    pub reach: Vec<f64>,
}

/// What two flows must have in common to be in one group; the paths as sorted lists of links.
type Key = (Vec<(Vec<usize>, u64, String)>, Pooling, [u64; 3], bool);

impl Program {
    pub(crate) fn new(problem: &Problem) -> Self {
        let mut same: BTreeMap<Key, Vec<(usize, Vec<usize>)>> = BTreeMap::new();
        for (i, flow) in problem.flows.iter().enumerate() {
            let (key, order) = key(flow);
            same.entry(key).or_default().push((i, order));
        }
        let mut program = Self {
            rows: problem
                .links
                .iter()
                .map(|l| Row { entries: Vec::new(), bound: l.capacity, equal: false })
                .collect(),
            links: problem.links.len(),
            ..Self::default()
        };
        for members in same.into_values() {
            let (flow, order) = (&problem.flows[members[0].0], members[0].1.clone());
            program.add(problem, flow, &order, members);
        }
        program
    }

    fn add(&mut self, problem: &Problem, flow: &Flow, order: &[usize], members: Vec<(usize, Vec<usize>)>) {
        let count = members.len() as f64;
        let first = self.reach.len();
        for (j, &p) in order.iter().enumerate() {
            let links = &flow.paths[p].links;
            for &l in links {
                self.rows[l].entries.push((first + j, count));
            }
            let narrowest = links.iter().map(|&l| problem.links[l].capacity).fold(f64::INFINITY, f64::min);
            self.reach.push(narrowest.min(flow.max_rate) / count);
        }
        let paths = order.iter().enumerate().map(|(j, &p)| (first + j, &flow.paths[p]));
        match flow.pooling {
            Pooling::Pooled => self.terms.push(Term {
                utility: flow.utility,
                count,
                weight: flow.weight,
                parts: paths.map(|(p, path)| (p, path.coefficient)).collect(),
            }),
            Pooling::Separate => self.terms.extend(paths.map(|(p, path)| Term {
                utility: flow.utility_of(path),
                count,
                weight: flow.weight * path.coefficient,
                parts: vec![(p, 1.0)],
            })),
        }
        // Rates between equal limits have no interior.
        let equal = flow.min_rate == flow.max_rate;
        let mut limit = |paths: &Range<usize>, sign: f64, bound: f64| {
            let entries = paths.clone().map(|p| (p, sign * count)).collect();
            self.rows.push(Row { entries, bound: sign * bound * count, equal });
            self.rows.len() - 1
        };
        let all = first..first + order.len();
        let bounded: Vec<Range<usize>> = match flow.bounded {
            Bounded::Total => vec![all],
            Bounded::EachPath => all.map(|p| p..p + 1).collect(),
        };
        let limits = bounded.iter().map(|paths| {
            let least = (flow.min_rate > 0.0 && !equal).then(|| limit(paths, -1.0, flow.min_rate));
            let most = flow.max_rate.is_finite().then(|| limit(paths, 1.0, flow.max_rate));
            [least, most]
        });
        let limits = limits.collect();
        self.groups.push(Group { members, first, limits });
    }

    /// The prices of every flow's limits, from the rows' prices: above 0 at a maximum, below 0 at a minimum.
    pub(crate) fn limit_prices(&self, problem: &Problem, y: &[f64]) -> Vec<Vec<f64>> {
        let mut all = vec![Vec::new(); problem.flows.len()];
        let price = |limit: Option<usize>| limit.map_or(0.0, |row| y[row]);
        for group in &self.groups {
            let prices: Vec<f64> =
                group.limits.iter().map(|[least, most]| price(*most) - price(*least)).collect();
            for (flow, order) in &group.members {
                all[*flow] = match problem.flows[*flow].bounded {
                    Bounded::Total => prices.clone(),
                    Bounded::EachPath => in_order(&prices, order),
                };
            }
        }
        all
    }

    /// The rates of every flow's paths, from the rates by group.
    pub(crate) fn spread(&self, x: &[f64], flows: usize) -> Vec<Vec<f64>> {
        let mut rates = vec![Vec::new(); flows];
        for group in &self.groups {
            for (flow, order) in &group.members {
                rates[*flow] = in_order(&x[group.first..], order);
            }
        }
        rates
    }
}

/// The values of a group's paths, in the order of the flow's paths.
fn in_order(of_group: &[f64], order: &[usize]) -> Vec<f64> {
    let mut own = vec![0.0; order.len()];
    order.iter().zip(of_group).for_each(|(&p, value)| own[p] = *value);
    own
}

impl Row {
    pub(crate) fn used(&self, x: &[f64]) -> f64 {
        self.entries.iter().map(|&(p, c)| c * x[p]).sum()
    }
}

impl Term {
    pub(crate) fn argument(&self, x: &[f64]) -> f64 {
        self.parts.iter().map(|&(p, c)| c * x[p]).sum()
    }
}

fn key(flow: &Flow) -> (Key, Vec<usize>) {
    let mut paths: Vec<_> = flow
        .paths
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let mut links = p.links.clone();
            links.sort_unstable();
            ((links, p.coefficient.to_bits(), format!("{:?}", flow.utility_of(p))), i)
        })
        .collect();
    paths.sort();
    let order = paths.iter().map(|&(_, i)| i).collect();
    let numbers = [flow.weight, flow.min_rate, flow.max_rate].map(f64::to_bits);
    let by_path = flow.bounded == Bounded::EachPath;
    ((paths.into_iter().map(|(p, _)| p).collect(), flow.pooling, numbers, by_path), order)
}
