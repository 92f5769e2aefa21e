//! `tresse list` and `tresse explain`.

use std::io::{self, Write};

use clap::ValueEnum;
use serde_json::json;
use tresse_controllers as controllers;
use tresse_path_manager as path_manager;
use tresse_units::Parameter;

use crate::catalogue::experiments::{self, PaperEntry};
use crate::catalogue::{self, Kind, declared, distributions, host_balancers, load_balancers, path_managers};
use crate::failure::Failure;
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
/// NAME is a controller, a path manager or another mechanism, an experiment, or a topic.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// What to explain [default: list all names]
    name: Option<String>,
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

impl KindArg {
    /// Its name, as it is given.
    fn name(self) -> String {
        self.to_possible_value().expect("no kind is skipped").get_name().to_owned()
    }

    /// What it is.
    fn meaning(self) -> &'static str {
        match self {
            Self::Controllers => "congestion controllers: what sets the windows",
            Self::PathManagers => "what opens and closes subflows",
            Self::Schedulers => "which subflow gets the next data",
            Self::LoadBalancers => "routing: how switches choose among paths",
            Self::HostBalancers => "which of many paths a sprayed packet takes",
            Self::Topologies => "networks built from a few numbers",
            Self::Workloads => "traffic patterns: who sends how much to whom, when",
            Self::Distributions => "flow sizes, measured in data centres",
            Self::Experiments => "the papers' experiments, and our own",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Controllers => Kind::Controllers,
            Self::PathManagers => Kind::PathManagers,
            Self::Schedulers => Kind::Schedulers,
            Self::LoadBalancers => Kind::LoadBalancers,
            Self::HostBalancers => Kind::HostBalancers,
            Self::Topologies => Kind::Topologies,
            Self::Workloads => Kind::Workloads,
            Self::Distributions => Kind::Distributions,
            Self::Experiments => Kind::Experiments,
        }
    }
}

pub fn list(args: &ListArgs) -> Result<(), Failure> {
    let Some(arg) = args.kind else { return kinds(args.json) };
    let kind = arg.kind();
    if args.json {
        let name = arg.name().replace('-', "_");
        let mut object = serde_json::Map::from_iter([("schema".to_owned(), "tresse/list/1".into())]);
        let entries = match kind {
            Kind::Controllers => serde_json::to_value(catalogue::controllers::entries()),
            Kind::PathManagers => serde_json::to_value(path_managers::entries()),
            Kind::LoadBalancers => serde_json::to_value(load_balancers::entries()),
            Kind::HostBalancers => serde_json::to_value(host_balancers::entries()),
            Kind::Distributions => serde_json::to_value(distributions::entries()),
            Kind::Experiments => serde_json::to_value(experiments::entries()),
            _ => serde_json::to_value(catalogue::list(kind)),
        };
        object.insert(name, entries.expect("entries are plain data"));
        return print_json(&object);
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
fn kinds(json: bool) -> Result<(), Failure> {
    let all = KindArg::value_variants();
    if json {
        let kinds: Vec<_> =
            all.iter().map(|kind| json!({ "name": kind.name(), "title": kind.meaning() })).collect();
        return print_json(&json!({ "schema": "tresse/list/1", "kinds": kinds }));
    }
    let mut table = Table::new(&["tresse list", "what they are"]);
    all.iter().for_each(|kind| table.row(vec![kind.name(), kind.meaning().to_owned()]));
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
    for kind in KindArg::value_variants() {
        let parts = catalogue::list(kind.kind());
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

pub fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        let names = catalogue::names();
        if args.json {
            return print_json(&serde_json::json!({ "schema": "tresse/explain/1", "names": names }));
        }
        write!(io::stdout(), "{}", index(&names))?;
        return Ok(());
    };
    // No name has capital letters, and people write XMP.
    let Some(text) = catalogue::explain(name).or_else(|| catalogue::explain(&name.to_lowercase())) else {
        let names = catalogue::names();
        let hint = tresse_experiment::did_you_mean(name, names.iter().map(String::as_str));
        return Err(Failure::Input(format!(
            "nothing is called `{name}`{hint}\n\nhint: `tresse explain` lists every name"
        )));
    };
    if args.json {
        return print_json(&serde_json::json!({ "schema": "tresse/explain/1", "name": name, "text": text }));
    }
    write!(io::stdout(), "{text}")?;
    Ok(())
}
