//! How flows are distinguished.

/// The identity of a flow within its case and seed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub round: u64,
    pub group: String,
    pub flow: u64,
    pub from: u64,
    pub to: u64,
}

impl Key {
    /// Its name for people: `flow 3, host 0 to 5`, with its group, and its round unless it is the first.
    pub fn name(&self) -> String {
        let Self { round, group, flow, from, to } = self;
        let group = if group.is_empty() { String::new() } else { format!("{group}: ") };
        let round = if *round == 0 { String::new() } else { format!(", round {round}") };
        format!("{group}flow {flow}, host {from} to {to}{round}")
    }
}
