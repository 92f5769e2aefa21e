//! Results next to published numbers and claims: as text, and as Markdown.

use std::fmt;
use std::io::{self, Write};

use tresse_reproduction::PaperExperiment;
use tresse_reproduction::metric_display;
use tresse_reproduction::pages::{Reproduced, Reproduction, Testbed, section};
use tresse_reproduction::schema::claims::Kind;
use tresse_results::State;

use crate::table::{Cell, Table};
use crate::width::sentence;
use crate::{changed, claims, columns};

/// An experiment's results as text, with the kept results of real hosts next to the simulator's.
pub fn show(experiment: &PaperExperiment, result: &Reproduced, out: &mut impl Write) -> io::Result<()> {
    let real = result.real();
    let comparison = &result.comparison;
    let title = format!("{} · {}", result.experiment, experiment.title);
    writeln!(out, "{}", sentence(&title, 2))?;
    let seeds = match result.replications {
        1 => format!("seed {}", result.seed),
        _ => format!("{} from {}", result.seeds(), result.seed),
    };
    let (profile, cases, wall) = (&result.profile, result.cases, comparison.summary.wall_s);
    let s = if cases == 1 { "" } else { "s" };
    let own = result.testbed.as_ref().map(|own| format!(" · {}", truth(own))).unwrap_or_default();
    writeln!(out, "{profile} profile · {seeds} · {cases} case{s} · {wall:.1} s{own}")?;
    if let Some((real, testbed)) = real.and_then(|real| Some((real, real.testbed.as_ref()?))) {
        writeln!(out, "real: {} profile · {} · {}", real.profile, real.seeds(), truth(testbed))?;
    }
    if result.state != State::Complete {
        writeln!(out, "PARTIAL: it {}, so its claims are not judged", result.state)?;
    }
    if let Some(line) = changed::line(&result.changed, result.judged, &experiment.publication) {
        writeln!(out, "{}", sentence(&line, 2))?;
    }
    if !comparison.numbers.is_empty() {
        write!(out, "\n{}", numbers(result, real))?;
        let testbed = match experiment.publication.published.kind {
            Kind::Simulation => "",
            Kind::Testbed => "; from a testbed: to be compared as ratios",
        };
        let paper = format!("paper: {}{testbed}", experiment.publication.published.source);
        writeln!(out, "{}", sentence(&paper, 2))?;
        let mut told: Vec<&str> = Vec::new();
        for number in comparison.numbers.iter().filter(|n| n.within_20_percent != Some(true)) {
            if let Some(why) = number.differs.as_deref().filter(|why| !told.contains(why)) {
                writeln!(out, "{}", sentence(&format!("differs, {}: {why}", number.of), 2))?;
                told.push(why);
            }
        }
    }
    if comparison.numbers.is_empty() && comparison.claims.is_empty() && experiment.publication.is_empty() {
        let line = format!(
            "nothing to compare with: no published numbers for {}; `tresse compare RUN RUN` compares two runs",
            result.experiment
        );
        writeln!(out, "{}", sentence(&line, 2))?;
    }
    if !comparison.claims.is_empty() {
        writeln!(out)?;
        claims::show(&comparison.claims, real.map_or(&[], |real| &real.comparison.claims), out)?;
    }
    Ok(())
}

/// What a reader of the tables alone has to know, on stderr.
pub fn tell(all: &Reproduction) {
    let partial = all.experiments.iter().filter(|own| own.state != State::Complete);
    let partial = partial.map(|own| format!("PARTIAL: {} {}", own.experiment, own.state));
    let without = all.experiments.iter().filter(|own| own.comparison.numbers.is_empty());
    let without = without.map(|own| {
        let name = &own.experiment;
        format!("no published numbers for {name}; `tresse compare RUN RUN` compares two runs")
    });
    for line in partial.chain(without) {
        let _ = writeln!(io::stderr(), "note: {line}"); // it may be closed
    }
}

/// The table of published numbers, with the kept results of real hosts next to the simulator's.
pub fn table(result: &Reproduced) -> Table {
    numbers(result, result.real())
}

/// How faithful a run on real hosts was.
fn truth(testbed: &Testbed) -> String {
    format!("real hosts, --scale {}, {}", testbed.scale, testbed.lateness())
}

/// Published numbers, ours, and those of `real`; a column without any value is left out.
fn numbers(result: &Reproduced, real: Option<&Reproduced>) -> Table {
    let ours = if result.is_real() { "real" } else { "ours" };
    let mut head = vec!["metric", "case", "paper", ours, "±95 %", "ratio"];
    head.extend(real.iter().flat_map(|_| ["real", "ratio"]));
    let mut table = Table::new(&head).labels(2);
    for n in &result.comparison.numbers {
        let number = |v: Option<f64>| columns::real(&n.metric, v);
        let ratio = |r: Option<f64>| r.map_or_else(Cell::none, |r| Cell::number(r, 2));
        let mut cells: Vec<Cell> = vec![metric_display::name(&n.metric).into(), n.of.clone().into()];
        cells.extend([number(Some(n.published)), number(n.ours), number(n.ci95), ratio(n.ratio)]);
        if let Some(real) = real {
            let own = real.comparison.numbers.iter().find(|own| own.of == n.of && own.metric == n.metric);
            cells.extend([number(own.and_then(|own| own.ours)), ratio(own.and_then(|own| own.ratio))]);
        }
        table.row(cells);
    }
    table
}

/// The summary of several experiments as text.
pub struct Total<'a>(pub &'a Reproduction);

impl fmt::Display for Total<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = &self.0.summary;
        let claims = || self.0.experiments.iter().flat_map(|e| &e.comparison.claims);
        let inert = match summary.claims_inert {
            0 => String::new(),
            n => format!(", {n} inert"),
        };
        let unexpected = claims().filter(|c| c.verdict != c.expected).count();
        // What another reading of the paper makes of it, if it makes a difference.
        let or = |own: usize, any: usize| {
            if any > own { format!("; {any} under this reading or another") } else { String::new() }
        };
        writeln!(
            f,
            "claims that hold: {} of {} ({} do not, {} inconclusive{inert}){}; not as expected: {unexpected}",
            summary.claims_hold,
            summary.claims,
            summary.claims_that_do_not_hold(),
            summary.claims_undecided,
            or(summary.claims_hold, summary.claims_hold_in_a_reading),
        )?;
        if summary.claims_contradict > 0 {
            writeln!(
                f,
                "claims that contradict their own paper, counted separately: {}",
                summary.claims_contradict
            )?;
        }
        let (near, numbers) = (summary.numbers_within_20_percent, summary.numbers);
        let or = or(near, summary.numbers_within_20_percent_in_a_reading);
        writeln!(f, "published numbers within 20 %: {near} of {numbers}{or}")?;
        let runs = self.0.experiments.len();
        writeln!(f, "{runs} experiment{} took {:.0} s", if runs == 1 { "" } else { "s" }, summary.wall_s)
    }
}

/// A section for a page.
pub fn markdown(experiment: &PaperExperiment, result: &Reproduced) -> String {
    let results: Vec<&Reproduced> = [Some(result), result.real()].into_iter().flatten().collect();
    section(&result.experiment, experiment, &results)
}

#[cfg(test)]
mod tests {
    use tresse_reproduction::pages::real;

    use super::*;

    #[test]
    fn real_hosts_have_a_column_where_they_measured_a_number() {
        let kept = real("holnet/fig4.3").expect("it is kept");
        let simulated = Reproduced { testbed: None, ..kept.clone() };
        let head = |result, real| {
            let table = numbers(result, real).to_string();
            table.lines().next().expect("a head").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(head(&simulated, None), "metric case paper ours ratio");
        assert_eq!(head(&simulated, simulated.real()), "metric case paper ours ratio real ratio");
        assert_eq!(head(kept, kept.real()), "metric case paper real ratio");
        let mut none = kept.clone();
        none.comparison.numbers.iter_mut().for_each(|n| (n.ours, n.ratio) = (None, None));
        assert_eq!(head(&simulated, Some(&none)), "metric case paper ours ratio");
    }
}
