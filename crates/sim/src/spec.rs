//! The specification of a connection, and its record when it has ended.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tresse_balancers::ConfiguredBalancer;
use tresse_controllers::ConfiguredController;
use tresse_fabric::{Fabric, HopShares, Path};
use tresse_path_manager::{self as path_manager, By, Memory, Opening, PathChoice, PathManager, Scope, fixed};
use tresse_transport::{Config, Counters};
use tresse_units::Time;

use crate::flow::Way;

/// The paths that the packets of a connection can take.
///
/// Path managers may remember a path by its number, for all connections of two hosts or of the sender ([`Scope`]):
/// for these connections, the same number should mean the same path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Paths {
    /// Fixed paths: a subflow takes the path with the number of its local address or of its source port. After the
    /// last path, it starts with the first again.
    Fixed(Vec<Path>),
    /// The nodes decide.
    Forwarded {
        /// The sender's addresses: nodes, the same one several times if it has one link.
        from: Vec<u32>,
        /// The receiver's.
        to: Vec<u32>,
        /// The number of paths of the same length from one to the other, at least 1, as path managers that choose
        /// by path see it.
        paths: u16,
        /// A random word from which the hashes of its addresses and ports are derived.
        stream: u64,
    },
}

/// Of paths that are taken equally often: the ports, hop by hop, each with its share of the packets.
fn together(paths: Vec<Vec<u32>>) -> HopShares {
    let each = 1.0 / paths.len() as f64;
    let mut hops: Vec<BTreeMap<u32, f64>> = Vec::new();
    for path in paths {
        hops.resize(hops.len().max(path.len()), BTreeMap::new());
        for (hop, port) in hops.iter_mut().zip(path) {
            *hop.entry(port).or_insert(0.0) += each;
        }
    }
    hops.into_iter().map(|hop| hop.into_iter().collect()).collect()
}

impl Paths {
    /// The fixed paths; none if the nodes decide.
    pub fn fixed(&self) -> &[Path] {
        match self {
            Self::Fixed(paths) => paths,
            Self::Forwarded { .. } => &[],
        }
    }

    /// How many paths there are.
    pub fn count(&self) -> u16 {
        match self {
            Self::Fixed(paths) => paths.len() as u16,
            Self::Forwarded { paths, .. } => *paths,
        }
    }

    /// The path of a subflow for which a path manager has made this choice, as the nodes choose it now; `None` where they
    /// choose for each packet.
    ///
    /// # Panics
    /// If packets are to be sprayed over fixed paths.
    pub fn chosen<P: Copy>(&self, fabric: &mut Fabric<P>, choice: PathChoice) -> Option<Path> {
        let way = Way::new(fabric, self, choice);
        let back = way.back().of(None);
        let path = match (fabric.path(way.there, way.hashes[0]), fabric.path(back.0, back.1)) {
            (Some(there), Some(back)) if way.sprayed.is_none() => Some(Path { there, back }),
            _ => None,
        };
        [way.there, back.0].into_iter().for_each(|route| fabric.remove_route(route));
        path
    }

    /// The ports that packets take now if they are divided over several paths: over these `paths` of a sprayed connection, or
    /// by nodes that spray. From the first hop on, and back: each port with its share of the packets. `None` if no path leads
    /// there, or something else decides.
    pub fn spread<P: Copy>(
        &self,
        fabric: &mut Fabric<P>,
        choice: PathChoice,
        paths: Option<u32>,
    ) -> Option<[HopShares; 2]> {
        if let (Self::Fixed(fixed), Some(paths)) = (self, paths) {
            let taken = || fixed.iter().cycle().take(paths as usize);
            let there = taken().map(|path| path.there.clone()).collect();
            return Some([together(there), together(taken().map(|path| path.back.clone()).collect())]);
        }
        let way = Way::new(fabric, self, choice);
        let back = way.back();
        let ends = [way.there, back.of(None).0];
        let even = |route| Some(fabric.even_shares(route)).filter(|hops| !hops.is_empty());
        let spread = match paths {
            Some(paths) if !fabric.sprays() => {
                let found =
                    |taken: &dyn Fn(u32) -> Option<Vec<u32>>| (0..paths).map(taken).collect::<Option<_>>();
                let there = found(&|path| fabric.path(way.there, way.hash(path)));
                let back = found(&|path| fabric.path(ends[1], back.of(Some(path)).1));
                there.zip(back).map(|(there, back)| [together(there), together(back)])
            }
            _ => even(ends[0]).zip(even(ends[1])).map(<[_; 2]>::from),
        };
        ends.into_iter().for_each(|route| fabric.remove_route(route));
        spread
    }

    /// The choices of a path manager that begins now.
    pub fn opening(&self, now: Time, stream: u64) -> Opening {
        let (locals, remotes) = match self {
            Self::Fixed(paths) => (paths.len(), 1),
            Self::Forwarded { from, to, .. } => (from.len(), to.len()),
        };
        Opening { now, locals: locals as u16, remotes: remotes as u16, paths: self.count(), stream }
    }
}

/// Makes the path manager of a connection that begins.
#[derive(Clone)]
pub struct Manager {
    open: Arc<Open>,
    remembers: Option<Scope>,
}

type Open = dyn Fn(&Opening, &mut Memory) -> Box<dyn PathManager> + Send + Sync;

impl Manager {
    /// The path manager that `open` makes.
    pub fn new(open: impl Fn(&Opening, &mut Memory) -> Box<dyn PathManager> + Send + Sync + 'static) -> Self {
        Self { open: Arc::new(open), remembers: None }
    }

    /// `subflows` subflows, one per address; none is ever closed.
    pub fn fixed(subflows: usize) -> Self {
        Self::timed(subflows, By::Address, Vec::new())
    }

    /// `subflows` subflows, distinguished as `by` says. Each is opened as long after the connection's start as
    /// `starts` says, ps; those without an entry are opened at the start.
    pub fn timed(subflows: usize, by: By, starts: Vec<Time>) -> Self {
        let config = fixed::Config { subflows, by, starts };
        Self::new(move |opening, _| Box::new(fixed::Fixed::new(&config, opening)))
    }

    /// The name of the memory of a connection between these hosts with this many paths. Receivers at another
    /// distance have other paths.
    pub fn memory(&self, [from, to]: [u32; 2], paths: u16) -> [u32; 3] {
        let to = if self.remembers == Some(Scope::Host) { from } else { to };
        [from, to, paths.into()]
    }

    /// The path manager of a connection that begins; `memory` is what connections of its name remember.
    pub fn open(&self, opening: &Opening, memory: &mut Memory) -> Box<dyn PathManager> {
        (self.open)(opening, memory)
    }
}

impl From<path_manager::ConfiguredManager> for Manager {
    fn from(scheme: path_manager::ConfiguredManager) -> Self {
        let remembers = scheme.remembers();
        Self { remembers, ..Self::new(move |opening, memory| scheme.open(opening, memory)) }
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Manager")
    }
}

/// How the packets of a connection are sprayed.
#[derive(Debug, Clone)]
pub struct Sprayed {
    /// Picks the path of each packet.
    pub balancer: Arc<ConfiguredBalancer>,
    /// The number of choices: entropies if the nodes decide; otherwise the fixed paths in turn.
    pub paths: u32,
}

/// A connection to be started: one message.
#[derive(Debug, Clone)]
pub struct FlowSpec {
    /// The caller's own name for it.
    pub id: u64,
    /// The hosts, from and to: their connections share what a path manager learns about the paths.
    pub hosts: [u32; 2],
    /// The transport.
    pub config: Config,
    /// The controllers.
    pub scheme: Arc<ConfiguredController>,
    /// The message, bytes.
    pub bytes: u64,
    /// The available paths.
    pub paths: Paths,
    /// The path manager, which opens and closes the subflows.
    pub manager: Manager,
    /// The balancer, if packets are sprayed and the transport says so too. There is then one subflow, without a
    /// handshake.
    pub sprayed: Option<Sprayed>,
    /// The connection's own random word, for the path manager's random choices.
    pub stream: u64,
    /// The class of its packets, in both directions, in ports that distinguish classes.
    pub class: u8,
    /// The group of its RTTs: see [`World::with_rtts`](crate::World::with_rtts).
    pub group: u32,
}

impl FlowSpec {
    /// A connection with a subflow on each of these paths, from its beginning to its end.
    pub fn on_paths(
        id: u64,
        config: Config,
        scheme: Arc<ConfiguredController>,
        bytes: u64,
        paths: Vec<Path>,
    ) -> Self {
        let manager = Manager::fixed(paths.len());
        Self {
            id,
            hosts: [0; 2],
            config,
            scheme,
            bytes,
            paths: Paths::Fixed(paths),
            manager,
            sprayed: None,
            stream: id,
            class: 0,
            group: 0,
        }
    }
}

/// A connection whose message has arrived, or that was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// The caller's own name for it.
    pub id: u64,
    /// Delivered payload, bytes: the message, or the part of it that had arrived when it was stopped. Each byte
    /// counts once, in order or not.
    pub bytes: u64,
    /// Whether that is the whole message.
    pub complete: bool,
    /// The time of its start.
    pub start: Time,
    /// The time when the last byte arrived, or when it was stopped.
    pub end: Time,
    /// Subflows that its path manager opened.
    pub opened: u32,
    /// Subflows that its path manager closed before the end: bit i stands for subflow i.
    pub closed: u64,
    /// The sums of its subflows' counters.
    pub counters: Counters,
}

impl FlowRecord {
    /// Its mean rate over its whole life, bit/s (XMP §5.2.2).
    pub fn goodput(&self) -> u64 {
        let bits = u128::from(self.bytes) * 8 * u128::from(tresse_units::SECOND);
        (bits / u128::from((self.end - self.start).max(1))) as u64
    }
}

#[cfg(test)]
mod tests {
    use tresse_path_manager::{ConfiguredManager, find};
    use tresse_units::Value;

    use super::Manager;

    /// Connections of one host to different receivers share their memory, unless configured otherwise.
    #[test]
    fn a_memory_is_of_a_host_or_of_a_pair() {
        let opn = |settings: &[(&'static str, Value)]| {
            let settings = settings.iter().cloned();
            Manager::from(ConfiguredManager::new(find("opn").expect("declared"), settings).expect("valid"))
        };
        assert_eq!(opn(&[]).memory([3, 7], 20), opn(&[]).memory([3, 8], 20));
        assert_ne!(opn(&[]).memory([3, 7], 20), opn(&[]).memory([4, 7], 20));
        assert_ne!(opn(&[]).memory([3, 7], 20), opn(&[]).memory([3, 8], 1), "the other is in its own rack");
        let pair = opn(&[("memory", Value::Choice("pair".to_owned()))]);
        assert_ne!(pair.memory([3, 7], 20), pair.memory([3, 8], 20));
    }
}
