//! XMP's testbeds (§4, Fig. 3) and its ring (§5.1, Fig. 5), as the text describes them.

use super::Graph;
use super::wiring::{Links, Wiring};

const ACCESS: usize = 0;
const BOTTLENECK: usize = 1;

impl Graph {
    /// The layers of [`Graph::xmp_torus`]: each bottleneck is a separate layer.
    pub const TORUS_LAYERS: [&str; 6] = ["access", "L1", "L2", "L3", "L4", "L5"];

    /// XMP Fig. 3(a): the bottlenecks DN1 and DN2, each the link between two switches `DN1 in` and `DN1 out`. Flow 1,
    /// S1 to D1, leads over DN1, flow 3 over DN2, and flow 2, S2 to D2, over either: these two hosts have two links.
    /// The background flows are B1 to C1 over DN1 and B2 to C2 over DN2.
    ///
    /// `switch` joins the two, so that every host reaches every other; no shortest path of a flow leads over it.
    pub fn xmp_testbed_a(links: &Links<2>) -> Self {
        let mut wiring = Wiring::new(links, Self::BOTTLENECK_LAYERS);
        let sources = ["S1", "S2", "S3", "B1", "B2"].map(|name| wiring.host(name));
        let destinations = ["D1", "D2", "D3", "C1", "C2"].map(|name| wiring.host(name));
        let ends = ["DN1", "DN2"].map(|name| wiring.bottleneck(name, BOTTLENECK));
        for (flow, over) in [&[0][..], &[0, 1], &[1], &[0], &[1]].into_iter().enumerate() {
            for &bottleneck in over {
                wiring.join(sources[flow], ends[bottleneck][0], ACCESS);
                wiring.join(ends[bottleneck][1], destinations[flow], ACCESS);
            }
        }
        let switch = wiring.switch("switch");
        ends.iter().for_each(|&[start, _]| wiring.join(start, switch, ACCESS));
        wiring.graph()
    }

    /// XMP Fig. 3(b): S1 to D1 … S4 to D4 over one bottleneck, DN.
    pub fn xmp_testbed_b(links: &Links<2>) -> Self {
        let mut wiring = Wiring::new(links, Self::BOTTLENECK_LAYERS);
        let sources = ["S1", "S2", "S3", "S4"].map(|name| wiring.host(name));
        let destinations = ["D1", "D2", "D3", "D4"].map(|name| wiring.host(name));
        let [start, end] = wiring.bottleneck("DN", BOTTLENECK);
        sources.into_iter().for_each(|host| wiring.join(host, start, ACCESS));
        destinations.into_iter().for_each(|host| wiring.join(end, host, ACCESS));
        wiring.graph()
    }

    /// XMP Fig. 5: the bottlenecks L1 to L5 in a ring, each the link between two switches `L1 in` and `L1 out`. Flow i,
    /// Si to Di, leads over Li (its first path) or the next one, from L5 on to L1: these hosts have two links. The
    /// background flows on L3 are B1 to C1 … B4 to C4.
    ///
    /// `switch` joins them, so that every host reaches every other; no shortest path of a flow leads over it.
    pub fn xmp_torus(links: &Links<6>) -> Self {
        let mut wiring = Wiring::new(links, Self::TORUS_LAYERS);
        let numbered = |wiring: &mut Wiring<6>, letter: &str, count: u32| -> Vec<usize> {
            (1..=count).map(|n| wiring.host(format!("{letter}{n}"))).collect()
        };
        let (flows, background) = (Self::TORUS_LAYERS.len() - 1, 4);
        let sources = [("S", flows as u32), ("B", background)];
        let destinations = [("D", flows as u32), ("C", background)];
        let [sources, destinations] = [sources, destinations].map(|groups| {
            groups.into_iter().flat_map(|(l, n)| numbered(&mut wiring, l, n)).collect::<Vec<_>>()
        });
        let mut ends = Vec::new();
        for layer in 1..=flows {
            ends.push(wiring.bottleneck(Self::TORUS_LAYERS[layer], layer));
        }
        for (flow, (source, destination)) in sources.into_iter().zip(destinations).enumerate() {
            let over = if flow < flows { vec![flow, (flow + 1) % flows] } else { vec![2] };
            for bottleneck in over {
                let [start, end] = ends[bottleneck];
                wiring.join(source, start, ACCESS);
                wiring.join(end, destination, ACCESS);
            }
        }
        let switch = wiring.switch("switch");
        ends.iter().for_each(|&[start, _]| wiring.join(start, switch, ACCESS));
        wiring.graph()
    }
}
