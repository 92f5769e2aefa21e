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
    let (targets, orders) = (targets(twin), orders(twin));
    let line = format!(
        "## {title}\n\n`{}`, seeds: {}, {}, `--scale {}`; {}. Targets: {} hold, {} missed, {} undecided; orders: {} hold, {} the \
         other way round, {} undecided.\n\n",
        word("experiment"),
        twin["replications"],
        word("kernel"),
        word("scale"),
        truth(twin),
        targets.held,
        targets.missed,
        targets.undecided,
        orders.held,
        orders.missed,
        orders.undecided,
    );
    out.push_str(&line);
    missed_orders(out, twin);
    let cases = twin["cases"].as_array().into_iter().flatten();
    let missed: Vec<String> = cases.flat_map(missed_rows).collect();
    if !missed.is_empty() {
        out.push_str(
            "| case | missed target | simulated | real | allowed |\n| --- | --- | --- | --- | --- |\n",
        );
        out.extend(missed);
        out.push('\n');
    }
}

/// How faithful the real runs were.
fn truth(twin: &Value) -> String {
    let numbers = |name: &str| -> Vec<f64> {
        twin["testbed"].as_array().into_iter().flatten().filter_map(|run| run[name].as_f64()).collect()
    };
    let late = numbers("late_p99_ns").into_iter().fold(0.0, f64::max) / 1000.0;
    let mut text = format!("99 % of the packets were less than {late:.0} us late in every run");
    let turnarounds = numbers("turnaround_mean_ns");
    if !turnarounds.is_empty() {
        let mean = turnarounds.iter().sum::<f64>() / turnarounds.len() as f64 / 1000.0;
        text += &format!(", and hosts answered after {mean:.0} us (mean)");
    }
    let fell_back: f64 = numbers("fell_back").iter().sum();
    if fell_back > 0.0 {
        text += &format!("; connections that fell back to TCP: {fell_back}");
    }
    text
}

/// Orders that are the other way round.
fn missed_orders(out: &mut String, twin: &Value) {
    let orders = twin["orders"].as_array().into_iter().flatten();
    for order in orders.filter(|order| order["holds"] == false) {
        let percent = |side: &str| order[side].as_f64().unwrap_or_default() * 100.0;
        let word = |name: &str| order[name].as_str().unwrap_or_default();
        let line = format!(
            "The other way round: {} of {} above that of {} by {:.0} % (simulated), by {:.0} % (real).\n\n",
            word("quantity"),
            word("more"),
            word("less"),
            percent("simulated"),
            percent("real"),
        );
        out.push_str(&line);
    }
}

/// The lines of a case's missed targets.
fn missed_rows(case: &Value) -> Vec<String> {
    let label = case["label"].as_str().unwrap_or_default();
    let rows = case["rows"].as_array().into_iter().flatten();
    let line = |row: &Value| {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of = word(&row["of"]);
        let of = if of == "all" { String::new() } else { format!(" of {of}") };
        let target = word(&row["target"]["within"]);
        let (quantity, unit) = (word(&row["quantity"]), word(&row["unit"]));
        let [simulated, real] = ["simulated", "real"].map(|side| number(&row[side]));
        format!("| {label} | {quantity}{of}, {unit} | {simulated} | {real} | {target} |\n")
    };
    rows.filter(|row| row["target"]["holds"] == false).map(line).collect()
}

/// A mean with its interval.
fn number(of: &Value) -> String {
    let mean = of["mean"].as_f64().unwrap_or_default();
    let digits = if mean.abs() >= 1000.0 { 0 } else { 1 };
    match of["ci95"].as_f64() {
        Some(half) if half >= 0.05 => format!("{mean:.digits$} ± {half:.digits$}"),
        _ => format!("{mean:.digits$}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missed_target_has_its_own_numbers() {
        let row = |of: &str, holds: Option<bool>| {
            json!({ "of": of, "quantity": "rate", "unit": "Mbit/s", "target": { "within": "10 %", "holds": holds },
                "simulated": { "mean": 29.61, "ci95": 0.0 }, "real": { "mean": 40.2, "ci95": 2.61 } })
        };
        let case = json!({ "label": "dcm-1 shift",
            "rows": [row("all", Some(true)), row("group background", Some(false)), row("group two", None)] });
        let line = "| dcm-1 shift | rate of group background, Mbit/s | 29.6 | 40.2 ± 2.6 | 10 % |\n";
        assert_eq!(missed_rows(&case), [line]);
    }
}
