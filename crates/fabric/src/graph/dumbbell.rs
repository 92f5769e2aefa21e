//! Pairs of hosts over one bottleneck, and over several in a row.

use super::Graph;
use super::wiring::{Links, Wiring};

const ACCESS: usize = 0;
const BOTTLENECK: usize = 1;

impl Graph {
    /// The layers of a dumbbell and of a parking lot.
    pub const BOTTLENECK_LAYERS: [&str; 2] = ["access", "bottleneck"];

    /// The dumbbell: `pairs` sources S1, S2 … on the switch `left` and as many destinations D1, D2 … on `right`,
    /// and the bottleneck between the two switches. Hosts are the sources, then the destinations.
    pub fn dumbbell(pairs: u32, links: &Links<2>) -> Self {
        let mut wiring = Wiring::new(links, Self::BOTTLENECK_LAYERS);
        let sources: Vec<_> = (1..=pairs).map(|n| wiring.host(format!("S{n}"))).collect();
        let destinations: Vec<_> = (1..=pairs).map(|n| wiring.host(format!("D{n}"))).collect();
        let [left, right] = ["left", "right"].map(|name| wiring.switch(name));
        sources.into_iter().for_each(|host| wiring.join(host, left, ACCESS));
        destinations.into_iter().for_each(|host| wiring.join(right, host, ACCESS));
        wiring.join(left, right, BOTTLENECK);
        wiring.graph()
    }

    /// The parking lot: `hops` bottlenecks in a row between `switch 0`, `switch 1` …; S0 to D0 leads over all of them,
    /// S1 to D1 over the first, S2 to D2 over the second … Hosts are the sources, then the destinations.
    pub fn parking_lot(hops: u32, links: &Links<2>) -> Self {
        let mut wiring = Wiring::new(links, Self::BOTTLENECK_LAYERS);
        let sources: Vec<_> = (0..=hops).map(|n| wiring.host(format!("S{n}"))).collect();
        let destinations: Vec<_> = (0..=hops).map(|n| wiring.host(format!("D{n}"))).collect();
        let switches: Vec<_> = (0..=hops).map(|n| wiring.switch(format!("switch {n}"))).collect();
        let ends = sources.into_iter().zip(destinations).zip(0..);
        for ((source, destination), pair) in ends {
            let (first, last) = if pair == 0 { (0, hops as usize) } else { (pair - 1, pair) };
            wiring.join(source, switches[first], ACCESS);
            wiring.join(switches[last], destination, ACCESS);
        }
        switches.windows(2).for_each(|pair| wiring.join(pair[0], pair[1], BOTTLENECK));
        wiring.graph()
    }
}
