//! The attributes of nodes and links in a file.

use std::str::FromStr;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, F64Deserializer};
use tresse_units::{Duration, Probability, Queue, Rate};

use super::{Attribute, Element};
use crate::diagnostic::Wrong;
use crate::keys::links::{check_delay, check_loss, check_rate};

/// The attributes of a node.
#[derive(Default)]
pub struct NodeAttributes {
    pub is_host: Option<bool>,
    pub name: Option<String>,
    pub rack: Option<u32>,
    pub pod: Option<u32>,
}

impl NodeAttributes {
    const KNOWN: &[&str] = &["kind", "type", "name", "rack", "pod"];

    /// The attributes of the node with this id.
    pub fn new(id: &str, element: &Element) -> Result<Self, Wrong> {
        let whose = format!("the node `{id}`");
        let mut own = Self::default();
        for Said { name, value, at } in said(&whose, element, Self::KNOWN)? {
            let number = |what: &str| {
                let expected = format!("{whose}: {what} = {value}: expected a whole number of at least 0");
                value.parse::<u32>().map_err(|_| Wrong::offset(at, expected))
            };
            match name {
                "kind" | "type" => {
                    let is_host = match value {
                        "host" => true,
                        "switch" => false,
                        _ => {
                            return Err(Wrong::offset(
                                at,
                                format!("{whose}: {name} = `{value}`: expected `host` or `switch`"),
                            ));
                        }
                    };
                    if own.is_host.replace(is_host).is_some() {
                        return Err(Wrong::offset(
                            at,
                            format!("{whose} has a `kind` and a `type`: leave out one of them"),
                        ));
                    }
                }
                "name" => own.name = Some(value.to_owned()),
                "rack" => own.rack = Some(number("rack")?),
                _ => own.pod = Some(number("pod")?),
            }
        }
        Ok(own)
    }
}

/// The attributes of a link, or of one of its directions.
pub struct LinkAttributes {
    whose: String,
    at: usize,
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
    pub fn new([from, to]: [&str; 2], element: &Element) -> Result<Self, Wrong> {
        let whose = format!("the link of `{from}` and `{to}`");
        let said = said(&whose, element, Self::KNOWN)?;
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
            let loss = probability(s.value).and_then(|loss| check_loss(loss).map(|()| loss));
            loss.map_err(|e| text(s, e))
        });
        Ok(Self {
            rate: rate.transpose()?,
            delay: delay.transpose()?,
            queue: queue("queue")?,
            mark: queue("mark")?,
            loss: loss.transpose()?,
            layer: find("layer").map(|s| s.value.to_owned()),
            at: element.at,
            whose,
        })
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
    value: &'a str,
    at: usize,
}

/// Our attributes; others are ignored, unless one looks like ours.
fn said<'a>(
    whose: &str,
    element: &'a Element,
    known: &'static [&'static str],
) -> Result<Vec<Said<'a>>, Wrong> {
    let mut said: Vec<Said> = Vec::new();
    for Attribute { name, value, at } in &element.attributes {
        let Some(&ours) = known.iter().find(|k| **k == name) else {
            if let Some(meant) = meant(name, known) {
                return Err(Wrong::offset(
                    *at,
                    format!("{whose} has an attribute `{name}`: here it is called `{meant}`"),
                ));
            }
            continue;
        };
        let Some(value) = value else {
            return Err(Wrong::offset(*at, format!("{whose}: `{ours}` is not a plain value")));
        };
        if said.iter().any(|s| s.name == ours) {
            return Err(Wrong::offset(*at, format!("{whose} has `{ours}` twice")));
        }
        said.push(Said { name: ours, value, at: *at });
    }
    Ok(said)
}

/// The attribute that `name` probably stands for: another tool's word for it, or a typo.
fn meant(name: &str, known: &[&'static str]) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("bandwidth", "rate"),
        ("bw", "rate"),
        ("capacity", "rate"),
        ("datarate", "rate"),
        ("speed", "rate"),
        ("latency", "delay"),
        ("propagation", "delay"),
        ("buffer", "queue"),
        ("queue_size", "queue"),
        ("ecn", "mark"),
        ("threshold", "mark"),
        ("loss_rate", "loss"),
        ("error_rate", "loss"),
        ("tier", "layer"),
    ];
    let lower = name.to_lowercase();
    let word = WORDS.iter().find(|(word, _)| *word == lower).map(|(_, ours)| *ours);
    let slip = |ours: &&&str| ours.len() > 3 && strsim::damerau_levenshtein(&lower, ours) <= 1;
    word.filter(|ours| known.contains(ours)).or_else(|| known.iter().find(slip).copied())
}
