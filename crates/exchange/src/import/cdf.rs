//! Flow-size distributions of the HPCC simulator's `traffic_gen.py`: lines of a size and a percentage,
//! and the forms of other simulators.

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::read::sniff_format::instead;
use tresse_units::{Duration, Rate};
use tresse_workload::Distribution;

use super::draft::{Draft, Traffic};
use super::graph::{Graph, Link, Node};
use super::packets::Packets;
use super::words::{Input, Word, of_line};

/// This format, for messages about files that look like several formats.
const OWN: &str = "(hpcc-cdf)";

/// The experiment with flows of these sizes. The network is a default.
pub(crate) fn draft(input: &Input) -> Result<Draft, Diagnostic> {
    let most = Packets::OURS.largest();
    let (distribution, text, notes) = match Distribution::read(input.text, most) {
        Ok(read) if read.per_cent && read.notes.is_empty() && is_plain(input) => {
            check(input)?;
            (read.distribution, input.text.trim().to_owned(), Vec::new())
        }
        Ok(read) => {
            let mut notes = read.notes;
            if !read.per_cent {
                let note = "the shares end at 1, so they are fractions; traffic_gen.py has per cent";
                notes.push(note.to_owned());
            }
            let lines: Vec<String> =
                read.distribution.knots().iter().map(|(size, share)| format!("{size} {share}")).collect();
            let notes = notes.into_iter().map(|note| format!("{}: {note}", input.name)).collect();
            (read.distribution, lines.join("\n"), notes)
        }
        Err(error) => {
            if is_plain(input) {
                check(input)?;
            }
            return input.error(error.line, error.column, instead(&error.message, input.text, OWN));
        }
    };
    let cdf = format!("# imported from {}: size in bytes, share of the flows\n{text}\n", input.name);
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
        traffic: Traffic::Sizes(cdf, distribution),
        notes,
    })
}

/// Whether the file has traffic_gen.py's form: two columns and per cent. A file with neither a share above 1 nor
/// a word that is no number has another one.
fn is_plain(input: &Input) -> bool {
    let words = input.text.lines().map(|text| of_line(1, text));
    let all: Vec<Vec<Word>> = words.filter(|words| !words.is_empty()).collect();
    let number = |word: &Word| word.text.parse::<f64>().ok();
    let is_foreign =
        |words: &Vec<Word>| words.len() != 2 || words.iter().any(|w| w.text.contains([',', ';']));
    let odd = all.iter().any(|words| words.iter().any(|word| number(word).is_none()));
    let above = all.iter().filter_map(|words| number(words.get(1)?)).any(|share| share > 1.0);
    !all.iter().any(is_foreign) && (odd || above) || all.is_empty()
}

/// What traffic_gen.py itself requires of a file in its form.
fn check(input: &Input) -> Result<(), Diagnostic> {
    let mut last: Option<(f64, f64)> = None;
    let mut knots = 0;
    for (line, text) in (1..).zip(input.text.lines()) {
        let words = of_line(line, text);
        let (Some(size), Some(percent)) = (words.first(), words.get(1)) else { continue };
        let [x, y] =
            [size, percent].map(|w| w.text.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0));
        let (Some(x), Some(y)) = (x, y) else {
            let bad = if x.is_none() { size } else { percent };
            return bad.error(input, instead("expected a number that is not negative", input.text, OWN));
        };
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
        Some((_, y)) if y == 100.0 && knots > 1 => Ok(()),
        _ => input.ends("sizes up to the one with 100 %"),
    }
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
