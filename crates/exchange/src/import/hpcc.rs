//! The HPCC simulator's `topology.txt` and `flow.txt` (alibaba-edu/High-Precision-Congestion-Control, `third.cc`).

use std::collections::BTreeMap;

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::keys::bounds::RATES;
use tresse_experiment::keys::host_names::Host;
use tresse_experiment::read::flow_file::Flow;
use tresse_experiment::read::sniff_format::instead;
use tresse_units::{Bytes, Duration, Probability, Rate};
use tresse_workload::MOST_FLOWS;

use super::draft::{Draft, Packets, Traffic};
use super::graph::{Graph, Link, Node};
use super::words::{Input, Word, of_line};

/// The simulator's default sizes.
const PACKETS: Packets =
    Packets { mss: 1000, header: 48, ack: 46, origin: "PACKET_PAYLOAD_SIZE's default; headers without INT" };

/// These formats, for messages about files that look like several formats.
const TOPOLOGY: &str = "(hpcc)";
const FLOWS: &str = "the second file of hpcc";

/// The most nodes that are read.
const MOST_NODES: u32 = 1 << 22;

/// The experiment on this network, with these flows.
pub(crate) fn draft(topology: &Input, flows: Option<&Input>) -> Result<Draft, Diagnostic> {
    let mut notes = Vec::new();
    let network = network(topology, &mut notes)?;
    let hosts = network.numbers.len();
    let traffic = match flows {
        Some(input) => Traffic::Flows(read_flows(input, &network, &mut notes)?, None),
        None => Traffic::Permutation,
    };
    let about = "Queues, ECN thresholds and transport are in the simulator's configuration; here they are ours. \
                 Its priority flow control is left out: full queues drop.";
    Ok(Draft {
        title: match &traffic {
            Traffic::Flows(flows, _) => {
                format!("{} flows among {hosts} hosts from the HPCC simulator", flows.len())
            }
            _ => format!("A network of {hosts} hosts from the HPCC simulator"),
        },
        about: vec![about.to_owned()],
        fabric: Vec::new(),
        queue: None,
        graph: network.graph,
        failed: Vec::new(),
        packets: PACKETS,
        traffic,
        notes,
    })
}

/// A network, and the host for each of its ids.
struct Network {
    graph: Graph,
    /// By the simulator's id of a host.
    numbers: BTreeMap<u32, usize>,
    /// Whether every host has the same number here and there.
    alike: bool,
    nodes: u32,
}

/// The words of a file in sequence: the simulator ignores line breaks.
struct Words<'a> {
    input: Input<'a>,
    words: std::vec::IntoIter<Word<'a>>,
}

impl<'a> Words<'a> {
    fn new(input: &Input<'a>) -> Self {
        let words: Vec<_> =
            (1..).zip(input.text.lines()).flat_map(|(line, text)| of_line(line, text)).collect();
        Self { input: *input, words: words.into_iter() }
    }

    fn next(&mut self, expected: &str) -> Result<Word<'a>, Diagnostic> {
        self.words.next().map_or_else(|| self.input.ends(expected), Ok)
    }

    fn number<N: std::str::FromStr>(&mut self, expected: &str) -> Result<(N, Word<'a>), Diagnostic> {
        let word = self.next(expected)?;
        match word.text.parse() {
            Ok(number) => Ok((number, word)),
            Err(_) => {
                let message = format!("expected {expected}, found `{}`", word.text);
                word.error(&self.input, instead(&message, self.input.text, TOPOLOGY))
            }
        }
    }
}

/// Reads `topology.txt`: `nodes switches links`, the ids of the switches, then `a b rate delay error_rate` for each
/// link. All other nodes are hosts.
fn network(input: &Input, notes: &mut Vec<String>) -> Result<Network, Diagnostic> {
    let mut words = Words::new(input);
    let first =
        words.words.as_slice().iter().take_while(|w| w.line == words.words.as_slice()[0].line).count();
    if first != 3 && first > 0 {
        let place = words.words.as_slice()[0];
        let message = "expected three numbers in the first line: nodes, switches, links";
        return place.error(input, instead(message, input.text, TOPOLOGY));
    }
    let (nodes, word): (u32, _) = words.number("the number of nodes")?;
    let (switches, _): (u32, _) = words.number("the number of switches")?;
    let (links, _): (u32, _) = words.number("the number of links")?;
    if nodes > MOST_NODES || switches >= nodes {
        return word.error(
            input,
            format!(
                "{nodes} nodes, {switches} of them switches: expected some hosts, and at most 2^22 nodes"
            ),
        );
    }
    let mut is_switch = vec![false; nodes as usize];
    for _ in 0..switches {
        let (id, word): (u32, _) = words.number("the id of a switch")?;
        match is_switch.get_mut(id as usize) {
            Some(switch) if !*switch => *switch = true,
            Some(_) => return word.error(input, format!("switch {id} is listed twice")),
            None => {
                return word
                    .error(input, format!("there is no node {id}: {nodes} nodes are 0 to {}", nodes - 1));
            }
        }
    }
    // Hosts first, each kind in the order of the ids.
    let hosts = (0..nodes).filter(|&id| !is_switch[id as usize]);
    let order: Vec<u32> = hosts.clone().chain((0..nodes).filter(|&id| is_switch[id as usize])).collect();
    let mut place = vec![0; nodes as usize];
    order.iter().zip(0..).for_each(|(&id, i)| place[id as usize] = i);
    let node = |&id: &u32| {
        let host = !is_switch[id as usize];
        Node { host, name: format!("{} {id}", if host { "host" } else { "switch" }) }
    };
    let mut graph = Graph { nodes: order.iter().map(node).collect(), links: Vec::new() };
    for _ in 0..links {
        let mut ends = [0; 2];
        for end in &mut ends {
            let (id, word): (u32, _) = words.number("a link such as `0 320 100Gbps 1000ns 0`")?;
            let Some(&node) = place.get(id as usize) else {
                return word
                    .error(input, format!("there is no node {id}: {nodes} nodes are 0 to {}", nodes - 1));
            };
            *end = node;
        }
        let word = words.next("the link's rate")?;
        if ends[0] == ends[1] {
            return input.error(word.line, 1, "the link leads from a node to itself");
        }
        let rate = rate(&word, input)?;
        let word = words.next("the link's delay")?;
        let delay = delay(&word, input)?;
        let (_, word): (f64, _) = words.number("the link's error rate, such as 0.000000")?;
        let loss = loss(&word, input)?;
        graph.links.push(Link { ends, rate, delay, loss });
    }
    let rest = words.words.len();
    if rest > 0 {
        notes.push(format!(
            "{}: {rest} words after the last link are left out, as the simulator does",
            input.name
        ));
    }
    let numbers: BTreeMap<u32, usize> = hosts.map(|id| (id, place[id as usize])).collect();
    let name = |node: usize| &graph.nodes[node].name;
    let mut linked = vec![false; graph.nodes.len()];
    graph.links.iter().flat_map(|l| l.ends).for_each(|end| linked[end] = true);
    if let Some(alone) = (0..numbers.len()).find(|&host| !linked[host]) {
        return Err(Diagnostic::input(format!("{} has no link", name(alone))).of(input.name));
    }
    if let Some([a, b]) = graph.apart() {
        let message = format!("no path leads from {} to {} over switches", name(a), name(b));
        return Err(Diagnostic::input(message).of(input.name));
    }
    let alike = numbers.iter().all(|(&id, &number)| id as usize == number);
    if !alike {
        notes.push(
            "hosts are numbered differently: flows name them by the simulator's ids, such as `host 17`"
                .to_owned(),
        );
    }
    Ok(Network { graph, numbers, alike, nodes })
}

/// A rate as ns-3 writes it: `100Gbps`, `10Gb/s`, `1.25GB/s`.
fn rate(word: &Word, input: &Input) -> Result<Rate, Diagnostic> {
    let text = word.text;
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let bits = unit.strip_suffix("bps").or_else(|| unit.strip_suffix("b/s")).map(|p| (p, 1));
    let bytes = unit.strip_suffix("Bps").or_else(|| unit.strip_suffix("B/s")).map(|p| (p, 8));
    let scale = bits.or(bytes).and_then(|(prefix, each)| {
        let prefixes = [
            ("", 1),
            ("k", 1000),
            ("K", 1000),
            ("M", 1_000_000),
            ("G", 1_000_000_000),
            ("T", 1_000_000_000_000),
        ];
        let binary = [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30)];
        prefixes.iter().chain(&binary).find(|(p, _)| *p == prefix).map(|(_, scale)| scale * each)
    });
    // Via the units of our own files, which read decimals exactly.
    let rate = scale.and_then(|scale: u64| {
        let one: Rate = format!("{number}Tbps").parse().ok()?;
        let wide = u128::from(one.0) * u128::from(scale);
        wide.is_multiple_of(1_000_000_000_000).then(|| u64::try_from(wide / 1_000_000_000_000).ok())?
    });
    match rate {
        Some(rate) if RATES.contains(&rate) => Ok(Rate(rate)),
        Some(rate) => word.error(input, format!("{}: a link's rate is 1kbps to 100Tbps", Rate(rate))),
        None => word.error(
            input,
            instead(&format!("expected a rate such as 100Gbps, found `{text}`"), input.text, TOPOLOGY),
        ),
    }
}

/// A delay as ns-3 writes it: `1000ns`, `0.001ms`; seconds without a unit.
fn delay(word: &Word, input: &Input) -> Result<Duration, Diagnostic> {
    let bare = word.text.ends_with(|c: char| c.is_ascii_digit());
    let text = if bare { format!("{}s", word.text) } else { word.text.to_owned() };
    text.parse()
        .or_else(|_| word.error(input, format!("expected a delay such as 1000ns, found `{}`", word.text)))
}

/// An error rate, in the form of our files; empty if it is 0.
fn loss(word: &Word, input: &Input) -> Result<String, Diagnostic> {
    let value: f64 = word.number(input, "an error rate")?;
    if value == 0.0 {
        return Ok(String::new());
    }
    if !value.is_finite() {
        return word.error(input, format!("{} is not a probability: 0 to 1, such as 0.001", word.text));
    }
    let probability = serde_json::from_value::<Probability>(value.into());
    match probability {
        Ok(_) if value < 1.0 => Ok(format!("{value:?}")),
        Ok(_) => word.error(input, "with an error rate of 1 nothing would ever arrive"),
        Err(e) => word.error(input, e.to_string()),
    }
}

/// Reads `flow.txt`: the number of flows, then `src dst pg dport size start` for each, by their starts.
fn read_flows(input: &Input, network: &Network, notes: &mut Vec<String>) -> Result<Vec<Flow>, Diagnostic> {
    let mut lines = (1..).zip(input.text.lines()).map(|(n, text)| of_line(n, text)).filter(|w| !w.is_empty());
    let Some(first) = lines.next() else { return input.ends("the number of flows") };
    if first.len() != 1 {
        return first[0]
            .error(input, instead("expected only the number of flows in the first line", input.text, FLOWS));
    }
    let count: u64 = first[0].number(input, "the number of flows")?;
    if count == 0 {
        return first[0].error(input, "no flows");
    }
    if count > MOST_FLOWS {
        return first[0]
            .error(input, format!("{count} flows do not fit into memory: a workload may have at most 10^8"));
    }
    let mut flows: Vec<Flow> = Vec::new();
    let mut kinds = (false, false);
    let mut rest = 0;
    for words in lines {
        if flows.len() as u64 == count {
            rest += 1;
            continue;
        }
        let [src, dst, pg, dport, size, start] = &words[..] else {
            let message = instead("expected `src dst pg dport size start`", input.text, FLOWS);
            return words[0].error(input, message);
        };
        let host = |word: &Word| {
            let id: u32 = word.number(input, "the id of a host")?;
            match network.numbers.get(&id) {
                Some(_) if network.alike => Ok(Host::Number(id)),
                Some(_) => Ok(Host::Name(format!("host {id}"))),
                None if id < network.nodes => word.error(input, format!("node {id} is a switch, not a host")),
                None => word.error(input, format!("there is no node {id} in the topology")),
            }
        };
        let (from, to) = (host(src)?, host(dst)?);
        if from == to {
            return dst.error(input, "the host sends to itself");
        }
        kinds.0 |= pg.number::<u32>(input, "a priority group")? != 3;
        kinds.1 |= dport.number::<u32>(input, "a port")? != 100;
        let bytes: u64 = size.number(input, "a size in bytes")?;
        if bytes == 0 {
            return size.error(input, "a flow of 0 bytes would never end in the simulator");
        }
        if let Some(message) = PACKETS.refuse(bytes) {
            return size.error(input, message);
        }
        let begin = seconds(start, input)?;
        if flows.last().is_some_and(|last| last.start > begin) {
            let message = "it starts before the flow above it; the simulator needs the flows sorted by start";
            let hint = "sort the lines after the first by their last column";
            return start.error(input, message).map_err(|e| e.hint(hint));
        }
        flows.push(Flow::new(from, to, Bytes(bytes), begin));
    }
    let found = flows.len() as u64;
    if found < count {
        if !is_overwritten(count, found) {
            return input.ends(&format!("{count} flows, as the first line says; found {found}"));
        }
        notes.push(format!(
            "{}: the first line says {count} flows, but there are {found}: traffic_gen.py leaves digits of its \
             estimate behind the number",
            input.name
        ));
    }
    if rest > 0 {
        let note = format!(
            "{}: {rest} lines after the {count} flows of the first line are left out, as the simulator does",
            input.name
        );
        notes.push(note);
    }
    if kinds.0 {
        notes.push("`pg` is left out: all flows are in one class".to_owned());
    }
    if kinds.1 {
        notes.push("`dport` is left out: each flow has its own ports".to_owned());
    }
    Ok(flows)
}

/// Whether traffic_gen.py wrote `count` for `found` flows: it first writes an estimate and then the number
/// over it, so the last digit of an estimate with one more digit stays: 998 over 1003 gives 9983.
fn is_overwritten(count: u64, found: u64) -> bool {
    let digits = found.checked_ilog10().unwrap_or(0);
    // Estimates are close; the number of flows left in a truncated file is not.
    count / 10 == found && found >= 8 * 10u64.pow(digits)
}

/// A time in seconds, to a picosecond; exponents are rounded to a nanosecond.
fn seconds(word: &Word, input: &Input) -> Result<Duration, Diagnostic> {
    if let Ok(exact) = format!("{}s", word.text).parse() {
        return Ok(exact);
    }
    match word.text.parse::<f64>() {
        Ok(seconds) if (0.0..1e6).contains(&seconds) => Ok(Duration((seconds * 1e9).round() as u64 * 1000)),
        _ => word.error(input, format!("expected a start in seconds, found `{}`", word.text)),
    }
}
