//! A table for other programs: CSV, LaTeX, Markdown.

use clap::ValueEnum;

use super::{Row, Table};

/// How tables are written
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// As text, as wide as the terminal, with what else there is to say
    #[default]
    Table,
    /// Comma-separated values; a case with parts is named in a column `case`
    Csv,
    /// A `tabular` with rules of booktabs; a mean is rounded to two digits of its interval
    Latex,
    /// A table of GitHub's Markdown
    Markdown,
}

impl Format {
    /// Writes tables one after another, with an empty line between two.
    pub fn write(self, tables: &[Table]) -> String {
        let write = |table: &Table| match self {
            Self::Table => table.to_string(),
            Self::Csv => table.csv(),
            Self::Latex => table.latex(),
            Self::Markdown => table.markdown(),
        };
        tables.iter().filter(|table| table.cells().next().is_some()).map(write).collect::<Vec<_>>().join("\n")
    }
}

/// The head of a column with half the 95 % interval of the column before it.
const INTERVAL: &str = "±95 %";
/// Heads of columns that say more of one before them, which they do not name.
const MORE: [&str; 9] = [INTERVAL, "paper", "min", "max", "total", "p10", "p50", "p90", "p99"];
/// Heads of columns that say more of one before them, and name what.
const BESIDE: [&str; 4] = ["ratio", "optimum", "apart %", "utility %"];

impl Table {
    /// In Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let shown = self.shown();
        let head = line(shown.iter().map(|&c| markdown(&self.head[c])).collect());
        let rule: String = shown.iter().map(|&c| if self.is_numeric(c) { "---:|" } else { "---|" }).collect();
        let row = |row: &Row| match row {
            Row::Cells(cells) => line(shown.iter().map(|&c| markdown(cells[c].trim())).collect()),
            Row::Section(text) => {
                let rest = shown.iter().skip(1).map(|_| String::new());
                line([format!("**{}**", markdown(text))].into_iter().chain(rest).collect())
            }
        };
        format!("{head}|{rule}\n{}", self.rows.iter().map(row).collect::<String>())
    }

    /// As comma-separated values (RFC 4180). What has no value is empty.
    pub fn csv(&self) -> String {
        let has_sections = self.rows.iter().any(|row| matches!(row, Row::Section(_)));
        let line = |section: &str, cells: Vec<String>| {
            let section = has_sections.then(|| csv(section));
            section.into_iter().chain(cells).collect::<Vec<_>>().join(",") + "\n"
        };
        let (mut text, mut section) = (line("case", self.full_heads().iter().map(|h| csv(h)).collect()), "");
        for row in &self.rows {
            match row {
                Row::Section(text) => section = text,
                Row::Cells(cells) => {
                    let value = |cell: &String| match cell.trim() {
                        "-" => String::new(),
                        cell => csv(cell),
                    };
                    text += &line(section, cells.iter().map(value).collect());
                }
            }
        }
        text
    }

    /// The heads of columns, each of which says what it is of: `p50` after `FCT, ms` is `FCT p50, ms`.
    fn full_heads(&self) -> Vec<String> {
        let mut leader = "";
        let mut full = Vec::new();
        for (column, head) in self.head.iter().enumerate() {
            if column >= self.labels && MORE.contains(&&**head) {
                let (of, unit) = leader.split_once(", ").unwrap_or((leader, ""));
                let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
                full.push(format!("{of} {head}{unit}"));
                continue;
            }
            if column >= self.labels && !BESIDE.contains(&&**head) {
                leader = head;
            }
            full.push(head.clone());
        }
        full
    }

    /// As a `tabular` of LaTeX. An interval stands behind its mean, and both have the digits that it leaves.
    pub fn latex(&self) -> String {
        let intervals: Vec<usize> =
            (1..self.head.len()).filter(|&c| self.head[c] == INTERVAL && !self.is_empty(c)).collect();
        let columns: Vec<usize> = self.shown().into_iter().filter(|c| !intervals.contains(c)).collect();
        let kinds: String = columns.iter().map(|&c| if self.is_numeric(c) { 'r' } else { 'l' }).collect();
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let cell = |cells: &[String], c: usize| match intervals.contains(&(c + 1)) {
            true => with_interval(&cells[c], &cells[c + 1]),
            false => latex(cells[c].trim()),
        };
        let row = |(i, row): (usize, &Row)| match row {
            Row::Cells(cells) => line(columns.iter().map(|&c| cell(cells, c)).collect()),
            Row::Section(text) => {
                let space = if i > 0 { "\\addlinespace\n" } else { "" };
                format!("{space}\\multicolumn{{{}}}{{l}}{{{}}} \\\\\n", columns.len(), latex(text))
            }
        };
        let head = line(columns.iter().map(|&c| latex(&self.head[c])).collect());
        let rows: String = self.rows.iter().enumerate().map(row).collect();
        format!(
            "% \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{head}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n"
        )
    }
}

fn csv(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn markdown(text: &str) -> String {
    text.replace('|', "\\|")
}

fn latex(text: &str) -> String {
    if text == "-" {
        return "--".to_owned();
    }
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            // At the beginning of a row these two would belong to the end of the row before.
            '[' | ']' | '*' => escaped.extend(['{', c, '}']),
            '|' => escaped += "\\textbar{}",
            '\\' => escaped += "\\textbackslash{}",
            '^' => escaped += "\\textasciicircum{}",
            '~' => escaped += "$\\sim$",
            '±' => escaped += "$\\pm$",
            'µ' => escaped += "$\\mu$",
            '<' => escaped += "$<$",
            '>' => escaped += "$>$",
            c => escaped.push(c),
        }
    }
    escaped
}

/// A mean and half its interval, rounded to two digits of the interval, but to no more than are shown.
fn with_interval(mean: &str, width: &str) -> String {
    let [value, half] = [mean, width].map(|text| text.trim().parse::<f64>().ok());
    let Some((value, half)) = value.zip(half.filter(|half| *half > 0.0)) else { return latex(mean.trim()) };
    let shown = |text: &str| text.trim().split_once('.').map_or(0, |(_, digits)| digits.len());
    // The place of the second digit: 1 for tenths, -1 for tens.
    let place = 1 - half.log10().floor() as i32;
    let decimals = usize::try_from(place).unwrap_or(0).min(shown(mean)).min(shown(width));
    let unit = 10f64.powi(-place.min(0));
    let [value, half] =
        [value, half].map(|number| if place < 0 { (number / unit).round() * unit } else { number });
    format!("${value:.decimals$} \\pm {half:.decimals$}$")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["size", "FCT, ms", "±95 %", "p50", "slowdown", "p50", "paper"]);
        table.section("dctcp_2 & co".into());
        table.row(["  all, in all", "12.345", "0.678", "1", "2.5", "-", "-"].map(str::to_owned).to_vec());
        table.row(["  small", "123.4", "-", "~1", "2", "-", "-"].map(str::to_owned).to_vec());
        table
    }

    #[test]
    fn csv_names_every_column_and_its_case() {
        assert_eq!(
            table().csv(),
            "case,size,\"FCT, ms\",\"FCT ±95 %, ms\",\"FCT p50, ms\",slowdown,slowdown p50,slowdown paper\n\
             dctcp_2 & co,\"all, in all\",12.345,0.678,1,2.5,,\n\
             dctcp_2 & co,small,123.4,,~1,2,,\n"
        );
    }

    #[test]
    fn latex_has_means_with_the_digits_of_their_intervals() {
        assert_eq!(
            table().latex(),
            "% \\usepackage{booktabs}\n\\begin{tabular}{lrrr}\n\\toprule\n\
             size & FCT, ms & p50 & slowdown \\\\\n\\midrule\n\
             \\multicolumn{4}{l}{dctcp\\_2 \\& co} \\\\\n\
             all, in all & $12.35 \\pm 0.68$ & 1 & 2.5 \\\\\n\
             small & 123.4 & $\\sim$1 & 2 \\\\\n\
             \\bottomrule\n\\end{tabular}\n"
        );
        // Two digits of 14 are its whole part, and none is made up.
        assert_eq!(with_interval("573.2", "14.3"), "$573 \\pm 14$");
        assert_eq!(with_interval("573.2", "0.0"), "573.2");
        assert_eq!(with_interval("573.2", "0.1"), "$573.2 \\pm 0.1$");
        assert_eq!(with_interval("573.2", "0.678"), "$573.2 \\pm 0.7$");
        assert_eq!(with_interval("1234", "187"), "$1230 \\pm 190$");
        assert_eq!(with_interval("-", "-"), "--");
    }

    #[test]
    fn every_head_of_csv_says_what_it_is_of() {
        let heads = |head: &[&str], labels: usize| Table::new(head).labels(labels).full_heads().join(";");
        let layers = ["layer", "busy %", "min", "p10", "max", "queue, pkts", "p50", "max"];
        let full =
            "layer;busy %;busy % min;busy % p10;busy % max;queue, pkts;queue p50, pkts;queue max, pkts";
        assert_eq!(heads(&layers, 1), full);
        let usual = ["scheme", "total", "Mbit/s", "paper", "ratio", "optimum", "apart %", "p10", "RTOs"];
        let full = "scheme;total;Mbit/s;Mbit/s paper;ratio;optimum;apart %;Mbit/s p10;RTOs";
        assert_eq!(heads(&usual, 2), full);
    }

    #[test]
    fn nothing_in_a_cell_is_a_command_of_latex() {
        assert_eq!(latex("[1, 2] *|_"), "{[}1, 2{]} {*}\\textbar{}\\_");
    }

    #[test]
    fn markdown_has_a_line_for_each_case() {
        assert_eq!(
            table().markdown(),
            "| size | FCT, ms | ±95 % | p50 | slowdown |\n|---|---:|---:|---:|---:|\n\
             | **dctcp_2 & co** |  |  |  |  |\n\
             | all, in all | 12.345 | 0.678 | 1 | 2.5 |\n| small | 123.4 | - | ~1 | 2 |\n"
        );
    }
}
