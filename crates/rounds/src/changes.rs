//! Links that change: their rates, failures, and ways around them.

use tresse_fabric::{Fabric, Path};
use tresse_path_manager::PathChoice;
use tresse_units::BitsPerSecond;

use crate::connection::{Connection, Way};
use crate::link::{Link, Record};
use crate::network::Rounds;

impl Rounds {
    /// The rate of a link changes.
    pub fn set_rate(&mut self, link: u32, rate: BitsPerSecond) {
        let (record, own) = (&mut self.records[link as usize], &mut self.links[link as usize]);
        own.advance(self.now);
        record.set_rate(own, rate);
        self.follow_links();
    }

    /// A link fails: what waits there and what is sent into it is lost; or it comes back. The node in front of it chooses
    /// among the links that are left, if it has others.
    pub fn set_link(&mut self, link: u32, up: bool) {
        let (record, own) = (&mut self.records[link as usize], &mut self.links[link as usize]);
        if own.is_down() != up {
            return;
        }
        own.advance(self.now);
        record.set_up(own, up, self.packet);
        self.down = if up { self.down - 1 } else { self.down + 1 };
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
                let way = Way::find(&mut self.fabric, &self.links, &self.records, c, choice);
                c.subflows[i].moves = way.map(Box::new);
            }
        }
    }
}

impl Way {
    /// The way of a subflow of `c` with this choice of path, if one leads there.
    pub fn find(
        fabric: &mut Fabric<()>,
        links: &[Link],
        records: &[Record],
        c: &Connection,
        choice: PathChoice,
    ) -> Option<Self> {
        let Path { there, back } = c.spec.paths.chosen(fabric, choice)?;
        let slowest = there.iter().map(|&l| links[l as usize].transmission(c.wire));
        Some(Self {
            hops: there.len(),
            base: [base(links, records, &there, c.wire), base(links, records, &back, c.config.ack.into())],
            least_gap: slowest.fold(0.0, f64::max),
            loses: there.iter().any(|&l| records[l as usize].random_loss > 0.0),
            links: there.iter().chain(&back).copied().collect(),
        })
    }

    /// Whether what takes it is lost now.
    pub fn is_cut(&self, links: &[Link]) -> bool {
        self.links.iter().any(|&link| links[link as usize].is_down())
    }
}

/// From the first bit of a packet of these bytes to its last at the far end of a path, on empty links, ps.
pub(crate) fn base(links: &[Link], records: &[Record], path: &[u32], bytes: f64) -> f64 {
    path.iter().map(|&l| records[l as usize].delay as f64 + links[l as usize].transmission(bytes)).sum()
}
