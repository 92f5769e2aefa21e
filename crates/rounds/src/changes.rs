//! Links that change: their rates, failures, and ways around them.

use tresse_fabric::{Fabric, HopShares, Path};
use tresse_path_manager::PathChoice;
use tresse_units::BitsPerSecond;

use crate::connection::{Connection, Way};
use crate::links::Links;
use crate::network::Rounds;

impl Rounds {
    /// The rate of a link changes.
    pub fn set_rate(&mut self, link: u32, rate: BitsPerSecond) {
        self.links.set_rate(link, self.now, rate);
        self.follow_links();
    }

    /// A link fails: what waits there and what is sent into it is lost; or it comes back. The node in front of it chooses
    /// among the links that are left, if it has others.
    pub fn set_link(&mut self, link: u32, up: bool) {
        if self.links[link].is_down() != up {
            return;
        }
        self.links.set_up(link, self.now, up, self.packet);
        self.fabric.set_link(link, up);
        self.follow_links();
    }

    /// The nodes recompute their shortest paths over the links that are up.
    pub fn reroute(&mut self) {
        self.fabric.reroute();
        self.follow_links();
    }

    /// Every subflow finds its way again: it may lead over other links, or take another time. Its next batch takes it.
    fn follow_links(&mut self) {
        for c in self.connections.iter_mut().flatten() {
            for i in 0..c.subflows.len() {
                let choice = c.subflows[i].choice;
                // Where no path leads, packets are lost on the old one.
                let way = Way::find(&mut self.fabric, &self.links, c, choice);
                c.subflows[i].moves = way.map(Box::new);
            }
        }
    }
}

impl Way {
    /// The way of a subflow of `c` with this choice of path, if one leads there.
    pub fn find(fabric: &mut Fabric<()>, links: &Links, c: &Connection, choice: PathChoice) -> Option<Self> {
        let sprayed = c.spec.sprayed.as_ref().map(|own| own.paths);
        let paths = &c.spec.paths;
        let [there, back] = if sprayed.is_none() && choice != PathChoice::Spray && !fabric.sprays() {
            let Path { there, back } = paths.chosen(fabric, choice)?;
            [there, back].map(|path| path.into_iter().map(|link| vec![(link, 1.0)]).collect())
        } else {
            paths.spread(fabric, choice, sprayed)?
        };
        Some(Self::of(links, [&there, &back], [c.wire, c.config.ack.into()]))
    }

    /// Over these links, hop by hop, there and back, each with its share of packets, or of ACKs, of these bytes.
    fn of(links: &Links, ways: [&HopShares; 2], bytes: [f64; 2]) -> Self {
        let each = |way: usize| {
            let hops = ways[way].iter().zip(0u16..);
            hops.flat_map(|(hop, number)| hop.iter().map(move |&(link, share)| (link, number, share)))
        };
        let all = || each(0).chain(each(1));
        let base =
            [0, 1].map(|way| each(way).map(|(link, _, share)| share * bare(links, link, bytes[way])).sum());
        let slowest = each(0).map(|(link, _, share)| share * links[link].transmission(bytes[0]));
        let is_divided = all().any(|(_, _, share)| share < 1.0);
        Self {
            hops: each(0).count(),
            base,
            least_gap: slowest.fold(0.0, f64::max),
            loses: each(0).any(|(link, ..)| links.record(link).random_loss > 0.0),
            links: all().map(|(link, ..)| link).collect(),
            shares: all().filter(|_| is_divided).map(|(_, hop, share)| (hop, share as f32)).collect(),
        }
    }

    /// From the first bit of a packet of these bytes to its last at the far end, on empty links, ps, a mean over the paths.
    pub fn empty(&self, links: &Links, bytes: f64) -> f64 {
        let one = |place: usize| self.share(place) * bare(links, self.links[place], bytes);
        (0..self.hops).map(one).sum()
    }

    /// Whether what takes it is lost now.
    pub fn is_cut(&self, links: &Links) -> bool {
        self.links.iter().any(|&link| links[link].is_down())
    }
}

/// The same for one link.
fn bare(links: &Links, link: u32, bytes: f64) -> f64 {
    links.record(link).delay as f64 + links[link].transmission(bytes)
}
