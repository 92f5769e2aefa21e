//! `validation/twin/README.md`: the results of `tresse twin` for the cases of `validation/twin/`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tresse_workbench::twin::Verdicts;

/// Where the tables go in `validation/twin/page.md`.
const MARKER: &str = "<!-- tables -->\n";

/// The page, made from its text and the results next to it.
///
/// # Errors
/// If a file cannot be read.
pub fn page(root: &Path) -> Result<String, String> {
    let folder = root.join("validation/twin");
    let read =
        |path: &Path| fs::read_to_string(path).map_err(|e| format!("{} cannot be read: {e}", path.display()));
    let text = read(&folder.join("page.md"))?;
    let (before, after) = text.split_once(MARKER).ok_or("validation/twin/page.md has no place for tables")?;
    let results = folder.join("results");
    let entries = fs::read_dir(&results).map_err(|e| format!("{}: {e}", results.display()))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut tables = String::new();
    let mut all = [Verdicts::default(); 2];
    for file in files {
        let twin: Value =
            serde_json::from_str(&read(&file)?).map_err(|e| format!("{}: {e}", file.display()))?;
        let experiment = read(&root.join(twin["experiment"].as_str().unwrap_or_default()))?;
        let title = experiment.lines().find_map(|line| line.strip_prefix("title = ")).unwrap_or_default();
        section(&mut tables, title.trim_matches('"'), &twin);
        all = [all[0] + targets(&twin), all[1] + orders(&twin)];
    }
    let [targets, orders] = all;
    let sum = format!(
        "Of {} targets {} hold, {} are missed, and {} are undecided: their intervals reach across the bound. Orders that are \
         predicted: {}; {} hold, {} the other way round, {} undecided.\n\n",
        targets.all(),
        targets.held,
        targets.missed,
        targets.undecided,
        orders.all(),
        orders.held,
        orders.missed,
        orders.undecided,
    );
    Ok(format!("{before}{sum}{tables}{after}"))
}

fn rows(twin: &Value) -> impl Iterator<Item = &Value> {
    let cases = twin["cases"].as_array().into_iter().flatten();
    cases.flat_map(|case| case["rows"].as_array().into_iter().flatten())
}

fn targets(twin: &Value) -> Verdicts {
    rows(twin).filter_map(|row| row["target"].get("holds")).map(Value::as_bool).collect()
}

fn orders(twin: &Value) -> Verdicts {
    twin["orders"].as_array().into_iter().flatten().map(|order| order["holds"].as_bool()).collect()
}

fn section(out: &mut String, title: &str, twin: &Value) {
    let word = |name: &str| twin[name].as_str().unwrap_or_default();
    let runs = || twin["testbed"].as_array().into_iter().flatten();
    let late = runs().filter_map(|run| run["late_p99_ns"].as_f64()).fold(0.0, f64::max) / 1000.0;
    let (targets, orders) = (targets(twin), orders(twin));
    let line = format!(
        "## {title}\n\n`{}`, seeds: {}, {}, `--scale {}`; 99 % of the packets were less than {late:.0} us late in every \
         run. Targets: {} hold, {} missed, {} undecided; orders: {} hold, {} the other way round, {} undecided.\n\n",
        word("experiment"),
        twin["replications"],
        word("kernel"),
        word("scale"),
        targets.held,
        targets.missed,
        targets.undecided,
        orders.held,
        orders.missed,
        orders.undecided,
    );
    out.push_str(&line);
    let cases = twin["cases"].as_array().into_iter().flatten().map(Case);
    let (cases, kept): (Vec<Case>, Vec<Case>) = cases.partition(|case| case.misses());
    if !kept.is_empty() {
        let names: Vec<&str> = kept.iter().map(|case| case.label()).collect();
        out.push_str(&format!("No target is missed for {}.\n\n", names.join(", ")));
    }
    if cases.is_empty() {
        return;
    }
    // A column in which no case has a number is left out.
    let columns: Vec<(&str, Vec<String>)> = COLUMNS
        .iter()
        .map(|(name, cell)| {
            (*name, cases.iter().map(|case| cell(case).unwrap_or_else(|| "-".to_owned())).collect())
        })
        .filter(|(_, cells): &(_, Vec<String>)| cells.iter().any(|cell| cell != "-"))
        .collect();
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    out.push_str(&line(columns.iter().map(|(name, _)| *name).collect()));
    out.push_str(&line(vec!["---"; columns.len()]));
    for place in 0..cases.len() {
        out.push_str(&line(columns.iter().map(|(_, cells)| cells[place].as_str()).collect()));
    }
    out.push('\n');
}

/// A case of a twin's results.
#[derive(Clone, Copy)]
struct Case<'a>(&'a Value);

type Cell = fn(&Case<'_>) -> Option<String>;

const COLUMNS: [(&str, Cell); 11] = [
    ("case", |case| Some(case.label().to_owned())),
    ("missed", |case| Some(case.missed())),
    ("simulated, Mbit/s", |case| case.with_interval("rate", "simulated")),
    ("real", |case| case.with_interval("rate", "real")),
    ("difference", |case| Some(format!("{:+.1} %", case.all("rate")?["relative"].as_f64()? * 100.0))),
    ("shares, points", |case| case.largest("share", "difference").map(|most| format!("{most:+.1}"))),
    ("queues, packets", |case| case.largest("queue", "difference").map(|most| format!("{most:+.1}"))),
    ("RTT", |case| case.largest("RTT", "relative").map(|most| format!("{:+.1} %", most * 100.0))),
    ("completion time, ms", |case| case.both("completion time, mean")),
    ("sent again", |case| case.both("retransmissions")),
    ("precision; recall, %", |case| {
        let [precision, recall] =
            ["precision", "recall"].map(|what| case.both(&format!("{what} of path sharing")));
        Some(format!("{}; {}", precision.as_deref().unwrap_or("-"), recall?))
    }),
];

impl<'a> Case<'a> {
    fn label(self) -> &'a str {
        self.0["label"].as_str().unwrap_or_default()
    }

    /// Whether one of its targets is missed.
    fn misses(self) -> bool {
        self.rows().any(|row| row["target"]["holds"] == false)
    }

    /// What is missed, each once.
    fn missed(self) -> String {
        let missed = self.rows().filter(|row| row["target"]["holds"] == false);
        let mut names: Vec<&str> = missed.filter_map(|row| row["quantity"].as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    }

    fn rows(self) -> impl Iterator<Item = &'a Value> {
        self.0["rows"].as_array().into_iter().flatten()
    }

    /// The row of the whole case.
    fn all(self, quantity: &str) -> Option<&'a Value> {
        self.rows().find(|row| row["of"] == "all" && row["quantity"] == quantity)
    }

    /// The largest difference of quantities with this prefix.
    fn largest(self, quantity: &str, difference: &str) -> Option<f64> {
        let is = |row: &&Value| row["quantity"].as_str().is_some_and(|own| own.starts_with(quantity));
        let differences = self.rows().filter(is).filter_map(|row| row[difference].as_f64());
        differences.max_by(|a, b| a.abs().total_cmp(&b.abs()))
    }

    fn with_interval(self, quantity: &str, side: &str) -> Option<String> {
        let number = &self.all(quantity)?[side];
        let mean = number["mean"].as_f64()?;
        Some(match number["ci95"].as_f64() {
            Some(half) if half >= 0.005 => format!("{mean:.1} ± {half:.1}"),
            _ => format!("{mean:.1}"),
        })
    }

    /// Simulated, then real.
    fn both(self, quantity: &str) -> Option<String> {
        let row = self.all(quantity)?;
        let mean = |side: &str| row[side]["mean"].as_f64();
        Some(format!("{:.0}, {:.0}", mean("simulated")?, mean("real")?))
    }
}
