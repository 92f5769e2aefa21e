//! Fluid models: what a scheme does on average, as differential equations, over time or until nothing
//! moves any more.
//!
//! A [`Network`] is links, connections and their paths. What a link signals to its senders is a probability,
//! and [`Signal`] says of what: that a packet is lost or marked, or that a round (one RTT) is congested.
//! A link either has a given probability or a capacity; the price of a capacity rises while more arrives
//! than leaves, so that at the equilibrium every link that matters is exactly full. Links signal
//! independently of each other: a path is signalled with probability `1 - prod_l (1 - p_l)`.
//!
//! Every law has the shape `dw/dt = (grow I - cut D) / T`: I packets gained in a round without a signal,
//! D packets given up at one; `grow` and `cut` follow from the probability, `T` is the base RTT of the
//! path, a constant (as in XMP below eq. (2)). Queueing delay is not modelled: give a path the RTT at which
//! it works.
//!
//! What the two signals mean for the equilibrium:
//!
//! - Heard per round, the equilibrium solves `U'(y) = sum_l -ln(1 - p_l)`, so that it is the optimum of the
//!   scheme's utility in the sense of THESIS eq. (2.12)-(2.13), for which `U' = -ln(1 - f)`. XMP eq. (4)
//!   and (6) state `U' = p` instead. The two have the same optimum where each path has one bottleneck, and
//!   for small p.
//! - Signalled per packet, larger windows get more signals, so that schemes with one law have different equilibria:
//!   what is pooled per round (Semicoupled) is only balanced per packet, and a weight w counts as sqrt(w).

//!
//! Not modelled: slow start (HOLNET-UTA's own, THESIS eq. (2.24), too); a balancer in front of HOLNET's MCC;
//! MCC-CoS with bounds.

mod balance;
mod controller;
mod heard;
mod law;
mod laws;
mod network;
mod olia;
mod price;
mod rest;
mod solve;
mod system;

pub use controller::connections;
pub use law::{Law, RateBounds};
pub use network::{Balancer, Connection, Feedback, FluidError, Link, Network, Path, Signal};
pub use solve::{Fluid, State};
