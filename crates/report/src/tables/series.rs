//! Samples of subflows and of ports, sorted into series: one after the other, each in the order of time, so that
//! the page can draw slices of its columns.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::build::PageTable;
use tresse_results::store::read::RunTable;

/// The maximum number of rows of a page's table of samples. More rows are merged, because a page must open at once.
pub const MOST: usize = 1_200_000;

/// The rows of a table by series, each in the order of time.
struct Series {
    /// Rows, series by series.
    order: Vec<u32>,
    /// Where each series begins in `order`, and the end.
    starts: Vec<usize>,
}

impl Series {
    /// `keys` are the columns that distinguish series, `start` is when a row's interval began.
    fn new<const N: usize>(keys: [&[u64]; N], start: &[u64]) -> Self {
        let mut places: BTreeMap<[u64; N], u32> = BTreeMap::new();
        let mut series = Vec::with_capacity(start.len());
        for row in 0..start.len() {
            let next = places.len() as u32;
            series.push(*places.entry(keys.map(|column| column[row])).or_insert(next));
        }
        // Series in the order of their keys, which is that of cases, seeds and flows.
        let mut rank = vec![0; places.len()];
        places.values().enumerate().for_each(|(n, &place)| rank[place as usize] = n as u32);
        let mut order: Vec<u32> = (0..start.len() as u32).collect();
        order.sort_by_key(|&row| (rank[series[row as usize] as usize], start[row as usize]));
        let of = |row: &u32| series[*row as usize];
        let begins = |i: &usize| *i == 0 || of(&order[*i]) != of(&order[*i - 1]);
        let mut starts: Vec<usize> = (0..order.len()).filter(begins).collect();
        starts.push(order.len());
        Self { order, starts }
    }

    /// The rows of each series.
    fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.order[ends[0]..ends[1]])
    }

    /// Groups of rows of one series that become one row: of at most `together` intervals.
    fn merged(&self, together: usize, start: &[u64], duration: &[u64]) -> Vec<Vec<&[u32]>> {
        let of_series = |rows: &'_ [u32]| -> Vec<(usize, usize)> {
            // The case's sampling interval. A flow's last row is shorter.
            let interval = rows.iter().map(|&row| duration[row as usize]).max().unwrap_or(0);
            let span = interval.max(1) * together as u64;
            let slot = |row: u32| start[row as usize] / span;
            let (mut groups, mut first) = (Vec::new(), 0);
            for i in 1..=rows.len() {
                if i == rows.len() || together == 1 || slot(rows[i]) != slot(rows[first]) {
                    groups.push((first, i));
                    first = i;
                }
            }
            groups
        };
        self.each().map(|rows| of_series(rows).into_iter().map(|(a, b)| &rows[a..b]).collect()).collect()
    }

    /// As many rows as a page may have: if necessary, each covers several intervals, and some series are left out.
    fn fitting(&self, most: usize, start: &[u64], duration: &[u64]) -> Fitting<'_> {
        let mut together = self.order.len().div_ceil(most).max(1);
        let mut series = self.merged(together, start, duration);
        let rows = |series: &[Vec<&[u32]>]| series.iter().map(Vec::len).sum::<usize>();
        // Rows of different series are never merged: each series has at least one.
        while rows(&series) > most && rows(&series) > series.len() {
            together *= 2;
            series = self.merged(together, start, duration);
        }
        let all = series.len();
        let one_in = rows(&series).div_ceil(most).max(1);
        let series: Vec<_> = series.into_iter().step_by(one_in).collect();
        Fitting { left_out: all - series.len(), series, together }
    }
}

/// The part of the samples that fits into a page.
struct Fitting<'a> {
    /// By series: the rows that become one.
    series: Vec<Vec<&'a [u32]>>,
    /// The maximum number of intervals of a row.
    together: usize,
    /// Series that are not in the page.
    left_out: usize,
}

impl Fitting<'_> {
    /// What the page says if it does not have every row; `how` says how rows were merged.
    fn thinned(&self, how: &str) -> Option<String> {
        let merged = (self.together > 1)
            .then(|| format!("a row of the page stands for up to {} intervals: {how}", self.together));
        let left_out = (self.left_out > 0).then(|| format!("{} series are left out", self.left_out));
        let said: Vec<String> = merged.into_iter().chain(left_out).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// Columns that are the same for all rows of a series.
struct Heads<'a> {
    table: PageTable,
    firsts: Vec<usize>,
    cases: &'a [u32],
}

impl<'a> Heads<'a> {
    fn new(fitting: &Fitting, all: usize, cases: &'a [u32]) -> Self {
        let firsts: Vec<usize> = fitting.series.iter().map(|groups| groups[0][0] as usize).collect();
        let lengths: Vec<usize> = fitting.series.iter().map(Vec::len).collect();
        let mut heads = Self { table: PageTable::default(), firsts, cases };
        heads.table.rows_of_run = all;
        heads.table.integers(("case", "", "the index of the case"), heads.firsts.iter().map(|&f| cases[f]));
        let ends = lengths.iter().scan(0, |end, length| {
            *end += *length as u32;
            Some(*end - *length as u32)
        });
        let offsets: Vec<u32> = ends.collect();
        heads.table.integers(("offset", "", "its first row of samples"), offsets);
        heads.table.integers(("rows", "", "its rows of samples"), lengths.iter().map(|&n| n as u32));
        heads
    }

    fn numbers(&mut self, run: &RunTable, name: &str, meaning: &str) -> Result<(), String> {
        debug_assert_eq!(self.cases.len(), run.rows.num_rows());
        let values = run.values(name)?;
        self.table.doubles((name, "", meaning), self.firsts.iter().map(|&first| Some(values[first] as f64)));
        Ok(())
    }

    fn words(&mut self, run: &RunTable, name: &str, meaning: &str) -> Result<(), String> {
        let (codes, words) = run.words(name)?;
        self.table.words((name, "", meaning), self.firsts.iter().map(|&first| Some(codes[first])), &words);
        Ok(())
    }
}

fn widen(values: &[u32]) -> Vec<u64> {
    values.iter().map(|&value| value.into()).collect()
}

/// The samples of subflows, and the series that they make up; `paths` are the paths of subflows, if there are some.
///
/// # Errors
/// If a column is missing.
pub fn subflows(
    run: &RunTable,
    cases: &[u32],
    paths: Option<(&RunTable, &[u32])>,
) -> Result<[PageTable; 2], String> {
    let (start, duration) = (run.values("start_ps")?, run.values("duration_ps")?);
    let case = widen(cases);
    let (group, _) = run.words("group")?;
    let group = widen(&group);
    let [seed, round, flow, subflow] = ["seed", "round", "flow", "subflow"].map(|name| run.values(name));
    let (seed, round, flow, subflow) = (seed?, round?, flow?, subflow?);
    let keys = [&case[..], &seed, &round, &group, &flow, &subflow];
    let series = Series::new(keys, &start);
    let fitting = series.fitting(MOST, &start, &duration);
    let mut heads = Heads::new(&fitting, series.each().count(), cases);
    for (name, meaning) in [("seed", "the seed"), ("round", "the round of the pattern, from 0")] {
        heads.numbers(run, name, meaning)?;
    }
    heads.words(run, "group", "the group of its flow")?;
    for (name, meaning) in [
        ("flow", "its flow"),
        ("from", "the sending host"),
        ("to", "the receiving host"),
        ("subflow", "the subflow of this flow, from 0"),
    ] {
        heads.numbers(run, name, meaning)?;
    }
    let known = paths.map(|(paths, cases)| Paths::new(paths, cases)).transpose()?;
    let (group_codes, groups) = run.words("group")?;
    let path = |&first: &usize| {
        let group = groups[group_codes[first] as usize].clone();
        let named = (cases[first], seed[first], round[first], group, flow[first], subflow[first]);
        known.as_ref()?.0.get(&named).cloned()
    };
    let found: Vec<Option<String>> = heads.firsts.iter().map(path).collect();
    if known.is_some() {
        let words: IndexSet<&str> = found.iter().flatten().map(String::as_str).collect();
        let code = |path: &Option<String>| Some(words.get_index_of(path.as_deref()?)? as u32);
        let codes: Vec<Option<u32>> = found.iter().map(code).collect();
        let words: Vec<String> = words.iter().map(|&path| path.to_owned()).collect();
        let about = ("path", "", "the ports on the path of its data, as last seen");
        heads.table.words(about, codes, &words);
    }

    Ok([heads.table, samples_of_subflows(run, &fitting, [&start, &duration])?])
}

/// The samples of subflows, of which each group of `fitting` becomes a row.
fn samples_of_subflows(
    run: &RunTable,
    fitting: &Fitting<'_>,
    [start, duration]: [&[u64]; 2],
) -> Result<PageTable, String> {
    let groups: Vec<&[u32]> = fitting.series.iter().flatten().copied().collect();
    let mut samples = PageTable::of(start.len());
    samples.thinned = fitting.thinned("rates are means; windows, RTTs and states are those at the end");
    let first = |rows: &&[u32]| start[rows[0] as usize];
    let last = |rows: &[u32]| rows[rows.len() - 1] as usize;
    let sum = |values: &[u64], rows: &[u32]| rows.iter().map(|&row| values[row as usize]).sum::<u64>();
    samples.deltas(("start_ps", "ps", "when the interval began"), groups.iter().map(first));
    let span = |rows: &&[u32]| Some(sum(duration, rows) as f64);
    samples.doubles(("duration_ps", "ps", "its length"), groups.iter().map(span));
    let bytes = run.values("arrived_bytes")?;
    let arrived = |rows: &&[u32]| Some(sum(&bytes, rows) as f64);
    samples.doubles(
        ("arrived_bytes", "bytes", "payload that arrived on this subflow"),
        groups.iter().map(arrived),
    );
    let cwnd = run.values("cwnd_pkts")?;
    let window = |rows: &&[u32]| cwnd[last(rows)] as u32;
    samples.integers(("cwnd_pkts", "packets", "the congestion window at the end"), groups.iter().map(window));
    let srtt: Vec<Option<u64>> = run.numbers("srtt_ps")?.iter().collect();
    let rtt = |rows: &&[u32]| srtt[last(rows)].map(|value| value as f64);
    samples.doubles(("srtt_ps", "ps", "the smoothed RTT at the end"), groups.iter().map(rtt));
    let (states, names) = run.words("state")?;
    let state = |rows: &&[u32]| Some(states[last(rows)]);
    samples.words(("state", "", "the sender's state at the end"), groups.iter().map(state), &names);
    let optimum: Vec<Option<u64>> = run.numbers("flow_optimum_bps")?.iter().collect();
    let mean = |rows: &&[u32]| {
        let area = |&row: &u32| Some(optimum[row as usize]? as f64 * duration[row as usize] as f64);
        let sum: Option<f64> = rows.iter().map(area).sum();
        Some(sum? / span(rows)?)
    };
    let meaning = "the optimal goodput of the whole flow, the mean over this time";
    samples.doubles(("flow_optimum_bps", "bit/s", meaning), groups.iter().map(mean));
    // Runs of an earlier version have none of these.
    for (name, unit, meaning) in [
        ("marks", "packets", "CE marks that were echoed to the sender"),
        ("retransmissions", "packets", "segments that were retransmitted"),
        ("timeouts", "", "retransmission timeouts"),
    ] {
        if let Ok(values) = run.values(name) {
            samples.doubles((name, unit, meaning), groups.iter().map(|rows| Some(sum(&values, rows) as f64)));
        }
    }
    Ok(samples)
}

/// The last path that was seen of each subflow.
struct Paths(BTreeMap<Named, String>);

/// A subflow: case, seed, round, group, flow, number.
type Named = (u32, u64, u64, String, u64, u64);

impl Paths {
    fn new(run: &RunTable, cases: &[u32]) -> Result<Self, String> {
        let [seed, round, flow, subflow] = ["seed", "round", "flow", "subflow"].map(|name| run.values(name));
        let (seed, round, flow, subflow) = (seed?, round?, flow?, subflow?);
        let ((groups, group), (paths, path)) = (run.words("group")?, run.words("path")?);
        let named = |row: usize| {
            let group = group[groups[row] as usize].clone();
            (cases[row], seed[row], round[row], group, flow[row], subflow[row])
        };
        // Rows come in the order of time: a later path takes the place of an earlier one.
        Ok(Self((0..seed.len()).map(|row| (named(row), path[paths[row] as usize].clone())).collect()))
    }
}

/// The samples of ports, and the series that they make up.
///
/// # Errors
/// If a column is missing.
pub fn ports(run: &RunTable, cases: &[u32]) -> Result<[PageTable; 2], String> {
    let (start, duration) = (run.values("start_ps")?, run.values("duration_ps")?);
    let case = widen(cases);
    let (seed, round, port) = (run.values("seed")?, run.values("round")?, run.values("port")?);
    let series = Series::new([&case, &seed, &round, &port], &start);
    let fitting = series.fitting(MOST, &start, &duration);
    let mut heads = Heads::new(&fitting, series.each().count(), cases);
    for (name, meaning) in
        [("seed", "the seed"), ("round", "the round of the pattern, from 0"), ("port", "the output port")]
    {
        heads.numbers(run, name, meaning)?;
    }
    heads.words(run, "layer", "the name of its layer")?;

    let groups: Vec<&[u32]> = fitting.series.iter().flatten().copied().collect();
    let mut samples = PageTable::of(start.len());
    samples.thinned = fitting.thinned("the queue is the longest one at the ends of the intervals");
    let sum = |values: &[u64], rows: &[u32]| rows.iter().map(|&row| values[row as usize]).sum::<u64>();
    let first = |rows: &&[u32]| start[rows[0] as usize];
    samples.deltas(("start_ps", "ps", "when the interval began"), groups.iter().map(first));
    // Intervals in between in which the port did nothing have no row.
    let span = |rows: &&[u32]| {
        let last = rows[rows.len() - 1] as usize;
        Some((start[last] + duration[last] - start[rows[0] as usize]) as f64)
    };
    samples.doubles(("duration_ps", "ps", "its length"), groups.iter().map(span));
    let busy = run.values("busy_ps")?;
    let sending = |rows: &&[u32]| Some(sum(&busy, rows) as f64);
    samples.doubles(("busy_ps", "ps", "how long it was sending"), groups.iter().map(sending));
    let waiting = run.values("waiting_pkts")?;
    let most = |rows: &&[u32]| rows.iter().map(|&row| waiting[row as usize]).max().unwrap_or(0) as u32;
    let meaning = "its queue at the end, without the packet in transmission";
    samples.integers(("waiting_pkts", "packets", meaning), groups.iter().map(most));
    for (name, meaning) in [("drops", "packets that it dropped or lost"), ("marks", "packets that it marked")]
    {
        if let Ok(values) = run.values(name) {
            let all = groups.iter().map(|rows| Some(sum(&values, rows) as f64));
            samples.doubles((name, "packets", meaning), all);
        }
    }
    if let Ok(shares) = run.numbers("share_ppm") {
        let shares: Vec<Option<u64>> = shares.iter().collect();
        let last = |rows: &&[u32]| shares[rows[rows.len() - 1] as usize].map(|share| share as f64);
        if shares.iter().any(Option::is_some) {
            let meaning = "its share of its switch's traffic at the end, the mean over destinations";
            samples.doubles(("share_ppm", "millionths", meaning), groups.iter().map(last));
        }
    }
    Ok([heads.table, samples])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_into_series_by_time() {
        let (flow, start) = ([2, 1, 2, 1], [0, 0, 10, 10]);
        let series = Series::new([&flow], &start);
        let rows: Vec<&[u32]> = series.each().collect();
        assert_eq!(rows, [&[1, 3][..], &[0, 2]]);
    }

    #[test]
    fn merged_rows_are_of_one_stretch_of_time_and_of_one_series() {
        // A port that did nothing from 30 to 60 has no rows there; another case has intervals of 100.
        let start = [0, 10, 20, 60, 70, 0, 100];
        let duration = [10, 10, 10, 10, 5, 100, 100];
        let port = [0, 0, 0, 0, 0, 1, 1];
        let series = Series::new([&port], &start);
        let rows: Vec<Vec<&[u32]>> = vec![vec![&[0, 1], &[2], &[3, 4]], vec![&[5, 6]]];
        assert_eq!(series.merged(2, &start, &duration), rows);
        let all: usize = series.merged(1, &start, &duration).iter().map(Vec::len).sum();
        assert_eq!(all, start.len(), "nothing is merged where nothing need be");
    }

    #[test]
    fn what_is_in_a_page_fits() {
        // Ten series of a hundred intervals.
        let flow: Vec<u64> = (0..1000).map(|row| row / 100).collect();
        let start: Vec<u64> = (0..1000).map(|row| row % 100).collect();
        let duration = [1; 1000];
        let series = Series::new([&flow], &start);
        for (most, left_out) in [(1000, 0), (500, 0), (300, 0), (10, 0), (5, 5)] {
            let fitting = series.fitting(most, &start, &duration);
            let rows: usize = fitting.series.iter().map(Vec::len).sum();
            assert!(rows <= most, "{rows} of {most}");
            assert_eq!(
                (fitting.left_out, fitting.thinned("how").is_some()),
                (left_out, most < 1000),
                "{most}"
            );
        }
    }
}
