//! TCP subflows with one window each, and the connection over them (RFC 8684).
//!
//! The sender's states are Linux's (Open, Disorder, CWR, Recovery, Loss), so that a controller sees here what
//! it will see in the kernel.

mod handshake;
mod ranges;
mod receiver;
mod scoreboard;
mod sender;
mod sent;
mod set;
mod space;
mod subflow;

pub use handshake::Step;
pub use receiver::Receiver;
pub use sender::Sender;
