//! Fluid models: the average behaviour of a scheme, as differential equations, over time or until nothing
//! moves any more.
//!
//! A [`Network`] is links, connections and their paths. A link signals to its senders with a probability.
//! [`Signal`] defines its meaning: that a packet is lost or marked, or that a round (one RTT) is congested. A
//! link either has a given probability or a capacity; the price of a capacity rises while more arrives than
//! leaves, so at the equilibrium every link that matters is exactly full. Links signal independently of each
//! other: a path is signalled with probability `1 - prod_l (1 - p_l)`.
//!
//! Every law has the shape `dw/dt = (grow I - cut D) / T`: I is the packets gained in a round without a
//! signal, D the packets given up at a signal; `grow` and `cut` follow from the probability, and `T` is the
//! base RTT of the path, a constant (as in XMP below eq. (2)). Queueing delay is not modelled: give each path
//! its working RTT.
//!
//! The effect of the two signals on the equilibrium:
//!
//! - With signals per round, the equilibrium solves `U'(y) = sum_l -ln(1 - p_l)`, so it is the optimum of the
//!   scheme's utility in the sense of THESIS eq. (2.12)-(2.13), for which `U' = -ln(1 - f)`. XMP eq. (4) and
//!   (6) state `U' = p` instead. The two have the same optimum if each path has one bottleneck, and for small
//!   p.
//! - With signals per packet, larger windows get more signals, so the same law has a different equilibrium: a
//!   scheme that pools per round (Semicoupled) only balances per packet, and a weight w counts as sqrt(w).

//!
//! Not modelled: slow start (including HOLNET-UTA's, THESIS eq. (2.24)); a balancer in front of HOLNET's MCC;
//! MCC-CoS with bounds.

mod balance;
mod columns;
mod controller;
mod dopri5;
mod law;
mod laws;
mod lu;
mod network;
mod opportunistic;
mod price;
mod rest;
mod signals_of_round;
mod solve;
mod system;
mod walk;

pub use controller::connections;
pub use law::{Answer, Cut, Growth, Law, RateBounds};
pub use network::{Balancer, Connection, Feedback, FluidError, Link, Network, Path, Signal};
pub use solve::{Fluid, State};
pub(crate) use walk::Walk;
