//! The tables of a page: those of a run, as columns that the page reads.

pub mod build;
mod series;

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::Array;
use arrow_schema::DataType;
use indexmap::IndexMap;
use tresse_experiment::Plan;
use tresse_experiment::plan::link_events::LinkEvent;
use tresse_results::store::read::{self, RunTable};
use tresse_units::{Rate, mix};

use crate::cases::Cases;
use build::PageTable;

/// The maximum number of rows of a page's other tables. Larger tables are thinned.
const MOST: usize = 300_000;

/// The tables of the run in `folder`, and what could not be read.
pub fn all(
    folder: &Path,
    cases: &mut Cases,
    plan: Option<&Plan>,
) -> (IndexMap<String, PageTable>, Vec<String>) {
    let (mut tables, mut problems) = (IndexMap::new(), Vec::new());
    let mut read = |name: &str| {
        read::read(folder, name).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        })
    };
    let plain = ["flows", "jobs", "links", "convergence", "rtts", "lengths"].map(|name| (name, read(name)));
    let (samples, queues, paths) = (read("samples"), read("queues"), read("paths"));
    for (name, run) in plain.iter().filter_map(|(name, run)| Some((*name, run.as_ref()?))) {
        match cases.of_rows(run).and_then(|of_rows| as_it_is(name, run, &of_rows)) {
            Ok(table) => drop(tables.insert(name.to_owned(), table)),
            Err(why) => problems.push(format!("{name}.parquet: {why}")),
        }
    }
    let mut add = |names: [&str; 2], made: Result<[PageTable; 2], String>| match made {
        Ok(own) => tables.extend(names.map(str::to_owned).into_iter().zip(own)),
        Err(why) => problems.push(format!("{}.parquet: {why}", names[1])),
    };
    if let Some(run) = &samples {
        let made = cases.of_rows(run).and_then(|of_rows| {
            let of_paths = paths.as_ref().map(|paths| cases.of_rows(paths)).transpose()?;
            series::subflows(run, &of_rows, paths.as_ref().zip(of_paths.as_deref()))
        });
        add(["subflows", "samples"], made);
    }
    if let Some(run) = &queues {
        let made = cases.of_rows(run).and_then(|of_rows| series::ports(run, &of_rows));
        add(["ports", "queues"], made);
    }
    tables.extend(plan.and_then(|plan| events(plan, cases)).map(|table| ("events".to_owned(), table)));
    (tables, problems)
}

/// The run's own columns, with the index of the case instead of its axes.
fn as_it_is(name: &str, run: &RunTable, cases: &[u32]) -> Result<PageTable, String> {
    let rows = run.rows.num_rows();
    let (kept, thinned) = match (rows > MOST, name) {
        // A histogram without some of its buckets would be another one.
        (false, _) | (true, "rtts" | "lengths") => ((0..rows).collect(), None),
        (true, "links") => (first_seeds(run, cases)?, Some("the first seed of each case".to_owned())),
        (true, _) => {
            let one_in = rows.div_ceil(MOST);
            // By a hash of their numbers: flows come in an order that may repeat itself.
            let is_kept = |row: &usize| mix(*row as u64).is_multiple_of(one_in as u64);
            let how =
                format!("about one row in {one_in}, drawn at random; the tables of results cover all rows");
            ((0..rows).filter(is_kept).collect::<Vec<_>>(), Some(how))
        }
    };
    let mut table = PageTable::of(rows);
    table.thinned = thinned;
    table.integers(("case", "", "the index of the case"), kept.iter().map(|&row| cases[row]));
    let schema = run.schema();
    let own = schema.fields().iter().skip_while(|field| field.name() != "seed");
    for field in own {
        let said = |key: &str| field.metadata().get(key).map_or("", String::as_str);
        let about = (field.name().as_str(), said("unit"), said("meaning"));
        if *field.data_type() == DataType::Utf8 {
            let (codes, words) = run.words(field.name())?;
            table.words(about, kept.iter().map(|&row| Some(codes[row])), &words);
        } else {
            let numbers = run.numbers(field.name())?;
            let value = |&row: &usize| numbers.is_valid(row).then(|| numbers.value(row) as f64);
            table.doubles(about, kept.iter().map(value));
        }
    }
    Ok(table)
}

/// The rows of the first seed of each case.
fn first_seeds(run: &RunTable, cases: &[u32]) -> Result<Vec<usize>, String> {
    let seeds = run.values("seed")?;
    let mut first: BTreeMap<u32, u64> = BTreeMap::new();
    for (&case, &seed) in cases.iter().zip(&seeds) {
        let known = first.entry(case).or_insert(seed);
        *known = seed.min(*known);
    }
    Ok((0..seeds.len()).filter(|&row| first[&cases[row]] == seeds[row]).collect())
}

/// The changes during the cases, from the experiment; `None` if there are none.
fn events(plan: &Plan, cases: &mut Cases) -> Option<PageTable> {
    let (mut places, mut times, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for case in &plan.cases {
        let place = cases.of_case(case);
        let fabric = &case.setting.fabric;
        let link = |ports: &[u32]| match ports {
            [] => "no link".to_owned(),
            [port, ..] => {
                let [from, to] = fabric.end_names(*port);
                let more = (ports.len() / 2).saturating_sub(1);
                if more > 0 { format!("{from} – {to} and {more} more") } else { format!("{from} – {to}") }
            }
        };
        for change in &case.setting.changes {
            let label = match &change.what {
                LinkEvent::Rate(ports, rate) => format!("{}: {}", link(ports), Rate(*rate)),
                LinkEvent::Up(ports, true) => format!("{}: up", link(ports)),
                LinkEvent::Up(ports, false) => format!("{}: down", link(ports)),
                LinkEvent::Reroute => "routes are recomputed".to_owned(),
            };
            places.push(place as u32);
            times.push(change.at);
            labels.push(label);
        }
    }
    if places.is_empty() {
        return None;
    }
    let mut table = PageTable::of(places.len());
    table.integers(("case", "", "the index of the case"), places.iter().copied());
    table.doubles(
        ("at_ps", "ps", "when it happens, from the start of the case"),
        times.iter().map(|&t| Some(t as f64)),
    );
    table.words(("kind", "", "what changes"), places.iter().map(|_| Some(0)), &["link".to_owned()]);
    table.words(("label", "", "in words"), (0..labels.len()).map(|n| Some(n as u32)), &labels);
    Some(table)
}
