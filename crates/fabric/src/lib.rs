//! A data-centre fabric at packet level: time, events, packets, ports, routes and topologies.
//!
//! It knows nothing of TCP and has no wall clock: [`Fabric::send`] puts a packet on its route,
//! [`Fabric::advance`] moves simulated time until a packet arrives, or is dropped or lost, or until the
//! caller's own next event. A packet carries the caller's payload `P` untouched.
//!
//! One event a packet-hop (design rule 5): a FIFO port of fixed rate knows at once when an arriving
//! packet will leave, so only its arrival at the next node is an event.

mod agenda;
mod balance;
pub mod balancers;
mod bisection;
mod capacity;
mod carried;
mod cut;
mod entity;
mod fabric;
mod fat_tree;
mod fixed_paths;
mod flag;
mod flowlet;
mod forward;
mod graph;
mod histogram;
mod holnet;
mod leaf_spine;
mod loss;
mod network;
mod pace;
mod packet;
mod path;
mod port;
mod prefetch;
mod queued_port;
mod red;
mod shortest;
mod sites;
mod threshold;
mod tier;
mod ties;
mod timers;
mod topology;
mod virtual_hosts;

pub use agenda::{AFTER_PACKETS, Agenda, Event, Rank, Timer};
pub use balance::Balancing;
pub use bisection::bisection;
pub use capacity::{AllowedPairs, Capacity, capacity_between};
pub use cut::{Cut, Uncut};
pub use entity::{ARRIVALS, Entity};
pub use fabric::{
    Arrival, Deadlock, Delivery, Fabric, FirstHop, Happening, Hop, Mail, PAUSE_FRAME, PathCongestion,
    PfcConfig, PfcCounters, RouteId, headroom,
};
pub use fat_tree::{FatTree, FatTreeConfig, FatTreeError, Spread};
pub use fixed_paths::{Exclusive, FixedPaths};
pub use flag::{Feedback, FlagConfig};
pub use graph::{Graph, GraphError, GraphPort, LinkConfig, Links, Node, NodeKind};
pub use histogram::Histogram;
pub use holnet::HolnetConfig;
pub use leaf_spine::{LeafSpine, LeafSpineError};
pub use loss::{Loss, Probability};
pub use network::Network;
pub use packet::{Ecn, Header, Packet};
pub use path::{HopShares, Path};
pub use port::{NonEct, Port, PortConfig, PortCounters, Processing, Service};
pub use prefetch::{Ends, prefetch_line};
pub use queued_port::{ClassConfig, ClassMark, MAX_CLASSES, PoolConfig, QueuedPortConfig};
pub use red::RedConfig;
pub use shortest::ShortestPaths;
pub use sites::Sites;
pub use threshold::Threshold;
pub use tier::{Direction, Tier, narrowest_tier, tiers};
pub use ties::Ties;
pub use timers::Timers;
pub use topology::{Locality, Topology};
pub use virtual_hosts::{Mapping, VirtualHosts, VirtualHostsConfig, VirtualHostsError};
