//! The attributes of nodes and links in a file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, F64Deserializer};
use tresse_units::{Duration, Probability, Queue, Rate};

use super::foreign::{self, Foreign};
use super::{Attribute, Element};
use crate::diagnostic::Wrong;
use crate::schema::links::{check_delay, check_loss, check_rate};

/// How many labels a note names.
const NAMED: usize = 4;

/// What a file says that is not in our words.
#[derive(Default)]
pub struct Heard {
    /// Foreign attributes of links that are read: name, and which of ours they are; how many links have them.
    read: BTreeMap<(String, &'static str), usize>,
    /// Attributes that are not read: of nodes or links, and their name.
    ignored: BTreeMap<(&'static str, String), usize>,
    /// Labels under `type` that are neither `host` nor `switch`.
    labels: BTreeMap<String, usize>,
}

impl Heard {
    /// Notes about a file with this many links.
    pub fn notes(&self, links: usize) -> Vec<String> {
        let mut notes = Vec::new();
        for ((name, ours), n) in &self.read {
            let rest = links - (*n).min(links);
            let rest = match rest {
                0 => String::new(),
                1 => "; 1 link has none, and what [fabric] says".to_owned(),
                rest => format!("; {rest} links have none, and what [fabric] says"),
            };
            notes.push(format!("the {ours} of {} is read from `{name}`{rest}", several(*n, "link")));
        }
        if !self.labels.is_empty() {
            let named: Vec<String> = self.labels.keys().take(NAMED).map(|l| format!("`{l}`")).collect();
            let more = self.labels.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!(
                "`type` of nodes is a label here ({}{more}), not read: nodes with one neighbour are hosts, the \
                 others switches; `kind` = \"host\" or \"switch\" says it for every node",
                named.join(", ")
            ));
        }
        for of in ["nodes", "links"] {
            let names = self.ignored.keys().filter(|(whose, _)| *whose == of);
            let names: Vec<String> = names.map(|(_, name)| format!("`{name}`")).collect();
            if !names.is_empty() {
                notes.push(format!("attributes of {of} that are not read: {}", names.join(", ")));
            }
        }
        notes
    }

    fn ignore(&mut self, of: &'static str, name: &str) {
        // Numbers of parallel links and names, which say nothing about the network.
        if !["key", "id", "label", ""].contains(&name) {
            *self.ignored.entry((of, name.to_owned())).or_default() += 1;
        }
    }
}

/// `3 links`, `1 link`.
pub fn several(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// The attributes of a node.
#[derive(Default)]
pub struct NodeAttributes {
    pub is_host: Option<bool>,
    /// A `type` that says neither, and where it is.
    pub label: Option<(String, usize)>,
    pub name: Option<String>,
    pub rack: Option<u32>,
    pub pod: Option<u32>,
}

impl NodeAttributes {
    const KNOWN: &[&str] = &["kind", "type", "name", "rack", "pod"];

    /// The attributes of the node with this id.
    pub fn new(id: &str, element: &Element, heard: &mut Heard) -> Result<Self, Wrong> {
        let whose = format!("the node `{id}`");
        let mut own = Self::default();
        for Said { name, value, at } in said(&whose, element, Self::KNOWN, heard)? {
            let number = |what: &str| {
                let expected = format!("{whose}: {what} = {value}: expected a whole number of at least 0");
                value.parse::<u32>().map_err(|_| Wrong::offset(at, expected))
            };
            match name {
                "kind" | "type" => {
                    let is_host = match value.to_lowercase().as_str() {
                        "host" => true,
                        "switch" => false,
                        _ if name == "type" => {
                            own.label = Some((value.into_owned(), at));
                            continue;
                        }
                        _ => return Err(neither(id, name, &value, at)),
                    };
                    if own.is_host.replace(is_host).is_some() {
                        return Err(Wrong::offset(
                            at,
                            format!("{whose} has a `kind` and a `type`: leave out one of them"),
                        ));
                    }
                }
                "name" => own.name = Some(value.into_owned()),
                "rack" => own.rack = Some(number("rack")?),
                _ => own.pod = Some(number("pod")?),
            }
        }
        Ok(own)
    }

    /// If nodes say what they are, each must. If none does, a `type` is another tool's label.
    pub fn check_labels(all: &[(String, Self)], heard: &mut Heard) -> Result<(), Wrong> {
        let some_say = all.iter().any(|(_, own)| own.is_host.is_some());
        for (id, own) in all {
            match &own.label {
                Some((label, at)) if some_say && own.is_host.is_none() => {
                    return Err(neither(id, "type", label, *at));
                }
                // A `kind` beside it says what the node is.
                Some(_) if some_say => heard.ignore("nodes", "type"),
                Some((label, _)) => *heard.labels.entry(label.clone()).or_default() += 1,
                None => {}
            }
        }
        Ok(())
    }
}

fn neither(id: &str, name: &str, value: &str, at: usize) -> Wrong {
    let remedy = match name {
        "type" => ", as of other nodes; if `type` is a label in this file, call it something else",
        _ => "",
    };
    Wrong::offset(at, format!("the node `{id}`: {name} = `{value}`: expected `host` or `switch`{remedy}"))
}

/// The attributes of a link, or of one of its directions.
pub struct LinkAttributes {
    whose: String,
    at: usize,
    pub values: LinkValues,
}

/// The values of a link that are in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkValues {
    pub rate: Option<Rate>,
    pub delay: Option<Duration>,
    pub queue: Option<Queue>,
    pub mark: Option<Queue>,
    pub loss: Option<Probability>,
    pub layer: Option<String>,
}

impl LinkAttributes {
    const KNOWN: &[&str] = &["rate", "delay", "queue", "mark", "loss", "layer"];

    /// The attributes of the link between nodes with these names.
    pub fn new([from, to]: [&str; 2], element: &Element, heard: &mut Heard) -> Result<Self, Wrong> {
        let whose = format!("the link of `{from}` and `{to}`");
        let said = said(&whose, element, Self::KNOWN, heard)?;
        let find = |name: &str| said.iter().find(|s| s.name == name);
        let text = |s: &Said, e: String| Wrong::offset(s.at, format!("{whose}: {e}"));
        fn parse<T: FromStr<Err = String>>(s: &Said) -> Result<T, String> {
            s.value.parse()
        }
        let rate = find("rate").map(|s| {
            let rate = parse(s).and_then(|rate| check_rate(rate).map(|()| rate));
            rate.map_err(|e| text(s, e))
        });
        let delay = find("delay").map(|s| {
            let delay = parse(s).and_then(|delay| check_delay(delay).map(|()| delay));
            delay.map_err(|e| text(s, e))
        });
        let queue = |name| find(name).map(|s| parse::<Queue>(s).map_err(|e| text(s, e))).transpose();
        let loss = find("loss").map(|s| {
            let loss = probability(&s.value).and_then(|loss| check_loss(loss).map(|()| loss));
            loss.map_err(|e| text(s, e))
        });
        let values = LinkValues {
            rate: rate.transpose()?,
            delay: delay.transpose()?,
            queue: queue("queue")?,
            mark: queue("mark")?,
            loss: loss.transpose()?,
            layer: find("layer").map(|s| s.value.clone().into_owned()),
        };
        Ok(Self { values, at: element.at, whose })
    }

    /// An error in the link as a whole.
    pub fn wrong(&self, message: &str) -> Wrong {
        Wrong::offset(self.at, format!("{}: {message}", self.whose))
    }
}

fn probability(text: &str) -> Result<Probability, String> {
    let number: f64 =
        text.parse().map_err(|_| format!("loss = {text}: expected a probability such as 0.001"))?;
    let deserializer: F64Deserializer<Error> = number.into_deserializer();
    Probability::deserialize(deserializer).map_err(|e| e.to_string())
}

/// An attribute of ours.
struct Said<'a> {
    name: &'static str,
    value: Cow<'a, str>,
    at: usize,
}

/// Our attributes. Others are ignored, which is heard, unless they are ours in other words.
fn said<'a>(
    whose: &str,
    element: &'a Element,
    known: &'static [&'static str],
    heard: &mut Heard,
) -> Result<Vec<Said<'a>>, Wrong> {
    let is_link = known.contains(&"rate");
    let mut said: Vec<Said> = Vec::new();
    for Attribute { name, value, at } in &element.attributes {
        let at = *at;
        let ours = known.iter().copied().find(|k| *k == name);
        let foreign = match ours {
            None if is_link => foreign::read(name, value.as_deref(), &element.attributes),
            _ => Foreign::Unknown,
        };
        let (ours, value) = match (ours, foreign, value) {
            (Some(ours), _, Some(value)) => (ours, Cow::Borrowed(&**value)),
            (Some(ours), _, None) => {
                return Err(Wrong::offset(at, format!("{whose}: `{ours}` is not a plain value")));
            }
            (None, Foreign::Ours(ours, value), _) => {
                *heard.read.entry((name.clone(), ours)).or_default() += 1;
                (ours, Cow::Owned(value))
            }
            (None, Foreign::Companion, _) => continue,
            (None, Foreign::Unclear(meant), _) => return Err(rename(whose, name, meant, at)),
            (None, Foreign::Unknown, _) => {
                let lower = name.to_lowercase();
                let slip = |ours: &&&str| ours.len() > 3 && strsim::damerau_levenshtein(&lower, ours) <= 1;
                if let Some(meant) = known.iter().find(slip) {
                    return Err(rename(whose, name, meant, at));
                }
                heard.ignore(if is_link { "links" } else { "nodes" }, name);
                continue;
            }
        };
        match said.iter().find(|s| s.name == ours) {
            None => said.push(Said { name: ours, value, at }),
            Some(other) if is_link && is_same(ours, &other.value, &value) => {}
            Some(other) => {
                let [a, b] = [&other.value, &value];
                let message = format!("{whose} has `{ours}` twice, as {a} and {b}: leave out one of them");
                return Err(Wrong::offset(at, message));
            }
        }
    }
    Ok(said)
}

/// Whether two texts of an attribute mean the same.
fn is_same(ours: &str, a: &str, b: &str) -> bool {
    match ours {
        "rate" => a.parse::<Rate>().is_ok_and(|a| b.parse() == Ok(a)),
        "delay" => a.parse::<Duration>().is_ok_and(|a| b.parse() == Ok(a)),
        _ => a == b,
    }
}

/// The error for an attribute that is ours in another tool's words, or with a slip.
fn rename(whose: &str, name: &str, meant: &str, at: usize) -> Wrong {
    let example = match meant {
        "rate" => ", with its unit, such as \"10Gbps\"",
        "delay" => ", with its unit, such as \"20us\"",
        "queue" | "mark" => ", with its unit, such as \"100pkt\"",
        "loss" => ", a probability such as 0.001",
        _ => "",
    };
    Wrong::offset(at, format!("{whose} has an attribute `{name}`: here it is called `{meant}`{example}"))
}
