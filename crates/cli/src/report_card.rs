//! `tresse report-card`: what a controller does in the cases of RFC 9743, of data centres and of multipath transport.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use tresse_units::output_file::{replaces, write_whole};
use tresse_workbench::Failure;
use tresse_workbench::json::pretty;
use tresse_workbench::report_card::{self, Outcome, ReportCard, Request, Subject, Verdict};

use crate::ended::Ended;
use crate::interrupt;
use crate::table::Table;
use crate::width::sentence;

/// Show where controllers pass and fail: RFC 9743's criteria, data centres, multipath
///
/// Each case is a small experiment with a number and a bound. What does not apply to a controller, such as
/// marks to one that hears none, is `n/a`, with the reason. There is no total: a failure stays visible. If
/// a failure of a built-in controller follows from its paper, the card says why. Where a challenge has found
/// that such a controller does worst, the card has that too, simulated and on real hosts.
/// docs/report-card.md explains the sections, and has the cards of all built-in controllers.
///
/// The exit code is 0 whatever the verdicts are. Ctrl-C prints what is done.
///
/// A C file is compiled to native code that runs with your rights: run only what you trust.
///
/// Examples:
///   tresse report-card xmp
///   tresse report-card mine.c dctcp lia --only multipath
///   tresse report-card mine.c --format html -o card.html
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Built-in controllers and C files, side by side
    #[arg(value_name = "CONTROLLER|FILE.c", required = true)]
    controllers: Vec<String>,
    /// Only this section (alone, beside, paths, fabric, routes, multipath, worst-cases) or case; may be given more
    /// than once
    #[arg(long, value_name = "SECTION|CASE")]
    only: Vec<String>,
    /// How the card is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The output file; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file if it already exists
    #[arg(long)]
    force: bool,
    /// How many cases run at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: Option<u16>,
    /// Print one JSON object: the same as `--format json`
    #[arg(long)]
    json: bool,
}

/// How a card is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// As text, as wide as the terminal
    #[default]
    Table,
    /// Tables of GitHub's Markdown
    Markdown,
    /// A page that opens from disk
    Html,
    /// One JSON object
    Json,
}

pub fn run(args: Args) -> Result<(), Ended> {
    let Args { controllers, only, format, out, force, parallel, json } = args;
    let format = if json { Format::Json } else { format };
    let is_stdout = out.as_os_str() == "-";
    if !is_stdout && replaces(&out) && !force {
        let why = format!("{}: the file already exists", out.display());
        let hint = "hint: choose another name, or replace it with `--force`";
        return Err(Failure::Input(format!("{why}\n\n{hint}")).into());
    }
    let interrupt = interrupt::catch()?;
    let request = Request { controllers, only, parallel };
    let card = report_card::run(&request, &interrupt, &mut |line| eprintln!("{line}"))?;
    let text = match format {
        Format::Table => table(&card),
        Format::Markdown => markdown(&card),
        Format::Html => card.html(),
        Format::Json => pretty(&card) + "\n",
    };
    if is_stdout {
        write!(io::stdout(), "{text}")?;
    } else {
        write_whole(&out, text)
            .map_err(|error| Failure::Input(format!("{}: cannot be written: {error}", out.display())))?;
    }
    if card.complete { Ok(()) } else { Err(Failure::Interrupted.into()) }
}

/// The cases, with a column for each controller.
fn cases(card: &ReportCard, section: impl Fn(&str, &str) -> String) -> Table {
    let names = card.controllers.iter().map(|own| own.name);
    let heads: Vec<&str> = ["case", "bound"].into_iter().chain(names).collect();
    let mut table = Table::new(&heads);
    for own in &card.sections {
        table.section(section(own.name, &own.title));
        for case in &own.cases {
            let cells = case.results.iter().map(cell);
            table.row([case.name.clone(), case.bound.clone()].into_iter().chain(cells).collect());
        }
    }
    table
}

fn cell(outcome: &Outcome) -> String {
    format!("{} {}", outcome.verdict.name(), outcome.shown).trim_end().to_owned()
}

/// What is to be said of a controller's verdicts, in lines: its failures, what was not decided, what does not apply.
fn remarks(card: &ReportCard, place: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (case, outcome) in card.with(place, Verdict::Fail) {
        let why = match &outcome.why {
            Some(why) => format!(": {why}"),
            None => String::new(),
        };
        let number = if outcome.shown.is_empty() {
            String::new()
        } else {
            format!(" ({}; {})", outcome.shown, case.bound)
        };
        lines.push(format!("fails {}{number}. {} [{}]{why}", case.name, case.asks, case.source));
    }
    for (case, outcome) in card.with(place, Verdict::Undecided) {
        lines.push(format!("undecided {}: {}", case.name, outcome.why.as_deref().unwrap_or("no reason")));
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (case, outcome) in card.with(place, Verdict::NotApplicable) {
        let why = outcome.why.as_deref().unwrap_or("no reason");
        match reasons.iter_mut().find(|(own, _)| *own == why) {
            Some((_, cases)) => cases.push(&case.name),
            None => reasons.push((why, vec![&case.name])),
        }
    }
    lines.extend(
        reasons
            .into_iter()
            .map(|(why, cases)| format!("not applicable, because {why}: {}", cases.join(", "))),
    );
    lines
}

/// Where a challenge found that a controller does worst, simulated and on real hosts; `None` if none is kept.
fn worst_cases(own: &Subject) -> Option<Table> {
    let mut table = Table::new(&["worst case", "simulated", "on real hosts", "because"]);
    for case in &own.worst_cases {
        let simulated = format!("{:.2}", case.simulated);
        let what = format!("{}: {}", case.name, case.sentence);
        table.row(vec![what, simulated, case.on_hosts(), case.because.clone()]);
    }
    (!own.worst_cases.is_empty()).then_some(table)
}

fn table(card: &ReportCard) -> String {
    let is_empty = card.sections.is_empty();
    let cases = cases(card, |name, title| format!("{name} · {title}"));
    let mut text = if is_empty { String::new() } else { cases.to_string() };
    for (place, own) in card.controllers.iter().enumerate() {
        text += &format!("\n{}\n", own.name);
        for remark in remarks(card, place) {
            text += &format!("  {}\n", sentence(&remark, 4));
        }
        if let Some(table) = worst_cases(own) {
            text += &format!("\n{table}");
        }
    }
    text
}

fn markdown(card: &ReportCard) -> String {
    let names: Vec<&str> = card.controllers.iter().map(|own| own.name).collect();
    let mut text = format!("# Report card: {}\n\n", names.join(", "));
    if !card.sections.is_empty() {
        text += &cases(card, |_, title| title.to_owned()).markdown();
    }
    for (place, own) in card.controllers.iter().enumerate() {
        text += &format!("\n## {}\n\n{} ({})\n\n", own.name, own.title, own.source);
        for remark in remarks(card, place) {
            text += &format!("- {remark}\n");
        }
        if let Some(table) = worst_cases(own) {
            text += &format!("\n{}", table.markdown());
        }
    }
    text + &format!("\n{}, cases {}\n", card.version, card.suite)
}
