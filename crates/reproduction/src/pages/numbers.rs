//! Published numbers next to ours: the rows of a table, and the tables of a paper's page.

use tresse_results::record::results::is;

use super::Reproduced;
use super::markdown::{cell, counted, details, row, rule};
use super::whys::Whys;
use crate::PaperExperiment;
use crate::claims::PublishedNumber;
use crate::metric_display;
use crate::schema::claims::{Kind, PublishedValue};

/// More rows than this are folded.
const MANY: usize = 12;

/// A published number, and ours from each of several results.
pub(super) struct Row<'a> {
    pub(super) metric: &'a str,
    pub(super) case: String,
    pub(super) published: f64,
    pub(super) own: Vec<Option<&'a PublishedNumber>>,
    /// Why ours differs.
    pub(super) differs: Option<&'a str>,
}

impl Row<'_> {
    /// Ours, with the interval, from each result.
    pub(super) fn ours(&self) -> Vec<String> {
        let shown = |own: &Option<&PublishedNumber>| {
            let shown = |v: f64| metric_display::value(self.metric, v);
            let width = own.and_then(|n| n.ci95).map(|w| format!(" ± {}", shown(w))).unwrap_or_default();
            own.and_then(|n| n.ours).map_or_else(|| "-".to_owned(), |v| shown(v) + &width)
        };
        self.own.iter().map(shown).collect()
    }

    /// The ratio of ours to the published one, bold if a simulator's is more than 20 % off.
    pub(super) fn ratios(&self) -> Vec<String> {
        let shown = |own: &Option<&PublishedNumber>| {
            let ratio = own.and_then(|n| n.ratio).map_or_else(|| "-".to_owned(), |r| format!("{r:.2}"));
            let is_far = own.is_some_and(|n| n.is_simulated() && n.within_20_percent == Some(false));
            if is_far { format!("**{ratio}**") } else { ratio }
        };
        self.own.iter().map(shown).collect()
    }

    pub(super) fn shown(&self) -> String {
        metric_display::value(self.metric, self.published)
    }

    /// Whether all results of the simulator for it are as published.
    fn is_near(&self, results: &[&Reproduced]) -> bool {
        let own = self.own.iter().zip(results).filter(|(_, result)| !result.is_real());
        own.filter_map(|(own, _)| *own).all(|n| n.within_20_percent == Some(true))
    }
}

/// Every published number of `experiment`, in the order of the file.
pub(super) fn all<'a>(experiment: &'a PaperExperiment, results: &[&'a Reproduced]) -> Vec<Row<'a>> {
    let numbers = experiment
        .publication
        .published
        .values
        .iter()
        .flat_map(|value| value.numbers().map(move |n| (value, n)));
    let rows = numbers.map(|(value, (metric, published))| {
        let own = |result: &&'a Reproduced| {
            let mut numbers = result.comparison.numbers.iter();
            numbers.find(|n| n.metric == metric && is_of(n, value))
        };
        let own: Vec<_> = results.iter().map(own).collect();
        let case = own.iter().flatten().next().map_or_else(|| label(value), |n| n.of.clone());
        Row { metric, case, published, own, differs: value.differs.as_deref() }
    });
    rows.collect()
}

/// The `results` with a column: real hosts only if they measured a published number.
pub(super) fn columns<'a>(results: &[&'a Reproduced]) -> Vec<&'a Reproduced> {
    results.iter().copied().filter(|result| !result.is_real() || result.has_numbers()).collect()
}

/// The case of a published value, as the results would name it.
fn label(value: &PublishedValue) -> String {
    let subflows = value.subflows.map(|n| format!("-{n}")).unwrap_or_default();
    let variant = value.variant.as_ref().map(|v| format!(" {v}")).unwrap_or_default();
    let part = value.selector().part().into_iter().map(|(what, name)| format!(", {what} {name}"));
    format!("{}{subflows} {}{variant}{}", value.scheme, value.pattern, part.collect::<String>())
}

/// Whether a number belongs to the file's `value`.
pub(super) fn is_of(number: &PublishedNumber, value: &PublishedValue) -> bool {
    let selector = value.selector();
    let part = selector.part();
    value.numbers().any(|(metric, published)| metric == number.metric && published == number.published)
        && is(&number.case, &selector.wanted())
        && number.part.len() == part.len()
        && part.iter().all(|(what, name)| number.part.get(*what) == Some(name))
}

/// The tables of a paper's page, one for each metric. `whys` learns why numbers differ, at `place`.
pub(super) fn tables(
    experiment: &PaperExperiment,
    results: &[&Reproduced],
    place: &str,
    whys: &mut Whys,
) -> String {
    let results = &columns(results)[..];
    let rows = all(experiment, results);
    if rows.is_empty() {
        return String::new();
    }
    let mut metrics: Vec<&str> = Vec::new();
    for row in &rows {
        if !metrics.contains(&row.metric) {
            metrics.push(row.metric);
        }
    }
    let mut tables = Vec::new();
    for metric in metrics {
        let own: Vec<&Row> = rows.iter().filter(|row| row.metric == metric).collect();
        tables.push(table(metric, &own, results, place, whys));
    }
    let tables = tables.join("\n");
    let testbed = match experiment.publication.published.kind {
        Kind::Simulation => "",
        Kind::Testbed => " (measured on a testbed, so compared as ratios only)",
    };
    let source = &experiment.publication.published.source;
    if rows.len() <= MANY {
        return format!("Numbers of {source}{testbed}:\n\n{tables}");
    }
    let is_near =
        |row: &&Row| row.own.iter().flatten().next().is_some_and(|n| n.within_20_percent == Some(true));
    let near = rows.iter().filter(is_near).count();
    let summary = format!("{} of {source}{testbed}; {near} are within 20 %", counted(rows.len(), "number"));
    details(&summary, &tables)
}

/// The numbers of one metric.
fn table(metric: &str, rows: &[&Row], results: &[&Reproduced], place: &str, whys: &mut Whys) -> String {
    let labels: Vec<&str> = rows.iter().map(|row| &*row.case).collect();
    let (common, labels) = without_common(&labels);
    let common = if common.is_empty() { common } else { format!(" ({common})") };
    let mut head = vec![cell(&format!("{}{common}", metric_display::name(metric))), "paper".to_owned()];
    for result in results {
        head.push(match &*result.profile {
            _ if result.is_real() => "real".to_owned(),
            "quick" => "ours".to_owned(),
            profile => format!("ours, {profile}"),
        });
        head.push("ratio".to_owned());
    }
    let mut text = row(&head) + &rule(&head);
    for (number, label) in rows.iter().zip(labels) {
        let mut cells = vec![cell(&label), number.shown()];
        cells.extend(number.ours().into_iter().zip(number.ratios()).flat_map(|(ours, ratio)| [ours, ratio]));
        if let (Some(why), false, Some(last)) = (number.differs, number.is_near(results), cells.last_mut()) {
            *last += &format!(" {}", whys.link(why, place, None));
        }
        text += &row(&cells);
    }
    text
}

/// Names of cases such as `cc-1 two paced-160, window settled, group x1`, without the words common to all,
/// and these words. A name is never left empty.
fn without_common(labels: &[&str]) -> (String, Vec<String>) {
    let parts: Vec<(Vec<&str>, Vec<&str>)> = (labels.iter())
        .map(|label| {
            let mut parts = label.split(", ");
            (parts.next().unwrap_or_default().split(' ').collect(), parts.collect())
        })
        .collect();
    let all = || labels.iter().map(|&label| label.to_owned()).collect();
    let Some((words, rest)) = parts.first().filter(|_| parts.len() > 1) else {
        return (String::new(), all());
    };
    let same_length = parts.iter().all(|(own, _)| own.len() == words.len());
    let is_common: Vec<bool> =
        (0..words.len()).map(|i| same_length && parts.iter().all(|(own, _)| own[i] == words[i])).collect();
    let shared: Vec<&str> =
        rest.iter().copied().filter(|part| parts.iter().all(|(_, own)| own.contains(part))).collect();
    let joined = |words: Vec<&str>, parts: Vec<&str>| {
        let words = words.join(" ");
        let all: Vec<&str> = [&*words].into_iter().filter(|w| !w.is_empty()).chain(parts).collect();
        all.join(", ")
    };
    let of = |words: &[&'_ str], common: bool| -> String {
        let kept =
            words.iter().enumerate().filter(|(i, _)| is_common.get(*i).copied().unwrap_or(false) == common);
        kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
    };
    let shorter: Vec<String> = (parts.iter())
        .map(|(words, rest)| {
            let words = of(words, false);
            joined(vec![&*words], rest.iter().copied().filter(|part| !shared.contains(part)).collect())
        })
        .collect();
    if shorter.iter().any(String::is_empty) {
        return (String::new(), all());
    }
    let words = of(words, true);
    (joined(vec![&*words], shared), shorter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_once_what_all_its_rows_are_of() {
        let shorter = |labels: &[&str]| {
            let (common, labels) = without_common(labels);
            format!("{common}: {}", labels.join("; "))
        };
        assert_eq!(
            shorter(&["cc-1 two a, window settled, group x1", "cc-1 two b, window settled, group x2"]),
            "cc-1 two, window settled: a, group x1; b, group x2"
        );
        assert_eq!(shorter(&["lia-2 nfs", "xmp-2 nfs"]), "nfs: lia-2; xmp-2");
        assert_eq!(shorter(&["lia-2 nfs", "xmp-2 nfs short"]), ": lia-2 nfs; xmp-2 nfs short");
        assert_eq!(shorter(&["lia-2 nfs"]), ": lia-2 nfs");
        assert_eq!(shorter(&["lia-2 nfs", "lia-2 nfs, group x"]), ": lia-2 nfs; lia-2 nfs, group x");
    }
}
