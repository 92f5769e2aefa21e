//! Flow-size distributions of the HPCC simulator's `traffic_gen.py`: lines of a size and a percentage.

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::read::sniff_format::instead;
use tresse_units::{Duration, Rate};

use super::draft::{Draft, Packets, Traffic};
use super::graph::{Graph, Link, Node};
use super::words::{Input, of_line};

/// This format, for messages about files that look like several formats.
const OWN: &str = "(hpcc-cdf)";

/// The experiment with flows of these sizes. The network is a default.
pub(crate) fn draft(input: &Input) -> Result<Draft, Diagnostic> {
    let mut last: Option<(f64, f64)> = None;
    let mut knots = 0;
    for (line, text) in (1..).zip(input.text.lines()) {
        let words = of_line(line, text);
        if words.is_empty() {
            continue;
        }
        let (Some(size), Some(percent), None) = (words.first(), words.get(1), words.get(2)) else {
            let message =
                instead("expected a size in bytes and a percentage, such as 10000 15", input.text, OWN);
            return words[0].error(input, message);
        };
        let [x, y] =
            [size, percent].map(|w| w.text.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0));
        let (Some(x), Some(y)) = (x, y) else {
            let bad = if x.is_none() { size } else { percent };
            return bad.error(input, instead("expected a number that is not negative", input.text, OWN));
        };
        if let Some(message) = Packets::OURS.refuse(x.ceil() as u64) {
            return size.error(input, message);
        }
        match last {
            None if y != 0.0 => {
                return percent.error(input, "the first percentage must be 0, as traffic_gen.py requires");
            }
            Some((before, _)) if x <= before => {
                return size.error(input, "sizes must increase from line to line");
            }
            Some((_, before)) if y <= before => {
                return percent.error(input, "percentages must increase from line to line");
            }
            _ if y > 100.0 => return percent.error(input, "more than 100 %"),
            _ => {}
        }
        last = Some((x, y));
        knots += 1;
    }
    match last {
        Some((_, y)) if y == 100.0 && knots > 1 => {}
        _ => return input.ends("sizes up to the one with 100 %"),
    }
    let cdf = format!(
        "# imported from {}: size in bytes, percent of the flows\n{}\n",
        input.name,
        input.text.trim()
    );
    let line = |key: &str, why: &str| (key.to_owned(), why.to_owned());
    Ok(Draft {
        title: format!("Flows with the sizes in {}", input.name),
        about: vec!["The distribution does not describe a network: the fabric and the load are ours.".into()],
        fabric: vec![
            line("topology = \"leaf-spine\"", "not in the file: ours"),
            line("leaves = 4", ""),
            line("spines = 4", ""),
            line("hosts_per_leaf = 4", ""),
            line("rate = \"10Gbps\"", "traffic_gen.py's default -b"),
            line("delay = \"1us\"", ""),
        ],
        queue: None,
        graph: leaf_spine(),
        failed: Vec::new(),
        packets: Packets::OURS,
        traffic: Traffic::Sizes(cdf),
        notes: Vec::new(),
    })
}

/// The network of these keys, from which the thresholds follow: a host of each of two leaves.
fn leaf_spine() -> Graph {
    let node = |host| Node { host, name: String::new() };
    let link =
        |ends| Link { ends, rate: Rate(10_000_000_000), delay: Duration(1_000_000), loss: String::new() };
    Graph {
        nodes: [true, true, false, false, false].map(node).to_vec(),
        links: [[0, 2], [1, 3], [2, 4], [3, 4]].map(link).to_vec(),
    }
}
