//! A readable table: columns as wide as needed, numbers right-aligned. If it is wider than the terminal, long texts
//! are wrapped, or groups of columns are placed one below the other.

use std::fmt;
use std::iter;

use crate::width;

mod cell;
mod formats;

pub use cell::Cell;
pub use formats::Format;

/// Rows of text under a head.
#[derive(Debug)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Row>,
    /// How many columns, from the first, are labels of a row.
    labels: usize,
}

#[derive(Debug)]
enum Row {
    /// As many cells as the head has.
    Cells(Vec<Cell>),
    /// A line over the whole width, as a heading of the rows below it.
    Section(String),
}

/// The gap between two columns.
const GAP: usize = 2;
/// A column of text is never narrower than this, or than its longest word if that is longer.
const NARROWEST_TEXT: usize = 24;
/// A longer word is broken.
const LONGEST_WORD: usize = 40;

impl Table {
    /// A table with this head, whose first column labels the rows.
    pub fn new<S: AsRef<str>>(head: &[S]) -> Self {
        Self { head: head.iter().map(|h| h.as_ref().to_owned()).collect(), rows: Vec::new(), labels: 1 }
    }

    /// The same, but the first `labels` columns label the rows: if part of the table is moved below the rest, it
    /// begins with them.
    #[must_use]
    pub fn labels(self, labels: usize) -> Self {
        Self { labels, ..self }
    }

    /// Adds a row; it has as many cells as the head.
    pub fn row<C: Into<Cell>>(&mut self, cells: Vec<C>) {
        debug_assert_eq!(cells.len(), self.head.len());
        self.rows.push(Row::Cells(cells.into_iter().map(C::into).collect()));
    }

    /// Adds a heading for the rows below it.
    pub fn section(&mut self, text: String) {
        self.rows.push(Row::Section(text));
    }

    fn cells(&self) -> impl Iterator<Item = &Vec<Cell>> + Clone {
        self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => Some(cells),
            Row::Section(_) => None,
        })
    }

    /// Whether it is a column of numbers: every cell below the head is a number, with `~` if it is not final, or a
    /// dash.
    fn is_numeric(&self, column: usize) -> bool {
        let number = |s: &str| s == "-" || s.trim_start_matches(['±', '~']).parse::<f64>().is_ok();
        self.cells().next().is_some() && self.cells().all(|r| number(&r[column].text))
    }

    /// Whether the column is empty in every row.
    fn is_empty(&self, column: usize) -> bool {
        self.cells().next().is_some() && self.cells().all(|r| ["", "-"].contains(&&*r[column].text))
    }

    /// The columns with a value.
    fn shown(&self) -> Vec<usize> {
        (0..self.head.len()).filter(|&c| !self.is_empty(c)).collect()
    }

    /// As text, in lines of at most `width` columns if possible. Columns without a value are left out.
    pub fn text(&self, width: Option<usize>) -> String {
        let shown = self.shown();
        let longest = |c: usize| {
            let cells = self.cells().map(|r| &r[c].text);
            iter::once(&self.head[c]).chain(cells).map(|text| text.chars().count()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.head.len()).map(longest).collect();
        let Some(limit) = width.filter(|limit| total(&shown, &widths) > *limit) else {
            return self.block(&shown, &widths, width);
        };
        let mut narrow = widths.clone();
        self.narrow(&shown, &mut narrow, limit);
        if total(&shown, &narrow) <= limit {
            return self.block(&shown, &narrow, width);
        }
        let (labels, others): (Vec<usize>, Vec<usize>) = shown.iter().partition(|&&c| c < self.labels);
        self.narrow(&labels, &mut widths, limit / 2);
        let mut blocks = vec![labels.clone()];
        let mut others = &others[..];
        while let [first, rest @ ..] = others {
            // What qualifies the column before it stays beside it.
            let with = rest.iter().take_while(|&&c| ["±95 %", "paper"].contains(&&*self.head[c])).count();
            let (group, rest) = others.split_at(1 + with);
            let last = blocks.last_mut().expect("there is one");
            let wider = [&last[..], group].concat();
            if total(&wider, &widths) <= limit || last.len() == labels.len() {
                *last = wider;
            } else {
                blocks.push([&labels[..], &[*first], &group[1..]].concat());
            }
            others = rest;
        }
        blocks.iter().map(|block| self.block(block, &widths, width)).collect::<Vec<_>>().join("\n")
    }

    /// Narrows columns of text, the widest first, until these columns fit into `limit` or cannot get narrower.
    fn narrow(&self, columns: &[usize], widths: &mut [usize], limit: usize) {
        let least = |c: usize| {
            let words = self.cells().flat_map(|r| r[c].text.split(' ')).map(|word| word.chars().count());
            words.max().unwrap_or(0).clamp(NARROWEST_TEXT, LONGEST_WORD)
        };
        let mut left: Vec<(usize, usize)> =
            columns.iter().filter(|&&c| !self.is_numeric(c)).map(|&c| (c, least(c))).collect();
        while total(columns, widths) > limit {
            left.retain(|&(c, least)| widths[c] > least);
            let Some(&(widest, _)) = left.iter().max_by_key(|&&(c, _)| widths[c]) else { return };
            widths[widest] -= 1;
        }
    }

    /// These columns, with these widths; longer cells are wrapped.
    fn block(&self, columns: &[usize], widths: &[usize], limit: Option<usize>) -> String {
        let mut text = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = &String>| {
            let cells: Vec<&String> = cells.collect();
            let folded: Vec<Vec<String>> = columns
                .iter()
                .map(|&c| match cells[c].chars().count() > widths[c] {
                    true => width::fold(cells[c], widths[c], 0),
                    false => vec![cells[c].clone()],
                })
                .collect();
            for i in 0..folded.iter().map(Vec::len).max().unwrap_or(0) {
                let cells = columns.iter().zip(&folded).map(|(&c, lines)| {
                    let (cell, width) = (lines.get(i).map_or("", |line| line), widths[c]);
                    if self.is_numeric(c) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
                });
                let cells: Vec<String> = cells.collect();
                text += &format!("{}\n", cells.join(&" ".repeat(GAP)).trim_end());
            }
            std::mem::take(&mut text)
        };
        let head = line(&mut self.head.iter());
        let rows = self.rows.iter().map(|row| match (row, limit) {
            (Row::Cells(cells), _) => line(&mut cells.iter().map(|cell| &cell.text)),
            (Row::Section(text), Some(limit)) => width::fold(text, limit, GAP).join("\n") + "\n",
            (Row::Section(text), None) => format!("{text}\n"),
        });
        let rows: String = rows.collect();
        head + &rows
    }
}

/// The width of a line of these columns.
fn total(columns: &[usize], widths: &[usize]) -> usize {
    columns.iter().map(|&c| widths[c]).sum::<usize>() + GAP * columns.len().saturating_sub(1)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(width::of_stdout()))
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    fn table(head: &[&str], rows: &[&[&str]]) -> Table {
        let mut table = Table::new(head);
        for row in rows {
            table.row(row.iter().map(|&cell| cell.to_owned()).collect());
        }
        table
    }

    #[test]
    fn numbers_stand_to_the_right() {
        let table = table(&["name", "Mbit/s"], &[&["dctcp", "9.5"], &["x", "-"], &["y", "~10.1"]]);
        assert_eq!(table.text(None), "name   Mbit/s\ndctcp     9.5\nx           -\ny       ~10.1\n");
    }

    #[test]
    fn columns_without_a_value_are_left_out() {
        let table = table(&["name", "paper", "flows"], &[&["a", "-", "1"], &["b", "-", "0"]]);
        assert_eq!(table.text(None), "name  flows\na         1\nb         0\n");
    }

    #[test]
    fn what_is_too_wide_goes_below_with_its_label() {
        let head = ["scheme", "goodput", "±95 %", "timeouts"];
        let table = table(&head, &[&["xmp-2", "1", "2", "3"], &["lia", "4", "5", "6"]]);
        let below = "scheme  goodput  ±95 %\nxmp-2         1      2\nlia           4      5\n\n\
                     scheme  timeouts\nxmp-2          3\nlia            6\n";
        assert_eq!(table.text(Some(24)), below);
        // The interval is never without its mean.
        assert!(table.text(Some(20)).starts_with("scheme  goodput  ±95 %\n"));
        assert_eq!(table.text(Some(80)), table.text(None));
    }

    #[test]
    fn long_texts_are_folded() {
        let long = "The optimum is far away, and nobody knows the way to it";
        let table = table(&["name", "what it is"], &[&["a", long]]);
        let folded =
            "name  what it is\na     The optimum is far away,\n      and nobody knows the way\n      to it\n";
        assert_eq!(table.text(Some(30)), folded);
    }

    #[test]
    fn a_section_has_rows_below_it() {
        let mut table = table(&["size", "flows"], &[]);
        table.section("dctcp-1 websearch".into());
        table.row(vec!["  all".to_owned(), "7".to_owned()]);
        assert_eq!(table.text(None), "size   flows\ndctcp-1 websearch\n  all      7\n");
    }
}
