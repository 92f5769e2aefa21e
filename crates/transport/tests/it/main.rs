//! Senders and receivers without a network: the effect of one packet, ACK or timer.

mod delayed_ack;
mod delivery;
mod ecn;
mod gro;
mod pacing;
mod pipe;
mod plb;
mod prr;
mod queues;
mod rack;
mod receive_buffer;
mod receiver;
mod recovery;
mod rounds;
mod rtt;
mod scheduler;
mod spray;
mod subflows;
mod wishes;
