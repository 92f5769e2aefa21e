//! The network of a fluid model.

use super::Law;
use super::laws::is_holnet_single_rate;

/// Links, and the connections over them.
#[derive(Clone, Debug)]
pub struct Network {
    /// The size of every packet, in bytes, above 0.
    pub packet_bytes: u64,
    /// The event whose probability the links have.
    pub signal: Signal,
    /// The links; paths name them by their index.
    pub links: Vec<Link>,
    /// The connections.
    pub connections: Vec<Connection>,
}

/// The event whose probability a link has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// That a packet is lost or marked, each independently of all others: a random early drop, a lossy link.
    /// A subflow gets signals in proportion to its rate.
    PerPacket,
    /// That a round is congested, equally for every subflow: a threshold or a full buffer, which marks or
    /// drops packets of all that are sending at that time (XMP section 2.1; THESIS's `cg = 1`).
    PerRound,
}

/// One link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Link {
    /// Signals with this probability, in [0, 1), regardless of its load.
    Random(f64),
    /// Carries this many bit/s, above 0, and signals just enough that senders fill it exactly.
    Capacity(u64),
}

/// One connection: a scheme over paths.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The scheme that it runs.
    pub scheme: Law,
    /// One subflow each, at least one; with a balancer, the paths past the balancing node.
    pub paths: Vec<Path>,
    /// No subflow's window falls below this many packets; 0: no floor. Without a floor, a path that is given
    /// up decays forever, and takes as long to come back.
    pub min_window_pkts: f64,
    /// HOLNET's in-network balancer; then the scheme must be `HolnetCc` or `HolnetUta`, and has one rate for
    /// all paths.
    pub balancer: Option<Balancer>,
}

/// The path of one subflow.
#[derive(Clone, Debug)]
pub struct Path {
    /// The links it takes, from the source on, none twice.
    pub links: Vec<usize>,
    /// Its RTT in picoseconds, above 0, the same at all times.
    pub rtt_ps: u64,
    /// The probability that a packet is lost for reasons other than the links' signal, in [0, 1): lambda of
    /// vMCC eq. (2). For a loss-driven scheme it is one more signal; XMP, DCTCP and vMCC halve their window
    /// for it.
    pub loss: f64,
}

/// HOLNET's percentage balancer at one node (THESIS eq. (2.16)-(2.18), Table 2.1), as an average: the
/// links' probabilities are shares of time, and independent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balancer {
    /// The place in every path's `links` of the port that the node chooses. The links before it are the
    /// same on all paths.
    pub node: usize,
    /// What the node reports upstream.
    pub feedback: Feedback,
    /// r_max of Table 2.1, above 1; the thesis has 1.5.
    pub r_max: f64,
    /// r_min of Table 2.1, in [0, 1); the thesis has 0.1.
    pub r_min: f64,
    /// By how much shares move in a round, above 0: z of (2.17).
    pub gain: f64,
}

/// Which congestion a next hop reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The congestion of the port that it would use, as in the thesis. Anything farther away stays invisible.
    OneHop,
    /// The same, or the congestion that its own next hop reports.
    Backward,
}

/// Why a fluid model is invalid or has no equilibrium.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FluidError {
    /// A value of a connection is out of its range.
    #[error("connection {connection}: expected {expected}")]
    Connection {
        /// Its index.
        connection: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// A value of a link is out of its range.
    #[error("link {link}: expected {expected}")]
    Link {
        /// Its index.
        link: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// Packets without bytes.
    #[error("packets of 0 bytes carry nothing")]
    EmptyPackets,
    /// The solver gave up.
    #[error("the equations could not be integrated beyond {at_s} s: {reason}")]
    Integration {
        /// Seconds since the start.
        at_s: f64,
        /// The solver's message.
        reason: String,
    },
    /// Nothing settled.
    #[error(
        "no equilibrium after {after_s} s: the rates still change by {residual:.1e} relative to themselves"
    )]
    NotSettled {
        /// Seconds since the start.
        after_s: f64,
        /// The largest relative change in the natural time of its subflow or link.
        residual: f64,
    },
}

impl Network {
    pub(super) fn check(&self) -> Result<(), FluidError> {
        if self.packet_bytes == 0 {
            return Err(FluidError::EmptyPackets);
        }
        for (link, kind) in self.links.iter().enumerate() {
            let expected = match *kind {
                Link::Random(p) if !(0.0..1.0).contains(&p) => "a probability in [0, 1)",
                Link::Capacity(0) => "a capacity above 0 bit/s",
                _ => continue,
            };
            return Err(FluidError::Link { link, expected });
        }
        for (connection, c) in self.connections.iter().enumerate() {
            if let Some(expected) = self.fault(c) {
                return Err(FluidError::Connection { connection, expected });
            }
        }
        Ok(())
    }

    fn fault(&self, c: &Connection) -> Option<&'static str> {
        let known = |p: &Path| p.links.iter().all(|l| *l < self.links.len());
        let repeats = |p: &Path| p.links.iter().enumerate().any(|(i, l)| p.links[..i].contains(l));
        if c.paths.is_empty() {
            return Some("at least one path");
        }
        if !c.paths.iter().all(known) || c.paths.iter().any(repeats) {
            return Some("paths over links of the network, each at most once");
        }
        if c.paths.iter().any(|p| p.rtt_ps == 0) {
            return Some("an RTT above 0");
        }
        if c.paths.iter().any(|p| !(0.0..1.0).contains(&p.loss)) {
            return Some("a loss in [0, 1)");
        }
        if !(c.min_window_pkts >= 0.0 && c.min_window_pkts.is_finite()) {
            return Some("a smallest window of at least 0 packets");
        }
        c.scheme.fault().or_else(|| c.balancer.and_then(|b| b.fault(c)))
    }
}

impl Balancer {
    fn fault(&self, c: &Connection) -> Option<&'static str> {
        let Some(shared) = c.paths[0].links.get(..self.node) else {
            return Some("a balancing node on every path");
        };
        if c.paths.iter().any(|p| p.links.len() <= self.node || p.links[..self.node] != *shared) {
            return Some("a balancing node on every path, and the same links before it");
        }
        if !(self.r_max > 1.0 && (0.0..1.0).contains(&self.r_min) && self.gain > 0.0) {
            return Some("r_max above 1, r_min in [0, 1) and a gain above 0");
        }
        (!is_holnet_single_rate(&c.scheme)).then_some("HOLNET's CC or UTA with its balancer")
    }
}
