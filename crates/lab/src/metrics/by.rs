//! The metrics of parts.

use std::collections::BTreeMap;

use super::{By, of_flows};
use crate::unit::{Flow, Outcome};

/// The size classes of results, by their largest size, bytes.
const SIZES: [(&str, u64); 4] = [
    ("up to 10kB", 10_000),
    ("10kB to 100kB", 100_000),
    ("100kB to 1MB", 1_000_000),
    ("above 1MB", u64::MAX),
];

/// The metrics of parts of the flows. A division into one part only is left out.
pub fn by(groups: &[String], outcomes: &[Outcome]) -> By {
    type Name<'a> = &'a dyn Fn(&Flow) -> Option<String>;
    let size = |f: &Flow| {
        let bytes = f.begun.start.bytes?;
        SIZES.iter().find(|(_, most)| bytes <= *most).map(|(name, _)| (*name).to_owned())
    };
    let divisions: [(&'static str, Vec<String>, Name); 3] = [
        ("group", groups.to_vec(), &|f| Some(groups[f.begun.member.group].clone())),
        ("distance", ["inner-rack", "inter-rack", "inter-pod"].map(str::to_owned).to_vec(), &|f| {
            Some(f.locality.name().to_owned())
        }),
        ("size", SIZES.iter().map(|(name, _)| (*name).to_owned()).collect(), &size),
    ];
    let mut by = By::new();
    for (division, names, name) in divisions {
        let mut parts: BTreeMap<String, Vec<&Flow>> = BTreeMap::new();
        for flow in outcomes.iter().flat_map(|o| &o.flows) {
            if let Some(name) = name(flow) {
                parts.entry(name).or_default().push(flow);
            }
        }
        if parts.len() < 2 {
            continue;
        }
        let part = |name: String| parts.get(&name).map(|flows| (name.clone(), of_flows(flows)));
        by.insert(division, names.into_iter().filter_map(part).collect());
    }
    by
}
