//! The topology: `topology.txt`, and the headers of its forks.

use std::collections::BTreeMap;

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::read::sniff_format::instead;
use tresse_experiment::schema::bounds::RATES;
use tresse_units::{Duration, Probability, Rate};

use crate::import::graph::{Graph, Link, Node};
use crate::import::words::{Input, Word, of_line};

/// A network, and the host for each of its ids.
pub(super) struct Network {
    pub graph: Graph,
    /// By the simulator's id of a host.
    pub numbers: BTreeMap<u32, usize>,
    /// Whether every host has the same number here and there.
    pub alike: bool,
    pub nodes: u32,
}

/// This format, for messages about files that look like several formats.
const TOPOLOGY: &str = "(hpcc)";

/// The most nodes that are read.
const MOST_NODES: u32 = 1 << 22;

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

/// The first line, whose numbers depend on the fork.
#[derive(Debug)]
struct Header {
    nodes: u32,
    /// Including NVSwitches, whose ids come first.
    switches: u32,
    links: u32,
    /// What the rest of the line says.
    note: Option<String>,
}

impl Header {
    /// `nodes switches links`, or that of PowerTCP, Reverie or SimAI.
    fn read(words: &mut Words) -> Result<Self, Diagnostic> {
        let input = words.input;
        let all = words.words.as_slice();
        let line: Vec<Word> = all.iter().take_while(|w| w.line == all[0].line).copied().collect();
        let numbers = line.iter().map_while(|w| w.text.parse::<u64>().ok()).count();
        let note = |who: &str, what: String| Some(format!("{}: the header is {who}'s: {what}", input.name));
        if !matches!((line.len(), numbers), (3, _) | (4, 4) | (6, 6) | (6 | 7, 5)) {
            let message = "expected three numbers in the first line: nodes, switches, links (PowerTCP's four and \
                           SimAI's `nodes gpus_per_server nvswitches switches links gpu_type` are read too)";
            return line[0].error(&input, instead(message, input.text, TOPOLOGY));
        }
        let mut own = Self { nodes: 0, switches: 0, links: 0, note: None };
        let (nodes, switches, links) =
            ("the number of nodes", "the number of switches", "the number of links");
        own.nodes = words.number(nodes)?.0;
        match (line.len(), numbers) {
            (3, _) => {
                own.switches = words.number(switches)?.0;
                own.links = words.number(links)?.0;
            }
            (4, 4) | (6, 6) => {
                own.switches = words.number(switches)?.0;
                let tors = words.number::<u32>("the number of ToR switches")?.0;
                own.links = words.number(links)?.0;
                let (who, rest) = if line.len() == 4 {
                    ("PowerTCP", " is")
                } else {
                    ("Reverie", " and the two capacities are")
                };
                line[4..].iter().try_for_each(|_| words.next("a capacity").map(drop))?;
                own.note = note(who, format!("its number of ToRs, {tors},{rest} left out: links say it"));
            }
            _ => {
                let each: u32 = words.number("the number of GPUs of a server")?.0;
                let nvswitches: u32 = words.number("the number of NVSwitches")?.0;
                let others: u32 = words.number(switches)?.0;
                own.switches = nvswitches.saturating_add(others);
                own.links = words.number(links)?.0;
                let gpu = words.next("the type of the GPUs")?.text;
                line[6..].iter().try_for_each(|_| words.next("GPUs of a node").map(drop))?;
                own.note = note(
                    "SimAI",
                    format!(
                        "its {nvswitches} NVSwitches are switches like the others, GPUs are hosts, and routes are the \
                         shortest; `{each}` GPUs of a server and `{gpu}` are left out"
                    ),
                );
            }
        }
        Ok(own)
    }
}

/// Which nodes are switches, by id.
fn switches(words: &mut Words, header: &Header) -> Result<Vec<bool>, Diagnostic> {
    let (input, nodes) = (words.input, header.nodes);
    let mut is_switch = vec![false; nodes as usize];
    for _ in 0..header.switches {
        let (id, word): (u32, _) = words.number("the id of a switch")?;
        match is_switch.get_mut(id as usize) {
            Some(switch) if !*switch => *switch = true,
            Some(_) => return word.error(&input, format!("switch {id} is listed twice")),
            None => return word.error(&input, no_node(id, nodes)),
        }
    }
    Ok(is_switch)
}

fn no_node(id: u32, nodes: u32) -> String {
    format!("there is no node {id}: {nodes} nodes are 0 to {}", nodes - 1)
}

/// Reads `topology.txt`: a header, the ids of the switches, then `a b rate delay error_rate` for each link. All other
/// nodes are hosts.
pub(super) fn read(input: &Input, notes: &mut Vec<String>) -> Result<Network, Diagnostic> {
    let mut words = Words::new(input);
    let first = words.words.as_slice().first().copied();
    let Some(first) = first else { return input.ends("the numbers of nodes, switches and links") };
    let mut header = Header::read(&mut words)?;
    let Header { nodes, switches: count, .. } = header;
    if nodes > MOST_NODES || count >= nodes {
        let message =
            format!("{nodes} nodes, {count} of them switches: expected some hosts, and at most 2^22 nodes");
        return first.error(input, message);
    }
    notes.extend(header.note.take());
    let is_switch = switches(&mut words, &header)?;
    // Hosts first, each kind in the order of the ids.
    let hosts = (0..nodes).filter(|&id| !is_switch[id as usize]);
    let order: Vec<u32> = hosts.clone().chain((0..nodes).filter(|&id| is_switch[id as usize])).collect();
    let mut place = vec![0; nodes as usize];
    order.iter().zip(0..).for_each(|(&id, i)| place[id as usize] = i);
    let node = |&id: &u32| {
        let host = !is_switch[id as usize];
        Node { host, name: format!("{} {id}", if host { "host" } else { "switch" }) }
    };
    let nodes_of = order.iter().map(node).collect();
    let links = links(&mut words, header.links, &place, notes)?;
    let graph = Graph { nodes: nodes_of, links };
    let rest = words.words.len();
    if rest > 0 {
        notes.push(format!(
            "{}: {rest} words after the last link are left out, as the simulator does",
            input.name
        ));
    }
    let numbers: BTreeMap<u32, usize> = hosts.map(|id| (id, place[id as usize])).collect();
    check_paths(input, &graph, numbers.len())?;
    let alike = numbers.iter().all(|(&id, &number)| id as usize == number);
    if !alike {
        notes.push(
            "hosts are numbered differently: flows name them by the simulator's ids, such as `host 17`"
                .to_owned(),
        );
    }
    Ok(Network { graph, numbers, alike, nodes })
}

/// Every host has a link, and a path over switches to every other.
fn check_paths(input: &Input, graph: &Graph, hosts: usize) -> Result<(), Diagnostic> {
    let name = |node: usize| &graph.nodes[node].name;
    let mut linked = vec![false; graph.nodes.len()];
    graph.links.iter().flat_map(|l| l.ends).for_each(|end| linked[end] = true);
    if let Some(alone) = (0..hosts).find(|&host| !linked[host]) {
        return Err(Diagnostic::input(format!("{} has no link", name(alone))).of(input.name));
    }
    if let Some([a, b]) = graph.apart() {
        let message = format!("no path leads from {} to {} over switches", name(a), name(b));
        return Err(Diagnostic::input(message).of(input.name));
    }
    Ok(())
}

/// The links. The simulator has one interface for each pair of nodes: if a pair is listed again, in either direction,
/// the last line's values hold.
fn links(
    words: &mut Words,
    count: u32,
    place: &[usize],
    notes: &mut Vec<String>,
) -> Result<Vec<Link>, Diagnostic> {
    let mut links: Vec<Link> = Vec::new();
    let mut known: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    // How many lines repeat a pair, how many of these change its values, and the first.
    let (mut again, mut differ, mut first) = (0, 0, None);
    for _ in 0..count {
        let (link, line, ids) = link(words, place)?;
        let mut pair = link.ends;
        pair.sort_unstable();
        let Some(&earlier) = known.get(&pair) else {
            known.insert(pair, links.len());
            links.push(link);
            continue;
        };
        again += 1;
        let one = &mut links[earlier];
        differ += usize::from((one.rate, one.delay, &one.loss) != (link.rate, link.delay, &link.loss));
        first.get_or_insert((line, ids));
        *one = link;
    }
    if let Some((line, [a, b])) = first {
        let differ = if differ > 0 { format!(" ({differ} with other values)") } else { String::new() };
        notes.push(format!(
            "{}: {again} of {count} lines repeat a pair of nodes{differ}, first line {line}, {a} and {b}: a pair has \
             one link, with the values of its last line, as in the simulator, whose nodes have one interface for \
             each neighbour",
            words.input.name
        ));
    }
    Ok(links)
}

/// The next link, its line, and the ids of its ends.
fn link(words: &mut Words, place: &[usize]) -> Result<(Link, usize, [u32; 2]), Diagnostic> {
    let input = words.input;
    let first = words.words.as_slice().first().map_or(0, |word| word.line);
    let read = |words: &mut Words| {
        let (mut ends, mut ids, mut line) = ([0; 2], [0; 2], 0);
        for (end, own) in ends.iter_mut().zip(&mut ids) {
            let (id, word): (u32, _) = words.number("a link such as `0 320 100Gbps 1000ns 0`")?;
            let Some(&node) = place.get(id as usize) else {
                return word.error(&input, no_node(id, place.len() as u32));
            };
            (*end, *own, line) = (node, id, word.line);
        }
        let word = words.next("the link's rate")?;
        if ends[0] == ends[1] {
            return input.error(word.line, 1, "the link leads from a node to itself");
        }
        let rate = rate(&word, &input)?;
        let word = words.next("the link's delay")?;
        let delay = delay(&word, &input)?;
        let (_, word): (f64, _) = words.number("the link's error rate, such as 0.000000")?;
        let loss = loss(&word, &input)?;
        Ok((Link { ends, rate, delay, loss }, line, ids))
    };
    read(words).map_err(|e| {
        match input.text.lines().nth(first.saturating_sub(1)).map(|line| of_line(1, line).len()) {
            None | Some(5) => e,
            Some(n) => {
                e.hint(format!("a link has five words, `a b rate delay error_rate`; line {first} has {n}"))
            }
        }
    })
}

/// A rate as ns-3 reads it: `100Gbps`, `10Gb/s`, `1.25GB/s`; bit/s without a unit.
fn rate(word: &Word, input: &Input) -> Result<Rate, Diagnostic> {
    let text = word.text;
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let bits = unit.strip_suffix("bps").or_else(|| unit.strip_suffix("b/s")).map(|p| (p, 1));
    let bytes = unit.strip_suffix("Bps").or_else(|| unit.strip_suffix("B/s")).map(|p| (p, 8));
    let bare = unit.is_empty().then_some(("", 1));
    let scale = bits.or(bytes).or(bare).and_then(|(prefix, each)| {
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
    let rate = scale.and_then(|scale: u64| {
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
        let parts = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let wide = digits.checked_mul(scale.into())?;
        wide.is_multiple_of(parts).then(|| u64::try_from(wide / parts).ok())?
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
