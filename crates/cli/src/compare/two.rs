//! Two runs against each other, as text and as Markdown.

use std::fmt::{self, Write};
use std::io::{self, Write as _};

use tresse_experiment::schema::metrics::compared;
use tresse_reproduction::metric_display;
use tresse_workbench::compare::Pairs;
use tresse_workbench::compare::two::Pair;

use crate::columns::real;
use crate::table::{Cell, Table};
use crate::width::sentence;

/// Two runs as text.
pub struct Text<'a>(pub &'a Pairs);

/// The same as text, with tables in Markdown.
pub fn markdown(pairs: &Pairs) -> String {
    let mut text = String::new();
    for pair in &pairs.experiments {
        let [left, right] = [&pair.left.run, &pair.right.run];
        text += &format!("### {}: {left} and {right}\n\n", pair.experiment);
        text += &pair.notes.iter().map(|note| format!("- {note}\n")).collect::<String>();
        text += &pair.sameness().map(|line| format!("- {line}\n")).unwrap_or_default();
        if !pair.is_same() {
            text += &format!("\n{}", table(pair).markdown());
        }
        let changed = pair.claims.iter().filter(|c| c.left != c.right);
        let changed = changed.map(|c| format!("- {}: {}, then {}\n", c.text, c.left, c.right));
        let changed: String = changed.chain(pair.not_judged.iter().map(|why| format!("- {why}\n"))).collect();
        text += &format!("\n{changed}");
    }
    text + &pairs.missing.iter().map(|line| format!("- {line}\n")).collect::<String>()
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for pair in &self.0.experiments {
            writeln!(f, "{}: {} (first) and {} (second)", pair.experiment, pair.left.run, pair.right.run)?;
            for note in &pair.notes {
                writeln!(f, "{}", sentence(&format!("note: {note}"), 2))?;
            }
            if let Some(line) = pair.sameness() {
                writeln!(f, "{}", sentence(&line, 2))?;
            }
            if pair.cases.is_empty() {
                continue;
            }
            // Lines that all say the same would hide what matters.
            if !pair.is_same() {
                write!(f, "\n{}", table(pair))?;
            }
            let changed: Vec<_> = pair.claims.iter().filter(|c| c.left != c.right).collect();
            let all = pair.claims.len();
            match &pair.not_judged {
                Some(why) => writeln!(f, "\n{}", sentence(why, 2))?,
                None => writeln!(f, "\nclaims whose verdict changed: {} of {all}", changed.len())?,
            }
            for claim in changed {
                let line = format!("{}, then {}: {}", claim.left, claim.right, claim.text);
                writeln!(f, "{}", sentence(&line, 2))?;
            }
            f.write_char('\n')?;
        }
        for line in &self.0.missing {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// The tables of all pairs, alone.
pub fn tables(pairs: &Pairs) -> Vec<Table> {
    pairs.experiments.iter().map(table).collect()
}

/// What a reader of the tables alone has to know, on stderr.
pub fn tell(pairs: &Pairs) {
    let of = |pair: &Pair| pair.notes.iter().cloned().chain(pair.sameness()).collect::<Vec<_>>();
    for line in pairs.experiments.iter().flat_map(of).chain(pairs.missing.iter().cloned()) {
        let _ = writeln!(io::stderr(), "note: {line}"); // it may be closed
    }
}

fn table(pair: &Pair) -> Table {
    let head = ["case", "metric", "first", "±95 %", "second", "±95 %", "ratio", "intervals"];
    let mut table = Table::new(&head).labels(2);
    for case in &pair.cases {
        let whole = case.metrics.iter().map(|(name, values)| (String::new(), name, values));
        let groups = case.by.get("group").into_iter().flatten();
        let groups = groups.flat_map(|(group, metrics)| {
            metrics.iter().map(move |(name, values)| (format!(", group {group}"), name, values))
        });
        let is_shown = |name: &String| match &pair.named {
            Some(named) => named.contains(name),
            None => compared().any(|usual| usual == name),
        };
        for (part, name, values) in whole.chain(groups).filter(|(_, name, _)| is_shown(name)) {
            let number = |v: Option<f64>| real(name, v);
            let apart = match values.apart {
                Some(true) => "apart",
                Some(false) => "overlap",
                None => "-",
            };
            table.row(vec![
                format!("{}{part}", case.label).into(),
                metric_display::name(name).into(),
                number(Some(values.left)),
                number(values.left_ci95),
                number(Some(values.right)),
                number(values.right_ci95),
                values.ratio.map_or_else(Cell::none, |r| Cell::number(r, 3)),
                apart.to_owned().into(),
            ]);
        }
    }
    table
}
