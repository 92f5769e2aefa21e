//! The thesis's networks (THESIS Fig. 2.2, 3.2, 4.2), as the text describes them.

use super::Graph;
use super::wiring::{Links, Wiring};

const ACCESS: usize = 0;
const PRIVATE: usize = 1;
const SHARED: usize = 2;

impl Graph {
    /// The layers of [`Graph::thesis_2_2b`], [`Graph::thesis_3_2`] and [`Graph::thesis_4_2`].
    pub const PRIVATE_LAYERS: [&str; 3] = ["access", "private", "shared"];

    /// THESIS §2.4.1: two flows, S1 to D1 and S2 to D2, share a link. It is the dumbbell with two pairs.
    pub fn thesis_2_2a(links: &Links<2>) -> Self {
        Self::dumbbell(2, links)
    }

    /// THESIS §2.4.2: x1, from S1 to D1, has two paths: x11 over its own link, and x12 over one that it
    /// shares with x2, from S2 to D2. The links are those between the switches `private in` and
    /// `private out`, `shared in` and `shared out`.
    pub fn thesis_2_2b(links: &Links<3>) -> Self {
        let mut wiring = Wiring::new(links, Self::PRIVATE_LAYERS);
        let [s1, s2, d1, d2] = ["S1", "S2", "D1", "D2"].map(|name| wiring.host(name));
        let private = wiring.bottleneck("private", PRIVATE);
        let shared = wiring.bottleneck("shared", SHARED);
        for (source, destination, [start, end]) in [(s1, d1, private), (s1, d1, shared), (s2, d2, shared)] {
            wiring.join(source, start, ACCESS);
            wiring.join(end, destination, ACCESS);
        }
        wiring.graph()
    }

    /// THESIS Fig. 3.2, the same as in Balia's paper: S1 sends multipath flows to D, x11 over the switch `a`
    /// with its own link to D (C1, layer `private`), x12 over `b`, whose link to D (C2, layer `shared`) they
    /// share with the TCP flows of S2. There is a host for each user: S1, or S1.1, S1.2 … if there are
    /// `multipath_users`; and so with S2 and `tcp_users`. D is the last host.
    ///
    /// The text has the roles of S1 and S2, and of a and b, both ways around; this follows the results.
    pub fn thesis_3_2(multipath_users: u32, tcp_users: u32, links: &Links<3>) -> Self {
        Self::beside_tcp(["S1", "S2"], [multipath_users, tcp_users], links)
    }

    /// THESIS Fig. 4.2: the network of Fig. 3.2, but S2 has the multipath flows and S1 the TCP flows. S2
    /// comes first among the hosts, as S1 does there. The text names no switch on the path of x11; `a` is
    /// here so that both paths have the same number of links, for a shortest path to be either.
    pub fn thesis_4_2(multipath_users: u32, tcp_users: u32, links: &Links<3>) -> Self {
        Self::beside_tcp(["S2", "S1"], [multipath_users, tcp_users], links)
    }

    fn beside_tcp(names: [&str; 2], users: [u32; 2], links: &Links<3>) -> Self {
        let mut wiring = Wiring::new(links, Self::PRIVATE_LAYERS);
        let hosts = |wiring: &mut Wiring<3>, name: &str, count: u32| -> Vec<usize> {
            let names = (1..=count).map(|n| if count == 1 { name.to_owned() } else { format!("{name}.{n}") });
            names.map(|name| wiring.host(name)).collect()
        };
        let multipath = hosts(&mut wiring, names[0], users[0]);
        let tcp = hosts(&mut wiring, names[1], users[1]);
        let destination = wiring.host("D");
        // Their links do not show it: S1 and D both have one to each switch.
        wiring.in_rack(&multipath, 0);
        wiring.in_rack(&tcp, 0);
        wiring.in_rack(&[destination], 1);
        let [a, b] = ["a", "b"].map(|name| wiring.switch(name));
        for host in multipath {
            wiring.join(host, a, ACCESS);
            wiring.join(host, b, ACCESS);
        }
        tcp.into_iter().for_each(|host| wiring.join(host, b, ACCESS));
        wiring.join(a, destination, PRIVATE);
        wiring.join(b, destination, SHARED);
        wiring.graph()
    }
}
