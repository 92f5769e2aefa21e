//! Windows of time: what flows got in them, added up from the samples during the run.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use tresse_experiment::plan::windows::Window;
use tresse_units::{Time, seconds};

use crate::metric::fairness::jain;
use tresse_results::record::metric::Metric;
use tresse_results::record::results::{Metrics, WindowGroup, WindowResult};
use tresse_results::record::sample::Sample;

/// The data of a run's windows.
#[derive(Debug)]
pub(crate) struct Windows<'a>(Vec<Sums<'a>>);

impl<'a> Windows<'a> {
    /// At the start of a run with this many groups of flows.
    pub fn new(windows: &'a [Window], groups: usize) -> Self {
        let sums = |window| Sums { window, flows: BTreeMap::new(), groups: vec![Group::Empty; groups] };
        Self(windows.iter().map(sums).collect())
    }

    /// Adds the samples of an interval; the subflows of a flow follow one another.
    pub fn add(&mut self, samples: &[Sample]) {
        for sums in &mut self.0 {
            let Window { from, to, .. } = *sums.window;
            for own in samples.chunk_by(|a, b| a.flow == b.flow) {
                // Those of a flow have the same interval. It counts as far as it lies in the window.
                let (start, end) = (own[0].start, own[0].start + own[0].duration);
                let overlap = end.min(to).saturating_sub(start.max(from));
                if overlap > 0 {
                    sums.add(own, seconds(overlap));
                }
            }
        }
    }

    /// What flows got in them; `end` is when the run ended, ps, and `groups` are the names of its
    /// groups. Windows in which no flow was active are left out.
    pub fn finish(self, end: Time, groups: &[String]) -> IndexMap<String, WindowResult> {
        let seen = self.0.into_iter().filter(|sums| !sums.flows.is_empty());
        seen.map(|sums| (sums.window.name.clone(), sums.finish(end, groups))).collect()
    }
}

/// A window and its sums.
#[derive(Debug)]
struct Sums<'a> {
    window: &'a Window,
    /// By part and name: the group, and what the flow got.
    flows: BTreeMap<(usize, u64), (usize, Sum)>,
    groups: Vec<Group>,
}

/// A group of flows; subflows are only reported for a group with a single flow.
#[derive(Debug, Clone)]
enum Group {
    Empty,
    One((usize, u64), Vec<Sum>),
    Several,
}

impl Sums<'_> {
    /// Adds the subflows of a flow in an interval; `overlap` is the part of the interval in the window, s.
    fn add(&mut self, own: &[Sample], overlap: f64) {
        let flow = (own[0].flow.part, own[0].flow.start.name);
        let place = own[0].flow.member.group;
        let (_, sum) = self.flows.entry(flow).or_insert((place, Sum::default()));
        sum.add_rate(own.iter().map(|s| s.bytes).sum(), own[0].duration, overlap);
        own.iter().for_each(|s| sum.add_state(s, overlap));
        let group = &mut self.groups[place];
        match group {
            Group::Empty => *group = Group::One(flow, Vec::new()),
            Group::One(one, _) if *one != flow => *group = Group::Several,
            Group::One(..) | Group::Several => {}
        }
        if let Group::One(_, subflows) = group {
            for s in own {
                let place = s.subflow as usize;
                subflows.resize(subflows.len().max(place + 1), Sum::default());
                subflows[place].add_rate(s.bytes, s.duration, overlap);
                subflows[place].add_state(s, overlap);
            }
        }
    }

    fn finish(self, end: Time, groups: &[String]) -> WindowResult {
        let Window { from, to, .. } = *self.window;
        let length = seconds(to.min(end) - from);
        let of_group = |(place, name): (usize, &String)| {
            let flows = || self.flows.values().filter(|(group, _)| *group == place).map(|(_, sum)| sum);
            flows().next()?;
            let subflows = match &self.groups[place] {
                Group::One(_, subflows) => {
                    subflows.iter().map(|s| metrics([s].into_iter(), length)).collect()
                }
                Group::Empty | Group::Several => Vec::new(),
            };
            Some((name.clone(), WindowGroup { metrics: metrics(flows(), length), subflows }))
        };
        let named = groups.iter().enumerate().filter(|(_, name)| !name.is_empty());
        WindowResult {
            metrics: metrics(self.flows.values().map(|(_, sum)| sum), length),
            groups: named.filter_map(of_group).collect(),
        }
    }
}

/// What a flow or a subflow got, added up over the time in which it was active.
#[derive(Debug, Clone, Default)]
struct Sum {
    /// s.
    time: f64,
    bits: f64,
    /// The sum of the squares of the rates in the intervals, (bit/s)^2 s.
    squares: f64,
    /// Packets times s, and the time in which there was a window, s.
    cwnd: [f64; 2],
    /// Seconds times s, and the time in which there was an RTT, s.
    srtt: [f64; 2],
}

impl Sum {
    /// Adds this many bytes in an interval of `duration`, ps, of which `overlap`, s, counts.
    fn add_rate(&mut self, bytes: u64, duration: Time, overlap: f64) {
        let rate = 8.0 * bytes as f64 / seconds(duration);
        self.time += overlap;
        self.bits += rate * overlap;
        self.squares += rate * rate * overlap;
    }

    fn add_state(&mut self, sample: &Sample, overlap: f64) {
        let weigh = |sum: &mut [f64; 2], value: f64| {
            sum[0] += value * overlap;
            sum[1] += overlap;
        };
        if sample.state.is_some() {
            weigh(&mut self.cwnd, sample.cwnd.into());
        }
        if let Some(srtt) = sample.srtt {
            weigh(&mut self.srtt, seconds(srtt));
        }
    }

    fn rate(&self) -> f64 {
        self.bits / self.time
    }

    /// The standard deviation over time of the rate, over its mean; none if that is 0.
    fn deviation(&self) -> Option<f64> {
        let mean = self.rate();
        // Rounding may make a constant rate's variance negative.
        (mean > 0.0).then(|| (self.squares / self.time - mean * mean).max(0.0).sqrt() / mean)
    }
}

/// The metrics of flows, at least one, or of a subflow; `length` is that of the window, s.
fn metrics<'a>(flows: impl Iterator<Item = &'a Sum>, length: f64) -> Metrics {
    let flows: Vec<&Sum> = flows.filter(|flow| flow.time > 0.0).collect();
    let mean =
        |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let weighted = |sum: fn(&Sum) -> [f64; 2]| {
        let all = flows.iter().map(|flow| sum(flow)).fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
        (all[1] > 0.0).then(|| all[0] / all[1])
    };
    let rates: Vec<f64> = flows.iter().map(|flow| flow.rate()).collect();
    let values = [
        ("goodput_mean_bps", mean(rates.clone())),
        (
            "goodput_total_bps",
            (length > 0.0).then(|| flows.iter().map(|flow| flow.bits).sum::<f64>() / length),
        ),
        ("goodput_min_bps", rates.iter().copied().reduce(f64::min)),
        ("goodput_max_bps", rates.iter().copied().reduce(f64::max)),
        ("jain_ratio", jain(rates.iter().copied())),
        ("goodput_sd_ratio", mean(flows.iter().filter_map(|flow| flow.deviation()).collect())),
        ("cwnd_mean_pkts", weighted(|sum| sum.cwnd)),
        ("srtt_mean_s", weighted(|sum| sum.srtt)),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Metric::Real(value?)))).collect()
}

/// The mean over seeds of each metric of each window, over those that have it.
pub(crate) fn mean(seeds: &[&IndexMap<String, WindowResult>]) -> IndexMap<String, WindowResult> {
    by_name(seeds, |windows| WindowResult {
        metrics: mean_metrics(windows.iter().map(|window| &window.metrics)),
        groups: by_name(&windows.iter().map(|window| &window.groups).collect::<Vec<_>>(), |groups| {
            let most = groups.iter().map(|group| group.subflows.len()).max().unwrap_or(0);
            let subflow = |place| mean_metrics(groups.iter().filter_map(|group| group.subflows.get(place)));
            WindowGroup {
                metrics: mean_metrics(groups.iter().map(|group| &group.metrics)),
                subflows: (0..most).map(subflow).collect(),
            }
        }),
    })
}

/// The result of `of` for all values of a name.
fn by_name<T, U>(maps: &[&IndexMap<String, T>], of: impl Fn(Vec<&T>) -> U) -> IndexMap<String, U> {
    let mut named: IndexMap<&String, Vec<&T>> = IndexMap::new();
    for (name, value) in maps.iter().copied().flatten() {
        named.entry(name).or_default().push(value);
    }
    named.into_iter().map(|(name, values)| (name.clone(), of(values))).collect()
}

fn mean_metrics<'a>(all: impl Iterator<Item = &'a Metrics>) -> Metrics {
    by_name(&all.collect::<Vec<_>>(), |values| {
        Metric::Real(values.iter().map(|value| value.value()).sum::<f64>() / values.len() as f64)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tresse_controllers::State;
    use tresse_experiment::schema::metrics::WINDOW_METRICS;
    use tresse_units::MILLISECOND;
    use tresse_workload::Start;

    use super::*;
    use tresse_experiment::plan::parts::Member;
    use tresse_results::record::flow::Begun;

    fn window(name: &str, from: u64, to: u64) -> Window {
        Window { name: name.to_owned(), from: from * MILLISECOND, to: to * MILLISECOND }
    }

    /// What a subflow of a flow of a group got: the start and the length, ms, and the bytes.
    fn sample(flow: u64, group: usize, subflow: u32, [start, duration, bytes]: [u64; 3]) -> Sample {
        let start_of = Start { name: flow, from: 0, to: 1, bytes: None, round: 0, job: None, deadline: None };
        Sample {
            flow: Begun { part: 0, member: Member { bound_scheme: 0, group }, start: start_of },
            subflow,
            start: start * MILLISECOND,
            duration: duration * MILLISECOND,
            bytes,
            cwnd: 10,
            srtt: Some(MILLISECOND),
            state: Some(State::Open),
            marks: 0,
            retransmissions: 0,
            timeouts: 0,
            optimum: None,
        }
    }

    fn finished(windows: &[Window], intervals: &[&[Sample]], end: u64) -> IndexMap<String, WindowResult> {
        let groups = ["one".to_owned(), "two".to_owned()];
        let mut sums = Windows::new(windows, groups.len());
        intervals.iter().for_each(|samples| sums.add(samples));
        sums.finish(end * MILLISECOND, &groups)
    }

    fn value(metrics: &Metrics, name: &str) -> f64 {
        metrics[name].value()
    }

    #[test]
    fn intervals_count_as_far_as_they_lie_in_the_window() {
        // 100 ms each; 1000 B are 80 kbit/s. The window has half of the first one and a quarter of the third.
        let all = [[0, 100, 1000], [100, 100, 3000], [200, 100, 0]].map(|of| [sample(7, 0, 0, of)]);
        let intervals: Vec<&[Sample]> = all.iter().map(|one| &one[..]).collect();
        let windows = [window("w", 50, 225), window("none", 300, 400), window("rest", 200, 1000)];
        let found = finished(&windows, &intervals, 300);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["w", "rest"]);
        let metrics = &found["w"].metrics;
        let mean = (80_000.0 * 0.05 + 240_000.0 * 0.1) / 0.175;
        assert!((value(metrics, "goodput_mean_bps") - mean).abs() < 1e-6);
        assert!((value(metrics, "goodput_total_bps") - mean).abs() < 1e-6);
        let variance: f64 = [(80_000.0, 0.05), (240_000.0, 0.1), (0.0, 0.025)]
            .map(|(rate, time): (f64, f64)| (rate - mean) * (rate - mean) * time)
            .iter()
            .sum::<f64>()
            / 0.175;
        assert!((value(metrics, "goodput_sd_ratio") - variance.sqrt() / mean).abs() < 1e-9);
        // It was there until 300 ms, and got nothing: no ratio to a mean of 0, and nothing to share.
        let rest = &found["rest"].metrics;
        assert_eq!(value(rest, "goodput_total_bps"), 0.0);
        assert!(!rest.contains_key("goodput_sd_ratio") && !rest.contains_key("jain_ratio"));
    }

    #[test]
    fn flows_count_for_the_time_in_which_they_are_there() {
        // Two subflows at 80 kbit/s each all the time, a flow at 320 kbit/s for a quarter of it.
        let first = [sample(1, 0, 0, [0, 100, 1000]), sample(1, 0, 1, [0, 100, 1000])];
        let both = [first[0], first[1], sample(2, 1, 0, [75, 25, 1000])];
        let found = finished(&[window("w", 0, 100)], &[&both], 100);
        let found = &found["w"];
        let of = |name| value(&found.metrics, name);
        assert_eq!([of("goodput_min_bps"), of("goodput_max_bps")], [160_000.0, 320_000.0]);
        assert_eq!([of("goodput_mean_bps"), of("goodput_total_bps")], [240_000.0, 240_000.0]);
        assert_eq!(of("jain_ratio"), 0.9, "(1 + 2)^2 / (2 (1 + 4))");
        assert_eq!([of("cwnd_mean_pkts"), of("srtt_mean_s")], [10.0, 0.001]);
        assert_eq!(of("goodput_sd_ratio"), 0.0);
        assert!(found.metrics.keys().eq(WINDOW_METRICS.iter().map(|row| row.name)), "one for each row");
        let [one, two] = ["one", "two"].map(|name| &found.groups[name]);
        assert_eq!((one.subflows.len(), two.subflows.len()), (2, 1));
        assert_eq!(value(&one.subflows[1], "goodput_mean_bps"), 80_000.0);
        assert_eq!(value(&two.metrics, "goodput_total_bps"), 80_000.0, "1000 B in all of the window");
    }

    #[test]
    fn subflows_are_told_of_groups_that_are_one_flow() {
        let found = finished(
            &[window("w", 0, 200)],
            &[&[sample(1, 0, 0, [0, 100, 1000])], &[sample(2, 0, 0, [100, 100, 1000])]],
            200,
        );
        let one = &found["w"].groups["one"];
        assert!(one.subflows.is_empty() && found["w"].groups.len() == 1);
        assert_eq!(value(&one.metrics, "goodput_mean_bps"), 80_000.0);
    }

    #[test]
    fn closed_subflows_have_neither_window_nor_rtt() {
        let closed = Sample { cwnd: 0, srtt: None, state: None, ..sample(1, 0, 1, [0, 100, 500]) };
        let found = finished(&[window("w", 0, 100)], &[&[sample(1, 0, 0, [0, 100, 500]), closed]], 100);
        let metrics = &found["w"].metrics;
        assert_eq!([value(metrics, "cwnd_mean_pkts"), value(metrics, "srtt_mean_s")], [10.0, 0.001]);
    }

    #[test]
    fn of_several_seeds_it_is_the_mean_of_those_that_have_it() {
        let of = |bytes| finished(&[window("w", 0, 100)], &[&[sample(1, 0, 0, [0, 100, bytes])]], 100);
        let found = mean(&[&of(1000), &of(0), &IndexMap::new()]);
        let (all, one) = (&found["w"].metrics, &found["w"].groups["one"]);
        for metrics in [all, &one.metrics, &one.subflows[0]] {
            assert_eq!(value(metrics, "goodput_mean_bps"), 40_000.0);
            assert_eq!(value(metrics, "jain_ratio"), 1.0, "where there is none it does not count");
        }
    }

    proptest! {
        /// Windows that divide a run share out what it carried, whatever the intervals.
        #[test]
        fn windows_side_by_side_add_up(cut in 1u64..999, bytes in proptest::collection::vec(0u64..1_000_000, 10)) {
            let all: Vec<[Sample; 1]> =
                (0..).zip(&bytes).map(|(i, &b)| [sample(1, 0, 0, [100 * i, 100, b])]).collect();
            let intervals: Vec<&[Sample]> = all.iter().map(|one| &one[..]).collect();
            let found = finished(&[window("a", 0, cut), window("b", cut, 1000)], &intervals, 1000);
            let carried = |name: &str, ms: u64| {
                found[name].metrics["goodput_total_bps"].value() * seconds(ms * MILLISECOND) / 8.0
            };
            let sum = bytes.iter().sum::<u64>() as f64;
            prop_assert!((carried("a", cut) + carried("b", 1000 - cut) - sum).abs() <= 1e-9 * sum.max(1.0));
        }
    }
}
