//! `docs/reproduction/PAPER.md`, the page of a paper: how much of it holds; then each experiment with its figures, numbers
//! and verdicts; the claims that contradict the paper; and the reasons for differences.

use std::collections::BTreeSet;

use tresse_experiment::diagnostic::Diagnostic;
use tresse_results::record::report::{MODEL_VERSION, Status};

use super::claims::Teller;
use super::markdown::{command, counted, duration, file, row_name, rows};
use super::readings::{ByName, Sentence, by_name, root, sentences};
use super::stored::paper_experiment;
use super::whys::{Anchors, Whys};
use super::{FULL, NOT_JUDGED, Reproduced, Runs, Stored, changed_line, numbers};
use crate::PaperExperiment;
use crate::claims::Tally;
use crate::paper::{self, Paper};
use crate::paper_experiment::Figure;
use crate::schema::claims::Claim;

/// The papers' pages, by their paths from `docs/`. `drawn` are the names of the files in `docs/reproduction/figures/`: a
/// figure is on its page as soon as it exists.
///
/// # Errors
/// If an experiment cannot be read.
pub fn papers(stored: &[Stored], drawn: &BTreeSet<String>) -> Result<Vec<(String, String)>, Diagnostic> {
    let page = |&paper: &Paper| {
        let own: Vec<&Stored> = stored.iter().filter(|s| s.paper == paper).collect();
        Ok((format!("reproduction/{}.md", paper.name), of_paper(paper, &own, drawn)?))
    };
    paper::ALL.iter().map(page).collect()
}

const LEGEND: &str = "\
- ✓ holds, ✗ does not hold, ≈ inconclusive: a bound lies within the interval; ∅ inert: the mechanism that it is about did nothing.
- Behind a claim is the value by which it was judged, ± half the 95 % confidence interval; of several cases that of the \
one nearest to failing. The full profile is behind it in brackets, where it has another verdict, or another value of a \
claim that does not hold.
- ↳ is another reading of a sentence: the sentence counts once, by its first reading.
- A ratio is ours over the paper's; bold: more than 20 % off.
";

const LEGEND_REAL: &str = "\
- Behind *real* is what the same experiment gave on Linux's own TCP and MPTCP ([testbed.md](../testbed.md)).
";

const CONTRADICTIONS: &str = "\
What the paper defines cannot make them true, or another of its sentences or tables says the opposite. They are judged, and
counted apart.

";

/// The page of a paper.
fn of_paper(paper: Paper, stored: &[&Stored], drawn: &BTreeSet<String>) -> Result<String, Diagnostic> {
    let mut experiments: Vec<(&str, PaperExperiment)> = Vec::new();
    for name in paper.experiments() {
        experiments.push((name, paper_experiment(name)?));
    }
    let anchors = Anchors::of(&experiments);
    let mut whys = Whys::default();
    let mut teller = Teller { anchors: &anchors, whys: &mut whys, prefix: prefix(paper) };
    let all = by_name(&experiments);
    let mut sections = Vec::new();
    for (name, experiment) in &experiments {
        sections.push(section(paper, name, experiment, stored, &all, drawn, &mut teller));
    }
    let mut ends = Vec::new();
    let apart = contradictions(&experiments, stored, &all, &mut teller);
    if !apart.is_empty() {
        ends.push("[Claims that contradict their own paper](#contradictions)");
        sections.push(apart);
    }
    let list = whys.list(&anchors);
    if !list.is_empty() {
        ends.push("[Why results differ](#why)");
        sections.push(format!("<a id=\"why\"></a>\n\n## Why results differ\n\n{list}"));
    }
    let mut text = format!("# {}\n\n{}\n\n", paper.title(), authors(paper));
    for s in stored {
        text += &format!("- {}\n", totals(s, stored));
    }
    let real = if stored.iter().any(|s| s.runs == Runs::Real) { LEGEND_REAL } else { "" };
    let contents = contents(&experiments, stored);
    text += &format!("\n{}\n\n{LEGEND}{real}\n{contents}", links(paper, stored));
    if !ends.is_empty() {
        text += &format!("\n{}.\n", ends.join(" · "));
    }
    for section in sections {
        text += &format!("\n{section}");
    }
    Ok(text)
}

/// The prefix of the sources of its own claims.
fn prefix(paper: Paper) -> &'static str {
    match paper.name {
        "xmp" => "XMP ",
        "opn" => "OPN ",
        "dcm" => "KH slides, ",
        "holnet" => "THESIS ",
        "vmcc" => "VMCC ",
        _ => "",
    }
}

/// Its authors: the first paragraph below the title.
fn authors(paper: Paper) -> String {
    let lines = paper.about.lines().skip(1).skip_while(|line| line.is_empty());
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// How much holds, in a line; for real hosts also how often they agree with the first of `all`, the
/// simulator.
fn totals(stored: &Stored, all: &[&Stored]) -> String {
    let tally = &stored.results.summary;
    let (held, claims) = (tally.claims_hold, tally.claims);
    let mut text = match (stored.runs, all.first()) {
        (Runs::Real, _) if claims == 0 => {
            format!(
                "Real hosts: {} with no claim that counts",
                counted(stored.results.experiments.len(), "experiment")
            )
        }
        (Runs::Simulated(profile), _) => {
            let (profile, readings) = (title_case(profile.name()), tally.claims_hold_in_a_reading);
            let part = stored.part().map(|part| format!(", {part}")).unwrap_or_default();
            format!("{profile} profile{part}: {held} of {claims} claims hold, {readings} in a reading")
        }
        (Runs::Real, simulated) => format!(
            "Real hosts: {held} of {claims} claims hold in {}; {} have the same verdict as in the simulator",
            counted(stored.results.experiments.len(), "experiment"),
            simulated.map_or(0, |simulated| stored.agreement(simulated).same),
        ),
    };
    if tally.numbers > 0 {
        text +=
            &format!("; {} of {} numbers are within 20 %", tally.numbers_within_20_percent, tally.numbers);
    }
    text + &format!("; {}.", duration(tally.wall_s))
}

fn title_case(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Links to the rest: the handwritten page, and the results with every digit.
fn links(paper: Paper, stored: &[&Stored]) -> String {
    let headings: Vec<String> = paper
        .about
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(|heading| format!("\"{heading}\""))
        .collect();
    let files: Vec<String> = stored
        .iter()
        .map(|s| {
            let file = Stored::file(s.paper, s.runs);
            format!("[{file}](../../papers/results/{file})")
        })
        .collect();
    let digits =
        if files.is_empty() { String::new() } else { format!(" Every digit: {}.", files.join(", ")) };
    format!(
        "[papers/{0}/README.md](../../papers/{0}/README.md) explains how the paper was read: {1}.{digits}\n\
         To run everything again: `tresse paper {0}`. [The other papers](../reproduction.md).",
        paper.name,
        headings.join(", "),
    )
}

/// The experiments with their counts: those of the paper's figures, then the others.
fn contents(experiments: &[(&str, PaperExperiment)], stored: &[&Stored]) -> String {
    let mut text = String::new();
    let mut is_beyond = false;
    for (name, experiment) in experiments {
        if rows(name, experiment).is_empty() && !is_beyond {
            is_beyond = true;
            text += "\nBeyond the paper's own figures and tables:\n\n";
        }
        let counts: Vec<(&str, String)> = stored
            .iter()
            .filter_map(|s| Some((s.runs.name(), counts(&s.of(name)?.comparison.summary))))
            .collect();
        let first = counts.first().map(|(_, counts)| &**counts).unwrap_or_default();
        let others: String = (counts.iter().skip(1))
            .filter(|(runs, counts)| counts != first || *runs == Runs::Real.name())
            .filter(|(_, counts)| !counts.is_empty())
            .map(|(runs, counts)| format!(" ({runs}: {counts})"))
            .collect();
        let colon = if first.is_empty() { "" } else { ": " };
        let link = format!("[{}](#{})", heading(name, experiment), file(name));
        text += &format!("- {link}{colon}{first}{others}\n");
    }
    text
}

fn counts(tally: &Tally) -> String {
    let mut parts = Vec::new();
    if tally.claims > 0 {
        parts.push(format!("{} of {}", tally.claims_hold, counted(tally.claims, "claim")));
    }
    if tally.numbers > 0 {
        parts.push(format!("{} of {}", tally.numbers_within_20_percent, counted(tally.numbers, "number")));
    }
    parts.join(", ")
}

/// `Fig. 8: what it shows`.
fn heading(name: &str, experiment: &PaperExperiment) -> String {
    let rows = rows(name, experiment);
    let names: Vec<String> = rows.iter().map(|row| row_name(row)).filter(|name| name.contains(' ')).collect();
    match names.is_empty() {
        true => experiment.title.clone(),
        false => format!("{}: {}", names.join(", "), experiment.title),
    }
}

/// An experiment: its runs, figures, numbers and claims, with those of its further figures below.
fn section<'a>(
    paper: Paper,
    name: &str,
    experiment: &'a PaperExperiment,
    stored: &[&Stored],
    all: &ByName<'a>,
    drawn: &BTreeSet<String>,
    teller: &mut Teller,
) -> String {
    let mut text = format!("<a id=\"{}\"></a>\n\n## {}\n\n", file(name), heading(name, experiment));
    let results: Vec<&Reproduced> = stored.iter().filter_map(|s| s.of(name)).collect();
    text += &ran(name, &results);
    if !results.is_empty() && stored.iter().any(|s| s.runs == FULL && s.of(name).is_none()) {
        text += "\nIt has not been run at full size.\n";
    }
    let judged: Vec<&Reproduced> = results.iter().copied().filter(|result| result.judged).collect();
    let is_apart = |claim: &&Claim| claim.contradicts.is_some();
    let own = sentences(name, experiment.publication.claims.iter().filter(|claim| !is_apart(claim)), all);
    // The row that gives the file its name has no separate place.
    let mut rows = rows(name, experiment);
    rows.sort_by_key(|row| row != file(name));
    for (i, row) in rows.iter().map(Some).chain(rows.is_empty().then_some(None)).enumerate() {
        let row = row.map(String::as_str);
        let is_own = |of: Option<usize>| of.unwrap_or(0) == i;
        let figures: Vec<&Figure> = experiment
            .figures
            .iter()
            .filter(|figure| is_own(rows.iter().position(|row| is_part(row, &figure.id))))
            .filter(|figure| drawn.contains(&drawing(paper, figure)))
            .collect();
        let of_row: Vec<Sentence> = own
            .iter()
            .filter(|s| is_own(rows.iter().position(|row| names(s.source, row))))
            .map(|s| Sentence { readings: s.readings.clone(), ..*s })
            .collect();
        if i > 0 && figures.is_empty() && of_row.is_empty() {
            continue;
        }
        if let Some(row) = row.filter(|_| i > 0) {
            let title = experiment.figures.iter().find(|figure| figure.id == row);
            let title = title.map(|figure| format!(": {}", figure.title)).unwrap_or_default();
            text += &format!("\n<a id=\"{row}\"></a>\n\n### {}{title}\n", row_name(row));
        }
        for figure in figures {
            let caption = figure.caption.as_ref().map(|c| format!(" {c}")).unwrap_or_default();
            text +=
                &format!("\n![{0}](figures/{1})\n\n*{0}.{caption}*\n", figure.title, drawing(paper, figure));
        }
        if i == 0 {
            let tables = numbers::tables(experiment, &judged, name, teller.whys);
            text += &if tables.is_empty() { tables } else { format!("\n{tables}") };
        }
        if !of_row.is_empty() {
            text += &format!("\n{}", teller.list(name, &of_row, &judged));
        }
    }
    let apart: Vec<String> = experiment
        .publication
        .claims
        .iter()
        .filter(is_apart)
        .map(|claim| format!("`{}`", claim.id))
        .collect();
    if !apart.is_empty() {
        let verb = if apart.len() == 1 { "contradicts its" } else { "contradict their" };
        text += &format!("\n{} [{verb} own paper](#contradictions).\n", apart.join(", "));
    }
    text
}

/// The commands that make the results, with their run times.
fn ran(name: &str, results: &[&Reproduced]) -> String {
    if results.is_empty() {
        return format!("    tresse run {name}\n\nThere are no stored results.\n");
    }
    let commands: Vec<String> = results.iter().map(|result| command(name, result)).collect();
    let width = commands.iter().map(String::len).max().unwrap_or_default();
    let mut text = String::new();
    for (command, result) in commands.iter().zip(results) {
        let partial = if result.status == Status::Complete { "" } else { "; it was interrupted" };
        let late = result.testbed.as_ref().map(|own| format!("; {}", own.lateness())).unwrap_or_default();
        let model = match result.model_version {
            MODEL_VERSION => String::new(),
            _ if result.is_real() => String::new(),
            earlier => format!(", model {earlier}"),
        };
        text += &format!(
            "    {command:width$}    # {}, {}, {}{model}{late}{partial}\n",
            counted(result.cases, "case"),
            result.seeds(),
            duration(result.comparison.summary.wall_s)
        );
    }
    for (line, result) in results.iter().filter_map(|result| Some((changed_line(&result.changed)?, result))) {
        text += &match result.judged {
            true => format!("\n**{line}**; judged anyway.\n"),
            false => format!("\n**{line}**: {NOT_JUDGED}.\n"),
        };
    }
    text
}

/// The file with the drawing of a figure.
fn drawing(paper: Paper, figure: &Figure) -> String {
    format!("{}-{}.svg", paper.name, figure.id)
}

/// Whether the figure `id` belongs to the row: `fig8c` to `fig8`, and `fig10` not to `fig1`.
fn is_part(row: &str, id: &str) -> bool {
    id.strip_prefix(row).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Whether a source names the row: `XMP §5.2.2, Fig. 8` names `fig8`.
fn names(source: &str, row: &str) -> bool {
    let name = row_name(row);
    source.match_indices(&name).any(|(at, _)| {
        let rest = &source[at + name.len()..];
        let decimals = rest.strip_prefix('.').unwrap_or(rest);
        !decimals.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// The claims that contradict the paper, each with its result in every experiment; empty if there are none.
fn contradictions(
    experiments: &[(&str, PaperExperiment)],
    stored: &[&Stored],
    all: &ByName,
    teller: &mut Teller,
) -> String {
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for (name, experiment) in experiments {
        let results: Vec<&Reproduced> =
            stored.iter().filter_map(|s| s.of(name)).filter(|result| result.judged).collect();
        for claim in experiment.publication.claims.iter().filter(|claim| claim.contradicts.is_some()) {
            let (mark, value) = teller.told(name, claim, &results);
            let place = format!("[{0}](#{0}) {mark}{value}", file(name));
            let key = root(name, claim);
            match told.iter_mut().find(|(known, _)| *known == key) {
                Some((_, places)) => places.push(place),
                None => told.push((key, vec![place])),
            }
        }
    }
    if told.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "<a id=\"contradictions\"></a>\n\n## Claims that contradict their own paper\n\n{CONTRADICTIONS}"
    );
    for (key, places) in told {
        let claim = all[&key];
        let source = claim.source.as_ref().map(|s| format!(" ({s})")).unwrap_or_default();
        text += &format!("- {}{source}: {}\n", claim.text, places.join("; "));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn figures_and_sources_belong_to_rows() {
        assert!(is_part("fig8", "fig8c") && is_part("table3", "table3-late") && is_part("fig1", "fig1"));
        assert!(!is_part("fig1", "fig10") && !is_part("fig2", "fig2.3"));
        assert!(names("XMP §5.2.2, Fig. 8", "fig8") && names("Fig. 2.3 (b)", "fig2.3"));
        assert!(names("as in Fig. 8.", "fig8") && !names("Fig. 10", "fig1") && !names("Fig. 2.3", "fig2"));
    }

    #[test]
    fn every_paper_has_authors_and_a_prefix() {
        for &paper in paper::ALL {
            let authors = authors(paper);
            assert!(
                !authors.is_empty() && !authors.starts_with('|') && !prefix(paper).is_empty(),
                "{authors}"
            );
        }
    }

    #[test]
    fn what_has_not_been_run_at_full_size_is_said() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/results");
        let all = Stored::all(&folder).expect("they can be read");
        let paper = paper::find("xmp").expect("it is one");
        let own: Vec<&Stored> = all.iter().filter(|s| s.paper == paper).collect();
        let page = |stored: &[&Stored]| of_paper(paper, stored, &BTreeSet::new()).expect("a page");
        let not_run = "It has not been run at full size.";
        assert!(!page(&own).contains(not_run));
        let mut full = (*own.iter().find(|s| s.runs == FULL).expect("it is kept")).clone();
        full.results.experiments.retain(|own| own.experiment == "xmp/fig6");
        full.results.experiments.iter_mut().for_each(|own| own.model_version = 2);
        let quick = own[0];
        let text = page(&[quick, &full]);
        assert_eq!(text.matches(not_run).count(), paper.experiments().len() - 1);
        assert!(text.contains("- Full profile, 1 of 14 experiments: "), "{text}");
        assert!(!page(&[quick]).contains(not_run), "of a paper without any such run nothing is said");
        let board = super::super::scoreboard(&[quick.clone(), full]);
        assert!(board.contains("| full, 1 of 14 experiments, model 2 | "), "{board}");
        assert!(board.contains("| quick | "), "{board}");
    }
}
