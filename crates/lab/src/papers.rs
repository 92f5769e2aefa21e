//! The experiments that are built in.

use crate::experiment::Experiment;

/// Name and text.
const BUILT_IN: &[(&str, &str)] = &[
    ("opn/fig2", include_str!("../../../papers/opn/fig2.toml")),
    ("opn/fig3", include_str!("../../../papers/opn/fig3.toml")),
    ("opn/fig4", include_str!("../../../papers/opn/fig4.toml")),
    ("vmcc/table3", include_str!("../../../papers/vmcc/table3.toml")),
    ("vmcc/table3-uncapped", include_str!("../../../papers/vmcc/table3-uncapped.toml")),
    ("xmp/table1", include_str!("../../../papers/xmp/table1.toml")),
];

/// Their names.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// The text of one, with or without `.toml`.
pub fn find(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    BUILT_IN.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// All of them, read.
pub fn all() -> impl Iterator<Item = (&'static str, Experiment)> {
    BUILT_IN.iter().map(|&(name, text)| (name, toml::from_str(text).expect("built-in experiments are valid")))
}
