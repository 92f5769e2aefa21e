//! `tresse list` and `tresse explain`.

use std::io::{self, Write};

use clap::ValueEnum;
use serde_json::json;
use tresse_controllers as controllers;
use tresse_path_manager as path_manager;
use tresse_units::Parameter;
use tresse_workbench::catalogue::experiments::{self, PaperEntry};
use tresse_workbench::catalogue::{self, Kind, declared, distributions, host_balancers};

use crate::ended::Ended;
use crate::manual::help;
use crate::output::print_json;
use crate::table::Table;

/// List the parts that an experiment can use
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// What to list [default: the kinds]
    #[arg(value_enum)]
    kind: Option<KindArg>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Explain one part at length
///
/// NAME is a controller, a path manager or another mechanism, an experiment, or a topic. For any other word,
/// such as a key of the experiment's file, a metric or a term of the field, it shows what is said of it and
/// where. Of a command it shows the help.
///
/// Examples:
///   tresse explain xmp
///   tresse explain host_queue
///   tresse explain confidence interval
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ExplainArgs {
    /// What to explain, in one word or several [default: list all names]
    name: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindArg {
    Controllers,
    PathManagers,
    Schedulers,
    LoadBalancers,
    HostBalancers,
    Topologies,
    Workloads,
    Distributions,
    Experiments,
}

impl From<KindArg> for Kind {
    fn from(arg: KindArg) -> Self {
        match arg {
            KindArg::Controllers => Self::Controllers,
            KindArg::PathManagers => Self::PathManagers,
            KindArg::Schedulers => Self::Schedulers,
            KindArg::LoadBalancers => Self::LoadBalancers,
            KindArg::HostBalancers => Self::HostBalancers,
            KindArg::Topologies => Self::Topologies,
            KindArg::Workloads => Self::Workloads,
            KindArg::Distributions => Self::Distributions,
            KindArg::Experiments => Self::Experiments,
        }
    }
}

pub fn list(args: &ListArgs) -> Result<(), Ended> {
    let Some(arg) = args.kind else { return kinds(args.json) };
    let kind = Kind::from(arg);
    if args.json {
        return print_json(&catalogue::list_json(kind));
    }
    let table = match kind {
        Kind::Controllers => controllers(),
        Kind::PathManagers => {
            let parts = path_manager::all().iter();
            declared_parts(parts.map(|d| ([d.name, d.title, d.source], d.parameters)))
        }
        Kind::LoadBalancers => {
            let parts = tresse_fabric::balancers::all().iter();
            declared_parts(parts.map(|d| ([d.name, d.title, d.source], d.parameters)))
        }
        Kind::HostBalancers => {
            let all: Vec<_> =
                tresse_balancers::all().iter().map(|b| (*b, host_balancers::parameters(b))).collect();
            declared_parts(all.iter().map(|(b, own)| ([b.name(), b.title(), b.source()], &**own)))
        }
        Kind::Distributions => sizes(),
        Kind::Experiments => experiments(),
        _ => parts_of(kind),
    };
    write!(io::stdout(), "{table}")?;
    Ok(())
}

/// The kinds of parts.
fn kinds(json: bool) -> Result<(), Ended> {
    if json {
        return print_json(&catalogue::kinds_json());
    }
    let mut table = Table::new(&["tresse list", "what they are"]);
    Kind::LISTED.iter().for_each(|kind| table.row(vec![kind.name().to_owned(), kind.meaning().to_owned()]));
    write!(io::stdout(), "{table}\ntresse explain NAME describes one of them at length\n")?;
    Ok(())
}

fn parts_of(kind: Kind) -> Table {
    let mut table = Table::new(&["name", "what it is", "source"]);
    for e in catalogue::list(kind) {
        table.row(vec![e.name, e.title, e.source]);
    }
    table
}

/// An experiment that covers several rows of the catalogue, or a row of another name, has a second line that names them.
fn experiments() -> Table {
    let mut table = Table::new(&["name", "what it is; the paper's tables and figures in it", "source"]);
    for PaperEntry { entry, rows } in experiments::entries() {
        let is_own_row = rows == [entry.name.as_str()];
        table.row(vec![entry.name, entry.title, entry.source]);
        if !rows.is_empty() && !is_own_row {
            table.row(vec![String::new(), rows.join(", "), String::new()]);
        }
    }
    table
}

/// Two lines for each file: what it is, and its origin with the shares of its flows.
fn sizes() -> Table {
    let mut table =
        Table::new(&["name", "mean", "what it is; per cent to 10 kB / 100 kB / 1 MB / above; origin"]);
    for d in distributions::entries() {
        let mean = d.mean_bytes.map(distributions::mean_text).unwrap_or_default();
        table.row(vec![d.entry.name, mean, d.entry.title]);
        let shares = d.shares.map(distributions::shares_text);
        for text in shares.into_iter().chain(Some(d.entry.source).filter(|s| !s.is_empty())) {
            table.row(vec![String::new(), String::new(), text]);
        }
    }
    table
}

/// Two lines or more for each: what it is, its source with what tells it apart, its parameters.
fn controllers() -> Table {
    let mut table = Table::new(&["name", "what it is; source, signals; parameters"]);
    for c in controllers::all() {
        table.row(vec![c.name().to_owned(), c.title().to_owned()]);
        let coupled = if c.coupled() { "coupled" } else { "not coupled" };
        let second = format!("{}; {coupled}; {}", c.source(), catalogue::controllers::strongest_signals(&c));
        let parameters = c.parameters();
        let parameters = parameters
            .iter()
            .map(|p| format!("{}={} ({} to {})", p.name, p.range.default, p.range.min, p.range.max));
        let why_not = c.why_not_attachable().map(|why| format!("not in Linux: {why}"));
        for text in [second].into_iter().chain(folded(parameters)).chain(why_not) {
            table.row(vec![String::new(), text]);
        }
    }
    table
}

/// Two lines or more for each: what it is, its source, its parameters.
fn declared_parts<'a>(parts: impl Iterator<Item = ([&'a str; 3], &'a [Parameter])>) -> Table {
    let mut table = Table::new(&["name", "what it is; source; parameters"]);
    for ([name, title, source], parameters) in parts {
        table.row(vec![name.to_owned(), title.to_owned()]);
        let parameters = parameters.iter().map(|p| {
            let unit = if p.unit.is_empty() { String::new() } else { format!(" {}", p.unit) };
            format!("{}={}{unit} ({})", p.name, p.range.default(), declared::range(&p.range))
        });
        for text in [source.to_owned()].into_iter().chain(folded(parameters)) {
            table.row(vec![String::new(), text]);
        }
    }
    table
}

/// `texts` with commas between them, in lines that end before column 110.
fn folded(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        match lines.last_mut() {
            Some(line) if line.len() + text.len() <= 80 => *line += &format!(", {text}"),
            Some(line) => {
                line.push(',');
                lines.push(text);
            }
            None => lines.push(text),
        }
    }
    lines
}

/// All `names` that there are pages of: topics with their titles, then the parts of each kind.
fn index(names: &[String]) -> String {
    let mut table = Table::new(&["topic", ""]);
    let topics = catalogue::pages(Kind::Topics);
    topics.iter().for_each(|topic| table.row(vec![topic.name.clone(), topic.title.clone()]));
    let mut text = table.to_string();
    let mut left: Vec<&String> =
        names.iter().filter(|name| topics.iter().all(|topic| topic.name != **name)).collect();
    for kind in Kind::LISTED {
        let parts = catalogue::list(kind);
        let of_kind = |name: &&String| parts.iter().any(|part| part.name == **name);
        let own: Vec<&String> = left.extract_if(.., |name| of_kind(name)).collect();
        text += &section(&format!("{} (tresse list {})", kind.meaning(), kind.name()), &own);
    }
    text + &section("presets of schemes, and figures and tables that are part of an experiment", &left)
}

fn section(head: &str, names: &[&String]) -> String {
    let lines = folded(names.iter().map(ToString::to_string));
    lines.iter().fold(format!("\n{head}\n"), |text, line| format!("{text}  {line}\n"))
}

pub fn explain(args: &ExplainArgs) -> Result<(), Ended> {
    let (name, names) = (args.name.join(" "), catalogue::names());
    if name.is_empty() {
        if args.json {
            return print_json(&json!({ "schema": "tresse/explain/1", "names": names }));
        }
        write!(io::stdout(), "{}", index(&names))?;
        return Ok(());
    }
    // The help of all commands is not rendered for a name that is none of them.
    let command = || help().into_iter().find(|own| own.name == name).map(|own| own.text);
    let text = match (!names.contains(&name)).then(command).flatten() {
        Some(text) => text,
        None => catalogue::explained(&name)?,
    };
    if args.json {
        return print_json(&json!({ "schema": "tresse/explain/1", "name": name, "text": text }));
    }
    write!(io::stdout(), "{text}")?;
    Ok(())
}
