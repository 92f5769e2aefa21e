//! `docs/twin.md`: what `tresse twin` found for the cases of `validation/twin/`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Where the tables go in `validation/twin/page.md`.
const MARKER: &str = "<!-- tables -->\n";

/// The page, made of its text and the results beside it.
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
    let (mut held, mut all) = (0, 0);
    for file in files {
        let twin: Value =
            serde_json::from_str(&read(&file)?).map_err(|e| format!("{}: {e}", file.display()))?;
        let experiment = read(&root.join(twin["experiment"].as_str().unwrap_or_default()))?;
        let title = experiment.lines().find_map(|line| line.strip_prefix("title = ")).unwrap_or_default();
        section(&mut tables, title.trim_matches('"'), &twin);
        let targets = targets(&twin);
        held += targets.iter().filter(|holds| **holds).count();
        all += targets.len();
    }
    let sum = format!("Of {all} targets {held} hold.\n\n");
    Ok(format!("{before}{sum}{tables}{after}"))
}

fn rows(twin: &Value) -> impl Iterator<Item = &Value> {
    let cases = twin["cases"].as_array().into_iter().flatten();
    cases.flat_map(|case| case["rows"].as_array().into_iter().flatten())
}

/// Whether each target holds.
fn targets(twin: &Value) -> Vec<bool> {
    rows(twin).filter_map(|row| row["target"]["holds"].as_bool()).collect()
}

fn section(out: &mut String, title: &str, twin: &Value) {
    let word = |name: &str| twin[name].as_str().unwrap_or_default();
    let runs = || twin["testbed"].as_array().into_iter().flatten();
    let late = runs().filter_map(|run| run["late_p99_ns"].as_f64()).fold(0.0, f64::max) / 1000.0;
    let targets = targets(twin);
    let held = targets.iter().filter(|holds| **holds).count();
    let line = format!(
        "## {title}\n\n`{}`, seeds: {}, {}, `--scale {}`; 99 % of the packets were less than {late:.0} us late in every \
         run. Targets: {held} of {} hold.\n\n\
         | case | simulated, Mbit/s | real | difference | shares, points | queues, packets | RTT | sent again |\n\
         |---|---|---|---|---|---|---|---|\n",
        word("experiment"),
        twin["replications"],
        word("kernel"),
        word("scale"),
        targets.len(),
    );
    out.push_str(&line);
    for case in twin["cases"].as_array().into_iter().flatten() {
        let rows = || case["rows"].as_array().into_iter().flatten();
        let find = |of: &str, what: &str| rows().find(|row| row["of"] == of && row["quantity"] == what);
        let mean = |row: &Value, side: &str| row[side]["mean"].as_f64().unwrap_or_default();
        let worst = |start: &str| {
            let differences =
                rows().filter(|row| row["quantity"].as_str().is_some_and(|q| q.starts_with(start)));
            let worst = differences.filter_map(|row| row["difference"].as_f64());
            let worst = worst.max_by(|a, b| a.abs().total_cmp(&b.abs()));
            worst.map_or("-".to_owned(), |worst| format!("{worst:+.1}"))
        };
        let rtts = rows().filter(|row| row["quantity"] == "RTT").filter_map(|row| row["relative"].as_f64());
        let rtt = rtts.max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let rtt = rtt.map_or("-".to_owned(), |rtt| format!("{:+.1} %", rtt * 100.0));
        let again = find("all", "retransmissions")
            .map_or("-".to_owned(), |row| format!("{:.0}, {:.0}", mean(row, "simulated"), mean(row, "real")));
        let Some(rate) = find("all", "rate") else { continue };
        let with = |side: &str| match rate[side]["ci95"].as_f64() {
            Some(half) if half >= 0.005 => format!("{:.1} ± {half:.1}", mean(rate, side)),
            _ => format!("{:.1}", mean(rate, side)),
        };
        writeln!(
            out,
            "| {} | {} | {} | {:+.1} % | {} | {} | {rtt} | {again} |",
            case["label"].as_str().unwrap_or_default(),
            with("simulated"),
            with("real"),
            rate["relative"].as_f64().unwrap_or_default() * 100.0,
            worst("share"),
            worst("queue"),
        )
        .expect("a string takes everything");
    }
    out.push('\n');
}
