//! A table for people: columns as wide as they must be, numbers to the right.

use std::fmt;

/// Rows of text under a head.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this head.
    pub fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(|&h| h.to_owned()).collect()] }
    }

    /// Adds a row; it has as many cells as the head.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.rows[0].len());
        self.rows.push(cells);
    }

    /// The same in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.rows[0].len()));
        let rows = self.rows[1..].iter().map(|row| line(row));
        line(&self.rows[0]) + &rule + &rows.collect::<String>()
    }

    /// A column of numbers: every cell below the head is one, or a dash; with `~` where it is not final.
    fn is_numeric(&self, column: usize) -> bool {
        let number = |s: &str| s == "-" || s.trim_start_matches(['±', '~']).parse::<f64>().is_ok();
        self.rows.len() > 1 && self.rows[1..].iter().all(|r| number(&r[column]))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows[0].len();
        let widths: Vec<usize> =
            (0..columns).map(|c| self.rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (c, cell) in row.iter().enumerate() {
                if c > 0 {
                    line.push_str("  ");
                }
                let width = widths[c];
                line +=
                    &if self.is_numeric(c) { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn numbers_stand_to_the_right() {
        let mut table = Table::new(&["name", "Mbit/s"]);
        table.row(vec!["dctcp".into(), "9.5".into()]);
        table.row(vec!["x".into(), "-".into()]);
        table.row(vec!["y".into(), "~10.1".into()]);
        assert_eq!(table.to_string(), "name   Mbit/s\ndctcp     9.5\nx           -\ny       ~10.1\n");
        let markdown = "| name | Mbit/s |\n|---|---|\n| dctcp | 9.5 |\n| x | - |\n| y | ~10.1 |\n";
        assert_eq!(table.markdown(), markdown);
    }
}
