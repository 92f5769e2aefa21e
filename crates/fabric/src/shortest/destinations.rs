//! The destinations of a network: hosts that are attached to one switch by one link are one until the last hop.

use crate::topology::Topology;

/// The known shortest paths of a node to a destination.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShortestTo {
    /// Ports on each.
    pub length: u32,
    /// How many there are; 0 if there is none. Capped at 2^32 - 1.
    pub count: u32,
}

/// The nodes of a network by what they are for shortest paths.
///
/// A host with one link to a switch is a leaf: its paths are its switch's, and one port longer. All other nodes have a
/// place. There are far fewer of them than hosts, so that what is known of a destination fits the cache.
#[derive(Debug, Clone)]
pub(super) struct Destinations {
    /// By port: the nodes at its ends.
    pub ends: Vec<[u32; 2]>,
    /// By port: the port of the same link in the other direction.
    pub twins: Vec<u32>,
    /// By node: the ports by which packets leave it.
    pub outgoing: Vec<Vec<u32>>,
    /// By address: its destination, and the port that leads from there to a leaf.
    pub last: Vec<(usize, Option<u32>)>,
    /// By destination: its place, and its addresses.
    destinations: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// By node: its place, or that of a leaf's switch.
    places: Vec<u32>,
    /// By place: its node.
    nodes: Vec<u32>,
    /// The links between places, in the order of their ports, and by place where its own begin.
    links: Vec<Link>,
    starts: Vec<usize>,
    /// How many addresses a host has.
    each: u32,
}

/// A link between two places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub port: u32,
    /// The place at its far end.
    pub to: u32,
}

impl Destinations {
    /// Those of `topology`.
    pub fn of(topology: &Topology) -> Self {
        let network = &topology.network;
        let mut own = Self {
            ends: network.ends.clone(),
            twins: topology.twins(),
            outgoing: network.outgoing(),
            last: Vec::new(),
            destinations: Vec::new(),
            members: Vec::new(),
            places: vec![0; network.nodes as usize],
            nodes: Vec::new(),
            links: Vec::new(),
            starts: Vec::new(),
            each: network.hosts / topology.hosts(),
        };
        let leaf_of = |node: u32| match own.outgoing[node as usize][..] {
            [port] if node < network.hosts && network.ends[port as usize][1] >= network.hosts => {
                Some((network.ends[port as usize][1], own.twins[port as usize]))
            }
            _ => None,
        };
        let switches: Vec<_> = (0..network.nodes).map(leaf_of).collect();
        for node in (0..network.nodes).filter(|&node| switches[node as usize].is_none()) {
            own.places[node as usize] = own.nodes.len() as u32;
            own.nodes.push(node);
        }
        let mut numbers = vec![None; own.nodes.len()];
        for host in 0..network.hosts {
            let leaf = switches[host as usize];
            if let Some((switch, _)) = leaf {
                own.places[host as usize] = own.places[switch as usize];
            }
            let place = own.places[host as usize];
            let destination = *numbers[place as usize].get_or_insert_with(|| {
                own.destinations.push(place);
                own.members.push(Vec::new());
                own.destinations.len() - 1
            });
            own.members[destination].push(host);
            own.last.push((destination, leaf.map(|(_, port)| port)));
        }
        own.link(&switches);
        own
    }

    fn link(&mut self, switches: &[Option<(u32, u32)>]) {
        self.starts.push(0);
        for &node in &self.nodes {
            for &port in &self.outgoing[node as usize] {
                let far = self.ends[port as usize][1] as usize;
                if switches[far].is_none() {
                    self.links.push(Link { port, to: self.places[far] });
                }
            }
            self.starts.push(self.links.len());
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.destinations.len()
    }

    /// The host of an address.
    pub fn host(&self, address: u32) -> u32 {
        address / self.each
    }

    /// The addresses of the same host.
    pub fn siblings(&self, address: u32) -> std::ops::Range<u32> {
        let first = address / self.each * self.each;
        first..first + self.each
    }

    fn is_leaf(&self, node: u32) -> bool {
        self.last.get(node as usize).is_some_and(|(_, last)| last.is_some())
    }

    /// The place of a node, or of a leaf's switch.
    pub fn place(&self, node: u32) -> u32 {
        self.places[node as usize]
    }

    /// The port by which a leaf sends; `None` for other nodes.
    pub fn first(&self, node: u32) -> Option<u32> {
        self.is_leaf(node).then(|| self.outgoing[node as usize][0])
    }

    /// The leaves, each after its switch.
    pub fn leaves(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let leaves = (0..self.last.len() as u32).filter(|&host| self.is_leaf(host));
        leaves.map(|leaf| (self.nodes[self.places[leaf as usize] as usize], leaf))
    }

    /// By place: the shortest paths to a destination.
    pub fn counts(&self, destination: usize) -> Vec<ShortestTo> {
        let mut counts = vec![ShortestTo::default(); self.nodes.len()];
        let place = self.destinations[destination];
        counts[place as usize].count = 1;
        let mut nearest = vec![place];
        while !nearest.is_empty() {
            let mut next = Vec::new();
            for &near in &nearest {
                let ShortestTo { length, count } = counts[near as usize];
                for link in self.links_of(near) {
                    let paths = &mut counts[link.to as usize];
                    if paths.count == 0 {
                        paths.length = length + 1;
                        next.extend(self.passes_on(link.to).then_some(link.to));
                    }
                    if paths.length == length + 1 {
                        paths.count = paths.count.saturating_add(count);
                    }
                }
            }
            nearest = next;
        }
        counts
    }

    fn links_of(&self, place: u32) -> &[Link] {
        &self.links[self.starts[place as usize]..self.starts[place as usize + 1]]
    }

    /// The shortest paths from a node, by those to its destination.
    pub fn from(&self, counts: &[ShortestTo], node: u32) -> ShortestTo {
        let own = counts[self.places[node as usize] as usize];
        let more = u32::from(self.is_leaf(node) && own.count > 0);
        ShortestTo { length: own.length + more, ..own }
    }

    /// The ports of a node that lead nearer to the destination of `counts`, and the paths from there.
    pub fn towards<'a>(
        &'a self,
        counts: &'a [ShortestTo],
        node: u32,
    ) -> impl Iterator<Item = (u32, ShortestTo)> + 'a {
        let place = self.place(node);
        let own = counts[place as usize];
        let first = self.first(node).filter(|_| own.count > 0).map(|port| (port, own));
        let links = (!self.is_leaf(node)).then(|| self.links_towards(counts, place));
        let next = links.into_iter().flatten().map(|link| (link.port, counts[link.to as usize]));
        first.into_iter().chain(next)
    }

    /// The links of a place that lead nearer to the destination of `counts`.
    #[inline]
    pub fn links_towards<'a>(
        &'a self,
        counts: &'a [ShortestTo],
        place: u32,
    ) -> impl Iterator<Item = Link> + 'a {
        let nearer = counts[place as usize].length.wrapping_sub(1);
        self.links_of(place).iter().copied().filter(move |link| {
            let next = counts[link.to as usize];
            // A host passes nothing on, unless it is the destination.
            next.length == nearer && next.count > 0 && (nearer == 0 || self.passes_on(link.to))
        })
    }

    /// Whether packets for others may go through a place: not through a host.
    fn passes_on(&self, place: u32) -> bool {
        self.nodes[place as usize] as usize >= self.last.len()
    }

    /// The places that reach the destination of `counts`, the nearest first, without its own.
    pub fn by_length(&self, counts: &[ShortestTo]) -> Vec<u32> {
        let mut places: Vec<u32> =
            (0..counts.len() as u32).filter(|&place| counts[place as usize].length > 0).collect();
        places.sort_by_key(|&place| counts[place as usize].length);
        places
    }

    /// The node of a place.
    pub fn node(&self, place: u32) -> u32 {
        self.nodes[place as usize]
    }

    /// The addresses of a destination, in groups with the same key.
    pub fn members<K: PartialEq>(
        &self,
        destination: usize,
        key: impl Fn(u32, Option<u32>) -> K,
    ) -> Members<K> {
        let mut members = Members { destination, groups: Vec::new(), own: Vec::new() };
        for &address in &self.members[destination] {
            let last = self.last[address as usize].1;
            let key = key(address, last);
            let group = members.groups.iter().position(|group: &Group<K>| group.key == key);
            let group = group.unwrap_or_else(|| {
                members.groups.push(Group { key, first: address, addresses: 0 });
                members.groups.len() - 1
            });
            members.groups[group].addresses += 1;
            members.own.push((address, group));
        }
        members
    }
}

/// The addresses of a destination.
#[derive(Debug)]
pub(super) struct Members<K> {
    destination: usize,
    pub groups: Vec<Group<K>>,
    /// Each address, ascending, and its group.
    pub own: Vec<(u32, usize)>,
}

/// Those with the same key.
#[derive(Debug)]
pub(super) struct Group<K> {
    pub key: K,
    pub first: u32,
    pub addresses: u64,
}

impl<K> Members<K> {
    /// The groups that have addresses of other hosts than `from`'s, and how many.
    pub fn of_others<'a>(
        &'a self,
        to: &'a Destinations,
        from: u32,
    ) -> impl Iterator<Item = (&'a Group<K>, u64)> + 'a {
        let siblings = to.siblings(from);
        // Most hosts have no address here.
        let is_here = siblings.clone().any(|address| to.last[address as usize].0 == self.destination);
        let own = if is_here { &self.own[..] } else { &[] };
        self.groups.iter().enumerate().filter_map(move |(number, group)| {
            let same = own.iter().filter(|(address, of)| siblings.contains(address) && *of == number);
            let others = group.addresses - same.count() as u64;
            (others > 0).then_some((group, others))
        })
    }
}
