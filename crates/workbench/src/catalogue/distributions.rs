//! The distributions of flow sizes as lists and pages show them.

use serde::Serialize;
use tresse_workload::distributions::{BuiltIn, all, find};

use crate::catalogue::{Entry, Kind, pages};

/// A distribution, with what its file says about it if it comes from a file.
#[derive(Debug, Clone, Serialize)]
pub struct DistributionEntry {
    /// Name, title, origin.
    #[serde(flatten)]
    pub entry: Entry,
    /// The mean, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_bytes: Option<f64>,
    /// The shares of flows up to 10 kB, 10 kB to 100 kB, 100 kB to 1 MB, and above 1 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<[f64; 4]>,
}

/// The shapes that an experiment may use, and the built-in files.
pub fn entries() -> Vec<DistributionEntry> {
    let shapes = pages(Kind::Distributions).into_iter();
    let shapes = shapes.map(|entry| DistributionEntry { entry, mean_bytes: None, shares: None });
    let files = all().iter().map(|d| {
        let read = d.distribution();
        let entry = Entry { name: d.name.to_owned(), title: d.title.to_owned(), source: d.origin.to_owned() };
        DistributionEntry { entry, mean_bytes: Some(read.mean()), shares: Some(read.shares()) }
    });
    shapes.chain(files).collect()
}

/// A mean as lists show it: four digits and a unit.
pub fn mean_text(bytes: f64) -> String {
    let (value, unit) = match bytes {
        b if b < 1e3 => (b, "B"),
        b if b < 1e6 => (b / 1e3, "kB"),
        b => (b / 1e6, "MB"),
    };
    let digits = if value < 10.0 { 3 } else { 4 - (value.log10() as usize + 1) };
    format!("{value:.digits$} {unit}")
}

/// Shares as lists show them, in per cent.
pub fn shares_text(shares: [f64; 4]) -> String {
    shares.map(|share| format!("{:.1}", 100.0 * share)).join(" / ")
}

/// The full text about the built-in file `name`.
pub(crate) fn explain(name: &str) -> Option<String> {
    find(name).map(page)
}

fn page(d: &BuiltIn) -> String {
    let read = d.distribution();
    format!(
        "# {}\n\n    size = {{ distribution = \"{}\" }}\n\n- origin: {}\n- note: {}\n- mean: {}\n- largest: {}\n\
         - flows up to 10 kB, 10 kB to 100 kB, 100 kB to 1 MB, above 1 MB: {} %\n\n\
         `tresse explain distributions` compares it with the others. Its file: sizes in bytes, and the share of flows \
         that are no larger:\n\n```text\n{}```\n",
        d.title,
        d.name,
        d.origin,
        d.note,
        mean_text(read.mean()),
        mean_text(read.largest() as f64),
        shares_text(read.shares()),
        d.text
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page that compares the distributions has the numbers of the files.
    #[test]
    fn the_page_has_every_built_in_file() {
        let page = include_str!("../../../../docs/explain/distributions.md");
        for d in all() {
            let read = d.distribution();
            let shares = read.shares().map(|share| format!("{:.1}", 100.0 * share)).join(" | ");
            let row = format!("| `{}` | {} | {shares} |", d.name, mean_text(read.mean()));
            assert!(page.contains(&row), "{row}");
        }
        assert_eq!(page.matches("\n| `").count(), all().len());
    }

    #[test]
    fn means_have_four_digits() {
        let texts = [12.0, 999.94, 2891.6, 40_869.8, 712_573.5, 1_711_250.0, 1e9].map(mean_text);
        assert_eq!(texts, ["12.00 B", "999.9 B", "2.892 kB", "40.87 kB", "712.6 kB", "1.711 MB", "1000 MB"]);
    }

    #[test]
    fn a_file_is_explained_with_its_origin_its_mean_and_itself() {
        let text = explain("websearch-hpcc").expect("built in");
        for part in ["WebSearch_distribution.txt", "1.711 MB", "15.0 / 39.2 / 15.8 / 30.0 %", "10000000 0.97"]
        {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(explain("websearch"), None);
    }
}
