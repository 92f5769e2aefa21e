//! The experiment that an import writes: the contents of the imported files, and default values for the rest.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use tresse_experiment::read::flow_file::{self, Flow};
use tresse_units::{Duration, SECOND};
use tresse_workload::Distribution;

use super::graph::Graph;
use super::imported::Imported;
use super::packets::Packets;
use super::summary::Summary;
use super::words::Input;

/// A line of the file: a key with its value, and the origin of the value.
pub(crate) type Line = (String, String);

/// Who sends what.
pub(crate) enum Traffic {
    /// These flows, and the duration of the run if no flow ends on its own.
    Flows(Vec<Flow>, Option<Duration>),
    /// The file has no flows.
    Permutation,
    /// Sizes of this distribution, and its file.
    Sizes(String, Distribution),
}

/// An experiment being written.
pub(crate) struct Draft {
    pub title: String,
    pub about: Vec<String>,
    /// The keys that describe the network; empty if only the graph does.
    pub fabric: Vec<Line>,
    /// The network, even if keys describe it: the thresholds are derived from it.
    pub graph: Graph,
    /// The queues, if they are in the file.
    pub queue: Option<Line>,
    /// Missing links, by the names of their ends.
    pub failed: Vec<[String; 2]>,
    pub packets: Packets,
    pub traffic: Traffic,
    pub notes: Vec<String>,
}

impl Draft {
    /// The files, for an experiment at `out`.
    pub fn files(self, inputs: &[Input], out: &Path) -> Imported {
        let summary = Summary::of(&self);
        let mut files = Vec::new();
        let beside = |ending: &str| -> (PathBuf, String) {
            let stem = out.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("{stem}.{ending}");
            (out.with_file_name(&name), quoted(&name))
        };
        let mut fabric = self.fabric.clone();
        if fabric.is_empty() {
            let (path, name) = beside("topology.json");
            fabric.push(("topology = \"file\"".into(), String::new()));
            fabric.push((format!("file = {name}"), "every node and link of the imported network".into()));
            files.push((path, self.graph.json()));
        }
        let (keys, rounds) = match &self.traffic {
            Traffic::Flows(flows, duration) => {
                let (path, name) = beside("flows.csv");
                files.push((path, flow_file::write(flows)));
                let mut keys = vec![
                    ("pattern = \"flows\"".into(), format!("{} flows, each as imported", flows.len())),
                    (format!("file = {name}"), String::new()),
                ];
                if let Some(duration) = duration {
                    let why = "not in the file, in which no flow ends: ours".into();
                    keys.push((format!("duration = \"{duration}\""), why));
                }
                (keys, None)
            }
            Traffic::Permutation => {
                let keys: Vec<Line> = vec![
                    (
                        "pattern = \"permutation\"".into(),
                        "not in the file, which has no traffic: all of this is ours".into(),
                    ),
                    ("size = \"10MB\"".into(), String::new()),
                    ("rounds = 4".into(), String::new()),
                ];
                (keys, Some("workloads.imported.rounds = 1"))
            }
            Traffic::Sizes(cdf, _) => {
                let (path, name) = beside("cdf");
                files.push((path, cdf.clone()));
                let keys: Vec<Line> = vec![
                    ("pattern = \"poisson\"".into(), String::new()),
                    (format!("size = {{ file = {name} }}"), "the imported distribution".into()),
                    ("load = 0.3".into(), "traffic_gen.py's default -l, of the hosts' links".into()),
                    ("load_on = \"access\"".into(), String::new()),
                    ("flows = 10000".into(), "not in the file: ours".into()),
                ];
                (keys, Some("workloads.imported.flows = 1000"))
            }
        };
        let mut text = self.head(inputs);
        table(&mut text, "[fabric]", &fabric.into_iter().chain(self.queues()).collect::<Vec<_>>());
        for [a, b] in &self.failed {
            let ends = format!("ends = [{}, {}]", quoted(a), quoted(b));
            table(
                &mut text,
                "[[fabric.links]]",
                &[(ends, String::new()), ("failed = true".into(), String::new())],
            );
        }
        table(&mut text, "[transport]", &self.transport());
        text.push_str(SCHEMES);
        table(&mut text, "[workloads.imported]", &keys);
        if let Some(cut) = rounds {
            table(&mut text, "[profile.quick]", &[(cut.to_owned(), String::new())]);
        }
        files.insert(0, (out.to_owned(), text));
        Imported { files, notes: self.notes, summary }
    }

    fn head(&self, inputs: &[Input]) -> String {
        let names: Vec<&str> = inputs.iter().map(|i| i.name).collect();
        let mut text = String::from(
            "# Written by `tresse import`. Comments say where values come from; change what is ours.\n\n",
        );
        let _ = writeln!(text, "title = {}", quoted(&self.title));
        let _ = writeln!(text, "source = {}", quoted(&format!("imported from {}", names.join(", "))));
        let about: Vec<&str> = self.about.iter().chain(&self.notes).map(|s| &**s).collect();
        // Three quotes in a row would end the text.
        let about = about.join("\n").replace('\\', "\\\\").replace("\"\"\"", "'''");
        let _ = writeln!(text, "about = \"\"\"\n{about}\n\"\"\"");
        text
    }

    /// Thresholds for the network's own bandwidth-delay product, because no format has them.
    fn queues(&self) -> Vec<Line> {
        let Packets { mss, header, ack, .. } = self.packets;
        let (rtt, rate) = self.graph.scale(mss + header, ack);
        let product = (u128::from(rtt) * u128::from(rate) / 8 / u128::from(SECOND)) as u64;
        let packets = product.div_ceil(mss + header);
        let mark = packets.div_ceil(3).max(10);
        let queue = (4 * mark).max(100);
        let ours = format!(
            "not in the file: K of a third of {packets} packets, rate x longest RTT (XMP §2.1, beta 4)"
        );
        let usual = || (format!("queue = \"{queue}pkt\""), "not in the file: 4 K, at least 100".to_owned());
        vec![
            self.queue.clone().unwrap_or_else(usual),
            (format!("mark = \"{mark}pkt\""), ours),
            (format!("host_queue = \"{queue}pkt\""), "not in the file".into()),
            (format!("host_mark = \"{mark}pkt\""), String::new()),
            ("routing = \"ecmp\"".into(), "a hash of each subflow chooses among shortest paths".into()),
        ]
    }

    fn transport(&self) -> Vec<Line> {
        let Packets { mss, header, ack, origin } = self.packets;
        let line = |key: &str, value: &str, why: &str| (format!("{key} = \"{value}\""), why.to_owned());
        vec![
            line("mss", &format!("{mss}B"), origin),
            line("header", &format!("{header}B"), ""),
            line("ack", &format!("{ack}B"), ""),
            line(
                "initial_window",
                "10pkt",
                "RFC 6928; this and the rest are ours, because the file says nothing about hosts",
            ),
            line("rto_min", "10ms", "usual in data centres; Linux has 200ms"),
            line("rto_initial", "1s", "RFC 6298"),
            line("rto_max", "60s", ""),
            line("recovery", "sack", ""),
            line("reduction", "immediate", "XMP, Algorithm 1"),
            line("ack_every", "2pkt", "RFC 5681"),
            line("ack_timer", "40ms", ""),
            line("quick_acks", "16pkt", ""),
        ]
    }
}

/// Two schemes to begin with.
const SCHEMES: &str = r#"
[schemes.dctcp]
controller = "dctcp"
subflows = 1
echo = "dctcp"

[schemes.xmp]
controller = "xmp"
path_manager = { name = "fixed", by = "port" }  # subflows differ by port, which ECMP hashes
subflows = 2
echo = "two-bit"
parameters = { beta = 4 }
"#;

/// A string in TOML syntax.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A table, with aligned comments.
fn table(text: &mut String, head: &str, lines: &[Line]) {
    let _ = writeln!(text, "\n{head}");
    let width = lines.iter().filter(|(_, why)| !why.is_empty()).map(|(key, _)| key.len()).max().unwrap_or(0);
    for (key, why) in lines {
        let _ = match &**why {
            "" => writeln!(text, "{key}"),
            why => writeln!(text, "{key:width$}  # {why}"),
        };
    }
}
