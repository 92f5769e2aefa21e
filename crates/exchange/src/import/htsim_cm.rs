//! htsim's connection matrices, `.cm` and `.tm` (csg-htsim, `connection_matrix.cpp`).

use std::collections::BTreeSet;

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::read::flow_file::Flow;
use tresse_experiment::read::sniff_format::instead;
use tresse_experiment::schema::host_names::Host;
use tresse_units::{Bytes, Duration, Rate};
use tresse_workload::MOST_FLOWS;

use super::draft::{Draft, Traffic};
use super::htsim_topo::{Clos, Layer};
use super::packets::Packets;
use super::triggers::{Triggers, value};
use super::words::{Input, Word, of_line};

/// This format, for messages about files that look like several formats.
const OWN: &str = "(htsim-cm)";

/// The counts in the header.
#[derive(Debug, Clone, Copy, Default)]
struct Header {
    nodes: Option<u32>,
    connections: u64,
    triggers: u32,
    failures: u32,
}

/// A link that has failed: the switch of tier 1, and which of its links up.
type Failure<'a> = (u64, u64, Word<'a>);

/// The contents of a connection matrix.
struct Matrix<'a> {
    header: Header,
    flows: Vec<Flow>,
    /// The flow ids, 0 where there is none.
    ids: Vec<u32>,
    triggers: Triggers<'a>,
    failures: Vec<Failure<'a>>,
    seen_priority: bool,
    seen_addon: bool,
    seen_sent: bool,
}

/// The experiment with these flows, on the network of `topo` or htsim's usual one.
pub(crate) fn draft(input: &Input, topo: Option<&Input>) -> Result<Draft, Diagnostic> {
    let matrix = Matrix::read(input)?;
    let nodes = matrix.header.nodes.unwrap_or(0);
    let (clos, mut notes) = match topo {
        Some(topo) => Clos::read(topo)?,
        None => usual(input, nodes)?,
    };
    if clos.hosts() != u64::from(nodes) {
        let other = topo.map_or("", |t| t.name);
        let message = format!("Nodes {nodes}, but {other} has {} hosts", clos.hosts());
        return Err(Diagnostic::input(message).of(input.name));
    }
    let failed = matrix.failed(input, &clos)?;
    let (flows, more) = matrix.flows(input)?;
    notes.extend(more);
    let endless = flows.iter().all(|f| f.size.is_none());
    let mut draft = clos.draft(notes);
    draft.title = format!("{} flows among {nodes} hosts from htsim", flows.len());
    draft.failed = failed;
    draft.traffic = Traffic::Flows(flows, endless.then_some(Duration(100_000_000_000)));
    Ok(draft)
}

/// The network that htsim builds without a `.topo`: the fat tree of this many hosts, with links of 100 Gbit/s
/// and 1 us.
fn usual(input: &Input, nodes: u32) -> Result<(Clos, Vec<String>), Diagnostic> {
    let nodes = u64::from(nodes);
    let Some(k) = (2..=128).step_by(2).find(|k| k * k * k / 4 == nodes) else {
        let name = input.name;
        let message =
            format!("no fat tree has {nodes} hosts (k^3/4), and the file does not name its network");
        let hint = format!("name the topology too: `tresse import htsim-cm {name} FILE.topo`");
        return Err(Diagnostic::input(message).of(name).hint(hint));
    };
    let layer = Layer { rate: Rate(100_000_000_000), delay: Duration(1_000_000), bundle: 1, queue: None };
    let half = k / 2;
    let clos = Clos {
        pods: k,
        edges: half,
        hosts_per_edge: half,
        aggregations: half,
        cores_each: half,
        layers: vec![layer; 3],
        told: false,
    };
    let note = format!(
        "the network is htsim's usual one for {nodes} hosts: a fat tree, k = {k}, 100Gbps, 1us a link"
    );
    Ok((clos, vec![note]))
}

impl<'a> Matrix<'a> {
    fn read(input: &Input<'a>) -> Result<Self, Diagnostic> {
        let mut matrix = Self {
            header: Header::default(),
            flows: Vec::new(),
            ids: Vec::new(),
            triggers: Triggers::default(),
            failures: Vec::new(),
            seen_priority: false,
            seen_addon: false,
            seen_sent: false,
        };
        let mut header = Vec::new();
        for (line, text) in (1..).zip(input.text.lines()) {
            let words = of_line(line, text);
            let Some(first) = words.first() else { continue };
            if ["Nodes", "Connections", "Triggers", "Failures"].contains(&first.text) {
                if let Some(extra) = words.get(2) {
                    return extra.error(input, format!("`{}` after the value", extra.text));
                }
                if header.contains(&first.text) {
                    return first.error(input, format!("`{}` appears twice", first.text));
                }
                header.push(first.text);
            }
            match first.text {
                "Nodes" => matrix.header.nodes = Some(value(input, first, words.get(1))?),
                "Connections" => {
                    matrix.header.connections = value(input, first, words.get(1))?;
                    if matrix.header.connections > MOST_FLOWS {
                        let n = matrix.header.connections;
                        return words[1]
                            .error(input, format!("{n} flows do not fit into memory: at most 10^8"));
                    }
                }
                "Triggers" => matrix.header.triggers = value(input, first, words.get(1))?,
                "Failures" => matrix.header.failures = value(input, first, words.get(1))?,
                "trigger" => matrix.triggers.declare(input, &words)?,
                "failure" => matrix.failure(input, &words)?,
                text if text.contains("->") => matrix.connection(input, &words)?,
                other => {
                    let message =
                        format!("an htsim connection matrix has no line that begins with `{other}`");
                    return first.error(input, instead(&message, input.text, OWN));
                }
            }
        }
        let Header { nodes, connections, failures, .. } = matrix.header;
        if nodes.is_none_or(|n| n == 0) {
            return input.ends(&instead("`Nodes N`", input.text, OWN));
        }
        let found = matrix.flows.len() as u64;
        if found == 0 {
            return input.ends("connections such as `0->13 id 1 start 0 size 2000000`");
        }
        if found != connections {
            let message = format!("{connections} connections, as in its header; there are {found}");
            return input.ends(&message);
        }
        if matrix.failures.len() != failures as usize {
            return input.ends(&format!(
                "{failures} failures, as in its header; there are {}",
                matrix.failures.len()
            ));
        }
        Ok(matrix)
    }

    /// `0->13 id 1 start 0 size 2000000 send_done_trigger 1 prio 5`, or with `trigger N` instead of a start.
    fn connection(&mut self, input: &Input, words: &[Word<'a>]) -> Result<(), Diagnostic> {
        let pair = words[0];
        let Some(nodes) = self.header.nodes else {
            return pair.error(input, "expected `Nodes N` before the connections");
        };
        let ends = pair.text.split_once("->").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let Some((from, to)) = ends else {
            return pair.error(input, format!("expected two hosts such as 0->13, found `{}`", pair.text));
        };
        if let Some(host) = [from, to].into_iter().find(|&host: &u32| host >= nodes) {
            return pair.error(input, format!("there is no host {host}: Nodes {nodes}"));
        }
        if from == to {
            return pair.error(input, format!("host {from} sends to itself"));
        }
        let number = self.flows.len() as u32;
        let (mut start, mut size, mut id, mut trigger) = (None, None, 0, None);
        let mut rest = words[1..].iter();
        let mut seen = Vec::new();
        while let Some(key) = rest.next() {
            if seen.contains(&key.text) {
                return key.error(input, format!("the connection has `{}` twice", key.text));
            }
            seen.push(key.text);
            match key.text {
                "start" => start = Some(picoseconds(input, key, rest.next())?),
                "size" => {
                    let word = rest.next();
                    let bytes = value(input, key, word)?;
                    if let (Some(word), Some(message)) = (word, Packets::OURS.refuse(bytes)) {
                        return word.error(input, message);
                    }
                    size = Some(bytes);
                }
                "id" => {
                    id = value(input, key, rest.next())?;
                    if id == 0 {
                        return key.error(input, "a flow's id must not be 0");
                    }
                }
                "trigger" => {
                    let Some(word) = rest.next() else {
                        return key.error(input, "the line ends after `trigger`");
                    };
                    self.triggers.start(input, word, number)?;
                    if trigger.replace(word).is_some() {
                        return key.error(input, "a flow waits for only one trigger");
                    }
                }
                "send_done_trigger" | "recv_done_trigger" => {
                    let Some(word) = rest.next() else {
                        return key.error(input, format!("the line ends after `{}`", key.text));
                    };
                    self.seen_sent |= key.text.starts_with("send");
                    self.triggers.fire(input, word, number)?;
                }
                "prio" => {
                    value::<i64>(input, key, rest.next())?;
                    self.seen_priority = true;
                }
                "addon" => self.seen_addon = true,
                other => return key.error(input, format!("a connection has no `{other}`")),
            }
        }
        let Some(size) = size else { return pair.error(input, "the connection has no `size`") };
        let start = match (start, trigger) {
            (Some(start), None) => start,
            (None, Some(_)) => 0,
            (None, None) => return pair.error(input, "the connection has neither a `start` nor a `trigger`"),
            (Some(_), Some(word)) => {
                return word.error(input, "the connection has a `start` and a `trigger`");
            }
        };
        let mut flow = Flow::new(Host::Number(from), Host::Number(to), Bytes(size), Duration(start));
        flow.size = flow.size.filter(|s| s.0 > 0);
        self.flows.push(flow);
        self.ids.push(id);
        Ok(())
    }

    /// `failure switch_type AGG switch_id 3 link_id 0`.
    fn failure(&mut self, input: &Input, words: &[Word<'a>]) -> Result<(), Diagnostic> {
        let (mut switch, mut link) = (None, None);
        let mut rest = words[1..].iter();
        while let Some(key) = rest.next() {
            match key.text {
                "switch_type" => match rest.next() {
                    Some(word) if word.text == "AGG" => {}
                    Some(word) => {
                        let message = "htsim supports only failures of AGG switches' links to the core";
                        return word.error(input, message);
                    }
                    None => return key.error(input, "the line ends after `switch_type`"),
                },
                "switch_id" => switch = Some(value(input, key, rest.next())?),
                "link_id" => link = Some(value(input, key, rest.next())?),
                other => return key.error(input, format!("a failure has no `{other}`")),
            }
        }
        let (Some(switch), Some(link)) = (switch, link) else {
            return words[0]
                .error(input, "expected a line such as `failure switch_type AGG switch_id 3 link_id 0`");
        };
        self.failures.push((switch, link, words[0]));
        Ok(())
    }

    /// The links that have failed, by the names of their ends.
    fn failed(&self, input: &Input, clos: &Clos) -> Result<Vec<[String; 2]>, Diagnostic> {
        let switches = clos.pods * clos.aggregations;
        let failed = self.failures.iter().map(|&(switch, link, word)| {
            if switch >= switches || link >= clos.cores_each {
                let message = format!(
                    "there is no such link: {switches} switches of tier 1 have {} links up each",
                    clos.cores_each
                );
                return word.error(input, message);
            }
            if clos.layers.last().is_some_and(|l| l.bundle > 1) {
                return word.error(
                    input,
                    "a single link of a bundle cannot be named: `Bundle` of tier 2 is more than 1",
                );
            }
            Ok(clos.core_link(switch, link))
        });
        failed.collect()
    }

    /// The flows with their conditions, and what is left out.
    fn flows(mut self, input: &Input) -> Result<(Vec<Flow>, Vec<String>), Diagnostic> {
        let mut notes = Vec::new();
        if self.seen_priority {
            notes.push("`prio` is left out: all flows are in one class".to_owned());
        }
        if self.seen_addon {
            notes.push("`addon` is left out".to_owned());
        }
        let triggered = self.triggers.declared() > 0;
        let (waits, more) = self.triggers.waits(input, self.header.triggers)?;
        notes.extend(more);
        if self.seen_sent && triggered {
            let note = "send_done_trigger fires when the last byte has arrived, not when its ACK is back";
            notes.push(note.to_owned());
        }
        // The file's own ids, if it has any: people look for them.
        let own: BTreeSet<u32> = self.ids.iter().copied().filter(|&id| id > 0).collect();
        let named = !waits.is_empty() && own.len() == self.ids.len();
        let id = |flow: u32| if named { self.ids[flow as usize] } else { flow }.to_string();
        for (number, flow) in (0..).zip(&mut self.flows) {
            flow.id = named.then(|| id(number));
            flow.after = waits.get(&number).map(|(needed, fired_by)| {
                let all: Vec<String> = fired_by.iter().map(|&f| id(f)).collect();
                match *needed as usize {
                    n if n == all.len() => all.join(" "),
                    n => format!("{n} of {}", all.join(" ")),
                }
            });
        }
        Ok((self.flows, notes))
    }
}

/// A time in htsim, picoseconds: it reads a float, so there may be decimals, which it drops.
fn picoseconds(input: &Input, key: &Word, word: Option<&Word>) -> Result<u64, Diagnostic> {
    let Some(word) = word else { return key.error(input, "the line ends after `start`") };
    if let Ok(ps) = word.text.parse::<u64>() {
        return Ok(ps);
    }
    match word.text.parse::<f64>() {
        Ok(ps) if (0.0..1e19).contains(&ps) => Ok(ps as u64),
        _ => word.error(input, format!("expected a start in picoseconds, found `{}`", word.text)),
    }
}
