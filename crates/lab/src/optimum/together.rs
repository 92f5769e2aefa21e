//! The optimum while flows of one set end: a step function of time.

use tresse_experiment::plan::Case;
use tresse_optimum::problem::Problem;
use tresse_optimum::solve::{OptimumError, solve};
use tresse_units::Time;

use super::beside::{MOST_PATHS, why_none};
use super::round::{Round, shortest_paths};
use super::schemes;
use crate::link_events::Links;
use tresse_results::record::flow::Begun;

/// The optimal goodputs of those flows of a set that have not ended, integrated over time.
///
/// Each set of flows that is active for some time is solved once: at most as many solutions as flows.
#[derive(Debug)]
pub(crate) struct Together {
    /// A link that is down has no capacity.
    problem: Problem,
    /// The ports that the problem's links are.
    ports: Vec<u32>,
    /// By flow: its goodput over its rate on the wire.
    payloads: Vec<f64>,
    /// By flow: whether it is still there.
    there: Vec<bool>,
    /// By flow: its optimal goodput among those that are active, bit/s; unknown since the last one ended.
    goodput: Option<Vec<f64>>,
    /// The time up to which `area` counts.
    now: Time,
    /// By flow: the integral of its optimal goodput, bit/s times ps.
    area: Vec<f64>,
}

/// The flows of the largest set that is followed. A solution's cost grows faster than the flows squared, and
/// there is one for each: beyond, they would take many times as long as the simulation.
const MOST_FLOWS: usize = 256;

impl Together {
    /// Of `begun`, which are all that are active from `now` on; `None` if some controller claims no utility,
    /// or they have no common price, are more than 256, or may take too many paths.
    pub fn of(case: &Case, seed: u64, begun: &[Begun], now: Time, links: &Links) -> Option<Self> {
        let paths = shortest_paths(case, begun) as usize;
        if begun.len() > MOST_FLOWS || paths > MOST_PATHS || schemes::no_paths(case, begun).is_some() {
            return None;
        }
        let round = Round::new(case, seed, begun);
        if why_none(&round).is_some() {
            return None;
        }
        let mut steps = Self::new(round.problem()?, round.ports.clone(), round.payloads().collect(), now);
        steps.set_capacities(links);
        Some(steps)
    }

    fn new(problem: Problem, ports: Vec<u32>, payloads: Vec<f64>, now: Time) -> Self {
        let flows = problem.flows.len();
        Self {
            problem,
            ports,
            payloads,
            there: vec![true; flows],
            goodput: None,
            now,
            area: vec![0.0; flows],
        }
    }

    /// Flow `flow` ends at `now`, which is no earlier than any time before.
    ///
    /// # Errors
    /// What [`solve`] says about the flows that were active.
    pub fn end(&mut self, flow: usize, now: Time) -> Result<(), OptimumError> {
        self.advance(now)?;
        self.there[flow] = false;
        self.goodput = None;
        Ok(())
    }

    /// The links are other ones from `now` on, which is no earlier than any time before.
    ///
    /// # Errors
    /// What [`solve`] says about the flows that were active.
    pub fn change(&mut self, now: Time, links: &Links) -> Result<(), OptimumError> {
        self.advance(now)?;
        self.set_capacities(links);
        self.goodput = None;
        Ok(())
    }

    fn set_capacities(&mut self, links: &Links) {
        for (link, &port) in self.problem.links.iter_mut().zip(&self.ports) {
            link.capacity = links.capacity(port) as f64;
        }
    }

    /// By flow: the integral of its optimal goodput since the last call, or the start, until `now`, bit/s
    /// times ps.
    ///
    /// # Errors
    /// What [`solve`] says about the flows that are active.
    pub fn take(&mut self, now: Time) -> Result<Vec<f64>, OptimumError> {
        self.advance(now)?;
        let none = vec![0.0; self.area.len()];
        Ok(std::mem::replace(&mut self.area, none))
    }

    fn advance(&mut self, now: Time) -> Result<(), OptimumError> {
        if now == self.now {
            return Ok(()); // flows that end together are one change
        }
        let goodput = match self.goodput.take() {
            Some(goodput) => goodput,
            None => self.solve()?,
        };
        let time = (now - self.now) as f64;
        self.area.iter_mut().zip(&goodput).for_each(|(area, x)| *area += x * time);
        self.goodput = Some(goodput);
        self.now = now;
        Ok(())
    }

    /// By flow: its optimal goodput among those that are active; 0 for the others. Paths over a
    /// link that is down are left out, and so are flows that have no other.
    fn solve(&self) -> Result<Vec<f64>, OptimumError> {
        let mut problem = self.problem.clone();
        let up: Vec<bool> = problem.links.iter().map(|l| l.capacity > 0.0).collect();
        // The solver wants every link to have some; on these there is no path.
        problem.links.iter_mut().zip(&up).filter(|(_, up)| !**up).for_each(|(link, _)| link.capacity = 1.0);
        let (mut flows, mut served) = (Vec::new(), Vec::new());
        for (mut flow, &there) in problem.flows.into_iter().zip(&self.there) {
            flow.paths.retain(|path| there && path.links.iter().all(|&l| up[l]));
            served.push(!flow.paths.is_empty());
            flows.extend(Some(flow).filter(|flow| !flow.paths.is_empty()));
        }
        let optimum = solve(&Problem { links: problem.links, flows })?;
        let mut totals = optimum.totals.into_iter();
        let mut total = || totals.next().expect("a total for each flow");
        let goodput = |(served, payload): (bool, &f64)| if served { total() * payload } else { 0.0 };
        Ok(served.into_iter().zip(&self.payloads).map(goodput).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tresse_optimum::problem::Flow;
    use tresse_optimum::utility::Utility;

    use super::*;
    use crate::setup;
    use tresse_experiment::{Plan, Profile, find, load, resolve};

    /// The flows of the first round.
    fn of(plan: &Plan, links: &Links) -> Option<Together> {
        let case = &plan.cases[0];
        Together::of(case, 1, &setup::first(case, 1), 0, links)
    }

    /// Three flows on a link of 90 bit/s, which proportional fairness divides evenly.
    fn three() -> Together {
        let mut problem = Problem::default();
        let link = problem.link("one", 90.0);
        let flow = |name: &str| Flow::new(name, Utility::AlphaFair { alpha: 1.0 }, [vec![link]]);
        problem.flows = ["a", "b", "c"].map(flow).to_vec();
        Together::new(problem, vec![0], vec![0.5; 3], 100)
    }

    fn near(got: &[f64], wanted: [f64; 3]) -> bool {
        got.iter().zip(wanted).all(|(g, w)| (g - w).abs() < 1e-6 * w.max(1.0))
    }

    #[test]
    fn each_end_is_a_step_and_an_interval_is_weighed_by_its_parts() {
        let mut steps = three();
        let goodput = |of: u64| 90.0 / of as f64 * 0.5;
        // Nobody ends: 30 bit/s each, on the wire.
        assert!(near(&steps.take(110).expect("a sound problem"), [10.0 * goodput(3); 3]));
        // c ends after 4 of 10, b after 9.
        steps.end(2, 114).expect("a sound problem");
        steps.end(1, 119).expect("a sound problem");
        let (three, two, one) = (4.0 * goodput(3), 5.0 * goodput(2), goodput(1));
        let got = steps.take(120).expect("a sound problem");
        assert!(near(&got, [three + two + one, three + two, three]), "{got:?}");
        // Who has ended takes nothing, and who is alone takes all.
        assert!(near(&steps.take(130).expect("a sound problem"), [10.0 * goodput(1), 0.0, 0.0]));
        steps.end(0, 131).expect("a sound problem");
        assert!(near(&steps.take(140).expect("a sound problem"), [goodput(1), 0.0, 0.0]));
    }

    #[test]
    fn flows_that_end_together_are_one_step() {
        let mut steps = three();
        steps.end(2, 105).expect("a sound problem");
        steps.end(0, 105).expect("a sound problem");
        let got = steps.take(107).expect("a sound problem");
        assert!(near(&got, [5.0 * 15.0, 5.0 * 15.0 + 2.0 * 45.0, 5.0 * 15.0]), "{got:?}");
    }

    #[test]
    fn large_sets_and_controllers_without_a_claim_are_left_out() {
        let followed = |k: u32, scheme: &str| {
            let settings = [format!("fabric.k={k}")];
            let loaded =
                load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
            let plan = resolve(&loaded, &[format!("scheme={scheme}")]).expect("valid");
            of(&plan, &Links::new(plan.fabric(), &[])).is_some()
        };
        assert!(followed(10, "xmp") && followed(4, "xmp"));
        assert!(!followed(12, "xmp") && !followed(4, "dctcp"));
    }

    /// Two hosts that send to each other over two spines: XMP fills what there is of them both.
    #[test]
    fn links_that_change_are_steps_too() {
        let change = |at: &str, what: &str| {
            format!("[[changes]]\nat = \"{at}\"\nlink = [\"leaf 0\", \"spine 0\"]\n{what}\n")
        };
        let table = find("xmp/table1").expect("built in").text;
        let (table, _) = table.split_once("[workloads.random]").expect("its second pattern");
        let text = table
            .replace("topology = \"fat-tree\"", "topology = \"leaf-spine\"")
            .replace("k = 8 ", "leaves = 2\nspines = 2\nhosts_per_leaf = 1\n")
            .replace("rate = \"1Gbps\"", "rate = { rack = \"4Gbps\", spine = \"1Gbps\" }")
            .replace("aggregation = \"30us\", core =", "spine =")
            .replace("distinct = \"core\"", "")
            .replace("subflows = [2, 4]", "subflows = 2")
            + &change("1ms", "rate = \"500Mbps\"")
            + &change("2ms", "failed = true")
            + &change("3ms", "failed = false");
        let source = tresse_experiment::Source { name: "t".to_owned(), text };
        let loaded = load(source, Profile::Full, &[]).expect("valid");
        let plan = resolve(&loaded, &["scheme=xmp".to_owned(), "subflows=2".to_owned()]).expect("valid");
        let mut world = setup::world(&plan.cases[0], 1, 1);
        let mut links = Links::new(plan.fabric(), &plan.cases[0].setting.changes);
        let mut steps = of(&plan, &links).expect("XMP claims an optimum");
        for wanted in [2e9, 1.5e9, 1e9, 1.5e9] {
            let from = world.now();
            let until = links.next().unwrap_or(from + 1_000_000_000);
            world.advance(until, u64::MAX);
            let got = steps.take(until).expect("an optimum");
            let rates: Vec<f64> = got.iter().map(|x| x / (until - from) as f64 / 1460.0 * 1500.0).collect();
            assert!(rates.iter().all(|x| (x / wanted - 1.0).abs() < 1e-6), "{rates:?}, not {wanted}");
            if links.apply(&mut world) {
                steps.change(until, &links).expect("an optimum");
            }
        }
    }

    /// The order in which the 16 flows of a round end.
    fn orders() -> impl Strategy<Value = Vec<usize>> {
        Just((0..16).collect()).prop_shuffle()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Whoever ends leaves room: those that stay can keep what they had, so that their total utility
        /// does not fall. And no host sends or receives more than its link carries.
        #[test]
        fn an_end_costs_the_others_nothing(order in orders(), subflows in prop::sample::select(vec![2, 4])) {
            let only = ["scheme=xmp".to_owned(), format!("subflows={subflows}")];
            let settings = ["fabric.k=4".to_owned()];
            let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
            let plan = resolve(&loaded, &only).expect("valid");
            let case = &plan.cases[0];
            let round = Round::new(case, 1, &setup::first(case, 1));
            let flows = round.problem().expect("XMP has a utility").flows;
            let payloads: Vec<f64> = round.payloads().collect();
            let rate = |f: usize, goodput: f64| goodput / payloads[f];
            let links = Links::new(plan.fabric(), &[]);
            let mut steps = of(&plan, &links).expect("XMP claims an optimum");
            let mut before = steps.take(1).expect("an optimum");
            for (ended, now) in order.into_iter().zip(1..) {
                steps.end(ended, now).expect("an optimum");
                let after = steps.take(now + 1).expect("an optimum");
                let utility = |goodput: &[f64]| -> f64 {
                    let there = (0..flows.len()).filter(|&f| after[f] > 0.0);
                    there.map(|f| flows[f].utility.value(rate(f, goodput[f]))).sum()
                };
                let (old, new) = (utility(&before), utility(&after));
                // To the accuracy of a solution.
                prop_assert!(new >= old - 1e-7 * old.abs(), "{old} to {new}");
                prop_assert!(after[ended] == 0.0 && before[ended] > 0.0);
                prop_assert!(after.iter().enumerate().all(|(f, &x)| rate(f, x) <= 1e9 * (1.0 + 1e-6)));
                before = after;
            }
            prop_assert_eq!(before, vec![0.0; 16]);
        }
    }
}
