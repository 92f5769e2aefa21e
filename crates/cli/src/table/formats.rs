//! A table for other programs: CSV, LaTeX, Markdown.

use clap::ValueEnum;

use super::cell::rounded;
use super::{Cell, Row, Table};

/// How tables are written
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// As text, as wide as the terminal, with what else there is to say
    #[default]
    Table,
    /// Comma-separated values; a case with parts is named in a column `case`
    Csv,
    /// A `tabular` with rules of booktabs
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
    /// In Markdown. An interval stands behind its mean, and both have two digits of the interval.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let shown = self.merged();
        let head = line(shown.iter().map(|&c| markdown(&self.head[c])).collect());
        let rule: String = shown.iter().map(|&c| if self.is_numeric(c) { "---:|" } else { "---|" }).collect();
        let cell = |cells: &[Cell], c: usize| match self.with_interval(cells, c) {
            Some([mean, half]) => format!("{mean} ± {half}"),
            None => markdown(cells[c].text.trim()),
        };
        let row = |row: &Row| match row {
            Row::Cells(cells) => line(shown.iter().map(|&c| cell(cells, c)).collect()),
            Row::Section(text) => {
                let rest = shown.iter().skip(1).map(|_| String::new());
                line([format!("**{}**", markdown(text))].into_iter().chain(rest).collect())
            }
        };
        format!("{head}|{rule}\n{}", self.rows.iter().map(row).collect::<String>())
    }

    /// As comma-separated values (RFC 4180). What has no value is empty. A mean and its interval have two digits of the
    /// interval.
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
                    let value = |c: usize| {
                        let own = self.with_interval(cells, c).map(|[mean, _]| mean);
                        let half = || Some(self.with_interval(cells, c.checked_sub(1)?)?[1].clone());
                        own.or_else(half).unwrap_or_else(|| match cells[c].text.trim() {
                            "-" => String::new(),
                            cell => csv(cell),
                        })
                    };
                    text += &line(section, (0..cells.len()).map(value).collect());
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

    /// The columns with a value, without those of intervals, which stand behind their means.
    fn merged(&self) -> Vec<usize> {
        let is_behind = |c: usize| c > 0 && self.head[c] == INTERVAL;
        self.shown().into_iter().filter(|&c| !is_behind(c)).collect()
    }

    /// The mean in a column of a row, and half its interval in the next column; `None` if there is no interval.
    fn with_interval(&self, cells: &[Cell], column: usize) -> Option<[String; 2]> {
        let half = cells.get(column + 1).filter(|_| self.head[column + 1] == INTERVAL)?;
        rounded(&cells[column], half)
    }

    /// As a `tabular` of LaTeX. An interval stands behind its mean, and both have two digits of the interval.
    pub fn latex(&self) -> String {
        let columns = self.merged();
        let kinds: String = columns.iter().map(|&c| if self.is_numeric(c) { 'r' } else { 'l' }).collect();
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let cell = |cells: &[Cell], c: usize| match self.with_interval(cells, c) {
            Some([mean, half]) => format!("${mean} \\pm {half}$"),
            None => latex(cells[c].text.trim()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["size", "FCT, ms", "±95 %", "p50", "slowdown", "p50", "paper"]);
        table.section("dctcp_2 & co".into());
        let text = |text: &str| Cell::from(text.to_owned());
        let mut row = ["  all, in all", "12.345", "0.678", "1", "2.5", "-", "-"].map(text).to_vec();
        (row[1], row[2]) = (Cell::number(12.345, 3), Cell::number(0.678, 3));
        table.row(row);
        table.row(["  small", "123.4", "-", "~1", "2", "-", "-"].map(text).to_vec());
        table
    }

    #[test]
    fn csv_names_every_column_and_its_case() {
        assert_eq!(
            table().csv(),
            "case,size,\"FCT, ms\",\"FCT ±95 %, ms\",\"FCT p50, ms\",slowdown,slowdown p50,slowdown paper\n\
             dctcp_2 & co,\"all, in all\",12.35,0.68,1,2.5,,\n\
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
            "| size | FCT, ms | p50 | slowdown |\n|---|---:|---:|---:|\n\
             | **dctcp_2 & co** |  |  |  |\n\
             | all, in all | 12.35 ± 0.68 | 1 | 2.5 |\n| small | 123.4 | ~1 | 2 |\n"
        );
    }
}
