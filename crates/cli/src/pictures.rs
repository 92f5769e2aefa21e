//! `tresse run --plot`: small braille charts in the terminal: how a quantity of the flows is distributed under each
//! scheme, and rates over time if there are samples.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use indexmap::IndexMap;
use tresse_results::Report;
use tresse_results::store::read::{RunTable, read};

use crate::chart::{Axis, Chart};
use crate::width::of_stdout;

/// The columns of a chart if the terminal does not say how many it has.
const WIDTH: usize = 100;
/// The maximum number of charts; the page has all of them.
const CHARTS: usize = 6;
/// The maximum number of lines in a chart.
const LINES: usize = 8;

/// A chart: a line for each series.
struct Picture {
    title: String,
    x: String,
    y: String,
    /// x is the base-10 logarithm of what the axis shows.
    is_log: bool,
    lines: IndexMap<String, Vec<(f64, f64)>>,
    /// The number of lines for which there is no room.
    left_out: usize,
}

/// Writes the charts of the run in `folder`.
pub fn show(report: &Report, folder: &Path, out: &mut impl Write) -> io::Result<()> {
    let tables = [read(folder, "flows"), read(folder, "samples")];
    let [flows, samples] = tables.map(|table| table.map_err(io::Error::other));
    let mut pictures = match flows? {
        Some(flows) => distributions(report, &flows).map_err(io::Error::other)?,
        None => Vec::new(),
    };
    if let Some(samples) = samples? {
        // Samples are taken to see what changes over time: that comes first.
        pictures.splice(0..0, rates(&samples).map_err(io::Error::other)?);
    }
    let left = pictures.len().saturating_sub(CHARTS);
    for picture in pictures.iter().take(CHARTS) {
        write!(out, "\n{}", picture.draw(of_stdout().unwrap_or(WIDTH)))?;
    }
    if left > 0 {
        writeln!(out, "\n{left} more charts: `tresse report {}` writes a page with all of them", report.out)?;
    }
    Ok(())
}

/// The axes of a row other than the scheme, as the title of its chart, and its scheme with the number of subflows.
fn named(table: &RunTable) -> Result<Vec<(String, String)>, String> {
    let schema = table.schema();
    let axes = schema.fields().iter().map(|field| field.name().as_str()).take_while(|name| *name != "seed");
    let others: Vec<&str> = axes.filter(|name| !["scheme", "subflows"].contains(name)).collect();
    let (schemes, names) = table.words("scheme")?;
    let subflows = table.numbers("subflows")?;
    let columns: Vec<(Vec<u32>, Vec<String>)> =
        others.iter().map(|axis| table.words(axis)).collect::<Result<_, _>>()?;
    let row = |row: usize| {
        let values = columns.iter().map(|(codes, words)| &*words[codes[row] as usize]);
        let values: Vec<&str> = values.filter(|value| !value.is_empty()).collect(); // an axis may not concern a case
        let mut scheme = names[schemes[row] as usize].clone();
        if let Some(n) = subflows.iter().nth(row).flatten() {
            let _ = write!(scheme, "-{n}");
        }
        (values.join(" "), scheme)
    };
    // Rows of one case follow each other: each name is made once.
    let code = |at: usize| {
        let own: Vec<u32> = columns.iter().map(|(codes, _)| codes[at]).collect();
        (own, schemes[at], subflows.values()[at])
    };
    let mut known = BTreeMap::new();
    Ok((0..schemes.len()).map(|at| known.entry(code(at)).or_insert_with(|| row(at)).clone()).collect())
}

/// The distribution of the flows' goodput, or of their slowdown if they come one by one.
fn distributions(report: &Report, flows: &RunTable) -> Result<Vec<Picture>, String> {
    let is_of_arrivals = report.cases.first().is_some_and(|case| case.arrivals);
    let values: Vec<Option<f64>> = if is_of_arrivals {
        let ideal = flows.numbers("ideal_ps")?;
        let end = flows.numbers("end_ps")?;
        let lasted = flows.values("lasted_ps")?;
        let slowdown = |((ideal, end), lasted): ((Option<u64>, Option<u64>), u64)| {
            end?;
            ideal.filter(|ideal| *ideal > 0).map(|ideal| (lasted as f64 / ideal as f64).max(1.0).log10())
        };
        ideal.iter().zip(end.iter()).zip(lasted).map(slowdown).collect()
    } else {
        flows.values("goodput_bps")?.into_iter().map(|rate| Some(rate as f64 / 1e6)).collect()
    };
    let mut charts: IndexMap<String, IndexMap<String, Vec<f64>>> = IndexMap::new();
    for ((title, scheme), value) in named(flows)?.into_iter().zip(values) {
        charts.entry(title).or_default().entry(scheme).or_default().extend(value);
    }
    let picture = |(title, schemes): (String, IndexMap<String, Vec<f64>>)| Picture {
        title,
        x: if is_of_arrivals { "slowdown of the flows" } else { "goodput of the flows, Mbit/s" }.to_owned(),
        y: "share".to_owned(),
        is_log: is_of_arrivals,
        left_out: schemes.len().saturating_sub(LINES),
        lines: schemes.into_iter().take(LINES).map(|(name, values)| (name, distribution(values))).collect(),
    };
    Ok(charts.into_iter().map(picture).collect())
}

/// The points of a cumulative distribution, at most as many as a terminal can show.
fn distribution(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let step = (n / 400).max(1);
    // A step at each value that is drawn.
    let ends = |i: usize| [(values[i], i as f64 / n as f64), (values[i], (i + 1) as f64 / n as f64)];
    (0..n).step_by(step).chain(n.checked_sub(1)).flat_map(ends).collect()
}

/// The rates of the groups of flows over time under the first seed, one chart for each case.
fn rates(samples: &RunTable) -> Result<Vec<Picture>, String> {
    let (groups, names) = samples.words("group")?;
    let [seed, round, start, duration, bytes, flow] =
        ["seed", "round", "start_ps", "duration_ps", "arrived_bytes", "flow"]
            .map(|name| samples.values(name));
    let (seed, round, start, duration, bytes, flow) = (seed?, round?, start?, duration?, bytes?, flow?);
    let first = seed.iter().copied().min().unwrap_or(0);
    let whole = duration.iter().copied().max().unwrap_or(0);
    let mut charts: IndexMap<String, IndexMap<String, BTreeMap<u64, f64>>> = IndexMap::new();
    for (row, (title, scheme)) in named(samples)?.into_iter().enumerate() {
        if seed[row] != first || round[row] != 0 || whole == 0 {
            continue;
        }
        let group = &names[groups[row] as usize];
        let line = if group.is_empty() { format!("flow {}", flow[row]) } else { group.clone() };
        // Over the whole interval: one in which a flow begins or ends has as many bytes as it has.
        let rate = bytes[row] as f64 * 8e6 / whole as f64;
        let chart = charts.entry(format!("{scheme} {title}")).or_default();
        *chart.entry(line).or_default().entry(start[row] / whole).or_default() += rate;
    }
    let picture = |(title, groups): (String, IndexMap<String, BTreeMap<u64, f64>>)| Picture {
        title,
        x: "time, s".to_owned(),
        y: "Mbit/s".to_owned(),
        is_log: false,
        left_out: groups.len().saturating_sub(LINES),
        lines: groups
            .into_iter()
            .take(LINES)
            .map(|(name, points)| (name, over_time(&points, whole)))
            .collect(),
    };
    Ok(charts.into_iter().map(picture).collect())
}

impl Picture {
    /// As lines of text, `width` columns wide.
    fn draw(&self, width: usize) -> String {
        let points = || self.lines.values().flatten();
        let span = |of: fn(&(f64, f64)) -> f64| {
            points().map(of).fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)])
        };
        let [left, right] = span(|p| p.0);
        let top = if self.y == "share" { 1.0 } else { span(|p| p.1)[1] };
        // Rates begin at 0, so that what is seen of them is their ratio; times and logarithms where the data do.
        let left = if self.y == "share" && !self.is_log { 0.0 } else { left };
        if !(right > left && top > 0.0) {
            return format!("{}: too few values for a chart\n", self.title);
        }
        let shown = |value: f64| {
            if self.is_log { label(10f64.powf(value), 10f64.powf(left)) } else { label(value, right - left) }
        };
        let x = Axis {
            title: &self.x,
            ends: [left, right],
            labels: [left, (left + right) / 2.0, right].map(shown),
        };
        let y = Axis {
            title: &self.y,
            ends: [0.0, top],
            labels: [0.0, top / 2.0, top].map(|value| label(value, top)),
        };
        let lines = self.lines.iter().map(|(name, points)| (&**name, &**points)).collect();
        let chart = Chart { x, y, lines }.draw(width.clamp(40, 140));
        let more = match self.left_out {
            0 => String::new(),
            n => format!("and {n} more on the page\n"),
        };
        format!("{}\n{chart}{more}", self.title)
    }
}

/// A number on an axis, with as many digits as the span of the axis requires.
fn label(value: f64, span: f64) -> String {
    let digits = (1.0 - span.abs().max(1e-12).log10()).ceil().clamp(0.0, 9.0);
    format!("{value:.*}", digits as usize)
}

/// The points of a line over time, in seconds; 0 where an interval has no row.
fn over_time(points: &BTreeMap<u64, f64>, interval: u64) -> Vec<(f64, f64)> {
    let (first, last) =
        (points.keys().next().copied().unwrap_or(0), points.keys().last().copied().unwrap_or(0));
    let at = |slot: u64| (slot as f64 * interval as f64 / 1e12, points.get(&slot).copied().unwrap_or(0.0));
    (first..=last).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_ends_at_one_with_its_largest_value() {
        let points = distribution(vec![3.0, 1.0, 2.0, 2.0]);
        assert_eq!(points[..4], [(1.0, 0.0), (1.0, 0.25), (2.0, 0.25), (2.0, 0.5)]);
        assert_eq!(distribution((0..10_000).map(f64::from).collect()).last(), Some(&(9999.0, 1.0)));
        assert!(distribution(vec![]).is_empty());
    }

    #[test]
    fn a_chart_fits_its_width_and_names_its_lines() {
        let lines = IndexMap::from([
            ("xmp-2".to_owned(), vec![(0.0, 0.1), (500.0, 0.6), (900.0, 1.0)]),
            ("dctcp-1".to_owned(), vec![(100.0, 0.5), (600.0, 1.0)]),
        ]);
        let (x, y) = ("goodput, Mbit/s".to_owned(), "share".to_owned());
        let picture = Picture { title: "permutation".to_owned(), x, y, is_log: false, lines, left_out: 3 };
        let plain = anstream::adapter::strip_str(&picture.draw(60)).to_string();
        assert!(plain.lines().all(|line| line.chars().count() <= 60), "{plain}");
        for word in ["permutation", "xmp-2", "dctcp-1", "900", "share", "and 3 more"] {
            assert!(plain.contains(word), "{word}: {plain}");
        }
        assert!(plain.contains(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{plain}");
    }
}
