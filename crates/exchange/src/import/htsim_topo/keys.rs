//! The keys of a tier of a `.topo`.

use crate::import::words::Word;

/// The values of a tier, with their positions; tier 0 are the rack switches.
pub type Tier<'a> = [Option<(u64, Word<'a>)>; KEYS.len()];

/// The keys of a tier, in lower case as htsim compares them.
pub const KEYS: [&str; 9] = [
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "downlink_latency_ns",
    "switch_latency_ns",
    "oversubscribed",
    "bundle",
    "queue_up",
    "queue_down",
];
// Their indices.
pub const SPEED: usize = 0;
pub const DOWN: usize = 1;
pub const UP: usize = 2;
pub const LATENCY: usize = 3;
pub const SWITCH: usize = 4;
pub const OVERSUBSCRIBED: usize = 5;
pub const BUNDLE: usize = 6;
pub const QUEUE_UP: usize = 7;
pub const QUEUE_DOWN: usize = 8;

/// Notes on the values of the highest tier that are about links up, of which it has none.
pub fn of_top(tier: &Tier, number: usize) -> Vec<String> {
    let keys = [(UP, "Radix_Up", 0), (QUEUE_UP, "Queue_Up", 0), (OVERSUBSCRIBED, "Oversubscribed", 1)];
    let said = keys.into_iter().filter(|&(key, _, usual)| tier[key].is_some_and(|(value, _)| value != usual));
    said.map(|(_, name, _)| format!("`{name}` of tier {number} is left out: nothing is above it")).collect()
}
