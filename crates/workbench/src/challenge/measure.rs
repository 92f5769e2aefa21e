//! The number of each goal, from an experiment's text alone: what was found can be measured again from its file.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::{Table, Value};
use tresse_experiment::Profile;

use super::goal::{Goal, Kind};
use super::text::{CANDIDATE, SAMPLES};
use super::trial::{Flow, Seen, Trial};
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// A controller whose claim is the sum of log x over the flows' whole rates, with the same weight for all: its optimum
/// is proportionally fair.
const PROPORTIONAL: &str = "wvegas";

/// How far from an optimum its solver may stop.
const TOLERANCE: f64 = 1e-6;

/// The second half of a run, in intervals.
const STEADY: Range<usize> = SAMPLES as usize / 2..SAMPLES as usize;

/// The proportionally fair rates of flows by their hosts, bit/s on the wire.
type Rates = BTreeMap<[u32; 2], f64>;

/// The experiment of a condition.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name in messages.
    pub name: String,
    /// The file.
    pub text: String,
}

impl Experiment {
    /// The values of these goals under a seed; `None` for one that has no value here.
    ///
    /// # Errors
    /// If the experiment is wrong, or a run of it does not end.
    pub fn measure(
        &self,
        goals: &[&Goal],
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Vec<Option<f64>>, Failure> {
        self.measure_by(goals, seed, &|trial| trial.run(seed, interrupt))
    }

    /// The same, where `run` makes the runs.
    ///
    /// # Errors
    /// If the experiment is wrong, and those of `run`.
    pub fn measure_by(
        &self,
        goals: &[&Goal],
        seed: u64,
        run: &dyn Fn(&Trial) -> Result<Seen, Failure>,
    ) -> Result<Vec<Option<f64>>, Failure> {
        let seen = run(&Trial::new(&self.name, self.text.clone())?)?;
        let needs = |kind| matches!(kind, Kind::Starvation | Kind::Unfairness | Kind::Waste);
        let fair = match goals.iter().any(|goal| needs(goal.kind)) {
            true => self.fair_rates(seed)?,
            false => Rates::new(),
        };
        let value = |goal: &&Goal| match goal.kind {
            Kind::Harm(scheme) => self.harm(&seen, scheme, run),
            kind => self.value(kind, &seen, &fair),
        };
        let values: Vec<Option<f64>> = goals.iter().map(value).collect::<Result<_, _>>()?;
        Ok(values.into_iter().map(|value| value.map(|value| value.clamp(0.0, 1.0))).collect())
    }

    /// The same experiment with another controller in the candidate's scheme.
    ///
    /// # Errors
    /// If it is no experiment.
    pub fn instead(&self, controller: &str) -> Result<Self, Failure> {
        let mut tables = self.tables()?;
        replace(&mut tables, |scheme| scheme == CANDIDATE, controller);
        Ok(Self { name: format!("{} with {controller}", self.name), text: tables.to_string() })
    }

    fn tables(&self) -> Result<Table, Failure> {
        toml::from_str(&self.text).map_err(|e| Failure::Input(format!("{}: {e}", self.name)))
    }

    fn value(&self, kind: Kind, seen: &Seen, fair: &Rates) -> Result<Option<f64>, Failure> {
        let own: Vec<&Flow> = seen.flows.iter().filter(|flow| !flow.is_cross).collect();
        // On the wire, as fair rates are.
        let sent = |flow: &Flow| rate(flow, STEADY, seen.interval) / seen.payload;
        let share = |flow: &&Flow| Some(sent(flow) / fair.get(&flow.hosts)?);
        let shares = || own.iter().map(share).collect::<Option<Vec<f64>>>();
        Ok(match kind {
            Kind::Starvation => shares().map(|all| 1.0 - all.into_iter().fold(1.0, f64::min)),
            Kind::Unfairness => shares().and_then(|all| unfairness(&all)),
            Kind::Waste => {
                let carried: f64 = own.iter().map(|flow| sent(flow)).sum();
                Some(1.0 - carried / fair.values().sum::<f64>())
            }
            Kind::Oscillation => mean(own.iter().map(|flow| spread(&total(flow)).min(1.0))),
            Kind::Queue => {
                let longest = seen.queues.iter().map(|queue| standing(queue)).max().unwrap_or(0);
                let [mark, buffer] = [self.packets("mark")?, self.packets("queue")?];
                Some((longest as f64 - mark) / (buffer - mark).max(1.0))
            }
            Kind::Recovery => recovery(seen),
            Kind::Incast => Some(incast(&own, seen.payload)),
            Kind::Flapping => mean(own.iter().filter_map(|flow| flapping(&flow.arrived))),
            Kind::Distance => {
                let apart = |flow: &&Flow| {
                    let (rate, best) = (rate(flow, STEADY, seen.interval), flow.optimum? as f64);
                    Some((rate - best).abs() / rate.max(best))
                };
                own.iter().map(apart).collect::<Option<Vec<f64>>>().and_then(|all| mean(all.into_iter()))
            }
            Kind::Harm(_) => unreachable!("it needs a second run"),
        })
    }

    /// The rates that would be proportionally fair for all its flows, if they were there from the start and nothing
    /// failed or got lost.
    fn fair_rates(&self, seed: u64) -> Result<Rates, Failure> {
        let mut tables = self.tables()?;
        replace(&mut tables, |_| true, PROPORTIONAL);
        tables.remove("changes");
        if let Some(fabric) = tables.get_mut("fabric").and_then(Value::as_table_mut) {
            fabric.remove("loss");
        }
        for (_, workload) in tables.get_mut("workloads").and_then(Value::as_table_mut).into_iter().flatten() {
            for flow in workload.get_mut("flow").and_then(Value::as_array_mut).into_iter().flatten() {
                flow.as_table_mut().and_then(|flow| flow.remove("start"));
            }
        }
        let trial = Trial::new(&self.name, tables.to_string())?;
        let report = tresse_lab::optimum(&trial.loaded, &trial.plan, Profile::Quick, seed, 1, &|| ());
        let told = |why: &str| Failure::Machine(format!("{}: its fair rates: {why}", self.name));
        let case = report.cases.first().ok_or_else(|| told("there is no case"))?;
        let solved = case
            .optimum
            .as_ref()
            .ok_or_else(|| told(case.no_optimum.as_deref().unwrap_or("there is no optimum")))?;
        if solved.kkt_residual > TOLERANCE {
            return Err(told("they were not found"));
        }
        Ok(solved.rates.iter().map(|own| ([own.from, own.to], own.optimum_bps.iter().sum())).collect())
    }

    /// What the flows beside the controller lose by it.
    fn harm(
        &self,
        seen: &Seen,
        scheme: &str,
        run: &dyn Fn(&Trial) -> Result<Seen, Failure>,
    ) -> Result<Option<f64>, Failure> {
        let mut tables = self.tables()?;
        replace(&mut tables, |own| own == CANDIDATE, scheme);
        if let Some(own) = tables.get_mut("schemes").and_then(|schemes| schemes.get_mut(CANDIDATE)) {
            own.as_table_mut().and_then(|own| own.insert("subflows".to_owned(), 1.into()));
        }
        let alone = run(&Trial::new(&self.name, tables.to_string())?)?;
        let of = |seen: &Seen| {
            let beside = seen.flows.iter().filter(|flow| flow.is_cross);
            beside.map(|flow| rate(flow, STEADY, seen.interval)).sum::<f64>()
        };
        let usual = of(&alone);
        Ok((usual > 0.0).then(|| 1.0 - of(seen) / usual))
    }

    /// A length of `[fabric]`, packets.
    fn packets(&self, key: &str) -> Result<f64, Failure> {
        let tables = self.tables()?;
        let text = tables.get("fabric").and_then(|fabric| fabric.get(key)).and_then(Value::as_str);
        let number = text.and_then(|text| text.strip_suffix("pkt")).and_then(|text| text.parse().ok());
        number.ok_or_else(|| Failure::Input(format!("{}: `fabric.{key}` is no number of packets", self.name)))
    }
}

/// Gives the schemes that are `wanted` another controller, without the parameters of their own.
fn replace(tables: &mut Table, wanted: impl Fn(&str) -> bool, controller: &str) {
    let schemes = tables.get_mut("schemes").and_then(Value::as_table_mut).into_iter().flatten();
    for (_, scheme) in schemes.filter(|(name, _)| wanted(name)) {
        let Some(scheme) = scheme.as_table_mut() else { continue };
        for own in ["parameters", "echo"] {
            scheme.remove(own);
        }
        scheme.insert("controller".to_owned(), controller.into());
    }
}

/// What arrived of a flow in each interval, bytes.
fn total(flow: &Flow) -> Vec<u64> {
    let longest = flow.arrived.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).map(|at| flow.arrived.iter().filter_map(|own| own.get(at)).sum()).collect()
}

/// The goodput of a flow in some intervals, bit/s.
fn rate(flow: &Flow, range: Range<usize>, interval: u64) -> f64 {
    let bytes: u64 = total(flow).iter().skip(range.start).take(range.len()).sum();
    bytes as f64 * 8.0 * tresse_units::SECOND as f64 / (interval * range.len().max(1) as u64) as f64
}

/// The standard deviation of a flow's rate over its mean, in the second half of the run; of one that has none, 0.
fn spread(arrived: &[u64]) -> f64 {
    let own: Vec<f64> = STEADY.map(|at| arrived.get(at).copied().unwrap_or(0) as f64).collect();
    let mean = own.iter().sum::<f64>() / own.len() as f64;
    if mean == 0.0 {
        return 0.0;
    }
    let variance = own.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / own.len() as f64;
    variance.sqrt() / mean
}

/// The length that a queue exceeds or has for nine tenths of the second half of the run.
fn standing(queue: &[u64]) -> u64 {
    let mut own: Vec<u64> = STEADY.map(|at| queue.get(at).copied().unwrap_or(0)).collect();
    own.sort_unstable();
    own[own.len() / 10]
}

/// 1 minus Jain's index over the largest value that it can have; `None` for a single flow.
fn unfairness(shares: &[f64]) -> Option<f64> {
    let n = shares.len() as f64;
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if shares.len() < 2 || squares == 0.0 {
        return None;
    }
    let sum: f64 = shares.iter().sum();
    Some((1.0 - sum * sum / (n * squares)) / (1.0 - 1.0 / n))
}

/// The mean share of a flow's traffic that is on other paths than in the interval before; `None` with one path.
fn flapping(arrived: &[Vec<u64>]) -> Option<f64> {
    if arrived.len() < 2 {
        return None;
    }
    let shares: Vec<Vec<f64>> = STEADY
        .filter_map(|at| {
            let own: Vec<u64> = arrived.iter().map(|path| path.get(at).copied().unwrap_or(0)).collect();
            let sum: u64 = own.iter().sum();
            (sum > 0).then(|| own.iter().map(|&bytes| bytes as f64 / sum as f64).collect())
        })
        .collect();
    let moved = |two: &[Vec<f64>]| two[0].iter().zip(&two[1]).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0;
    mean(shares.windows(2).map(moved))
}

/// What a link carries less, from the last change on, than before the first one, in the direction of the data.
fn recovery(seen: &Seen) -> Option<f64> {
    let [first, last] = seen.changes?.map(|at| (at / seen.interval) as usize);
    let of = |busy: &[u64], range: Range<usize>| {
        let intervals = range.len().max(1) as f64;
        busy.iter().skip(range.start).take(range.len()).sum::<u64>() as f64 / intervals
    };
    let both =
        seen.changed_busy.iter().map(|busy| [of(busy, first / 2..first), of(busy, last..SAMPLES as usize)]);
    let [before, after] = both.max_by(|a, b| a[0].total_cmp(&b[0]))?;
    (before > 0.0).then(|| 1.0 - after / before)
}

/// The mean over the rounds of an incast.
fn incast(flows: &[&Flow], payload: f64) -> f64 {
    let mut rounds: BTreeMap<u64, Vec<&Flow>> = BTreeMap::new();
    for flow in flows {
        rounds.entry(flow.round).or_default().push(flow);
    }
    let lost = |flows: &Vec<&Flow>| {
        let bytes: u64 = flows.iter().filter_map(|flow| flow.size).sum();
        let needs = bytes as f64 / payload * 8.0 * tresse_units::SECOND as f64;
        let start = flows.iter().map(|flow| flow.start).min().unwrap_or(0);
        let ends: Option<Vec<u64>> = flows.iter().map(|flow| flow.end).collect();
        let took = ends.and_then(|ends| ends.into_iter().max()).map(|end| end - start);
        took.map_or(1.0, |took| 1.0 - needs / flows[0].receiver_bps as f64 / took as f64)
    };
    rounds.values().map(lost).sum::<f64>() / rounds.len().max(1) as f64
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(arrived: Vec<Vec<u64>>) -> Flow {
        Flow {
            hosts: [0, 1],
            is_cross: false,
            round: 0,
            size: None,
            start: 0,
            end: None,
            receiver_bps: 1_000_000_000,
            optimum: None,
            arrived,
        }
    }

    /// What arrives in the second half of a run, over and over.
    fn again(bytes: &[u64]) -> Vec<u64> {
        (0..SAMPLES as usize).map(|at| bytes[at % bytes.len()]).collect()
    }

    #[test]
    fn a_flow_that_stands_still_half_of_the_time_varies_by_its_mean() {
        assert_eq!(spread(&again(&[100])), 0.0);
        // 13 intervals of 25 with 200 bytes: mean 104, and sd sqrt(13/25 - (13/25)^2) times 200.
        assert!((spread(&again(&[0, 200])) - 0.960_768_922_8).abs() < 1e-9);
    }

    #[test]
    fn all_traffic_that_jumps_is_1_and_traffic_that_stays_is_0() {
        let jumps = [again(&[100, 0]), again(&[0, 100])];
        assert_eq!(flapping(&jumps), Some(1.0));
        assert_eq!(flapping(&[again(&[100]), again(&[300])]), Some(0.0));
        assert_eq!(flapping(&jumps[..1]), None);
    }

    #[test]
    fn one_flow_with_everything_is_as_unfair_as_can_be() {
        assert_eq!(unfairness(&[1.0, 0.0, 0.0]), Some(1.0));
        assert_eq!(unfairness(&[0.5, 0.5]), Some(0.0));
        assert_eq!(unfairness(&[1.0]), None);
    }

    #[test]
    fn a_rate_is_of_all_paths_and_a_queue_stands_where_it_rarely_is_below() {
        let two = flow(vec![again(&[1000]), again(&[250])]);
        // 1250 bytes each ms.
        assert_eq!(rate(&two, STEADY, 1_000_000_000), 10_000_000.0);
        assert_eq!(standing(&again(&[7, 9, 8])), 7);
        assert_eq!(standing(&[]), 0);
    }

    #[test]
    fn an_incast_that_does_not_end_is_1() {
        let mut own = flow(Vec::new());
        own.size = Some(125_000);
        assert_eq!(incast(&[&own], 1.0), 1.0);
        own.end = Some(4_000_000_000); // 4 ms for what needs 1
        assert_eq!(incast(&[&own], 1.0), 0.75);
    }

    #[test]
    fn a_link_that_carries_half_of_what_it_did_has_lost_half() {
        let busy: Vec<u64> = (0..SAMPLES).map(|at| [4, 0, 2][(at / 20).min(2) as usize]).collect();
        let changes = Some([20_000, 40_000]);
        // The other direction has the ACKs.
        let changed_busy = vec![vec![1; SAMPLES as usize], busy];
        let seen = Seen {
            flows: Vec::new(),
            queues: Vec::new(),
            changes,
            changed_busy,
            interval: 1000,
            payload: 1.0,
        };
        assert_eq!(recovery(&seen), Some(0.5));
    }
}
